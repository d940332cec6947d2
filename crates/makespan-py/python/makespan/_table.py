"""Tables by column, for pandas, polars, pyarrow and plain Python."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

from makespan import _check

if TYPE_CHECKING:
    from makespan._native import Columns

#: Maximum number of rows that `repr` and a notebook display.
_SHOWN = 10

#: Maximum number of characters of a cell in `repr`.
_WIDTH = 40


class Table:
    """A table with named columns and numbered rows. Libraries that support Arrow's C interface can read it directly.

    >>> import makespan
    >>> plan = makespan.plan(makespan.Instance(processors=2, jobs=[makespan.Job("a", time=3)]))
    >>> len(plan.schedule), plan.schedule.columns
    (1, ['job', 'task', 'start', 'end', 'allotment', 'processors'])
    >>> plan.schedule["end"]
    [3.0]
    >>> plan.schedule[0]["processors"], plan.schedule == plan.schedule
    ('0', True)
    """

    def __init__(self, native: Columns) -> None:
        self._native = native

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._native.names

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, key: Any) -> Any:
        """Returns a column by name, a row by number, or several rows."""
        if isinstance(key, str):
            return self._native.values(key)
        if isinstance(key, slice):
            places = range(len(self))[key]
            if places.step == 1:
                return list(Table(self._native.slice(places.start, len(places))))
            return [self[at] for at in places]
        at = _check.row(key, len(self), self.columns)
        return next(iter(Table(self._native.slice(at, 1))))

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, Table) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return (_restored, (self._native.columns(),))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = self.columns
        for row in zip(*(self[name] for name in names), strict=True):
            yield dict(zip(names, row, strict=True))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self._native.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """Returns the table as a pandas DataFrame. With pyarrow, the values are not copied one by one. pyarrow is optional."""
        pandas = _check.module("pandas")
        try:
            import pyarrow
        except ImportError:
            return pandas.DataFrame(self._arrays())
        return pyarrow.table(self).to_pandas()

    def to_polars(self) -> Any:
        """Returns the table as a polars DataFrame, through Arrow's C interface."""
        return _check.module("polars").DataFrame(self)

    def to_arrow(self) -> Any:
        """Returns the table as a pyarrow Table."""
        return _check.module("pyarrow").table(self)

    def _arrays(self) -> dict[str, Any]:
        """Returns the columns as numpy arrays. Needs numpy, which is installed together with pandas."""
        import numpy

        arrays: dict[str, Any] = {}
        for name in self.columns:
            buffer = self._native.buffer(name)
            arrays[name] = self[name] if buffer is None else numpy.frombuffer(buffer[0], dtype=buffer[1]).copy()
        return arrays

    def __repr__(self) -> str:
        return _text(self.columns, self[:_SHOWN], len(self))

    def _repr_html_(self) -> str:
        return _page(self.columns, self[:_SHOWN], len(self))


def _restored(columns: list[tuple[str, str, list[Any]]]) -> Table:
    from makespan._native import Columns

    return Table(Columns.of_columns(columns))


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _text(names: list[str], rows: list[dict[str, Any]], count: int) -> str:
    """Returns the first rows of a table with aligned columns."""
    table = [names] + [[_check.short(_shown(row[name]), _WIDTH) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    # Numbers are aligned at their last digit.
    are_numbers = [all(isinstance(row[name], (int, float, type(None))) for row in rows) for name in names]
    lines = [
        "  ".join(
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(line, widths, are_numbers, strict=True)
        ).rstrip()
        for line in table
    ]
    return "\n".join([*lines, *_more(rows, count)])


def _page(names: list[str], rows: list[dict[str, Any]], count: int) -> str:
    """Returns the first rows of a table as HTML."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    cells = ("".join(f"<td>{html.escape(_shown(row[name]))}</td>" for name in names) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    foot = "".join(f"<p>{html.escape(line)}</p>" for line in _more(rows, count))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"


def _more(rows: list[dict[str, Any]], count: int) -> list[str]:
    more = count - len(rows)
    return [f".. and {more} more row{'s' if more > 1 else ''}"] if more > 0 else []


class Rows:
    """Rows created in Python, for libraries that read lists of dicts. :func:`makespan.compare` returns them.

    Rows have a length, named columns and numbered rows. :meth:`to_pandas` and :meth:`to_polars` convert them to a
    DataFrame.

    Attributes:
        interrupted: True if Ctrl-C interrupted the function that created the rows, so that rows are missing.
    """

    def __init__(self, rows: list[dict[str, Any]], interrupted: bool = False) -> None:
        self._rows = rows
        self.interrupted = interrupted
        names: dict[str, None] = {}
        for row in rows:
            names.update(dict.fromkeys(row))
        self._names = list(names)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._names)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, key: Any) -> Any:
        """Returns a column by name, a row by number, or several rows."""
        if isinstance(key, slice):
            return list(self)[key]
        if not isinstance(key, str):
            row = self._rows[_check.row(key, len(self), self._names)]
            return {name: row.get(name) for name in self._names}
        if key not in self._names:
            raise KeyError(f"{key}; there are {', '.join(self._names)}")
        return [row.get(key) for row in self._rows]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Rows) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return ({name: row.get(name) for name in self._names} for row in self._rows)

    def to_pandas(self) -> Any:
        """Returns the table as a pandas DataFrame."""
        return _check.module("pandas").DataFrame(list(self))

    def to_polars(self) -> Any:
        """Returns the table as a polars DataFrame."""
        return _check.module("polars").DataFrame(list(self))

    def __repr__(self) -> str:
        return _text(self._names, self[:_SHOWN], len(self))

    def _repr_html_(self) -> str:
        return _page(self._names, self[:_SHOWN], len(self))
