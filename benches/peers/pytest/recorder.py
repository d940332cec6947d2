"""A plugin for pytest that writes the outcome and the run time of each test, and the selected tests with their groups, to the
file in the variable RECORD."""

import json
import os

from pytest_makespan._worker import groups

_outcomes = {}
_seconds = {}
#: The worst outcome of setup, call and teardown counts.
_ORDER = ["passed", "skipped", "failed"]


def pytest_runtest_logreport(report):
    before = _outcomes.get(report.nodeid, "passed")
    # Subtests have the id of their test.
    _outcomes[report.nodeid] = max(before, report.outcome, key=_ORDER.index)
    if type(report).__name__ == "TestReport":
        _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        selected = [item.nodeid for item in getattr(session, "items", [])]
        with open(os.environ["RECORD"], "w") as file:
            record = {"outcomes": _outcomes, "seconds": _seconds, "selected": selected}
            for name, split in (("makespan", False), ("makespan-split", True)):
                record[name] = groups(getattr(session, "items", []), split=split)
            json.dump(record, file)
