"""Instances and schedules in the exact integers of makespan: nanoseconds and millionths of weight."""

import heapq
import json
from dataclasses import dataclass
from decimal import Decimal

TICKS = 10**9
MILLIONTHS = 10**6


@dataclass(frozen=True)
class Job:
    """A moldable job; `options` are its allotments with their times in ns, by number of processors, none dominated."""

    name: str
    weight: int
    options: list[tuple[int, int]]


@dataclass(frozen=True)
class Instance:
    processors: int
    jobs: list[Job]


@dataclass(frozen=True)
class Placement:
    """Which allotment a job has, and when it runs, in ns."""

    job: int
    processors: int
    start: int
    end: int


def read(path) -> Instance:
    """Reads what `makespan generate moldable` writes: tables of times, all jobs released at 0."""
    with open(path) as file:
        data = json.load(file, parse_float=Decimal)
    unknown = {key for job in data["jobs"] for key in job} - {"name", "weight", "time"}
    if unknown or "unavailable" in data:
        raise SystemExit(f"{path}: only moldable jobs with tables of times are compared, not {unknown or 'outages'}")
    processors = data["platform"]["processors"]
    jobs = []
    for job in data["jobs"]:
        options, best = [], None
        for count, time in enumerate(job["time"][:processors], start=1):
            ticks = int(Decimal(time) * TICKS)
            if best is None or ticks < best:
                options.append((count, ticks))
                best = ticks
        jobs.append(Job(job["name"], int(Decimal(job.get("weight", 1)) * MILLIONTHS), options))
    return Instance(processors, jobs)


def value(instance: Instance, placements: list[Placement], objective: str) -> int:
    """The makespan in ns, or the weighted completion in millionths times ns."""
    if objective == "makespan":
        return max(placement.end for placement in placements)
    return sum(instance.jobs[placement.job].weight * placement.end for placement in placements)


def shifted_left(instance: Instance, chosen: list[tuple[int, int, int]]) -> list[Placement]:
    """Places jobs at their earliest fit in the order of their starts. `chosen` has (start, job, index of its option).

    No job starts later than it did: those before it end no later than they did. This takes back what rounding of times
    to a coarser unit has cost.
    """
    free = [(0, instance.processors)]  # steps: from this instant on, so many processors are free
    placements = []
    for _, index, option in sorted(chosen):
        processors, time = instance.jobs[index].options[option]
        start = _earliest(free, processors, time)
        _take(free, start, start + time, processors)
        placements.append(Placement(index, processors, start, start + time))
    return placements


def _earliest(free, processors, time):
    start = None
    for at, count in free:
        if count < processors:
            start = None
        elif start is None:
            start = at
        elif at >= start + time:
            break
    return start


def _take(free, start, end, processors):
    for instant in (start, end):
        at = max(index for index, (begin, _) in enumerate(free) if begin <= instant)
        if free[at][0] != instant:
            free.insert(at + 1, (instant, free[at][1]))
    for index, (begin, count) in enumerate(free):
        if start <= begin < end:
            free[index] = (begin, count - processors)


def write_schedule(path, instance: Instance, placements: list[Placement], algorithm: str, bounds: str):
    """Writes Schedule JSON, version 1. `bounds` is the text of the table of bounds that another plan proved."""
    entries, running, free = [], [], list(range(instance.processors))
    heapq.heapify(free)
    for placement in sorted(placements, key=lambda placement: (placement.start, placement.job)):
        while running and running[0][0] <= placement.start:
            for processor in heapq.heappop(running)[2]:
                heapq.heappush(free, processor)
        taken = [heapq.heappop(free) for _ in range(placement.processors)]
        heapq.heappush(running, (placement.end, placement.job, taken))
        name, ids = json.dumps(instance.jobs[placement.job].name), ",".join(map(str, taken))
        start, end = decimal(placement.start, 9), decimal(placement.end, 9)
        entries.append(f'{{"job": {name}, "start": {start}, "end": {end}, "processors": "{ids}"}}')
    makespan = decimal(value(instance, placements, "makespan"), 9)
    weighted = decimal(value(instance, placements, "weighted-completion"), 15)
    with open(path, "w") as file:
        file.write(
            f'{{"version": 1, "algorithm": {json.dumps(algorithm)}, "makespan": {makespan},\n'
            f' "weighted_completion": {weighted}, "bounds": {bounds},\n "placements": [\n  '
            + ",\n  ".join(entries)
            + "]}\n"
        )


def decimal(units: int, places: int) -> str:
    """An exact decimal without an exponent."""
    return f"{Decimal(units).scaleb(-places):f}"
