#!/usr/bin/env python3
"""Asks `makespan where` on two live clusters, submits each job to both, and compares the ends.

    benches/queue/where.py [--folder /dev/shm/where] [--makespan target/release/makespan] [--probes 30] [--seed 1] [--out FILE]
    benches/queue/where.py --read FILE..

Starts two Slurms of different sizes on this machine (Debian: slurm-wlm munge) with random jobs that sleep. After two minutes, asks for one
job every few seconds and submits it to both clusters right after the answer. A run takes about eight minutes. Each line of FILE is
an answer with the two ends. The table has a row for each way to choose a cluster:

* where: the cluster that `makespan where` names;
* test-only: the cluster with the earlier start by `sbatch --test-only`, as `sbatch -M left,right` chooses;
* fewer: the cluster with fewer pending processors per processor;
* random: the mean over both clusters.

The ends are those of Slurm (jobcomp), in whole seconds. Equal ends are ties. Answers of an earlier version named the cluster with
the earliest expected end. `--read` evaluates them by the present rule: the cluster that is first in more simulations is named.
"""

import argparse
import datetime
import getpass
import json
import random
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cluster import Cluster, completed

SIZES = {"left": 4, "right": 7}
PROCESSORS = 4
APPLICATIONS = 8
BETWEEN, PATIENCE = 7, 600
# Mean time between two jobs of a cluster, as a share of the time in which the cluster does the work of a mean job.
BACKGROUND = 1.08


class Jobs:
    """Random jobs of a few applications, each with its own distribution of run times and its own limits."""

    def __init__(self, seed):
        self.draws = random.Random(seed)
        self.means = [self.draws.uniform(4, 30) for _ in range(APPLICATIONS)]
        self.nodes = [self.draws.choice([1, 1, 2, 3, 4]) for _ in range(APPLICATIONS)]
        self.limits = [self.draws.choice([1, 2, 3]) for _ in range(APPLICATIONS)]

    def next(self):
        """Name, number of nodes, limit in minutes and run time in seconds."""
        application = self.draws.randrange(APPLICATIONS)
        mean = self.means[application]
        seconds = max(1.0, min(55.0, self.draws.gauss(mean, 0.25 * mean)))
        return f"app-{chr(97 + application)}", self.nodes[application], self.limits[application], round(seconds, 1)

    def work(self):
        """Mean node seconds of a job."""
        return sum(nodes * mean for nodes, mean in zip(self.nodes, self.means)) / APPLICATIONS


def script(job):
    name, nodes, limit, seconds = job
    options = f"--job-name={name} --nodes={nodes} --ntasks-per-node={PROCESSORS} --time={limit} --output=/dev/null"
    return f"#!/bin/sh\n#SBATCH {options}\nsleep {seconds}\n"


def submit(cluster, path):
    return cluster.run("sbatch", "--parsable", str(path)).strip()


def expected_start(cluster, path):
    """The start by `sbatch --test-only`, in seconds since 1970."""
    done = subprocess.run(["sbatch", "--test-only", str(path)], env=cluster.environment, capture_output=True, text=True)
    found = re.search(r"to start at (\S+)", done.stdout + done.stderr)
    return stamp(found[1]) if found else float("inf")


def pending(cluster):
    """Requested processors of the pending jobs."""
    return sum(int(word) for word in cluster.run("squeue", "-h", "-t", "PD", "-o", "%C").split())


def stamp(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()


def ends(cluster):
    ended = completed(cluster.folder / "log/jobcomp.txt").items()
    return {job: (stamp(fields["EndTime"]), fields["JobState"]) for job, fields in ended}


class Measurement:
    """Two clusters with random jobs, and the answers for the probes."""

    def __init__(self, options, clusters):
        self.options, self.clusters = options, clusters
        self.jobs = Jobs(options.seed)
        self.path = options.folder / "job.sh"
        self.begun = time.time()
        self.next_job = {name: 0.0 for name in clusters}
        self.answers = []

    def background(self):
        """Submits the random jobs that are due."""
        clock = time.time() - self.begun
        for name, cluster in self.clusters.items():
            while self.next_job[name] <= clock:
                path = self.options.folder / f"{name}.sh"
                path.write_text(script(self.jobs.next()))
                submit(cluster, path)
                mean = self.jobs.work() / SIZES[name] * BACKGROUND
                # In the first seconds, submits enough jobs for a queue.
                is_early = clock < 1 and self.next_job[name] < 1
                self.next_job[name] += self.jobs.draws.expovariate(1 / mean) * (0.02 if is_early else 1.0)

    def probe(self):
        self.path.write_text(script(self.jobs.next()))
        names = list(self.clusters)
        begun = time.time()
        sources = ",".join(f"slurm:{cluster.environment['SLURM_CONF']}" for cluster in self.clusters.values())
        words = [self.options.makespan, "where", str(self.path), "--from", sources, "--format", "json"]
        answer = json.loads(subprocess.check_output(words, text=True, env=self.clusters[names[0]].environment))
        took = time.time() - begun
        tested = {name: expected_start(cluster, self.path) for name, cluster in self.clusters.items()}
        load = {name: pending(cluster) / SIZES[name] for name, cluster in self.clusters.items()}
        with ThreadPoolExecutor() as pool:
            ids = dict(zip(names, pool.map(lambda name: submit(self.clusters[name], self.path), names)))
        # Counts from the answer, because the job is submitted after it.
        at = {own["cluster"]: own["ends_in_seconds"] for own in answer["candidates"]}
        self.answers.append({
            "at": begun, "took": took, "ids": ids, "named": answer["best"]["cluster"], "first": answer["best_cluster_first"],
            "expected": at, "tested": tested, "load": load,
        })

    def run(self):
        next_probe = self.options.warm_up
        while len(self.answers) < self.options.probes:
            self.background()
            if time.time() - self.begun >= next_probe:
                self.probe()
                next_probe += self.jobs.draws.uniform(0.5, 1.5) * BETWEEN
            time.sleep(0.1)
        # The jobs that arrive later delay no probe that was submitted before, except by backfill, so they continue.
        give_up = time.time() + PATIENCE
        while time.time() < give_up:
            self.background()
            done = {name: ends(cluster) for name, cluster in self.clusters.items()}
            if all(answer["ids"][name] in done[name] for answer in self.answers for name in done):
                break
            time.sleep(1)
        for answer in self.answers:
            answer["ends"] = {name: done[name][answer["ids"][name]] for name in done if answer["ids"][name] in done[name]}
        return self.answers


def measured(options):
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    clusters = {
        name: Cluster(options.folder / name, nodes, PROCESSORS, options.port + 1000 * index, name)
        for index, (name, nodes) in enumerate(SIZES.items())
    }
    try:
        for cluster in clusters.values():
            cluster.start()
        return Measurement(options, clusters).run()
    finally:
        for cluster in clusters.values():
            subprocess.run(["scancel", "--quiet", "--user", getpass.getuser()], env=cluster.environment, check=False)
        time.sleep(2)
        for cluster in clusters.values():
            cluster.stop()


def table(answers):
    usable = [one for one in answers if len(one["ends"]) == 2 and all(state == "COMPLETED" for _, state in one["ends"].values())]
    print(f"{len(answers)} jobs, {len(usable)} of which ended on both clusters")
    other = {"left": "right", "right": "left"}
    for one in usable:
        # In each simulation, one of the two clusters ends the job first, so the shares of both add up to 1.
        if one["first"] < 0.5:
            one["named"], one["first"] = other[one["named"]], 1 - one["first"]
    choices = {
        "where": lambda one: one["named"],
        "test-only": lambda one: min(one["tested"], key=one["tested"].get),
        "fewer": lambda one: min(one["load"], key=one["load"].get),
    }
    print("| choice | ended first | tie | ended later | mean loss (s) | max loss (s) |\n|---|---|---|---|---|---|")

    def row(name, losses):
        first, tie = sum(loss < 0 for loss in losses), sum(loss == 0 for loss in losses)
        late = [max(0, loss) for loss in losses]
        print(f"| {name} | {first} | {tie} | {len(losses) - first - tie} | {sum(late) / len(late):.1f} | {max(late):.0f} |")

    def loss(one, name):
        return one["ends"][name][0] - one["ends"][other[name]][0]

    for name, choice in choices.items():
        row(name, [loss(one, choice(one)) for one in usable])
    both = [abs(loss(one, "left")) / 2 for one in usable]
    print(f"| random | - | - | - | {sum(both) / len(both):.1f} | {2 * max(both):.0f} |")
    wrong = sorted(one for one in (loss(one, one["named"]) for one in usable) if one > 0)
    print("\nlater by (s):", ", ".join(f"{seconds:.0f}" for seconds in wrong) or "-")
    print("| stated share | jobs | mean of the stated shares | share that ended first (ties: half) |\n|---|---|---|---|")
    for low, high in [(0.0, 0.8), (0.8, 0.99), (0.99, 1.01)]:
        part = [one for one in usable if low <= one["first"] < high]
        if part:
            right = sum({True: 1.0, False: 0.0}[loss(one, one["named"]) < 0] if loss(one, one["named"]) else 0.5 for one in part)
            stated = sum(one["first"] for one in part)
            print(f"| {low:.2f} to {min(high, 1.0):.2f} | {len(part)} | {stated / len(part):.2f} | {right / len(part):.2f} |")
    errors = sorted(abs(one["at"] + one["expected"][name] - one["ends"][name][0]) for one in usable for name in other if one["expected"].get(name))
    took = sorted(one["took"] for one in answers)
    print(f"\nerror of the expected ends: median {errors[len(errors) // 2]:.0f} s; time of an answer: median {took[len(took) // 2]:.2f} s, max {took[-1]:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm/where"))
    parser.add_argument("--makespan", default="target/release/makespan")
    parser.add_argument("--probes", type=int, default=30)
    parser.add_argument("--warm-up", type=float, default=120, help="seconds before the first answer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=25817)
    parser.add_argument("--out", type=Path, help="write the answers and the ends, a JSON object in each line")
    parser.add_argument("--read", type=Path, nargs="+", help="print the table of earlier runs")
    options = parser.parse_args()
    if options.read:
        answers = [json.loads(line) for path in options.read for line in path.read_text().splitlines()]
    else:
        missing = [name for name in ["slurmctld", "slurmd", "munged", "sbatch"] if not shutil.which(name, path="/usr/bin:/usr/sbin:/usr/local/sbin")]
        if missing:
            sys.exit(f"SKIPPED: {', '.join(missing)} is missing; install it with: apt install slurm-wlm munge")
        answers = measured(options)
        if options.out:
            options.out.write_text("".join(json.dumps(one) + "\n" for one in answers))
    table(answers)


if __name__ == "__main__":
    main()
