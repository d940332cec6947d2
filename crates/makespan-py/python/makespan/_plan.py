"""Planning with proofs."""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from os import PathLike
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from makespan import _check, _native
from makespan._errors import AlgorithmError, InputError, VerificationError
from makespan._log import LOGGER
from makespan._model import Instance, Time, _close, _guessed, _instance
from makespan._policy import Scheduler
from makespan._table import Rows, Table

Progress = Callable[[float, float], object]
"""A function that is called about twenty times a second with the amount of completed work and the total amount."""


class SearchState(NamedTuple):
    """The state of a running search."""

    #: Elapsed time in seconds.
    seconds: float
    #: Time limit in seconds. None means that there is none.
    time_limit: float | None
    #: The best value of the minimised objective so far. None if the search has not reported a value.
    value: float | None
    #: The best proven bound on the minimised objective so far. None if there is none.
    bound: float | None

    @property
    def gap(self) -> float | None:
        """The value divided by the bound, minus 1. None if one of them is missing, or if the bound is not positive."""
        return None if self.value is None or self.bound is None or self.bound <= 0 else self.value / self.bound - 1


SearchProgress = Callable[[SearchState], object]
"""A function that is called about twenty times a second with the state of the search."""

Objective: TypeAlias = Literal[
    "makespan",
    "weighted_completion",
    "mean_flow",
    "cost",
    "max_lateness",
    "max_tardiness",
    "total_tardiness",
    "weighted_tardiness",
    "tardy_jobs",
    "weighted_tardy_jobs",
    "total_penalty",
    "max_penalty",
]
"""The objectives that can be minimised. Specs such as ``"optimise[objective=pareto]"`` have further objectives."""


class Bound:
    """A proven bound. No schedule has a smaller value. For ``fair_throughput``, no schedule has a larger value.

    In arithmetic, comparisons and formats, a bound is the number :attr:`value`. :meth:`verify` checks the certificate of
    the bound in exact integers, without a solver.

    >>> import makespan
    >>> instance = makespan.Instance(processors=2, jobs=[makespan.Job(name, time=3) for name in "abc"])
    >>> best = makespan.bound(instance)["makespan"]
    >>> best.value, best.exact
    (6.0, '6')
    >>> best.verify()
    >>> 9 / best, f"{best:.1f}", best < 7, round(best)
    (1.5, '6.0', True, 6)
    """

    def __init__(self, native: _native.Bound) -> None:
        self._native = native

    @property
    def objective(self) -> str:
        """The bounded objective, such as ``makespan``."""
        return self._native.objective

    @property
    def value(self) -> float:
        """The value as the nearest float: seconds, weight times seconds, a cost, or weighted tasks per second."""
        return self._native.value

    @property
    def exact(self) -> str:
        """Value as an exact decimal."""
        return self._native.exact

    @property
    def proof(self) -> str:
        """Kind of the proof."""
        return self._native.proof

    @property
    def makespan_at_most(self) -> float | None:
        """The largest makespan of the schedules for which the bound is proved. None if the bound is proved for all schedules."""
        return self._native.makespan_at_most

    @property
    def rests_on_guesses(self) -> bool:
        """True if some times of the instance are guesses."""
        return self._native.rests_on_guesses

    def certificate(self) -> str:
        """Returns the value with its proof, as JSON."""
        return self._native.certificate()

    def verify(self) -> None:
        """Checks the certificate.

        Raises:
            VerificationError: if the certificate does not prove the value.
        """
        problem = self._native.problem()
        if problem is not None:
            raise VerificationError([problem])

    def __float__(self) -> float:
        return self.value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return _check.module("numpy").asarray(self.value, dtype=dtype)

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        return self.value != 0

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.value, digits)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Bound):
            return (self.objective, self.certificate()) == (other.objective, other.certificate())
        return self.value == other if isinstance(other, (int, float)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: Any) -> Any:
        return self.value < _plain(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= _plain(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > _plain(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= _plain(other)

    def __add__(self, other: Any) -> Any:
        return self.value + _plain(other)

    def __radd__(self, other: Any) -> Any:
        return _plain(other) + self.value

    def __sub__(self, other: Any) -> Any:
        return self.value - _plain(other)

    def __rsub__(self, other: Any) -> Any:
        return _plain(other) - self.value

    def __mul__(self, other: Any) -> Any:
        return self.value * _plain(other)

    def __rmul__(self, other: Any) -> Any:
        return _plain(other) * self.value

    def __truediv__(self, other: Any) -> Any:
        return self.value / _plain(other)

    def __rtruediv__(self, other: Any) -> Any:
        return _plain(other) / self.value

    def __neg__(self) -> float:
        return -self.value

    def __abs__(self) -> float:
        return abs(self.value)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return (_bound, (Instance._of(self._native.of), self.objective, self.certificate()))

    def __repr__(self) -> str:
        guessed = ", if the guesses hold" if self.rests_on_guesses else ""
        return f"<{self.objective} {'<=' if self.objective == 'fair_throughput' else '>='} {self.exact}, by {self.proof}{guessed}>"


def _bound(instance: Instance, objective: str, certificate: str) -> Bound:
    """Restores a pickled bound from its certificate, which :meth:`Bound.verify` checks."""
    return Bound(_native.bound_of_text(instance._native, objective, certificate))


def _plain(value: Any) -> Any:
    """Returns the value of a bound. Returns anything that is not a bound unchanged."""
    return value.value if isinstance(value, Bound) else value


class Plan:
    """A plan with proofs of its quality. Values are in seconds, or in weight times seconds."""

    def __init__(self, native: _native.Plan, objective: str | None = None) -> None:
        self._native = native
        self._objective = objective

    @property
    def algorithm(self) -> str:
        """Full spec of the algorithm."""
        return self._native.algorithm

    @property
    def spec(self) -> str:
        """Spec of the algorithm with all its parameters, also those with default values. Together with :attr:`seed`,
        :attr:`version` and the instance, the spec determines the plan, if it has no time limit."""
        return self._native.spec

    @property
    def seed(self) -> int:
        """The seed of all random choices."""
        return self._native.seed

    @property
    def version(self) -> str | None:
        """Version of Makespan that made the plan. None if the plan is from a file that does not state the version."""
        return self._native.version

    @property
    def instance_hash(self) -> str | None:
        """SHA-256 hash of the planned instance. :func:`verify` reports a plan file with the hash of another instance. None if
        the plan is from a file that does not state the hash."""
        return self._native.instance_hash

    @property
    def kind(self) -> str:
        """``schedule``, ``front``, ``strategy`` or ``steady state``. A front and a strategy have :attr:`points` to choose from. A
        steady state has rates."""
        return self._native.kind

    @property
    def objective(self) -> str:
        """The objective of :attr:`value` and :attr:`gap`: the minimised objective, or the makespan if there is none."""
        if self.kind == "steady state":
            return "fair_throughput"
        return self._objective or self._native.minimised or "makespan"

    @property
    def value(self) -> float:
        """Value of the objective."""
        return self._figure(self.objective)

    @property
    def makespan(self) -> float:
        """The end of the last job."""
        return self._figure("makespan")

    @property
    def values(self) -> dict[str, float]:
        """Value of each objective."""
        return {name: self._figure(name) for name in self._native.objectives}

    def exact(self, objective: str) -> str:
        """Returns the value of an objective as an exact decimal."""
        value = self._native.exact(objective)
        if value is None:
            raise AlgorithmError(f"a {self.kind} has no {objective}")
        return value

    def _figure(self, name: str) -> float:
        value = self._native.value(name)
        if value is None:
            raise AlgorithmError(f"a {self.kind} has no {name}; see `values`")
        return value

    @property
    def bounds(self) -> dict[str, Bound]:
        """Proven bounds by objective."""
        return {bound.objective: Bound(bound) for bound in self._native.bounds()}

    @property
    def gap(self) -> float | None:
        """The upper limit on the relative distance of :attr:`value` from the optimum. 0 means that the plan is proved optimal.
        None means that there is no bound."""
        return self.gaps.get(self.objective)

    @property
    def gaps(self) -> dict[str, float]:
        """The gap of each objective that has a bound."""
        ratios = {name: self._native.ratio(name) for name in self._native.objectives}
        return {name: ratio - 1 for name, ratio in ratios.items() if ratio is not None}

    @property
    def schedule(self) -> Table:
        """The placements, one in each row."""
        columns = self._native.schedule()
        if columns is None:
            raise AlgorithmError("a steady state has rates and no placements; `to_json()` states them")
        return Table(columns)

    @property
    def points(self) -> list[Plan]:
        """The plans of a front or a strategy."""
        return [Plan(point, self._objective) for point in self._native.points()]

    @property
    def remarks(self) -> list[str]:
        """Messages of the algorithm."""
        return self._native.remarks

    @property
    def stopped(self) -> bool:
        """True if Ctrl-C ended the search."""
        return self._native.stopped

    @property
    def seconds(self) -> float:
        """The time for planning and proving."""
        return self._native.seconds

    def verify(self) -> None:
        """Checks the plan and all bounds again, independently of the algorithm.

        Raises:
            VerificationError: with a sentence for each broken rule.
        """
        problems = self._native.problems()
        if problems:
            raise VerificationError(problems)

    def to_json(self) -> str:
        """Returns the text of a plan file, which ``makespan verify`` checks."""
        return self._native.text()

    def write(self, path: str | PathLike[str]) -> None:
        """Writes a plan file atomically."""
        self._native.write(os.fsdecode(path))

    def to_html(self, title: str = "plan") -> str:
        """Returns the interactive chart as a self-contained page."""
        return self._native.page(title)

    def to_svg(self, title: str = "plan", width: int = 1200) -> str:
        """Returns a Gantt chart."""
        return self._native.chart(title, _check.whole(width, "width", 100, 100_000))

    def to_evalys(self) -> Any:
        """Returns the placements as a DataFrame with the columns of Batsim, which evalys reads. See
        :func:`makespan.adapters.evalys_frame`."""
        from makespan.adapters import evalys_frame

        return evalys_frame(self._native.csv("makespan"))

    def plot(self, title: str = "plan", width: int = 1000) -> Chart:
        """Returns a Gantt chart that a notebook displays."""
        return Chart(self.to_svg(title, width))

    def _repr_html_(self) -> str:
        return framed(self.to_html())

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        text = self.to_json()
        return (_restored, (Instance._of(self._native.of), text, self._objective, self.stopped, self.seconds))

    def __repr__(self) -> str:
        gap = self.gap
        worse = "below" if self.objective == "fair_throughput" else "above"
        percent = self._native.percent(self.objective)
        proven = "" if gap is None else " (proven optimal)" if percent is None else f" (at most {percent} % {worse} the best)"
        guessed = _guessed(self._native.of.guesses)
        hashed = self.instance_hash
        made = "" if hashed is None else f", makespan {self.version}, instance {hashed[:12]}"
        value = f"{self.objective} {self.exact(self.objective)}{proven}{guessed}"
        return f"<plan by {self.spec}: {value}; seed {self.seed}{made}>"


def _restored(instance: Instance, text: str, objective: str | None, stopped: bool, seconds: float) -> Plan:
    """Restores a pickled plan. `text` is the content of a plan file."""
    return Plan(_native.plan_of_text(instance._native, text, stopped, seconds), objective)


class Chart:
    """A picture that a notebook displays. ``svg`` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


def framed(page: str, height: int = 640) -> str:
    """Embeds a page in a notebook. The page may run its own script, but has no other permissions."""
    content = html.escape(page, quote=True)
    style = f"width:100%;height:{height}px;border:0"
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{content}"></iframe>'


def plan(
    instance: Instance,
    algorithm: str | Scheduler | None = None,
    *,
    objective: Objective | None = None,
    time_limit: Time | None = None,
    makespan_at_most: float | None = None,
    seed: int = 1,
    threads: int | None = None,
    prove: bool = True,
    progress: SearchProgress | None = None,
) -> Plan:
    """Plans an instance, checks the plan, and proves an upper limit on its distance from the optimum.

    The interpreter's lock is released, so other Python threads continue. Ctrl-C ends a search with the best plan so far
    (see ``stopped``). A second Ctrl-C raises KeyboardInterrupt.

    Args:
        algorithm: A spec such as ``"demt[shuffles=5]"`` (see :func:`algorithms`), or your own :class:`Scheduler`. The
            default is a search by ``optimise``.
        objective: The objective to minimise: ``makespan``, ``weighted_completion``, ``mean_flow`` or ``cost``. About due dates
            (``deadline``): ``max_lateness``, ``max_tardiness``, ``total_tardiness``, ``weighted_tardiness``, ``tardy_jobs`` or
            ``weighted_tardy_jobs``. About the ``penalty`` of jobs: ``total_penalty`` or ``max_penalty``.
        time_limit: The time for planning and proving together: seconds, or a text such as ``"2min"``.
        makespan_at_most: The maximum makespan, as a multiple of the bound on the makespan.
        seed: The seed of random choices. Constructive algorithms, and searches with a limited number of steps such as
            ``"optimise[steps=2000]"``, give the same plan for the same seed. The result of a search with a time limit,
            which is the default, also depends on the speed of the machine.
        threads: The maximum number of threads. The default is the number of cores. With a number of steps, the plan does not
            depend on the number of threads.
        prove: True to prove bounds.
        progress: A function that is called about twenty times a second with a :class:`SearchState`: the elapsed seconds, the
            time limit, and the best value and bound so far. A search for one objective reports its values. For weighted
            completion and mean flow of independent jobs, it reports only the values before and after its main part.

    >>> import makespan as m
    >>> instance = m.Instance(platform=m.Platform(processors=4), jobs=[m.Job("a", time=[4, 2.2, 1.6]), m.Job("b", time=3)])
    >>> plan = m.plan(instance, objective="makespan", time_limit=1)
    >>> plan.makespan, plan.gap
    (3.0, 0.0)
    >>> plan.verify()

    Raises:
        AlgorithmError: if the algorithm is unknown or does not support the instance.
    """
    _instance(instance)
    seed = _check.seed(seed)
    if algorithm is not None and not isinstance(algorithm, str):
        if not isinstance(algorithm, Scheduler):
            problem = f"{_check.shown(algorithm)} is not an algorithm; give a spec such as 'demt', or a makespan.Scheduler object"
            raise InputError(problem, field="algorithm")
        if objective is not None or time_limit is not None or makespan_at_most is not None:
            raise InputError("objective, time_limit and makespan_at_most apply only to algorithms of the catalogue; with a Scheduler object, leave them out")
        return _logged(Plan(_native.plan_with(instance._native, algorithm, seed, prove)))
    wishes = {
        "algorithm": algorithm,
        "objective": None if objective is None else _objective(objective),
        "time_limit": None if time_limit is None else _check.limit(time_limit, "time_limit"),
        "makespan_at_most": None if makespan_at_most is None else _check.number(makespan_at_most, "makespan_at_most"),
        "seed": seed,
        "threads": None if threads is None else _check.whole(threads, "threads", 1, 1024),
        "prove": bool(prove),
    }
    _check.function(progress, "progress")
    report = None if progress is None else lambda *state: progress(SearchState(*state))
    made = _native.plan(instance._native, wishes, report)
    return _logged(Plan(made, objective and objective.replace("-", "_").replace(" ", "_")))


def _logged(plan: Plan) -> Plan:
    LOGGER.info("%r in %.3f s", plan, plan.seconds)
    for remark in plan.remarks:
        LOGGER.info("%s: %s", plan.algorithm, remark)
    return plan


def _objective(name: Any) -> str:
    """Checks the name of an objective, and suggests a known name if it is misspelled."""
    wanted = _check.text(name, "objective", "makespan")
    known = get_args(Objective)
    if wanted.replace("-", "_").replace(" ", "_") not in (*known, "fair_throughput"):
        listed = _close(wanted, known) or f"; write one of {', '.join(known)}"
        raise InputError(f"`{wanted}` is not an objective{listed}", field="objective")
    return wanted


def bound(instance: Instance, *, thorough: bool = False) -> dict[str, Bound]:
    """Proves bounds on the standard objectives, and on objectives about due dates and penalties if jobs state them. ``thorough`` searches about ten times as long."""
    _instance(instance)
    return {bound.objective: Bound(bound) for bound in _native.bound(instance._native, bool(thorough))}


def verify(instance: Instance, path: str | PathLike[str]) -> Plan:
    """Reads a plan file for an instance, and checks placements, stated values and bounds.

    Raises:
        VerificationError: with a sentence for each broken rule.
    """
    native, problems = _native.verify_file(_instance(instance)._native, os.fsdecode(path))
    if problems:
        raise VerificationError(problems)
    return Plan(native)


def algorithms() -> Rows:
    """Returns the algorithms of the catalogue: their purpose, supported instances, guarantee, source and parameters."""
    return Rows(_native.algorithms())
