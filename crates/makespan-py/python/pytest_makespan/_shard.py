"""Shards: the part of a collection that one of several machines runs."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TypedDict

from pytest_makespan._times import collection_digest, estimates, stable_hash

#: Number of time units in a second. Loads are whole numbers, so that all machines add them to the same sums.
_UNITS = 1_000_000


class ShardReport(TypedDict):
    """The split, for the summary. A worker of pytest-xdist sends this to the main process."""

    tests: int
    collected: int
    seconds: float
    total: float
    unknown: int
    collection: str


def shards(tests: Sequence[str], known: dict[str, float] | None, count: int) -> list[int]:
    """Returns the shard of each test, from 0 to ``count - 1``. The result depends on the ids and times only, and not on the order
    of the tests.

    With times: longest processing time first (R. L. Graham, 1969, doi:10.1137/0117039). The longest test is assigned to the
    shard with the smallest load, and so on. Ties are broken by the test's id, the number of tests in the shard, and the number
    of the shard. Without times: a hash of the id.
    """
    if known is None:
        return [stable_hash(test) % count for test in tests]
    # A test takes at least one unit. Otherwise, all tests of 0 s would be assigned to one shard.
    weights = [max(1, round(seconds * _UNITS)) for seconds in estimates(sorted(tests), known)]
    of_test = dict(zip(sorted(tests), weights, strict=True))
    order = sorted(range(len(tests)), key=lambda index: (-of_test[tests[index]], tests[index], index))
    result = [0] * len(tests)
    loads = [(0, 0, shard) for shard in range(min(count, len(tests)))]
    for index in order:
        load, size, shard = loads[0]
        result[index] = shard
        heapq.heapreplace(loads, (load + of_test[tests[index]], size + 1, shard))
    return result


def select(tests: Sequence[str], known: dict[str, float] | None, shard: tuple[int, int]) -> tuple[list[bool], ShardReport]:
    """Returns a list that states for each test whether the shard K of N contains it, and the figures of the summary."""
    number, count = shard
    mine = [chosen == number - 1 for chosen in shards(tests, known, count)]
    seconds = estimates(tests, known or {})
    return mine, {
        "tests": sum(mine),
        "collected": len(tests),
        "seconds": sum(time for time, chosen in zip(seconds, mine, strict=True) if chosen),
        "total": sum(seconds),
        "unknown": sum(test not in (known or {}) for test in tests),
        "collection": collection_digest(tests),
    }
