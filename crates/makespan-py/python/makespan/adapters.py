"""Converts to and from WfCommons, PyJobShop and evalys."""

from __future__ import annotations

import importlib
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from makespan import _check, _native
from makespan._errors import InputError
from makespan._lags import Lags, tighten, without_milestones
from makespan._model import Instance, Job, Platform, _reading, _stated as _platform

__all__ = ["evalys_frame", "from_pyjobshop", "from_wfcommons"]


def from_wfcommons(
    workflow: Any,
    *,
    platform: Platform | None = None,
    processors: int | None = None,
    bandwidth: float | str | None = None,
    storage: str | None = None,
) -> Instance:
    """Converts a ``wfcommons.common.workflow.Workflow`` to an instance, through its WfFormat file.

    The arguments are those of :func:`makespan.read`. If you give no machines, the workflow must state its own.
    """
    if not callable(getattr(workflow, "write_json", None)):
        problem = f"{_check.shown(workflow)} is not a workflow of WfCommons; read a workflow file with makespan.read(path)"
        raise InputError(problem, field="workflow")
    name = str(getattr(workflow, "name", "") or "workflow")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workflow.json"
        workflow.write_json(path)
        text = path.read_text(encoding="utf-8")
    reading = _reading(processors=processors, platform=_platform(platform), bandwidth=bandwidth, storage=storage)
    return Instance._of(_native.Instance.of_text(text, name, reading))


def evalys_frame(table: str) -> Any:
    """Converts a table with the columns of Batsim to a pandas DataFrame, from which evalys creates a ``JobSet``.

    evalys needs sets of processors as ``ProcSet`` of the package ``procset``, which is installed together with evalys.
    Without ``procset``, the sets are texts such as ``0-3 8``, which evalys cannot use; ``ProcSet.from_str`` reads them.
    """
    frame = _check.module("pandas").read_csv(io.StringIO(table), dtype={"job_id": str, "allocated_resources": str})
    sets = frame["allocated_resources"].fillna("").str.replace(",", " ")
    try:
        of_text = importlib.import_module("procset").ProcSet.from_str
    except ImportError:
        frame["allocated_resources"] = sets
        return frame
    # The column must have the type object, so that pandas does not convert the sets.
    frame["allocated_resources"] = frame["allocated_resources"].astype(object)
    frame["allocated_resources"] = [of_text(text) for text in sets]
    return frame


def from_pyjobshop(model: Any) -> Instance:
    """Converts a ``pyjobshop.Model`` or its ``ProblemData`` to an instance, if possible.

    Every resource is an amount that tasks use while they run. The modes of a task become its allotments, from the slowest
    to the fastest, each with its own time and amounts. A mode is left out if another mode is at least as fast and needs no
    larger amounts. A job of PyJobShop becomes a compound job. Tasks without duration are removed with a warning; their
    successors wait for their predecessors.

    The setup times of a machine become ``setups`` of the platform: each task is a family of its own.

    Delays, and the constraints on the starts and ends of two tasks (such as ``start_before_end`` and ``start_at_start``), become
    time lags between starts. The tasks of such a constraint must have one duration.

    Features that an instance cannot express are an error: breaks, windows, optional tasks, and precedence between
    tasks of different jobs.

    Raises:
        InputError: names the unsupported feature.
    """
    data = model.data() if callable(getattr(model, "data", None)) else model
    if not all(hasattr(data, part) for part in ("resources", "tasks", "modes", "jobs", "constraints")):
        raise InputError(f"{_check.shown(model)} is neither a pyjobshop.Model nor its ProblemData", field="model")
    names = [_name(resource, f"r{at}") for at, resource in enumerate(data.resources)]
    for at, resource in enumerate(data.resources):
        _refuse(getattr(resource, "breaks", None), f"resource {names[at]}: breaks")
        _refuse(getattr(resource, "no_idle", False), f"resource {names[at]}: it must not be idle between tasks")
    kinds = [type(resource).__name__ for resource in data.resources]
    licences = {names[at]: _capacity(data.resources[at]) for at in range(len(names)) if kinds[at] not in _USED_UP}
    consumables = {names[at]: _capacity(data.resources[at]) for at in range(len(names)) if kinds[at] in _USED_UP}
    tasks = [_task(data, at, names) for at in range(len(data.tasks))]
    edges, lags = _relations(data, tasks)
    groups = [list(job.tasks) for job in data.jobs] or [list(range(len(tasks)))]
    home = {task: at for at, group in enumerate(groups) for task in group}
    loose = [at for at in range(len(tasks)) if at not in home]
    for at in loose:
        home[at] = len(groups)
        groups.append([at])
    setups = _setups(data, names, tasks)
    jobs = []
    for at, group in enumerate(groups):
        within = [edge for edge in edges if home[edge[0]] == at]
        own = {pair: least for pair, least in lags.items() if home[pair[0]] == at}
        if any(home[to] != at for _, to in [*within, *own]):
            raise InputError("a task waits for a task of another job; an instance cannot express this: join the jobs into one")
        stated = _stated(data.jobs[at], f"j{at}") if at < len(data.jobs) else {"name": f"j{at}"}
        pairs = [{"from": tasks[a]["name"], "to": tasks[b]["name"]} for a, b in within]
        job = {**stated, "tasks": [tasks[task] for task in group], "edges": pairs}
        jobs.append({**job, "lags": [_lag(tasks, *pair, least) for pair, least in own.items()]} if own else job)
    width = sum(len(task["time"]) for task in tasks if isinstance(task["time"], list)) or 1
    return Instance(Platform(processors=width, licences=licences, consumables=consumables, setups=setups), jobs)


#: Resources that are used up.
_USED_UP = ("NonRenewable", "Consumable")


def _name(thing: Any, otherwise: str) -> str:
    return getattr(thing, "name", "") or otherwise


def _capacity(resource: Any) -> int:
    return int(getattr(resource, "capacity", 1))


def _refuse(value: Any, what: str) -> None:
    if value:
        raise InputError(f"{what}: an instance cannot express this; leave it out of the model")


def _setups(data: Any, names: Sequence[str], tasks: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Returns the setup times, and makes each of their tasks a family."""
    setups = []
    for setup in getattr(data.constraints, "setup_times", ()):
        pair = [int(setup.task1), int(setup.task2)]
        if not setup.duration or any(tasks[task]["time"] == 0 for task in pair):
            # Tasks without duration are removed.
            continue
        for task in pair:
            tasks[task]["family"] = f"{task}"
        setups.append({"from": f"{pair[0]}", "to": f"{pair[1]}", "time": int(setup.duration), "on": names[int(setup.machine)]})
    return setups or None


#: Constraints on the starts and ends of two tasks.
_RELATIONS = frozenset(f"{one}_{order}_{other}" for one in ("start", "end") for order in ("before", "at") for other in ("start", "end"))


def _relations(data: Any, tasks: Sequence[dict[str, Any]]) -> tuple[list[tuple[int, int]], Lags]:
    """Returns the edges and the time lags. If there are time lags, the tasks without duration have neither."""
    times = [_only_time(task) for task in tasks]
    edges: list[tuple[int, int]] = []
    lags: Lags = {}
    for kind in sorted(set(dir(data.constraints))):
        value = getattr(data.constraints, kind)
        if kind.startswith("_") or not isinstance(value, (list, tuple)):
            continue
        if kind == "setup_times":
            continue
        if kind not in _RELATIONS:
            _refuse(value, f"constraints of the kind {kind}")
            continue
        for one in value:
            first, second, delay = int(one.task1), int(one.task2), int(getattr(one, "delay", 0) or 0)
            if kind == "end_before_start" and not delay:
                edges.append((first, second))
                continue
            start, order, end = kind.split("_")
            # The time between the starts of the tasks.
            least = delay + _offset(tasks, times, first, start) - _offset(tasks, times, second, end)
            tighten(lags, first, second, least)
            if order == "at":
                tighten(lags, second, first, -least)
    if not lags:
        return edges, lags
    if 0 in times:
        for first, second in (pair for pair in edges if 0 in (times[pair[0]], times[pair[1]])):
            tighten(lags, first, second, _offset(tasks, times, first, "end"))
        edges = [pair for pair in edges if 0 not in (times[pair[0]], times[pair[1]])]
        lags = without_milestones(lags, times, [str(task["name"]) for task in tasks])
    same = [pair for pair, least in lags.items() if least == times[pair[0]]]
    for pair in same:
        del lags[pair]
    return list(dict.fromkeys([*edges, *same])), lags


def _only_time(task: dict[str, Any]) -> int | None:
    time = task["time"]
    if isinstance(time, list):
        return int(time[0]) if len(time) == 1 else None
    return int(time)


def _offset(tasks: Sequence[dict[str, Any]], times: Sequence[int | None], at: int, point: str) -> int:
    """Returns the time from the start of a task to its ``point``, its start or its end."""
    if point == "start":
        return 0
    time = times[at]
    if time is None:
        raise InputError(f"task {tasks[at]['name']}: it has several durations and a delay after or before its end; an instance cannot express this: keep one of its modes")
    return time


def _lag(tasks: Sequence[dict[str, Any]], first: int, second: int, least: int) -> dict[str, Any]:
    """Returns a time lag of a native file. A negative lag limits the start of the first task."""
    if least < 0:
        return {"from": tasks[second]["name"], "to": tasks[first]["name"], "max": -least}
    return {"from": tasks[first]["name"], "to": tasks[second]["name"], "min": least}


def _stated(job: Any, otherwise: str) -> dict[str, Any]:
    stated: dict[str, Any] = {"name": _name(job, otherwise), "weight": job.weight}
    if job.release_date:
        stated["released"] = job.release_date
    due = getattr(job, "due_date", None)
    if due is not None:
        stated["deadline"] = due
    if getattr(job, "deadline", _FOREVER) < _FOREVER:
        stated["must_end_by"] = job.deadline
    return stated


#: If a time in PyJobShop is at least this value, the time is not limited.
_FOREVER = 2**31


def _task(data: Any, at: int, names: Sequence[str]) -> dict[str, Any]:
    task = data.tasks[at]
    name = _name(task, f"t{at}")
    _refuse(getattr(task, "earliest_start", 0) or getattr(task, "earliest_end", 0), f"task {name}: a time window")
    _refuse(getattr(task, "latest_start", _FOREVER) < _FOREVER, f"task {name}: a time window")
    _refuse(getattr(task, "latest_end", _FOREVER) < _FOREVER, f"task {name}: a time window")
    _refuse(getattr(task, "optional", False), f"task {name}: it is optional")
    for flag in ("allow_idle", "allow_breaks"):
        _refuse(getattr(task, flag, False), f"task {name}: {flag}")
    modes = _best([mode for mode in data.modes if mode.task == at], data)
    modes.sort(key=lambda mode: -int(mode.duration))
    times = [int(mode.duration) for mode in modes]
    if len(set(times)) < len(times):
        raise InputError(f"task {name}: two of its modes take the same time but need different amounts; an instance can contain only one of these modes; remove the other mode from the model")
    if 0 in times:
        # The fastest mode needs no time. Its amounts do not matter, because nothing is held for no time.
        return Job(name, time=0).document()
    needs: dict[str, list[int]] = {}
    for number, mode in enumerate(modes):
        for resource, amount in _held(mode, data).items():
            needs.setdefault(names[resource], [0] * len(modes))[number] = amount
    return Job(name, time=times, needs=needs).document()


def _held(mode: Any, data: Any) -> dict[int, int]:
    """Returns the amounts of resources that a mode needs."""
    held: dict[int, int] = {}
    for resource, demand in zip(mode.resources, mode.demands or [1] * len(mode.resources), strict=True):
        # A task always uses a whole machine, even if the stated demand is 0.
        amount = int(demand) or (1 if not hasattr(data.resources[resource], "capacity") else 0)
        if amount:
            held[int(resource)] = amount
    return held


def _best(modes: list[Any], data: Any) -> list[Any]:
    """Returns the modes. Leaves out a mode if another mode is at least as fast and needs no more resources."""
    kept: list[tuple[Any, dict[int, int]]] = []
    # Modes with equal times are sorted by their total demand, so the mode with lower demand comes first. The first of several
    # equal modes is kept.
    found = [(mode, _held(mode, data)) for mode in modes]
    found.sort(key=lambda each: (int(each[0].duration), sum(each[1].values())))
    for mode, held in found:
        if not any(all(held.get(resource, 0) >= amount for resource, amount in other.items()) for _, other in kept):
            kept.append((mode, held))
    return [mode for mode, _ in kept]
