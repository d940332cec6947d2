"""Tests properties of randomly generated instances."""

from __future__ import annotations

import pickle
import re
from typing import Any

import makespan as m
import pytest

pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, example, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

# Set no deadline, because busy machines are slow, and test builds are even slower.
few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(lambda name: "/" not in name and name.strip())
ticks = st.integers(1, 10**13)


def seconds(ticks: int) -> str:
    return f"{ticks // 10**9}.{ticks % 10**9:09}"


@st.composite
def instances(draw: st.DrawFn) -> m.Instance:
    """Generates rigid and moldable jobs with names in any script, weights, release dates and memory needs."""
    processors = draw(st.integers(1, 6))
    jobs = []
    for name in draw(st.lists(names, min_size=1, max_size=8, unique=True)):
        times = sorted(draw(st.lists(ticks, min_size=1, max_size=processors)), reverse=True)
        other: dict[str, Any] = {}
        if draw(st.booleans()):
            other["released"] = seconds(draw(ticks))
        if draw(st.booleans()):
            other["needs"] = {"memory": draw(st.integers(0, 100))}
        jobs.append(m.Job(name, time=[seconds(time) for time in times], weight=draw(st.integers(0, 9)), **other))
    return m.Instance(m.Platform(processors=processors, resources={"memory": 100}), jobs)


@st.composite
def graphs(draw: st.DrawFn) -> m.Instance:
    count = draw(st.integers(1, 8))
    tasks = [m.Job(f"t{at}", time=[seconds(time) for time in draw(st.lists(ticks, min_size=1, max_size=2))]) for at in range(count)]
    pairs = [(a, b) for b in range(count) for a in range(b)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return m.Instance(processors=draw(st.integers(1, 4)), jobs=[m.Job("g", graph=m.Graph(tasks, [(f"t{a}", f"t{b}") for a, b in edges]))])


class Widest(m.Scheduler):
    """Places the tasks one after the other, each on its largest allotment."""

    def schedule(self, instance: m.Instance, tasks: list[m.Task]) -> list[m.Placement]:
        start, placed = max(task.released for task in tasks), []
        for task in tasks:
            width = task.allotments[-1]
            placed.append(m.Placement(task, f"{start:.9f}", range(width)))  # type: ignore[arg-type]
            # A float cannot represent all digits of a long time. A start that is a nanosecond later is always valid.
            start += task.time(width) + 2e-9 + 1e-15 * start
        return placed


class Greedy(m.Policy):
    """Starts the first waiting task that fits."""

    def on(self, events: list[m.Event], view: m.View) -> list[m.Decision]:
        for task in view.waiting:
            place = view.free_processors.take(task.min_processors)
            if place is not None and view.fits(task, place):
                # A decision changes the view, so the policy asks to be called again at once.
                return [m.Start(task, place), m.Wake(view.now)]
        return []


@few
@given(st.one_of(instances(), graphs()))
def test_plans_hold_and_are_what_the_simulator_plays(instance: m.Instance) -> None:
    plan = m.plan(instance, "list")
    plan.verify()
    assert len(plan.schedule) == instance.task_count
    assert all(gap >= 0 for gap in plan.gaps.values())
    assert plan.makespan == max(plan.schedule["end"])
    assert repr(pickle.loads(pickle.dumps(plan))) == repr(plan)


@few
@given(instances())
def test_instances_survive_files_pickles_and_frames(instance: m.Instance) -> None:
    assert m.Instance.from_json(instance.to_json()) == instance == pickle.loads(pickle.dumps(instance))
    jobs = instance.jobs
    assert [row["job"] for row in jobs] == jobs["job"] and len(jobs) == len(instance)


@few
@given(instances())
def test_all_tables_say_the_same_in_all_libraries(instance: m.Instance) -> None:
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
    for table in (instance.jobs, m.plan(instance, "list", prove=False).schedule, m.simulate(instance)[0].jobs):
        polars, arrow, pandas = table.to_polars(), table.to_arrow(), table.to_pandas()
        for name in table.columns:
            assert polars[name].to_list() == arrow[name].to_pylist() == table[name]
            assert [None if value != value else value for value in pandas[name].tolist()] == table[name]


@few
@given(instances())
def test_own_schedulers_and_policies_hold(instance: m.Instance) -> None:
    m.plan(instance, Widest()).verify()
    result = m.simulate(instance, [Greedy()])[0]
    assert set(result.jobs["outcome"]) == {"succeeded"} and len(result.jobs) == len(instance)
    assert all(wait >= 0 for wait in result.jobs["wait"])


@few
@given(st.sampled_from(["back-pressure", "fcfs", "cgbc", "pbc", "lp"]), st.integers(0, 99), st.integers(2, 9), st.integers(1, 12))
@example("cgbc", 0, 2, 1)
def test_bags_on_trees_are_done_and_keep_their_bound(policy: str, seed: int, nodes: int, buffer: int) -> None:
    instance = m.generate.tree(nodes=nodes, tasks=60, seed=seed)
    try:
        run = m.simulate_tree(instance, policy, buffer=buffer)[0]
    except m.AlgorithmError as error:
        # A policy may send several tasks together, and the buffer must hold them.
        needed = re.search(r"set buffer=(\d+)", str(error))
        assert policy == "cgbc" and needed is not None and int(needed[1]) > buffer and "--" not in str(error), error
        run = m.simulate_tree(instance, policy, buffer=int(needed[1]))[0]
    assert run.unfinished == 0 and not run.stalled
    assert sum(run.nodes["computed"]) == instance.task_count == len(run.completions)
    assert max(run.completions["time"]) == run.end
    assert all(load is None or load <= 1 + 1e-9 for name in ("processor_load", "port_load") for load in run.nodes[name])


@few
@given(st.sets(st.integers(0, 200)), st.sets(st.integers(0, 200)))
def test_sets_of_processors_are_sets(some: set[int], others: set[int]) -> None:
    a, b = m.Processors(some), m.Processors(others)
    assert set(a) == some and len(a) == len(some) and set(a | b) == some | others
    assert set(a & b) == some & others and set(a - b) == some - others and (a == b) == (some == others)
    assert m.Processors(str(a)) == a == pickle.loads(pickle.dumps(a))
