"""Exceptions with the position of the problem and its remedy."""

from __future__ import annotations


class MakespanError(Exception):
    """Base class of the exceptions of this package."""


class InputError(MakespanError, ValueError):
    """Invalid input.

    Attributes:
        problem: The problem and its remedy.
        file: Path of the file, if the input is a file.
        line, column: Position in the file, counted from 1, as far as it is known.
        field: The field, such as ``jobs[3].time[0]``, or the name of an argument.

    >>> import makespan
    >>> try:
    ...     makespan.Instance(processors=4, jobs=[makespan.Job("a", time=-1)])
    ... except makespan.InputError as error:
    ...     print(error.field)
    jobs[0].time
    """

    def __init__(
        self,
        problem: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        field: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.column = column
        self.field = field
        place = [str(part) for part in (file, line, column) if part is not None]
        parts = [":".join(place), field or "", problem]
        super().__init__(": ".join(part for part in parts if part))


class AlgorithmError(MakespanError, ValueError):
    """An algorithm or policy is unknown, or does not support the request."""


class PolicyError(MakespanError):
    """A policy or scheduler breaks a rule, for example by using processors that are not free."""


class StoppedError(MakespanError):
    """The simulation was stopped."""


class VerificationError(MakespanError):
    """A plan is invalid.

    Attributes:
        problems: One sentence each.
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))

    def __reduce__(self) -> tuple[type[VerificationError], tuple[list[str]]]:
        return (type(self), (self.problems,))


class RunError(MakespanError):
    """A callable could not run, or its process failed."""
