"""CP-SAT and makespan on the same instances: values, bounds, times, and who is better. See ../README.md."""

import argparse
import csv
import json
import math
import subprocess
import time
from decimal import Decimal
from pathlib import Path

import instance as instances
import model
import peer

FAMILIES = ["weak", "high", "mixed", "cirne"]
COLUMNS = [
    "instance", "cpsat_value", "cpsat_bound", "cpsat_seconds", "cpsat_status",
    "makespan_value", "makespan_bound", "makespan_seconds", "better", "by_percent",
]


def main():
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    print(heading(options))
    line = "{:<20}{:>12}{:>12}{:>8}{:>14}{:>12}{:>8}  {}"
    print(line.format("instance", "CP-SAT", "its bound", "s", "makespan", "its bound", "s", "better"))
    rows = []
    for family in options.families:
        for jobs in options.jobs:
            for seed in options.seeds:
                row = compared(options, family, jobs, seed)
                rows.append(row)
                write(options.output / f"{options.objective}.csv", rows)
                figures = [row[name] for name in COLUMNS[1:4] + COLUMNS[5:8]]
                by = row["by_percent"]
                words = row["better"] + (f" by {by:.2f} %" if 0 < by < math.inf else "")
                shown = [short(figure) if place % 3 < 2 else f"{figure:.2f}" for place, figure in enumerate(figures)]
                print(line.format(row["instance"], *shown, words), flush=True)
    count = {name: sum(row["better"] == name for row in rows) for name in ("makespan", "equal", "CP-SAT")}
    print(f"makespan better {count['makespan']}, equal {count['equal']}, CP-SAT better {count['CP-SAT']}")


def compared(options, family, jobs, seed):
    """Draws an instance and gives it to both; `makespan verify` accepts both schedules or this ends with its reason."""
    stem = options.output / f"{family}-{jobs}-{seed}"
    file = stem.with_suffix(".json")
    draw = ["generate", "moldable", "--family", family, "--jobs", str(jobs), "--processors", str(options.processors)]
    makespan(options, *draw, "--seed", str(seed), "--output", str(file))
    instance = instances.read(file)

    plan = stem.with_suffix(f".{options.objective}.makespan.json")
    began = time.monotonic()
    makespan(options, "plan", str(file), "--algorithm", options.algorithm, "--seed", "1", "--output", str(plan))
    seconds = time.monotonic() - began
    makespan(options, "verify", str(file), str(plan))
    text = plan.read_text()
    ours = json.loads(text, parse_float=Decimal)
    key, places = {"makespan": ("makespan", 9), "weighted-completion": ("weighted_completion", 15)}[options.objective]

    settings = model.Settings(
        options.model, options.objective, round(options.unit * 1e9), options.allotments, options.workers,
        options.time_limit, seed,
    )
    kept = stem.with_suffix(f".{options.objective}.cpsat.run.json")
    outcome = peer.outcome(file, settings, options.hint == "greedy", kept, options.again)
    theirs = Decimal("inf")
    if outcome.chosen:
        placements = instances.shifted_left(instance, outcome.chosen)
        schedule = stem.with_suffix(f".{options.objective}.cpsat.json")
        instances.write_schedule(schedule, instance, placements, f"cpsat[model={options.model}]", bounds_of(text))
        makespan(options, "verify", str(file), str(schedule))
        theirs = Decimal(instances.decimal(instances.value(instance, placements, options.objective), places))
    mine = Decimal(ours[key])
    better = "equal" if mine == theirs else "makespan" if mine < theirs else "CP-SAT"
    return {
        "instance": stem.name, "cpsat_value": theirs, "cpsat_bound": outcome.bound,
        "cpsat_seconds": outcome.seconds, "cpsat_status": outcome.status,
        "makespan_value": mine, "makespan_bound": ours["bounds"][key]["value"], "makespan_seconds": seconds,
        "better": better, "by_percent": abs(float(theirs / mine) - 1) * 100 if theirs.is_finite() else math.inf,
    }


def bounds_of(plan: str) -> str:
    """The table of bounds in a plan as it is written, since its figures are exact."""
    begin = plan.index('"bounds":') + len('"bounds":')
    begin += len(plan[begin:]) - len(plan[begin:].lstrip())
    return plan[begin : json.JSONDecoder().raw_decode(plan, begin)[1]]


def makespan(options, *words):
    done = subprocess.run([options.makespan, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"makespan {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def short(figure):
    figure = float(figure)
    return "-" if math.isinf(figure) else f"{figure:.3f}" if figure < 1000 else f"{figure:.1f}"


def heading(options):
    hint = "a greedy list as hint" if options.hint == "greedy" else "no hint"
    allotments = f"at most {options.allotments} allotments a job" if options.allotments else "all allotments"
    return (
        f"{options.objective}, {options.processors} processors\n"
        f"CP-SAT: model {options.model}, {allotments}, {hint}, {options.workers} workers, {options.time_limit:g} s, "
        f"times in units of {options.unit:g} s\n"
        f"makespan: {options.algorithm}"
    )


def arguments():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)

    def numbers(text):
        return [int(word) for word in text.split(",")]

    parser.add_argument("--objective", choices=["weighted-completion", "makespan"], default="weighted-completion")
    parser.add_argument("--families", type=lambda text: text.split(","), default=FAMILIES, metavar="FAMILY,..")
    parser.add_argument("--jobs", type=numbers, default=[25, 50, 100, 200, 400], metavar="N,..")
    parser.add_argument("--seeds", type=numbers, default=[1, 2, 3], metavar="SEED,..")
    parser.add_argument("--processors", type=int, default=200)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of CP-SAT's search (default 60)")
    parser.add_argument("--workers", type=int, default=2, help="CP-SAT's threads (default 2)")
    parser.add_argument("--model", choices=model.MODELS, default=model.VARIABLE)
    parser.add_argument("--hint", choices=["greedy", "none"], default="greedy")
    parser.add_argument("--allotments", type=int, default=0, help="most allotments a job in the model; 0: all")
    parser.add_argument("--again", action="store_true", help="solve again what CP-SAT has solved with these settings")
    parser.add_argument("--unit", type=float, default=0.001, help="seconds in a unit of the model's time")
    parser.add_argument("--algorithm", help="spec of makespan's algorithm (default: optimise, 1 s, two searches)")
    parser.add_argument("--makespan", default="makespan", help="the command")
    parser.add_argument("--output", type=Path, default=Path("."), help="folder for instances, schedules and CSV")
    options = parser.parse_args()
    if options.algorithm is None:
        options.algorithm = f"optimise[objective={options.objective},time-limit=1s,searches=2]"
    return options


if __name__ == "__main__":
    main()
