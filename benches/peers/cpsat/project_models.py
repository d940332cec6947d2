"""Projects and graphs of moldable tasks as models: of CP-SAT directly, and of PyJobShop, which makes one for CP-SAT."""

import math
import time
from dataclasses import dataclass

from ortools.sat.python import cp_model
from pyjobshop import Model

from project import UNIT, Project, greedy, makespan

CPSAT, PYJOBSHOP = SOLVERS = ("cpsat", "pyjobshop")


@dataclass(frozen=True)
class Settings:
    """How a solver works."""

    solver: str
    workers: int
    seconds: float  # for solving; the hint and building the model come on top
    seed: int
    hinted: bool


@dataclass(frozen=True)
class Outcome:
    """What was found: (start in units, mode) of each task, or nothing."""

    status: str
    chosen: list[tuple[int, int]] | None
    bound: float  # s
    seconds: float  # of hint, building and solving


def solve(project: Project, settings: Settings) -> Outcome:
    began = time.monotonic()
    hint = greedy(project) if settings.hinted and settings.solver == CPSAT else None
    solved = _cpsat if settings.solver == CPSAT else _pyjobshop
    status, chosen, bound = solved(project, settings, hint)
    if chosen is None and hint is not None:
        # Whoever gives the solver a hint has a schedule, even where the solver makes nothing of it.
        chosen, status = hint, f"{status}, the hint is kept"
    if chosen is not None:
        bound = min(bound, makespan(project, chosen) / UNIT)
    return Outcome(status, chosen, bound, time.monotonic() - began)


def _cpsat(project, settings, hint):
    model = cp_model.CpModel()
    longest = sum(max(mode.time for mode in task.modes) for task in project.tasks)
    horizon = makespan(project, hint) if hint else longest
    starts, ends, picks, intervals = [], [], [], []
    for task in project.tasks:
        start, end = (model.new_int_var(0, horizon, "") for _ in range(2))
        starts.append(start)
        ends.append(end)
        if len(task.modes) == 1:
            size = task.modes[0].time
            intervals.append([(model.new_fixed_size_interval_var(start, size, ""), 0)])
            model.add(end == start + size)
            picks.append(None)
        elif project.is_moldable():
            # One interval whose length and demand are tied by a table: far smaller than one for each allotment.
            pick = model.new_int_var(0, len(task.modes) - 1, "")
            values = lambda of: cp_model.Domain.from_values([of(mode) for mode in task.modes])
            size = model.new_int_var_from_domain(values(lambda mode: mode.time), "")
            demand = model.new_int_var_from_domain(values(lambda mode: mode.processors), "")
            rows = [(at, mode.time, mode.processors) for at, mode in enumerate(task.modes)]
            model.add_allowed_assignments([pick, size, demand], rows)
            intervals.append((model.new_interval_var(start, size, end, ""), demand))
            picks.append((pick, size, demand))
        else:
            present = [model.new_bool_var("") for _ in task.modes]
            model.add_exactly_one(present)
            sizes = [(mode.time, literal) for mode, literal in zip(task.modes, present)]
            model.add(end == start + sum(size * literal for size, literal in sizes))
            of = lambda size, literal: model.new_optional_fixed_size_interval_var(start, size, literal, "")
            intervals.append([(of(size, literal), at) for at, (size, literal) in enumerate(sizes)])
            picks.append(present)
    for source, to in project.edges:
        model.add(starts[to] >= ends[source])
    if project.is_moldable():
        pairs = [pair if isinstance(pair, tuple) else (pair[0][0], task.modes[0].processors)
                 for pair, task in zip(intervals, project.tasks)]
        model.add_cumulative([pair[0] for pair in pairs], [pair[1] for pair in pairs], project.processors)
    else:
        _resources(model, project, intervals, picks)
    length = model.new_int_var(0, horizon, "")
    model.add_max_equality(length, ends)
    model.minimize(length)
    for at, (start, pick) in enumerate(hint or []):
        mode = project.tasks[at].modes[pick]
        model.add_hint(starts[at], start)
        model.add_hint(ends[at], start + mode.time)
        if isinstance(picks[at], tuple):
            for variable, value in zip(picks[at], (pick, mode.time, mode.processors)):
                model.add_hint(variable, value)
        elif picks[at]:
            for place, literal in enumerate(picks[at]):
                model.add_hint(literal, place == pick)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = settings.workers
    solver.parameters.random_seed = settings.seed
    solver.parameters.max_time_in_seconds = settings.seconds
    status = solver.solve(model)
    chosen = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        chosen = [(solver.value(start), _picked(solver, pick)) for start, pick in zip(starts, picks)]
    return solver.status_name(status).lower(), chosen, solver.best_objective_bound / UNIT


def _picked(solver, pick):
    if pick is None:
        return 0
    if isinstance(pick, tuple):
        return solver.value(pick[0])
    return next(place for place, literal in enumerate(pick) if solver.boolean_value(literal))


def _resources(model, project, intervals, picks):
    """A cumulative constraint for each resource that comes back, a sum for each that is used up."""
    limits = [(project.processors, True, lambda mode: mode.processors)] if project.has_scarce_processors() else []
    for at, (capacity, comes_back) in enumerate(project.capacities):
        limits.append((capacity, comes_back, lambda mode, at=at: mode.held[at]))
    for capacity, comes_back, of in limits:
        if comes_back:
            held = [
                (interval, of(task.modes[at]))
                for task, own in zip(project.tasks, intervals) for interval, at in own if of(task.modes[at]) > 0
            ]
            model.add_cumulative([pair[0] for pair in held], [pair[1] for pair in held], capacity)
        else:
            terms = [
                of(mode) * (pick[at] if pick else 1)
                for task, pick in zip(project.tasks, picks) for at, mode in enumerate(task.modes)
            ]
            model.add(sum(terms) <= capacity)


def _pyjobshop(project, settings, _hint):
    model = Model()
    resources = []
    with_processors = project.has_scarce_processors()
    if with_processors:
        resources.append(model.add_renewable(project.processors))
    for capacity, comes_back in project.capacities:
        resources.append(model.add_renewable(capacity) if comes_back else model.add_consumable(capacity))
    tasks, modes = [], []
    for task in project.tasks:
        tasks.append(model.add_task())
        for at, mode in enumerate(task.modes):
            demands = ([mode.processors] if with_processors else []) + list(mode.held)
            used = [(resource, demand) for resource, demand in zip(resources, demands) if demand > 0]
            model.add_mode(tasks[-1], [resource for resource, _ in used], mode.time, [demand for _, demand in used])
            modes.append(at)
    for source, to in project.edges:
        model.add_end_before_start(tasks[source], tasks[to])
    result = model.solve(
        solver="ortools", time_limit=settings.seconds, display=False, num_workers=settings.workers,
        random_seed=settings.seed,
    )
    found = result.best.tasks if result.best is not None else []
    chosen = [(task.start, modes[task.mode]) for task in found] or None
    bound = result.lower_bound
    return str(result.status.value).lower(), chosen, bound / UNIT if math.isfinite(bound) else 0.0
