"""The part of the plugin that runs in the main process: it reads, uses and writes the run times."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pytest_makespan import _times
from pytest_makespan._times import Times, TimesError, shown
from pytest_makespan._worker import keep_shard

#: The name of the run times in pytest's cache.
CACHE = "makespan/times"


class Session:
    """Hooks in the main process. Raises ``pytest.UsageError`` if a file of run times cannot be used."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._shard: tuple[int, int] | None = config.option.makespan_shard
        self._dist = getattr(config.option, "dist", None) == "makespan"
        if self._dist:
            _require_xdist()
        # A test may change the working directory, so the path is absolute.
        self._store = Path(config.option.makespan_store).absolute() if config.option.makespan_store else None
        self._files = [Path(name) for name in config.option.makespan_times]
        self._cache = getattr(config, "cache", None) if self._dist and not self._files and not self._store else None
        try:
            #: The merged times of the files of --makespan-times.
            self._given = Times()
            for path in self._files:
                self._given = self._given.merged(_times.read(path))
            stored = _stored(self._store) if self._store is not None else Times()
        except TimesError as error:
            raise pytest.UsageError(str(error)) from None
        if self._cache is not None:
            stored = self._cached(self._cache)
        #: The times to which this run is added. The merge also makes a copy of the given times.
        self._kept = self._given.merged(stored)
        #: Predictions for the order of groups.
        self._known = (self._given if self._files else self._kept).predictions()
        self._running: dict[str, tuple[float, bool]] = {}
        self._scheduler: Any = None
        self._report: dict[str, Any] | None = None
        self._problem = ""

    def _cached(self, cache: pytest.Cache) -> Times:
        """Returns the times in pytest's cache. Ignores a malformed entry with a warning, because the cache can be rebuilt."""
        data = cache.get(CACHE, None)
        if data is None:
            return Times()
        try:
            return _times.parsed(data, f"the entry {CACHE} of pytest's cache")
        except TimesError as error:
            self._config.issue_config_time_warning(pytest.PytestWarning(f"run times ignored: {error}"), 2)
            return Times()

    def pytest_report_header(self) -> list[str]:
        lines = []
        if self._files:
            names = ", ".join(shown(str(path)) for path in self._files)
            lines.append(f"makespan: run times of {len(self._given)} tests from {names}, hash {self._given.digest()}")
        if self._dist and not self._files and not self._store and self._cache is None:
            lines.append("makespan: no run times are kept, because pytest's cache is disabled; use --makespan-store FILE")
        return lines

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Selects the shard after all other plugins have selected tests. pytest-xdist collects only in its workers."""
        if self._shard is not None:
            self._report = keep_shard(self._config, items, self._shard_times(), self._shard)

    def _shard_times(self) -> dict[str, float] | None:
        """Returns the predictions for the shards. Only the files count: the cache may differ between machines."""
        return self._known if self._files else None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        times = self._shard_times() if self._shard is not None else None
        node.workerinput["makespan"] = {
            "dist": self._dist,
            "split": self._config.option.makespan_split,
            "shard": self._shard,
            "times": times,
        }

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._report = self._report or getattr(node, "workeroutput", {}).get("makespan")

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config) -> Any:
        if not self._dist:
            return None
        from pytest_makespan._scheduler import MakespanScheduling

        self._scheduler = MakespanScheduling(config, self._known)
        return self._scheduler

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds up setup, call and teardown of a test. The last of them is the teardown."""
        if report.when == "setup":
            self._running[report.nodeid] = (0.0, True)
        if report.nodeid not in self._running or report.when not in ("setup", "call", "teardown"):
            # The test has crashed its worker.
            self._running.pop(report.nodeid, None)
            return
        seconds, passed = self._running[report.nodeid]
        total = (seconds + report.duration, passed and report.passed)
        self._running[report.nodeid] = total
        if report.when == "teardown":
            del self._running[report.nodeid]
            self._kept.add(report.nodeid, total[0], passed=total[1])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes the times. If the file cannot be written, a run that has succeeded ends with the status of a usage error."""
        if self._config.option.collectonly:
            return
        if self._cache is not None:
            self._cache.set(CACHE, self._kept.data())
        if self._store is None:
            return
        try:
            _times.write(self._kept, self._store)
        except TimesError as error:
            self._problem = str(error)
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for line in self._summary():
            terminalreporter.write_line(f"makespan: {line}")
        if self._problem:
            terminalreporter.write_line(f"ERROR: {self._problem}", red=True)

    def _summary(self) -> list[str]:
        lines = []
        if self._shard is not None:
            number, count = self._shard
            lines.append(f"shard {number}/{count}: {self._shard_line(self._report)}")
        groups = self._scheduler.summary() if self._scheduler is not None else None
        if groups is not None and self._config.option.verbose >= 0:
            lines.append(f"{_count(groups['groups'], 'group')}, {_longest(groups)}")
        return lines

    def _shard_line(self, report: dict[str, Any] | None) -> str:
        if report is None:
            return "no tests were collected"
        line = f"{report['tests']} of {_count(report['collected'], 'test')}"
        line += f"; hash of the collection {report['collection']}, "
        if not self._files:
            return line + "split by a hash of each test's id, without run times"
        line += f"hash of the run times {self._given.digest()}"
        return f"{line}; predicted {report['seconds']:.1f} s of {report['total']:.1f} s{_unknown(report)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _longest(groups: dict[str, Any]) -> str:
    if groups["unknown"] == groups["tests"]:
        return "no test with a run time yet"
    longest = f"the longest, {shown(groups['longest'])}, is predicted to take {groups['seconds']:.1f} s"
    return f"{longest} of {groups['total']:.1f} s{_unknown(groups)}"


def _unknown(report: dict[str, Any]) -> str:
    """Returns a note on the tests without a run time, or an empty text if there are none."""
    if not report["unknown"]:
        return ""
    return f" ({report['unknown']} of {_count(report.get('collected', report['tests']), 'test')} without a run time)"


def _require_xdist() -> None:
    try:
        import pytest_makespan._scheduler  # noqa: F401
    except ImportError as error:
        problem = f"--dist makespan needs pytest-xdist 3.7 or later ({error})"
        raise pytest.UsageError(f"{problem}; install it (pip install --upgrade pytest-xdist)") from None


def _stored(path: Path) -> Times:
    """Returns the times in the file of --makespan-store, or none if the file does not exist. Raises :class:`TimesError` if the
    file cannot be replaced, so that the error precedes the run."""
    if not os.access(path.parent, os.W_OK | os.X_OK):
        problem = f"cannot write the run times to {shown(str(path))}: the folder does not exist, or is not writable"
        raise TimesError(f"{problem}; give another file to --makespan-store")
    return _times.read(path) if path.exists() else Times()
