"""Base classes for your own policies and schedulers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, Union

from makespan import _check, _native
from makespan._errors import PolicyError
from makespan._native import Cancel, Event, Processors, Start, Task, View, Wake

if TYPE_CHECKING:
    from makespan._model import Instance

Decision: TypeAlias = Union[Start, Wake, Cancel]


class Policy(ABC):
    """An online policy. The policy receives events and decides which tasks start.

    The rules of the catalogue's policies apply. A task starts on free processors that the task accepts. All resources that
    the task needs must be free. No task may wait for ever.

    >>> import makespan as m
    >>> class InTurn(m.Policy):
    ...     '''First come, first served.'''
    ...     def on(self, events: list[m.Event], view: m.View) -> Iterable[m.Decision]:
    ...         free = view.free
    ...         for task in view.waiting:
    ...             if task.min_processors > free:
    ...                 return
    ...             free -= task.min_processors
    ...             yield m.Start(task)
    >>> jobs = [m.Job("a", time=4, processors=2), m.Job("b", time=4, processors=3), m.Job("c", time=1)]
    >>> result = m.simulate(m.Instance(processors=4, jobs=jobs), [InTurn(), "fcfs"])
    >>> result["InTurn"].measures["makespan"] == result["fcfs"].measures["makespan"]
    True
    """

    #: The name in results. The default is the name of the class.
    name: str

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A subclass of a named class has a name of its own.
        if "name" not in vars(cls):
            cls.name = cls.__name__

    @abstractmethod
    def on(self, events: list[Event], view: View) -> Iterable[Decision]:
        """Handles all events of one instant, and returns (or yields) decisions. The decisions are executed in their order.
        None is accepted in place of an empty list.

        ``view`` shows the state after the last event, without the effect of these decisions. A decision with a number of
        processors gets free processors that the earlier decisions do not use.
        """


class Placement(NamedTuple):
    """The processors and the start of a task. The end of the task follows from its time on these processors."""

    task: Task
    start: float
    processors: Processors | str | Iterable[int]


class Scheduler(ABC):
    """Your own scheduler, for :func:`makespan.plan` and :func:`makespan.compare`. Its schedule is validated like any other,
    and bounds are proved for comparison.

    >>> import makespan as m
    >>> class OneByOne(m.Scheduler):
    ...     def schedule(self, instance: m.Instance, tasks: list[m.Task]) -> Iterable[m.Placement]:
    ...         start = 0.0
    ...         for task in tasks:
    ...             width = task.allotments[-1]
    ...             yield m.Placement(task, start, range(width))
    ...             start += task.time(width)
    >>> m.plan(m.Instance(processors=2, jobs=[m.Job("a", time=[4, 3]), m.Job("b", time=2)]), OneByOne()).makespan
    5.0
    """

    #: The name in results. The default is the name of the class.
    name: str

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A subclass of a named class has a name of its own.
        if "name" not in vars(cls):
            cls.name = cls.__name__

    @abstractmethod
    def schedule(self, instance: Instance, tasks: list[Task]) -> Iterable[Placement]:
        """Returns placements. Each task must have exactly one placement."""

    def _placements(self, native: _native.Instance, tasks: list[Task]) -> list[tuple[Any, ...]]:
        from makespan._model import Instance

        schedule: Any = self.schedule(Instance._of(native), tasks)
        if isinstance(schedule, str) or not isinstance(schedule, Iterable):
            raise PolicyError(f"{self.name} made {_check.shown(schedule)}, which is not a list; return a list of Placement objects")
        placements = []
        for placed in schedule:
            if not isinstance(placed, tuple) or len(placed) != 3 or not isinstance(placed[0], Task):
                problem = f"{self.name} placed {_check.shown(placed)}; return Placement(task, start, processors)"
                raise PolicyError(problem)
            placements.append(tuple(placed))
        return placements
