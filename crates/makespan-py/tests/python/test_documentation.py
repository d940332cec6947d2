"""What the documentation shows runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_the_first_example_runs(name: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), flags=re.DOTALL)
    assert blocks
    pytest.importorskip("pandas")
    exec(compile(blocks[0], name, "exec"), {})


def test_own_schedulers_and_policies_of_the_page_run() -> None:
    text = (ROOT / "docs/python.md").read_text()
    names: dict[str, object] = {}
    start = (
        "import makespan as m\ninstance = m.Instance(processors=4, jobs=[m.Job('a', time=[4, 3])])\nlog = m.Log(instance)\n"
    )
    exec(start, names)
    own = [block for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL) if block.startswith("class ")]
    assert len(own) == 2
    for block in own:
        exec(compile(block, "docs/python.md", "exec"), names)
