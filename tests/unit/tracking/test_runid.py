from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopyard.errors import InvalidName
from hopyard.tracking.runid import RunId, run_number

pytestmark = pytest.mark.unit

part = st.text(min_size=1, max_size=12).filter(lambda text: "/" not in text)


@given(st.builds(RunId, part, part, st.integers(0, 10**9), st.just("") | part))
@settings(max_examples=40, deadline=None)
def test_an_id_is_parsed_from_its_own_text(run_id: RunId) -> None:
    assert RunId.parse(str(run_id)) == run_id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "run.1",
        "launcher/run.1",
        "app/launcher/run.",
        "app/launcher/run.01",
        "app/launcher/run.1/",
        "app/launcher/run.1/a/b/c",
        "/launcher/run.1",
    ],
)
def test_other_texts_are_refused_with_the_form_of_an_id(text: str) -> None:
    with pytest.raises(InvalidName, match=r"<application>/<kind>/run\.<number>"):
        RunId.parse(text)


@pytest.mark.parametrize(
    ("name", "number"), [("run.0", 0), ("run.12", 12), ("run.012", None), ("run.", None), ("runs.1", None)]
)
def test_the_number_of_a_run_folder_is_in_its_name(name: str, number: int | None) -> None:
    assert run_number(name) == number
