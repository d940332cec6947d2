"""Tables of comparisons: summaries for papers, performance profiles and paired tests."""

from __future__ import annotations

import math
import statistics
from typing import Any, NamedTuple

from makespan import _check, _native
from makespan._errors import InputError
from makespan._statistics import bootstrap, geometric_mean, signed_rank
from makespan._table import Rows

#: The only objective for which larger values are better.
_MAXIMISED = "fair_throughput"


class PairedTest(NamedTuple):
    """The result of a Wilcoxon signed-rank test between two algorithms."""

    first: str
    second: str
    objective: str
    #: The number of instances with different values. Only these instances are ranked.
    pairs: int
    #: The number of instances with equal values.
    equal: int
    #: The median of (value of the first algorithm) / (value of the second), over all instances that both planned.
    median_ratio: float
    #: The smaller one of the two sums of ranks.
    statistic: float
    #: The two-sided p-value.
    p_value: float
    #: ``exact`` or ``normal approximation``.
    method: str


class Profile(Rows):
    """A performance profile: for each algorithm, the share of the instances on which its value is at most ``factor`` times the
    best value of all algorithms. Each row is a step of an algorithm. A notebook displays the figure.

    Source: E. D. Dolan, J. J. Moré, "Benchmarking optimization software with performance profiles", Mathematical Programming
    91, 2002, DOI 10.1007/s101070100263.

    Attributes:
        objective: The compared objective.
    """

    def __init__(self, rows: list[dict[str, Any]], objective: str, svg: str) -> None:
        super().__init__(rows)
        self.objective = objective
        self._svg = svg

    def share(self, algorithm: str, factor: float) -> float:
        """Returns the share of the instances (0 to 1) on which the value is at most ``factor`` times the best value.

        >>> import makespan as m
        >>> profile = m.compare(m.generate.moldable(jobs=9, processors=4), ["demt", "gang"], objective="makespan").profile()
        >>> profile.share("demt", 1), profile.share("gang", 1e9)
        (1.0, 1.0)
        """
        chosen = _chosen(algorithm, list(dict.fromkeys(self["algorithm"])), "algorithm")
        return max((row["share"] for row in self if row["algorithm"] == chosen and row["factor"] <= factor), default=0.0)

    def to_svg(self) -> str:
        """Returns the figure as SVG."""
        return self._svg

    def plot(self, axes: Any = None) -> Any:
        """Draws the profile with matplotlib, and returns the axes. Needs matplotlib. :meth:`to_svg` works without it.

        Args:
            axes: Axes of matplotlib. The default is the current axes.
        """
        if axes is None:
            axes = _check.module("matplotlib.pyplot").gca()
        end = max(self["factor"], default=1.0) * 1.02
        for algorithm in dict.fromkeys(self["algorithm"]):
            steps = [(row["factor"], row["share"]) for row in self if row["algorithm"] == algorithm]
            ends = [(1.0, self.share(algorithm, 1)), *steps, (end, steps[-1][1])]
            axes.step([factor for factor, _ in ends], [share for _, share in ends], where="post", label=algorithm)
        if end > 10:
            axes.set_xscale("log")
        axes.set_xlabel(f"{self.objective} / best of all, at most")
        axes.set_ylabel("share of the instances")
        axes.set_ylim(0, 1.02)
        axes.legend()
        return axes

    def _repr_html_(self) -> str:
        return self._svg


class Comparison(Rows):
    """The table of :func:`makespan.compare`: a row for each instance and algorithm, with values, bounds, ratios, gaps and times.

    The methods need an objective. Without the argument ``objective``, they use the objective of the table: the argument of
    ``compare``, or the makespan. The name of an algorithm is its spec, or the part of the spec before ``[`` if only one
    algorithm begins with it.

    >>> import makespan as m
    >>> instances = [m.generate.moldable(jobs=12, processors=8, seed=seed) for seed in range(1, 9)]
    >>> table = m.compare(instances, ["dual", "list", "gang"], objective="makespan")
    >>> table.summary()["best"]
    [1, 7, 0]
    >>> table.wilcoxon("list", "gang").p_value
    0.0078125
    """

    def __init__(self, rows: list[dict[str, Any]], objective: str | None = None, interrupted: bool = False) -> None:
        super().__init__(rows, interrupted)
        self._objective = objective

    @property
    def algorithms(self) -> list[str]:
        """The specs of the algorithms, in the order of the rows."""
        return list(dict.fromkeys(row["algorithm"] for row in self._rows))

    @property
    def objective(self) -> str:
        """The objective of the methods."""
        if self._objective is not None:
            return self._objective
        return "makespan" if "makespan" in self.columns or _MAXIMISED not in self.columns else _MAXIMISED

    def _wanted(self, objective: str | None) -> str:
        chosen = self.objective if objective is None else objective.replace("-", "_").replace(" ", "_")
        if chosen not in self.columns:
            known = [name.removesuffix("_ratio") for name in self.columns if name.endswith("_ratio")]
            raise InputError(f"the table has no column `{chosen}`; name one of {', '.join(known)}", field="objective")
        return chosen

    def _column(self, name: str) -> dict[str, dict[str, float]]:
        """Returns the numbers of a column by algorithm and instance."""
        found: dict[str, dict[str, float]] = {algorithm: {} for algorithm in self.algorithms}
        for row in self._rows:
            if row.get(name) is not None:
                found[row["algorithm"]][row["instance"]] = row[name]
        return found

    def summary(self, objective: str | None = None, *, confidence: float = 0.95) -> Rows:
        """Returns a row for each algorithm: the number of planned instances, the geometric mean of the ratios value / bound with
        a confidence interval (``low`` to ``high``), the maximum ratio, the number of instances on which no other algorithm was
        better, and the mean time.

        The interval is a percentile bootstrap interval of the geometric mean, over 1,000 resamples of the instances. The
        resamples depend on no seed. For fewer than about 20 instances, such intervals are too narrow. Instances without a
        positive bound have no ratio, and are left out of the mean, of the interval and of the maximum.
        """
        wanted = self._wanted(objective)
        share = _check.number(confidence, "confidence")
        if not 0 < share < 1:
            raise InputError(f"{share} is not a confidence; give a number between 0 and 1, such as 0.95", field="confidence")
        values, ratios, times = self._column(wanted), self._column(f"{wanted}_ratio"), self._column("seconds")
        best = self._best(values, wanted)
        rows = []
        for algorithm in self.algorithms:
            of = list(ratios[algorithm].values())
            low, high = bootstrap(of, share) or (None, None)
            rows.append(
                {
                    "algorithm": algorithm,
                    "planned": len(values[algorithm]),
                    "geometric_mean_ratio": geometric_mean(of) if of else None,
                    "low": low,
                    "high": high,
                    "max_ratio": max(of, default=None),
                    "best": sum(value == best[instance] for instance, value in values[algorithm].items()),
                    "mean_seconds": statistics.fmean(times[algorithm].values()),
                }
            )
        return Rows(rows)

    def _best(self, values: dict[str, dict[str, float]], objective: str) -> dict[str, float]:
        """Returns the best value of each instance."""
        best: dict[str, float] = {}
        choose = max if objective == _MAXIMISED else min
        for of in values.values():
            for instance, value in of.items():
                best[instance] = choose(value, best.get(instance, value))
        return best

    def to_latex(self, objective: str | None = None, *, confidence: float = 0.95) -> str:
        """Returns :meth:`summary` as a LaTeX table. The table needs the package booktabs."""
        wanted = self._wanted(objective)
        rows = self.summary(wanted, confidence=confidence)
        count = len({row["instance"] for row in self._rows})
        percent = f"{confidence * 100:g}\\,\\%"
        lines = [
            f"% Needs \\usepackage{{booktabs}}. Ratios of {wanted} to proven bounds, over {count} instances.",
            f"% The interval is a percentile bootstrap interval of the geometric mean (makespan {_native.VERSION}).",
            "\\begin{tabular}{lrrrrr}",
            "\\toprule",
            f"algorithm & planned & geometric mean & {percent} interval & max & best \\\\",
            "\\midrule",
        ]
        for row in rows:
            interval = "" if row["low"] is None else f"{row['low']:.4f}--{row['high']:.4f}"
            figures = ["" if row[name] is None else f"{row[name]:.4f}" for name in ("geometric_mean_ratio", "max_ratio")]
            cells = [_tex(row["algorithm"]), str(row["planned"]), figures[0], interval, figures[1], str(row["best"])]
            lines.append(" & ".join(cells) + " \\\\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def profile(self, objective: str | None = None) -> Profile:
        """Returns the performance profile of an objective. If an algorithm has no plan for an instance, this counts as a failure
        of the algorithm."""
        wanted = self._wanted(objective)
        values = self._column(wanted)
        instances = dict.fromkeys(row["instance"] for row in self._rows)
        if any(value < 0 for of in values.values() for value in of.values()):
            raise InputError(f"some values of {wanted} are negative, and have no ratios; name another objective", field="objective")
        sign = -1 if wanted == _MAXIMISED else 1
        table = [[_power(values[algorithm].get(instance), sign) for algorithm in values] for instance in instances]
        steps, svg = _native.performance_profiles(list(values), table, wanted.replace("_", " "))
        rows = [
            {"algorithm": algorithm, "factor": factor, "share": share}
            for algorithm, of in zip(values, steps, strict=True)
            for factor, share in of
        ]
        return Profile(rows, wanted, svg)

    def wilcoxon(self, first: str, second: str, objective: str | None = None) -> PairedTest:
        """Tests if two algorithms differ, with the Wilcoxon signed-rank test on the logarithms of the ratios of their values.
        Instances with equal values are left out, as in Wilcoxon's paper. Up to 300 pairs, the p-value is exact. If you test
        several pairs of algorithms, correct the p-values, for example by Holm's method.

        Source: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1(6), 1945, DOI 10.2307/3001968.
        """
        wanted = self._wanted(objective)
        values, known = self._column(wanted), self.algorithms
        one, other = _chosen(first, known, "first"), _chosen(second, known, "second")
        both = [(value, values[other][instance]) for instance, value in values[one].items() if instance in values[other]]
        ratios = [a / b for a, b in both if a > 0 and b > 0]
        if not ratios:
            problem = f"no instance has a positive {wanted} of both `{one}` and `{other}`"
            raise InputError(f"{problem}; compare both on the same instances", field="second")
        differences = [math.log(ratio) for ratio in ratios if not math.isclose(ratio, 1, rel_tol=1e-12)]
        tested = signed_rank(differences)
        least = min(tested.positive, tested.negative)
        pairs, equal = len(differences), len(ratios) - len(differences)
        median = statistics.median(ratios)
        return PairedTest(one, other, wanted, pairs, equal, median, least, tested.p_value, tested.method)


def _chosen(name: Any, known: list[str], field: str) -> str:
    """Returns the algorithm with the spec ``name``, or the only algorithm with ``name`` before the ``[`` of its spec."""
    stated = _check.text(name, field, "demt")
    if stated in known:
        return stated
    found = [one for one in known if one.startswith(f"{stated}[")]
    if len(found) != 1:
        fault = "is not an algorithm of the table" if not found else "names several algorithms"
        raise InputError(f"`{stated}` {fault}; name one of {', '.join(found or known)}", field=field)
    return found[0]


def _power(value: float | None, sign: int) -> float | None:
    """Returns the value, or its inverse if larger values are better."""
    return value if value is None or sign == 1 else math.inf if value == 0 else 1 / value


#: Replacements of the special characters of TeX. Without braces, a bracket could begin or end an option.
_TEX = {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    **{special: f"\\{special}" for special in "&%$#_{}"},
    **{bracket: f"{{{bracket}}}" for bracket in "[]"},
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text)
