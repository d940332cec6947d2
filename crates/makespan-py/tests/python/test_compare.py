"""Tests of comparisons over many instances: tables, statistics and studies that are continued."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import makespan as m
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from makespan._statistics import bootstrap, signed_rank

SPECS = ["demt", "list", "gang"]


def drawn(count: int = 6) -> dict[str, m.Instance]:
    return {f"i{seed}": m.generate.moldable(jobs=10, processors=4, seed=seed) for seed in range(1, count + 1)}


class OneByOne(m.Scheduler):
    """Places the tasks one after the other. Kills the process at the given call."""

    def __init__(self, last: int = 0) -> None:
        self.calls, self.last = 0, last

    def schedule(self, instance: m.Instance, tasks: list[m.Task]) -> Iterator[m.Placement]:
        self.calls += 1
        if self.calls == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        start = 0
        for task in tasks:
            yield m.Placement(task, start, range(1))
            start += int(task.time(1)) + 1


def untimed(table: m.Rows) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if not name.endswith("seconds")} for row in table]


def test_rows_have_bounds_ratios_and_gaps() -> None:
    table = m.compare(drawn(2), SPECS)
    for row in table:
        for objective in ("makespan", "weighted_completion"):
            value, bound = row[objective], row[f"{objective}_bound"]
            assert value >= bound > 0
            assert (row[f"{objective}_ratio"], row[f"{objective}_gap"]) == (value / bound, value / bound - 1)
    assert untimed(pickle.loads(pickle.dumps(table))) == untimed(table)
    assert "makespan" not in m.compare(drawn(1), SPECS, objective="weighted_completion").columns
    with pytest.raises(m.InputError, match="no value for max_lateness|no job has a|not an objective"):
        m.compare(drawn(1), SPECS, objective="max_lateness")


def test_bounds_are_the_best_ones() -> None:
    instance = m.Instance(processors=2, jobs=[m.Job(name, time=time) for name, time in zip("abcde", (3, 3, 2, 2, 2), strict=True)])
    plain, thorough = (m.compare(instance, "list", objective="weighted_completion", thorough=each) for each in (False, True))
    assert thorough["weighted_completion_bound"] >= plain["weighted_completion_bound"]
    assert thorough["weighted_completion_bound"] == [m.bound(instance, thorough=True)["weighted_completion"].value]
    # `optimise` proves bounds of its own, which hold for all plans of the instance.
    several = m.compare(drawn(1), ["list", "optimise[steps=300,searches=1]"], objective="weighted_completion")
    assert len(set(several["weighted_completion_bound"])) == 1
    assert several["weighted_completion_bound"] >= m.compare(drawn(1), "list")["weighted_completion_bound"]


def test_an_objective_reaches_the_search() -> None:
    for spec in ("optimise", "optimise[steps=50,searches=1]"):
        assert "objective=makespan" in m.compare(drawn(1), spec, objective="makespan")["algorithm"][0]
    stated = "optimise[objective=mean-flow,steps=50,searches=1]"
    assert m.compare(drawn(1), stated, objective="makespan")["algorithm"] == [stated]


def test_threads_change_no_row() -> None:
    algorithms: list[str | m.Scheduler] = [*SPECS, OneByOne()]
    calls: list[tuple[float, float]] = []
    several = m.compare(drawn(), algorithms, threads=3, progress=lambda *done: calls.append(done))
    assert untimed(several) == untimed(m.compare(drawn(), algorithms))
    assert calls == [(done, 24) for done in range(1, 25)]
    with pytest.raises(m.AlgorithmError, match="did you mean"):
        m.compare(drawn(), ["list", "dmet"], threads=2)

    def fail(*_: object) -> None:
        raise LookupError("mine")

    # The error ends the search, which has not finished by then.
    with pytest.raises(LookupError, match="mine"):
        m.compare(m.generate.moldable(jobs=60, processors=16), ["list", "optimise[time-limit=600]"], threads=2, progress=fail)


STUDY = """
import sys
import makespan as m
import test_compare as t

m.compare(t.drawn(), [*t.SPECS, t.OneByOne(last=4)], resume=sys.argv[1])
"""


def test_a_killed_study_is_continued(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "study.jsonl"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    killed = subprocess.run([sys.executable, "-c", STUDY, path], env=environment)
    assert killed.returncode == -signal.SIGKILL
    lines = path.read_text().splitlines()
    assert len(lines) == 3 * 5 + 4, "the bounds and plans of three instances, and of a fourth without the last plan"
    path.write_text("\n".join([*lines[:-1], lines[-1][:-9]]))
    own = OneByOne()
    with caplog.at_level(logging.INFO, logger="makespan"):
        table = m.compare(drawn(), [*SPECS, own], resume=path)
    assert own.calls == 3 and "ignored 1 of 19 lines" in caplog.text
    assert untimed(table) == untimed(m.compare(drawn(), [*SPECS, OneByOne()]))
    size = path.stat().st_size
    assert m.compare(drawn(), [*SPECS, own], resume=path) == table
    assert own.calls == 3 and path.stat().st_size == size
    assert len(m.compare(drawn(), [*SPECS, own], resume=path, seed=2)) == 24 and own.calls == 9


@pytest.mark.parametrize("text", ["instance,makespan\na,3\n", "{}\n", "[1]\n", '{"key": [1], "result": {}}\n', '{"key": [[],1,2,3,4], "result": {}}'])
def test_another_file_is_not_changed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(m.InputError, match="contains no results of `compare`") as raised:
        m.compare(drawn(1), SPECS, resume=path)
    assert raised.value.file == str(path) and path.read_text() == text


def test_summaries_state_what_the_rows_state() -> None:
    table = m.compare(drawn(), SPECS, objective="makespan")
    for row in table.summary():
        ratios = [one["makespan_ratio"] for one in table if one["algorithm"] == row["algorithm"]]
        assert row["planned"] == 6 and row["max_ratio"] == max(ratios)
        assert min(ratios) <= row["low"] <= row["geometric_mean_ratio"] <= row["high"] <= max(ratios)
    assert sum(table.summary()["best"]) >= 6
    latex = table.to_latex()
    assert latex.startswith("% Needs \\usepackage{booktabs}") and latex.count("{tabular}") == 2
    assert "algorithm & planned & geometric mean & 95\\,\\% interval & max & best" in latex
    assert "list{[}order=shelf{]} & 6 & " in latex
    with pytest.raises(m.InputError, match="between 0 and 1"):
        table.summary(confidence=95)
    with pytest.raises(m.InputError, match="no column `speed`; name one of makespan"):
        table.profile("speed")


def test_profiles_are_data_and_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    table = m.compare(drawn(), SPECS, objective="makespan")
    profile = table.profile()
    values = {spec: [row["makespan"] for row in table if row["algorithm"].startswith(spec)] for spec in SPECS}
    best = [min(of) for of in zip(*values.values(), strict=True)]
    for spec, factor in product(SPECS, (1, 1.2, 1.5, 4)):
        within = sum(value <= factor * least for value, least in zip(values[spec], best, strict=True))
        assert profile.share(spec, factor) == within / 6
    assert profile.to_svg().startswith("<svg") and profile._repr_html_() == profile.to_svg()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib.pyplot", None)
        with pytest.raises(ImportError, match="needs matplotlib, which is not installed"):
            profile.plot()
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = profile.plot(figure.subplots())
    assert [line.get_label() for line in axes.get_lines()] == table.algorithms


def test_algorithms_are_named_by_their_beginning() -> None:
    table = m.compare(drawn(), ["list[order=saf]", "list[order=smith]", "gang"], objective="makespan")
    assert table.wilcoxon("gang", "list[order=saf]").pairs == 6
    with pytest.raises(m.InputError, match="names several algorithms; name one of list.order=saf., list.order=smith."):
        table.wilcoxon("list", "gang")
    with pytest.raises(m.InputError, match="`dual` is not an algorithm of the table"):
        table.wilcoxon("gang", "dual")
    same = table.wilcoxon("gang", "gang")
    assert (same.pairs, same.equal, same.p_value, same.median_ratio) == (0, 6, 1, 1)


def test_the_signed_rank_test_has_published_values() -> None:
    # Charles Darwin's plants, as in R. A. Fisher, "The Design of Experiments", 1935, section 17: differences of heights of
    # crossed and self-fertilised maize, in eighths of an inch. SciPy computes an equal p-value.
    tested = signed_rank([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])
    assert (tested.negative, tested.p_value) == (24, 0.041259765625)
    # For five differences with equal signs, 2 of 32 sign vectors are as extreme.
    assert signed_rank([5, 4, 3, 2, 1]).p_value == 2 / 32


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=9))
def test_the_signed_rank_test_counts_all_signs(differences: list[int]) -> None:
    sizes = [abs(one) for one in differences]
    ranks = [Fraction(sum(other < one for other in sizes) * 2 + sizes.count(one) + 1, 2) for one in sizes]
    found = sum((rank for rank, one in zip(ranks, differences, strict=True) if one > 0), Fraction(0))
    sums = [sum((rank for rank, sign in zip(ranks, signs, strict=True) if sign), Fraction(0)) for signs in product((0, 1), repeat=len(ranks))]
    least = min(sum(one <= found for one in sums), sum(one >= found for one in sums))
    assert signed_rank(differences).p_value == pytest.approx(min(1.0, 2 * least / len(sums)))


def test_the_normal_approximation_is_near_the_exact_value(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = [(-1) ** (at * at % 7) * (1 + at % 23) for at in range(60)]
    exact = signed_rank(differences)
    monkeypatch.setattr("makespan._statistics.EXACT_PAIRS", 10)
    normal = signed_rank(differences)
    assert (exact.method, normal.method) == ("exact", "normal approximation")
    assert normal.p_value == pytest.approx(exact.p_value, abs=0.001)


def test_intervals_contain_the_mean() -> None:
    assert bootstrap([1.5], 0.9) is None and bootstrap([1.1] * 5, 0.9) == (1.1, 1.1)
    narrow, wide = bootstrap([1, 1.2, 1.1, 2, 1.4], 0.5), bootstrap([1, 1.2, 1.1, 2, 1.4], 0.99)
    assert narrow and wide and wide[0] < narrow[0] < 1.3 < narrow[1] < wide[1]


def test_tables_show_ten_rows() -> None:
    table = m.compare(drawn(), SPECS, objective="makespan")
    lines = repr(table).splitlines()
    assert len(lines) == 12 and lines[-1] == ".. and 8 more rows" and len({len(line) for line in lines[:11]}) == 1
    assert table._repr_html_().count("<tr>") == 11
    schedule = m.plan(m.generate.moldable(jobs=12, processors=4), "list").schedule
    assert repr(schedule).splitlines()[-1] == ".. and 2 more rows"
    assert json.loads(json.dumps(list(table))) == list(table)
