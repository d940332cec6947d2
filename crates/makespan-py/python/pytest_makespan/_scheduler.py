"""The scheduler for pytest-xdist: longest group first."""

from __future__ import annotations

import bisect
import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pytest
from pytest_makespan._times import estimates
from pytest_makespan._worker import SEPARATOR
from xdist.report import report_collection_diff
from xdist.workermanage import WorkerController, parse_tx_spec_config

#: A worker runs a test only after it has received the next test or the shutdown. So it needs two tests.
_NEEDED = 2
#: A worker receives further groups if its tests are predicted to end within this number of seconds. Otherwise, it would wait for
#: the main process after each short test. The number of these tests is limited, because predictions may be wrong.
_AHEAD = 0.1
_MOST_AHEAD = 50


@dataclass(order=True)
class Group:
    """Tests that run one after the other on one worker. The order of groups is the order in which they start."""

    rank: tuple[float, int] = field(init=False)
    #: The predicted run time, in seconds.
    seconds: float
    #: Indices of the tests in the collection.
    tests: list[int]

    def __post_init__(self) -> None:
        self.rank = (-self.seconds, self.tests[0])


class _Load:
    """The tests that a worker has received and not finished, in order."""

    def __init__(self) -> None:
        self.tests: list[int] = []
        self.seconds = 0.0
        #: The instant when the worker began with its first test.
        self.since = time.monotonic()

    def remaining(self, first: float) -> float:
        """Returns the predicted seconds until the worker has no more tests. ``first`` is the prediction of its first test."""
        elapsed = time.monotonic() - self.since
        return max(0.0, self.seconds - min(first, elapsed))


class MakespanScheduling:
    """Assigns groups of tests to the workers of pytest-xdist, longest group first (list scheduling in the order LPT of
    R. L. Graham, 1969, doi:10.1137/0117039). It implements the protocol ``xdist.scheduler.Scheduling``.

    A worker needs its next test before it runs the current one. So a worker receives its next group when it begins with the
    last test of its current group. If this last test is long, other workers should run the longest groups: the method
    :meth:`_next` predicts which group each worker starts next.
    """

    def __init__(self, config: pytest.Config, known: dict[str, float]) -> None:
        self.config = config
        self.known = known
        self.numnodes = len(parse_tx_spec_config(config))
        #: The ids of the tests, after all workers have sent equal collections.
        self.collection: list[str] | None = None
        #: All groups of the collection, for the summary.
        self.groups: dict[str, Group] = {}
        self._collections: dict[WorkerController, list[str]] = {}
        self._loads: dict[WorkerController, _Load] = {}
        self._queue: list[Group] = []
        self._names: list[str] = []
        self._seconds: list[float] = []

    @property
    def nodes(self) -> list[WorkerController]:
        return list(self._loads)

    @property
    def collection_is_completed(self) -> bool:
        return len(self._collections) >= self.numnodes

    @property
    def tests_finished(self) -> bool:
        """True if each worker has at most one more test to run, so that all workers can be shut down."""
        return (
            self.collection_is_completed
            and not self._queue
            and all(len(load.tests) < _NEEDED for load in self._loads.values())
        )

    @property
    def has_pending(self) -> bool:
        return bool(self._queue) or any(load.tests for load in self._loads.values())

    def add_node(self, node: WorkerController) -> None:
        self._loads[node] = _Load()

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        tests = [test.partition(SEPARATOR)[0] for test in collection]
        if self.collection is not None and tests != self.collection:
            # The worker replaces a crashed worker, but other tests exist for it.
            self._report_difference(self.collection, tests, "the other workers", node)
            node.shutdown()
            return
        if not self._names:
            self._names = [test.partition(SEPARATOR)[2] or test.rpartition("::")[0] for test in collection]
        self._collections[node] = tests

    def schedule(self) -> None:
        """Starts the run when all workers have sent their collections. Later calls are for workers that replace crashed ones."""
        if self.collection is None and not self._begin():
            return
        # First, one group for each worker. Then the second test of each worker.
        for needed in (1, _NEEDED):
            for node in self.nodes:
                self._fill(node, needed)

    def _begin(self) -> bool:
        (first, tests), *others = self._collections.items()
        same = [self._report_difference(tests, other, first.gateway.id, node) for node, other in others]
        if not all(same):
            return False
        self.collection = tests
        self._seconds = estimates(tests, self.known)
        members: dict[str, list[int]] = {}
        for index, name in enumerate(self._names):
            members.setdefault(name, []).append(index)
        self.groups = {name: self._group(indices) for name, indices in members.items()}
        self._queue = sorted(self.groups.values())
        return True

    def _group(self, tests: list[int]) -> Group:
        return Group(sum(self._seconds[index] for index in tests), tests)

    def _report_difference(self, expected: list[str], tests: list[str], first: str, node: WorkerController) -> bool:
        """Reports an error if a worker has collected other tests. Returns true if it has not."""
        if tests == expected:
            return True
        message = report_collection_diff(expected, tests, first, node.gateway.id)
        report = pytest.CollectReport(nodeid=node.gateway.id, outcome="failed", longrepr=message, result=[])
        self.config.hook.pytest_collectreport(report=report)
        return False

    def _fill(self, node: WorkerController, needed: int = _NEEDED) -> None:
        """Sends groups to a worker until it has enough tests. If no group is left, shuts the worker down after its last test."""
        load = self._loads[node]
        if node.shutting_down or node not in self._collections or self.collection is None:
            return
        most = _MOST_AHEAD if needed == _NEEDED else 0
        while self._queue and (len(load.tests) < needed or (load.seconds < _AHEAD and len(load.tests) < most)):
            group = self._queue.pop(self._next(node))
            if not load.tests:
                load.since = time.monotonic()
            load.tests += group.tests
            load.seconds += group.seconds
            node.send_runtest_some(group.tests)
        if len(load.tests) < _NEEDED and not self._queue:
            node.shutdown()

    def _next(self, node: WorkerController) -> int:
        """Returns the position in the queue of the group that a worker should start next.

        Each group, in the order of the queue, is assigned to the worker that is predicted to be free first. The first group of
        ``node`` is the result. If ``node`` gets none, because its current test is predicted to end after all groups, the result
        is the shortest group: the prediction may be wrong, and a worker without a next test cannot get one later.
        """
        free = [
            (load.remaining(self._seconds[load.tests[0]] if load.tests else 0.0), other is not node, number)
            for number, (other, load) in enumerate(self._loads.items())
            if not other.shutting_down and other in self._collections
        ]
        heapq.heapify(free)
        for position, group in enumerate(self._queue):
            at, is_other, number = free[0]
            if not is_other:
                return position
            heapq.heapreplace(free, (at + group.seconds, is_other, number))
        return len(self._queue) - 1

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        load = self._loads[node]
        load.tests.remove(item_index)
        load.seconds -= self._seconds[item_index]
        load.since = time.monotonic()
        self._fill(node)

    def mark_test_pending(self, item: str) -> None:
        """Adds a test again. Plugins call this method to repeat a test that has crashed its worker."""
        if self.collection is not None:
            self._add([self.collection.index(item)])

    def _add(self, tests: list[int]) -> None:
        """Adds tests to the queue again, in their groups."""
        members: dict[str, list[int]] = {}
        for index in tests:
            members.setdefault(self._names[index], []).append(index)
        for indices in members.values():
            bisect.insort(self._queue, self._group(indices))
        for node in self.nodes:
            self._fill(node)

    def remove_node(self, node: WorkerController) -> str | None:
        """Removes a worker. If it has crashed, returns the test that it was running, and adds its other tests to the queue."""
        load = self._loads.pop(node)
        if not load.tests or self.collection is None:
            return None
        crashed, *others = load.tests
        self._add(others)
        return self.collection[crashed]

    def remove_pending_tests_from_node(self, node: WorkerController, indices: Sequence[int]) -> NoReturn:
        """Is called only after a request to return tests, which this scheduler never sends."""
        raise NotImplementedError

    def summary(self) -> dict[str, Any] | None:
        """Returns the number of groups, the longest group and the predicted sum, or None if no test was collected."""
        if not self.groups or self.collection is None:
            return None
        name, longest = min(self.groups.items(), key=lambda pair: pair[1])
        unknown = sum(test not in self.known for test in self.collection)
        return {
            "groups": len(self.groups),
            "longest": name,
            "seconds": longest.seconds,
            "total": sum(self._seconds),
            "tests": len(self.collection),
            "unknown": unknown,
        }
