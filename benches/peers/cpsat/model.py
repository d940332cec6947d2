"""Moldable jobs as CP-SAT models.

Times are rounded up to whole units, so that a solution of the model is a schedule of the instance; weights are rounded
to thousandths in the objective. What the solver calls its bound is one on this rounded instance.

`alternatives`: an optional interval of fixed length for each allotment of a job, of which exactly one is present, in
one cumulative constraint.
`variable`: one interval a job, whose length and demand are variables tied by a table, in one cumulative constraint.
"""

import time
from dataclasses import dataclass

from ortools.sat.python import cp_model

from instance import Instance, shifted_left

ALTERNATIVES, VARIABLE = MODELS = ("alternatives", "variable")
WEIGHT_UNIT = 1000  # millionths


@dataclass(frozen=True)
class Settings:
    """How the solver works."""

    model: str
    objective: str
    unit: int  # ns
    allotments: int  # at most so many a job; 0: all
    workers: int
    seconds: float  # for solving; building the model comes on top
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What the solver found: (start in units, job, index of its option), or nothing."""

    status: str
    chosen: list[tuple[int, int, int]] | None
    bound: float  # s, or weight times s
    seconds: float  # of building and solving


def solve(instance: Instance, settings: Settings, hint: list[tuple[int, int, int]] | None) -> Outcome:
    """Builds the model, gives it the hint and solves it."""
    began = time.monotonic()
    builder = Builder(instance, settings, hint)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = settings.workers
    solver.parameters.random_seed = settings.seed
    solver.parameters.max_time_in_seconds = settings.seconds
    status = solver.solve(builder.model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    chosen = builder.chosen(solver) if found else None
    bound = solver.best_objective_bound * builder.objective_unit
    return Outcome(solver.status_name(status).lower(), chosen, bound, time.monotonic() - began)


def thinned(options, most):
    """Indices of at most so many options: the first, the last, and between them about equal ratios of processors."""
    if most == 0 or len(options) <= most:
        return list(range(len(options)))
    first, last = options[0][0], options[-1][0]
    wanted = [first * (last / first) ** (step / (most - 1)) for step in range(most)]
    nearest = {min(range(len(options)), key=lambda index: abs(options[index][0] - count)) for count in wanted}
    return sorted(nearest)


class Builder:
    """A model with the variables from which a schedule is read."""

    def __init__(self, instance, settings, hint):
        self.instance, self.settings = instance, settings
        self.model = cp_model.CpModel()
        self.options = []  # of each job: (index of the option, processors, units)
        self.starts, self.ends, self.picks = [], [], []
        for job in instance.jobs:
            kept = thinned(job.options, settings.allotments)
            self.options.append([(k, job.options[k][0], -(-job.options[k][1] // settings.unit)) for k in kept])
        hint = self._rounded(hint) if hint else None
        self.horizon = self._horizon(hint)
        intervals, demands = self._alternatives() if settings.model == ALTERNATIVES else self._variable()
        self.model.add_cumulative(intervals, demands, instance.processors)
        self._minimise()
        if hint:
            self._give(hint)

    def _alternatives(self):
        intervals, demands = [], []
        for options in self.options:
            start, end = self._times()
            present = [self.model.new_bool_var("") for _ in options]
            for (_, processors, units), literal in zip(options, present):
                intervals.append(self.model.new_optional_fixed_size_interval_var(start, units, literal, ""))
                demands.append(processors)
            self.model.add_exactly_one(present)
            self.model.add(end == start + sum(units * literal for (_, _, units), literal in zip(options, present)))
            self.picks.append(present)
        return intervals, demands

    def _variable(self):
        intervals, demands = [], []
        for options in self.options:
            start, end = self._times()
            pick = self.model.new_int_var(0, len(options) - 1, "")
            demand = self.model.new_int_var_from_domain(cp_model.Domain.from_values([o[1] for o in options]), "")
            size = self.model.new_int_var_from_domain(cp_model.Domain.from_values([o[2] for o in options]), "")
            rows = [(at, processors, units) for at, (_, processors, units) in enumerate(options)]
            self.model.add_allowed_assignments([pick, demand, size], rows)
            intervals.append(self.model.new_interval_var(start, size, end, ""))
            demands.append(demand)
            self.picks.append((pick, demand, size))
        return intervals, demands

    def _times(self):
        self.starts.append(self.model.new_int_var(0, self.horizon, ""))
        self.ends.append(self.model.new_int_var(0, self.horizon, ""))
        return self.starts[-1], self.ends[-1]

    def _minimise(self):
        if self.settings.objective == "makespan":
            length = self.model.new_int_var(0, self.horizon, "")
            self.model.add_max_equality(length, self.ends)
            self.model.minimize(length)
            self.objective_unit = self.settings.unit / 1e9
            return
        weights = [round(job.weight / WEIGHT_UNIT) for job in self.instance.jobs]
        self.model.minimize(sum(weight * end for weight, end in zip(weights, self.ends)))
        self.objective_unit = self.settings.unit / 1e9 * WEIGHT_UNIT / 1e6

    def _rounded(self, hint):
        """The hint with the nearest options that were kept (narrower ones where they are as near), in whole units."""
        rounded, places = Instance(self.instance.processors, []), {}
        for job, options in zip(self.instance.jobs, self.options):
            rounded.jobs.append(type(job)(job.name, job.weight, [(o[1], o[2]) for o in options]))
        for _, index, option in hint:
            wanted = self.instance.jobs[index].options[option][0]
            kept = self.options[index]
            places[index] = min(range(len(kept)), key=lambda at: abs(kept[at][1] - wanted))
        placements = shifted_left(rounded, [(start, index, places[index]) for start, index, _ in hint])
        return [(placement.start, placement.job, places[placement.job], placement.end) for placement in placements]

    def _horizon(self, hint):
        """An optimal makespan is no longer than the hint; for weighted completion three times that leaves room."""
        if hint is None:
            return sum(max(units for _, _, units in options) for options in self.options)
        end = max(end for _, _, _, end in hint)
        return end if self.settings.objective == "makespan" else 3 * end

    def _give(self, hint):
        for start, index, at, end in hint:
            self.model.add_hint(self.starts[index], start)
            self.model.add_hint(self.ends[index], end)
            pick = self.picks[index]
            if self.settings.model == ALTERNATIVES:
                for place, literal in enumerate(pick):
                    self.model.add_hint(literal, place == at)
            else:
                for variable, figure in zip(pick, (at, *self.options[index][at][1:])):
                    self.model.add_hint(variable, figure)

    def chosen(self, solver):
        """The solution as (start in units, job, index of its option)."""
        chosen = []
        for index, (start, pick) in enumerate(zip(self.starts, self.picks)):
            if self.settings.model == ALTERNATIVES:
                at = next(place for place, literal in enumerate(pick) if solver.boolean_value(literal))
            else:
                at = solver.value(pick[0])
            chosen.append((solver.value(start), index, self.options[index][at][0]))
        return chosen
