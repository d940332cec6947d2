"""makespan on a real Slurm: many short tasks, a long queue, and moldable jobs beside Slurm's own backfill."""

import argparse
import json
import pathlib
import random
import re
import statistics
import subprocess
import time

from cluster import Cluster


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--makespan", "--cluster", "--output"):
        parser.add_argument(name, required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--python", default="", help=argparse.SUPPRESS)
    parser.add_argument("--parts", default="second,tenth,queue,moldable", help="which, of these and `handed` (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=3, help="of the short parts (default: %(default)s)")
    parser.add_argument("--queued", type=int, default=10000, help="tasks of the long queue (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=40, help="moldable jobs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the moldable jobs (default: %(default)s)")
    parser.add_argument("--scale", type=float, default=1.0, help="of the times of moldable jobs (default: %(default)s)")
    return parser.parse_args()


def say(*cells):
    print(" | ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells), flush=True)


def equal(cluster, options, count, seconds, nodes, name, handed=False):
    """So many equal tasks; the seconds of the whole process, those between the first start and the last end, its memory."""
    instance = cluster.folder / f"{name}.toml"
    job = '[[jobs]]\nname = "{}"\nprocessors = 1\ntime = {}\ncommand = ["sleep", "{}"]\n'
    jobs = "".join(job.format(f"job{number}", seconds, seconds) for number in range(count))
    instance.write_text("version = 1\n" + jobs)
    where = ["--on", "slurm:jobs"] if handed else ["--on", "slurm", "--nodes", nodes]
    words = ["run", instance, *where, "--folder", cluster.folder / name, "--no-history"]
    printed, wall, memory = cluster.measured(options.makespan, *words)
    said = dict(pair.split("=", 1) for pair in re.search(r"^result: (.*)$", printed, re.M)[1].split())
    assert int(said["succeeded"]) == count, said
    # The clock of the run begins with the wait for its pilot.
    starts = re.search(r"over ([0-9.]+) s", printed)
    return wall, float(starts[1]) if starts else float(said["makespan"]), memory


def short(options, count, seconds, heading, ideal):
    """Tasks of equal length on 4 nodes of 4 processors, beside HyperQueue."""
    walls, spans, peers = [], [], []
    with Cluster(options.cluster, 4, 4) as cluster:
        for turn in range(options.repetitions):
            wall, span, _ = equal(cluster, options, count, seconds, 4, f"equal{turn}")
            walls.append(wall)
            spans.append(span)
            if options.python:
                program = pathlib.Path(__file__).with_name("hq.py")
                words = [options.python, program, count, 4, 4, "sleep", seconds]
                said = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
                peers.append(float(re.search(r"seconds ([0-9.]+)", said.stdout)[1]))
    for name, values in (("makespan, whole", walls), ("makespan, first start to last end", spans), ("HyperQueue", peers)):
        if values:
            middle = statistics.median(values)
            say(heading, name, middle, middle / ideal, count / middle, min(values), max(values))


def queue(options):
    """A long queue on many nodes: the memory of the planner."""
    lines = ["SlurmdTimeout=300"]
    with Cluster(options.cluster, 64, 4, lines) as cluster:
        few = equal(cluster, options, options.queued // 10, 0.1, 64, "few")
        many = equal(cluster, options, options.queued, 0.1, 64, "many")
    for count, (wall, span, memory) in ((options.queued // 10, few), (options.queued, many)):
        say(f"{count} tasks of 0.1 s on 64 nodes", "makespan", wall, span, count / span, f"{memory / 1e6:.0f} MB")


def handed(options):
    """The same queue, each task a job of Slurm."""
    lines = ["SlurmdTimeout=300"]
    with Cluster(options.cluster, 64, 4, lines) as cluster:
        wall, span, memory = equal(cluster, options, options.queued, 0.1, 64, "handed", handed=True)
    say(f"{options.queued} tasks of 0.1 s, each a job", "makespan", wall, span, options.queued / span, f"{memory / 1e6:.0f} MB")


SIZES = (1, 2, 3, 4)


def draw(options):
    """Jobs by Amdahl's law: the seconds of each on 1 to 4 nodes."""
    source = random.Random(options.seed)
    jobs = []
    for _ in range(options.jobs):
        work, serial = source.uniform(2, 16) * options.scale, source.choice((0.02, 0.1, 0.3))
        jobs.append([round(work * (serial + (1 - serial) / size), 2) for size in SIZES])
    return jobs


def by_makespan(cluster, options, jobs, nodes):
    """What is planned and what happens, from the first start to the last end."""
    instance = cluster.folder / "moldable.toml"
    text = "version = 1\n"
    for number, times in enumerate(jobs):
        words = " ".join(map(str, times))
        command = f'set -- {words}; shift $((MAKESPAN_PROCESSORS - 1)); exec sleep $1'
        text += f'[[jobs]]\nname = "job{number}"\ntime = {times}\ncommand = ["sh", "-c", {json.dumps(command)}]\n'
    instance.write_text(text)
    folder = cluster.folder / "moldable"
    words = ["run", instance, "--on", "slurm", "--nodes", nodes, "--folder", folder, "--no-history"]
    printed, wall, _ = cluster.measured(options.makespan, *words)
    said = dict(pair.split("=", 1) for pair in re.search(r"^result: (.*)$", printed, re.M)[1].split())
    assert int(said["succeeded"]) == len(jobs), printed
    span = float(re.search(r"over ([0-9.]+) s", printed)[1])
    return float(said["planned"]), span, wall


def by_slurm(cluster, jobs, sizes, limit):
    """Slurm's backfill: from the first start to the last end, and from the first submission."""
    submitted = time.monotonic()
    folder = cluster.folder / f"slurm-{sizes}"
    folder.mkdir()
    for number, times in enumerate(jobs):
        words = " ".join(map(str, times))
        script = (
            f"#!/bin/sh\ndate +%s.%N >{folder}/{number}.begun\nset -- {words}\nshift $((SLURM_JOB_NUM_NODES - 1))\n"
            f"sleep $1\ndate +%s.%N >{folder}/{number}.done\n"
        )
        (folder / f"{number}.sh").write_text(script)
        options = [f"--nodes={sizes}", "--exclusive", f"--time={limit}", "--output=/dev/null", f"--job-name=job{number}"]
        cluster.run("sbatch", *options, folder / f"{number}.sh")
    while len(list(folder.glob("*.done"))) < len(jobs):
        time.sleep(0.05)
    wall = time.monotonic() - submitted
    while not cluster.is_empty():
        time.sleep(0.2)
    read = lambda end: [float(path.read_text()) for path in folder.glob(f"*.{end}")]
    return max(read("done")) - min(read("begun")), wall


def moldable(options):
    """Moldable jobs on 16 nodes of one processor: makespan beside Slurm's backfill."""
    jobs = draw(options)
    with Cluster(options.cluster, 16, 1) as cluster:
        planned, span, wall = by_makespan(cluster, options, jobs, 16)
        say("moldable", "makespan, planned", planned, "", "")
        say("moldable", "makespan", span, span / planned, wall)
        best = None
        for sizes in ("1", "2", "4", "1-4"):
            took, wall = by_slurm(cluster, jobs, sizes, 1)
            best = min(took, best or took)
            say("moldable", f"Slurm, --nodes={sizes}", took, took / planned, wall)
    say("moldable", "makespan against the best of Slurm", span / best, "", "")


def main():
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    parts = options.parts.split(",")
    if {"second", "tenth"} & set(parts):
        say("tasks", "tool", "seconds", "of the ideal", "tasks a second", "least s", "most s")
    if "second" in parts:
        short(options, 100, 1, "100 of 1 s on 4 x 4", 7.0)
    if "tenth" in parts:
        short(options, 400, 0.1, "400 of 0.1 s on 4 x 4", 2.5)
    if "queue" in parts:
        say("queue", "tool", "seconds", "first start to last end s", "tasks a second", "most memory of the planner")
        queue(options)
    if "handed" in parts:
        handed(options)
    if "moldable" in parts:
        say("jobs", "tool", "first start to last end s", "of the plan", "whole s")
        moldable(options)


main()
