#!/usr/bin/env python3
"""Compares the reasons that `makespan queue` states in a record of a real Slurm with what Slurm did.

    benches/queue/reasons.py RECORD [--makespan target/release/makespan] [--within 3]

RECORD is a folder that `measure.py` made. For each pending job in each saved queue, prints which reason Makespan states first, and which
word Slurm states. Then, for the last saved queue before the start of each job: how often the last of the jobs that Makespan names as ending
before the start did end within the stated seconds of the start. The exit status is 1 if a reason contradicts the saved queue: if a job that
is said to have jobs before it has none with a higher or equal priority that were submitted earlier, or if a named job has already ended.
"""

import argparse
import collections
from pathlib import Path

from cluster import completed
from evaluate import answer, seconds

# Slurm states `None` until it has considered a job, and `Priority` for all jobs but the first of a partition.
COMPATIBLE = {kind: {"Priority", "Resources", "None"} for kind in ["priority", "resources", "next"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    parser.add_argument("--makespan", default="target/release/makespan")
    parser.add_argument("--within", type=float, default=3)
    options = parser.parse_args()
    ended = completed(options.record / "jobcomp.txt").items()
    times = {job: (seconds(fields["StartTime"]), seconds(fields["EndTime"])) for job, fields in ended}
    pairs, last, wrong = collections.Counter(), {}, []
    for look in sorted(options.record.glob("s[0-9]*")):
        now = float((look / "now").read_text())
        queue = answer(options, look, now, ["--no-history"])
        waiting = {job["job"]: job for job in queue["waiting"]}
        running = {job["job"] for job in queue["running"]}
        for name, job in waiting.items():
            reason = job["reasons"][0]
            slurm = job["slurm_reason"] or "None"
            pairs[reason["kind"], slurm] += 1
            if slurm not in COMPATIBLE.get(reason["kind"], {slurm}):
                wrong.append(f"{look.name}: job {name}: {reason['text']}; Slurm: {slurm}")
            before = [one for one in waiting.values() if one["priority"] >= job["priority"] and one["job"] != name]
            if reason["kind"] == "priority" and not before:
                wrong.append(f"{look.name}: job {name} is first in the queue, but: {reason['text']}")
            gone = [one for one in job["after"] if one not in running and one not in waiting]
            if gone:
                wrong.append(f"{look.name}: job {name} waits for ended jobs {gone}: {reason['text']}")
            last[name] = (now, job)
    print("| first reason | Slurm's word | times |\n|---|---|---|")
    for (kind, slurm), count in sorted(pairs.items(), key=lambda one: -one[1]):
        print(f"| {kind} | {slurm} | {count} |")
    near, named, errors = 0, 0, []
    for name, (now, job) in last.items():
        start = times.get(name, (None,))[0]
        ends = [times[one][1] for one in job["after"] if one in times and times[one][1]]
        if start is None or not ends:
            continue
        named += 1
        near += -1 <= start - max(ends) <= options.within
        errors.append(start - max(ends))
    errors.sort()
    print(f"\n{named} jobs with named jobs in the last saved queue before their start; the last named job ended at most {options.within:g} s "
          f"before the start for {near} ({near / max(1, named):.0%}); start minus end: median {errors[len(errors) // 2] if errors else 0} s")
    print(f"{len(wrong)} of {sum(pairs.values())} reasons contradict the saved queue or Slurm's word")
    for line in wrong[:20]:
        print("  " + line)
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
