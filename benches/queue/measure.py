#!/usr/bin/env python3
"""Records what a real Slurm does with 120 jobs: what it showed every few seconds, and when each job then started.

    benches/queue/measure.py FOLDER [--jobs 120] [--seed 7] [--every 5] [--port 28817] [--fair-share]

Needs slurmctld, slurmd and munged (Debian: slurm-wlm munge). It takes about five minutes. With `--fair-share`, four users of two accounts
submit the jobs, and the fair share decides their order; this needs root, mariadb-server and slurmdbd. `evaluate.py FOLDER` judges the record.
"""

import argparse
import random
import sys
import time
from pathlib import Path

from cluster import ACCOUNTS, Cluster, FairShareCluster

APPLICATIONS = 12


def workload(count, seed):
    """Jobs of twelve applications: name, nodes, processors a node, seconds that it runs, minutes that it may run, when it comes."""
    draws = random.Random(seed)
    means = [draws.uniform(2, 18) for _ in range(APPLICATIONS)]
    clock, jobs = 0.0, []
    for _ in range(count):
        clock += draws.expovariate(1 / 1.75)
        application = draws.randrange(APPLICATIONS)
        nodes = draws.choice([1, 1, 1, 1, 1, 2, 3, 4, 8, 16])
        each = 8 if nodes > 1 else draws.choice([1, 2, 4, 8])
        runs = max(1.0, min(20.0, draws.gauss(means[application], 0.25 * means[application])))
        name = f"u{application % 4}-app{application}"
        jobs.append((name, nodes, each, round(runs, 1), draws.choice([1, 1, 1, 2, 3]), clock))
    return jobs


def snapshot(cluster, folder, number):
    """What Slurm shows now, in files as `makespan queue --from` takes them, and what it expects itself."""
    place = folder / f"s{number:04}"
    place.mkdir()
    now = time.time()
    show = ["scontrol", "-o", "-d", "show"]
    (place / "scontrol.jobs-d.txt").write_text(cluster.run(*show, "jobs"))
    (place / "scontrol.nodes-d.txt").write_text(cluster.run(*show, "nodes"))
    (place / "scontrol.partitions.txt").write_text(cluster.run("scontrol", "-o", "show", "partitions"))
    (place / "scontrol.assoc.txt").write_text(cluster.run("scontrol", "-o", "show", "assoc_mgr"))
    (place / "scontrol.config.txt").write_text(cluster.run("scontrol", "show", "config"))
    (place / "start").write_text(cluster.run("squeue", "--start", "-r", "-h", "-o", "%i|%S"))
    (place / "now").write_text(f"{now:.3f}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=120)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--every", type=float, default=5)
    parser.add_argument("--port", type=int, default=28817, help="the first of the ports of the daemons")
    parser.add_argument("--fair-share", action="store_true", help="users of accounts submit, and the fair share decides their order")
    options = parser.parse_args()
    options.folder.mkdir(parents=True)
    kind = FairShareCluster if options.fair_share else Cluster
    cluster = kind(options.folder / "cluster", 16, 8, options.port)
    try:
        cluster.start()
        record(cluster, options)
    finally:
        cluster.stop()


def record(cluster, options):
    """Submits, and looks in between, until nothing waits or runs."""
    waiting = workload(options.jobs, options.seed)
    # The first users submit most jobs.
    users = [(name, account) for account, names in ACCOUNTS.items() for name in names]
    owners = random.Random(options.seed).choices(users, weights=[5, 1, 3, 1], k=options.jobs)
    begun = time.time()
    number, next_look = 0, options.every
    while True:
        clock = time.time() - begun
        while waiting and waiting[0][5] <= clock:
            name, nodes, each, runs, minutes, _ = waiting.pop(0)
            user, account = owners[len(waiting)]
            owner = [f"--uid={user}", "-A", account, "-D", "/"] if options.fair_share else []
            cluster.run(
                "sbatch", *owner, "--parsable", "-o", "/dev/null", "-J", name, "-N", str(nodes), f"--ntasks-per-node={each}", "-t",
                str(minutes), "--wrap", f"sleep {runs}",
            )
        if clock >= next_look:
            snapshot(cluster, options.folder, number)
            number, next_look = number + 1, next_look + options.every
            if not waiting and not cluster.run("squeue", "-h", "-t", "PD,R,CG,CF", "-o", "%i").strip():
                break
        time.sleep(0.1)
    ended = (options.folder / "cluster/log/jobcomp.txt").read_text()
    (options.folder / "jobcomp.txt").write_text(ended)
    print(f"{number} looks at {options.jobs} jobs in {options.folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
