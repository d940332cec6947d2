"""Tests that the examples of the documentation run."""

from __future__ import annotations

import os

import calls
import makespan as m
import pytest
from documented import examples


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_the_first_example_runs(name: str) -> None:
    pytest.importorskip("pandas")
    exec(compile(examples(name)[0], name, "exec"), {})


@pytest.mark.parametrize("code", examples("docs/python.md")[1:], ids=lambda code: code.splitlines()[0])
def test_what_the_page_shows_runs(code: str) -> None:
    """Runs an example of the page. Names that an example does not define stand for the reader's own project, or come from
    earlier examples."""
    if "tqdm" in code:
        pytest.importorskip("tqdm")
    if "cores=2" in code and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("the example has a call that needs two cores")
    instance = m.Instance(processors=4, jobs=[m.Job("a", time=[4, 3])])
    names = {"m": m, "instance": instance, "log": m.Log(instance)}
    readers = {"train": calls.double, "draw": calls.double, "data": 3, "parts": [1, 2]}
    exec(compile(code, "docs/python.md", "exec"), {**names, **readers})
