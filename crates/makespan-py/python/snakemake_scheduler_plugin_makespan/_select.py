"""The order of jobs by critical path, and the selection of jobs that fit into the available resources."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


class Order:
    """The order in which jobs should start. A job is ranked by its *critical path*: the sum of the predicted run times on the
    longest chain of jobs that begins with this job and in which each job needs the previous one.

    Args:
        jobs: All jobs that still have to run.
        dependencies: Returns the jobs that a job needs. Jobs that are not in ``jobs`` are ignored.
        recorded: Returns the run time of a job in an earlier run in seconds, or None.
    """

    def __init__(
        self,
        jobs: Iterable[Any],
        dependencies: Callable[[Any], Iterable[Any]],
        recorded: Callable[[Any], float | None],
    ) -> None:
        all_jobs = list(jobs)
        seconds = _predictions(all_jobs, recorded)
        self._paths = critical_paths(all_jobs, dependencies, seconds)
        self._keys: dict[Any, tuple[str, str]] = {}

    def is_outdated(self, remaining: Iterable[Any]) -> bool:
        """Returns true if a checkpoint has added jobs. The critical path of a job does not depend on jobs that have ended."""
        return not all(job in self._paths for job in remaining)

    def rank(self, job: Any) -> tuple[float, float, tuple[str, str]]:
        """Returns a key for sorting: higher priority first, then longer critical path, then the names of the output and the rule.
        The order of Snakemake's sets differs between runs, so the names make the selection the same in each run."""
        singles = list(job.jobs) if job.is_group() else [job]
        path = max(self._paths.get(single, 0.0) for single in singles)
        key = self._keys.get(job)
        if key is None:
            key = self._keys[job] = min(_key(single) for single in singles)
        return (-job.priority, -path, key)


def _key(job: Any) -> tuple[str, str]:
    return min((str(path) for path in job.output), default=""), str(getattr(job, "name", ""))


def _predictions(jobs: list[Any], recorded: Callable[[Any], float | None]) -> dict[Any, float]:
    """Returns the recorded run time of each job. A job without a record gets the median of its rule, or else the mean of all
    jobs with a record, or 1."""
    found = {job: recorded(job) for job in jobs}
    of_rule: dict[str, list[float]] = {}
    for job, time in found.items():
        if time is not None:
            of_rule.setdefault(str(getattr(job, "name", "")), []).append(time)
    medians = {rule: sorted(times)[len(times) // 2] for rule, times in of_rule.items()}
    times = [time for several in of_rule.values() for time in several]
    mean = math.fsum(times) / len(times) if times else 1.0
    return {job: medians.get(str(getattr(job, "name", "")), mean) if time is None else time for job, time in found.items()}


def critical_paths(
    jobs: Sequence[Any], dependencies: Callable[[Any], Iterable[Any]], seconds: Mapping[Any, float]
) -> dict[Any, float]:
    """Returns the length of the longest chain from each job to the end of the workflow, in O(jobs + dependencies).

    >>> needs = {"a": [], "b": ["a"], "c": ["a"]}
    >>> critical_paths(["a", "b", "c"], needs.__getitem__, {"a": 1, "b": 5, "c": 2})
    {'a': 6.0, 'b': 5.0, 'c': 2.0}
    """
    needs = {job: [need for need in dependencies(job) if need in seconds] for job in jobs}
    waiting = dict.fromkeys(jobs, 0)
    for several in needs.values():
        for need in several:
            waiting[need] += 1
    after = dict.fromkeys(jobs, 0.0)
    paths: dict[Any, float] = {}
    ready = [job for job in jobs if not waiting[job]]
    while ready:
        job = ready.pop()
        paths[job] = after[job] + seconds[job]
        for need in needs[job]:
            after[need] = max(after[need], paths[job])
            waiting[need] -= 1
            if not waiting[need]:
                ready.append(need)
    return {job: paths[job] for job in jobs}


def select(jobs: Iterable[Any], available: Mapping[str, int | str], order: Order) -> list[Any]:
    """Returns jobs that fit into the available resources together: list scheduling in the given order. A job that does not fit
    is skipped. The critical path of a job is multiplied by 1 plus the largest share of a free resource that the job needs: if
    memory is scarce, small jobs fit next to a large job later, but a large job does not fit next to small ones. In
    simulations with scarce memory, this order gave shorter runs than the critical path alone (benches/peers/README.md)."""
    free: dict[str, int | float] = {name: amount for name, amount in available.items() if isinstance(amount, (int, float))}
    ranked = []
    for job in jobs:
        needs = job.scheduler_resources
        amounts = [(name, needs[name]) for name in free if needs.get(name)]
        if any(not isinstance(amount, (int, float)) or amount > free[name] for name, amount in amounts):
            continue
        priority, path, key = order.rank(job)
        share = max((amount / free[name] for name, amount in amounts), default=0.0)
        ranked.append(((priority, path * (1 + share), -share, key), amounts, job))
    ranked.sort(key=lambda one: one[0])
    selected = []
    for _, amounts, job in ranked:
        if all(amount <= free[name] for name, amount in amounts):
            selected.append(job)
            for name, amount in amounts:
                free[name] -= amount
            if free.get("_cores") == 0:
                break
    return selected
