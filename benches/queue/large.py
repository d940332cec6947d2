#!/usr/bin/env python3
"""Writes the outputs of a cluster of 5,000 nodes with 5,000 running and 10,000 waiting jobs: `makespan queue --from FOLDER` is to answer in 2 s.

    benches/queue/large.py FOLDER [--nodes 5000] [--running 5000] [--waiting 10000] [--seed 1] [--kinds 60|all]

With `--kinds` requests also differ in memory and features: so many kinds of them wait, or each job asks for something else.
"""

import argparse
import random
import time
from pathlib import Path

NODE = "NodeName=n{0} CPUAlloc={1} CPUEfctv=64 CPUTot=64 RealMemory=256000 AllocMem={2} Sockets=2 CoresPerSocket=32 State={3} ThreadsPerCore=1 " \
    "ActiveFeatures={4} Partitions={5} Weight=1\n"
JOB = "JobId={0} JobName=app{1}-{0} UserId=user{2}(1) Priority={3} Account=a{4} QOS=normal JobState={5} Reason=None Dependency=(null) {6} TimeLimit={7}:00:00 " \
    "SubmitTime={8} EligibleTime={8} Partition={9} ReqNodeList=(null) ExcNodeList=(null) {10} NumCPUs={11} MinCPUsNode={12} MinMemoryCPU={13}M " \
    "Features={14} OverSubscribe=OK Licenses=(null) Command=/home/a WorkDir=/home\n"
CONFIGURATION = "SLURM_VERSION = 24.11.5\nSelectType = select/cons_tres\nSelectTypeParameters = CR_CORE_MEMORY\nSchedulerType = sched/backfill\n"


def request(draws):
    """Nodes, processors a node, hours, megabytes a processor, features."""
    nodes = draws.choice([1] * 4 + [2, 4, 8, 16, 32, 64])
    each = draws.randrange(1, 65) if nodes == 1 else draws.randrange(16, 65)
    features = draws.choice(["(null)"] * 4 + ["ib", "avx", "big", "ib&avx", "avx|big"])
    return nodes, each, draws.randrange(1, 25), draws.randrange(500, 4000), features


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name, value in [("nodes", 5000), ("running", 5000), ("waiting", 10000), ("seed", 1)]:
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--kinds", help="how many kinds of requests wait, or all for one a job")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    draws, now = random.Random(options.seed), 1_800_000_000
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
    free, jobs, ended = [64] * options.nodes, [], []
    half = options.nodes // 2
    kinds = [request(draws) for _ in range(int(options.kinds))] if options.kinds and options.kinds != "all" else []
    for number in range(1, options.running + options.waiting + 1):
        application, user = draws.randrange(200), draws.randrange(300)
        nodes = draws.choice([1] * 12 + [2, 4, 8, 16])
        each = draws.choice([64, 32, 16, 8, 4, 1]) if nodes == 1 else 64
        limit, partition = draws.choice([1, 2, 4, 8, 12, 24]), draws.choice(["batch", "batch", "long"])
        head = (number, application, user, draws.randrange(1, 1_000_000), user % 40)
        memory, features = 2048, "(null)"
        if options.kinds and number > options.running:
            nodes, each, limit, memory, features = draws.choice(kinds) if kinds else request(draws)
        sizes = (nodes * each, each, memory, features)
        if number <= options.running:
            places = [node for node in draws.sample(range(options.nodes), 40) if free[node] >= each and (node < half) == (partition == "batch")][:nodes]
            if len(places) < nodes:
                continue
            for node in places:
                free[node] -= each
            ran = draws.randrange(limit * 3000)
            times = f"RunTime=00:00:00 StartTime={stamp(now - ran)} EndTime={stamp(now - ran + limit * 3600)}"
            where = f"NodeList={','.join(f'n{node}' for node in places)} NumNodes={nodes}"
            jobs.append(JOB.format(*head, "RUNNING", times, limit, stamp(now - 90_000), partition, where, *sizes))
        else:
            where = f"NodeList= NumNodes={nodes}-{nodes}"
            jobs.append(JOB.format(*head, "PENDING", "", limit, stamp(now - draws.randrange(90_000)), partition, where, *sizes))
    for number in range(20_000):
        limit = draws.choice([60, 120, 240, 480, 720, 1440])
        spent = int(limit * 60 * draws.uniform(0.05, 1))
        ended.append(f"{900_000 + number}|user{draws.randrange(300)}|a1|batch|{spent}|{limit}|COMPLETED|app{draws.randrange(200)}-{number}\n")
    features = lambda at: ",".join(["ib"] + ["avx"] * (at % 3 > 0) + ["big"] * (at % 5 == 0)) if options.kinds else "ib"
    node = lambda at: NODE.format(at, 64 - free[at], (64 - free[at]) * 2048, "MIXED", features(at), "batch" if at < half else "long")
    write = lambda name, text: (options.folder / name).write_text(text)
    write("scontrol.nodes-d.txt", "".join(node(at) for at in range(options.nodes)))
    write("scontrol.jobs-d.txt", "".join(jobs))
    partition = lambda name, first, last: f"PartitionName={name} Default=NO State=UP MaxTime=2-00:00:00 Nodes=n[{first}-{last}]\n"
    write("scontrol.partitions.txt", partition("batch", 0, half - 1) + partition("long", half, options.nodes - 1))
    write("scontrol.config.txt", CONFIGURATION)
    write("sacct.history.txt", "JobIDRaw|User|Account|Partition|ElapsedRaw|TimelimitRaw|State|JobName\n" + "".join(ended))
    print(f"{len(jobs)} jobs; --at {now}")


if __name__ == "__main__":
    main()
