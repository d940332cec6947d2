#!/usr/bin/env python3
"""How often `makespan queue` predicts the starts in the next cycle, and the nodes of jobs.

    benches/queue/nodes.py RECORD.. [--makespan target/release/makespan]

RECORD is a folder that `measure.py` made. Counts the answers "starts in the next cycle", those after which the job started within 3 s, and
those after which it also got the predicted nodes. For each job, also takes the last saved queue in which the job waits, and counts the jobs
that got the nodes that were predicted then.
"""

import argparse
import re
from pathlib import Path

from cluster import completed
from evaluate import answer, seconds

def hosts(text):
    """The numbers in a list of nodes such as `n[0-3,7]`."""
    numbers = set()
    for low, high in re.findall(r"(\d+)(?:-(\d+))?", text):
        numbers |= set(range(int(low), int(high or low) + 1))
    return numbers


def counts(record, options):
    """The number of answers, of jobs that started within 3 s, and of those on the predicted nodes; and of all jobs likewise."""
    happened, last = completed(record / "jobcomp.txt"), {}
    answers = started = on_nodes = 0
    for look in sorted(record.glob("s[0-9]*")):
        now = float((look / "now").read_text())
        for job in answer(options, look, now, ["--no-history", "--draws", "0"])["waiting"]:
            fields = happened.get(str(job["id"]))
            if fields is None or seconds(fields["StartTime"]) is None:
                continue
            is_equal = hosts(fields["NodeList"]) == hosts(",".join(job["nodes"]))
            last[job["id"]] = is_equal
            if job["reasons"][0]["kind"] == "next":
                has_started = seconds(fields["StartTime"]) <= now + 3
                answers, started, on_nodes = answers + 1, started + has_started, on_nodes + (has_started and is_equal)
    return answers, started, on_nodes, len(last), sum(last.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="+", metavar="RECORD")
    parser.add_argument("--makespan", default="target/release/makespan")
    options = parser.parse_args()
    print("| record | answers `next` | started within 3 s | on the predicted nodes | jobs | on the nodes predicted last |")
    print("|---|---|---|---|---|---|")
    for record in options.records:
        print(f"| {record.name} | " + " | ".join(map(str, counts(record, options))) + " |")


if __name__ == "__main__":
    main()
