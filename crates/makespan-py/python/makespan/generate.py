"""Generates random instances. The same seed gives the same instance. :func:`families` states the sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from makespan import _check, _native
from makespan._errors import InputError
from makespan._families import FAMILIES
from makespan._model import Instance, _close
from makespan._simulate import Log
from makespan._table import Rows

__all__ = ["etc", "families", "family", "flow", "graphs", "lublin", "moldable", "poisson", "project", "tree"]


def _drawn(kind: str, **options: object) -> Instance:
    options["seed"] = _check.seed(options["seed"])
    return Instance._of(_native.generate(kind, options))


def families() -> Rows:
    """Returns the named families of random instances: their name, summary, source, function of this module, and options. The
    instances of a family are drawn by Makespan. They are not the published instances of the source.

    >>> families()["name"][:4]
    ['weak', 'high', 'mixed', 'cirne']
    """
    return Rows([{"name": name, **one._asdict()} for name, one in FAMILIES.items()])


def family(name: str, count: int, *, seed: int = 1, **options: object) -> dict[str, Instance]:
    """Generates instances of a family (see :func:`families`), with the seeds ``seed``, ``seed + 1`` and so on. Returns the
    instances by name, for :func:`makespan.compare`. ``options`` are arguments of the function of the family, such as ``jobs``.

    >>> family("mixed", 2, jobs=20, processors=8)
    {'mixed-1': <instance of 20 jobs on 8 processors>, 'mixed-2': <instance of 20 jobs on 8 processors>}
    """
    if name not in FAMILIES:
        listed = _close(name, FAMILIES) or "; `makespan.generate.families()` returns all families"
        raise InputError(f"`{name}` is not a family{listed}", field="name")
    chosen, first = FAMILIES[name], _check.seed(seed)
    number = _check.whole(count, "count", 1, 1_000_000)
    draw = globals()[chosen.function]
    drawn = {}
    for one in range(first, first + number):
        # Seed 1 has the first setting of the family, and each later seed has the next one.
        setting = chosen.options[(one - 1) % len(chosen.options)]
        drawn[f"{name}-{one}"] = draw(**{**setting, **options}, seed=one)
    return drawn


def moldable(
    *, jobs: int, processors: int, family: str = "mixed", arrival_rate: float | None = None, seed: int = 1
) -> Instance:
    """Generates moldable jobs of the family ``weak``, ``high``, ``mixed`` or ``cirne``. All jobs arrive at time 0, or at
    ``arrival_rate`` jobs per second.

    >>> len(moldable(jobs=30, processors=16))
    30
    """
    return _drawn(
        "moldable", jobs=jobs, processors=processors, family=family, arrival_rate=arrival_rate, seed=seed
    )


def poisson(*, jobs: int, processors: int, load: float, family: str = "mixed", seed: int = 1) -> Instance:
    """Generates moldable jobs that arrive as a Poisson process with this offered load."""
    return _drawn("poisson", jobs=jobs, processors=processors, load=load, family=family, seed=seed)


def lublin(
    *, jobs: int, processors: int, load: float | None = None, requests: float | str | None = None, seed: int = 1
) -> Log:
    """Generates a log of rigid jobs by the model of Lublin and Feitelson. ``requests`` is the maximum factor (1 to 1000) by
    which users overestimate run times. Without ``requests``, the requested times equal the run times.

    >>> lublin(jobs=100, processors=64, load=0.7)
    <log of 100 jobs on 64 processors>
    """
    options = {
        "jobs": jobs,
        "processors": processors,
        "load": load,
        "requests": None if requests is None else str(requests),
        "seed": _check.seed(seed),
    }
    return Log._of(_native.generate_log(options))


def etc(
    *,
    tasks: int = 512,
    machines: int = 16,
    consistency: str = "c",
    high_tasks: bool = True,
    high_machines: bool = True,
    seed: int = 1,
) -> Instance:
    """Generates sequential tasks with a separate time on each machine. ``consistency`` is ``c``, ``s`` or ``i``."""
    return _drawn(
        "etc",
        tasks=tasks,
        machines=machines,
        consistency=consistency,
        high_tasks=high_tasks,
        high_machines=high_machines,
        seed=seed,
    )


def graphs(
    *,
    shape: str = "layers",
    tasks: int = 50,
    jobs: int = 1,
    width: int = 8,
    density: float = 0.3,
    volume: tuple[float, float] = (10, 100),
    data: tuple[int, int] = (1_000_000, 20_000_000),
    parallel: int = 1,
    law: str = "downey",
    processors: int = 8,
    cores: int = 1,
    fastest: float = 3.0,
    bandwidth: float | str = "1MB/s",
    gap: float | None = None,
    deadline: float | None = None,
    seed: int = 1,
) -> Instance:
    """Generates graphs of tasks on processors of different speeds. The shape is ``layers``, ``chain``, ``fork-join``,
    ``cholesky``, ``lu``, ``montage`` or another one. If ``parallel`` is larger than 1, the tasks are moldable.

    >>> graphs(shape="cholesky", tasks=35).task_count
    35
    """
    return _drawn(
        "graphs",
        shape=shape,
        tasks=tasks,
        jobs=jobs,
        width=width,
        density=density,
        volume=volume,
        data=data,
        parallel=parallel,
        law=law,
        processors=processors,
        cores=cores,
        fastest=fastest,
        bandwidth=bandwidth,
        gap=gap,
        deadline=deadline,
        seed=seed,
    )


def project(
    *,
    activities: int = 30,
    modes: int = 1,
    renewable: int = 4,
    nonrenewable: int = 0,
    complexity: float = 1.5,
    factor: float = 0.5,
    strength: float = 0.5,
    seed: int = 1,
) -> Instance:
    """Generates a project of activities that share resources, as in PSPLIB."""
    return _drawn(
        "project",
        activities=activities,
        modes=modes,
        renewable=renewable,
        nonrenewable=nonrenewable,
        complexity=complexity,
        factor=factor,
        strength=strength,
        seed=seed,
    )


def flow(
    *,
    tasks: int = 4000,
    mean_size: int = 5000,
    capacities: Sequence[int] = tuple(range(1000, 10_001, 1000)),
    rate: float = 1.0,
    swing: float = 0.5,
    swings: float = 4.0,
    seed: int = 1,
) -> Instance:
    """Generates independent tasks that arrive over time, for nodes of different speeds. ``rate`` is the mean arrival rate,
    divided by the highest rate that the nodes can sustain."""
    return _drawn(
        "flow",
        tasks=tasks,
        mean_size=mean_size,
        capacities=list(capacities) if isinstance(capacities, Iterable) else capacities,
        rate=rate,
        swing=swing,
        swings=swings,
        seed=seed,
    )


def tree(
    *,
    nodes: int,
    degree: int = 5,
    applications: int = 3,
    largest_ratio: float = 0.25,
    tasks: int = 200,
    unit: str = "bytes",
    latency: str = "none",
    data: int = 1_000_000,
    seed: int = 1,
) -> Instance:
    """Generates bags of tasks with data that are sent down a tree of machines. They are planned as a steady state."""
    return _drawn(
        "tree",
        nodes=nodes,
        degree=degree,
        applications=applications,
        largest_ratio=largest_ratio,
        tasks=tasks,
        unit=unit,
        latency=latency,
        data=data,
        seed=seed,
    )
