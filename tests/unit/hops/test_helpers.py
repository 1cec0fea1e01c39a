"""Arrays, DataFrames and log lines by the names of the Hops library."""

from __future__ import annotations

import numpy
import pandas
import pytest

from hops import hdfs, logger, numpy_helper, pandas_helper
from hopyard.errors import PathNotFound

pytestmark = pytest.mark.unit

FRAME = pandas.DataFrame({"name": ["a", "b"], "value": [1.5, 2.5]})


def test_an_array_comes_back_as_it_went() -> None:
    numpy_helper.save("Resources/x.npy", numpy.arange(6).reshape(2, 3))
    assert numpy_helper.load("/Resources/x.npy").tolist() == [[0, 1, 2], [3, 4, 5]]
    numpy_helper.save("Resources/x", numpy.zeros(1))
    assert numpy_helper.load(hdfs.project_path() + "Resources/x.npy").tolist() == [0.0]


@pytest.mark.parametrize("save", [numpy_helper.savez, numpy_helper.savez_compressed])
def test_several_arrays_are_kept_by_name(save) -> None:
    save("Resources/both.npz", numpy.ones(2), y=numpy.zeros(3))
    both = numpy_helper.load("Resources/both.npz")
    assert both["arr_0"].tolist() == [1.0, 1.0]
    assert both["y"].shape == (3,)


def test_arrays_are_read_from_text_and_from_plain_numbers() -> None:
    hdfs.dump("1,2\n3,4\n", "Resources/table.csv")
    expected = [[1.0, 2.0], [3.0, 4.0]]
    assert numpy_helper.loadtxt("Resources/table.csv", delimiter=",").tolist() == expected
    assert numpy_helper.genfromtxt("Resources/table.csv", delimiter=",").tolist() == expected
    assert numpy_helper.fromregex("Resources/table.csv", rb"(\d),(\d)", [("a", int), ("b", int)])[
        "b"
    ].tolist() == [2, 4]
    hdfs.dump(numpy.arange(3, dtype="int16").tobytes(), "Resources/raw")
    assert numpy_helper.fromfile("Resources/raw", dtype="int16").tolist() == [0, 1, 2]


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_a_frame_comes_back_as_it_went(form: str) -> None:
    options = {"index": False} if form == "csv" else {}
    getattr(pandas_helper, f"write_{form}")(f"Resources/frame.{form}", FRAME, **options)
    found = getattr(pandas_helper, f"read_{form}")(f"Resources/frame.{form}")
    pandas.testing.assert_frame_equal(found, FRAME)


def test_a_file_that_is_not_there_is_an_error_with_its_path() -> None:
    with pytest.raises(PathNotFound, match=r"Resources/none\.csv"):
        pandas_helper.read_csv("Resources/none.csv")


def test_a_line_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    logger.log("loss is small")
    logger.log(0.25)
    assert capsys.readouterr().out == "loss is small\n0.25\n"
