"""The examples of the documentation. As a program, prints the policies and schedulers of the Python page, for a type checker."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[4]


def examples(name: str) -> list[str]:
    """Returns the examples of a page of the project."""
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), flags=re.DOTALL)


def main() -> None:
    chosen = [code for code in examples("docs/python.md") if re.search(r"^class .*\(m\.", code, flags=re.MULTILINE)]
    assert len(chosen) == 2, "the page shows a policy and a scheduler"
    # The page defines these names in earlier examples.
    print("import makespan as m\n\ninstance: m.Instance\nlog: m.Log\n", *chosen, sep="\n")


if __name__ == "__main__":
    main()
