#!/usr/bin/env python3
"""Tries the advice of `makespan report --backfill` on the month after the month from which it was derived.

    benches/report/advice.py LOG.swf.gz.. [--makespan target/release/makespan] [--policy SPEC] [--months N]

Divides each log into months of 30 days. For each month but the last, takes the advised value from a sweep of this month, and reads
its effect on the next month from the sweep of that month: a replay with the advised value minus a replay with the present value,
paired by job, with the 99 % range of `report --backfill`. Prints a line for each month, and a table. In the table, the ranges of mean
changes contain 95 % of 10,000 resamples of the months.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DAYS = 30
LEAST_JOBS = 100
RESAMPLES = 10_000
SUBMITTED = 1


def months(path):
    """The header and the lines of each month."""
    header, found = [], {}
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", errors="replace") as lines:
        for line in lines:
            if line.startswith(";"):
                header.append(line)
            elif line.strip():
                found.setdefault(int(float(line.split()[SUBMITTED])), []).append(line)
    first = min(found)
    parts = {}
    for at in sorted(found):
        parts.setdefault((at - first) // (DAYS * 86_400), []).extend(found[at])
    return header, parts


def sweep(options, folder, name, lines):
    """The advice for a month, or `None` if the month has too few jobs."""
    if sum(not line.startswith(";") for line in lines) < LEAST_JOBS:
        return None
    path = folder / f"{name}.swf"
    path.write_text("".join(lines))
    words = [options.makespan, "report", str(path), "--backfill", "--policy", options.policy, "--format", "json"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{name}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def resampled(changes, seed=1):
    """The change of the mean wait over all jobs, with its range over resamples of the months. `changes` has jobs and seconds."""
    def mean(part):
        return sum(jobs * seconds for jobs, seconds in part) / sum(jobs for jobs, _ in part)

    draws = random.Random(seed)
    means = sorted(mean(draws.choices(changes, k=len(changes))) for _ in range(RESAMPLES))
    return mean(changes), means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]


def tried(options, path, folder):
    """Tries the advice of a log, and returns a row of the table."""
    header, parts = months(path)
    name = path.name.removesuffix(".gz").removesuffix(".swf")
    numbers = sorted(parts)[:options.months]
    with ThreadPoolExecutor(options.threads) as pool:
        swept = dict(zip(numbers, pool.map(lambda number: sweep(options, folder, f"{name}-{number}", header + parts[number]), numbers)))
    fitted, later, better, worse, pairs, base = [], [], 0, 0, 0, []
    for number in numbers:
        fit, trial = swept[number], swept.get(number + 1)
        if fit is None or trial is None:
            continue
        pairs += 1
        base.append((trial["jobs"], trial["mean_wait"]))
        best = fit["best"]
        if best is None:
            print(f"{name} month {number}: no advice")
            continue
        own = next(one for one in trial["settings"] if (one["parameter"], one["value"]) == (best["parameter"], best["value"]))
        before, after = best["mean_wait"], own["mean_wait"]
        fitted.append((fit["jobs"], before["seconds"]))
        later.append((trial["jobs"], after["seconds"]))
        better += after["late"] < 0
        worse += after["early"] > 0
        print(
            f"{name} month {number}: {best['parameter']}={best['value']}: {before['seconds']:+.0f} s, next month {after['seconds']:+.0f} s, "
            f"between {after['early']:+.0f} and {after['late']:+.0f}, of {trial['mean_wait']:.0f} s"
        )
    wait = sum(jobs * seconds for jobs, seconds in base) / max(1, sum(jobs for jobs, _ in base))
    if not later:
        return f"| {name} | {pairs} | {wait:.0f} | 0 | - | - | - | - | - |"
    change, early, late = resampled(later)
    first = sum(jobs * seconds for jobs, seconds in fitted) / sum(jobs for jobs, _ in fitted)
    unclear = len(later) - better - worse
    return f"| {name} | {pairs} | {wait:.0f} | {len(later)} | {first:+.0f} | {change:+.0f} ({early:+.0f} .. {late:+.0f}) | {better} | {unclear} | {worse} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", type=Path, nargs="+")
    parser.add_argument("--makespan", default="target/release/makespan")
    parser.add_argument("--policy", default="slurm")
    parser.add_argument("--months", type=int, help="only the first months of each log")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    missing = [str(path) for path in options.logs if not path.is_file()]
    if missing:
        parser.error(f"there is no log {', '.join(missing)}; the Parallel Workloads Archive has them")
    with tempfile.TemporaryDirectory() as folder:
        rows = [tried(options, path, Path(folder)) for path in options.logs]
    print(f"\npresent policy: {options.policy}\n")
    print("| log | months | mean wait (s) | with advice | change in the month of the advice (s) | change in the next month (s) | better | unclear | worse |")
    print("|---|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
