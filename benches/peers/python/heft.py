"""HEFT of SAGA on a graph that is told on the input; prints its processor time and the length of its schedule."""

import json
import sys
import time

from saga import Network, TaskGraph
from saga.schedulers import HeftScheduler


def main():
    graph = json.load(sys.stdin)
    tasks = [(f"t{at}", size) for at, size in enumerate(graph["sizes"])]
    edges = [(f"t{a}", f"t{b}", float(data)) for a, b, data in graph["edges"]]
    speeds = [(f"n{at}", speed) for at, speed in enumerate(graph["speeds"])]
    names = [name for name, _ in speeds]
    links = [(a, b, graph["bandwidth"]) for at, a in enumerate(names) for b in names[at + 1 :]]
    network = Network.create(nodes=speeds, edges=links)
    problem = TaskGraph.create(tasks=tasks, dependencies=edges)
    begin = time.process_time()
    schedule = HeftScheduler().schedule(network, problem)
    seconds = time.process_time() - begin
    print(json.dumps({"seconds": seconds, "makespan": schedule.makespan}))


if __name__ == "__main__":
    main()
