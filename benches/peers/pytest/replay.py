"""Replays the schedulers of pytest-xdist with simulated workers and recorded run times, so that other load does not matter."""

import collections
import random
from types import SimpleNamespace

from pytest_makespan import _scheduler
from pytest_makespan._worker import SEPARATOR
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling, WorkStealingScheduling


class Node:
    """A worker. It runs the first test of `queue` if it has the second test, or if it is shutting down."""

    def __init__(self, number):
        self.gateway = SimpleNamespace(id=f"gw{number}")
        self.queue = []
        self.shutting_down = False
        self.ends = None
        self.requests = collections.deque()

    def send_runtest_some(self, indices):
        self.queue += indices

    def send_steal(self, indices):
        self.requests.append(list(indices))

    def shutdown(self):
        self.shutting_down = True

    def steal(self, indices):
        """Removes the requested tests from the queue and returns them. If one of them runs or is the next to run, removes
        nothing and returns an empty list."""
        if not set(indices) <= set(self.queue[2 if self.ends is not None else 1 :]):
            return []
        self.queue = [test for test in self.queue if test not in set(indices)]
        return indices


def replay(mode, tests, groups, seconds, workers, error=0.2):
    """Returns the makespan of a run, in seconds. `groups` contains the group of each test, for the modes makespan and
    makespan-split. These modes predict each run time with an error of up to 20 %."""
    option = SimpleNamespace(loadscopereorder=True)
    config = SimpleNamespace(getvalue=lambda name: ["popen"] * workers, option=option, hook=None)
    now = 0.0
    if mode.startswith("makespan"):
        rng = random.Random(1)
        known = {test: seconds[test] * rng.uniform(1 - error, 1 + error) for test in tests}
        sched = _scheduler.MakespanScheduling(config, known)
        _scheduler.time = SimpleNamespace(monotonic=lambda: now)
        collection = [f"{test}{SEPARATOR}{group}" for test, group in zip(tests, groups, strict=True)]
    else:
        kinds = {"loadscope": LoadScopeScheduling, "worksteal": WorkStealingScheduling}
        sched = kinds[mode](config, Producer("replay", enabled=False))
        collection = tests
    nodes = [Node(number) for number in range(workers)]
    for node in nodes:
        sched.add_node(node)
        sched.add_node_collection(node, collection)
    sched.schedule()
    ran = 0
    while True:
        for node in nodes:
            while node.requests:
                sched.remove_pending_tests_from_node(node, node.steal(node.requests.popleft()))
        if sched.tests_finished:
            for node in sched.nodes:
                node.shutdown()
        for node in nodes:
            if node.ends is None and len(node.queue) >= (1 if node.shutting_down else 2):
                node.ends = now + seconds[tests[node.queue[0]]]
        running = [node for node in nodes if node.ends is not None]
        if not running:
            break
        node = min(running, key=lambda one: one.ends)
        now, node.ends = node.ends, None
        ran += 1
        sched.mark_test_complete(node, node.queue.pop(0))
    if ran != len(tests):
        raise RuntimeError(f"{mode} ran {ran} of {len(tests)} tests")
    return now
