"""Simulates policies on logs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, overload

from makespan import _check, _native
from makespan._errors import InputError
from makespan._log import LOGGER
from makespan._model import Instance, Platform, _instance, _listed, _reading, _stated
from makespan._plan import Progress, framed
from makespan._policy import Policy
from makespan._table import Rows, Table


class Log:
    """Jobs with the estimates that policies see, and with their actual run times. :func:`read_log` reads a log.

    >>> import makespan as m
    >>> log = m.Log(m.Instance(processors=4, jobs=[m.Job("a", time=60)]), deviation=0.3, seed=7)
    >>> log.instance
    <instance of 1 jobs on 4 processors>
    """

    def __init__(self, instance: Instance, *, deviation: float | None = None, seed: int = 1) -> None:
        """Creates a log from an instance. Each actual time is the estimate, or the estimate times a random factor. The factor
        is log-normal with mean 1 and standard deviation ``deviation``."""
        share = None if deviation is None else _check.number(deviation, "deviation")
        self._native = _native.Log.of_instance(_instance(instance)._native, share, _check.seed(seed))

    @classmethod
    def _of(cls, native: _native.Log) -> Log:
        log = cls.__new__(cls)
        log._native = native
        return log

    @property
    def instance(self) -> Instance:
        """The instance that policies see."""
        return Instance._of(self._native.instance)

    @property
    def remarks(self) -> list[str]:
        """Messages about unusual records in the file."""
        return self._native.remarks

    def __reduce__(self) -> Any:
        raise TypeError("a log cannot be pickled; in the other process, read its file or generate it again")

    def __len__(self) -> int:
        return self._native.instance.job_count

    def __repr__(self) -> str:
        return f"<log of {len(self)} jobs on {self._native.instance.processors} processors>"


def read_log(
    path: str | PathLike[str],
    *,
    estimates: str = "user",
    processors: int | None = None,
    platform: Platform | None = None,
    bandwidth: float | str | None = None,
    storage: str | None = None,
    speedup: str | None = None,
    queues: Sequence[int] = (),
    seed: int = 1,
    strict: bool = False,
) -> Log:
    """Reads a log for a replay: SWF, Batsim, ``sacct``, or an instance with actual times that equal its estimates.

    Args:
        estimates: The times that policies see: ``"user"`` (the requested times), ``"clairvoyant"`` (the actual run times)
            or ``"unknown"`` (a minute for every job).
        queues: Queues of an SWF log by number, from the highest to the lowest priority.

    The other arguments are those of :func:`makespan.read`.
    """
    reading = _reading(
        processors=processors,
        platform=_stated(platform),
        bandwidth=bandwidth,
        storage=storage,
        speedup=speedup,
        seed=seed,
        strict=strict,
        estimates=estimates,
        queues=[_check.whole(queue, f"queues[{at}]") for at, queue in enumerate(_listed(queues, "queues", "numbers of queues"))],
    )
    return Log._of(_native.Log.of_file(os.fsdecode(path), reading))


class Simulation:
    """The result of a policy on a log. Times are in seconds."""

    def __init__(self, native: _native.Simulation) -> None:
        self._native = native

    @property
    def policy(self) -> str:
        """Spec or name of the policy."""
        return self._native.policy

    @property
    def jobs(self) -> Table:
        """The runs of jobs, one in each row: job, task, submitted, start, end, wait, allotment, processors, outcome."""
        return Table(self._native.runs())

    @property
    def usage(self) -> Table:
        """The numbers of used processors and of waiting jobs. Each row is valid from its instant until the next row."""
        return Table(self._native.usage())

    @property
    def measures(self) -> dict[str, Any]:
        """Measures: distributions of waits, flow times and bounded slowdowns, utilisation, makespan, fairness and others."""
        measures: dict[str, Any] = json.loads(self._native.measures())
        return measures

    @property
    def given_up(self) -> list[str]:
        """The tasks that the policy cancelled."""
        return self._native.given_up

    @property
    def events(self) -> int:
        """The number of events that the policy received."""
        return self._native.events

    @property
    def seconds(self) -> float:
        """The duration of the simulation in real time."""
        return self._native.seconds

    def to_evalys(self) -> Any:
        """Returns the runs as a DataFrame with the columns of Batsim, which evalys reads. See
        :func:`makespan.adapters.evalys_frame`."""
        from makespan.adapters import evalys_frame

        return evalys_frame(self._native.csv("makespan"))

    def __reduce__(self) -> Any:
        raise TypeError("a simulation cannot be pickled; its `jobs`, `usage` and `measures` can")

    def __repr__(self) -> str:
        measures = self.measures
        wait, use = measures["wait"]["mean"], measures["utilisation"]
        return f"<{self.policy}: mean wait {wait:.1f} s, utilisation {use:.1%}>"


class Simulations(Sequence[Simulation]):
    """The results of several policies on one log, in order, and by name: ``results["easy"]``."""

    def __init__(self, simulations: list[Simulation], remarks: list[str], seed: int) -> None:
        self._all = simulations
        self._seed = seed
        self.remarks = remarks

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, key: str | int) -> Simulation: ...

    @overload
    def __getitem__(self, key: slice) -> list[Simulation]: ...

    def __getitem__(self, key: str | int | slice) -> Simulation | list[Simulation]:
        if not isinstance(key, str):
            return self._all[key]
        for simulation in self._all:
            if simulation.policy == key:
                return simulation
        raise KeyError(f"{key}; there are {', '.join(self.policies)}")

    def __iter__(self) -> Iterator[Simulation]:
        return iter(self._all)

    @property
    def policies(self) -> list[str]:
        """The names of the policies."""
        return [simulation.policy for simulation in self._all]

    @property
    def table(self) -> Rows:
        """The measures of all policies, one policy in each row. The bounded slowdown of a job is
        ``max(1, (wait + run time) / max(run time, 10 s))``."""
        rows = []
        for simulation in self._all:
            of = simulation.measures
            rows.append(
                {
                    "policy": simulation.policy,
                    "mean_wait": of["wait"]["mean"],
                    "p95_wait": of["wait"]["p95"],
                    "max_wait": of["wait"]["max"],
                    "mean_bounded_slowdown": of["bounded_slowdown"]["mean"],
                    "makespan": of["makespan"],
                    "utilisation": of["utilisation"],
                    "backfilled": of["backfilled"],
                    "seconds": simulation.seconds,
                }
            )
        return Rows(rows)

    def to_html(self, title: str = "simulation") -> str:
        """Returns a self-contained interactive page with all policies."""
        return _native.report(title, [one._native for one in self._all], self._seed, self.remarks)

    def _repr_html_(self) -> str:
        return framed(self.to_html())

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._all))


def simulate(
    log: Log | Instance | str | PathLike[str],
    policies: Iterable[str | Policy] | str | Policy = ("easy",),
    *,
    seed: int = 1,
    kill_at_walltime: bool = False,
    failures: str | None = None,
    requeues: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Simulations:
    """Simulates a log in virtual time, once for each policy.

    Policies of the catalogue run in parallel, without the interpreter's lock. Your own policies run one after the other.
    All policies receive the same jobs and the same failures.

    Args:
        log: A log, an instance, or the path of either.
        policies: Specs such as ``"easy"`` and ``"batch[scheduler=demt]"`` (see :func:`policies`), and :class:`Policy`
            objects.
        kill_at_walltime: Ends jobs that reach their walltimes. This is an error if no job has a walltime. It is also an
            error with the estimates ``"clairvoyant"`` and ``"unknown"``, because no job then reaches its walltime.
        failures: A CSV file of failures, or a model such as ``"model:mtbf=30d,mttr=4h"``.
        requeues: The number of times that a job is queued again after a failure interrupted it.
        threads: The number of policies that are simulated at the same time. The default is the number of cores.
            The number does not affect the results.
        progress: A function that is called with the number of finished tasks and the number of all tasks.

    >>> import makespan as m
    >>> jobs = [m.Job("a", time=4, processors=2), m.Job("b", time=1, processors=4), m.Job("c", time=3)]
    >>> results = m.simulate(m.Instance(processors=4, jobs=jobs), ["fcfs", "easy"])
    >>> [result.measures["makespan"] for result in results]
    [8.0, 5.0]

    Raises:
        AlgorithmError: if a policy is unknown or does not support the log.
        PolicyError: if a policy breaks a rule.
    """
    if isinstance(log, Instance):
        log = Log(log)
    elif not isinstance(log, Log):
        if not isinstance(log, (str, os.PathLike)):
            raise InputError(f"{_check.shown(log)} is not a log; give a Log, an Instance, or the path of either", field="log")
        log = read_log(log)
    chosen = [policies] if hasattr(policies, "on") else _check.several(policies, "policies", "policies")
    names = [_name(policy, f"policies[{at}]") for at, policy in enumerate(chosen)]
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InputError(f"two policies are called `{twice}`; list each spec only once, and give your own policies different names", field="policies")
    rules = {
        "kill_at_walltime": bool(kill_at_walltime),
        "failures": None if failures is None else _check.text(failures, "failures", "model:mtbf=30d,mttr=4h"),
        "requeues": None if requeues is None else _check.whole(requeues, "requeues"),
        "seed": _check.seed(seed),
    }
    specs = [policy for policy in chosen if isinstance(policy, str)]
    threads = _threads(threads)
    _check.function(progress, "progress")
    made = {one.policy: one for one in _native.simulate(log._native, specs, rules, threads, progress)} if specs else {}
    for name, policy in zip(names, chosen, strict=True):
        if not isinstance(policy, str):
            made[name] = _native.simulate_with(log._native, policy, name, rules, progress)
    results = [Simulation(made[name]) for name in names]
    for result in results:
        LOGGER.info("%r in %.3f s", result, result.seconds)
    return Simulations(results, log.remarks, seed)


def _name(policy: Any, place: str) -> str:
    if isinstance(policy, str):
        return policy
    if isinstance(policy, type) or not callable(getattr(policy, "on", None)):
        problem = f"{_check.shown(policy)} is not a policy; give a spec such as 'easy', or a makespan.Policy object"
        raise InputError(problem, field=place)
    return _check.text(getattr(policy, "name", type(policy).__name__), f"{place}.name", "mine")


def _threads(threads: int | None) -> int:
    return os.cpu_count() or 1 if threads is None else _check.whole(threads, "threads", 1)


def policies() -> Rows:
    """Returns the policies of the catalogue: their purpose, supported instances, source and parameters."""
    return Rows(_native.policies())
