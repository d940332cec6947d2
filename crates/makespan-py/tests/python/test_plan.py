"""Tests of plans, of their proofs, and of the end of searches."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import makespan as m
import pytest


def drawn(jobs: int = 30, processors: int = 16, seed: int = 3) -> m.Instance:
    return m.generate.moldable(jobs=jobs, processors=processors, seed=seed)


def test_a_plan_is_valid_and_no_better_than_its_bounds() -> None:
    instance = drawn()
    plan = m.plan(instance, objective="makespan", time_limit=0.5)
    plan.verify()
    assert len(plan.schedule) == len(instance)
    assert plan.makespan == max(plan.schedule["end"]) == plan.value
    assert plan.objective == "makespan" and plan.gap is not None and 0 <= plan.gap < 1
    for name, bound in plan.bounds.items():
        bound.verify()
        assert bound.value <= plan.values[name] * (1 + 1e-12)
        assert json.loads(bound.certificate())["certificate"]["kind"] == bound.proof


def test_the_same_seed_gives_the_same_plan() -> None:
    plans = [m.plan(drawn(), "demt[shuffles=5]", seed=7).to_json() for _ in range(2)]
    assert plans[0] == plans[1]


def test_plan_files_are_checked(tmp_path: Path) -> None:
    instance, path = drawn(), tmp_path / "plan.json"
    plan = m.plan(instance, "demt", seed=2)
    plan.write(path)
    assert m.verify(instance, path).makespan == plan.makespan
    text = path.read_text()
    path.write_text(re.sub(r'"makespan": [0-9.]+,', '"makespan": 1,', text, count=1))
    with pytest.raises(m.VerificationError, match="the placements have"):
        m.verify(instance, path)
    with pytest.raises(m.InputError):
        m.verify(drawn(jobs=3), path)


def test_wrong_algorithms_say_what_would_be_right() -> None:
    instance = drawn()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"algorithm": "dmet"}, "did you mean `demt`"),
        ({"algorithm": "easy"}, "it is a policy"),
        ({"algorithm": "demt", "time_limit": 3}, "does not support time_limit"),
        ({"algorithm": "optimise[objective=makespan]", "objective": "makespan"}, "remove one of them"),
    ]
    for arguments, words in cases:
        with pytest.raises(m.AlgorithmError) as raised:
            m.plan(instance, **arguments)
        assert words in str(raised.value)
    with pytest.raises(m.InputError, match="not an objective"):
        m.plan(instance, objective="speed")  # type: ignore[arg-type]


def test_fronts_have_points() -> None:
    plan = m.plan(drawn(jobs=12), "optimise[objective=pareto,time-limit=0.3]")
    assert plan.kind == "front" and len(plan.points) >= 1
    spans = [point.makespan for point in plan.points]
    assert spans == sorted(spans)
    for point in plan.points:
        point.verify()


def test_steady_states_have_rates_and_no_placements() -> None:
    plan = m.plan(m.generate.tree(nodes=10))
    plan.verify()
    assert plan.kind == "steady state" and plan.gap == pytest.approx(0, abs=1e-9) and plan.value > 0
    assert "fair_throughput" in plan.to_json() and "<svg" in plan._repr_html_().replace("&lt;", "<")
    with pytest.raises(m.AlgorithmError, match="rates"):
        _ = plan.schedule
    with pytest.raises(m.AlgorithmError, match="no makespan"):
        _ = plan.makespan


def test_frames_of_all_libraries_agree() -> None:
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
    schedule = m.plan(drawn(), "demt").schedule
    pandas, polars, arrow = schedule.to_pandas(), schedule.to_polars(), schedule.to_arrow()
    for name in schedule.columns:
        assert list(pandas[name]) == polars[name].to_list() == arrow[name].to_pylist() == schedule[name]
    by_numpy = schedule._arrays()
    assert list(by_numpy["start"]) == schedule["start"] and by_numpy["allotment"].dtype == "int64"
    by_numpy["start"][0] = -1.0
    assert schedule["start"][0] != -1.0, "a change of a returned array does not change the plan"


def test_pages_load_nothing_and_charts_are_pictures() -> None:
    plan = m.plan(m.Instance(processors=2, jobs=[m.Job("<b>&", time=1)]), "list")
    page = plan._repr_html_()
    assert page.startswith("<iframe sandbox=") and "<b>&" not in page
    assert plan.plot()._repr_svg_().startswith("<svg")
    assert "Content-Security-Policy" in plan.to_html()


def test_compare_keeps_instances_and_algorithms_apart() -> None:
    table = m.compare({"small": drawn(8), "large": drawn(16)}, ["demt", "list"])
    assert table["instance"] == ["small", "small", "large", "large"]
    assert all(ratio >= 1 for ratio in table["makespan_ratio"])
    assert len(m.compare(drawn(6))) > 3
    with pytest.raises(m.AlgorithmError):
        m.compare(drawn(6), ["steady_state"])


def interrupt_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_takes_the_best_plan_so_far() -> None:
    timer = interrupt_after(0.4)
    begin = time.monotonic()
    plan = m.plan(drawn(60), objective="makespan", time_limit=600)
    timer.join()
    assert plan.stopped and time.monotonic() - begin < 120
    plan.verify()
    assert any("stopped" in remark for remark in plan.remarks)


def test_other_threads_go_on_meanwhile() -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    m.plan(drawn(60), objective="makespan", time_limit=1)
    done.set()
    thread.join()
    assert counted > 50


def test_progress_is_told_and_its_errors_are_raised() -> None:
    told: list[m.SearchState] = []
    m.plan(drawn(60), time_limit=1, progress=told.append)
    assert told and told == sorted(told, key=lambda state: state.seconds)
    assert all(state.time_limit == 1 for state in told)

    def fail(state: m.SearchState) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        m.plan(drawn(60), time_limit=60, progress=fail)


@pytest.mark.parametrize(("family", "options"), [("mixed", {"jobs": 40, "processors": 8}), ("layers", {"tasks": 80})])
def test_a_search_reports_its_best_value_and_bound(family: str, options: dict[str, Any]) -> None:
    told: list[m.SearchState] = []
    [instance] = m.generate.family(family, 1, **options).values()
    plan = m.plan(instance, objective="makespan", time_limit=0.8, progress=told.append)
    values = [state.value for state in told if state.value is not None]
    bounds = [state.bound for state in told if state.bound is not None]
    assert values and bounds, "the search reports both before its end"
    assert values == sorted(values, reverse=True) and bounds == sorted(bounds)
    # Reports are floats, and a value has at most nine decimals.
    assert plan.makespan <= values[-1] + 1e-6 and bounds[-1] <= plan.bounds["makespan"].value + 1e-6
    assert all(state.gap is None or state.gap >= -1e-9 for state in told)


def test_tqdm_shows_progress() -> None:
    tqdm = pytest.importorskip("tqdm")
    shown = io.StringIO()
    with tqdm.tqdm(total=0.6, file=shown) as bar:
        m.plan(drawn(60), time_limit=0.6, progress=lambda state: bar.update(state.seconds - bar.n))
        assert 0.2 < bar.n
    assert "%" in shown.getvalue()


def test_threads_plan_side_by_side() -> None:
    instance, plans = drawn(40), {}

    def work(seed: int) -> None:
        plans[seed] = m.plan(instance, "demt[shuffles=3]", seed=seed).to_json()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert plans == {seed: m.plan(instance, "demt[shuffles=3]", seed=seed).to_json() for seed in range(6)}


def test_a_time_limit_may_have_a_unit() -> None:
    assert "time-limit=0.2" in m.plan(drawn(), time_limit="200ms").algorithm
    assert "time-limit=0.2" in m.plan(drawn(), time_limit=timedelta(milliseconds=200)).algorithm


def test_heft_averages_transfers_over_different_processors() -> None:
    """Plans a graph by HEFT as by hand. The mean times of a, b, c and d are 3, 1.5, 3 and 1.5, and the mean transfers are 10
    and 12. So the ranks are 1.5 for d, 3 + 10 + 1.5 = 14.5 for a, 1.5 + 12 + 1.5 = 15 for b, and 3 for c. The order is b, a, c,
    d: b runs on `fast` until 1, a on `fast` until 3, c on `slow` until 4 (`fast` would end at 5), and d on `fast` until 4.

    If the mean transfers included the transfers from a processor to itself, which take no time, a would precede b, and the
    plan would end at 14. (Topcuoglu, Hariri and Wu average over the rates between processors.)"""
    nodes = [m.Node("slow", 1, speed=1), m.Node("fast", 1, speed=2)]
    tasks = [m.Job(name, time=time) for name, time in zip("abcd", (4, 2, 4, 2), strict=True)]
    graph = m.Graph(tasks, [("a", "d", 10), ("b", "d", 12)])
    plan = m.plan(m.Instance(m.Platform(nodes=nodes, bandwidth=1), [m.Job("g", graph=graph)]), "heft")
    placed = {row["task"].removeprefix("g/"): (row["processors"], row["start"], row["end"]) for row in plan.schedule}
    assert placed == {"b": ("1", 0, 1), "a": ("1", 1, 3), "c": ("0", 0, 4), "d": ("1", 3, 4)}


def test_a_search_ends_when_its_plan_is_optimal() -> None:
    instance = m.Instance(processors=4, jobs=[m.Job("a", time=4), m.Job("b", time=3), m.Job("c", time=1)])
    for objective in ("makespan", "weighted_completion"):
        plan = m.plan(instance, objective=objective, time_limit=600)
        assert plan.gap == 0 and plan.seconds < 300


def test_the_logger_receives_plans_and_remarks(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="makespan"):
        plan = m.plan(drawn(), "demt")
        m.simulate(drawn(), ["fcfs"])
    assert repr(plan) in caplog.messages[0] and "fcfs: mean wait" in caplog.messages[-1]
    assert {record.name for record in caplog.records} == {"makespan"}


def test_families_have_names_and_sources() -> None:
    families = m.generate.families()
    assert all(families["source"]) and len(set(families["name"])) == len(families)
    for name in families["name"]:
        drawn = m.generate.family(name, 2, seed=7)
        assert list(drawn) == [f"{name}-7", f"{name}-8"] and drawn[f"{name}-7"] != drawn[f"{name}-8"]
    assert m.generate.family("j30", 1, seed=49)["j30-49"].task_count == 30
    assert m.generate.family("mixed", 1, jobs=5)["mixed-1"] == m.generate.moldable(jobs=5, processors=200)
    with pytest.raises(m.InputError, match="did you mean `mixed`"):
        m.generate.family("mixd", 1)


def test_the_citation_file_states_this_version() -> None:
    path = Path(__file__).parents[4] / "CITATION.cff"
    stated = dict(line.split(": ", 1) for line in path.read_text().splitlines() if re.match(r"(version|title): ", line))
    citation = m.cite()
    assert stated["version"] == m.__version__ and stated["title"].strip('"') in citation.text
    assert "name: The Makespan authors" in path.read_text() and "The Makespan authors" in citation.bibtex
    for value in (m.__version__, stated["title"].strip('"')):
        assert value in citation.bibtex


class Backwards(m.Scheduler):
    """Places the tasks one after the other, the last task first."""

    def schedule(self, instance: m.Instance, tasks: list[m.Task]) -> Iterator[m.Placement]:
        start = 0.0
        for task in reversed(tasks):
            yield m.Placement(task, start, range(task.min_processors))
            start += task.time(task.min_processors)


class Overlapping(m.Scheduler):
    def schedule(self, instance: m.Instance, tasks: list[m.Task]) -> Iterator[m.Placement]:
        return (m.Placement(task, 0, "0") for task in tasks)


class Beyond(m.Scheduler):
    def schedule(self, instance: m.Instance, tasks: list[m.Task]) -> Iterator[m.Placement]:
        return (m.Placement(task, 0, "99999") for task in tasks)


class Raising(m.Scheduler):
    def schedule(self, instance: m.Instance, tasks: list[m.Task]) -> list[m.Placement]:
        raise LookupError("nothing found")


def test_own_schedulers_take_part_and_are_checked() -> None:
    # Use whole seconds to avoid rounding errors. A start that is a sum of floats may be a nanosecond before the end of
    # the previous task.
    jobs = [m.Job(f"j{at}", time=[at % 7 + 2, at % 7 + 1]) for at in range(20)]
    instance = m.Instance(processors=4, jobs=jobs)
    plan = m.plan(instance, Backwards())
    plan.verify()
    assert plan.algorithm == "Backwards" and plan.gap is not None and plan.gap > 0
    assert m.compare(instance, [Backwards(), "list"])["algorithm"] == ["Backwards", "list[order=shelf]"]
    for wrong in (Overlapping(), Beyond()):
        with pytest.raises(m.PolicyError, match=wrong.name):
            m.plan(instance, wrong)
    with pytest.raises(LookupError, match="nothing found"):
        m.plan(instance, Raising())


def test_a_seed_gives_the_same_plan_on_any_number_of_threads() -> None:
    instance = m.generate.moldable(jobs=30, processors=8)
    plans = [m.plan(instance, "optimise[objective=makespan,steps=100]", threads=threads) for threads in (1, 2)]
    assert plans[0].to_json() == plans[1].to_json()
    assert plans[0].spec == "optimise[objective=makespan,steps=100,searches=2]"
    assert plans[0].seed == 1 and plans[0].version and len(plans[0].instance_hash or "") == 64
    made = f"seed 1, makespan {plans[0].version}, instance {(plans[0].instance_hash or '')[:12]}>"
    assert repr(plans[0]).startswith(f"<plan by {plans[0].spec}: makespan ") and repr(plans[0]).endswith(made)
    with pytest.raises(m.InputError, match="threads"):
        m.plan(instance, threads=0)


def test_a_plan_of_another_instance_is_reported(tmp_path: Path) -> None:
    job, path = m.Job("a", time=3), tmp_path / "plan.json"
    m.plan(m.Instance(processors=2, jobs=[job]), "list").write(path)
    with pytest.raises(m.VerificationError, match="made for another instance"):
        m.verify(m.Instance(processors=2, jobs=[m.Job("a", time=3, deadline=9)]), path)


def test_objectives_about_due_dates_have_the_names_of_the_literature() -> None:
    jobs = [m.Job("a", time=4, deadline=30), m.Job("b", time=4, deadline=5, weight=2), m.Job("c", time=4, deadline=6)]
    instance = m.Instance(processors=1, jobs=jobs)
    early = m.Instance(processors=3, jobs=jobs)
    for objective, value in [("max_lateness", 2), ("total_tardiness", 2), ("tardy_jobs", 1), ("weighted_tardy_jobs", 1)]:
        plan = m.plan(instance, f"optimise[objective={objective.replace('_', '-')},steps=100]")
        assert (plan.objective, plan.value, plan.gap) == (objective, value, 0), repr(plan)
        plan.verify()
    assert m.plan(early, objective="max_lateness", time_limit=0.2).value == -1
    assert {"max_lateness", "max_tardiness", "tardy_jobs"} <= set(plan.values) and "max_penalty" not in plan.values
    with pytest.raises(m.AlgorithmError, match="no job has a due date"):
        m.plan(m.Instance(processors=1, jobs=[m.Job("a", time=1)]), objective="max_lateness")
    with pytest.raises(m.InputError, match="weighted_tardiness"):
        m.plan(instance, objective="weighted_lateness")  # type: ignore[arg-type]


def test_a_penalty_is_an_objective_of_your_own() -> None:
    jobs = [
        m.Job("a", time=3, penalty={"steps": [(4, 10)]}, weight=2),
        m.Job("b", time=2, penalty={"linear": [("2s", 0), (6, 2)]}, weight=2),
    ]
    instance = m.Instance(processors=1, jobs=jobs)
    plan = m.plan(instance, "optimise[objective=total-penalty,steps=100]")
    plan.verify()
    assert plan.values["total_penalty"] == 3 == plan.values["max_penalty"] and plan.bounds["total_penalty"] >= 0
    assert m.Instance.from_json(instance.to_json()).jobs["job"] == instance.jobs["job"]
    with pytest.raises(m.InputError, match="must not decrease"):
        m.Instance(processors=1, jobs=[m.Job("a", time=1, penalty={"steps": [(4, 2), (5, 1)]})])
    with pytest.raises(m.AlgorithmError, match="no job has a penalty"):
        m.plan(m.Instance(processors=1, jobs=[m.Job("a", time=1)]), objective="max_penalty")
