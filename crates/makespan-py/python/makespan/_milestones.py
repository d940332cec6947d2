"""Milestones: jobs and tasks without duration. An instance has none, so they are removed, and their arcs are joined."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from numbers import Number
from typing import Any

from makespan._errors import InputError

#: Keys of a milestone that do not change an instance without it.
_HARMLESS = frozenset("name time processors after weight priority".split())


def _is_zero(time: Any) -> bool:
    """Returns true if a stated time is zero on every allotment."""
    if isinstance(time, (list, tuple)):
        return len(time) > 0 and all(not isinstance(one, (list, tuple)) and _is_zero(one) for one in time)
    if isinstance(time, bool):
        return False
    if isinstance(time, (Number, timedelta)):
        return not time
    return isinstance(time, str) and time.strip() in ("0", "0s")


def is_milestone(fields: Mapping[str, Any]) -> bool:
    """Returns true if a job or a task has the time 0."""
    return "time" in fields and _is_zero(fields["time"])


def _check(fields: Mapping[str, Any], place: str) -> None:
    for key, value in fields.items():
        if key not in _HARMLESS and value is not None:
            problem = f"`{fields.get('name')}` takes no time and is removed as a milestone, but it states `{key}`; remove `{key}`, or state a time above 0"
            raise InputError(problem, field=f"{place}.{key}")


def joined(milestones: Iterable[str], before: Callable[[str], Iterable[str]]) -> dict[str, list[str]]:
    """Returns for each milestone the jobs or tasks with a duration that it waits for, directly or through milestones.

    Raises:
        InputError: if milestones wait for each other in a circle.
    """
    known = list(milestones)
    removed, found = set(known), dict[str, list[str]]()
    for first in known:
        path, on_path = [first], {first}
        while path:
            name = path[-1]
            missing = next((one for one in before(name) if one in removed and one not in found), None)
            if name in found or missing is None:
                path.pop()
                on_path.discard(name)
                each = (found[one] if one in removed else [one] for one in before(name))
                found.setdefault(name, list(dict.fromkeys(one for some in each for one in some)))
            elif missing in on_path:
                raise InputError(f"`{missing}` waits for itself; remove an edge of the cycle")
            else:
                path.append(missing)
                on_path.add(missing)
    return found


def _warn(what: str, names: list[str]) -> None:
    listed = ", ".join(names[:3]) + (", .." if len(names) > 3 else "")
    takes, waiting = ("takes", "its") if len(names) == 1 else ("take", "their")
    problem = f"{len(names)} {what} ({listed}) {takes} no time and {'was' if len(names) == 1 else 'were'} removed; {waiting} successors wait for {waiting} predecessors"
    warnings.warn(problem, UserWarning, stacklevel=4)


def without_milestones(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the jobs without milestones, and warns about the removed ones. Jobs without milestones are not copied."""
    jobs = [_graph(job, f"jobs[{at}]") if job.get("tasks") is not None else job for at, job in enumerate(jobs)]
    gone = {str(job.get("name")): job for job in jobs if is_milestone(job)}
    if not gone:
        return jobs
    for at, job in enumerate(jobs):
        if is_milestone(job):
            _check(job, f"jobs[{at}]")
    found = joined(gone, lambda name: _after(gone[name]))
    _warn("job" if len(gone) == 1 else "jobs", list(gone))
    kept = [job for job in jobs if not is_milestone(job)]
    return [_with_after(job, found) if any(name in gone for name in _after(job)) else job for job in kept]


def _after(job: Mapping[str, Any]) -> list[str]:
    after = job.get("after")
    return [after] if isinstance(after, str) else [str(name) for name in after or ()]


def _with_after(job: dict[str, Any], found: Mapping[str, list[str]]) -> dict[str, Any]:
    each = (found.get(name, [name]) for name in _after(job))
    return {**job, "after": list(dict.fromkeys(name for some in each for name in some))}


def _graph(job: dict[str, Any], place: str) -> dict[str, Any]:
    """Returns a job whose graph has no milestones."""
    tasks, edges = list(job["tasks"]), list(job.get("edges") or ())
    gone = [str(task.get("name")) for task in tasks if isinstance(task, Mapping) and is_milestone(task)]
    if not gone:
        return job
    removed = set(gone)
    if len(removed) == len(tasks):
        # The job itself is a milestone.
        return {key: value for key, value in job.items() if key not in ("tasks", "edges", "lags")} | {"time": 0}
    incoming: dict[str, list[str]] = {}
    for at, task in enumerate(tasks):
        if is_milestone(task):
            _check(task, f"{place}.tasks[{at}]")
    for at, lag in enumerate(job.get("lags") or ()):
        milestone = next((lag.get(end) for end in ("from", "to") if lag.get(end) in removed), None)
        if milestone is not None:
            problem = f"`{milestone}` takes no time and is removed as a milestone, but this time lag names it; state the lag between tasks with a time above 0"
            raise InputError(problem, field=f"{place}.lags[{at}]")
    for at, edge in enumerate(edges):
        if (edge["from"] in removed or edge["to"] in removed) and (edge.get("data") or edge.get("transfer")):
            problem = "a task without duration is removed, but this edge transfers data; remove the data, or state a time above 0"
            raise InputError(problem, field=f"{place}.edges[{at}]")
        incoming.setdefault(edge["to"], []).append(edge["from"])
    found = joined(gone, lambda name: incoming.get(name, []))
    kept = [edge for edge in edges if edge["from"] not in removed and edge["to"] not in removed]
    pairs = {(edge["from"], edge["to"]) for edge in kept}
    for edge in edges:
        if edge["from"] in removed and edge["to"] not in removed:
            for before in found[edge["from"]]:
                if (before, edge["to"]) not in pairs:
                    pairs.add((before, edge["to"]))
                    kept.append({"from": before, "to": edge["to"]})
    _warn("task" if len(gone) == 1 else "tasks", gone)
    return {**job, "tasks": [task for task in tasks if task.get("name") not in removed], "edges": kept}
