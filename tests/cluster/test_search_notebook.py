"""A search in a real kernel of Jupyter."""

from __future__ import annotations

from pathlib import Path

import nbclient
import nbformat
import pytest

pytestmark = pytest.mark.cluster

SEARCH = """
import hopyard

def train(x):
    return x

study = hopyard.grid_search(train, {"x": [1.0, 2.0]}, direction="max", backend="processes", parallel=1, progress=False)
print(study.best_value)
"""
PARTS = """
from hopyard.search.study.study import Study
from tqdm.auto import tqdm
print(next(iter(tqdm([2.0], disable=True))))
"""


@pytest.mark.parametrize("cell", [SEARCH, PARTS])
def test_a_cell_shows_what_it_prints_and_no_warning_of_optunas_progress_bar(
    cell: str, hopyard_root: Path
) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [(output.get("name"), output.get("text")) for output in notebook.cells[0].outputs]
    assert outputs == [("stdout", "2.0\n")]
