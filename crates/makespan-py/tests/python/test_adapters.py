"""Tests of the adapters. They use the real packages if these are installed, and otherwise objects with the same attributes."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import makespan as m
import pytest
from makespan._lags import without_milestones
from makespan.adapters import from_pyjobshop, from_wfcommons


@dataclass
class Workflow:
    """Imitates wfcommons.common.workflow.Workflow."""

    name: str

    def write_json(self, path: Path) -> None:
        task = {"id": "a", "name": "a", "parents": [], "children": ["b"], "inputFiles": [], "outputFiles": ["f"]}
        other = {"id": "b", "name": "b", "parents": ["a"], "children": [], "inputFiles": ["f"], "outputFiles": []}
        run = [{"id": "a", "runtimeInSeconds": 3.0}, {"id": "b", "runtimeInSeconds": 4.0}]
        files = [{"id": "f", "sizeInBytes": 1000}]
        document = {
            "name": self.name,
            "schemaVersion": "1.5",
            "workflow": {"specification": {"tasks": [task, other], "files": files}, "execution": {"tasks": run}},
        }
        path.write_text(json.dumps(document))


def test_a_workflow_goes_through_its_own_file() -> None:
    platform = m.Platform(nodes=[m.Node("n0"), m.Node("n1", speed=2.0)], bandwidth="1MB/s")
    instance = from_wfcommons(Workflow("made/up"), platform=platform)
    assert instance.task_count == 2 and instance.edges["data"] == [1000.0]
    m.plan(instance, "heft").verify()


def test_a_real_workflow_of_wfcommons() -> None:
    wfcommons = pytest.importorskip("wfcommons.common")
    task = wfcommons.task.Task(name="a", task_id="a", runtime=3.0)
    workflow = wfcommons.workflow.Workflow(name="w")
    workflow.add_task(task)
    assert from_wfcommons(workflow, processors=2).task_count == 1


def mode(task: int, duration: int, resources: list[int], demands: list[int]) -> Any:
    return SimpleNamespace(task=task, duration=duration, resources=resources, demands=demands)


@dataclass
class Renewable:
    capacity: int
    name: str = "cores"


@dataclass
class NonRenewable:
    capacity: int
    name: str = "budget"


def task(name: str, **other: Any) -> Any:
    return SimpleNamespace(name=name, **other)


@dataclass
class Constraints:
    end_before_start: list[Any] = field(default_factory=list)
    start_before_start: list[Any] = field(default_factory=list)
    start_before_end: list[Any] = field(default_factory=list)
    start_at_end: list[Any] = field(default_factory=list)
    setup_times: list[Any] = field(default_factory=list)
    same_sequence: list[Any] = field(default_factory=list)


def problem(**changes: Any) -> Any:
    modes = [mode(0, 9, [0], [1]), mode(0, 5, [0, 1], [2, 1]), mode(1, 4, [0], [3])]
    edges = Constraints([SimpleNamespace(task1=0, task2=1, delay=0)])
    stated = {
        "resources": [Renewable(3), NonRenewable(1)],
        "tasks": [task("x"), task("y")],
        "modes": modes,
        "jobs": [],
        "constraints": edges,
    }
    return SimpleNamespace(**{**stated, **changes})


def test_modes_are_allotments() -> None:
    plan = m.plan(from_pyjobshop(problem()), objective="makespan", time_limit=0.3)
    plan.verify()
    assert (plan.makespan, plan.gap) == (9.0, 0.0)
    poor = problem(resources=[Renewable(3), NonRenewable(0)], modes=problem().modes)
    with pytest.raises(m.InputError):
        from_pyjobshop(problem(resources=[Renewable(2), NonRenewable(1)]))
    assert m.plan(from_pyjobshop(poor), objective="makespan", time_limit=0.3).makespan == 13.0


def test_tasks_without_duration_are_removed_and_their_arcs_joined() -> None:
    edges = [SimpleNamespace(task1=one, task2=other, delay=0) for one, other in [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4)]]
    modes = [mode(0, 0, [], []), mode(1, 4, [0], [2]), mode(2, 5, [0], [2]), mode(3, 0, [], []), mode(4, 2, [0], [1])]
    project = problem(tasks=[task(name) for name in "axmyz"], modes=modes, constraints=Constraints(edges))
    with pytest.warns(UserWarning, match=r"2 tasks \(a, y\) take no time and were removed"):
        instance = from_pyjobshop(project)
    assert instance.task_count == 3 and m.plan(instance, objective="makespan", time_limit=0.3).makespan == 11.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"constraints": Constraints(same_sequence=[1])}, "same_sequence"),
        ({"constraints": Constraints([SimpleNamespace(task1=0, task2=1, delay=3)])}, "task x: it has several durations and a delay"),
        ({"tasks": [task("x", optional=True), task("y")]}, "optional"),
        ({"tasks": [task("x", earliest_start=3), task("y")]}, "window"),
        ({"modes": [mode(0, 4, [0], [1]), mode(0, 4, [1], [1]), mode(1, 4, [0], [3])]}, "same time"),
    ],
)
def test_what_does_not_fit_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(m.InputError, match=words):
        from_pyjobshop(problem(**changes))


def relation(first: int, second: int, delay: int = 0) -> Any:
    return SimpleNamespace(task1=first, task2=second, delay=delay)


def lagged(durations: list[int], **constraints: list[Any]) -> Any:
    """Returns a model of tasks a, b .. that all fit at the same time."""
    modes = [mode(at, duration, [], []) for at, duration in enumerate(durations)]
    tasks = [task(name) for name in "abcdefgh"[: len(durations)]]
    return problem(tasks=tasks, modes=modes, constraints=Constraints(**constraints))


def lags(model: Any) -> list[dict[str, Any]]:
    (job,) = json.loads(from_pyjobshop(model).to_json())["jobs"]
    return list(job.get("lags", []))


def test_delays_and_relations_of_tasks_become_time_lags() -> None:
    # Task a takes 3 and task b takes 4.
    cases: list[tuple[str, Any, list[dict[str, Any]]]] = [
        ("end_before_start", relation(0, 1, 2), [{"from": "a", "to": "b", "min": 5}]),
        ("end_before_start", relation(0, 1, -9), [{"from": "b", "to": "a", "max": 6}]),
        ("start_before_start", relation(1, 0, -5), [{"from": "a", "to": "b", "max": 5}]),
        ("start_before_start", relation(0, 1, 1), [{"from": "a", "to": "b", "min": 1}]),
        ("start_before_end", relation(0, 1, 6), [{"from": "a", "to": "b", "min": 2}]),
        ("start_before_start", relation(0, 1, 3), []),
    ]
    for kind, one, expected in cases:
        assert lags(lagged([3, 4], **{kind: [one]})) == expected, kind
    # Task a starts 5 before the end of task b, and so 1 after its start.
    both = lags(lagged([3, 4], start_at_end=[relation(0, 1, 5)]))
    assert sorted(both, key=str) == sorted([{"from": "a", "to": "b", "min": 1}, {"from": "a", "to": "b", "max": 1}], key=str)


def test_a_model_with_time_lags_is_planned() -> None:
    # Task b starts at least 5 after task a. Tasks b and c need all cores, so task c runs between them.
    modes = [mode(0, 3, [0], [1]), mode(1, 1, [0], [3]), mode(2, 2, [0], [3])]
    constraints = Constraints(start_before_start=[relation(0, 1, 5), relation(2, 1, -1)])
    model = problem(tasks=[task(name) for name in "abc"], modes=modes, constraints=constraints)
    plan = m.plan(from_pyjobshop(model), objective="makespan", time_limit=0.3)
    plan.verify()
    assert plan.makespan == 6.0


def test_tasks_without_duration_pass_their_time_lags_on() -> None:
    # Task b takes no time. It starts 2 to 6 after task a, and task c starts at least 3 after it.
    relations = [relation(0, 1, 2), relation(1, 0, -6), relation(1, 2, 3)]
    with pytest.warns(UserWarning, match=r"1 task \(b\) takes no time and was removed"):
        assert lags(lagged([4, 0, 2], start_before_start=relations)) == [{"from": "a", "to": "c", "min": 5}]
    with pytest.raises(m.InputError, match="no plan satisfies the time lags between the tasks a and b"):
        from_pyjobshop(lagged([4, 0, 2], start_before_start=[relation(0, 1, 7), relations[1], relations[2]]))
    with pytest.raises(m.InputError, match="task b starts at least 3 after task a, which takes no time"):
        from_pyjobshop(lagged([0, 2], start_before_start=[relation(0, 1, 3)]))
    with pytest.raises(m.InputError, match="task b, which takes no time, ends after task a and may end last"):
        from_pyjobshop(lagged([2, 0], start_before_start=[relation(0, 1, 3)]))


def test_the_joined_lags_allow_the_same_starts() -> None:
    """Enumerates the starts of small models, with and without the tasks that take no time."""
    source = random.Random(58)
    compared = 0
    for _ in range(150):
        times = [2, 3, 0, 0]
        pairs = [(first, second) for first in range(4) for second in range(4) if first != second]
        stated = {pair: source.randint(-4, 3) for pair in source.sample(pairs, 5)}
        allowed: dict[tuple[int, int], int] = {}
        for starts in itertools.product(range(5), range(5), range(12), range(12)):
            if all(starts[second] - starts[first] >= least for (first, second), least in stated.items()):
                makespan = max(start + time for start, time in zip(starts, times, strict=True))
                allowed[starts[:2]] = min(makespan, allowed.get(starts[:2], makespan))
        try:
            joined = without_milestones(stated, times, "abcd")
        except m.InputError as error:
            assert not allowed or "no plan satisfies" not in str(error)
            continue
        assert all(first < 2 and second < 2 for first, second in joined)
        kept = [
            (one, other)
            for one, other in itertools.product(range(5), repeat=2)
            if all((one, other)[second] - (one, other)[first] >= least for (first, second), least in joined.items())
        ]
        assert kept == list(allowed), stated
        assert all(makespan == max(one + 2, other + 3) for (one, other), makespan in allowed.items()), stated
        compared += 1
    assert compared > 30


def test_a_real_model_of_pyjobshop() -> None:
    pyjobshop = pytest.importorskip("pyjobshop")
    model = pyjobshop.Model()
    machines = [model.add_machine(name=f"m{at}") for at in range(2)]
    for at, durations in enumerate([(3, 2), (2, 4)]):
        job = model.add_job(name=f"j{at}")
        tasks = [model.add_task(job=job, name=f"t{at}{step}") for step in range(2)]
        for step, duration in enumerate(durations):
            model.add_mode(tasks[step], machines[(at + step) % 2], duration)
        model.add_end_before_start(tasks[0], tasks[1])
    plan = m.plan(from_pyjobshop(model), objective="makespan", time_limit=0.3)
    plan.verify()
    assert plan.makespan == model.solve(display=False).objective == 7


def test_setup_times_and_deadlines_of_pyjobshop() -> None:
    pyjobshop = pytest.importorskip("pyjobshop")
    model = pyjobshop.Model()
    machine = model.add_machine(name="press")
    durations, setups = [3, 2, 4, 1], [[0, 5, 1, 4], [2, 0, 6, 1], [3, 1, 0, 7], [1, 3, 2, 0]]
    tasks = []
    for at, duration in enumerate(durations):
        job = model.add_job(name=f"j{at}", **({"deadline": 8} if at == 3 else {}))
        tasks.append(model.add_task(job=job, name=f"t{at}"))
        model.add_mode(tasks[at], machine, duration)
    for one, row in enumerate(setups):
        for other, time in enumerate(row):
            if one != other:
                model.add_setup_time(machine, tasks[one], tasks[other], time)
    plan = m.plan(from_pyjobshop(model), algorithm="optimise[objective=makespan,steps=2000]")
    plan.verify()
    assert plan.makespan == model.solve(display=False).objective
