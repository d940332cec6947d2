#!/usr/bin/env python3
"""Prints what part of their limits jobs use in logs of the Parallel Workloads Archive, as the constant in crates/makespan-slurm/src/forecast/usual.rs.

    benches/queue/usual.py LOG.swf.gz LOG.swf.gz.. [--parts 20]

Each log has the same weight, however many jobs it has. Jobs count that have a limit and a run time; one that ran beyond its limit used all of it.
The constant was made from KTH-SP2-1996, CTC-SP2-1996 and HPC2N-2002-2.1-cln.
"""

import argparse
import gzip
from pathlib import Path

# Fields of the Standard Workload Format, counted from 0.
RUN_TIME, REQUESTED_TIME = 3, 8
# So many values stand in a line of the constant.
LINE = 16


def used(path):
    """The part of its limit that each job used, ascending."""
    opened = gzip.open if path.suffix == ".gz" else open
    parts = []
    with opened(path, "rt", errors="replace") as lines:
        for line in lines:
            if line.startswith(";") or not line.strip():
                continue
            fields = line.split()
            runs, limit = float(fields[RUN_TIME]), float(fields[REQUESTED_TIME])
            if runs >= 0 and limit > 0:
                parts.append(min(1.0, runs / limit))
    return sorted(parts)


def quantiles(logs, count):
    """Values in the middle of so many equal parts of all jobs, where each log counts the same."""
    weighted = sorted((part, 1 / len(log) / len(logs)) for log in logs for part in log)
    values, sum = [], 0.0
    for part, weight in weighted:
        sum += weight
        while len(values) < count and sum >= (len(values) + 0.5) / count:
            values.append(part)
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", type=Path, nargs="+")
    parser.add_argument("--parts", type=int, default=20)
    options = parser.parse_args()
    logs = [used(path) for path in options.logs]
    for path, log in zip(options.logs, logs):
        print(f"// {path.name.split('.')[0]}: {len(log)} jobs, mean {sum(log) / len(log):.3f}")
    values = [f"{value:.3f}" for value in quantiles(logs, options.parts)]
    print(f"pub(super) const USUAL: [f64; {len(values)}] = [")
    for first in range(0, len(values), LINE):
        print(f"    {', '.join(values[first:first + LINE])},")
    print("];")


if __name__ == "__main__":
    main()
