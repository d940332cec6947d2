"""Converts DataFrames to rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from makespan._errors import InputError


def records(rows: Any) -> Iterable[Any]:
    """Returns the rows of a pandas, polars or pyarrow table as dicts, without empty cells. Returns any other value unchanged.
    A row with an empty time is an error, because guesses must be requested explicitly.

    >>> list(records([{"name": "a"}]))
    [{'name': 'a'}]
    """
    if hasattr(rows, "to_dicts"):  # polars
        return [_stated(row, at) for at, row in enumerate(rows.to_dicts())]
    if hasattr(rows, "to_pylist") and hasattr(rows, "column_names"):  # pyarrow
        return [_stated(row, at) for at, row in enumerate(rows.to_pylist())]
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):  # pandas
        return [_stated(row, at) for at, row in enumerate(rows.to_dict(orient="records"))]
    if isinstance(rows, (str, bytes, Mapping)):
        raise InputError("give a list of jobs, or a DataFrame with one job in each row", field="jobs")
    return rows  # type: ignore[no-any-return]


#: Keys that state the run time of a job, or that the run time is guessed.
TIMES = ("time", "work", "time_on", "tasks", "graph", "estimate")


def _stated(row: dict[str, Any], at: int) -> dict[str, Any]:
    stated = {str(key): value for key, value in row.items() if not _is_empty(value)}
    empty = next((key for key in ("time", "work") if key in row and key not in stated), None)
    if empty is not None and not any(key in stated for key in TIMES):
        problem = "the cell is empty; state a time, or drop the row; to let Makespan guess the time, add a column `estimate` with the text 'guessed'"
        raise InputError(problem, field=f"jobs[{at}].{empty}")
    return stated


def _is_empty(value: Any) -> bool:
    """Returns true if a value is None, NaN, NaT or the NA of pandas. (NaN, NaT and NA may be unequal to themselves.)"""
    if value is None:
        return True
    if isinstance(value, (str, list, tuple, dict)) or hasattr(value, "__len__"):
        return False
    try:
        return not bool(value == value)
    except (TypeError, ValueError):
        return True
