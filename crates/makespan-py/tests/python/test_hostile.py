"""Tests that wrong input is rejected with a message that names its place and a valid alternative. Unusual but valid input is accepted."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import makespan as m
import pytest


def lone(time: Any, **other: Any) -> m.Instance:
    return m.Instance(processors=4, jobs=[m.Job("a", time=time, **other)])


def small() -> m.Instance:
    return m.Instance(processors=4, jobs=[m.Job("a", time=[4, 3]), m.Job("b", time=2, after="a"), m.Job("c", time=[9, 5, 4])])


TIMES: list[Any] = [
    *(math.nan, math.inf, -3, 1e300, 10**40, 10**5000, True, "3 parsecs", "", [], [3, math.nan], {3, 2}, 3j),
    *((x for x in [3, 2]), map(float, [3]), datetime(2026, 1, 1), Decimal("NaN"), Fraction(1, 3), object(), b"3"),
]


@pytest.mark.parametrize("time", TIMES, ids=lambda time: repr(time)[:20] if not isinstance(time, int) else str(time % 10**9))
def test_times_that_are_none_are_refused_with_their_place(time: Any) -> None:
    with pytest.raises(m.InputError) as raised:
        lone(time)
    assert (raised.value.field or "").startswith("jobs[0]"), raised.value


def test_a_time_that_rounds_to_zero_is_that_of_a_milestone() -> None:
    with pytest.raises(m.InputError, match="no job takes any time"):
        lone(1e-12)


@pytest.mark.parametrize("time", [range(5, 2, -1), (4, 3.5), timedelta(hours=1), Decimal("1E+3"), "2h", 3])
def test_times_of_many_types_are_taken(time: Any) -> None:
    m.plan(lone(time), "list").verify()


CALLS: dict[str, Callable[[], object]] = {
    "a name with half a surrogate pair": lambda: m.Instance(processors=1, jobs=[m.Job("\ud800", time=1)]),
    "a number as name": lambda: m.Instance(processors=1, jobs=[m.Job(3, time=1)]),  # type: ignore[arg-type]
    "an empty name": lambda: m.Instance(processors=1, jobs=[m.Job("", time=1)]),
    "a number as the platform": lambda: m.Instance(4, [m.Job("a", time=1)]),  # type: ignore[arg-type]
    "nodes that are numbers": lambda: m.Platform(nodes=[3]),  # type: ignore[list-item]
    "resources that are a list": lambda: m.Platform(processors=1, resources=["memory"]),  # type: ignore[arg-type]
    "jobs that are None": lambda: m.Instance(processors=1, jobs=None),
    "a single job": lambda: m.Instance(processors=1, jobs=m.Job("a", time=1)),
    "jobs that are a number": lambda: m.Instance(processors=1, jobs=5),
    "an edge that is a number": lambda: m.Graph([m.Job("x", time=1)], [5]),
    "an edge that is a text": lambda: m.Graph([m.Job("x", time=1), m.Job("y", time=1)], ["xy"]),
    "a graph that is a dict": lambda: m.Graph({"tasks": []}),
    "a period that is a number": lambda: m.Instance(processors=1, jobs=[m.Job("a", time=1)], unavailable=[3]),  # type: ignore[list-item]
    "a number as the platform of a file": lambda: m.read("x.swf", platform=3),  # type: ignore[arg-type]
    "a list as the instance": lambda: m.plan([m.Job("a", time=1)]),  # type: ignore[arg-type]
    "a path as the instance": lambda: m.bound("file.json"),  # type: ignore[arg-type]
    "a time limit that is NaN": lambda: m.plan(small(), time_limit=math.nan),
    "a negative time limit": lambda: m.plan(small(), time_limit=-1),
    "a list as the time limit": lambda: m.plan(small(), time_limit=[1]),  # type: ignore[arg-type]
    "a negative seed": lambda: m.plan(small(), seed=-1),
    "a seed with a fraction": lambda: m.plan(small(), seed=1.5),  # type: ignore[arg-type]
    "a seed of 65 bits": lambda: m.plan(small(), seed=2**64),
    "an algorithm that is a number": lambda: m.plan(small(), 3),  # type: ignore[arg-type]
    "a class as the scheduler": lambda: m.plan(small(), m.Scheduler),  # type: ignore[arg-type]
    "an objective that is a list": lambda: m.plan(small(), objective=["makespan"]),  # type: ignore[arg-type]
    "progress that cannot be called": lambda: m.plan(small(), progress=3),  # type: ignore[arg-type]
    "comparing no instances": lambda: m.compare([]),
    "comparing without algorithms": lambda: m.compare(small(), []),
    "comparing a number": lambda: m.compare([3]),  # type: ignore[list-item]
    "None as the log": lambda: m.simulate(None),  # type: ignore[arg-type]
    "no policies": lambda: m.simulate(small(), []),
    "policies that are None": lambda: m.simulate(small(), None),  # type: ignore[arg-type]
    "a class as a policy": lambda: m.simulate(small(), [m.Policy]),  # type: ignore[list-item]
    "a number as a policy": lambda: m.simulate(small(), [3]),  # type: ignore[list-item]
    "no threads": lambda: m.simulate(small(), threads=0),
    "threads as a text": lambda: m.simulate(small(), threads="3"),  # type: ignore[arg-type]
    "negative requeues": lambda: m.simulate(small(), requeues=-3),
    "failures that are a number": lambda: m.simulate(small(), failures=3),  # type: ignore[arg-type]
    "a deviation that is NaN": lambda: m.Log(small(), deviation=math.nan),
    "a picture without width": lambda: m.plan(small(), "list").to_svg(width=-1),
    "processors that are None": lambda: m.Processors(None),  # type: ignore[arg-type]
    "processors below 0": lambda: m.Processors([-1]),
    "a text that is no set of processors": lambda: m.Processors("x"),
    "an instance without a tree": lambda: m.simulate_tree(small()),
    "a change without a new value": lambda: m.simulate_tree(m.generate.tree(nodes=5), changes=[m.Change(3, "n1")]),
    "a change of an unknown node": lambda: m.simulate_tree(m.generate.tree(nodes=5), changes=[m.Change(3, "zz", speed=1)]),
    "a buffer of size 0": lambda: m.simulate_tree(m.generate.tree(nodes=5), buffer=0),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_wrong_calls_raise_input_errors(call: Callable[[], object]) -> None:
    with pytest.raises(m.InputError) as raised:
        call()
    assert len(str(raised.value)) > 15


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    for call in (lambda: m.read(missing), lambda: m.verify(small(), missing), lambda: m.simulate(missing)):
        with pytest.raises(FileNotFoundError, match=r"missing\.json"):
            call()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        m.plan(small(), "list").write(tmp_path / "nowhere" / "plan.json")


def test_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    platform = m.Platform(nodes=numpy.int64(2), processors_per_node=numpy.int32(2))
    jobs = [m.Job("a", work=numpy.float64(3), speedup="linear", processors=numpy.array([1, 4]))]
    instance = m.Instance(platform, jobs)
    m.plan(instance, time_limit=numpy.float64(0.1), seed=numpy.int64(3)).verify()

    class Own(m.Policy):
        def on(self, events: list[m.Event], view: m.View) -> list[m.Decision]:
            return [m.Start(task, numpy.int64(2)) for task in view.waiting]

    assert m.simulate(instance, [Own()], seed=numpy.int64(1), threads=numpy.int32(1))[0].jobs["allotment"] == [2]


def test_frames_with_gaps() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"name": ["a", "b"], "time": [1, 2], "processors": [2, None], "walltime": [None, 3.5]})
    instance = m.Instance(processors=4, jobs=frame)
    assert instance.jobs["max_processors"] == [2, 1] and instance.jobs["walltime"] == [None, 3.5]
    with pytest.raises(m.InputError, match="no jobs"):
        m.Instance(processors=4, jobs=pandas.DataFrame())
    nodes = pandas.DataFrame({"name": ["a", "b"], "processors": [1, 2], "speed": [None, 2.0]})
    assert m.Instance(m.Platform(nodes=nodes), [m.Job("a", time=1)]).processors == 3


def test_what_has_a_value_is_equal_to_its_copies() -> None:
    instance = small()
    plan = m.plan(instance, "list")
    front = m.plan(m.generate.moldable(jobs=8, processors=4), "optimise[objective=pareto,time-limit=0.2]")
    valued: list[Any] = [instance, m.Job("a", time=[1, 2]), m.Platform(processors=3), m.Graph([m.Job("a", 1)]), m.Processors("0-3")]
    for value in valued:
        for twin in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert twin == value and hash(twin) == hash(value) and repr(twin) == repr(value)
        assert value != 3
    for each in (plan, front, m.plan(m.generate.tree(nodes=6))):
        twin = pickle.loads(pickle.dumps(each))
        assert (repr(twin), twin.kind, len(twin.points)) == (repr(each), each.kind, len(each.points))
        # The file of a steady state contains rounded rates.
        assert twin.gaps == pytest.approx(each.gaps, abs=1e-9)
        twin.verify()
    table = pickle.loads(pickle.dumps(plan.schedule))
    assert list(table) == list(plan.schedule) and list(copy.deepcopy(instance.jobs)) == list(instance.jobs)
    assert dict(m.Job("a", time=3, weight=2)) == {"name": "a", "time": 3, "weight": 2}


@pytest.mark.parametrize("value", [m.Log(small()), m.simulate(small())[0]], ids=["log", "simulation"])
def test_what_cannot_be_pickled_says_what_to_do(value: object) -> None:
    with pytest.raises(TypeError, match="cannot be pickled; "):
        pickle.dumps(value)


def test_tables_name_their_columns() -> None:
    table = m.plan(small(), "list").schedule
    with pytest.raises(KeyError, match="there are job, task"):
        table["jobs"]
    with pytest.raises(TypeError, match="name of a column"):
        table[0.5]  # type: ignore[call-overload]
    with pytest.raises(KeyError, match="there are instance"):
        m.compare(small(), ["list"])["x"]


ANSWERS: dict[str, Callable[[m.Task], object]] = {
    "a number": lambda task: 3,
    "a text": lambda task: "abc",
    "a dict": lambda task: {"a": 1},
    "a task": lambda task: [task],
    "a decision alone": lambda task: m.Start(task),
    "no processors": lambda task: [m.Start(task, 0)],
    "an empty set": lambda task: [m.Start(task, [])],
    "another instance": lambda task: [m.Start(m.Instance(processors=1, jobs=[m.Job("a", time=1)]).tasks[0])],
    "cancelling one task twice": lambda task: [m.Cancel(task), m.Cancel(task)],
    "starting and cancelling one task": lambda task: [m.Start(task), m.Cancel(task)],
}
WRONG: dict[str, Callable[[m.Task], object]] = {
    "a negative number of processors": lambda task: [m.Start(task, -1)],
    "more processors than a platform can have": lambda task: [m.Start(task, 2**40)],
    "a fraction of a processor": lambda task: [m.Start(task, 1.5)],  # type: ignore[arg-type]
    "a processor below 0": lambda task: [m.Start(task, [-1])],
    "a wake-up before the beginning": lambda task: [m.Wake(-1)],
    "a wake-up at NaN": lambda task: [m.Wake(math.nan)],
    "a time on a negative number of processors": lambda task: task.time(-1),
}


class Answering(m.Policy):
    def __init__(self, answer: Callable[[m.Task], object]) -> None:
        self.answer = answer

    def on(self, events: list[m.Event], view: m.View) -> Any:
        task = next(iter(view.waiting), None)
        return None if task is None else self.answer(task)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_policies_that_decide_nonsense(answer: Callable[[m.Task], object]) -> None:
    with pytest.raises(m.PolicyError):
        m.simulate(small(), [Answering(answer)])


@pytest.mark.parametrize("answer", WRONG.values(), ids=WRONG.keys())
def test_decisions_that_say_nothing(answer: Callable[[m.Task], object]) -> None:
    with pytest.raises(m.PolicyError, match="Answering at 0 s") as raised:
        m.simulate(small(), [Answering(answer)])
    assert isinstance(raised.value.__cause__, m.InputError)


def test_policies_of_generators_names_and_nested_simulations() -> None:
    def inner(events: list[m.Event], view: m.View) -> list[m.Decision]:
        return [m.Start(task) for task in view.waiting]

    class Nested(m.Policy):
        name = "nested"

        def on(self, events: list[m.Event], view: m.View) -> tuple[m.Decision, ...]:
            before = view.free
            m.simulate(small(), [Answering(lambda task: [m.Start(task)])])
            assert view.free == before
            return tuple(inner(events, view))

    mixed: list[str | m.Policy] = [Nested(), "fcfs"]
    assert m.simulate(small(), (policy for policy in mixed)).policies == ["nested", "fcfs"]
    assert m.simulate(small(), "easy").policies == ["easy"]
    named = Nested()
    Nested.name = 3  # type: ignore[assignment]
    with pytest.raises(m.InputError, match="name"):
        m.simulate(small(), [named])


SCHEDULES: dict[str, Callable[[list[m.Task]], object]] = {
    "nothing": lambda tasks: None,
    "no placements": lambda tasks: [],
    "a text": lambda tasks: "abc",
    "pairs": lambda tasks: [(tasks[0], 0)],
    "one task placed twice": lambda tasks: [m.Placement(tasks[0], 0, "0")] * 2,
    "another instance": lambda tasks: [m.Placement(small().tasks[0], 0, "0")],
    "all tasks on one processor at one time": lambda tasks: [m.Placement(task, 0, "0") for task in tasks],
}


class Scheduling(m.Scheduler):
    def __init__(self, answer: Callable[[list[m.Task]], object]) -> None:
        self.answer = answer

    def schedule(self, instance: m.Instance, tasks: list[m.Task]) -> Any:
        return self.answer(tasks)


@pytest.mark.parametrize("answer", SCHEDULES.values(), ids=SCHEDULES.keys())
def test_schedulers_that_make_no_schedule(answer: Callable[[list[m.Task]], object]) -> None:
    with pytest.raises(m.PolicyError, match="Scheduling"):
        m.plan(small(), Scheduling(answer))


def test_schedulers_may_use_tasks_that_they_know() -> None:
    instance = small()
    order = {task: at for at, task in enumerate(instance.tasks)}
    plan = m.plan(instance, Scheduling(lambda tasks: [m.Placement(task, 10 * order[task], "0") for task in tasks]))
    assert plan.makespan == 29
