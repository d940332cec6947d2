"""Greedy lists in plain Python: a first solution for the solver, made without makespan."""

import heapq

from instance import Instance, shifted_left, value


def best(instance: Instance, objective: str) -> list[tuple[int, int, int]]:
    """The best of Graham's lists over a sweep of targets and three orders, as (start, job, index of its option).

    For a target, each job takes the fewest processors on which it is no longer than that.
    """
    shortest = max(job.options[-1][1] for job in instance.jobs)
    longest = max(job.options[0][1] for job in instance.jobs)
    least, floor = None, min(job.options[-1][1] for job in instance.jobs)
    target = float(floor)
    while True:
        allotted = [_within(job.options, target) for job in instance.jobs]
        for order in _orders(instance, allotted):
            chosen = _list(instance, allotted, order)
            reached = value(instance, shifted_left(instance, chosen), objective)
            if least is None or reached < least[0]:
                least = (reached, chosen)
        if target >= max(longest, shortest):
            return least[1]
        target *= 1.15


def _within(options, target):
    return next((index for index, (_, time) in enumerate(options) if time <= target), len(options) - 1)


def _orders(instance, allotted):
    """Smith's rule by area, Smith's rule by time, longest first."""

    def of(index):
        processors, time = instance.jobs[index].options[allotted[index]]
        return instance.jobs[index].weight, processors, time

    def area(index):
        weight, processors, time = of(index)
        return (processors * time / max(weight, 1), index)

    def time(index):
        weight, _, time = of(index)
        return (time / max(weight, 1), index)

    def longest(index):
        return (-of(index)[2], index)

    return [sorted(range(len(instance.jobs)), key=key) for key in (area, time, longest)]


def _list(instance, allotted, order):
    """Graham's list: at each instant the first jobs that fit start."""
    waiting, running, free, now, chosen = list(order), [], instance.processors, 0, []
    while waiting:
        left = []
        for index in waiting:
            processors, time = instance.jobs[index].options[allotted[index]]
            if processors <= free:
                free -= processors
                heapq.heappush(running, (now + time, processors))
                chosen.append((now, index, allotted[index]))
            else:
                left.append(index)
        waiting = left
        if running:
            now = running[0][0]
            while running and running[0][0] == now:
                free += heapq.heappop(running)[1]
    return chosen
