"""Tests the package with the usual features of Python (numbers, sequences, signals, pickles), and with large bags."""

from __future__ import annotations

import copy
import math
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import makespan as m
import pytest

pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def small() -> m.Instance:
    return m.Instance(processors=2, jobs=[m.Job("a", time=3), m.Job("b", time=[3, 2]), m.Job("c", time=3)])


class Nothing(m.Scheduler):
    def schedule(self, instance: m.Instance, tasks: list[m.Task]) -> list[m.Placement]:
        return []


@given(st.integers(10_000_001, 10**17))
@few
def test_a_large_bag_is_counted_and_never_listed(count: int) -> None:
    instance = m.Instance(processors=4, jobs=[m.Job("a", time="1ns", count=count)])
    tasks = instance.tasks
    assert len(tasks) == count and tasks[-1].name == f"a/{count - 1}" and tasks[5] in tasks
    assert [task.id for task in tasks[2:4]] == [2, 3]
    for call in (instance.to_networkx, lambda: m.plan(instance, Nothing()), lambda: m.compare(instance, [Nothing()])):
        with pytest.raises(m.InputError, match="at most 10000000 can be planned one by one"):
            call()
    with pytest.raises(IndexError):
        tasks[count]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6))
@few
def test_tasks_are_a_sequence(counts: list[int]) -> None:
    instance = m.Instance(processors=1, jobs=[m.Job(f"j{at}", time=1, count=count) for at, count in enumerate(counts)])
    tasks = list(instance.tasks)
    assert len(tasks) == sum(counts) and instance.tasks == tasks and list(reversed(instance.tasks)) == tasks[::-1]
    assert instance.tasks[1:-1:2] == tasks[1:-1:2] and instance.tasks.index(tasks[-1]) == len(tasks) - 1
    with pytest.raises(TypeError):
        hash(instance.tasks)


@contextmanager
def signalled(seconds: float, number: signal.Signals, handler: Callable[..., object]) -> Iterator[None]:
    before = signal.signal(number, handler)
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), number))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.signal(number, before)


@pytest.mark.parametrize("raised", [SystemExit(3), TimeoutError("late"), ValueError("mine")], ids=["exit", "timeout", "value"])
def test_only_ctrl_c_ends_a_search_with_the_best_so_far(raised: BaseException) -> None:
    def handler(*_: object) -> None:
        raise raised

    instance = m.generate.moldable(jobs=60, processors=16)
    calls: list[Callable[[], object]] = [
        lambda: m.plan(instance, time_limit=60),
        lambda: m.compare(instance, ["optimise[time-limit=60]"]),
    ]
    for call in calls:
        begin = time.monotonic()
        with signalled(0.5, signal.SIGUSR1, handler), pytest.raises(type(raised)):
            call()
        assert time.monotonic() - begin < 50


def test_an_interrupted_comparison_says_so() -> None:
    instance = m.generate.moldable(jobs=60, processors=16)
    with signalled(1.0, signal.SIGINT, signal.default_int_handler), pytest.warns(UserWarning, match="1 of 4 plans were made"):
        table = m.compare([instance, instance], ["list", "optimise[time-limit=600]"])
    assert table.interrupted and [row["algorithm"] for row in table] == ["list[order=shelf]"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not m.compare(instance, ["list"]).interrupted


texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(texts, max_size=5))
@few
def test_errors_survive_pickle(problems: list[str]) -> None:
    error = m.VerificationError(problems)
    twin = pickle.loads(pickle.dumps(error))
    assert (str(twin), twin.problems) == (str(error), problems)
    there = m.InputError("wrong", "file", 3, 4, "field")
    assert (str(pickle.loads(pickle.dumps(there))), pickle.loads(pickle.dumps(there)).field) == (str(there), "field")


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.integers(1, 4))
@few
def test_bounds_are_numbers_that_travel(times: list[int], processors: int) -> None:
    instance = m.Instance(processors=processors, jobs=[m.Job(f"j{at}", time=each) for at, each in enumerate(times)])
    plan = m.plan(instance, "list")
    for bound in plan.bounds.values():
        value = bound.value
        assert bound == value and bound <= value and bound < value + 1 and value - 1 < bound and not bound != bound
        assert (bound + 1, 1 + bound, bound - 1, 1 - bound) == (value + 1, 1 + value, value - 1, 1 - value)
        assert (bound * 2, 2 * bound, bound / 2, -bound, abs(bound)) == (value * 2, value * 2, value / 2, -value, abs(value))
        assert (f"{bound:.2f}", round(bound), round(bound, 1), int(bound)) == (f"{value:.2f}", round(value), round(value, 1), int(value))
        assert math.isclose(plan.values[bound.objective] / bound, plan.values[bound.objective] / value)
        for twin in (pickle.loads(pickle.dumps(bound)), copy.deepcopy(bound)):
            assert twin == bound and hash(twin) == hash(bound) and repr(twin) == repr(bound)
            twin.verify()
    numpy = pytest.importorskip("numpy")
    assert (numpy.array([6.0, 12.0]) / plan.bounds["makespan"]).dtype == float
    table = plan.schedule
    assert table == plan.schedule and table[0] == next(iter(table)) and table[-1] == list(table)[-1]
    assert table[:2] == list(table)[:2] and table[::-1] == list(table)[::-1]
    with pytest.raises(IndexError):
        table[len(table)]


def test_instances_without_jobs_travel() -> None:
    for drawn in (m.generate.moldable(jobs=0, processors=4), m.generate.flow(tasks=0)):
        twin = pickle.loads(pickle.dumps(drawn))
        assert (len(twin), twin.platform, twin.nodes) == (0, drawn.platform, drawn.nodes)


def test_walltimes_that_end_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(m.InputError, match="no job has a walltime") as raised:
        m.simulate(small(), kill_at_walltime=True)
    assert raised.value.field == "kill_at_walltime"
    path = tmp_path / "log.swf"
    path.write_text("; MaxProcs: 4\n1 0 -1 60 1 -1 -1 1 30 -1 1 1 1 -1 1 -1 -1 -1\n")
    assert m.simulate(path, kill_at_walltime=True)[0].jobs["outcome"] == ["timed out"]
    with pytest.raises(m.InputError, match="clairvoyant"):
        m.simulate(m.read_log(path, estimates="clairvoyant"), kill_at_walltime=True)
    assert m.read(path, processors=2).processors == 2


def test_a_missing_time_is_said_and_seen() -> None:
    pandas, polars, networkx = (pytest.importorskip(name) for name in ("pandas", "polars", "networkx"))
    frames = [pandas.DataFrame({"name": ["a", "b"], "time": [1.0, math.nan]}), polars.DataFrame({"name": ["a", "b"], "time": [1.0, None]})]
    for frame in frames:
        with pytest.raises(m.InputError, match="estimate") as raised:
            m.Instance(processors=1, jobs=frame)
        assert raised.value.field == "jobs[1].time"
    frames[0]["estimate"] = [None, "guessed"]
    instance = m.Instance(processors=1, jobs=frames[0])
    assert instance.guesses == 1 and "1 time is a guess" in repr(instance)
    plan = m.plan(instance, "list", objective=None)
    assert "1 time is a guess" in repr(plan) and all("guesses hold" in repr(bound) for bound in plan.bounds.values())
    assert m.compare(instance, ["list"])["guesses"] == [1] and "guesses" not in m.compare(small(), ["list"]).columns
    graph = networkx.DiGraph()
    graph.add_edge("x", "y")
    with pytest.raises(m.InputError, match="has no time"):
        m.Graph(graph)
    graph.nodes["x"]["time"], graph.nodes["y"]["estimate"] = 1, "guessed"
    assert m.Instance(processors=1, jobs=[m.Job("w", graph=graph)]).guesses == 1


def test_messages_speak_python(tmp_path: Path) -> None:
    path = tmp_path / "w.dot"
    path.write_text('digraph w { a [size="1e9"]; b [size="2e9"]; a -> b [size="1e6"]; }')
    with pytest.raises(m.InputError, match="processors=N") as raised:
        m.read(path)
    assert "--" not in str(raised.value)
    read = m.read(path, processors=2)
    assert read.remarks and not any("--" in remark for remark in read.remarks)


def test_any_file_is_read_for_a_number_of_processors(tmp_path: Path) -> None:
    small().write(tmp_path / "i.json")
    assert m.read(tmp_path / "i.json", processors=5).processors == 5
    assert len(m.simulate(m.read_log(tmp_path / "i.json", processors=5))[0].jobs) == 3
    with pytest.raises(m.InputError, match="only for logs"):
        m.read(tmp_path / "i.json", speedup="linear")


def test_progress_without_an_end_has_none() -> None:
    told: list[float | None] = []
    m.plan(m.generate.moldable(jobs=3000, processors=64), "demt[shuffles=200]", progress=lambda state: told.append(state.time_limit))
    assert told and set(told) == {None}


def test_what_is_maximised_is_below_the_best() -> None:
    plan = m.plan(m.generate.tree(nodes=8, seed=2))
    assert "above" not in repr(plan) and "0.00%" not in repr(plan) and (plan.gap or 0) >= 0


PLACES: dict[str, tuple[Any, str]] = {
    "too many processors": (m.Job("b", time=1, processors=9), "jobs[1]"),
    "walltime": (m.Job("b", time=3, walltime=1), "jobs[1]"),
    "unknown after": (m.Job("b", time=3, after="zz"), "jobs[1]"),
    "needs": (m.Job("b", time=3, needs={"memory": "1TiB"}), "jobs[1]"),
    "cycle": (m.Job("b", graph=m.Graph([m.Job("x", 1), m.Job("y", 1)], [("x", "y"), ("y", "x")])), "jobs[1]"),
    "a cycle of jobs": (m.Job("b", time=1, after=["b2"]), "jobs[2].after"),
    "after of a number": ({"name": "b", "time": 1, "after": 3}, "jobs[1].after"),
}


@pytest.mark.parametrize(("job", "field"), PLACES.values(), ids=PLACES.keys())
def test_every_wrong_job_has_its_place(job: Any, field: str) -> None:
    with pytest.raises(m.InputError) as raised:
        other = m.Job("b2", time=1, after=["b"]) if job["name"] == "b" and job.get("after") == ["b2"] else m.Job("b2", time=1)
        m.Instance(m.Platform(processors=4, resources={"memory": "1GiB"}), [m.Job("a", time=1), job, other])
    assert raised.value.field == field, str(raised.value)


RAW: dict[str, tuple[Callable[[], object], str]] = {
    "negative jobs": (lambda: m.generate.moldable(jobs=-1, processors=4), "jobs"),
    "jobs with a fraction": (lambda: m.generate.moldable(jobs=1.5, processors=4), "jobs"),  # type: ignore[arg-type]
    "a negative seed": (lambda: m.generate.moldable(jobs=1, processors=4, seed=-1), "seed"),
    "a tree of none": (lambda: m.generate.tree(nodes=-1), "nodes"),
    "negative tasks": (lambda: m.generate.graphs(tasks=-1), "tasks"),
    "a volume alone": (lambda: m.generate.graphs(volume=3), "volume"),  # type: ignore[arg-type]
    "three amounts": (lambda: m.generate.graphs(data=(1, 2, 3)), "data"),  # type: ignore[arg-type]
    "no bandwidth": (lambda: m.generate.graphs(bandwidth=0), "bandwidth"),
    "too many processors": (lambda: m.generate.lublin(jobs=1, processors=2**40), "processors"),
    "requests of words": (lambda: m.generate.lublin(jobs=1, processors=4, requests="x"), "requests"),
    "after a number": (lambda: m.Job("a", time=1, after=3), "after"),  # type: ignore[arg-type]
    "queues of a number": (lambda: m.read_log("x.swf", queues=3), "queues"),  # type: ignore[arg-type]
    "no workflow": (lambda: m.adapters.from_wfcommons(3), "workflow"),
    "no model": (lambda: m.adapters.from_pyjobshop(3), "model"),
    "an unknown objective": (lambda: m.plan(small(), objective="makspan"), "objective"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("call", "field"), RAW.values(), ids=RAW.keys())
def test_arguments_that_are_wrong_are_named(call: Callable[[], object], field: str) -> None:
    with pytest.raises(m.InputError) as raised:
        call()
    assert raised.value.field == field and "NaN" not in str(raised.value)


def test_what_is_no_plan_is_said(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("[]")
    with pytest.raises(m.InputError, match="not a plan file"):
        m.verify(small(), tmp_path / "plan.json")


def test_what_is_misspelled_is_guessed() -> None:
    with pytest.raises(m.InputError, match="did you mean `time`"):
        m.Instance(processors=1, jobs=[{"name": "a", "tme": 3}])
    with pytest.raises(m.InputError, match="did you mean `makespan`"):
        m.plan(small(), objective="makspan")  # type: ignore[arg-type]


def test_jobs_and_platforms_show_what_they_state() -> None:
    times = [4, 2]
    job = m.Job("a", time=times, after="b")
    times[0] = 100
    assert (job.time, job.name, job.after, job.weight, job.get("weight", 7), job["time"]) == ([4, 2], "a", ["b"], None, 7, [4, 2])
    with pytest.raises(AttributeError, match="it has after"):
        job.tme  # type: ignore[attr-defined]
    platform = m.Platform(processors=4)
    assert (platform.processors, platform.bandwidth) == (4, None)
    assert m.Instance(platform, [m.Job("a", time=1)]).platform == platform
    assert "None" not in repr(m.Job("g", graph=m.Graph([m.Job("x", time=1)])))


def test_forms_of_jobs_mean_the_same() -> None:
    pandas, networkx = pytest.importorskip("pandas"), pytest.importorskip("networkx")
    graph = m.Graph([m.Job("x", time=1), m.Job("y", time=[3, 2])], [("x", "y", 5)])
    jobs = [m.Job("0", time=1), m.Job("b", time=1, after="0"), m.Job("g", graph=graph)]
    dicts = [{"name": "0", "time": 1}, {"name": "b", "time": 1, "after": "0"}, {"name": "g", "graph": graph}]
    assert m.Instance(processors=2, jobs=jobs) == m.Instance(processors=2, jobs=dicts)
    frame = pandas.DataFrame({"name": [0, 1], "time": [1, 2]})
    assert m.Instance(processors=1, jobs=frame) == m.Instance(processors=1, jobs=[m.Job("0", time=1), m.Job("1", time=2)])
    back = m.Instance(processors=2, jobs=[m.Job("g", graph=graph)]).to_networkx()
    back = networkx.relabel_nodes(back, {"g/x": "x", "g/y": "y"})
    assert m.Instance(processors=2, jobs=[m.Job("g", graph=back)]) == m.Instance(processors=2, jobs=[m.Job("g", graph=graph)])


def test_a_view_has_its_tasks_by_number() -> None:
    seen: list[bool] = []

    class Last(m.Policy):
        def on(self, events: list[m.Event], view: m.View) -> Iterator[m.Decision]:
            tasks = list(view.waiting)
            seen.append(not tasks or (view.waiting[0] == tasks[0] and view.waiting[-1] == tasks[-1]))
            with pytest.raises(IndexError):
                view.waiting[len(tasks)]
            for task in tasks[: view.free]:
                yield m.Start(task, 1)

    m.simulate(small(), [Last()])
    assert seen and all(seen)


def test_frames_for_evalys_have_sets_of_processors() -> None:
    procset = pytest.importorskip("procset")
    plan = m.plan(small(), "list")
    for frame in (plan.to_evalys(), m.simulate(small(), "easy")[0].to_evalys()):
        sets = list(frame["allocated_resources"])
        assert all(isinstance(each, procset.ProcSet) for each in sets) and max(each.max for each in sets) == 1
    jobset = pytest.importorskip("evalys.jobset")
    assert len(jobset.JobSet(plan.to_evalys()).df) == 3


def test_frames_for_evalys_are_texts_without_procset(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setitem(sys.modules, "procset", None)
    wide = m.plan(m.Instance(processors=3, jobs=[m.Job("a", time=1, processors=3)]), "list")
    assert list(wide.to_evalys()["allocated_resources"]) == ["0-2"]


def test_modes_that_another_beats_are_left_out() -> None:
    resource, mode = SimpleNamespace(capacity=3, name="r"), SimpleNamespace
    modes = [mode(task=0, duration=d, resources=[0], demands=[a]) for d, a in [(4, 2), (4, 1), (5, 1), (5, 3), (2, 3), (4, 1)]]
    constraints = SimpleNamespace(end_before_start=[])
    model = SimpleNamespace(resources=[resource], tasks=[SimpleNamespace(name="t")], modes=modes, jobs=[], constraints=constraints)
    plan = m.plan(m.adapters.from_pyjobshop(model), objective="makespan", time_limit=0.2)
    assert plan.makespan == 2
