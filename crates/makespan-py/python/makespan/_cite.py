"""The citation of the package."""

from __future__ import annotations

from typing import NamedTuple

from makespan._native import VERSION

AUTHORS = "The Makespan authors"
TITLE = "Makespan: planning with proofs, simulation and execution of jobs on clusters and grids"
YEAR = 2026


class Citation(NamedTuple):
    """A citation, as a sentence and as an entry for BibTeX."""

    text: str
    bibtex: str

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.bibtex}"


def cite() -> Citation:
    """Returns the citation of this version. Also cite the source of each algorithm that you use (see
    :func:`makespan.algorithms`), and of each family of instances (see :func:`makespan.generate.families`).

    >>> import makespan as m
    >>> m.cite().text.startswith(f"The Makespan authors ({YEAR}). Makespan"), m.__version__ in m.cite().bibtex
    (True, True)
    """
    bibtex = "\n".join(
        [
            "@software{makespan,",
            f"  author = {{{{{AUTHORS}}}}},",
            f"  title = {{{{{TITLE}}}}},",
            f"  version = {{{VERSION}}},",
            f"  year = {{{YEAR}}},",
            "}",
        ]
    )
    return Citation(f"{AUTHORS} ({YEAR}). {TITLE}. Version {VERSION}.", bibtex)
