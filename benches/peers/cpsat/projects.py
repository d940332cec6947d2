"""CP-SAT, directly and through PyJobShop, and makespan on projects and on graphs of moldable tasks. See ../README.md."""

import argparse
import csv
import dataclasses
import hashlib
import json
import subprocess
import time
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import project
import project_models
from compare import bounds_of, makespan

COLUMNS = [
    "set", "instance", "solver", "limit", "value", "bound", "seconds", "status",
    "makespan_limit", "makespan_value", "makespan_bound", "makespan_seconds", "better", "over_percent",
]
SHAPES = ["layers", "series-parallel", "stages", "cholesky", "lu", "montage", "epigenomics", "1000genome", "bwa", "soykb"]


def main():
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    files = graphs(options) if options.kind == "graphs" else projects(options)
    line = "{:<12}{:<40}{:<11}{:>6}{:>12}{:>12}{:>8}{:>8}{:>12}{:>12}{:>8}  {}"
    print(line.format("set", "instance", "solver", "limit", "value", "bound", "s", "ours in", "value", "bound", "s", "better"))
    rows = []
    for name, file in files:
        for row in compared(options, name, file):
            rows.append(row)
            with open(options.output / f"{options.kind}.csv", "w", newline="") as out:
                writer = csv.DictWriter(out, COLUMNS)
                writer.writeheader()
                writer.writerows(rows)
            print(line.format(*(shown(row[column]) for column in COLUMNS if column not in ("status", "over_percent"))),
                  flush=True)
    summary(rows)


def shown(value):
    return f"{value:.3f}" if isinstance(value, (float, Decimal)) else str(value)


def projects(options):
    """Files of PSPLIB, evenly over each set, in the native form."""
    for folder in sorted(path for path in options.instances.iterdir() if path.is_dir()):
        if options.sets and folder.name not in options.sets:
            continue
        found = sorted(path for path in folder.iterdir() if path.suffix in (".sm", ".mm", ".rcp"))
        count = min(options.count, len(found))
        for at in range(count):
            path = found[at * len(found) // count]
            file = options.output / f"{folder.name}-{path.stem}.json"
            makespan(options, "convert", str(path), str(file))
            yield folder.name, file


def graphs(options):
    """Graphs of moldable tasks over all shapes, both laws, and processors."""
    for at in range(options.count):
        shape, processors = SHAPES[at % len(SHAPES)], options.processors[at % len(options.processors)]
        law, tasks = ("amdahl", "downey")[at // len(SHAPES) % 2], options.tasks[at % len(options.tasks)]
        drawn = options.output / f"{shape}-{law}-{tasks}-{processors}-{at}.laws.json"
        words = ["--shape", shape, "--law", law, "--tasks", str(tasks), "--parallel", str(processors), "--processors", "1"]
        words += ["--cores", str(processors), "--fastest", "1", "--data", "0,0", "--width", str(round(2 * tasks**0.5))]
        makespan(options, "generate", "graphs", *words, "--seed", str(at + 1), "--output", str(drawn))
        file = drawn.with_name(drawn.name.replace(".laws", ""))
        project.tabulate(drawn, file)
        yield f"{tasks} tasks", file


def compared(options, name, file):
    """Each solver with each limit beside makespan in a tenth of it; `makespan verify` accepts all schedules or this ends."""
    instance = project.read(file)
    for limit in options.time_limits:
        plan = file.with_suffix(f".{limit:g}.makespan.json")
        algorithm = f"optimise[objective=makespan,time-limit={limit / 10:g}s,searches=2]"
        began = time.monotonic()
        makespan(options, "plan", str(file), "--algorithm", algorithm, "--seed", "1", "--output", str(plan))
        seconds = time.monotonic() - began
        makespan(options, "verify", str(file), str(plan))
        text = plan.read_text()
        ours = json.loads(text, parse_float=Decimal)
        mine, bound = Decimal(ours["makespan"]), Decimal(ours["bounds"]["makespan"]["value"])
        for solver in options.solvers:
            settings = project_models.Settings(solver, options.workers, limit, options.seed, options.hint == "greedy")
            outcome = kept(options, file, instance, settings)
            theirs = Decimal("inf")
            if outcome.chosen:
                schedule = file.with_suffix(f".{limit:g}.{solver}.json")
                theirs = Decimal(project.makespan(instance, outcome.chosen)) / project.UNIT
                bounds = bounds_of(text)
                project.write_schedule(schedule, instance, outcome.chosen, solver, bounds)
                makespan(options, "verify", str(file), str(schedule))
            yield {
                "set": name, "instance": file.stem, "solver": solver, "limit": limit, "value": theirs,
                "bound": outcome.bound, "seconds": outcome.seconds, "status": outcome.status,
                "makespan_limit": limit / 10, "makespan_value": mine, "makespan_bound": bound,
                "makespan_seconds": seconds,
                "better": "equal" if mine == theirs else "makespan" if mine < theirs else solver,
                "over_percent": (float(theirs / mine) - 1) * 100 if theirs.is_finite() else "",
            }


def kept(options, file, instance, settings):
    """What a solver makes of an instance; the same question is not put to it twice."""
    content = hashlib.sha256(file.read_bytes()).hexdigest()
    versions = {name: version(name) for name in ("ortools", "pyjobshop")}
    question = {**versions, "instance": content, **dataclasses.asdict(settings)}
    path = file.with_suffix(f".{settings.seconds:g}.{settings.solver}.run.json")
    if path.exists() and not options.again:
        found = json.loads(path.read_text())
        if found["question"] == question:
            return project_models.Outcome(**found["outcome"])
    outcome = project_models.solve(instance, settings)
    path.write_text(json.dumps({"question": question, "outcome": dataclasses.asdict(outcome)}))
    return outcome


def summary(rows):
    """For each set, solver and limit: how much longer the solver's plans are on the mean, and who is better how often."""
    print("\n{:<12}{:<11}{:>6}{:>11}{:>14}{:>20}{:>8}{:>14}".format(
        "set", "solver", "limit", "instances", "without plan", "longer by, mean %", "equal", "makespan, it"))
    groups = {}
    for row in rows:
        groups.setdefault((row["set"], row["solver"], row["limit"]), []).append(row)
    for (name, solver, limit), group in groups.items():
        over = [row["over_percent"] for row in group if row["over_percent"] != ""]
        count = {who: sum(row["better"] == who for row in group) for who in ("makespan", "equal", solver)}
        mean = f"{sum(over) / len(over):.3f}" if over else "-"
        better = f"{count['makespan']}, {count[solver]}"
        print(f"{name:<12}{solver:<11}{limit:>6g}{len(group):>11}{len(group) - len(over):>14}{mean:>20}{count['equal']:>8}{better:>14}")


def arguments():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)

    def numbers(kind):
        return lambda text: [kind(word) for word in text.split(",")]

    words = lambda text: text.split(",")
    parser.add_argument("kind", choices=["projects", "graphs"])
    parser.add_argument("--instances", type=Path, help="projects: a folder with a folder of PSPLIB's files for each set")
    parser.add_argument("--sets", type=words, metavar="SET,..", help="projects: only these folders, such as j60,j120")
    parser.add_argument("--count", type=int, default=20, help="projects of each set, or graphs (default 20)")
    parser.add_argument("--tasks", type=numbers(int), default=[60, 200, 500], metavar="N,..", help="graphs: tasks, about")
    parser.add_argument("--processors", type=numbers(int), default=[16, 64], metavar="N,..", help="graphs: processors")
    parser.add_argument("--time-limits", type=numbers(float), default=[10.0, 60.0], metavar="S,..",
                        help="seconds of each solver; makespan has a tenth (default 10,60)")
    parser.add_argument("--solvers", type=words, default=list(project_models.SOLVERS), metavar="SOLVER,..")
    parser.add_argument("--workers", type=int, default=2, help="threads of each solver (default 2)")
    parser.add_argument("--hint", choices=["greedy", "none"], default="greedy", help="for CP-SAT itself")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="solve again what was solved with these settings")
    parser.add_argument("--makespan", default="makespan", help="the command")
    parser.add_argument("--output", type=Path, default=Path("."), help="folder for instances, schedules and CSV")
    options = parser.parse_args()
    if options.kind == "projects" and not (options.instances and options.instances.is_dir()):
        parser.error("projects need --instances FOLDER, which has a folder for each set")
    return options


if __name__ == "__main__":
    main()
