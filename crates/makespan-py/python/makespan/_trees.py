"""Bags of tasks on a tree of machines, simulated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from makespan import _check, _native
from makespan._errors import AlgorithmError, InputError
from makespan._model import Instance, Time, _instance
from makespan._plan import Progress
from makespan._simulate import _threads
from makespan._table import Rows, Table


@dataclass(frozen=True)
class Change:
    """What happens to a node of a tree during a simulation: another bandwidth of the link from its parent, another speed, or its end with
    all that is below it. Tasks that are lost are sent again.

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
            problem = f"{_check.shown(self)} is no change; state one of bandwidth, speed and removed=True"
            raise InputError(problem, field=place)
        what, value = found[0]
        return self.at, _check.text(self.node, f"{place}.node", "n3"), what, str(value)


class TreeSimulation:
    """What a policy made of bags of tasks on a tree. Times are in seconds, rates in tasks a second."""

    def __init__(self, native: _native.TreeSimulation) -> None:
        self._native = native

    @property
    def policy(self) -> str:
        """The spec of the policy."""
        return self._native.policy

    @property
    def throughput(self) -> float | None:
        """Weighted tasks a second of the application that has fewest, measured from a tenth to nine tenths of the time at which the
        first application was done. None when none was."""
        return self._native.throughput

    @property
    def bound(self) -> float:
        """No schedule has a larger throughput in the long run: that is proved, for the machines as they begin."""
        return self._native.bound

    @property
    def end(self) -> float:
        """When the run ended."""
        return self._native.end

    @property
    def unfinished(self) -> int:
        """How many tasks were not done."""
        return self._native.unfinished

    @property
    def stalled(self) -> bool:
        """Whether tasks were left and nothing happened any more."""
        return self._native.stalled

    @property
    def hops(self) -> int:
        """How many tasks were sent over a link."""
        return self._native.hops

    @property
    def resent(self) -> int:
        """How many tasks came back to the root from nodes that were removed."""
        return self._native.resent

    @property
    def seconds(self) -> float:
        """How long the simulation took in real time."""
        return self._native.seconds

    @property
    def applications(self) -> Table:
        """The applications, one a row."""
        return Table(self._native.applications())

    @property
    def nodes(self) -> Table:
        """The nodes, one a row: tasks computed, loads as shares of the time, the most that waited, and whether it was removed (0 or 1)."""
        return Table(self._native.nodes())

    @property
    def completions(self) -> Table:
        """When each task was done, one a row."""
        return Table(self._native.completions())

    def __reduce__(self) -> Any:
        raise TypeError("a simulation cannot be pickled; its tables can")

    def __repr__(self) -> str:
        measured = "not measured" if self.throughput is None else f"{self.throughput:.4g}"
        return f"<{self.policy}: fair throughput {measured}, at most {self.bound:.4g}>"


class TreeSimulations(Sequence[TreeSimulation]):
    """What several policies made of one tree, in their order; also by name: ``results["back-pressure"]``."""

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
        """The figures side by side, a policy a row."""
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
    """Plays bags of tasks whose data come down a tree of machines, once for each policy of its nodes.

    Args:
        instance: Nodes with a ``parent``, and jobs with a ``count`` and ``data``.
        policies: Such as ``"back-pressure"``, ``"fcfs"`` and ``"lp"``; ``makespan algorithms`` explains them.
        buffer: How many tasks wait at a node other than the root.
        sends: How many sends a node makes at the same time.
        slow_requests: Whether a request takes the latency of its link.
        changes: What happens to nodes meanwhile.
        progress: Called with the number of policies that are done and of all.

    >>> import makespan as m
    >>> result = m.simulate_tree(m.generate.tree(nodes=10, tasks=100))[0]
    >>> result.unfinished, 0.5 < result.throughput / result.bound < 1.1
    (0, True)

    Raises:
        AlgorithmError: when a policy is unknown, or cannot play the tree.
    """
    _instance(instance)
    specs = [_check.text(spec, "policies", "back-pressure") for spec in _check.several(policies, "policies", "specs")]
    told = []
    for at, change in enumerate(changes):
        if not isinstance(change, Change):
            raise InputError(f"{_check.shown(change)} is no change; give a makespan.Change", field=f"changes[{at}]")
        told.append(change._told(f"changes[{at}]"))
    rules = {
        "buffer": _check.whole(buffer, "buffer", 1),
        "sends": _check.whole(sends, "sends", 1),
        "slow_requests": bool(slow_requests),
        "changes": told,
    }
    _check.function(progress, "progress")
    try:
        made = _native.simulate_tree(instance._native, specs, rules, _threads(threads), progress)
    except AlgorithmError as error:
        # What is said is said for the command line, too.
        raise AlgorithmError(str(error).replace("give --buffer ", "give buffer=")) from None
    return TreeSimulations([TreeSimulation(one) for one in made])
