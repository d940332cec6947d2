"""Run times of tests from earlier runs: the file, its checks, the merge of files, and predictions."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

#: The number of run times that a file keeps for each test. The prediction is their median.
KEPT = 5
#: The longest accepted run time, in seconds (about 30 years).
LONGEST = 1e9
#: The largest accepted file, in bytes.
LARGEST = 256 * 2**20
#: The version of the file format.
VERSION = 1


class TimesError(Exception):
    """A file of run times that cannot be read or written."""


class Times:
    """For each test id, the number of recorded runs and the last run times, in seconds."""

    def __init__(self) -> None:
        self._tests: dict[str, tuple[int, tuple[float, ...]]] = {}

    def __len__(self) -> int:
        return len(self._tests)

    def predicted(self, test: str) -> float | None:
        """Returns the median of the last run times of a test, or None if there is no run time."""
        _, seconds = self._tests.get(test, (0, ()))
        if not seconds:
            return None
        ordered = sorted(seconds)
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2

    def predictions(self) -> dict[str, float]:
        """Returns the prediction for each test."""
        found = ((test, self.predicted(test)) for test in self._tests)
        return {test: seconds for test, seconds in found if seconds is not None}

    def add(self, test: str, seconds: float, *, passed: bool) -> None:
        """Adds the run time of one run. A failed test often ends early. So its run time is ignored if it is
        shorter than the prediction.

        >>> times = Times()
        >>> times.add("a", 4, passed=True), times.add("a", 1, passed=False), times.add("a", 6, passed=False)
        (None, None, None)
        >>> times.predicted("a")
        5.0
        """
        predicted = self.predicted(test)
        if not passed and predicted is not None and seconds < predicted:
            return
        runs, last = self._tests.get(test, (0, ()))
        kept = round(min(max(seconds, 0.0), LONGEST), 6)
        self._tests[test] = (runs + 1, (*last, kept)[-KEPT:])

    def merged(self, other: Times) -> Times:
        """Returns the entries of both. For a test in both, the entry with more runs is used. So files of shards can be merged
        in any order, and merging the same file twice changes nothing."""
        result = Times()
        result._tests = dict(self._tests)
        for test, entry in other._tests.items():
            result._tests[test] = max(entry, result._tests.get(test, entry))
        return result

    def data(self) -> dict[str, Any]:
        tests = {test: [runs, *seconds] for test, (runs, seconds) in sorted(self._tests.items())}
        return {"makespan-times": VERSION, "tests": tests}

    def digest(self) -> str:
        """Returns a hash of the entries, which does not depend on their order in the file."""
        return _short(json.dumps(self.data()))


def collection_digest(tests: Iterable[str]) -> str:
    """Returns a hash of test ids, which does not depend on their order."""
    return _short("\0".join(sorted(tests)))


def stable_hash(test: str) -> int:
    """Returns a hash of a test id that is equal on all machines."""
    return int.from_bytes(hashlib.sha256(test.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def shown(value: object) -> str:
    """Returns a value of a file in printable ASCII, with at most 80 characters."""
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def parsed(data: Any, source: str) -> Times:
    """Checks the content of a file and returns its times.

    >>> parsed({"makespan-times": 1, "tests": {"a": [2, 1.5, 2.5]}}, "times.json").predicted("a")
    2.0
    """

    def wrong(problem: str) -> NoReturn:
        raise TimesError(f"{source}: {problem}; remove this entry, or delete the file and record it again (--makespan-store)")

    if not isinstance(data, dict) or "makespan-times" not in data:
        raise TimesError(f"{source} is not a file of run times; give a file that --makespan-store has written")
    if data["makespan-times"] != VERSION or not isinstance(data.get("tests"), dict):
        problem = f"{source} has version {shown(data['makespan-times'])} of the format, or no table `tests`"
        raise TimesError(f"{problem}; this program reads version {VERSION}: delete the file and record it again")
    times = Times()
    for test, entry in data["tests"].items():
        if not isinstance(entry, list) or not 2 <= len(entry) <= KEPT + 1:
            wrong(f"{shown(test)} has {shown(entry)} instead of a number of runs and 1 to {KEPT} run times")
        runs, *seconds = entry
        if type(runs) is not int or not len(seconds) <= runs < 2**53:
            wrong(f"{shown(test)} has {shown(runs)} instead of the number of its runs, at least {len(seconds)}")
        for time in seconds:
            if type(time) not in (int, float) or not 0 <= time <= LONGEST:
                wrong(f"{shown(test)} has the run time {shown(time)}, which is not a number from 0 to {LONGEST:.0f}")
        times._tests[test] = (runs, tuple(float(time) for time in seconds))
    return times


def read(path: Path) -> Times:
    """Reads a file. Raises :class:`TimesError` if the file is missing or malformed."""
    source = shown(os.fspath(path))
    try:
        if path.exists() and not path.is_file():
            raise TimesError(f"{source} is not a regular file; give a file that --makespan-store has written")
        if path.stat().st_size > LARGEST:
            raise TimesError(f"{source} is larger than {LARGEST // 2**20} MiB; delete it and record it again (--makespan-store)")
        data = json.loads(path.read_bytes(), parse_constant=_constant)
    except OSError as error:
        problem = f"cannot read the run times in {source}: {error.strerror or error}"
        raise TimesError(f"{problem}; record them with --makespan-store, or omit the option") from None
    except (ValueError, RecursionError) as error:
        problem = f"{source} is not valid JSON: {shown(str(error))}"
        raise TimesError(f"{problem}; delete the file and record it again (--makespan-store)") from None
    return parsed(data, source)


def _constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


def write(times: Times, path: Path) -> None:
    """Replaces a file in one step, so that an interrupted run leaves the previous file. Raises :class:`TimesError`."""
    name = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with open(handle, "w", encoding="ascii") as file:
            json.dump(times.data(), file, indent=0)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        if name is not None:
            with contextlib.suppress(OSError):
                os.unlink(name)
        problem = f"cannot write the run times to {shown(os.fspath(path))}: {error.strerror or error}"
        raise TimesError(f"{problem}; give another file to --makespan-store") from None


def estimates(tests: Iterable[str], known: dict[str, float]) -> list[float]:
    """Returns the predicted run time of each test, in seconds. A test without a prediction gets the mean of the others, or 1 if
    no test has a prediction.

    >>> estimates(["a", "new", "b"], {"a": 1.0, "b": 3.0})
    [1.0, 2.0, 3.0]
    """
    found = [known.get(test) for test in tests]
    present = [seconds for seconds in found if seconds is not None]
    mean = math.fsum(present) / len(present) if present else 1.0
    return [mean if seconds is None else seconds for seconds in found]
