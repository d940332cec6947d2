"""Comparisons of algorithms over many instances."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from os import PathLike
from threading import Event
from typing import Any, NamedTuple

from makespan import _check, _native
from makespan._comparison import Comparison
from makespan._errors import AlgorithmError, InputError
from makespan._log import LOGGER
from makespan._model import Instance, _instance
from makespan._plan import Bound, Objective, Progress, _objective, algorithms as catalogue, plan
from makespan._policy import Scheduler
from makespan._resume import Key, Results, fingerprint, key


def compare(
    instances: Instance | Iterable[Instance] | Mapping[str, Instance],
    algorithms: Iterable[str | Scheduler] | str | Scheduler | None = None,
    *,
    objective: Objective | None = None,
    thorough: bool = False,
    seed: int = 1,
    threads: int | None = 1,
    progress: Progress | None = None,
    resume: str | PathLike[str] | None = None,
) -> Comparison:
    """Compares algorithms on instances. Each row contains the values of the objectives of a plan, proven bounds on these values,
    the ratios of value and bound, the gaps (ratio minus 1), and the time.

    By default, this compares the algorithms of the catalogue that support the instance. Algorithms that you name must
    support every instance. If there is a column ``guesses``, the ratios depend on guesses.

    Ctrl-C returns the complete rows, without the interrupted search. In this case, ``interrupted`` is true, and a warning
    states how many plans were made.

    Args:
        instances: Instances, or a dict from names to instances.
        algorithms: Specs such as ``"demt[shuffles=5]"``, and :class:`Scheduler` objects.
        objective: The only objective of the table. Algorithms with a parameter ``objective``, such as ``optimise``, minimise
            it, unless their spec states an objective. Without this argument, the table has all objectives.
        thorough: True to search about ten times as long for bounds, as :func:`bound` does. On small instances, many gaps are
            then zero.
        threads: The number of plans that are made at the same time. None is the number of cores. With more than one thread,
            the column ``seconds`` and searches with a time limit depend on the other plans. Your own schedulers run one
            after the other, after the algorithms of the catalogue.
        progress: A function that is called with the number of plans and the number of all plans.
        resume: A file for the results. Each result is written as soon as it exists. If the file exists, the results in the
            file are not computed again, if the instance, the algorithm, the seed and the version of Makespan are equal. An
            incomplete line, from a killed process, is ignored. If you change data that your own scheduler uses outside of its
            class, also change its name.

    >>> import makespan as m
    >>> table = m.compare(m.generate.moldable(jobs=20, processors=8), ["demt", "list"], objective="makespan")
    >>> table["algorithm"], min(table["makespan_gap"]) >= 0
    (['demt', 'list[order=shelf]'], True)
    >>> table.columns
    ['instance', 'algorithm', 'makespan', 'makespan_bound', 'makespan_ratio', 'makespan_gap', 'seconds']
    """
    named = _names(instances)
    if algorithms is not None:
        algorithms = [algorithms] if isinstance(algorithms, Scheduler) else _check.several(algorithms, "algorithms", "specs")
    wanted = None if objective is None else _objective(objective).replace("-", "_").replace(" ", "_")
    count = os.cpu_count() or 1 if threads is None else _check.whole(threads, "threads", 1, 1024)
    _check.function(progress, "progress")
    study = _Study(named, algorithms, wanted, bool(thorough), _check.seed(seed), Results(resume))
    try:
        interrupted = study.run(count, progress)
        return Comparison(study.rows(), wanted, interrupted)
    finally:
        study.results.close()


def _names(instances: Any) -> dict[str, Instance]:
    if isinstance(instances, Mapping):
        named = {str(name): instance for name, instance in instances.items()}
    else:
        several = [instances] if isinstance(instances, Instance) else _check.several(instances, "instances", "instances")
        named = {str(at): instance for at, instance in enumerate(several)}
    for instance in named.values():
        _instance(instance)
    return named


class _Stopped(Exception):
    """Ends a search in another thread."""


class _Task(NamedTuple):
    """A plan, or the bounds of an instance if there is no algorithm."""

    name: str
    instance: Instance
    algorithm: str | Scheduler | None
    key: Key


class _Study:
    """The plans and bounds of a comparison."""

    def __init__(
        self,
        named: dict[str, Instance],
        algorithms: list[str | Scheduler] | None,
        objective: str | None,
        is_thorough: bool,
        seed: int,
        results: Results,
    ) -> None:
        self.results = results
        self._is_thorough = is_thorough
        self._objective = objective
        self._seed = seed
        self._are_named = algorithms is not None
        self._stopping = Event()
        self._with_objective = {one["name"] for one in catalogue() if "objective" in one["parameters"]}
        self._tasks: list[list[_Task]] = []
        for at, (name, instance) in enumerate(named.items()):
            # Only a file needs keys that are valid in other processes.
            mark = fingerprint(instance) if results.is_kept else str(at)
            kind = "thorough bounds" if is_thorough else "bounds"
            bounds = _Task(name, instance, None, key(mark, 0, kind, objective))
            chosen = algorithms or _native.compared(instance._native)
            self._tasks.append([bounds, *(_Task(name, instance, one, key(mark, seed, one, objective)) for one in chosen)])

    def run(self, threads: int, progress: Progress | None) -> bool:
        """Makes the plans and bounds that are missing. Returns true if Ctrl-C interrupted this."""
        total = sum(len(tasks) - 1 for tasks in self._tasks)
        missing = [task for one in self._tasks for task in one if self.results.get(task.key) is None]
        done = total - sum(task.algorithm is not None for task in missing)
        if progress is not None and done:
            progress(done, total)
        try:
            with closing(self._each(missing, threads)) as tasks:
                for task in tasks:
                    if task.algorithm is not None:
                        done += 1
                        if progress is not None:
                            progress(done, total)
        except KeyboardInterrupt:
            problem = f"interrupted: {done} of {total} plans were made; the table lacks the other plans"
            warnings.warn(problem, UserWarning, stacklevel=3)
            return True
        return False

    def _each(self, tasks: list[_Task], threads: int) -> Generator[_Task, None, None]:
        """Performs the tasks, and yields each one when it is complete."""
        own = [task for task in tasks if threads == 1 or isinstance(task.algorithm, Scheduler)]
        if threads > 1:
            pool = ThreadPoolExecutor(threads, thread_name_prefix="makespan-compare")
            try:
                others = [task for task in tasks if not isinstance(task.algorithm, Scheduler)]
                waiting = {pool.submit(self._do, task, self._stop): task for task in others}
                for future in as_completed(waiting):
                    future.result()
                    yield waiting[future]
            finally:
                self._stopping.set()
                pool.shutdown(cancel_futures=True)
        for task in own:
            self._do(task, None)
            yield task

    def _stop(self, *_: object) -> None:
        if self._stopping.is_set():
            raise _Stopped

    def _do(self, task: _Task, check: Callable[..., None] | None) -> None:
        """Performs a task, and stores its result. `check` is called during a search, and raises an exception to end it."""
        if self._stopping.is_set() and check is not None:
            raise _Stopped
        result = self._bounds(task) if task.algorithm is None else self._plan(task, task.algorithm, check)
        self.results.put(task.key, result)

    def _bounds(self, task: _Task) -> dict[str, Any]:
        native = task.instance._native
        bounds: list[_native.Bound] = []
        try:
            bounds += _native.bound(native, self._is_thorough)
            if all(bound.objective == "fair_throughput" for bound in bounds):
                # Bags on trees have two kinds of plans: rates and schedules.
                bounds += _native.bounds_of_plans(native, [])
        except AlgorithmError as error:
            LOGGER.info("instance %s: not all bounds were proved: %s", task.name, error)
        return self._values(bounds)

    def _values(self, bounds: Iterable[_native.Bound | Bound]) -> dict[str, float]:
        """Returns the values of the bounds that hold for all schedules, by objective."""
        chosen = [bound for bound in bounds if bound.makespan_at_most is None]
        return {bound.objective: bound.value for bound in chosen if self._objective in (None, bound.objective)}

    def _plan(self, task: _Task, algorithm: str | Scheduler, check: Callable[..., None] | None) -> dict[str, Any]:
        options: dict[str, Any] = {"seed": self._seed, "prove": False}
        if isinstance(algorithm, str):
            options["progress"] = check
            if algorithm.split("[")[0] in self._with_objective and "objective=" not in algorithm:
                options["objective"] = self._objective
        try:
            made = plan(task.instance, algorithm, **options)
        except AlgorithmError as error:
            if self._are_named:
                raise
            LOGGER.info("instance %s: left out: %s", task.name, error)
            return {"left_out": str(error)}
        if made.stopped:
            raise KeyboardInterrupt
        values = {name: value for name, value in made.values.items() if self._objective in (None, name)}
        if self._objective is not None and not values:
            raise InputError(f"{made.algorithm} has no value for {self._objective} on instance {task.name}; name another objective", field="objective")
        LOGGER.info("instance %s, %s: %s", task.name, made.algorithm, values)
        bounds = self._values(made.bounds.values())
        return {"algorithm": made.algorithm, "values": values, "bounds": bounds, "seconds": made.seconds}

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row for each plan, in the order of the instances and of the algorithms."""
        rows = []
        for bounds, *plans in self._tasks:
            found = [(task, made) for task in plans if (made := self.results.get(task.key)) and "left_out" not in made]
            if found and self.results.get(bounds.key) is None:
                self._do(bounds, None)
            best = _best([self.results.get(bounds.key) or {}, *(made["bounds"] for _, made in found)])
            rows += [_row(task, made, best) for task, made in found]
        return rows


def _best(bounds: list[dict[str, float]]) -> dict[str, float]:
    """Returns the best bound on each objective. An algorithm may prove a better bound than the other ones."""
    best: dict[str, float] = {}
    for one in bounds:
        for objective, value in one.items():
            choose = min if objective == "fair_throughput" else max
            best[objective] = choose(value, best.get(objective, value))
    return best


def _row(task: _Task, made: dict[str, Any], bounds: dict[str, float]) -> dict[str, Any]:
    row: dict[str, Any] = {"instance": task.name, "algorithm": made["algorithm"]}
    for objective, value in made["values"].items():
        row[objective] = value
        bound = bounds.get(objective)
        if bound is None:
            continue
        row[f"{objective}_bound"] = bound
        if bound > 0 and value > 0:
            ratio = bound / value if objective == "fair_throughput" else value / bound
            row[f"{objective}_ratio"] = ratio
            row[f"{objective}_gap"] = ratio - 1
    if task.instance.guesses:
        row["guesses"] = task.instance.guesses
    return {**row, "seconds": made["seconds"]}
