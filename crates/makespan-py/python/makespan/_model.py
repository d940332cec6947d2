"""Machines, jobs and instances, created from Python objects."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, Union, overload

from makespan import _check, _native
from makespan._errors import InputError
from makespan._frames import TIMES, records
from makespan._milestones import without_milestones
from makespan._table import Table

if TYPE_CHECKING:
    from makespan._native import Task

Time: TypeAlias = Union[int, float, str, timedelta, Decimal]
"""A time: seconds as a number, a text with a unit such as ``"2h"``, or a ``timedelta``."""

Amount: TypeAlias = Union[int, str]
"""An amount of a resource: a number, or a text with a unit such as ``"4GiB"``."""

Speedup: TypeAlias = Union[str, Mapping[str, Mapping[str, float]]]
"""A speed-up law: ``"linear"``, or a dict as returned by :func:`amdahl`, :func:`power` and :func:`downey`."""

_FIELDS = frozenset(
    "name time work time_on speedup estimate processors needs command weight priority released deadline must_end_by family penalty walltime count "
    "data after tasks edges lags".split()
)


#: Keys that a platform may state.
_OF_PLATFORM = tuple(
    "processors nodes processors_per_node placement bandwidth latency local_transfers resources licences consumables setups".split()
)


def amdahl(serial: float) -> dict[str, dict[str, float]]:
    """Returns Amdahl's law. ``serial`` is the fraction of the work that more processors do not speed up."""
    return {"amdahl": {"serial": serial}}


def power(exponent: float) -> dict[str, dict[str, float]]:
    """Returns the power law: the time on p processors is the work divided by p to the power of ``exponent``."""
    return {"power": {"exponent": exponent}}


def downey(parallelism: float, sigma: float) -> dict[str, dict[str, float]]:
    """Returns Downey's law with this average parallelism and this deviation."""
    return {"downey": {"parallelism": parallelism, "sigma": sigma}}


def _law(speedup: Speedup | None) -> Any:
    return {"linear": {}} if speedup == "linear" else speedup


def _range(processors: Any) -> Any:
    """Converts a pair to a range."""
    if isinstance(processors, (tuple, list)) or getattr(processors, "ndim", 0) == 1:
        if len(processors) != 2:
            problem = f"{_check.shown(processors)} is not a range; write the minimum and the maximum, such as (1, 8)"
            raise InputError(problem, field="processors")
        return {"min": processors[0], "max": processors[1]}
    return processors


def _dict(value: Any, place: str, what: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"found {_check.shown(value)}; give {what}", field=place)
    return dict(value)


def _listed(values: Any, place: str, what: str) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping, Job)) or not isinstance(values, Iterable):
        raise InputError(f"found {_check.shown(values)}; give a list of {what}", field=place)
    return list(values)


class Node(dict[str, Any]):
    """A machine of a platform: its processors, their speed, its parent in a tree, and its resources.

    >>> Node("gpu0", processors=8, speed=2.0, resources={"memory": "64GiB", "gpus": 2})["speed"]
    2.0
    """

    def __init__(
        self,
        name: str,
        processors: int = 1,
        *,
        speed: float | None = None,
        parent: str | None = None,
        bandwidth: float | str | None = None,
        latency: Time | None = None,
        resources: Mapping[str, Amount] | None = None,
    ) -> None:
        super().__init__(name=name, processors=processors)
        stated = {"speed": speed, "parent": parent, "bandwidth": bandwidth, "latency": latency, "resources": resources}
        self.update({key: value for key, value in stated.items() if value is not None})


class Platform:
    """The machines: equal processors, a cluster of equal nodes, or different nodes.

    >>> Platform(processors=4)
    Platform(processors=4)
    >>> Platform(nodes=16, processors_per_node=8, placement="compact")
    Platform(nodes=16, processors_per_node=8, placement='compact')
    >>> Platform(nodes=[Node("fast", 2, speed=3.0), Node("slow", 6)], bandwidth="1MB/s").document["bandwidth"]
    '1MB/s'
    """

    def __init__(
        self,
        *,
        processors: int | None = None,
        nodes: int | Sequence[Mapping[str, Any]] | None = None,
        processors_per_node: int | None = None,
        placement: str | None = None,
        bandwidth: float | str | None = None,
        latency: Time | None = None,
        local_transfers: bool | None = None,
        resources: Mapping[str, Amount] | None = None,
        licences: Mapping[str, Amount] | None = None,
        consumables: Mapping[str, Amount] | None = None,
        setups: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        stated = {
            "processors": processors,
            "nodes": _nodes(nodes),
            "processors_per_node": processors_per_node,
            "placement": placement,
            "bandwidth": bandwidth,
            "latency": latency,
            "local_transfers": local_transfers,
            "resources": _plain(resources, "resources"),
            "licences": _plain(licences, "licences"),
            "consumables": _plain(consumables, "consumables"),
            "setups": None if setups is None else _setups(setups),
        }
        self._document = {key: value for key, value in stated.items() if value is not None}

    @property
    def document(self) -> dict[str, Any]:
        """The platform as a dict with the keys of a native file."""
        return self._document

    if TYPE_CHECKING:
        # Values that are not stated are None.
        processors: int | None
        nodes: Any
        processors_per_node: int | None
        placement: str | None
        bandwidth: Any
        latency: Any
        local_transfers: bool | None
        resources: dict[str, Any] | None
        licences: dict[str, Any] | None
        consumables: dict[str, Any] | None
        setups: list[dict[str, Any]] | None
    else:

        def __getattr__(self, key: str) -> Any:
            """Returns a stated value, such as ``platform.processors``, or None."""
            if key in _OF_PLATFORM:
                return self._document.get(key)
            raise AttributeError(f"a platform has no attribute {key!r}; it has {', '.join(_OF_PLATFORM)}")

    @classmethod
    def _of(cls, document: dict[str, Any]) -> Platform:
        platform = cls()
        platform._document = document
        return platform

    def __eq__(self, other: object) -> bool:
        return self._document == other._document if isinstance(other, Platform) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"Platform({', '.join(f'{key}={value!r}' for key, value in self._document.items())})"


def _plain(mapping: Mapping[str, Any] | None, name: str) -> dict[str, Any] | None:
    return None if mapping is None else _dict(mapping, f"platform.{name}", "a dict of amounts by name")


def _setups(setups: Any) -> list[dict[str, Any]]:
    what = "a dict such as {'from': 'red', 'to': 'blue', 'time': 5}"
    return [_dict(setup, f"platform.setups[{at}]", what) for at, setup in enumerate(_listed(setups, "platform.setups", "setup times"))]


def _nodes(nodes: Any) -> Any:
    """Returns the number of nodes, or the list of nodes from Nodes, dicts or the rows of a DataFrame."""
    if nodes is None or hasattr(nodes, "__index__") and not hasattr(nodes, "__len__"):
        return nodes
    each = _listed(records(nodes), "platform.nodes", "makespan.Node, or give the number of equal nodes")
    what = "a Node, or a dict with its keys"
    return [_dict(node, f"platform.nodes[{at}]", what) for at, node in enumerate(each)]


class Graph:
    """A graph of tasks with dependencies: the work of a compound job.

    Tasks are :class:`Job` objects or dicts with their keys. Edges are pairs of names, or triples with a third part that
    states the data: bytes, or a dict with ``data`` (bytes) or ``transfer`` (a time). Instead of tasks and edges, you can
    give a networkx ``DiGraph``. The attributes of its nodes are the keys of tasks, and its edges have the attributes
    ``data`` or ``transfer``.

    ``lags`` limit the time from the start of one task to the start of another. A lag is a triple of two names and a dict with
    ``min``, ``max`` or both, or a dict that also has ``from`` and ``to``.

    >>> graph = Graph([Job("split", time=1), Job("sort", time=4)], edges=[("split", "sort", 1_000_000)])
    >>> graph.edges
    [{'from': 'split', 'to': 'sort', 'data': 1000000}]
    >>> Graph([Job("pour", time=9), Job("finish", time=5)], lags=[("pour", "finish", {"min": 30, "max": 120})]).lags
    [{'from': 'pour', 'to': 'finish', 'min': 30, 'max': 120}]
    """

    def __init__(
        self, tasks: Iterable[Job | Mapping[str, Any]] | Any, edges: Iterable[Any] = (), lags: Iterable[Any] = ()
    ) -> None:
        self.lags = [_time_lag(lag, f"lags[{at}]") for at, lag in enumerate(_listed(lags, "lags", "lags"))]
        if hasattr(tasks, "nodes") and hasattr(tasks, "edges") and not isinstance(tasks, Mapping):
            self.tasks, self.edges = _networkx(tasks)
            return
        self.tasks = [_fields(task, f"tasks[{at}]") for at, task in enumerate(_listed(tasks, "tasks", "tasks"))]
        self.edges = [_edge(edge, f"edges[{at}]") for at, edge in enumerate(_listed(edges, "edges", "edges"))]

    def __len__(self) -> int:
        return len(self.tasks)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (self.tasks, self.edges, self.lags) == (other.tasks, other.edges, other.lags)

    def __hash__(self) -> int:
        return hash((len(self.tasks), repr(self.edges)))

    def __repr__(self) -> str:
        return _shape(self.tasks, self.edges, self.lags)

    def _keys_of_job(self) -> dict[str, Any]:
        """Returns the keys of a compound job with this graph, as in a native file."""
        keys: dict[str, Any] = {"tasks": list(self.tasks), "edges": list(self.edges)}
        return {**keys, "lags": list(self.lags)} if self.lags else keys


def _shape(tasks: Sequence[Any], edges: Sequence[Any], lags: Sequence[Any]) -> str:
    if lags:
        return f"<graph of {len(tasks)} tasks, {len(edges)} edges and {len(lags)} time lags>"
    return f"<graph of {len(tasks)} tasks and {len(edges)} edges>"


def _time_lag(lag: Any, place: str) -> dict[str, Any]:
    if isinstance(lag, Mapping):
        return dict(lag)
    parts = () if isinstance(lag, str) or not isinstance(lag, Iterable) else tuple(lag)
    if len(parts) != 3 or not isinstance(parts[2], Mapping):
        problem = f"{_check.shown(lag)} is not a time lag; write a triple of two names and a dict with `min`, `max` or both"
        raise InputError(problem, field=place)
    return {"from": parts[0], "to": parts[1], **parts[2]}


def _networkx(graph: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    if not graph.is_directed():
        raise InputError("the graph is not directed; give a networkx.DiGraph with dependencies as edges")
    if graph.is_multigraph():
        raise InputError("the graph may have several edges between two nodes; give a networkx.DiGraph")
    tasks = [_node(node, attributes) for node, attributes in graph.nodes(data=True)]
    edges = [_edge((str(a), str(b), attributes), f"edge {a}, {b}") for a, b, attributes in graph.edges(data=True)]
    return tasks, edges


def _node(node: Any, attributes: Mapping[str, Any]) -> dict[str, Any]:
    # `Instance.to_networkx` sets the attributes `job` and `task`. Ignore them.
    stated = {key: value for key, value in attributes.items() if value is not None and key not in ("job", "task")}
    if not any(key in stated for key in TIMES):
        problem = "the node has no time; add an attribute `time` or `work`; to let Makespan guess the time, add `estimate=\"guessed\"`"
        raise InputError(problem, field=f"node {node}")
    return _fields({"name": str(node), **stated}, f"node {node}")


def _edge(edge: Any, place: str) -> dict[str, Any]:
    if isinstance(edge, Mapping):
        return dict(edge)
    parts = () if isinstance(edge, str) or not isinstance(edge, Iterable) else tuple(edge)
    if len(parts) == 2:
        return {"from": parts[0], "to": parts[1]}
    if len(parts) != 3:
        raise InputError(f"{_check.shown(edge)} is not an edge; write a pair of names, or a triple with the data", field=place)
    carried = parts[2] if isinstance(parts[2], Mapping) else {"data": parts[2]}
    carried = {key: value for key, value in carried.items() if value is not None}
    unknown = [key for key in carried if key not in ("data", "transfer")]
    if unknown:
        raise InputError(f"`{unknown[0]}` is not a key of an edge; write `data` or `transfer`", field=place)
    return {"from": parts[0], "to": parts[1], **carried}


class Job:
    """A job: a task, a bag of ``count`` equal tasks, or a ``graph`` of tasks.

    Args:
        name: Unique within the instance.
        time: The time on ``processors`` processors, or a list of times on 1, 2, 3 .. processors (a moldable job).
        work: The time on one processor, with a ``speedup`` for more processors.
        time_on: For machines that differ: the time on one processor of each node, by node name.
        processors: The number of processors, or a pair of the minimum and the maximum.
        needs: Amounts of memory, GPUs or other resources, by name. ``per_processor`` is a dict of the amounts for each
            processor.
        released, deadline, walltime: Times. ``released`` and ``deadline`` (the due date) are relative to time 0, and
            ``walltime`` to the start of the job.
        family: The family of the job, for ``setups`` of the platform.
        must_end_by: The time by which the job must end, relative to time 0. ``list`` and ``optimise`` keep it.
        penalty: The cost of the end of the job: ``{"steps": points}`` or ``{"linear": points}`` with pairs of a time and a
            penalty. The objectives ``total_penalty`` and ``max_penalty`` multiply it by ``weight``.
        after: The names of the jobs that must end before this job.
        weight: The importance in weighted completion.

    >>> Job("a", time=[4, 2.2, 1.6])
    Job('a', time=[4, 2.2, 1.6])
    >>> Job("b", work="2h", speedup=amdahl(0.05), processors=(1, 16), weight=3)["processors"]
    {'min': 1, 'max': 16}
    """

    __slots__ = ("_fields",)

    if TYPE_CHECKING:
        # Values that are not stated are None.
        name: str
        time: Any
        work: Any
        time_on: Any
        speedup: Any
        estimate: Any
        processors: Any
        needs: Any
        command: Any
        weight: Any
        priority: int | None
        released: Any
        deadline: Any
        must_end_by: Any
        family: Any
        penalty: Any
        walltime: Any
        count: int | None
        data: int | None
        after: list[str] | None
        tasks: list[dict[str, Any]] | None
        edges: list[dict[str, Any]] | None
        lags: list[dict[str, Any]] | None
    else:

        def __getattr__(self, key: str) -> Any:
            """Returns a stated value, such as ``job.time``, or None."""
            if key in _FIELDS:
                return self._fields.get(key)
            raise AttributeError(f"a job has no attribute {key!r}; it has {', '.join(sorted(_FIELDS))}")

    def __init__(
        self,
        name: str,
        time: Time | Sequence[Time] | Any | None = None,
        *,
        work: Time | None = None,
        time_on: Mapping[str, Time] | None = None,
        speedup: Speedup | None = None,
        estimate: str | Mapping[str, Any] | None = None,
        processors: int | Sequence[int] | Mapping[str, int] | None = None,
        needs: Mapping[str, Any] | None = None,
        command: str | Sequence[str] | None = None,
        weight: float | None = None,
        priority: int | None = None,
        released: Time | None = None,
        deadline: Time | None = None,
        must_end_by: Time | None = None,
        family: str | None = None,
        penalty: Mapping[str, Any] | None = None,
        walltime: Time | None = None,
        count: int | None = None,
        data: int | None = None,
        after: str | Sequence[str] | None = None,
        graph: Graph | Any | None = None,
    ) -> None:
        # Values that are None are left out when the instance is created.
        fields: dict[str, Any] = {"name": name, "time": _kept(time), "weight": weight, "released": released}
        if processors is not None:
            fields["processors"] = _range(processors)
        if work is not None:
            fields["work"] = work
            fields["speedup"] = _law(speedup)
        elif speedup is not None:
            fields["speedup"] = _law(speedup)
        for key, value in (
            ("time_on", time_on),
            ("estimate", estimate),
            ("needs", needs),
            ("command", command),
            ("priority", priority),
            ("deadline", deadline),
            ("must_end_by", must_end_by),
            ("family", family),
            ("penalty", penalty),
            ("walltime", walltime),
            ("count", count),
            ("data", data),
        ):
            if value is not None:
                fields[key] = _kept(value)
        if after is not None:
            fields["after"] = _after(after, "after")
        if graph is not None:
            if not isinstance(graph, Graph):
                graph = Graph(graph)
            fields.update(graph._keys_of_job())
        self._fields = fields

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the value of a key of a native file, or ``default`` if the job does not state the key."""
        value = self._fields.get(key)
        return default if value is None else value

    def __getitem__(self, key: str) -> Any:
        value = self._fields.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def keys(self) -> Iterable[str]:
        """Returns the keys of a native file that are set on this job. ``dict(job)`` also contains their values."""
        return self.document().keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self.document()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Job):
            return NotImplemented
        return bool(_plainly(self.document()) == _plainly(other.document()))

    def __hash__(self) -> int:
        return hash(str(self._fields["name"]))

    def document(self) -> dict[str, Any]:
        """Returns the job as a dict with the keys of a native file."""
        return {key: value for key, value in self._fields.items() if value is not None}

    def __repr__(self) -> str:
        stated = {key: value for key, value in self.document().items() if key not in ("name", "tasks", "edges", "lags")}
        if "tasks" in self:
            stated["graph"] = _shape(self["tasks"], self["edges"], self.get("lags", []))
        shown = (f", {key}={value if key == 'graph' else repr(value)}" for key, value in stated.items())
        return f"Job({self._fields['name']!r}{''.join(shown)})"


def _kept(value: Any) -> Any:
    """Returns a copy of a mutable value."""
    if value is None or isinstance(value, (int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {key: _kept(part) for key, part in value.items()}
    if isinstance(value, list):
        return value[:]
    return value.copy() if hasattr(value, "copy") and hasattr(value, "tolist") else value


def _after(names: Any, place: str) -> list[Any]:
    """Returns a list of one or several names."""
    return [names] if isinstance(names, str) else _listed(names, place, "names of jobs")


def _close(word: Any, known: Iterable[str]) -> str:
    """Returns a question that suggests a known word with a similar spelling."""
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _plainly(value: Any) -> Any:
    """Converts arrays to lists. A comparison of arrays would give an array instead of true or false."""
    if isinstance(value, dict):
        return {key: _plainly(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plainly(part) for part in value]
    return _plainly(value.tolist()) if hasattr(value, "tolist") and not isinstance(value, (int, float, str)) else value


def _fields(job: Any, place: str) -> dict[str, Any]:
    """Returns a dict with the keys of a job or task. ``job`` is a Job or a dict."""
    if isinstance(job, Job):
        return job._fields
    if not isinstance(job, Mapping):
        problem = f"found a value of type `{type(job).__name__}`; give a Job, or a dict with its keys"
        raise InputError(problem, field=place)
    fields = dict(job)
    graph = fields.pop("graph", None)
    if graph is not None:
        graph = graph if isinstance(graph, Graph) else Graph(graph)
        fields.update(graph._keys_of_job())
    for key in fields:
        if key not in _FIELDS:
            close = _close(key, [*_FIELDS, "graph"])
            known = close or f"; it has {', '.join(sorted([*_FIELDS, 'graph']))}"
            raise InputError(f"`{key}` is not a key of a job{known}", field=place)
    if fields.get("after") is not None:
        fields["after"] = _after(fields["after"], f"{place}.after")
    if "processors" in fields:
        fields["processors"] = _range(fields["processors"])
    if "speedup" in fields:
        fields["speedup"] = _law(fields["speedup"])
    return fields


class Instance:
    """A checked set of machines and jobs, which can be planned.

    Jobs are :class:`Job` objects, dicts with their keys, or a pandas or polars DataFrame. A DataFrame has a row for each
    job and the keys as columns. Empty cells are ignored.

    >>> instance = Instance(
    ...     platform=Platform(processors=4),
    ...     jobs=[Job("a", time=[4, 2.2, 1.6]), Job("b", time=3, processors=2)],
    ... )
    >>> instance
    <instance of 2 jobs on 4 processors>
    >>> Instance(processors=2, jobs=[{"name": "c", "time": "1h"}]).jobs["longest"]
    [3600.0]

    Jobs and tasks with the time 0 (milestones) are removed with a warning. Their successors wait for their predecessors.

    Raises:
        InputError: for invalid input. The error states the place of the input, such as ``jobs[3].time[0]``, and valid values.
    """

    def __init__(
        self,
        platform: Platform | Mapping[str, Any] | None = None,
        jobs: Iterable[Job | Mapping[str, Any]] | Any = (),
        *,
        processors: int | None = None,
        unavailable: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        if platform is not None and processors is not None:
            raise InputError("both a platform and a number of processors are given; give one of them")
        machines: dict[str, Any] | None = None if processors is None else {"processors": processors}
        if platform is not None:
            what = "a Platform, or the number of equal processors as `processors=..`"
            machines = platform.document if isinstance(platform, Platform) else _dict(platform, "platform", what)
        rows = records(jobs)
        if rows is not jobs:
            rows = [_named(row) for row in rows]
        if type(rows) is not list:
            rows = _listed(rows, "jobs", "jobs, or a DataFrame with one job in each row")
        fields = [job._fields if type(job) is Job else _fields(job, f"jobs[{at}]") for at, job in enumerate(rows)]
        fields = without_milestones(fields)
        document: dict[str, Any] = {"version": 2, "platform": machines, "jobs": fields}
        what = "a dict such as {'processors': '0-3', 'start': 0, 'end': '1h'}"
        periods = _listed(unavailable, "unavailable", "periods")
        closed = [_dict(period, f"unavailable[{at}]", what) for at, period in enumerate(periods)]
        if closed:
            document["unavailable"] = closed
        try:
            self._native = _native.Instance.of_document(document)
        except InputError as error:
            field = None if error.field is not None else _place(error.problem, fields)
            if field is None:
                raise
            raise InputError(error.problem, field=field) from None

    @classmethod
    def _of(cls, native: _native.Instance) -> Instance:
        instance = cls.__new__(cls)
        instance._native = native
        return instance

    @classmethod
    def from_json(cls, text: str) -> Instance:
        """Reads an instance from a native JSON text."""
        found = _check.text(text, "text", '{"version": 2, ..}')
        return cls._of(_native.Instance.of_text(found, "instance", _reading()))

    @property
    def processors(self) -> int:
        """The number of processors of the platform."""
        return self._native.processors

    @property
    def task_count(self) -> int:
        """The number of tasks. Each task of a bag is counted."""
        return self._native.task_count

    @property
    def remarks(self) -> list[str]:
        """Messages of the reader, for example about skipped records of a log or about allotments that no plan uses."""
        return self._native.remarks

    @property
    def format(self) -> str:
        """The format of the file that the instance was read from."""
        return self._native.format

    @property
    def platform(self) -> Platform:
        """Platform of the instance."""
        return Platform._of(json.loads(self._native.machines())["platform"])

    @property
    def guesses(self) -> int:
        """The number of guessed times. Plans and bounds are valid only if the guesses are correct."""
        return self._native.guesses

    @property
    def tasks(self) -> Tasks:
        """All tasks in order. A task object is created only on access, so a bag may have 10^12 tasks."""
        return Tasks(self._native)

    @property
    def jobs(self) -> Table:
        """The jobs, one in each row."""
        return Table(self._native.jobs())

    @property
    def nodes(self) -> Table:
        """The nodes of the platform, one in each row."""
        return Table(self._native.nodes())

    @property
    def edges(self) -> Table:
        """The edges between tasks, one in each row."""
        return Table(self._native.edges())

    def to_json(self) -> str:
        """Returns the text of a native file."""
        return self._native.text()

    def write(self, path: str | PathLike[str]) -> None:
        """Writes a native file: TOML if the name ends with ``.toml``, otherwise JSON. The file is replaced atomically."""
        name = os.fsdecode(path)
        self._native.write(name, name.endswith(".toml"))

    def to_networkx(self) -> Any:
        """Returns the tasks and the edges between them as a networkx ``DiGraph``."""
        graph = _check.module("networkx").DiGraph()
        self._native.check_task_count()
        for task in self.tasks:
            least, most = task.min_processors, task.max_processors
            graph.add_node(task.name, job=task.job, task=task, **_of_task(task, least, most))
        for edge in self.edges:
            carried = {key: edge[key] for key in ("data", "transfer") if edge[key] is not None}
            graph.add_edge(edge["from"], edge["to"], **carried)
        return graph

    def __len__(self) -> int:
        return self._native.job_count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        return self._native is other._native or self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((len(self), self.task_count, self.processors))

    def __reduce__(self) -> tuple[Any, tuple[str, int]]:
        return (_restored, (self.to_json(), len(self)))

    def __repr__(self) -> str:
        edges = self._native.edge_count
        with_edges = f", {edges} edges" if edges else ""
        tasks = f" ({self.task_count} tasks{with_edges})" if self.task_count != len(self) else with_edges
        return f"<instance of {len(self)} jobs{tasks} on {self.processors} processors{_guessed(self.guesses)}>"


def _restored(text: str, jobs: int) -> Instance:
    """Restores a pickled instance. A native file must contain jobs, but an instance may have none, so the number of jobs is
    stored."""
    return Instance._of(_native.Instance.of_pickle(text, jobs, _reading()))


def _guessed(guesses: int) -> str:
    """Returns a note that states the number of guessed times."""
    return "" if guesses == 0 else ", 1 time is a guess" if guesses == 1 else f", {guesses} times are guesses"


def _named(row: dict[str, Any]) -> dict[str, Any]:
    """Converts numeric job names to text."""
    name = row.get("name")
    return {**row, "name": str(name)} if hasattr(name, "__index__") and not isinstance(name, bool) else row


def _of_task(task: Task, least: int, most: int) -> dict[str, Any]:
    """Returns the keys ``time`` and ``processors`` of a native file for a task, if all processors are equal."""
    try:
        times = [task.time(count) for count in range(least, most + 1)] if least in (1, most) and most <= 1024 else None
    except ValueError:
        return {}
    if times is None:
        return {}
    return {"time": times[0], "processors": most} if least == most else {"time": times}


def _place(problem: str, fields: list[dict[str, Any]]) -> str | None:
    """Returns the path of the job that an error message names. For a cycle of jobs, this is the path of ``after``."""
    cycle = re.search("in a cycle: (.+?) -> ", problem)
    named = cycle or re.search("(?:job|task) `([^`]+)`", problem)
    if named is None:
        return None
    name = named.group(1)
    for at, job in enumerate(fields):
        if job.get("name") == name or name.startswith(f"{job.get('name')}/"):
            return f"jobs[{at}].after" if cycle else f"jobs[{at}]"
    return None


class Tasks(Sequence["Task"]):
    """The tasks of an instance in order. Tasks are created on access.

    >>> tasks = Instance(processors=2, jobs=[Job("a", time=1, count=10**9)]).tasks
    >>> len(tasks), tasks[-1], tasks[2].time()
    (1000000000, <task a/999999999>, 1.0)
    """

    def __init__(self, native: _native.Instance) -> None:
        self._native = native

    def __len__(self) -> int:
        return self._native.task_count

    @overload
    def __getitem__(self, at: int) -> Task: ...

    @overload
    def __getitem__(self, at: slice) -> list[Task]: ...

    def __getitem__(self, at: int | slice) -> Task | list[Task]:
        if isinstance(at, slice):
            return [self._native.task(number) for number in range(len(self))[at]]
        return self._native.task(range(len(self))[at])

    def __iter__(self) -> Iterator[Task]:
        return map(self._native.task, range(len(self)))

    def __contains__(self, task: object) -> bool:
        number = getattr(task, "id", None)
        return isinstance(number, int) and number < len(self) and self._native.task(number) == task

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Tasks, list)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} tasks>"


def _reading(**stated: Any) -> dict[str, Any]:
    """Checks the given options for reading a file, and returns them together with the default values."""
    usual: dict[str, Any] = {
        "processors": None,
        "platform": None,
        "bandwidth": None,
        "storage": None,
        "trace": None,
        "speedup": None,
        "seed": 0,
        "strict": False,
        "estimates": "user",
        "queues": [],
    }
    found = {**usual, **stated}
    found["seed"] = _check.seed(found["seed"])
    found["strict"] = bool(found["strict"])
    if found["processors"] is not None:
        found["processors"] = _check.whole(found["processors"], "processors", 1)
    for name, example in (("storage", "n0"), ("speedup", "amdahl:0.05"), ("estimates", "user")):
        if found[name] is not None:
            found[name] = _check.text(found[name], name, example)
    return found


def _stated(platform: Any) -> dict[str, Any] | None:
    if platform is None or isinstance(platform, Platform):
        return None if platform is None else platform.document
    return _dict(platform, "platform", "a Platform")


def read(
    path: str | PathLike[str],
    *,
    processors: int | None = None,
    platform: Platform | None = None,
    bandwidth: float | str | None = None,
    storage: str | None = None,
    trace: str | PathLike[str] | None = None,
    speedup: str | None = None,
    seed: int = 1,
    strict: bool = False,
) -> Instance:
    """Reads an instance of any format in ``makespan.FORMATS``. The content determines the format. The file may be compressed
    with gzip or bzip2.

    Args:
        processors, platform: Machines that replace the machines of the file: a number of equal processors, or a platform.
        bandwidth: The bandwidth between any two machines, for workflows, such as ``"1GB/s"``.
        storage: The node that holds the input files of a workflow.
        trace: A Nextflow trace that belongs to the graph in DOT format.
        speedup: Makes the jobs of a log moldable: ``"linear"``, ``"amdahl:0.05"``, ``"downey:8,1"``, ``"downey:random"``.
        seed: The seed of ``downey:random``.
        strict: Rejects a log if a record would be skipped.

    Raises:
        InputError: for invalid content, with file, line and field.
        OSError: if the file cannot be read.
    """
    stated = _stated(platform)
    reading = _reading(
        processors=processors,
        platform=stated,
        bandwidth=bandwidth,
        storage=storage,
        trace=trace,
        speedup=speedup,
        seed=seed,
        strict=strict,
    )
    return Instance._of(_native.Instance.of_file(os.fsdecode(path), reading))


def _instance(value: Any) -> Instance:
    """Returns the value if it is an instance."""
    if not isinstance(value, Instance):
        raise InputError(f"{_check.shown(value)} is not an instance; give a makespan.Instance, or read one by makespan.read(path)")
    return value
