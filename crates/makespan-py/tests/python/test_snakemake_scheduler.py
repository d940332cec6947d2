"""Tests of the scheduler plugin of Snakemake: the selection with simulated jobs, and runs of Snakemake."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snakemake_scheduler_plugin_makespan import Scheduler
from snakemake_scheduler_plugin_makespan._select import Order, critical_paths, select

ROOT = Path(__file__).parents[4]


@dataclass(eq=False)
class Job:
    """A job as Snakemake passes it to a scheduler."""

    name: str
    output: list[str]
    scheduler_resources: dict[str, int | str] = field(default_factory=lambda: {"_cores": 1})
    priority: int = 0
    needs: list[Job] = field(default_factory=list)
    seconds: float | None = None
    jobs: list[Job] = field(default_factory=list)

    def is_group(self) -> bool:
        return bool(self.jobs)


def order(jobs: list[Job]) -> Order:
    return Order(jobs, lambda job: job.needs, lambda job: job.seconds)


@st.composite
def workflows(draw: st.DrawFn) -> list[Job]:
    jobs: list[Job] = []
    for index in range(draw(st.integers(0, 25))):
        resources: dict[str, int | str] = {"_cores": draw(st.integers(0, 4)), "_job_count": 1}
        if draw(st.booleans()):
            resources["mem_mb"] = draw(st.integers(0, 1000))
        if draw(st.integers(0, 9)) == 0:
            resources["unlimited"] = 10**9
        needs = draw(st.lists(st.sampled_from(jobs), max_size=3, unique_by=id)) if jobs else []
        seconds = draw(st.none() | st.floats(0, 1e5))
        jobs.append(Job(f"r{index % 3}", [f"out{index}"], resources, draw(st.integers(0, 2)), needs, seconds))
    return jobs


available = st.fixed_dictionaries({"_cores": st.integers(0, 8), "mem_mb": st.integers(0, 3000), "_job_count": st.just(sys.maxsize)})


def total(jobs: list[Job], name: str) -> int:
    return sum(amount for job in jobs if isinstance(amount := job.scheduler_resources.get(name, 0), int))


@settings(max_examples=200, deadline=None)
@given(workflows(), available, st.randoms())
def test_the_selection_fits_and_leaves_no_job_that_fits(jobs: list[Job], free: dict[str, int], rng: random.Random) -> None:
    selected = select(jobs, free, order(jobs))
    assert len({id(job) for job in selected}) == len(selected) and all(job in jobs for job in selected)
    left = {name: amount - total(selected, name) for name, amount in free.items()}
    assert all(amount >= 0 for amount in left.values())
    if left["_cores"] > 0:
        for job in jobs:
            assert job in selected or any(job.scheduler_resources.get(name, 0) > left[name] for name in left)  # type: ignore[operator]
    mixed = rng.sample(jobs, len(jobs))
    assert select(mixed, free, order(mixed)) == selected


@settings(max_examples=100, deadline=None)
@given(workflows())
def test_critical_paths_are_the_longest_chains(jobs: list[Job]) -> None:
    seconds = {job: job.seconds if job.seconds is not None else 1.0 for job in jobs}
    found = critical_paths(jobs, lambda job: job.needs, seconds)

    def longest(job: Job) -> float:
        return seconds[job] + max((longest(other) for other in jobs if job in other.needs), default=0.0)

    assert all(found[job] == pytest.approx(longest(job)) for job in jobs)


def test_priority_comes_before_the_critical_path_and_names_break_ties() -> None:
    urgent, short, long, other = (Job(name, [name]) for name in ("urgent", "short", "long", "other"))
    urgent.priority, urgent.seconds, short.seconds, long.seconds, other.seconds = 1, 1, 2, 9, 2
    after = Job("after", ["after"], needs=[short], seconds=8)
    jobs = [other, long, short, urgent]
    ranking = order([*jobs, after])
    picks = [select(jobs, {"_cores": count}, ranking) for count in (1, 2, 3, 4)]
    assert [job.name for job in picks[-1]] == ["urgent", "short", "long", "other"]
    assert [len(pick) for pick in picks] == [1, 2, 3, 4]


def test_a_job_without_a_record_has_the_median_of_its_rule() -> None:
    known = [Job("slow", [f"k{index}"], seconds=seconds) for index, seconds in enumerate((50, 70, 60))]
    new, quick = Job("slow", ["new"]), Job("quick", ["quick"], seconds=55)
    assert select([quick, new], {"_cores": 1}, order([*known, quick, new])) == [new]


def test_a_group_has_the_critical_path_of_its_longest_job() -> None:
    parts = [Job("a", ["a"], seconds=1), Job("b", ["b"], seconds=9)]
    group, single = Job("group", [], jobs=parts), Job("c", ["c"], seconds=5)
    assert select([single, group], {"_cores": 1}, order([*parts, single])) == [group]


def scheduler(dag: Any) -> Scheduler:
    return Scheduler(dag, None, SimpleNamespace())


@pytest.mark.parametrize("record", [None, {}, {"starttime": "x", "endtime": 3}, {"starttime": 5, "endtime": 1}, {"starttime": 1, "endtime": float("nan")}])
def test_malformed_records_are_ignored(record: dict[str, Any] | None) -> None:
    answer = None if record is None else SimpleNamespace(**record)
    dag = SimpleNamespace(
        workflow=SimpleNamespace(persistence=SimpleNamespace(metadata=lambda path: answer)), job_dependencies=lambda job: job.needs
    )
    jobs = [Job("a", ["a"]), Job("b", ["b"])]
    assert scheduler(dag).select_jobs(jobs, jobs, {"_cores": 1}, {}) == jobs[:1]


def test_jobs_of_a_checkpoint_are_ordered_too() -> None:
    records = {"a": SimpleNamespace(starttime=0, endtime=1), "b": SimpleNamespace(starttime=10, endtime=15)}
    dag = SimpleNamespace(
        workflow=SimpleNamespace(persistence=SimpleNamespace(metadata=records.get)), job_dependencies=lambda job: job.needs
    )
    first, added = Job("a", ["a"]), Job("b", ["b"])
    plugin = scheduler(dag)
    assert plugin.select_jobs([first], [first], {"_cores": 0}, {}) == []
    assert plugin.select_jobs([first, added], [first, added], {"_cores": 1}, {}) == [added]


SNAKEFILE = """
rule all:
    input: "end", expand("short{i}", i=range(4))
rule short:
    output: "short{i}"
    shell: "echo {output} >> order; touch {output}"
rule begin:
    output: "begin"
    shell: "echo {output} >> order; sleep 0.5; touch {output}"
rule end:
    input: "begin"
    output: "end"
    shell: "echo {output} >> order; touch {output}"
"""


def test_snakemake_runs_the_critical_path_first(tmp_path: Path) -> None:
    found = subprocess.run([ROOT / "scripts/snakemake-for-tests"], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(f"snakemake cannot be installed, so its scheduler plugin is tested without it: {found.stderr.strip()[-200:]}")
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    # The interpreter of snakemake must see only the plugins, not the other packages of this environment.
    (tmp_path / "plugins").mkdir()
    for plugin in ("snakemake_executor_plugin_makespan", "snakemake_scheduler_plugin_makespan"):
        package = Path(sys.modules[plugin].__file__ or "").parent
        (tmp_path / "plugins" / package.name).symlink_to(package)
    command = [str(Path(found.stdout.strip()) / "snakemake"), "--cores", "1", "--scheduler", "makespan"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "plugins")}
    # The second run has measured run times: `begin` is longest, and `end` is as short as the others.
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        order = (tmp_path / "order").read_text().split()
        assert order[0] == "begin" and sorted(order) == ["begin", "end", "short0", "short1", "short2", "short3"]
        for name in [*order, "order"]:
            (tmp_path / name).unlink()
