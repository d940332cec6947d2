#!/usr/bin/env python3
"""Writes the outputs of a small invented cluster, as in examples/queue: 8 nodes of 16 cores, 6 jobs run and 8 wait.

    benches/queue/example.py FOLDER

`makespan queue --from FOLDER` then prints when each job starts and why it waits. All names and numbers are made up here.
"""

import random
import sys
import time
from pathlib import Path

NOW = 1_795_770_000  # 2026-11-27 09:00:00 UTC, a Friday
CORES = 16
NODE = "NodeName={name} CPUAlloc={busy} CPUEfctv=16 CPUTot=16 RealMemory=64000 AllocMem=0 Sockets=2 CoresPerSocket=8 " \
    "State={state} ThreadsPerCore=1 ActiveFeatures=(null) Partitions=batch Weight=1{reason}\n"
JOB = "JobId={id} JobName={name} UserId={user}({number}) Priority={priority} Account={account} QOS=normal JobState={state} " \
    "Reason={reason} Dependency={dependency} TimeLimit={limit} SubmitTime={submitted} EligibleTime={eligible} {times}Partition=batch " \
    "ReqNodeList=(null) ExcNodeList=(null) NodeList={where} NumNodes={nodes} NumCPUs={cores} MinCPUsNode={each} " \
    "MinMemoryNode=0 Features=(null) OverSubscribe=OK Licenses=(null) Command=/home/{user}/{name}.sh WorkDir=/home/{user}\n"
CONFIGURATION = """Configuration data as of {now}
SLURM_VERSION           = 24.11.5
SelectType              = select/cons_tres
SelectTypeParameters    = CR_CORE
SchedulerType           = sched/backfill
SchedulerParameters     = bf_interval=30,bf_window=2880
PriorityType            = priority/multifactor
"""
ASSOCIATIONS = "Current Association Manager state\n" + "".join(f"No {kind} currently cached in Slurm.\n" for kind in ["users", "associations", "QOS"])
PARTITION = "PartitionName=batch Default=YES State=UP MaxTime=2-00:00:00 Nodes=n[1-8]\n"
RESERVATION = "ReservationName=maintenance StartTime={start} EndTime={end} Duration=02:00:00 Nodes=n[1-8] NodeCnt=8 " \
    "Flags=MAINT,SPEC_NODES Users=root State=INACTIVE\n"
# Users, their accounts, and the mean minutes that their jobs take.
USERS = {"ann": ("genomics", 1001), "bob": ("climate", 1002), "cem": ("engines", 1003), "dee": ("genomics", 1004)}
MEANS = {"align": ("ann", 45, 120), "summary": ("ann", 12, 30), "ocean": ("bob", 290, 360), "plot": ("bob", 8, 20),
         "wing": ("cem", 110, 240), "train": ("dee", 400, 720)}
# Jobs that run: name, nodes, cores on each node, minutes since the start.
RUNNING = [("ocean", ["n1", "n2"], 16, 250), ("align", ["n3"], 16, 30), ("align", ["n4"], 16, 10), ("wing", ["n5", "n6"], 16, 60),
           ("train", ["n7"], 4, 180), ("summary", ["n7"], 4, 5)]
# Jobs that wait: name, number of nodes, cores on each node, Slurm's reason, job before it, hours until it may start.
WAITING = [("wing", 4, 16, "Resources", None, 0), ("align", 1, 16, "Priority", None, 0), ("summary", 1, 4, "Dependency", 1, 0),
           ("plot", 1, 4, "Priority", None, 0), ("train", 1, 4, "Priority", None, 0), ("ocean", 8, 16, "Priority", None, 0),
           ("align", 1, 16, "JobHeldUser", None, 0), ("plot", 1, 4, "BeginTime", None, 3)]


def stamp(at):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))


def clock(minutes):
    return f"{minutes // 60:02}:{minutes % 60:02}:00"


def job(number, name, nodes, each, **others):
    user, _, limit = MEANS[name]
    account, uid = USERS[user]
    values = {"dependency": "(null)", "times": "", "where": "", "reason": "None", "limit": clock(limit), **others}
    return JOB.format(id=number, name=name, user=user, number=uid, account=account, nodes=nodes, cores=nodes * each, each=each, **values)


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
    folder.mkdir(parents=True, exist_ok=True)
    draws, jobs, busy = random.Random(1), [], dict.fromkeys([f"n{at}" for at in range(1, 9)], 0)
    for at, (name, where, each, minutes) in enumerate(RUNNING):
        begin = NOW - 60 * minutes
        for node in where:
            busy[node] += each
        end = begin + 60 * MEANS[name][2]
        times = f"RunTime={clock(minutes)} StartTime={stamp(begin)} EndTime={stamp(end)} "
        early = stamp(begin - 600)
        jobs.append(job(4101 + at, name, len(where), each, priority=9000 - at, state="RUNNING", submitted=early, eligible=early,
                        times=times, where=",".join(where)))
    first = 4101 + len(RUNNING)
    for at, (name, nodes, each, reason, before, hours) in enumerate(WAITING):
        submitted = NOW - 60 * (55 - 6 * at)
        held = reason == "JobHeldUser"
        dependency = "(null)" if before is None else f"afterok:{first + before}(unfulfilled)"
        begin = stamp(NOW + 3600 * hours)
        times = f"StartTime={begin} " if hours else ""
        jobs.append(job(first + at, name, nodes, each, priority=0 if held else 8000 - 10 * at, state="PENDING", reason=reason,
                        dependency=dependency, times=times, submitted=stamp(submitted), eligible=begin if hours else stamp(submitted)))
    ended = []
    for number in range(60):
        name = draws.choice(list(MEANS))
        user, mean, limit = MEANS[name]
        spent = round(60 * mean * draws.uniform(0.7, 1.3))
        ended.append(f"{4000 + number}|{user}|{USERS[user][0]}|batch|{min(spent, 60 * limit)}|{limit}|COMPLETED|{name}\n")
    state = lambda node: "IDLE+DRAIN" if node == "n8" else "ALLOCATED" if busy[node] == CORES else "MIXED" if busy[node] else "IDLE"
    reason = lambda node: f" Reason=fan is broken [root@{stamp(NOW - 86400)}]" if node == "n8" else ""
    files = {
        "scontrol.nodes-d.txt": "".join(NODE.format(name=node, busy=cores, state=state(node), reason=reason(node))
                                        for node, cores in busy.items()),
        "scontrol.jobs-d.txt": "".join(jobs),
        "scontrol.partitions.txt": PARTITION,
        "scontrol.reservations.txt": RESERVATION.format(start=stamp(NOW + 9 * 3600), end=stamp(NOW + 11 * 3600)),
        "scontrol.licenses.txt": "No licenses configured in Slurm.\n",
        "scontrol.assoc.txt": ASSOCIATIONS,
        "scontrol.config.txt": CONFIGURATION.format(now=stamp(NOW)),
        "sacct.history.txt": "JobIDRaw|User|Account|Partition|ElapsedRaw|TimelimitRaw|State|JobName\n" + "".join(ended),
    }
    for name, text in files.items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
