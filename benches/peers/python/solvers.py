"""Makespan, PyJobShop and CP-SAT on the same models: values, bounds, optima and times. See ../README.md."""

import argparse
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

import makespan as m
import models
import ortools
import pyjobshop
from makespan.adapters import from_pyjobshop
from ortools.sat.python import cp_model

LINE = "{:<12}{:<12}{:>10}{:>9}{:>9}{:>12}{:>12}{:>11}{:>11}"


@dataclass
class Result:
    """A result: the value, the proven bound, and the wall time in seconds. The value is infinite if there is no plan, and so is the bound
    if this is proved."""

    value: float
    bound: float
    seconds: float

    @property
    def is_proved(self):
        return self.value <= self.bound * (1 + 1e-9)


def main():
    options = arguments()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {options.seconds:g} s, {options.workers} workers; makespan {m.__version__}, "
          f"pyjobshop {getattr(pyjobshop, '__version__', '0.0.9')}, ortools {ortools.__version__}")
    sets = {"toys": models.toys(), "job shops": models.shops(options.shops)}
    if options.lags:
        sets["time lags"] = models.lagged(options.lags)
    if options.psplib:
        sets["projects"] = models.projects(options.psplib, options.projects)
    totals = []
    for name, cases in sets.items():
        results = []
        for case, model, objective in cases:
            found = {solver: solve(model, objective, options) for solver, solve in SOLVERS.items()}
            results.append(found)
            print(f"{case:<22}", *(f"{solver} {one.value:g} >= {one.bound:.6g} {one.seconds:.2f} s;" for solver, one in found.items()), flush=True)
        totals += summary(name, results)
    print(LINE.format("set", "solver", "instances", "optimal", "best", "mean ratio", "max ratio", "mean s", "median s"))
    print("optimal includes instances that are proved to have no plan; ratios only include instances with a plan of every solver")
    print(*totals, sep="\n")


def summary(name, results):
    """A line for each solver: instances that it proved optimal and on which no other one was better, ratios of values to the best
    bound of all solvers, and times."""
    for solver in SOLVERS:
        of = [found[solver] for found in results]
        best = sum(found[solver].value <= min(one.value for one in found.values()) * (1 + 1e-9) for found in results)
        planned = [found for found in results if all(one.value < math.inf for one in found.values())]
        ratios = [found[solver].value / max(one.bound for one in found.values()) for found in planned]
        seconds = sorted(one.seconds for one in of)
        yield LINE.format(name, solver, len(of), sum(one.is_proved for one in of), best, f"{m._statistics.geometric_mean(ratios):.4f}",
                          f"{max(ratios):.4f}", f"{sum(seconds) / len(seconds):.3f}", f"{seconds[len(seconds) // 2]:.3f}")


def by_makespan(model, objective, options):
    begin = time.perf_counter()
    try:
        plan = m.plan(from_pyjobshop(model), objective=objective, time_limit=options.seconds)
    except m.AlgorithmError as error:
        print(f"Makespan: {error}")
        return Result(math.inf, 0, time.perf_counter() - begin)
    seconds = time.perf_counter() - begin
    plan.verify()
    return Result(plan.value, plan.bounds[objective].value, seconds)


def by_pyjobshop(model, objective, options):
    begin = time.perf_counter()
    found = model.solve(solver="ortools", time_limit=options.seconds, display=False, num_workers=options.workers)
    bound = math.inf if found.status.value == "Infeasible" else found.lower_bound
    return Result(found.objective, bound, time.perf_counter() - begin)


def by_cpsat(model, objective, options):
    """A model of CP-SAT itself: an optional interval for each mode, a cumulative constraint for each resource."""
    data = model.data()
    begin = time.perf_counter()
    direct = cp_model.CpModel()
    # A task takes its longest time, and then the lags from it may have to pass.
    lags = data.constraints.start_before_start
    spans = [max(mode.duration for mode in data.modes if mode.task == task) for task in range(len(data.tasks))]
    for lag in lags:
        spans[lag.task1] = max(spans[lag.task1], lag.delay)
    horizon = sum(spans)
    starts, ends = ([direct.new_int_var(0, horizon, "") for _ in data.tasks] for _ in range(2))
    held, chosen = [[] for _ in data.resources], [[] for _ in data.tasks]
    for mode in data.modes:
        literal = direct.new_bool_var("")
        chosen[mode.task].append(literal)
        interval = direct.new_optional_interval_var(starts[mode.task], mode.duration, ends[mode.task], literal, "")
        for resource, demand in zip(mode.resources, mode.demands):
            held[resource].append((interval, int(demand) or int(not hasattr(data.resources[resource], "capacity")), literal))
    for literals in chosen:
        direct.add_exactly_one(literals)
    for resource, uses in zip(data.resources, held):
        capacity = getattr(resource, "capacity", 1)
        if type(resource).__name__ in ("NonRenewable", "Consumable"):
            direct.add(sum(demand * literal for _, demand, literal in uses) <= capacity)
        else:
            direct.add_cumulative([use[0] for use in uses], [use[1] for use in uses], capacity)
    for edge in data.constraints.end_before_start:
        direct.add(starts[edge.task2] >= ends[edge.task1])
    for lag in lags:
        direct.add(starts[lag.task2] >= starts[lag.task1] + lag.delay)
    if objective == "makespan":
        length = direct.new_int_var(0, horizon, "")
        direct.add_max_equality(length, ends)
        direct.minimize(length)
    else:
        direct.minimize(sum(job.weight * ends[task] for job in data.jobs for task in job.tasks))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = options.workers
    solver.parameters.max_time_in_seconds = options.seconds
    status = solver.solve(direct)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        bound = math.inf if status == cp_model.INFEASIBLE else solver.best_objective_bound
        return Result(math.inf, bound, time.perf_counter() - begin)
    return Result(solver.objective_value, solver.best_objective_bound, time.perf_counter() - begin)


SOLVERS = {"Makespan": by_makespan, "PyJobShop": by_pyjobshop, "CP-SAT": by_cpsat}


def arguments():
    parser = argparse.ArgumentParser(prog="run solvers", description=__doc__)
    parser.add_argument("--psplib", type=Path, help="a folder with the folders j30, j60 and j120 of PSPLIB (.rcp); without it, no projects")
    parser.add_argument("--projects", type=int, default=30)
    parser.add_argument("--shops", type=int, default=10)
    parser.add_argument("--lags", type=int, default=30, help="number of drawn projects with time lags")
    parser.add_argument("--seconds", type=float, default=10, help="time limit of each solver")
    parser.add_argument("--workers", type=int, default=2, help="threads of PyJobShop and CP-SAT")
    return parser.parse_args()


if __name__ == "__main__":
    main()
