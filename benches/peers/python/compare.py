"""How fast the Python package is: what a call costs beyond its work, policies of Python, and HEFT, EASY and moldable plans beside peers. See ../README.md."""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import makespan as m
import replay

LINE = "{:<64}{:>14}  {}"


def main():
    options = arguments()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}, makespan {m.__version__}")
    print("least processor time of several repetitions, where nothing else is said")
    print(LINE.format("what", "measured", "target or result"))
    for measure in (instances, frames, decisions):
        measure(options.repetitions)
    heft(options)
    jobshop(options)
    if options.log:
        replay.measure(options, tell, answer)


def least(repetitions, work):
    """The least processor time of several repetitions of some work, in seconds, and what it made."""
    best, made = float("inf"), None
    for _ in range(repetitions):
        begin = time.process_time()
        made = work()
        best = min(best, time.process_time() - begin)
    return best, made


def tell(what, figure, target=""):
    print(LINE.format(what, figure, target), flush=True)


def instances(repetitions):
    def objects():
        return [m.Job(f"job{at}", time=[4.5, 2.25 + at, 1.6], weight=1 + at % 7) for at in range(1000)]

    platform = m.Platform(processors=64)
    seconds, jobs = least(repetitions, objects)
    tell("1,000 Job objects", f"{1000 * seconds:.2f} ms")
    seconds, _ = least(repetitions, lambda: m.Instance(platform, jobs))
    tell("Instance of these objects", f"{1000 * seconds:.2f} ms", "5 ms")
    dicts = [job.document() for job in jobs]
    seconds, _ = least(repetitions, lambda: m.Instance(platform, dicts))
    tell("Instance of 1,000 dicts", f"{1000 * seconds:.2f} ms", "5 ms")


def frames(repetitions):
    jobs = [m.Job(f"job{at}", time=1 + at % 50) for at in range(100_000)]
    plan = m.plan(m.Instance(processors=256, jobs=jobs), "list", prove=False)
    for name, make in (("pandas", lambda table: table.to_pandas()), ("polars", lambda table: table.to_polars())):
        make(plan.schedule)
        seconds, frame = least(repetitions, lambda: make(plan.schedule))
        tell(f"{len(frame):,} placements to a DataFrame of {name}", f"{1000 * seconds:.1f} ms", "50 ms")


class InTurn(m.Policy):
    """First come, first served."""

    def on(self, events, view):
        decisions, free = [], view.free
        for task in view.waiting:
            if task.min_processors > free:
                break
            free -= task.min_processors
            decisions.append(m.Start(task))
        return decisions


def decisions(repetitions):
    log = m.generate.lublin(jobs=100_000, processors=256, load=0.7, seed=3)
    for policy in (InTurn(), "fcfs"):
        seconds, result = least(repetitions, lambda: m.simulate(log, [policy], threads=1)[0])
        name = "InTurn, written in Python" if policy != "fcfs" else "fcfs of the catalogue"
        tell(f"decisions (starts) a second: {name}", f"{len(result.jobs) / seconds:,.0f}", "200,000" if policy != "fcfs" else "")


def heft(options):
    """The same graph for both: layers of tasks on processors that differ, all links alike."""
    for tasks in options.tasks:
        graph = drawn(tasks, options.machines)
        instance = of_graph(graph)
        seconds, plan = least(options.repetitions, lambda: m.plan(instance, "heft", prove=False))
        tell(f"HEFT, {tasks:,} tasks on {options.machines} machines: makespan", f"{seconds:.3f} s", f"length {plan.makespan:.1f} s")
        if options.saga.exists():
            theirs = answer([options.saga, "-B", "heft.py"], options.patience, json.dumps(graph))
            if isinstance(theirs, str):
                tell(f"HEFT, {tasks:,} tasks: SAGA", "-", theirs)
                continue
            ratio = f"length {theirs['makespan']:.1f} s; {theirs['seconds'] / seconds:,.0f} times as long"
            tell(f"HEFT, {tasks:,} tasks: SAGA", f"{theirs['seconds']:.3f} s", ratio)


def drawn(tasks, machines):
    """Sizes of tasks, speeds of machines, and edges with data, of a layered graph."""
    source = random.Random(7)
    width = max(2, round(tasks**0.5))
    sizes = [source.uniform(10, 100) for _ in range(tasks)]
    edges = []
    for task in range(width, tasks):
        layer = task // width
        before = source.sample(range((layer - 1) * width, layer * width), min(3, width))
        edges += [(earlier, task, source.randrange(1, 20)) for earlier in before]
    return {"sizes": sizes, "edges": edges, "speeds": [source.uniform(1, 3) for _ in range(machines)], "bandwidth": 1.0}


def of_graph(graph):
    nodes = [m.Node(f"n{at}", 1, speed=speed) for at, speed in enumerate(graph["speeds"])]
    tasks = [m.Job(f"t{at}", time=size) for at, size in enumerate(graph["sizes"])]
    edges = [(f"t{a}", f"t{b}", data) for a, b, data in graph["edges"]]
    platform = m.Platform(nodes=nodes, bandwidth=graph["bandwidth"])
    return m.Instance(platform, [m.Job("g", graph=m.Graph(tasks, edges))])


def jobshop(options):
    if not options.pyjobshop.exists():
        return
    found = answer([options.pyjobshop, "-B", "jobshop.py"], options.patience)
    if isinstance(found, str):
        tell("50 moldable jobs as a model of PyJobShop", "-", found)
        return
    for name, figures in found.items():
        what = f"makespan {figures['value']:.0f}, proved at least {figures['bound']:.1f}"
        tell(f"50 moldable jobs as a model of PyJobShop: {name}", f"{figures['seconds']:.1f} s wall", what)


def answer(words, patience, text=None, folder=None):
    """The last line that a peer prints, which is JSON; or why there is none."""
    words = [str(word) for word in words]
    try:
        done = subprocess.run(words, input=text, capture_output=True, text=True, cwd=folder, timeout=patience)
    except subprocess.TimeoutExpired:
        return f"not done after {patience:.0f} s"
    if done.returncode:
        return f"failed: {done.stderr.strip().splitlines()[-1][:60]}"
    return json.loads(done.stdout.splitlines()[-1])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--saga", type=Path, default=Path("missing"), help="the interpreter that has SAGA")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--tasks", type=lambda text: [int(part) for part in text.split(",")], default=[1000, 10000])
    parser.add_argument("--machines", type=int, default=16)
    parser.add_argument("--patience", type=float, default=3600, help="seconds after which SAGA is given up")
    parser.add_argument("--pyjobshop", type=Path, default=Path("missing"), help="the interpreter that has PyJobShop and makespan")
    parser.add_argument("--accasim", type=Path, default=Path("missing"), help="the interpreter that has AccaSim")
    parser.add_argument("--log", type=Path, help="an SWF log for FCFS and EASY")
    parser.add_argument("--jobs", type=int, help="the first so many jobs of the log")
    return parser.parse_args()


if __name__ == "__main__":
    main()
