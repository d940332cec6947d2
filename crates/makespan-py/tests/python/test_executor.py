"""Tests of callables as planned jobs on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, Future, as_completed
from pathlib import Path
from typing import Any

import makespan as m
import pytest
from calls import add, chained, cores, double, fail, killed, leave, nap, nested, odd, process, speak, unpicklable, vanish, wait_for
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
        with pytest.raises(m.RunError, match="a `function`, cannot be pickled"):
            executor.submit(unpicklable).result()
        with pytest.raises(m.InputError, match="cannot be pickled"):
            executor.submit(double, (number for number in range(3)))
        with pytest.raises(m.InputError, match="cannot be called"):
            executor.submit(3)  # type: ignore[arg-type]
        with pytest.raises(m.RunError, match="odd 1"):
            executor.submit(odd).result()
        with pytest.raises(m.RunError, match=r"SystemExit\(3\)"):
            executor.submit(leave, 3).result()
        with pytest.raises(m.RunError, match="ended before the function returned"):
            executor.submit(vanish).result()
        with pytest.raises(LookupError, match="outer") as raised:
            executor.submit(chained).result()
        assert "inner" in str(raised.value.__cause__) and "calls.py" in str(raised.value.__cause__)
        with pytest.raises(m.RunError, match="timed out"):
            executor.needing(walltime=0.5).submit(nap, 60).result()
        with pytest.raises(m.InputError, match="processors"):
            executor.needing(cores=0).submit(double, 1)
        with pytest.raises(m.InputError, match="processors"):
            executor.needing(cores=5000).submit(double, 1)
        stranger: Future[int] = Future()
        with pytest.raises(m.InputError, match="not a future of this executor"):
            executor.needing(after=[stranger]).submit(double, 1)
        with pytest.raises(m.InputError, match="not a list of futures"):
            executor.needing(after=3)  # type: ignore[arg-type]
        assert executor.submit(add, 1, b=2).result() == 3
    with pytest.raises(RuntimeError, match="closed"):
        executor.submit(double, 1)


@pytest.mark.parametrize(("wrong", "field"), [({"cores": 0}, "cores"), ({"cores": 10_000}, "cores"), ({"memory": -1}, "memory"), ({"memory": "x"}, "memory")])
def test_executors_of_what_is_not_there_are_refused(wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(m.InputError) as raised:
        Executor(**wrong)
    assert field in (raised.value.field or "")


def test_plans_are_made_in_other_processes() -> None:
    instance = m.Instance(processors=2, jobs=[m.Job("a", time=[3, 2]), m.Job("b", time=1)])
    with Executor(cores=1, memory="2GiB") as executor:
        plan = executor.submit(m.plan, instance, "list").result()
        lone = executor.needing(after=executor.submit(double, 1)).submit(process)
        assert lone.result() != os.getpid()
    plan.verify()
    assert plan.makespan == m.plan(instance, "list").makespan


def test_lambdas_travel_with_cloudpickle() -> None:
    pytest.importorskip("cloudpickle")
    offset = 3
    with Executor(cores=1) as executor:
        assert executor.submit(lambda number: number + offset, 4).result() == 7


def test_those_who_wait_for_several_hear_of_cancelled_ones(tmp_path: Path) -> None:
    with Executor(cores=1) as executor:
        first = executor.submit(wait_for, str(tmp_path / "go"))
        while not first.running():
            time.sleep(0.01)
        second = executor.submit(nap, 60)
        done: list[Future[None]] = []
        thread = threading.Thread(target=lambda: done.extend(as_completed([first, second])))
        thread.start()
        assert second.cancel()
        (tmp_path / "go").touch()
        thread.join(60)
        assert set(done) == {first, second}


def test_a_callback_may_submit_and_shut_down() -> None:
    later: list[Future[int]] = []
    executor = Executor(cores=1)

    def then(_: Future[int]) -> None:
        later.append(executor.submit(double, 5))
        executor.shutdown()

    executor.submit(double, 1).add_done_callback(then)
    executor._thread.join(60)
    assert later[0].result() == 10


PROGRAM = """
import sys, time
from calls import nap
from makespan.executor import Executor

executor = Executor(cores=1)
future = executor.submit(nap, {seconds}, {path!r}, "done")
while not future.running():
    time.sleep(0.01)
print("running", flush=True)
{end}
"""


def program(tmp_path: Path, seconds: float, end: str) -> subprocess.Popen[str]:
    text = PROGRAM.format(seconds=seconds, path=str(tmp_path / "list"), end=end)
    here = str(Path(__file__).parent)
    return subprocess.Popen(
        [sys.executable, "-c", text], cwd=here, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("end", ["", "raise LookupError('left')"])
def test_a_program_that_ends_waits_for_its_calls(tmp_path: Path, end: str) -> None:
    ended = program(tmp_path, 0.5, end)
    _, errors = ended.communicate(timeout=120)
    assert (tmp_path / "list").read_text() == "done\n"
    assert ("left" in errors) == bool(end) == bool(ended.returncode)


def test_a_program_that_ctrl_c_ends_ends_its_calls(tmp_path: Path) -> None:
    running = program(tmp_path, 600, "time.sleep(600)")
    assert running.stdout is not None and running.stdout.readline() == "running\n"
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors and not (tmp_path / "list").exists()


def test_what_waits_can_be_taken_back(tmp_path: Path) -> None:
    with Executor(cores=1) as executor:
        running = executor.needing(time=2).submit(wait_for, str(tmp_path / "go"))
        while not running.running():
            time.sleep(0.01)
        waiting = executor.needing(time=2).submit(nap, 60)
        assert waiting.cancel() and not running.cancel()
        (tmp_path / "go").touch()
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


def test_submitting_takes_no_longer_where_much_waits(tmp_path: Path) -> None:
    def submitted(count: int) -> tuple[float, float]:
        executor = Executor(cores=1)
        begin = time.process_time()
        executor.submit(wait_for, str(tmp_path / "go"))
        for number in range(count):
            executor.submit(double, number)
        middle = time.process_time()
        threading.Timer(0.2, (tmp_path / "go").touch).start()
        executor.shutdown(cancel_futures=True)
        (tmp_path / "go").unlink()
        return (middle - begin) / count, (time.process_time() - middle) / count

    few, many = submitted(500), submitted(4000)
    # If the total time were quadratic, each of the many calls would take eight times as long as each of the few calls.
    assert many[0] < 4 * few[0] + 0.001 and many[1] < 4 * few[1] + 0.001, (few, many)


def test_what_a_call_prints_is_printed_here(capfd: pytest.CaptureFixture[str]) -> None:
    with Executor(cores=1) as executor:
        executor.submit(speak, "words of a call", "and what went wrong").result()
        with pytest.raises(ValueError, match="reason"):
            executor.submit(fail, "reason").result()
    out, err = capfd.readouterr()
    assert out == "words of a call\n" and err == "and what went wrong"


def test_executors_have_folders_of_their_own(tmp_path: Path) -> None:
    with Executor(cores=1, folder=tmp_path):
        with pytest.raises(m.InputError, match="another executor") as raised:
            Executor(cores=1, folder=tmp_path)
    assert raised.value.field == "folder"
    with pytest.raises(m.InputError, match="another executor"):
        Executor(cores=1, folder=tmp_path)


def test_needs_change_no_interface() -> None:
    with Executor(cores=1) as executor:
        asking = executor.needing(memory="1MiB")
        assert list(asking.map(double, [1, 2])) == list(executor.map(double, [1, 2])) == [2, 4]
        first = asking.submit(double, 1)
        assert asking.needing(after=first).submit(nested, 4).result() == 8
        asking.shutdown()
        with pytest.raises(RuntimeError, match="closed"):
            executor.submit(double, 1)


def ran(text: str, *words: str, given: str | None = None, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], input=given, cwd=cwd, text=True, capture_output=True, timeout=300, check=False)


UNGUARDED = """
from makespan.executor import Executor

def square(number):
    return number * number

executor = Executor(cores=1)
print(executor.submit(square, 3).result())
"""

GUARDED = """
from makespan.executor import Executor

class Point:
    def __init__(self, x):
        self.x = x

def square(point):
    return Point(point.x ** 2)

def twice(point):
    with Executor(cores=1) as inner:
        return inner.submit(square, inner.submit(square, point).result()).result()

if __name__ == "__main__":
    with Executor(cores=1) as executor:
        print(executor.submit(square, Point(3)).result().x, executor.submit(twice, Point(3)).result().x)
"""


def test_a_program_without_a_guard_is_told_of_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(UNGUARDED)
    ended = ran(UNGUARDED, "program.py", cwd=tmp_path)
    assert ended.returncode == 1 and 'put the statements of the program, including the Executor, under `if __name__ == "__main__":`' in ended.stderr


def test_programs_of_files_and_of_standard_input(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(GUARDED)
    ended = ran(GUARDED, "program.py", cwd=tmp_path)
    assert ended.stdout == "9 81\n", ended.stderr
    pytest.importorskip("cloudpickle")
    ended = ran(UNGUARDED, "-", given=UNGUARDED, cwd=tmp_path)
    assert ended.stdout == "9\n", ended.stderr


def runs(process: int) -> bool:
    """Returns whether a process exists and is not a zombie. The process may end at any moment, even during this check."""
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1][:3]
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_calls_end_with_a_program_that_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "pid"
    text = f"""
import os, time
from calls import process, wait_for
from makespan.executor import Executor

def here():
    with open({str(path)!r} + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.rename({str(path)!r} + ".part", {str(path)!r})
    time.sleep(600)

if __name__ == "__main__":
    Executor(cores=1).submit(here).result()
"""
    (tmp_path / "program.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    running = subprocess.Popen([sys.executable, str(tmp_path / "program.py")], env=environment)
    wait_for(str(path))
    call = int(path.read_text())
    running.send_signal(number)
    running.wait(60)
    limit = time.monotonic() + 30
    while runs(call):
        assert time.monotonic() < limit, "the call goes on"
        time.sleep(0.05)
