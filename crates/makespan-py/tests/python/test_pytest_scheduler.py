"""Tests of the scheduler for pytest-xdist with simulated workers."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("xdist", reason="pytest-xdist is not installed, so `--dist makespan` is not tested (pip install pytest-xdist)")

names_of_tests = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=8)


class Node:
    """A worker of pytest-xdist. Like a real one, it runs a test only if it has its next test or is shutting down."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.queue: list[int] = []
        self.ran: list[int] = []
        self.shutting_down = False
        self.free_at = 0.0

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down, "a worker that is shutting down receives no tests"
        self.queue += indices

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def can_run(self) -> bool:
        return len(self.queue) >= (1 if self.shutting_down else 2)


class Cluster:
    """pytest-xdist's main process with simulated workers. A test takes the time in ``actual``. Tests in ``crashing`` end their
    workers."""

    def __init__(self, suite: list[tuple[str, str]], workers: int, known: dict[str, float]) -> None:
        from pytest_makespan._scheduler import MakespanScheduling

        self.reports: list[Any] = []
        hook = SimpleNamespace(pytest_collectreport=lambda report: self.reports.append(report))
        config: Any = SimpleNamespace(getvalue=lambda name: ["popen"] * workers, hook=hook)
        self.sched = MakespanScheduling(config, known)
        self.suite = suite
        self.sent = [f"{test}\0{group}" for test, group in suite]
        self.crashed: list[str] = []
        self.all: list[Node] = []
        self.now = 0.0
        for _ in range(workers):
            self.join(self.sent)
        assert self.sched.collection_is_completed
        self.sched.schedule()

    def join(self, sent: list[str]) -> Node:
        node: Any = Node(f"gw{len(self.all)}")
        self.all.append(node)
        self.sched.add_node(node)
        self.sched.add_node_collection(node, sent)
        return node  # type: ignore[no-any-return]

    def run(self, actual: dict[int, float], crashing: set[int] = frozenset()) -> float:  # type: ignore[assignment]
        """Runs all tests and returns the makespan. Time is virtual."""
        alive: list[Any] = list(self.all)
        while True:
            if self.sched.tests_finished:
                for node in self.sched.nodes:
                    node.shutdown()
            ready = [node for node in alive if node.can_run]
            if not ready:
                break
            # A worker that was waiting for its next test begins now.
            for node in ready:
                if not hasattr(node, "ends"):
                    node.ends = max(self.now, node.free_at) + actual[node.queue[0]]
            node = min(ready, key=lambda one: (one.ends, one.gateway.id))
            self.now = node.free_at = node.ends
            del node.ends
            test = node.queue.pop(0)
            if test in crashing:
                alive.remove(node)
                found = self.suite[test][0]
                assert self.sched.remove_node(node) == found
                self.crashed.append(found)
                alive.append(self.join(self.sent))
                self.sched.schedule()
            else:
                node.ran.append(test)
                self.sched.mark_test_complete(node, test)
        assert self.sched.tests_finished and all(node.shutting_down or node not in alive for node in self.all)
        return self.now

    def ran(self) -> list[str]:
        return [self.suite[test][0] for node in self.all for test in node.ran]


@st.composite
def suites(draw: st.DrawFn) -> tuple[list[tuple[str, str]], int, dict[str, float], dict[int, float]]:
    names = draw(st.lists(names_of_tests, unique=True, min_size=1, max_size=40))
    suite = [(name, f"g{draw(st.integers(0, 9))}") for name in names]
    known = {name: draw(st.floats(0, 1e6)) for name in names if draw(st.booleans())}
    known["a test that is no longer collected"] = 5.0
    actual = {index: draw(st.floats(0.001, 10)) for index in range(len(suite))}
    return suite, draw(st.integers(1, 3)), known, actual


@settings(max_examples=80, deadline=None)
@given(suites(), st.randoms(use_true_random=False))
def test_each_test_runs_once_even_if_workers_crash(case: Any, rng: random.Random) -> None:
    suite, workers, known, actual = case
    crashing = {index for index in range(len(suite)) if rng.random() < 0.15}
    cluster = Cluster(suite, workers, known)
    cluster.run(actual, crashing)
    assert sorted(cluster.ran() + cluster.crashed) == sorted(name for name, _ in suite)
    assert sorted(cluster.crashed) == sorted(suite[index][0] for index in crashing)


@settings(max_examples=80, deadline=None)
@given(suites())
def test_a_group_runs_on_one_worker_in_order(case: Any) -> None:
    suite, workers, known, actual = case
    cluster = Cluster(suite, workers, known)
    cluster.run(actual)
    for group in {group for _, group in suite}:
        runs = [[test for test in node.ran if suite[test][1] == group] for node in cluster.all]
        (only,) = [run for run in runs if run]
        assert only == [index for index, (_, name) in enumerate(suite) if name == group]


@settings(max_examples=80, deadline=None)
@given(suites())
def test_correct_times_give_short_runs(case: Any) -> None:
    """Checks Graham's bound for list scheduling. A worker may also have to run the shortest group after a long test."""
    from pytest_makespan import _scheduler

    suite, workers, _, actual = case
    clock = SimpleNamespace(cluster=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "pytest_makespan._scheduler.time", SimpleNamespace(monotonic=lambda: clock.cluster.now if clock.cluster else 0.0)
        )
        cluster = Cluster(suite, workers, {name: actual[index] for index, (name, _) in enumerate(suite)})
        clock.cluster = cluster
        makespan = cluster.run(actual)
    groups: dict[str, float] = {}
    for index, (_, group) in enumerate(suite):
        groups[group] = groups.get(group, 0.0) + actual[index]
    assert makespan <= sum(actual.values()) / workers + max(groups.values()) + min(groups.values()) + _scheduler._AHEAD + 1e-6


def test_long_groups_do_not_wait_for_a_long_test() -> None:
    suite = [(f"t{index}", f"g{index}") for index in range(8)]
    times = [100.0, 30.0, 30.0, 30.0, 2.0, 2.0, 2.0, 1.0]
    cluster = Cluster(suite, 2, {f"t{index}": time for index, time in enumerate(times)})
    assert cluster.run(dict(enumerate(times))) == 101
    assert cluster.all[0].ran == [0, 7]


def test_a_new_worker_with_other_tests_is_reported_and_gets_none() -> None:
    cluster = Cluster([("a", "g"), ("b", "g"), ("c", "h")], 1, {})
    other = cluster.join(["x\0g"])
    assert other.shutting_down and len(cluster.reports) == 1 and "x" in str(cluster.reports[0].longrepr)
    cluster.run({0: 1.0, 1: 1.0, 2: 1.0})
    assert sorted(cluster.ran()) == ["a", "b", "c"] and not other.ran


def test_a_plugin_can_repeat_a_crashed_test() -> None:
    cluster = Cluster([("a", "g"), ("b", "h"), ("c", "i")], 1, {})
    node: Any = cluster.all[0]
    assert cluster.sched.remove_node(node) == "a"
    cluster.sched.mark_test_pending("a")
    cluster.all = []
    cluster.join(cluster.sent)
    cluster.sched.schedule()
    cluster.run({0: 1.0, 1: 1.0, 2: 1.0})
    assert sorted(cluster.ran()) == ["a", "b", "c"]
