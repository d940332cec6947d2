"""AccaSim on a log, in a process of its own: prints the CPU and wall seconds of the simulation and what the jobs waited, as JSON.

usage: peer.py LOG SYSTEM POLICY FOLDER
"""

import collections
import collections.abc
import json
import logging
import sys
import time

# AccaSim 1.1.3 imports this name from where Python had it until 3.9.
collections.Mapping = collections.abc.Mapping

from accasim.base.allocator_class import FirstFit
from accasim.base.scheduler_class import EASYBackfilling, FirstInFirstOut
from accasim.base.simulator_class import Simulator

POLICIES = {"fcfs": FirstInFirstOut, "easy": EASYBackfilling}


def main():
    log, system, policy, folder = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    # Nothing is written: the peer does not pay for files.
    outputs = dict.fromkeys(
        ["scheduling_output", "pprint_output", "benchmark_output", "statistics_output", "show_statistics"], False
    )
    simulator = Simulator(log, system, POLICIES[policy](FirstFit()), RESULTS_FOLDER_PATH=folder, **outputs)
    began, ticking = time.process_time(), time.perf_counter()
    simulator.start_simulation()
    cpu, wall = time.process_time() - began, time.perf_counter() - ticking
    waits = simulator.mapper.wtimes
    print(json.dumps({"cpu": cpu, "wall": wall, "jobs": len(waits), "mean_wait": sum(waits) / len(waits)}))


main()
