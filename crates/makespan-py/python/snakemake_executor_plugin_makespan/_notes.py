"""Notes about the jobs that this plugin submits. With them, a later session of Snakemake finds the jobs of a killed session.

Snakemake has a record of its own in ``.snakemake/incomplete``. But the Snakemake that a job script starts replaces the number of
the job in this record by null.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["Note", "Notes", "targets"]


@dataclass(frozen=True)
class Note:
    """A submitted job.

    Attributes:
        script: The path of the job script. Each submission has a new path, so the path identifies the job.
        name: The name of the job of the service.
        number: The number of the job of the service, or None before the service has accepted the job.
    """

    script: str
    name: str
    number: int | None = None


class Notes:
    """The notes of a workflow: one file for each target of each submitted job."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, targets: Iterable[str], note: Note) -> None:
        """Replaces the notes of these targets.

        Raises:
            OSError: A file cannot be written.
        """
        self._folder.mkdir(exist_ok=True)
        for target in targets:
            path = self._path(target)
            # A killed session must not leave half of a note.
            other = path.with_suffix(".new")
            other.write_text(json.dumps(asdict(note)))
            os.replace(other, path)

    def read(self, targets: Iterable[str]) -> list[Note | None]:
        """Returns the note of each target, or None for a target without a note."""
        return [self._read(target) for target in targets]

    def remove(self, targets: Iterable[str]) -> None:
        """Removes the notes of these targets."""
        for target in targets:
            # A note of a job that has ended only costs a request in a later session.
            with contextlib.suppress(OSError):
                self._path(target).unlink()

    def _read(self, target: str) -> Note | None:
        try:
            return Note(**json.loads(self._path(target).read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def _path(self, target: str) -> Path:
        return self._folder / hashlib.sha256(os.fsencode(target)).hexdigest()


def targets(job: Any) -> list[str]:
    """Returns the outputs of a job, or else the name of its rule. A rule without outputs has only one job."""
    jobs = job.jobs if job.is_group() else [job]
    return [target for one in jobs for target in [str(path) for path in one.output] or [f"rule {one.name}"]]
