"""Simulates bags of tasks on a tree of machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from makespan import _check, _native
from makespan._errors import InputError
from makespan._model import Instance, Time, _instance
from makespan._plan import Progress
from makespan._simulate import _threads
from makespan._table import Rows, Table


@dataclass(frozen=True)
class Change:
    """A change of a node during a simulation: a new bandwidth of the link from its parent, a new speed, or the removal of the
    node and its subtree. Lost tasks are sent again.

    >>> Change("90s", "n3", bandwidth="7kbit/s")
    Change(at='90s', node='n3', bandwidth='7kbit/s', speed=None, removed=False)
    """

    at: Time
    node: str
    bandwidth: float | str | None = None
    speed: float | None = None
    removed: bool = False

    def _told(self, place: str) -> tuple[Time, str, str, str]:
        stated = {"bandwidth": self.bandwidth, "speed": self.speed, "removed": self.removed or None}
        found = [(what, value) for what, value in stated.items() if value is not None]
        if len(found) != 1:
            problem = f"{_check.shown(self)} is not a change; state one of bandwidth, speed and removed=True"
            raise InputError(problem, field=place)
        what, value = found[0]
        return self.at, _check.text(self.node, f"{place}.node", "n3"), what, str(value)


class TreeSimulation:
    """The result of a policy for bags of tasks on a tree. Times are in seconds, and rates in tasks per second."""

    def __init__(self, native: _native.TreeSimulation) -> None:
        self._native = native

    @property
    def policy(self) -> str:
        """Spec of the policy."""
        return self._native.policy

    @property
    def throughput(self) -> float | None:
        """The fair throughput: the minimum, over the applications, of weighted tasks per second. The throughput is
        measured from 10 % to 90 % of the time until the first application was done. None if no application was done."""
        return self._native.throughput

    @property
    def bound(self) -> float:
        """A proven upper limit on the long-run throughput of every schedule, if the machines stay as they are at the beginning."""
        return self._native.bound

    @property
    def end(self) -> float:
        """The end of the run."""
        return self._native.end

    @property
    def unfinished(self) -> int:
        """The number of unfinished tasks."""
        return self._native.unfinished

    @property
    def stalled(self) -> bool:
        """True if the simulation stopped because no further event occurred, although tasks were unfinished."""
        return self._native.stalled

    @property
    def hops(self) -> int:
        """The number of transfers of tasks over links."""
        return self._native.hops

    @property
    def resent(self) -> int:
        """The number of tasks that returned to the root because a node was removed."""
        return self._native.resent

    @property
    def seconds(self) -> float:
        """The duration of the simulation in real time."""
        return self._native.seconds

    @property
    def applications(self) -> Table:
        """The applications, one in each row."""
        return Table(self._native.applications())

    @property
    def nodes(self) -> Table:
        """The nodes, one in each row: computed tasks, loads as fractions of the time, the maximum number of waiting tasks, and
        whether the node was removed (0 or 1)."""
        return Table(self._native.nodes())

    @property
    def completions(self) -> Table:
        """The completion times of the tasks, one in each row."""
        return Table(self._native.completions())

    def __reduce__(self) -> Any:
        raise TypeError("a simulation cannot be pickled; its tables can")

    def __repr__(self) -> str:
        measured = "not measured" if self.throughput is None else f"{self.throughput:.4g}"
        return f"<{self.policy}: fair throughput {measured}, at most {self.bound:.4g}>"


class TreeSimulations(Sequence[TreeSimulation]):
    """The results of several policies on one tree, in order, and by name: ``results["back-pressure"]``."""

    def __init__(self, simulations: list[TreeSimulation]) -> None:
        self._all = simulations

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, key: str | int) -> TreeSimulation: ...

    @overload
    def __getitem__(self, key: slice) -> list[TreeSimulation]: ...

    def __getitem__(self, key: str | int | slice) -> TreeSimulation | list[TreeSimulation]:
        if not isinstance(key, str):
            return self._all[key]
        for simulation in self._all:
            if simulation.policy == key:
                return simulation
        raise KeyError(f"{key}; there are {', '.join(simulation.policy for simulation in self._all)}")

    def __iter__(self) -> Iterator[TreeSimulation]:
        return iter(self._all)

    @property
    def table(self) -> Rows:
        """The measures of all policies, one policy in each row."""
        names = ("policy", "throughput", "bound", "end", "unfinished", "hops", "resent", "seconds")
        return Rows([{name: getattr(simulation, name) for name in names} for simulation in self._all])

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._all))


def simulate_tree(
    instance: Instance,
    policies: Iterable[str] | str = ("back-pressure",),
    *,
    buffer: int = 10,
    sends: int = 1,
    slow_requests: bool = False,
    changes: Iterable[Change] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> TreeSimulations:
    """Simulates bags of tasks with data that are sent down a tree of machines, once for each policy of the nodes.

    Args:
        instance: Nodes with a ``parent``, and jobs with a ``count`` and ``data``.
        policies: Specs such as ``"back-pressure"``, ``"fcfs"`` and ``"lp"``. ``makespan algorithms`` explains them.
        buffer: The maximum number of tasks that wait at a node other than the root.
        sends: The maximum number of simultaneous sends of a node.
        slow_requests: True if a request takes the latency of its link.
        changes: Changes of nodes during the simulation.
        progress: A function that is called with the number of finished policies and the number of all policies.

    >>> import makespan as m
    >>> result = m.simulate_tree(m.generate.tree(nodes=10, tasks=100))[0]
    >>> result.unfinished, 0.5 < result.throughput / result.bound < 1.1
    (0, True)

    Raises:
        AlgorithmError: if a policy is unknown or does not support the tree.
    """
    _instance(instance)
    specs = [_check.text(spec, "policies", "back-pressure") for spec in _check.several(policies, "policies", "specs")]
    told = []
    for at, change in enumerate(changes):
        if not isinstance(change, Change):
            raise InputError(f"{_check.shown(change)} is not a change; give a makespan.Change", field=f"changes[{at}]")
        told.append(change._told(f"changes[{at}]"))
    rules = {
        "buffer": _check.whole(buffer, "buffer", 1),
        "sends": _check.whole(sends, "sends", 1),
        "slow_requests": bool(slow_requests),
        "changes": told,
    }
    _check.function(progress, "progress")
    made = _native.simulate_tree(instance._native, specs, rules, _threads(threads), progress)
    return TreeSimulations([TreeSimulation(one) for one in made])
