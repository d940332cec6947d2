#!/usr/bin/env python3
"""How far expected starts were from what happened: those of `squeue --start` beside those of `makespan queue`.

    benches/queue/evaluate.py RECORD [--makespan target/release/makespan] [--processors 8] [--nodes 16]

RECORD is a folder that `measure.py` made, or one with sNNNN.json (squeue --json), sNNNN.start and jobcomp.txt. Every job that waits in a
look counts once for that look: the error is the difference between the start that was expected then and the one that came.
"""

import argparse
import calendar
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

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
    starts = {}
    for line in (record / "jobcomp.txt").read_text().splitlines():
        fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
        starts[fields["JobId"]] = seconds(fields["StartTime"])
    return starts


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


def expected(options, folder, now, extra):
    """What makespan expects of each waiting job: start, early, late."""
    command = [options.makespan, "queue", "--from", str(folder), "--at", str(round(now)), "--format", "json", *extra]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    unix = lambda value: value and value["unix"]
    waiting = json.loads(done.stdout)["waiting"]
    return {str(job["id"]): (unix(job["start"]), unix(job["start_early"]), unix(job["start_late"])) for job in waiting}


WAYS = {
    "makespan, limits": ["--times", "limits"],
    "makespan, usual": ["--times", "usual"],
    "makespan, learned": [],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    parser.add_argument("--makespan", default="target/release/makespan")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--processors", type=int, default=8)
    options = parser.parse_args()
    starts = happened(options.record)
    errors = {name: [] for name in ["squeue --start", *WAYS]}
    shared = {name: [] for name in errors}
    spreads = {name: [] for name in WAYS if name != "makespan, limits"}
    asked = 0
    with tempfile.TemporaryDirectory() as scratch:
        for folder, now, slurm in looks(options.record, options, Path(scratch)):
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
                for name, held in spreads.items():
                    _, early, late = answers[name][job]
                    if early is not None:
                        held.append((early <= real <= late, late - early))
    mean = lambda list: sum(list) / max(1, len(list))
    print(f"{asked} expectations of {len(starts)} jobs\n")
    print("| | jobs with one | mean absolute error, s | of the jobs for which Slurm has one, s | of Slurm's |")
    print("|---|---|---|---|---|")
    base = mean(shared["squeue --start"])
    for name, list in errors.items():
        own = mean(shared[name])
        print(f"| {name} | {len(list) / max(1, asked):.0%} | {mean(list):.1f} | {own:.1f} | {own / max(base, 1e-9):.2f} |")
    for name, held in spreads.items():
        if held:
            within, width = mean([one[0] for one in held]), mean([one[1] for one in held])
            print(f"\n{name}: {within:.0%} of {len(held)} starts between early and late, which are {width:.0f} s apart in the mean")


if __name__ == "__main__":
    main()
