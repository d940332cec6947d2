"""Time lags of a model with tasks without duration. An instance has no such tasks, so they are removed, and their lags joined."""

from __future__ import annotations

from collections.abc import Sequence

from makespan._errors import InputError

#: The least differences between the starts of pairs of tasks: the start of the second task minus the start of the first.
Lags = dict[tuple[int, int], int]

#: The lags to one task, or from one task: for each other task, the lag.
_OfTask = dict[int, int]


def tighten(lags: Lags, first: int, second: int, least: int) -> None:
    """Adds a lag. If there is a lag for this pair already, the larger lag is kept."""
    lags[first, second] = max(least, lags.get((first, second), least))


def without_milestones(lags: Lags, times: Sequence[int | None], names: Sequence[str]) -> Lags:
    """Returns the lags between the tasks with a duration. ``times`` has the time of each task, or None if a task has several times.

    A task without duration needs no resource, so it may start at any time from 0 that its lags allow. Each pair of a lag to such
    a task and a lag from it becomes one lag. The new lags allow the tasks with a duration to start at exactly the same times.

    Raises:
        InputError: if no starts satisfy the lags, or if an instance without the task would have other plans or another makespan.
    """
    lags = dict(lags)
    for at in (task for task, time in enumerate(times) if time == 0):
        into = {first: least for (first, second), least in lags.items() if second == at}
        out = {second: least for (first, second), least in lags.items() if first == at}
        _check(at, into, out, times, names)
        lags = {pair: least for pair, least in lags.items() if at not in pair}
        for first, before in into.items():
            for second, behind in out.items():
                if first != second:
                    tighten(lags, first, second, before + behind)
                elif before + behind > 0:
                    problem = f"no plan satisfies the time lags between the tasks {names[first]} and {names[at]}: the lags of a cycle may sum to at most 0, but these sum to {before + behind}"
                    raise InputError(problem)
    return lags


def _check(at: int, into: _OfTask, out: _OfTask, times: Sequence[int | None], names: Sequence[str]) -> None:
    """Checks that a task without duration neither delays a task after time 0 nor ends last."""
    late = next((task for task, least in out.items() if least > 0), None)
    if late is not None and all(least < 0 for least in into.values()):
        problem = f"task {names[late]} starts at least {out[late]} after task {names[at]}, which takes no time and may start at time 0; an instance cannot express this: set the delay to 0"
        raise InputError(problem)
    longer = next((task for task, least in into.items() if times[task] is not None and least > (times[task] or 0)), None)
    if longer is not None and all(least < 0 for least in out.values()):
        problem = f"task {names[at]}, which takes no time, ends after task {names[longer]} and may end last; an instance cannot express this: give the task a duration"
        raise InputError(problem)
