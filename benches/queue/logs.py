#!/usr/bin/env python3
"""Forecasts at random instants of a simulated log, as a record for `evaluate.py`.

    benches/queue/logs.py LOG.swf FOLDER [--makespan target/release/makespan] [--looks 1000] [--lines 12000] [--seed 1]

Simulates the log under the policy `slurm`. At each of the random instants, writes what Slurm's commands would print: the jobs that run
or wait, and the jobs that have ended. Each processor is a node. `evaluate.py FOLDER` compares the forecasts with the simulated starts.
"""

import argparse
import bisect
import csv
import gzip
import random
import subprocess
import time
from pathlib import Path

BASE = 1_000_000_000
PAST = 2000
CONFIGURATION = "SLURM_VERSION = 24.11.5\nSchedulerType = sched/backfill\nSelectType = select/cons_tres\nSelectTypeParameters = CR_CPU\n"
PARTITION = "PartitionName=p Default=YES State=UP MaxTime=UNLIMITED Nodes=n[1-{nodes}]\n"
NODE = "NodeName=n{node} CPUAlloc={busy} CPUEfctv=1 CPUTot=1 RealMemory=64000 AllocMem=0 Sockets=1 CoresPerSocket=1 State={state} " \
    "ThreadsPerCore=1 Partitions=p Weight=1\n"
JOB = "JobId={id} JobName={name} UserId={user}(1000) Priority={priority} Account=a QOS=normal JobState={state} Reason=Priority " \
    "Dependency=(null) TimeLimit={limit} SubmitTime={submitted} EligibleTime={submitted} {times}Partition=p ReqNodeList=(null) " \
    "ExcNodeList=(null) NodeList={where} NumNodes={nodes} NumCPUs={nodes} MinCPUsNode=1 MinMemoryNode=0 Features=(null) OverSubscribe=OK " \
    "Licenses=(null) Command=/x WorkDir=/x\n"


def stamp(at):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(BASE + at))


def limit(seconds):
    minutes = -(-seconds // 60)
    return f"{minutes // 1440}-{minutes // 60 % 24:02}:{minutes % 60:02}:00"


def simulated(options):
    """The jobs of the log with their simulated starts, in the order of submission, and the number of processors."""
    opened = gzip.open if options.log.suffix == ".gz" else open
    with opened(options.log, "rt", errors="replace") as file:
        lines = [line for _, line in zip(range(options.lines), file)]
    part = options.folder / "log.swf"
    part.write_text("".join(lines))
    processors = next(int(line.split(":")[1]) for line in lines if "MaxProcs" in line)
    nodes = ["--platform", f"{processors}x1"]
    command = [options.makespan, "simulate", str(part), *nodes, "--policy", "slurm", "--kill-at-walltime", "--jobs", str(options.folder / "jobs.csv")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    fields = {line.split()[0]: line.split() for line in lines if not line.startswith(";")}
    jobs = []
    with open(options.folder / "jobs.csv") as file:
        for row in csv.DictReader(file):
            own = fields[row["job_id"]]
            start, end = float(row["starting_time"]), float(row["finish_time"])
            places = [range(*(int(end) + (at == 1) for at, end in enumerate((part + "-" + part).split("-")[:2])))
                      for part in row["allocated_resources"].split()]
            jobs.append({"id": int(row["job_id"]), "submitted": int(float(row["submission_time"])), "start": int(start), "end": int(end),
                         "limit": int(float(row["requested_time"])), "nodes": [place + 1 for part in places for place in part],
                         "user": f"u{own[11]}", "name": f"x{own[13]}" if own[13] != "-1" else "job"})
    jobs.sort(key=lambda job: (job["submitted"], job["id"]))
    return jobs, processors


def write(folder, jobs, ended, processors, now):
    """Writes one look: `jobs` contains the jobs that run or wait, in order of priority."""
    folder.mkdir()
    busy, lines = set(), []
    for at, job in enumerate(jobs):
        runs = job["start"] <= now
        shared = {"id": job["id"], "name": job["name"], "user": job["user"], "priority": 1_000_000 - at, "limit": limit(job["limit"]),
                  "submitted": stamp(job["submitted"]), "nodes": len(job["nodes"])}
        if runs:
            busy.update(job["nodes"])
            spent = now - job["start"]
            times = f"RunTime={spent // 86400}-{spent // 3600 % 24:02}:{spent // 60 % 60:02}:{spent % 60:02} " \
                f"StartTime={stamp(job['start'])} EndTime={stamp(job['start'] + 60 * -(-job['limit'] // 60))} "
            where = "n[" + ",".join(map(str, job["nodes"])) + "]"
            lines.append(JOB.format(state="RUNNING", times=times, where=where, **shared))
        else:
            lines.append(JOB.format(state="PENDING", times="", where="", **shared))
    node = lambda number: NODE.format(node=number, busy=int(number in busy), state="ALLOCATED" if number in busy else "IDLE")
    past = [f"{job['id']}|{job['user']}|a|p|{job['end'] - job['start']}|{-(-job['limit'] // 60)}|COMPLETED|{job['name']}\n" for job in ended]
    (folder / "scontrol.jobs-d.txt").write_text("".join(lines))
    (folder / "scontrol.nodes-d.txt").write_text("".join(node(number) for number in range(1, processors + 1)))
    (folder / "scontrol.partitions.txt").write_text(PARTITION.format(nodes=processors))
    (folder / "scontrol.config.txt").write_text(CONFIGURATION)
    (folder / "sacct.history.txt").write_text("JobIDRaw|User|Account|Partition|ElapsedRaw|TimelimitRaw|State|JobName\n" + "".join(past))
    (folder / "start").write_text("")
    (folder / "now").write_text(f"{BASE + now}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--makespan", default="target/release/makespan")
    parser.add_argument("--looks", type=int, default=1000)
    parser.add_argument("--lines", type=int, default=12000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True)
    jobs, processors = simulated(options)
    starts = [f"JobId={job['id']} StartTime={stamp(job['start'])}\n" for job in jobs]
    (options.folder / "jobcomp.txt").write_text("".join(starts))
    ends = sorted(jobs, key=lambda job: job["end"])
    instants = [job["end"] for job in ends]
    # At the last submission, the log stops, and no job comes after it. So looks end a day earlier.
    first, last = jobs[len(jobs) // 20]["submitted"], jobs[-1]["submitted"] - 86_400
    draws = random.Random(options.seed)
    looks = []
    while len(looks) < options.looks:
        now = draws.randrange(first, last)
        present = [job for job in jobs if job["submitted"] <= now < job["end"]]
        if any(job["start"] > now for job in present):
            looks.append((now, present))
    for number, (now, present) in enumerate(sorted(looks, key=lambda look: look[0])):
        at = bisect.bisect_right(instants, now)
        write(options.folder / f"s{number:04}", present, ends[max(0, at - PAST):at], processors, now)


if __name__ == "__main__":
    main()
