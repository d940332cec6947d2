"""Tests of instances from Python objects, and of the errors for invalid ones."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import makespan as m
import pytest


def small() -> m.Instance:
    jobs = [m.Job("a", time=[4, 2.2, 1.6]), m.Job("b", time=3, processors=2, weight=2)]
    return m.Instance(platform=m.Platform(processors=4), jobs=jobs)


def test_times_keep_their_decimals() -> None:
    forms: list[Any] = [2.2, "2.2s", timedelta(seconds=2, milliseconds=200), Decimal("2.2")]
    texts = {m.Instance(processors=1, jobs=[m.Job("a", time=form)]).to_json() for form in forms}
    assert len(texts) == 1
    assert "2.2," in texts.pop().replace("}", ",")


def test_numpy_scalars_and_arrays_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    array = numpy.array([4.0, 2.2])
    of_numpy = m.Instance(processors=numpy.int64(2), jobs=[m.Job("a", time=array, weight=numpy.float64(3))])
    assert of_numpy.to_json() == m.Instance(processors=2, jobs=[m.Job("a", time=[4.0, 2.2], weight=3)]).to_json()


@pytest.mark.parametrize(
    ("job", "field", "words"),
    [
        (m.Job("b", time=-1), "jobs[1].time", "negative"),
        (m.Job("b", time=float("nan")), "jobs[1].time", "finite"),
        (m.Job("b", time=[2, object()]), "jobs[1].time[1]", "object"),
        ({"name": "b", "tme": 3}, "jobs[1]", "not a key of a job"),
        (m.Job("b", time=3, processors=9), None, "processors"),
        (7, "jobs[1]", "int"),
        (m.Job("a", time=1), "jobs", "unique"),
        ({"name": "b", "time": 1, "needs": {"memory": "4XB"}}, "jobs[1].needs.memory", "4XB"),
    ],
)
def test_what_is_wrong_has_its_place(job: Any, field: str | None, words: str) -> None:
    with pytest.raises(m.InputError) as raised:
        m.Instance(processors=4, jobs=[m.Job("a", time=1), job])
    assert words in str(raised.value)
    if field is not None:
        assert raised.value.field is not None and raised.value.field.startswith(field), raised.value.field


def test_a_list_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(m.InputError, match="too deep"):
        m.Instance(processors=1, jobs=[m.Job("a", time=loop)])


def test_machines_are_stated_once() -> None:
    with pytest.raises(m.InputError, match="one of them"):
        m.Instance(m.Platform(processors=4), [m.Job("a", time=1)], processors=4)
    with pytest.raises(m.InputError, match="platform"):
        m.Instance(jobs=[m.Job("a", time=1)])


def test_frames_are_lists_of_jobs() -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    rows: dict[str, list[Any]] = {"name": ["a", "b"], "time": [3.5, 2.0], "processors": [1, 2], "deadline": [None, 9.0]}
    plain = m.Instance(processors=2, jobs=[m.Job("a", 3.5, processors=1), m.Job("b", 2, processors=2, deadline=9)])
    for frame in (pandas.DataFrame(rows), polars.DataFrame(rows), pyarrow.table(rows)):
        assert m.Instance(processors=2, jobs=frame).to_json() == plain.to_json()


def test_graphs_come_from_networkx_and_go_back() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_node("split", time=1)
    graph.add_node("sort", time=[4, 2])
    graph.add_edge("split", "sort", data=1000)
    of_graph = m.Instance(processors=2, jobs=[m.Job("w", graph=graph)])
    tasks = [m.Job("split", time=1), m.Job("sort", time=[4, 2])]
    by_hand = m.Instance(processors=2, jobs=[m.Job("w", graph=m.Graph(tasks, [("split", "sort", 1000)]))])
    assert of_graph.to_json() == by_hand.to_json()
    back = of_graph.to_networkx()
    assert sorted(back.edges()) == [("w/split", "w/sort")]
    assert [task.name for task in of_graph.tasks[1].predecessors] == ["w/split"]
    with pytest.raises(m.InputError, match="directed"):
        m.Graph(networkx.Graph(graph))
    with pytest.raises(m.InputError, match="not a key of an edge"):
        m.Graph(tasks, [("split", "sort", {"bytes": 3})])


def test_a_cycle_is_refused_with_its_job() -> None:
    graph = m.Graph([m.Job("x", time=1), m.Job("y", time=1)], [("x", "y"), ("y", "x")])
    with pytest.raises(m.InputError, match="`w`"):
        m.Instance(processors=1, jobs=[m.Job("w", graph=graph)])


def test_files_and_pickles_hold_the_same_instance(tmp_path: Path) -> None:
    instance = small()
    for name in ("i.json", "i.toml"):
        instance.write(tmp_path / name)
        assert m.read(tmp_path / name).to_json() == instance.to_json()
    assert pickle.loads(pickle.dumps(instance)).to_json() == instance.to_json()


def test_errors_of_files_name_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"version": 2,\n "platform": {"processors": 2},\n "jobs": [{"name": "a", "time": "3 parsecs"}]}')
    with pytest.raises(m.InputError) as raised:
        m.read(path)
    assert (raised.value.line, raised.value.field) == (3, "jobs[0].time")
    assert str(path) in str(raised.value)
    with pytest.raises(FileNotFoundError):
        m.read(tmp_path / "none.json")


def test_a_workflow_is_read_for_stated_machines(tmp_path: Path) -> None:
    path = tmp_path / "w.dot"
    path.write_text('digraph w { a [size="1e9"]; b [size="2e9"]; a -> b [size="1e6"]; }')
    platform = m.Platform(nodes=[m.Node("n0", 1, speed=2.0), m.Node("n1", 1)], bandwidth="1MB/s")
    read = m.read(path, platform=platform)
    assert (read.task_count, read.processors, read.nodes["speed"]) == (2, 2, [2.0, 1.0])


def test_tasks_tell_their_times() -> None:
    a, b = small().tasks
    assert [a.time(count) for count in a.allotments] == [4.0, 2.2, 1.6]
    assert (a.time("0-2"), b.time(), b.weight, b.min_processors) == (1.6, 3.0, 2.0, 2)
    with pytest.raises(ValueError, match="accepts 2 to 2"):
        b.time(3)
    with pytest.raises(ValueError, match="accepts"):
        b.time("3-4")


def test_processors_are_sets() -> None:
    random.seed(1)
    for _ in range(50):
        one, two = ({random.randrange(40) for _ in range(random.randrange(20))} for _ in range(2))
        a, b = m.Processors(one), m.Processors(two)
        assert (set(a | b), set(a & b), set(a - b)) == (one | two, one & two, one - two)
        assert list(a) == sorted(one) and len(a) == len(one) and m.Processors(str(a)) == a
        count = random.randrange(20)
        taken = a.take(count)
        assert (taken is None) == (count > len(one))
        assert taken is None or (len(taken) == count and set(taken) <= one)
    with pytest.raises(m.InputError):
        m.Processors("3-1")


def test_generators_follow_their_seed() -> None:
    kinds: dict[str, Callable[[int], m.Instance]] = {
        "moldable": lambda seed: m.generate.moldable(jobs=9, processors=8, seed=seed),
        "poisson": lambda seed: m.generate.poisson(jobs=9, processors=8, load=0.7, seed=seed),
        "etc": lambda seed: m.generate.etc(tasks=9, machines=3, seed=seed),
        "graphs": lambda seed: m.generate.graphs(tasks=12, seed=seed),
        "project": lambda seed: m.generate.project(activities=8, seed=seed),
        "flow": lambda seed: m.generate.flow(tasks=9, seed=seed),
        "tree": lambda seed: m.generate.tree(nodes=12, seed=seed),
        "lublin": lambda seed: m.generate.lublin(jobs=9, processors=32, seed=seed).instance,
    }
    for kind, draw in kinds.items():
        assert draw(1).to_json() == draw(1).to_json(), kind
        assert draw(1).to_json() != draw(2).to_json(), kind
    with pytest.raises(m.InputError, match="family"):
        m.generate.moldable(jobs=3, processors=2, family="none")


def test_milestones_are_removed_and_their_arcs_joined() -> None:
    jobs = [m.Job("a", time=3), m.Job("b", time=4), m.Job("gate", time=0, after=["a", "b"]), m.Job("c", time=5, after="gate")]
    with pytest.warns(UserWarning, match=r"1 jobs? \(gate\) takes no time and was removed"):
        instance = m.Instance(processors=2, jobs=jobs)
    assert list(instance.jobs["job"]) == ["a", "b", "c"] and m.plan(instance, "list").makespan == 9
    tasks = [m.Job("source", time=0), m.Job("x", time=2), m.Job("mid", time=[0]), m.Job("y", time=3), m.Job("sink", time="0s")]
    edges = [("source", "x"), ("x", "mid"), ("mid", "y"), ("y", "sink")]
    with pytest.warns(UserWarning, match="3 tasks"):
        instance = m.Instance(processors=2, jobs=[m.Job("g", graph=m.Graph(tasks, edges))])
    assert instance.task_count == 2 and m.plan(instance, "list").makespan == 5
    with pytest.warns(UserWarning, match="removed"):
        assert m.Instance(processors=1, jobs=[m.Job("a", time=1), m.Job("g", graph=m.Graph([m.Job("z", time=0)]))]).task_count == 1
    with pytest.raises(m.InputError, match="takes no time and is removed as a milestone, but it states `deadline`"):
        m.Instance(processors=1, jobs=[m.Job("a", time=0, deadline=3)])
    with pytest.raises(m.InputError, match="waits for itself"):
        m.Instance(processors=1, jobs=[m.Job("a", time=0, after="b"), m.Job("b", time=0, after="a")])


def test_deadlines_are_kept_and_setups_planned() -> None:
    platform = m.Platform(processors=1, setups=[{"from": "x", "to": "y", "time": 2}, {"from": "y", "to": "x", "time": 9}])
    jobs = [m.Job("a", time=3, family="x"), m.Job("b", time=2, family="y", must_end_by=8)]
    plan = m.plan(m.Instance(platform, jobs), "list")
    plan.verify()
    assert plan.makespan == 7 and platform.setups is not None
    with pytest.raises(m.AlgorithmError, match="no plan keeps all deadlines"):
        m.plan(m.Instance(processors=1, jobs=[m.Job("a", time=3, must_end_by=2)]), "list")
    with pytest.raises(m.AlgorithmError, match="does not keep deadlines"):
        m.plan(m.Instance(processors=1, jobs=[m.Job("a", time=3, must_end_by=4)]), "demt")
