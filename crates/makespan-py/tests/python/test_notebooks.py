"""Tests that the notebooks run completely."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 5


def test_a_study_needs_few_lines() -> None:
    cells = json.loads((FOLDER / "study.ipynb").read_text())["cells"]
    lines = [line for cell in cells if cell["cell_type"] == "code" for line in "".join(cell["source"]).splitlines()]
    assert len([line for line in lines if line.strip()]) <= 40


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """Starts one kernel for all notebooks, because a start takes longer than most notebooks."""
    pytest.importorskip("ipykernel")
    manager, client = pytest.importorskip("jupyter_client.manager").start_new_kernel(kernel_name="python3")
    client.stop_channels()
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, kernel: Any) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        assert not cell.get("outputs"), f"{path.name} is committed with outputs; clear them"
    shown_cells = list(notebook.cells)
    # Names of earlier notebooks must not hide a missing definition.
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    nbclient.NotebookClient(notebook, timeout=300, km=kernel).execute()
    shown = [output for cell in shown_cells for output in cell.get("outputs", [])]
    assert shown and all(output.output_type != "error" for output in shown)
    if path.stem == "study":
        assert shown[0]["data"]["text/plain"].splitlines()[-1] == ".. and 1190 more rows"
