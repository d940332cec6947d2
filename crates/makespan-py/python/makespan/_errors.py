"""What can go wrong, with the place and what would be right."""

from __future__ import annotations


class MakespanError(Exception):
    """Anything that this package refuses or finds wrong."""


class InputError(MakespanError, ValueError):
    """Input that is wrong.

    Attributes:
        problem: What is wrong, and what would be right.
        file: The file, where there is one.
        line, column: The place in the file, from 1, as far as it is known.
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
    """An algorithm or a policy that is unknown, or cannot do what is asked of it."""


class PolicyError(MakespanError):
    """A policy or a scheduler, one of yours perhaps, that breaks a rule: it uses processors that are not free, say."""


class StoppedError(MakespanError):
    """A simulation that was ended from outside."""


class VerificationError(MakespanError):
    """A plan that does not hold.

    Attributes:
        problems: One sentence each.
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))

    def __reduce__(self) -> tuple[type[VerificationError], tuple[list[str]]]:
        return (type(self), (self.problems,))


class RunError(MakespanError):
    """A callable that could not be run, or whose process failed."""
