"""Exceptions of the package. Messages state the place of the error and valid values."""

from __future__ import annotations


class MakespanError(Exception):
    """Base class of the exceptions of this package."""


class InputError(MakespanError, ValueError):
    """Invalid input.

    Attributes:
        problem: The error, and a valid alternative.
        file: The file, if the input is a file.
        line, column: The position in the file, counted from 1. None if it is unknown.
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
    """An algorithm or policy is unknown, or cannot handle the request."""


class PolicyError(MakespanError):
    """A policy or scheduler broke a rule, for example by using processors that are not free. The policy may be your own."""


class StoppedError(MakespanError):
    """A simulation was stopped from outside."""


class VerificationError(MakespanError):
    """A plan is invalid.

    Attributes:
        problems: A sentence for each problem.
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))

    def __reduce__(self) -> tuple[type[VerificationError], tuple[list[str]]]:
        return (type(self), (self.problems,))


class RunError(MakespanError):
    """A callable could not be run, or its process failed."""
