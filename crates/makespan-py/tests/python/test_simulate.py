"""Tests of simulations and of policies in Python."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import makespan as m
import pytest


class InTurn(m.Policy):
    """A first-come-first-served policy."""

    def on(self, events: list[m.Event], view: m.View) -> Iterator[m.Decision]:
        free = view.free
        for task in view.waiting:
            if task.min_processors > free:
                return
            free -= task.min_processors
            yield m.Start(task)


def drawn(jobs: int = 300) -> m.Log:
    return m.generate.lublin(jobs=jobs, processors=64, load=0.8, seed=5)


def test_an_own_policy_does_what_ours_does() -> None:
    results = m.simulate(drawn(), ["fcfs", InTurn()])
    fcfs, own = results["fcfs"].jobs, results["InTurn"].jobs
    start = [dict(zip(jobs["job"], jobs["start"], strict=True)) for jobs in (fcfs, own)]
    assert start[0] == start[1]
    assert results["fcfs"].events == results["InTurn"].events


def test_waits_follow_from_the_table() -> None:
    result = m.simulate(drawn(), ["easy"])[0]
    waits = result.jobs["wait"]
    assert sum(waits) / len(waits) == pytest.approx(result.measures["wait"]["mean"])
    assert max(result.usage["held"]) <= 64 and result.usage["held"][-1] == 0
    assert set(result.jobs["outcome"]) == {"succeeded"}


def test_several_threads_change_nothing() -> None:
    specs = ["fcfs", "easy", "conservative"]
    one, many = (m.simulate(drawn(), specs, threads=threads) for threads in (1, 3))
    assert [list(result.jobs) for result in one] == [list(result.jobs) for result in many]
    assert one.table["policy"] == specs
    assert "</html>" in one.to_html()


class Wrong(m.Policy):
    """A policy that breaks one rule."""

    def __init__(self, how: str) -> None:
        self.how = self.name = how

    def on(self, events: list[m.Event], view: m.View) -> Any:
        task = next(iter(view.waiting), None)
        if task is None:
            return None
        return {
            "too many": [m.Start(task, view.free + 1)],
            "twice": [m.Start(task, "0-3"), m.Start(task, "4-7")],
            "nothing there": [m.Start(task, "900")],
            "unknown": [task],
            "no list": 7,
            "silent": None,
            "raises": None if self.how != "raises" else 1 // 0,
        }[self.how]


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("too many", m.PolicyError, "are free"),
        ("twice", m.PolicyError, "not waiting"),
        ("nothing there", m.PolicyError, "processors are numbered from 0 to 7"),
        ("unknown", m.PolicyError, "return a list of Start, Wake and Cancel"),
        ("no list", m.PolicyError, "decided 7, a `int`"),
        ("silent", m.PolicyError, "waiting for ever"),
        ("raises", ZeroDivisionError, "division"),
    ],
)
def test_rules_are_those_of_our_policies(how: str, kind: type[Exception], words: str) -> None:
    instance = m.Instance(processors=8, jobs=[m.Job("a", time=3, processors=4), m.Job("b", time=3, processors=4)])
    with pytest.raises(kind, match=words):
        m.simulate(instance, [Wrong(how)])


class Late(m.Policy):
    """Starts each task ten seconds after its arrival, and cancels one task."""

    def on(self, events: list[m.Event], view: m.View) -> list[m.Decision]:
        decisions: list[m.Decision] = []
        for task in view.waiting:
            if task.job == "no":
                decisions.append(m.Cancel(task))
            elif view.now >= task.released + 10 and view.fits(task, view.free_processors.take(1) or "0"):
                decisions.append(m.Start(task))
            else:
                decisions.append(m.Wake(task.released + 10))
        assert all(running.expected_end >= view.now for running in view.running)
        return decisions


def test_wake_ups_and_cancellations() -> None:
    jobs = [m.Job("a", time=5), m.Job("b", time=5, released=3), m.Job("no", time=1)]
    result = m.simulate(m.Instance(processors=4, jobs=jobs), [Late()])[0]
    assert dict(zip(result.jobs["job"], result.jobs["start"], strict=True)) == {"a": 10.0, "b": 13.0}
    assert result.given_up == ["no"]


class Greedy(m.Policy):
    """Starts the first waiting task that fits, including its memory."""

    def on(self, events: list[m.Event], view: m.View) -> list[m.Decision]:
        for task in view.waiting:
            place = view.free_processors.take(task.min_processors)
            if place is not None and view.fits(task, place):
                return [m.Start(task, place), m.Wake(view.now)]
        return []


def test_memory_and_edges_are_seen() -> None:
    platform = m.Platform(processors=4, resources={"memory": "4GiB"})
    graph = m.Graph([m.Job("x", time=2, needs={"memory": "3GiB"}), m.Job("y", time=1)], [("x", "y")])
    jobs = [m.Job("w", graph=graph), m.Job("z", time=2, needs={"memory": "3GiB"})]
    result = m.simulate(m.Instance(platform, jobs), [Greedy()])[0]
    starts = dict(zip(result.jobs["task"], result.jobs["start"], strict=True))
    assert abs(starts["w/x"] - starts["z"]) >= 2 and starts["w/y"] >= starts["w/x"] + 2


class Keeping(m.Policy):
    """Keeps its view after the call, which is an error."""

    def on(self, events: list[m.Event], view: m.View) -> list[m.Decision]:
        self.view, self.events = view, events
        return [m.Start(task) for task in view.waiting]


def test_a_view_is_for_one_call() -> None:
    policy = Keeping()
    m.simulate(m.Instance(processors=1, jobs=[m.Job("a", time=1)]), [policy])
    with pytest.raises(RuntimeError, match="valid only during"):
        _ = policy.view.free
    task = policy.events[0].task
    assert policy.events[0].kind == "finished" and task is not None and task.name == "a"


def test_ctrl_c_ends_a_simulation() -> None:
    class Slow(InTurn):
        def on(self, events: list[m.Event], view: m.View) -> Iterator[m.Decision]:
            for _ in range(1000):
                pass
            return super().on(events, view)

    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        m.simulate(m.generate.lublin(jobs=200_000, processors=64, load=0.5), [Slow()])
    timer.join()


def test_logs_are_read_with_what_policies_may_know(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("; MaxProcs: 4\n1 0 0 50 4 -1 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n2 1 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 -1 -1 -1\n")
    user, clairvoyant, unknown = (m.read_log(path, estimates=how) for how in ("user", "clairvoyant", "unknown"))
    assert [log.instance.tasks[0].time() for log in (user, clairvoyant, unknown)] == [100, 50, 60]
    ends = [m.simulate(log, ["easy"])[0].jobs["end"] for log in (user, clairvoyant, unknown)]
    assert ends[0] == ends[1] == ends[2] == [50.0, 60.0]
    with pytest.raises(m.InputError, match="estimates"):
        m.read_log(path, estimates="none")


def test_what_cannot_be_simulated_is_refused() -> None:
    with pytest.raises(m.AlgorithmError, match="did you mean `easy`"):
        m.simulate(drawn(5), ["esay"])
    with pytest.raises(m.InputError, match="called `easy`"):
        m.simulate(drawn(5), ["easy", "easy"])
    with pytest.raises(m.InputError, match="simulate_tree"):
        m.simulate(m.generate.tree(nodes=8), ["easy"])
    with pytest.raises(m.InputError, match="deviation"):
        m.Log(m.Instance(processors=1, jobs=[m.Job("a", time=1)]), deviation=-1)


def test_failures_meet_all_policies() -> None:
    results = m.simulate(drawn(100), ["easy", InTurn()], failures="model:mtbf=4h,mttr=1h,processors=16", seed=3)
    assert results["easy"].measures["interrupted_runs"] > 0
    assert results["InTurn"].measures["interrupted_runs"] > 0


def test_frames_for_evalys() -> None:
    pytest.importorskip("pandas")
    frame = m.simulate(drawn(20), ["easy"])[0].to_evalys()
    assert {"job_id", "starting_time", "finish_time", "allocated_resources"} <= set(frame.columns)
    assert (frame["finish_time"] - frame["starting_time"] - frame["execution_time"]).abs().max() < 1e-6
