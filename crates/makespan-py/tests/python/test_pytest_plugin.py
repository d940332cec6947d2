"""Tests of the pytest plugin: shards, files of run times, and runs of pytest."""

from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_makespan import _times
from pytest_makespan._shard import select, shards
from pytest_makespan._times import Times, TimesError

pytest_plugins = ["pytester"]

#: Tests with real workers are few, because starting workers takes seconds.
needs_xdist = pytest.mark.skipif(
    importlib.util.find_spec("xdist") is None,
    reason="pytest-xdist is not installed, so `--dist makespan` is not tested (pip install pytest-xdist)",
)

#: The plugin of hypothesis takes half of the time that pytest and its workers take to start.
QUICK = "-pno:hypothesispytest"

ids = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=8)
seconds = st.floats(0, 1e6)


@settings(max_examples=150, deadline=None)
@given(st.lists(ids, max_size=40), st.integers(1, 50), st.none() | st.dictionaries(ids, seconds, max_size=40), st.randoms())
def test_shards_are_a_partition_and_do_not_depend_on_the_order(
    tests: list[str], count: int, known: dict[str, float] | None, rng: random.Random
) -> None:
    of_shard = [select(tests, known, (number + 1, count)) for number in range(count)]
    assert all(sum(mine[index] for mine, _ in of_shard) == 1 for index in range(len(tests)))
    assert len({report["collection"] for _, report in of_shard}) == 1
    assert sum(report["tests"] for _, report in of_shard) == len(tests)
    mixed = rng.sample(tests, len(tests))
    if len(set(tests)) == len(tests):
        assert dict(zip(tests, shards(tests, known, count), strict=True)) == dict(
            zip(mixed, shards(mixed, known, count), strict=True)
        )


@settings(max_examples=100, deadline=None)
@given(st.lists(ids, unique=True, min_size=1, max_size=40), st.integers(1, 8), st.data())
def test_shards_are_balanced(tests: list[str], count: int, data: st.DataObject) -> None:
    known = {test: data.draw(st.floats(0.001, 100)) for test in tests}
    loads = [0.0] * count
    for test, shard in zip(tests, shards(tests, known, count), strict=True):
        loads[shard] += known[test]
    assert max(loads) <= sum(loads) / count + max(known.values()) + 1e-3


def test_tests_of_no_time_are_spread() -> None:
    chosen = shards([f"t{index}" for index in range(90)], {f"t{index}": 0.0 for index in range(90)}, 3)
    assert [chosen.count(shard) for shard in range(3)] == [30, 30, 30]


records = st.lists(st.tuples(ids, seconds, st.booleans()), max_size=20)


def recorded(runs: list[tuple[str, float, bool]]) -> Times:
    times = Times()
    for test, time, passed in runs:
        times.add(test, time, passed=passed)
    return times


@settings(max_examples=100, deadline=None)
@given(records, records, records)
def test_files_merge_in_any_order_and_are_read_as_written(one: Any, two: Any, three: Any) -> None:
    a, b, c = recorded(one), recorded(two), recorded(three)
    both = a.merged(b)
    assert both.data() == b.merged(a).data() == both.merged(a).data()
    assert both.merged(c).data() == a.merged(b.merged(c)).data()
    read = _times.parsed(json.loads(json.dumps(both.data())), "file")
    assert read.data() == both.data() and read.digest() == both.digest()


def test_a_shard_adds_to_the_common_history() -> None:
    common = recorded([("a", 1, True), ("b", 2, True)])
    first, second = common.merged(Times()), common.merged(Times())
    first.add("a", 3, passed=True)
    second.add("b", 4, passed=True)
    assert first.merged(second).data()["tests"] == {"a": [2, 1.0, 3.0], "b": [2, 2.0, 4.0]}


@settings(max_examples=100, deadline=None)
@given(records, ids, seconds)
def test_a_failure_never_shortens_a_prediction(runs: Any, test: str, time: float) -> None:
    times = recorded(runs)
    before = times.predicted(test)
    times.add(test, time, passed=False)
    after = times.predicted(test)
    assert after is not None and (before is None or after >= before)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)
almost = st.fixed_dictionaries({"makespan-times": st.just(1) | values, "tests": st.dictionaries(ids, values, max_size=3) | values})


@settings(max_examples=100, deadline=None)
@given(values | almost)
def test_malformed_times_are_refused_in_one_printable_line(data: Any) -> None:
    try:
        times = _times.parsed(data, "file")
    except TimesError as error:
        assert str(error).isascii() and str(error).isprintable() and len(str(error)) < 500
    else:
        assert all(0 <= time <= _times.LONGEST for time in times.predictions().values())


HOSTILE = {
    "empty": b"",
    "text": b"\xff\xfe\x00",
    "list": b"[]",
    "nan": b'{"makespan-times": 1, "tests": {"a": [1, NaN]}}',
    "infinite": b'{"makespan-times": 1, "tests": {"a": [1, 1e999]}}',
    "negative": b'{"makespan-times": 1, "tests": {"a": [1, -1]}}',
    "boolean": b'{"makespan-times": 1, "tests": {"a": [1, true]}}',
    "digits": b'{"makespan-times": 1, "tests": {"a": [1, ' + b"9" * 10_000 + b"]}}",
    "deep": b"[" * 200_000,
    "escapes": b'{"makespan-times": 1, "tests": {"\\u001b[31m": [0]}}',
    "version": b'{"makespan-times": 2, "tests": {}}',
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_a_usage_error(content: bytes, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test(): pass")
    pytester.path.joinpath("times").write_bytes(content)
    for option in ("--makespan-times=times", "--makespan-store=times"):
        result = pytester.runpytest_inprocess("--makespan-shard=1/2", option)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert "times" in (line := result.stderr.str().strip().removeprefix("ERROR: ")) and line.isprintable(), line
    assert pytester.path.joinpath("times").read_bytes() == content


def test_other_wrong_options_are_usage_errors(pytester: pytest.Pytester) -> None:
    pytester.mkdir("folder")
    with pytester.path.joinpath("large").open("wb") as file:
        file.truncate(_times.LARGEST + 1)
    wrong = {
        "--makespan-times=missing": "No such file",
        "--makespan-times=folder": "not a regular file",
        "--makespan-times=/dev/zero": "not a regular file",
        "--makespan-times=large": "larger than 256 MiB",
        "--makespan-store=folder": "not a regular file",
        "--makespan-store=missing/file": "the folder does not exist",
        "--makespan-shard=0/3": "not a shard",
        "--makespan-shard=4/3": "not a shard",
        "--makespan-shard=1": "not a shard",
        "--makespan-shard=1/\N{ARABIC-INDIC DIGIT TWO}": "not a shard",
    }
    for option, problem in wrong.items():
        result = pytester.runpytest_inprocess(option)
        assert result.ret == pytest.ExitCode.USAGE_ERROR and problem in result.stderr.str(), option


SUITE = {
    "test_long": """
        import time, pytest
        @pytest.fixture(scope="module")
        def shared(): open("setups", "a").write("x")
        class TestOne:
            def test_a(self, shared): time.sleep(0.2)
        class TestTwo:
            def test_b(self, shared): pass
    """,
    "test_mixed": """
        import os, unittest, pytest
        def double(x):
            '''
            >>> double(2)
            4
            '''
            return 2 * x
        @pytest.mark.parametrize("text", ["a::b", "[x]", "é", "@g", "a b", "\\0", "\\x1b[31m", ""])
        def test_text(text): pass
        class Old(unittest.TestCase):
            def test_old(self): self.assertEqual(double(1), 2)
            @unittest.skip("reason")
            def test_skipped(self): pass
        @pytest.mark.xdist_group("pair")
        def test_first(): pass
        def test_fails(): assert False
        def test_crash():
            if os.environ.get("CRASH"): os._exit(3)
    """,
    "test_other": """
        import pytest
        @pytest.mark.xdist_group("pair")
        def test_second(): pass
        def test_short(): pass
    """,
}
CONFTEST = """
    def pytest_runtest_logreport(report):
        # A worker has the attribute `item_index` only in the main process, so each test is recorded once.
        if hasattr(report, "node") or not WORKER:
            if report.when in ("call", "???") or report.outcome != "passed":
                worker = getattr(report, "node", None)
                with open("log", "a") as log:
                    log.write(f"{report.nodeid!a}\\t{report.outcome}\\t{worker.gateway.id if worker else ''}\\n")
    def pytest_configure(config):
        global WORKER
        WORKER = hasattr(config, "workerinput")
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(**SUITE)
    pytester.makeini("[pytest]\nmarkers = xdist_group: group\naddopts = --doctest-modules\n")
    return pytester


def log(suite: pytest.Pytester) -> list[tuple[str, str, str]]:
    """Returns the id, the outcome and the worker of each test since the last call."""
    path = suite.path / "log"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [tuple(line.split("\t")) for line in lines]  # type: ignore[misc]


def outcomes(runs: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    return sorted((test, outcome) for test, outcome, _ in runs)


@needs_xdist
def test_a_run_with_workers_has_the_outcomes_of_a_run_without(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.runpytest_inprocess()
    alone = outcomes(log(suite))
    assert len(alone) == 18 and len({test for test, _ in alone}) == 18
    (suite.path / "setups").unlink()
    suite.runpytest_subprocess(QUICK, "-n2", "--dist=makespan").stdout.fnmatch_lines(["makespan: * groups, no test with a run time yet"])
    runs = log(suite)
    assert outcomes(runs) == alone
    assert (suite.path / "setups").read_text() == "x", "the module fixture was set up twice"
    assert len({worker for test, _, worker in runs if "test_first" in test or "test_second" in test}) == 1
    stored = json.loads((suite.path / ".pytest_cache/v/makespan/times").read_text())["tests"]
    assert {ascii(test) for test in stored} == {test for test, _ in alone}

    # In the second run, the longest group is first, and a worker crashes.
    monkeypatch.setenv("CRASH", "1")
    result = suite.runpytest_subprocess(QUICK, "-n2", "--dist=makespan")
    result.stdout.fnmatch_lines(["*crashed while running*test_crash*", "makespan: * groups, the longest, 'test_long.py', is*"])
    crashed = [(test, "failed" if "test_crash" in test else outcome) for test, outcome in alone]
    runs = log(suite)
    assert outcomes(runs) == sorted(crashed)
    long = next(worker for test, _, worker in runs if "test_a" in test)
    assert "test_a" in next(test for test, _, worker in runs if worker == long)
    again = json.loads((suite.path / ".pytest_cache/v/makespan/times").read_text())["tests"]
    assert again["test_mixed.py::test_crash"] == stored["test_mixed.py::test_crash"]
    assert again["test_long.py::TestOne::test_a"][0] == 2


def test_only_tests_without_shared_fixtures_are_split(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_class="""
        import pytest
        @pytest.fixture(scope="class")
        def shared(): pass
        class TestShared:
            def test_c(self, shared): pass
            def test_d(self): pass
        class TestFree:
            def test_e(self): pass
            def test_f(self): pass
        import unittest
        class Prepared(unittest.TestCase):
            @classmethod
            def tearDownClass(cls): pass
            def test_g(self): pass
            def test_h(self): pass
        class Inheriting(Prepared): pass
        """
    )
    items, _ = suite.inline_genitems()
    from pytest_makespan._worker import groups

    whole, split = groups(items), groups(items, split=True)
    by_name = {item.name: (whole[index], split[index]) for index, item in enumerate(items)}
    assert by_name["test_c"] == by_name["test_d"] == ("test_class.py::TestShared",) * 2
    assert by_name["test_e"] == ("test_class.py::TestFree", "test_class.py::TestFree::test_e")
    assert by_name["test_a"] == by_name["test_b"] == ("test_long.py",) * 2
    assert by_name["test_first"] == by_name["test_second"] == ("@pair",) * 2
    assert by_name["test_old"] == ("test_mixed.py::Old", "test_mixed.py::Old::test_old")
    assert by_name["test_g"] == by_name["test_h"] == ("test_class.py::Inheriting",) * 2
    assert by_name["test_fails"] == ("test_mixed.py", "test_mixed.py::test_fails")


@needs_xdist
def test_workers_select_the_shard_of_the_main_process(suite: pytest.Pytester) -> None:
    suite.runpytest_inprocess("--makespan-store=times")
    everything = outcomes(log(suite))
    lines = []
    for number, workers in ((1, "-n0"), (2, "-n1")):
        options = (QUICK, f"--makespan-shard={number}/2", "--makespan-times=times", "--dist=makespan", "--makespan-split", workers)
        result = suite.runpytest_subprocess(*options)
        lines += [line for line in result.outlines if line.startswith("makespan: shard")]
    assert outcomes(log(suite)) == everything
    hashes = {line.partition("hash of the collection ")[2].partition("; predicted")[0] for line in lines}
    assert len(lines) == 2 and len(hashes) == 1, lines


@pytest.mark.parametrize("count", [1, 3])
def test_shards_run_each_test_once(suite: pytest.Pytester, count: int) -> None:
    suite.runpytest_inprocess("-k", "not Old", "--makespan-store=times")
    everything = outcomes(log(suite))
    # The collection has changed since the times were recorded.
    suite.makepyfile(test_new="def test_new(): pass")
    (suite.path / "test_other.py").unlink()
    suite.runpytest_inprocess("-k", "not Old")
    changed = outcomes(log(suite))
    assert changed != everything
    for times in ([], ["--makespan-times=times"]):
        for number in range(1, count + 1):
            result = suite.runpytest_inprocess("-k", "not Old", f"--makespan-shard={number}/{count}", *times)
            assert result.ret != pytest.ExitCode.USAGE_ERROR
            result.stdout.fnmatch_lines([f"makespan: shard {number}/{count}: *hash of the collection*"])
        assert outcomes(log(suite)) == changed


def test_files_of_shards_contain_all_tests_together(suite: pytest.Pytester) -> None:
    for number in (1, 2):
        suite.runpytest_inprocess(f"--makespan-shard={number}/2", f"--makespan-store=times{number}")
    everything = {test for test, _ in outcomes(log(suite))}
    files = [json.loads((suite.path / f"times{number}").read_text())["tests"] for number in (1, 2)]
    assert not set(files[0]) & set(files[1])
    assert {ascii(test) for file in files for test in file} == everything
    result = suite.runpytest_inprocess(
        "--collect-only", "--makespan-shard=1/2", "--makespan-times=times2", "--makespan-times=times1"
    )
    result.stdout.fnmatch_lines(["makespan: run times of 18 tests from 'times2', 'times1', hash *"])
    assert "without a run time" not in result.stdout.str()


def test_an_empty_shard_is_reported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test(): pass")
    results = [pytester.runpytest_inprocess("-qq", f"--makespan-shard={number}/2") for number in (1, 2)]
    assert {result.ret for result in results} == {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    for number, result in enumerate(results, 1):
        result.stdout.fnmatch_lines([f"makespan: shard {number}/2: {int(result.ret == 0)} of 1 test; *"])


def test_last_failed_tests_run_in_their_shards(suite: pytest.Pytester) -> None:
    suite.runpytest_inprocess()
    log(suite)
    for number in (1, 2):
        suite.runpytest_inprocess("--lf", f"--makespan-shard={number}/2")
    assert outcomes(log(suite)) == [("'test_mixed.py::test_fails'", "failed")]


def test_a_missing_xdist_is_reported(pytester: pytest.Pytester) -> None:
    for words in (["--dist=makespan"], ["--dist", "makespan", "-n2"]):
        result = pytester.runpytest_subprocess(QUICK, "-p", "no:xdist", *words)
        assert result.ret == pytest.ExitCode.USAGE_ERROR and "needs pytest-xdist" in result.stderr.str()


def test_without_its_options_the_plugin_loads_no_other_module(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys
        def test():
            assert "pytest_makespan" in sys.modules
            assert not [name for name in sys.modules if name.startswith(("pytest_makespan.", "makespan"))]
        """
    )
    assert pytester.runpytest_subprocess(QUICK, "-p", "no:cacheprovider").ret == 0
    assert not list(Path(pytester.path).glob(".pytest_cache"))
