"""Checks arguments. Each error names the argument and states valid values."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from makespan._errors import InputError

#: The largest seed.
MAX_SEED = 2**64 - 1


def shown(value: Any) -> str:
    """Returns the ``repr`` of a value, shortened to 80 characters."""
    return short(repr(value), 80)


def short(text: str, length: int) -> str:
    """Returns the text, shortened to this number of characters.

    >>> short("a long text", 8)
    'a lon...'
    """
    return text if len(text) <= length else f"{text[: length - 3]}..."


def whole(value: Any, name: str, least: int = 0, most: int = 2**32 - 1) -> int:
    """Checks that the value is a whole number (an ``int`` or a number of numpy) in the range, and returns it as an ``int``.

    >>> whole(3, "seed")
    3
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{shown(value)} is not a whole number; give one from {least} to {most}", field=name) from None
    if not least <= number <= most:
        raise InputError(f"{shown(number)} is out of range; give a whole number from {least} to {most}", field=name)
    return number


def seed(value: Any) -> int:
    """Checks the seed of a random generator, and returns it."""
    return whole(value, "seed", 0, MAX_SEED)


def number(value: Any, name: str) -> float:
    """Checks that the value is a number other than NaN, and returns it as a float."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{shown(value)} is not a number; give one such as 1.5", field=name) from None
    if found != found:
        raise InputError("found NaN; give a number, or leave it out", field=name)
    return found


def limit(value: Any, name: str) -> str:
    """Checks that a number or a ``timedelta`` is a positive time, and returns the time in the form that algorithm specs use.

    >>> limit(timedelta(minutes=1), "time_limit"), limit("2min", "time_limit"), limit(1.5, "time_limit")
    ('60.0', '2min', '1.5')
    """
    if isinstance(value, str):
        return value.strip()
    found = value.total_seconds() if isinstance(value, timedelta) else number(value, name)
    if not 0 < found < float("inf"):
        raise InputError(f"{shown(value)} is not a limit; give a positive time, such as 0.5 or '2min'", field=name)
    return repr(found)


def text(value: Any, name: str, example: str) -> str:
    """Checks that the value is a ``str``, and returns it."""
    if not isinstance(value, str):
        raise InputError(f"{shown(value)} is not a text; give one such as {example!r}", field=name)
    return str(value)


def function(value: Any, name: str) -> Any:
    """Checks that the value is callable or None, and returns it."""
    if value is not None and not callable(value):
        raise InputError(f"{shown(value)} cannot be called; give a function that receives the progress", field=name)
    return value


def module(name: str) -> Any:
    """Imports an optional library.

    Raises:
        ImportError: if the library is not installed. The message explains how to install it.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise ImportError(f"this function needs {package}, which is not installed; pip install {package}") from error


def several(values: Any, name: str, what: str) -> list[Any]:
    """Returns the items of an iterable as a list, which must not be empty. A text is a single item."""
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Iterable):
        raise InputError(f"{shown(values)} is not a list; give a list of {what}", field=name)
    found = list(values)
    if not found:
        raise InputError(f"the list is empty; give at least one of {what}, or leave it out", field=name)
    return found


def row(value: Any, count: int, columns: list[str]) -> int:
    """Returns the index of a row, counted from the first row. A negative value counts from the last row."""
    try:
        at = operator.index(value)
    except TypeError:
        name = f", such as {columns[0]!r}" if columns else ""
        raise TypeError(f"give the name of a column{name}, or the number of a row; {shown(value)} is neither") from None
    if not -count <= at < count:
        raise IndexError(f"there are {count} rows, and none has the number {at}")
    return at % count
