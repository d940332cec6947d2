"""Counts the optima that makespan and CP-SAT prove on the same instances, each on one thread. See ../README.md."""

import argparse
import csv
import json
import random
import statistics
import subprocess
import tarfile
import time
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

try:
    from ortools.sat.python import cp_model
except ImportError:
    cp_model = None

KINDS = ["sequential", "rigid", "moldable", "release"]
SIZES = [(6, 4), (10, 4), (10, 16), (12, 8)]
OBJECTIVES = ["makespan", "weighted-completion"]
COLUMNS = [
    "group", "instance", "objective", "makespan_value", "makespan_bound", "makespan_proved", "makespan_seconds",
    "cpsat_value", "cpsat_bound", "cpsat_proved", "cpsat_seconds",
]


@dataclass
class Task:
    """A task: its release and its weight, and for each mode the time in seconds, the processors and the other needs."""

    release: int
    weight: int
    modes: list[tuple[int, int, tuple[int, ...]]]


@dataclass
class Case:
    """An instance in whole seconds. `file` is the file that makespan reads."""

    group: str
    name: str
    file: Path
    processors: int
    tasks: list[Task]
    edges: list[tuple[int, int]] = field(default_factory=list)
    capacities: list[int] = field(default_factory=list)


def main():
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    if cp_model is None:
        print("CP-SAT is SKIPPED: Python has no module `ortools` (pip install ortools)")
    load = Path("/proc/loadavg")
    print(f"limits {options.limit:g} s, and {options.project_limit:g} s for projects; one thread each; "
          f"every {options.every}. instance; load {load.read_text().split()[0] if load.exists() else 'unknown'}")
    line = "{:<28}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}"
    print(line.format("", "instances", "makespan", "median s", "worst s", "CP-SAT", "median s", "worst s"))
    rows = []
    for group, cases in groups(options):
        new = []
        for case in cases[:: options.every]:
            objectives = OBJECTIVES if group.startswith("6 to 12") else OBJECTIVES[:1]
            for objective in objectives:
                new.append(compared(options, case, objective))
                write(options.output / "proofs.csv", rows + new)
        rows += new
        if new:
            print(line.format(group, len(new), *counted(new, "makespan"), *counted(new, "cpsat")), flush=True)


def counted(rows, who):
    """The number of proofs, and the median and the maximum of their seconds."""
    if any(row[f"{who}_proved"] == "" for row in rows):
        return "-", "-", "-"
    seconds = [row[f"{who}_seconds"] for row in rows if row[f"{who}_proved"]]
    if not seconds:
        return 0, "-", "-"
    return len(seconds), f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}"


def compared(options, case, objective):
    limit = options.project_limit if case.capacities else options.limit
    value, bound, seconds = planned(options, case, objective, limit)
    row = {
        "group": case.group, "instance": case.name, "objective": objective, "makespan_value": value,
        "makespan_bound": bound, "makespan_proved": value == bound, "makespan_seconds": seconds,
        "cpsat_value": "", "cpsat_bound": "", "cpsat_proved": "", "cpsat_seconds": "",
    }
    if cp_model is not None:
        theirs, their_bound, proved, seconds = solved(case, objective, limit)
        row |= {"cpsat_value": theirs, "cpsat_bound": their_bound, "cpsat_proved": proved, "cpsat_seconds": seconds}
        wrong = [
            value == bound and theirs is not None and theirs < value,
            proved and value < theirs,
            proved and bound > theirs,
        ]
        if any(wrong):
            raise SystemExit(f"{case.file}, {objective}: the proofs contradict each other: {row}")
    return row


def planned(options, case, objective, limit):
    """The value and the bound of makespan's plan, after `makespan verify` has accepted both, and the seconds of `plan`."""
    plan = options.output / "plan.json"
    spec = f"optimise[objective={objective},time-limit={limit:g}s,searches=1]"
    began = time.monotonic()
    run(options, "plan", str(case.file), "--algorithm", spec, "--output", str(plan))
    seconds = time.monotonic() - began
    run(options, "verify", str(case.file), str(plan))
    found = json.loads(plan.read_text(), parse_float=Decimal)
    key = objective.replace("-", "_")
    return Decimal(found[key]), Decimal(found["bounds"][key]["value"]), seconds


def run(options, *words):
    done = subprocess.run([options.makespan, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"makespan {' '.join(words)}\n{done.stdout}{done.stderr}")


def solved(case, objective, limit):
    """CP-SAT's value and bound, whether they are proved equal, and its seconds with those for building the model."""
    began = time.monotonic()
    model = cp_model.CpModel()
    longest = [max(mode[0] for mode in task.modes) for task in case.tasks]
    horizon = max(task.release for task in case.tasks) + sum(longest)
    starts, ends, present = [], [], []
    held = [[] for _ in range(1 + len(case.capacities))]
    for task in case.tasks:
        start, end = model.new_int_var(task.release, horizon, ""), model.new_int_var(0, horizon, "")
        literals = [model.new_bool_var("") for _ in task.modes]
        model.add_exactly_one(literals)
        model.add(end == start + sum(mode[0] * literal for mode, literal in zip(task.modes, literals)))
        for (length, processors, needs), literal in zip(task.modes, literals):
            interval = model.new_optional_fixed_size_interval_var(start, length, literal, "")
            for supply, amount in enumerate((processors, *needs)):
                if amount > 0:
                    held[supply].append((interval, amount))
        starts.append(start)
        ends.append(end)
        present.append(literals)
    for supply, capacity in zip(held, [case.processors, *case.capacities]):
        if sum(amount for _, amount in supply) > capacity:
            model.add_cumulative([pair[0] for pair in supply], [pair[1] for pair in supply], capacity)
    for source, to in case.edges:
        model.add(starts[to] >= ends[source])
    if objective == "makespan":
        last = model.new_int_var(0, horizon, "")
        model.add_max_equality(last, ends)
        # A redundant constraint that CP-SAT does not find itself: the work of the chosen modes fits before the end.
        work = [
            mode[0] * mode[1] * literal
            for task, literals in zip(case.tasks, present) for mode, literal in zip(task.modes, literals)
        ]
        model.add(sum(work) <= case.processors * last)
        model.minimize(last)
    else:
        model.minimize(sum(task.weight * end for task, end in zip(case.tasks, ends)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = limit
    status = solver.solve(model)
    seconds = time.monotonic() - began
    is_found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    value = Decimal(round(solver.objective_value)) if is_found else None
    return value, solver.best_objective_bound, status == cp_model.OPTIMAL, seconds


def groups(options):
    seeds = range(options.seed, options.seed + 4)
    yield "6 to 12 jobs", [
        drawn(options, "6 to 12 jobs", kind, *size, seed) for kind in KINDS for size in SIZES for seed in seeds
    ]
    yield "20 jobs, 8 processors", [
        drawn(options, "20 jobs, 8 processors", kind, 20, 8, seed) for kind in KINDS for seed in seeds
    ]
    graphs = [
        drawn(options, "graphs of 8 to 15 tasks", "graph", count, processors, seed)
        for count in (8, 10, 12, 15) for processors in (4, 8) for seed in seeds[:3]
    ]
    yield "graphs of 8 to 15 tasks", graphs
    folder = projects_folder(options)
    if folder is not None:
        for name, most in (("j30", None), ("j60", 30), ("j120", 30)):
            yield from projects(folder, name, most)


def drawn(options, group, kind, count, processors, seed):
    """Draws an instance. Equal arguments give equal instances."""
    name = f"{kind}-{count}-{processors}-{seed}"
    rng = random.Random(name)
    tasks = []
    for _ in range(count):
        release = rng.randint(0, 40) if kind == "release" else 0
        if kind == "sequential":
            modes = [(rng.randint(5, 100), 1, ())]
        elif kind == "rigid":
            modes = [(rng.randint(5, 60), rng.randint(1, processors), ())]
        else:
            modes = by_amdahl(rng.randint(5, 60), rng.choice([2, 10, 30]), processors)
        tasks.append(Task(release, rng.randint(1, 10), modes))
    pairs = [(source, to) for to in range(count) for source in range(to)] if kind == "graph" else []
    edges = [pair for pair in pairs if rng.random() < 2 / count]
    case = Case(group, name, options.output / f"{name}.json", processors, tasks, edges)
    case.file.write_text(json.dumps(native(case)))
    return case


def by_amdahl(sequential, serial, processors):
    """The faster allotments of a job with this percentage of serial work, in whole seconds, rounded up."""
    modes = []
    for width in range(1, processors + 1):
        length = -(-sequential * (serial * width + 100 - serial) // (100 * width))
        if not modes or length < modes[-1][0]:
            modes.append((length, width, ()))
    return modes


def native(case):
    jobs = []
    for at, task in enumerate(case.tasks):
        job = {"name": f"j{at}", "weight": task.weight}
        if task.release:
            job["released"] = task.release
        if len(task.modes) == 1:
            job |= {"processors": task.modes[0][1], "time": task.modes[0][0]}
        else:
            lengths = {width: length for length, width, _ in task.modes}
            times, last = [], None
            for width in range(1, max(lengths) + 1):
                last = lengths.get(width, last)
                times.append(last)
            job["time"] = times
        before = [f"j{source}" for source, to in case.edges if to == at]
        if before:
            job["after"] = before
        jobs.append(job)
    return {"version": 2, "platform": {"processors": case.processors}, "jobs": jobs}


def projects_folder(options):
    """The folder with the projects of PSPLIB, or None. An archive is unpacked."""
    path = options.projects
    if path is None or not path.exists():
        reason = "no --projects" if path is None else f"{path} does not exist"
        print(f"the projects of PSPLIB are SKIPPED: {reason}; name a folder or an archive with best.csv, j30, j60 and j120")
        return None
    if path.is_dir():
        return path
    with tarfile.open(path) as archive:
        archive.extractall(options.output, filter="data")
    return next(options.output.glob("**/best.csv")).parent


def projects(folder, name, most):
    """The projects of a set whose optimum is known: all, or some that are evenly spread over the set."""
    with open(folder / "best.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["instance"].startswith(f"{name}_")]
    closed = [row for row in rows if row["best_known_lower_bound"] == row["best_known_makespan"]]
    files = [folder / name / f"{row['instance']}.rcp" for row in closed]
    files = [file for file in files if file.exists()]
    if most is not None and len(files) > most:
        files = [files[at * len(files) // most] for at in range(most)]
    if not files:
        print(f"{name} is SKIPPED: {folder / name} has no projects whose optimum is known")
        return
    yield name, [project(name, file) for file in files]


def project(group, file):
    """Reads a project in Patterson's format."""
    numbers = iter(map(int, file.read_text().split()))
    count, resources = next(numbers), next(numbers)
    capacities = [next(numbers) for _ in range(resources)]
    tasks, edges = [], []
    for at in range(count):
        length = next(numbers)
        needs = tuple(next(numbers) for _ in range(resources))
        edges += [(at, next(numbers) - 1) for _ in range(next(numbers))]
        tasks.append(Task(0, 1, [(length, 0, needs)]))
    return Case(group, file.stem, file, 0, tasks, edges, capacities)


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def arguments():
    parser = argparse.ArgumentParser(prog="run proofs", description=__doc__)
    parser.add_argument("--limit", type=float, default=2.0, help="seconds for plan and proof (default 2)")
    parser.add_argument("--project-limit", type=float, default=10.0, help="seconds for a project (default 10)")
    parser.add_argument("--seed", type=int, default=0, help="first of four seeds (default 0)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth instance; 8 takes 3 minutes")
    parser.add_argument("--projects", type=Path, help="PSPLIB: a folder or an archive with best.csv, j30, j60 and j120")
    parser.add_argument("--makespan", default="makespan", help="the command")
    parser.add_argument("--output", type=Path, default=Path("."), help="folder for instances and CSV")
    return parser.parse_args()


if __name__ == "__main__":
    main()
