#!/usr/bin/env python3
"""How far expected starts were from what happened: those of `squeue --start` beside those of `makespan queue`.

    benches/queue/evaluate.py RECORD [--makespan target/release/makespan] [--processors 8] [--nodes 16]

RECORD is a folder that `measure.py` made, or one with sNNNN.json (squeue --json), sNNNN.start and jobcomp.txt. Every job that waits in a
look counts once for that look: the error is the difference between the start that was expected then and the one that came.

Then prints how often the starts lie in their ranges, without a history and with one that learns from look to look. The exit status is
1 if the calibrated range of 80 % does not hold: if it contains less than 78 % or more than 82 % of at least 10,000 starts, or if, with
fewer starts, 80 % is outside the 95 % interval of a bootstrap over looks.
"""

import argparse
import calendar
import json
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from cluster import completed

NODE = "NodeName={name} CPUAlloc=0 CPUEfctv={cpus} CPUTot={cpus} RealMemory=65536 AllocMem=0 Sockets={cpus} CoresPerSocket=1 State=IDLE ThreadsPerCore=1 Partitions=p\n"
CONFIGURATION = "SLURM_VERSION = 22.05.8\nSchedulerType = sched/backfill\nSelectType = select/cons_tres\nSelectTypeParameters = CR_CPU\n" \
    "SchedulerParameters = batch_sched_delay=0,sched_interval=1,bf_interval=1,bf_resolution=1,default_queue_depth=1000\n"


def seconds(text):
    """Seconds after 1970 of a time as Slurm writes it, or nothing."""
    try:
        return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return None


def happened(record):
    """When each job started."""
    return {job: seconds(fields["StartTime"]) for job, fields in completed(record / "jobcomp.txt").items()}


def looks(record, options, scratch):
    """Of each look: a folder for makespan, its instant, and what Slurm expected."""
    for file in sorted(record.glob("s[0-9]*")):
        if file.is_dir():
            lines = (file / "start").read_text().splitlines()
            yield file, float((file / "now").read_text()), dict(line.split("|")[:2] for line in lines)
        elif file.suffix == ".json":
            folder = scratch / file.stem
            folder.mkdir()
            shutil.copy(file, folder / "squeue.json")
            nodes = [NODE.format(name=f"n{node}", cpus=options.processors) for node in range(options.nodes)]
            (folder / "scontrol.nodes.txt").write_text("".join(nodes))
            (folder / "scontrol.config.txt").write_text(CONFIGURATION)
            lines = file.with_suffix(".start").read_text().splitlines()
            yield folder, float(lines[0]), dict(line.split("|")[:2] for line in lines[1:])


def answer(options, folder, now, extra):
    """The answer of `makespan queue` at an instant."""
    command = [options.makespan, "queue", "--from", str(folder), "--at", str(round(now)), "--format", "json", *extra]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def expected(options, folder, now, extra):
    """What makespan expects of each waiting job: start, early, late."""
    unix = lambda value: value and value["unix"]
    waiting = answer(options, folder, now, extra)["waiting"]
    return {str(job["id"]): (unix(job["start"]), unix(job["early"]), unix(job["late"])) for job in waiting}


WAYS = {
    "makespan, limits": ["--times", "limits"],
    "makespan, usual": ["--times", "usual"],
    "makespan, learned": [],
}
mean = lambda list: sum(list) / max(1, len(list))


def score(early, late, real, percent):
    """The interval score of Winkler (J. Amer. Statist. Assoc. 67, 1972, https://doi.org/10.1080/01621459.1972.10481224); less is better."""
    outside = max(0, early - real, real - late)
    return late - early + outside / ((1 - percent / 100) / 2)


def held(rows):
    """The share of starts in their ranges."""
    return mean([early <= real <= late for _, early, late, real in rows])


def bootstrap(rows, draws):
    """The 95 % interval of the share, if looks are drawn with replacement: jobs of one look share its errors."""
    looks = {}
    for row in rows:
        looks.setdefault(row[0], []).append(row[1] <= row[3] <= row[2])
    counts = [(sum(held), len(held)) for held in looks.values()]
    shares = []
    for _ in range(1000):
        drawn = draws.choices(counts, k=len(counts))
        shares.append(sum(held for held, _ in drawn) / sum(count for _, count in drawn))
    shares.sort()
    return shares[25], shares[974]


def ranges(options, starts, slurm_looks, extra, percent):
    """Of each forecast: its look, the ends of its range, and the actual start; and the number of jobs whose start is not known."""
    rows, unknown = [], 0
    for folder, now, _ in slurm_looks:
        for job, (_, early, late) in expected(options, folder, now, [*extra, "--range", str(percent)]).items():
            real = starts.get(job)
            if real is None:
                unknown += 1
            elif real >= now - 1 and early is not None:
                rows.append((now, early, late, real))
    return rows, unknown


def print_ranges(options, starts, slurm_looks, scratch):
    """Prints how often starts lie in their ranges. Returns false if a calibrated range of 80 % does not hold."""
    print("\n| ranges | forecasts | start not known | before | within | after | 95 % interval of within | mean width, s | mean score, s |")
    print("|---|---|---|---|---|---|---|---|---|")
    good = True
    for name in ["not calibrated", "calibrated"]:
        for percent in [80] if name == "not calibrated" or not options.diagram else [50, 60, 70, 80, 90, 95]:
            history = scratch / f"{percent}.sqlite"
            extra = ["--history", str(history)] if name == "calibrated" else ["--no-history"]
            rows, unknown = ranges(options, starts, slurm_looks, extra, percent)
            share, (low, high) = held(rows), bootstrap(rows, random.Random(1))
            before, after = mean([real < early for _, early, _, real in rows]), mean([real > late for _, _, late, real in rows])
            width = mean([late - early for _, early, late, _ in rows])
            scores = mean([score(early, late, real, percent) for _, early, late, real in rows])
            print(f"| {name}, {percent} % | {len(rows)} | {unknown} | {before:.1%} | {share:.1%} | {after:.1%} | {low:.1%} to {high:.1%} | {width:.0f} | {scores:.0f} |")
            if name == "calibrated" and percent == 80:
                good = 0.78 <= share <= 0.82 if len(rows) >= 10_000 else low <= 0.8 <= high
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    parser.add_argument("--makespan", default="target/release/makespan")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--processors", type=int, default=8)
    parser.add_argument("--diagram", action="store_true", help="also calibrate ranges of 50 to 95 %%")
    parser.add_argument("--only-ranges", action="store_true", help="omit the errors of expected starts")
    options = parser.parse_args()
    starts = happened(options.record)
    with tempfile.TemporaryDirectory() as scratch:
        slurm_looks = list(looks(options.record, options, Path(scratch)))
        if not options.only_ranges:
            print_errors(options, starts, slurm_looks)
        if not print_ranges(options, starts, slurm_looks, Path(scratch)):
            raise SystemExit("the calibrated range of 80 % does not hold")


def print_errors(options, starts, slurm_looks):
    """Prints the errors of the expected starts of `squeue --start` and of `makespan queue`."""
    errors = {name: [] for name in ["squeue --start", *WAYS]}
    shared = {name: [] for name in errors}
    asked = 0
    for folder, now, slurm in slurm_looks:
        answers = {name: expected(options, folder, now, extra) for name, extra in WAYS.items()}
        for job in answers["makespan, limits"]:
            real = starts.get(job)
            # What started while it was being asked has no start to be foreseen.
            if real is None or real < now - 1:
                continue
            asked += 1
            guess = seconds(slurm.get(job, ""))
            found = {"squeue --start": guess}
            found.update({name: answers[name][job][0] for name in WAYS})
            for name, guess in found.items():
                if guess is not None:
                    errors[name].append(abs(guess - real))
                    if found["squeue --start"] is not None:
                        shared[name].append(abs(guess - real))
    print(f"{asked} expectations of {len(starts)} jobs\n")
    print("| | jobs with one | mean absolute error, s | of the jobs for which Slurm has one, s | of Slurm's |")
    print("|---|---|---|---|---|")
    base = mean(shared["squeue --start"])
    for name, list in errors.items():
        own = mean(shared[name])
        print(f"| {name} | {len(list) / max(1, asked):.0%} | {mean(list):.1f} | {own:.1f} | {own / max(base, 1e-9):.2f} |")


if __name__ == "__main__":
    main()
