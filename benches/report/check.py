#!/usr/bin/env python3
"""Computes the monthly report of an SWF log from the definitions in docs/report.md, and compares it with `makespan report`.

    benches/report/check.py LOG.swf.gz [--makespan target/release/makespan] [--by user,partition]

Uses no code of Makespan and needs only Python. Prints the number of figures in JSON and CSV and the figures that differ, and exits
with status 1 if there are any. Sums are exact (rational numbers), so figures must agree up to the rounding of the output.
"""

import argparse
import csv
import datetime
import gzip
import io
import json
import subprocess
import sys
import zoneinfo
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

# Fields of the Standard Workload Format, counted from 0.
SUBMITTED, WAIT, RUN, PROCESSORS, REQUESTED_PROCESSORS, REQUESTED_TIME, STATUS = 1, 2, 3, 4, 7, 8, 10
GROUPS = {"user": 11, "partition": 15}
SUCCEEDED, UNKNOWN = 1, -1
NO_DATE = "no date"
TOLERANCE = 1e-12


class Group:
    """The jobs of a group in a section, and the part of their run times within the section."""

    def __init__(self):
        self.ended, self.ran = [], []

    def figures(self, capacity):
        """The figures by their names in the CSV table. `None` is unknown."""
        waits = sorted(job["wait"] for job in self.ended if job["wait"] is not None)
        known = [job for job in self.ended if job["failed"] is not None]
        limited = [job for job in self.ended if job["limit"] is not None and job["run"] is not None]
        limits = sum(job["limit"] for job in limited)
        used = sum(seconds * job["processors"] for job, seconds in self.ran)
        ends = [(job, seconds) for job, seconds in self.ran if job["failed"] is not None]
        failed = sum(seconds * job["processors"] for job, seconds in ends if job["failed"])

        def percentile(percent):
            return waits[-(-percent * len(waits) // 100) - 1] if waits else None

        return {
            "jobs": len(self.ended),
            "core_hours": Fraction(used, 3600),
            "known_waits": len(waits),
            "wait_mean_seconds": Fraction(sum(waits), len(waits)) if waits else None,
            "wait_median_seconds": percentile(50),
            "wait_p95_seconds": percentile(95),
            "utilisation": Fraction(used, capacity) if capacity else None,
            "known_ends": len(known),
            "died_at_limit": sum(job["died"] for job in known) if known or not self.ended else None,
            "limit_used": Fraction(sum(job["run"] for job in limited), limits) if limits else None,
            "failed_core_hours": Fraction(failed, 3600) if ends or not self.ran else None,
        }


def read(path):
    """The header lines and the jobs of a log."""
    header, jobs = {}, []
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", errors="replace") as lines:
        for line in lines:
            if line.startswith(";"):
                key, _, value = line.lstrip("; ").partition(":")
                header.setdefault(key.strip(), value.strip())
                continue
            fields = [int(float(word)) for word in line.split()]
            if not fields:
                continue
            run = fields[RUN] if fields[RUN] >= 0 else None
            limit = fields[REQUESTED_TIME] if fields[REQUESTED_TIME] > 0 else None
            failed = None if fields[STATUS] == UNKNOWN else fields[STATUS] != SUCCEEDED
            processors = fields[PROCESSORS] if fields[PROCESSORS] > 0 else fields[REQUESTED_PROCESSORS]
            if processors <= 0:
                continue
            jobs.append({
                "submitted": fields[SUBMITTED],
                "wait": fields[WAIT] if fields[WAIT] >= 0 else None,
                "run": run,
                "processors": processors,
                "limit": limit,
                "failed": failed,
                "died": bool(failed) and None not in (run, limit) and run >= limit,
                **{name: str(fields[field]) if fields[field] >= 0 else "" for name, field in GROUPS.items()},
            })
    return header, jobs


def months(zone, first, last):
    """Name, begin and end of each month of the calendar from `first` to `last`, in seconds since 1970."""
    at = datetime.datetime.fromtimestamp(first, zone)
    year, month, begin, all = at.year, at.month, first, []
    while begin < last or not all:
        name = f"{year}-{month:02}"
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        end = min(int(datetime.datetime(year, month, 1, tzinfo=zone).timestamp()), last)
        all.append((name, begin, end))
        begin = end
    return all


def report(header, jobs, by):
    """The figures by (month, property, name). The month of the whole log is an empty text."""
    zero = int(header["UnixStartTime"])
    zone = zoneinfo.ZoneInfo(header["TimeZoneString"])
    size = int(header["MaxProcs"])
    first = min(job["submitted"] for job in jobs)
    last = max(job["submitted"] + (job["wait"] or 0) + (job["run"] or 0 if job["wait"] is not None else 0) for job in jobs)
    periods = months(zone, zero + first, zero + last)
    groups = defaultdict(Group)

    def of(month, job):
        yield groups[month, "total", ""]
        for name in by:
            yield groups[month, name, job[name]]

    for job in jobs:
        for group in of("", job):
            group.ended.append(job)
            group.ran.append((job, job["run"] or 0))
        if job["wait"] is None or job["run"] is None:
            for group in of(NO_DATE, job):
                group.ended.append(job)
                group.ran.append((job, job["run"] or 0))
            continue
        begin = zero + job["submitted"] + job["wait"]
        end = begin + job["run"]
        for name, start, stop in periods:
            part = min(end, stop) - max(begin, start)
            is_last = start <= end < stop or (end >= stop and name == periods[-1][0])
            for group in of(name, job) if part > 0 or is_last else ():
                if part > 0:
                    group.ran.append((job, part))
                if is_last:
                    group.ended.append(job)
    lengths = {name: stop - start for name, start, stop in periods} | {"": last - first, NO_DATE: 0}
    return {key: group.figures(lengths[key[0]] * size) for key, group in groups.items()}


def flat(figures):
    """The figures of a group in JSON, by their names in the CSV table."""
    wait = figures["wait"] or {}
    return figures | {f"wait_{name}_seconds": wait.get(name) for name in ["mean", "median", "p95"]}


def of_json(text):
    found = {}
    for section in json.loads(text)["sections"]:
        month = section["month"] or ("" if section["begin"] else NO_DATE)
        found[month, "total", ""] = flat(section["total"])
        for by, groups in section.get("groups", {}).items():
            for group in groups:
                found[month, by, group["name"] or ""] = flat(group)
    return found


def of_csv(text):
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        key = row.pop("month"), row.pop("by"), row.pop("name")
        found[key] = {name: float(value) if value else None for name, value in row.items()}
    return found


def is_equal(own, other):
    if own is None or other is None:
        return own is other
    return abs(float(own) - float(other)) <= TOLERANCE * max(1.0, abs(float(own)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("--makespan", default="target/release/makespan")
    parser.add_argument("--by", default="user")
    options = parser.parse_args()
    by = options.by.split(",")
    expected = report(*read(options.log), by)
    wrong = 0
    for name, parse in [("json", of_json), ("csv", of_csv)]:
        words = ["report", str(options.log), "--by", options.by, "--month", "--format", name]
        found = parse(subprocess.run([options.makespan, *words], check=True, capture_output=True, text=True).stdout)
        different = [(key, None, None, None) for key in expected.keys() ^ found.keys()]
        for key in expected.keys() & found.keys():
            own = expected[key]
            different += [(key, figure, own[figure], found[key].get(figure)) for figure in own if not is_equal(own[figure], found[key].get(figure))]
        sections = len({key[0] for key in expected})
        figures = sum(map(len, expected.values()))
        print(f"{name}: {sections} sections, {len(expected)} groups, {figures} figures, {len(different)} different")
        for key, figure, own, other in sorted(different, key=str)[:20]:
            print(f"  {key} {figure}: {own if own is None else float(own)} expected, {other} found")
        wrong += len(different)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
