"""Projects and graphs of moldable tasks: one compound job whose tasks hold processors and other resources in one of several modes.

Times are in whole units of 1 ms, so that a solution of a model is a schedule of the instance, exactly.
"""

import heapq
import json
import math
from dataclasses import dataclass
from decimal import Decimal

UNIT = 1000  # units a second


@dataclass(frozen=True)
class Mode:
    """A way to carry a task out: processors, units of time, and what it holds of each resource."""

    processors: int
    time: int
    held: tuple[int, ...]


@dataclass
class Task:
    """Its name and its modes, of which none is as fast as another and holds at least as much."""

    name: str
    modes: list[Mode]


@dataclass
class Project:
    """An instance as the models take it. `capacities`: of each resource how much there is and whether it comes back."""

    job: str
    processors: int
    capacities: list[tuple[int, bool]]
    tasks: list[Task]
    edges: list[tuple[int, int]]

    def before(self):
        return _neighbours(len(self.tasks), ((to, source) for source, to in self.edges))

    def behind(self):
        return _neighbours(len(self.tasks), self.edges)

    def is_moldable(self):
        """Whether tasks hold processors alone, and may have several numbers of them."""
        return not self.capacities and any(len(task.modes) > 1 for task in self.tasks)

    def has_scarce_processors(self):
        return sum(max(mode.processors for mode in task.modes) for task in self.tasks) > self.processors


def _neighbours(count, pairs):
    found = [[] for _ in range(count)]
    for at, other in pairs:
        found[at].append(other)
    return found


def read(path) -> Project:
    """Reads a native file with one compound job whose tasks have tables of times, without releases, links and data."""
    with open(path) as file:
        data = json.load(file, parse_float=Decimal)
    if len(data["jobs"]) != 1 or "unavailable" in data:
        raise SystemExit(f"{path}: only one compound job without closed processors is compared")
    job, platform = data["jobs"][0], data["platform"]
    processors = platform.get("processors") or platform["nodes"] * platform["processors_per_node"]
    names, capacities = [], []
    for key, comes_back in (("licences", True), ("consumables", False)):
        for name, amount in platform.get(key, {}).items():
            names.append(name)
            capacities.append((amount, comes_back))
    index, tasks = {}, []
    for at, task in enumerate(job["tasks"]):
        index[task["name"]] = at
        tasks.append(Task(task["name"], _modes(path, task, names, processors)))
    edges = [(index[edge["from"]], index[edge["to"]]) for edge in job.get("edges", [])]
    return Project(job["name"], processors, capacities, tasks, edges)


def _modes(path, task, names, processors):
    """The modes that no other one beats."""
    times = task.get("time")
    if times is None:
        raise SystemExit(f"{path}: task {task['name']} has no table of times")
    least = 1
    if not isinstance(times, list):
        least, times = task.get("processors", 1), [times]
    modes = []
    for count, time in enumerate(times[:processors], start=least):
        needs = task.get("needs", {})
        held = tuple(_amount(needs.get(name, 0), count - least) for name in names)
        units = Decimal(time) * UNIT
        if units != int(units):
            raise SystemExit(f"{path}: times of {task['name']} are no whole milliseconds")
        mode = Mode(count, int(units), held)
        beaten = any(
            other.time <= mode.time and all(a <= b for a, b in zip(other.held, mode.held)) for other in modes
        )
        if not beaten:
            modes.append(mode)
    return modes


def _amount(need, at):
    return need[at] if isinstance(need, list) else need


def tabulate(source, target):
    """Writes a graph whose tasks follow laws as one with tables of times, rounded up to whole milliseconds."""
    with open(source) as file:
        data = json.load(file)
    for job in data["jobs"]:
        for task in job["tasks"]:
            law = task.pop("speedup")
            most = task.pop("processors")["max"]
            work, least, times = task.pop("work"), math.inf, []
            for count in range(1, most + 1):
                least = min(least, math.ceil(work * fraction(law, count) * UNIT - 1e-9))
                times.append(least / UNIT)
            task["time"] = times
    with open(target, "w") as file:
        json.dump(data, file)


def fraction(law, n):
    """The time on n processors over that on one: Amdahl's and Downey's laws."""
    if "amdahl" in law:
        serial = law["amdahl"] if isinstance(law["amdahl"], (int, float)) else law["amdahl"]["serial"]
        return serial + (1 - serial) / n
    a, sigma = law["downey"]["parallelism"], law["downey"]["sigma"]
    if sigma <= 1:
        if n <= a:
            return (a + sigma / 2 * (n - 1)) / (a * n)
        if n <= 2 * a - 1:
            return (sigma * (a - 0.5) + n * (1 - sigma / 2)) / (a * n)
        return 1 / a
    if n <= a + a * sigma - sigma:
        return (sigma * (n + a - 1) + a) / (n * a * (sigma + 1))
    return 1 / a


def greedy(project: Project):
    """A schedule to start from, as (start, mode) of each task: the best of serial lists over a sweep of targets for the times of
    tasks, in the order of the longest paths behind; `None` where no target leaves enough of what is used up."""
    behind = project.behind()
    order = _topological(project)
    shortest = [min(mode.time for mode in task.modes) for task in project.tasks]
    longest = [max(mode.time for mode in task.modes) for task in project.tasks]
    target, best = min(shortest), None
    while True:
        picks = [_within(task.modes, target) for task in project.tasks]
        if _is_enough(project, picks):
            rank = [0] * len(project.tasks)
            for at in reversed(order):
                rank[at] = project.tasks[at].modes[picks[at]].time + max((rank[to] for to in behind[at]), default=0)
            starts = _serial(project, picks, rank)
            end = max(start + task.modes[pick].time for start, pick, task in zip(starts, picks, project.tasks))
            if best is None or end < best[0]:
                best = (end, list(zip(starts, picks)))
        if target > max(longest):
            return best and best[1]
        target = max(target + 1, int(target * 1.3))


def _within(modes, target):
    """The thriftiest mode that is no longer than the target; the shortest where none is."""
    short = [at for at, mode in enumerate(modes) if mode.time <= target]
    key = lambda at: (modes[at].processors * modes[at].time + sum(modes[at].held), at)
    return min(short, key=key) if short else min(range(len(modes)), key=lambda at: modes[at].time)


def _is_enough(project, picks):
    for resource, (capacity, comes_back) in enumerate(project.capacities):
        used = sum(task.modes[pick].held[resource] for task, pick in zip(project.tasks, picks))
        if not comes_back and used > capacity:
            return False
    return True


def _topological(project):
    missing = [len(before) for before in project.before()]
    behind, order = project.behind(), []
    ready = [at for at, count in enumerate(missing) if count == 0]
    while ready:
        at = ready.pop()
        order.append(at)
        for to in behind[at]:
            missing[to] -= 1
            if missing[to] == 0:
                ready.append(to)
    return order


def _serial(project, picks, rank):
    """Serial insertion, always the task of the highest rank of those whose predecessors are placed."""
    before, behind = project.before(), project.behind()
    missing = [len(sources) for sources in before]
    ready = [(-rank[at], at) for at, count in enumerate(missing) if count == 0]
    heapq.heapify(ready)
    limits = [project.processors] + [capacity for capacity, comes_back in project.capacities if comes_back]
    instants, free = [0], [list(limits)]
    starts = [0] * len(picks)
    while ready:
        at = heapq.heappop(ready)[1]
        mode = project.tasks[at].modes[picks[at]]
        ends = [starts[source] + project.tasks[source].modes[picks[source]].time for source in before[at]]
        asked = [mode.processors] + [
            held for held, (_, comes_back) in zip(mode.held, project.capacities) if comes_back
        ]
        starts[at] = _place(instants, free, max(ends, default=0), mode.time, asked)
        for to in behind[at]:
            missing[to] -= 1
            if missing[to] == 0:
                heapq.heappush(ready, (-rank[to], to))
    return starts


def _place(instants, free, ready, time, asked):
    """Holds what is asked for at the earliest fit and tells it. `free[k]` is free from `instants[k]` to the next."""
    _cut(instants, free, ready)
    start = None
    for at, instant in enumerate(instants):
        if instant < ready:
            continue
        if any(a > f for a, f in zip(asked, free[at])):
            start = None
        elif start is None:
            start = instant
        if start is not None and (at + 1 == len(instants) or instants[at + 1] >= start + time):
            break
    _cut(instants, free, start + time)
    for at, instant in enumerate(instants):
        if start <= instant < start + time:
            free[at] = [f - a for f, a in zip(free[at], asked)]
    return start


def _cut(instants, free, at):
    place = next((k for k, instant in enumerate(instants) if instant >= at), len(instants))
    if place == len(instants) or instants[place] != at:
        instants.insert(place, at)
        free.insert(place, list(free[place - 1]))


def write_schedule(path, project: Project, chosen, algorithm: str, bounds: str):
    """Writes Schedule JSON, version 1, of (start, mode) of each task. `bounds` is the table of bounds of another plan."""
    free, running, entries = list(range(project.processors)), [], []
    heapq.heapify(free)
    for at in sorted(range(len(chosen)), key=lambda at: (chosen[at][0], at)):
        start, mode = chosen[at][0], project.tasks[at].modes[chosen[at][1]]
        while running and running[0][0] <= start:
            for processor in heapq.heappop(running)[2]:
                heapq.heappush(free, processor)
        ids = [heapq.heappop(free) for _ in range(mode.processors)]
        heapq.heappush(running, (start + mode.time, at, ids))
        times = f'"start": {seconds(start)}, "end": {seconds(start + mode.time)}'
        names = f'"job": {json.dumps(project.job)}, "task": {json.dumps(project.tasks[at].name)}'
        entries.append(f'{{{names}, {times}, "processors": "{",".join(map(str, ids))}"}}')
    end = seconds(makespan(project, chosen))
    with open(path, "w") as file:
        file.write(
            f'{{"version": 1, "algorithm": {json.dumps(algorithm)}, "makespan": {end},\n'
            f' "weighted_completion": {end}, "bounds": {bounds},\n "placements": [\n  ' + ",\n  ".join(entries) + "]}\n"
        )


def makespan(project, chosen):
    """In units."""
    return max(start + task.modes[pick].time for (start, pick), task in zip(chosen, project.tasks))


def seconds(units):
    return f"{Decimal(units) / UNIT:f}"
