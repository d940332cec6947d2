"""Callables as planned jobs on this machine."""

from __future__ import annotations

import os
import time
from concurrent.futures import CancelledError, Future
from pathlib import Path

import makespan as m
import pytest
from calls import add, cores, double, fail, killed, nap, unpicklable
from makespan.executor import Executor


def test_results_come_back_in_any_order() -> None:
    with Executor(cores=2) as executor:
        futures = [executor.submit(double, number) for number in range(6)]
        assert list(executor.map(double, [7, 8])) == [14, 16]
        assert [future.result() for future in futures] == [0, 2, 4, 6, 8, 10]


def test_a_call_has_the_cores_that_it_asks_for() -> None:
    count = min(2, len(os.sched_getaffinity(0)))
    with Executor(cores=count) as executor:
        assert len(executor.needing(cores=count, memory="1MiB", time=1).submit(cores).result()) == count
        assert len(executor.submit(cores).result()) == 1


def test_calls_wait_for_others_and_fail_with_them(tmp_path: Path) -> None:
    path = tmp_path / "list"
    with Executor(cores=2) as executor:
        first = executor.needing(time=1).submit(nap, 0.3, str(path), "first")
        second = executor.needing(after=[first]).submit(nap, 0, str(path), "second")
        bad = executor.submit(fail, "reason")
        lost = executor.needing(after=[bad]).submit(double, 1)
        assert second.result() is None and path.read_text() == "first\nsecond\n"
        with pytest.raises(ValueError, match="reason"):
            bad.result()
        with pytest.raises(m.RunError, match="not started"):
            lost.result()


def test_what_goes_wrong_is_said() -> None:
    with Executor(cores=1) as executor:
        with pytest.raises(m.RunError, match="failed"):
            executor.submit(killed).result()
        with pytest.raises(TypeError, match="result cannot be pickled"):
            executor.submit(unpicklable).result()
        with pytest.raises(m.InputError, match="cannot be pickled"):
            executor.submit(double, (number for number in range(3)))
        with pytest.raises(m.RunError, match="timed out"):
            executor.needing(walltime=0.5).submit(nap, 60).result()
        with pytest.raises(m.InputError, match="processors"):
            executor.needing(cores=0).submit(double, 1)
        with pytest.raises(m.InputError, match="processors"):
            executor.needing(cores=5000).submit(double, 1)
        stranger: Future[int] = Future()
        with pytest.raises(m.InputError, match="another executor"):
            executor.needing(after=[stranger]).submit(double, 1)
        assert executor.submit(add, 1, b=2).result() == 3
    with pytest.raises(RuntimeError, match="closed"):
        executor.submit(double, 1)


def test_what_waits_can_be_taken_back() -> None:
    with Executor(cores=1) as executor:
        running = executor.needing(time=2).submit(nap, 2.0)
        while not running.running():
            time.sleep(0.01)
        waiting = executor.needing(time=2).submit(nap, 60)
        assert waiting.cancel() and not running.cancel()
        with pytest.raises(CancelledError):
            waiting.result()
        assert running.result() is None


def test_the_files_of_a_run_go_or_stay(tmp_path: Path) -> None:
    with Executor(cores=1, folder=tmp_path / "kept") as executor:
        executor.submit(double, 1).result()
        temporary = Executor(cores=1)
        folder = temporary._folder
        temporary.shutdown()
    assert (tmp_path / "kept" / "run").is_dir() and not folder.exists()


def test_kill_ends_what_runs() -> None:
    executor = Executor(cores=1)
    future = executor.submit(nap, 600)
    while not future.running():
        time.sleep(0.01)
    begin = time.monotonic()
    executor.kill()
    assert time.monotonic() - begin < 60
    assert isinstance(future.exception(), m.RunError)
