"""Runs callables as planned jobs on this machine, through the interface of ``concurrent.futures``."""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import os
import pickle
import shlex
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from makespan import _check, _native, _worker
from makespan._errors import InputError, RunError
from makespan._model import Amount, Time

__all__ = ["Executor", "Needs", "RemoteTraceback"]

T = TypeVar("T")
#: If a process fails, its error repeats this number of its last lines of output.
_LINES = 20
#: Seconds between two checks whether the executor is closed.
_TICK = 0.5


@dataclass(frozen=True)
class Needs:
    """The needs of calls: cores, memory, an estimated time, a walltime after which the call is ended, and futures that must
    succeed before the call starts."""

    cores: int = 1
    memory: Amount | None = None
    time: Time | None = None
    walltime: Time | None = None
    after: tuple[concurrent.futures.Future[Any], ...] = ()


class Executor(concurrent.futures.Executor):
    """Runs each call in a separate process that is pinned to its cores. A plan decides the order and the cores, and is
    improved while calls run. Calls and results are transferred by pickle. The output of a call is printed here after the
    call has ended. If two calls together need more cores or memory than the executor has, they run one after the other.

    >>> import math, makespan.executor
    >>> with makespan.executor.Executor(cores=2) as executor:  # doctest: +SKIP
    ...     big = executor.needing(cores=2, memory="1GiB", time=5).submit(math.factorial, 20)
    ...     small = executor.submit(math.sqrt, 2)
    ...     later = executor.needing(after=[big]).submit(math.sqrt, 3)
    ...     print(big.result(), small.result())
    2432902008176640000 1.4142135623730951

    Args:
        cores: The number of cores to use. The default is all cores that this process may use.
        memory: The total memory that calls may use, such as ``"4GiB"``. The default is the memory of the machine.
        folder: The folder for the files of the run: the journal, and the output of each call in ``run``. Each executor
            needs a separate folder. The default is a temporary folder that is removed with the executor.
    """

    def __init__(
        self, cores: int | None = None, *, memory: Amount | None = None, folder: str | os.PathLike[str] | None = None
    ) -> None:
        if "__makespan_loading__" in sys.modules:
            # This process runs a call, and imports the program to find the function of the call.
            raise RuntimeError(
                "this program creates an Executor at import, and each call imports the program to find its function; "
                "put the statements of the program, including the Executor, under `if __name__ == \"__main__\":`"
            )
        # In the process that executes a call, the classes of this program are members of the module
        # `__makespan_main__`. With the alias, pickle finds these classes when it reads the result.
        sys.modules.setdefault("__makespan_main__", sys.modules["__main__"])
        platform = _machine(cores, memory)
        self._kept = folder is not None
        self._folder = Path(os.fsdecode(folder)).absolute() if folder is not None else Path(tempfile.mkdtemp(prefix="makespan-"))
        self._folder.mkdir(parents=True, exist_ok=True)
        self._run = self._folder / "run"
        if self._run.exists():
            problem = f"{self._folder} has the files of another executor; give each executor its own folder, or remove this folder"
            raise InputError(problem, field="folder")
        self._lock = threading.Lock()
        #: Submitted calls that the run has not accepted yet, in order.
        self._coming: collections.deque[_Call] = collections.deque()
        #: Cancelled calls that the thread of the executor has not handled yet.
        self._unwanted: collections.deque[_Call] = collections.deque()
        #: Tasks that the run must cancel.
        self._back: list[int] = []
        self._calls: dict[int, _Call] = {}
        self._count = 0
        self._taken = 0
        self._closed = False
        self._left = False
        self._over = threading.Event()
        #: A pipe with its writing end in this process. When this process ends, the pipe closes, and the calls end.
        self._alive = self._folder / "alive"
        try:
            self._alive.unlink(missing_ok=True)
            os.mkfifo(self._alive, 0o600)
            self._session = _native.Session(self._run, self._guard(), platform)
        except BaseException:
            self._remove()
            raise
        self.cores: int = self._session.processors
        self._writer = os.open(self._alive, os.O_RDWR | os.O_CLOEXEC)
        self._thread = threading.Thread(target=self._listen, name="makespan-executor", daemon=True)
        self._thread.start()
        atexit.register(self._at_exit)

    def _guard(self) -> Path:
        """Creates the program that guards each call and records its end: an interpreter that imports only the compiled module."""
        script = self._folder / "guard.py"
        loader = "importlib.machinery.ExtensionFileLoader('makespan._native', path)"
        script.write_text(
            "import importlib.machinery, importlib.util, sys\n"
            f"path = {_native.__file__!r}\n"
            f"loader = {loader}\n"
            "module = importlib.util.module_from_spec(importlib.util.spec_from_loader('makespan._native', loader))\n"
            "loader.exec_module(module)\n"
            "module.guard(sys.argv[1:])\n"
        )
        program = self._folder / "guard"
        words = [sys.executable, "-S", "-E", "-s", str(script)]
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        program.chmod(0o700)
        return program

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[T]:
        """Submits ``fn(*args, **kwargs)`` with one core. Use :meth:`needing` for other needs."""
        return self._submit(Needs(), fn, args, kwargs)

    def needing(
        self,
        *,
        cores: int = 1,
        memory: Amount | None = None,
        time: Time | None = None,
        walltime: Time | None = None,
        after: concurrent.futures.Future[Any] | Iterable[concurrent.futures.Future[Any]] = (),
    ) -> Asking:
        """Returns this executor for calls with other needs: several cores, memory, an estimated time, a walltime, or futures
        that must succeed before a call starts. Estimated times improve the plan. Without an estimate, the plan assumes a minute."""
        return Asking(self, Needs(cores, memory, time, walltime, _futures(after)))

    def _submit(
        self, needs: Needs, fn: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> concurrent.futures.Future[T]:
        if not callable(fn):
            raise InputError(f"{_check.shown(fn)} cannot be called; give a function", field="fn")
        payload = _pickled(fn, args, kwargs)
        with self._lock:
            if self._closed:
                raise RuntimeError("the executor is closed and accepts no more calls")
            number = self._count
            call = _Call(number, f"call{number}", concurrent.futures.Future(), self._folder / f"result{number}", needs)
            call.future._makespan = (self, call)  # type: ignore[attr-defined]
            call.future.add_done_callback(self._done)
            call.source.write_bytes(payload)
            job = {
                "name": call.name,
                "time": needs.time,
                "processors": needs.cores,
                "walltime": needs.walltime,
                "needs": None if needs.memory is None else {"memory": needs.memory},
                "command": [sys.executable, _worker.__file__, str(call.source), str(call.result), str(self._alive)],
            }
            self._session.append(job, [self._name_of(future) for future in needs.after])
            self._count += 1
            self._coming.append(call)
        return call.future

    def _done(self, future: concurrent.futures.Future[Any]) -> None:
        """Records that a future was cancelled, so that the executor need not check all futures."""
        if future.cancelled():
            self._unwanted.append(future._makespan[1])  # type: ignore[attr-defined]

    def _name_of(self, future: concurrent.futures.Future[Any]) -> str:
        owner, call = getattr(future, "_makespan", (None, None))
        if owner is not self or call is None:
            problem = f"{_check.shown(future)} is not a future of this executor; wait for it yourself"
            raise InputError(problem, field="after")
        return str(call.name)

    def _listen(self) -> None:
        """Handles the events of the calls until the run is over."""
        try:
            self._hear_all()
        except BaseException as error:
            self._session.end()
            self._give_up(f"the executor failed: {error!r}")
            raise
        finally:
            self._over.set()
            atexit.unregister(self._at_exit)
            os.close(self._writer)
            self._remove()

    def _hear_all(self) -> None:
        while True:
            told = self._session.next(_TICK)
            with self._lock:
                self._cancel_wanted()
                idle = self._closed and not self._coming and not self._calls
                if idle and not self._left:
                    self._left = True
                    self._session.leave()
            if told is None:
                continue
            word, number, text = told
            if word == "over":
                self._give_up(text or "the run is over")
                return
            self._hear(word, number, text)

    def _hear(self, word: str, number: int, text: str | None) -> None:
        with self._lock:
            if word == "grown":
                for _ in range(number):
                    taken = self._coming.popleft()
                    taken.task = self._taken
                    self._calls[self._taken] = taken
                    if taken.told:
                        self._back.append(self._taken)
                    self._taken += 1
                return
            if word == "refused":
                call = self._coming.popleft() if self._coming else None
            elif word == "started":
                call = self._calls.get(number)
                if call is not None and not call.told and not call.future.running():
                    if not call.future.set_running_or_notify_cancel():
                        call.told = True
                        self._back.append(number)
                return
            else:
                call = self._calls.pop(number, None)
        if call is not None:
            self._settle(call, word, text)

    def _settle(self, call: _Call, word: str, text: str | None) -> None:
        future = call.future
        if call.told or future.done():
            return
        if word == "cancelled":
            future.cancel()
        if not future.running() and not future.set_running_or_notify_cancel():
            call.told = True
            return
        kind, value, trace = self._answer(call, word, text)
        self._forward(call, trace)
        call.result.unlink(missing_ok=True)
        call.source.unlink(missing_ok=True)
        if kind == "value":
            future.set_result(value)
            return
        error = value if kind == "error" else RunError(f"{call.name}: {value}")
        if trace:
            error.__cause__ = RemoteTraceback(trace)
        future.set_exception(error)

    def _answer(self, call: _Call, word: str, text: str | None) -> tuple[str, Any, str]:
        """Returns the result that the process of a call wrote."""
        try:
            kind, value, trace = pickle.loads(call.result.read_bytes())
        except FileNotFoundError:
            if word == "succeeded":
                return "lost", "its process ended before the function returned; does it call os._exit?", ""
            return "lost", f"{word}: {text or self._last_lines(call) or 'its process left no result'}", ""
        except Exception as error:
            return "lost", f"its result cannot be read here: {type(error).__name__}: {error}", ""
        return kind, value, trace

    def _forward(self, call: _Call, trace: str) -> None:
        """Prints the output of a call. Removes the traceback from the end of its standard error, because the traceback comes
        with the exception."""
        for end, stream in (("out", sys.stdout), ("err", sys.stderr)):
            if stream is None:
                continue
            try:
                with open(self._run / f"{call.name}.{end}", encoding="utf-8", errors="replace") as printed:
                    if end == "err" and trace:
                        stream.write(printed.read().removesuffix(trace))
                    else:
                        shutil.copyfileobj(printed, stream)
                stream.flush()
            except (OSError, ValueError):
                # The call printed nothing, or the output of this program is closed.
                continue

    def _last_lines(self, call: _Call) -> str:
        try:
            lines = (self._run / f"{call.name}.err").read_text(errors="replace").strip().splitlines()
        except OSError:
            return ""
        return "\n".join(lines[-_LINES:])

    def _cancel_wanted(self) -> None:
        while self._unwanted:
            call = self._unwanted.popleft()
            if not call.told:
                call.told = True
                # This method notifies the callers of `concurrent.futures.wait` and `as_completed`.
                call.future.set_running_or_notify_cancel()
                if call.task is not None:
                    self._back.append(call.task)
        if self._back:
            self._session.cancel(self._back)
            self._back = []

    def _give_up(self, reason: str) -> None:
        with self._lock:
            self._closed = True
            calls = [*self._coming, *self._calls.values()]
            self._coming, self._calls = collections.deque(), {}
        for call in calls:
            if not call.told and (call.future.running() or call.future.set_running_or_notify_cancel()):
                call.future.set_exception(RunError(f"{call.name}: {reason}"))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stops accepting calls. With ``wait``, returns when all calls have ended. ``cancel_futures`` cancels calls that have
        not started."""
        with self._lock:
            self._closed = True
            waiting = [*self._coming, *self._calls.values()] if cancel_futures else []
        for call in waiting:
            call.future.cancel()
        if wait:
            self._join()

    def kill(self) -> None:
        """Ends all calls at once."""
        with self._lock:
            self._closed = True
        self._session.end()
        self._join()

    def _join(self) -> None:
        # Callbacks of futures run on the executor's own thread, which cannot wait for itself.
        if threading.current_thread() is not self._thread:
            self._over.wait()
            self._thread.join()

    def _at_exit(self) -> None:
        """Waits for the submitted calls at the end of the program, as other executors do. After Ctrl-C, ends all calls."""
        if getattr(sys, "last_type", None) is KeyboardInterrupt:
            self.kill()
        else:
            self.shutdown(wait=True)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.kill()
            return
        self.shutdown(wait=True)

    def _remove(self) -> None:
        self._alive.unlink(missing_ok=True)
        if not self._kept:
            shutil.rmtree(self._folder, ignore_errors=True)


class RemoteTraceback(Exception):
    """The traceback of an exception that a call raised in its own process. It is the cause of the exception that `result` raises."""

    def __init__(self, trace: str) -> None:
        super().__init__(trace)
        self.trace = trace

    def __str__(self) -> str:
        return f"\n\"\"\"\n{self.trace}\"\"\""


def _machine(cores: int | None, memory: Amount | None) -> dict[str, Any]:
    """Returns the cores and the memory that an executor may use, as a platform."""
    all_cores, all_memory = _native.machine()
    count = all_cores if cores is None else _check.whole(cores, "cores", 1)
    if count > all_cores:
        raise InputError(f"this process may use {all_cores} cores; give at most this number", field="cores")
    amount = all_memory if memory is None else memory
    return {"processors": count} if amount is None else {"processors": count, "resources": {"memory": amount}}


def _futures(after: Any) -> tuple[concurrent.futures.Future[Any], ...]:
    if isinstance(after, concurrent.futures.Future):
        return (after,)
    if isinstance(after, str) or not isinstance(after, Iterable):
        raise InputError(f"{_check.shown(after)} is not a list of futures; give futures that `submit` returned", field="after")
    return tuple(after)


@dataclass(eq=False)
class _Call:
    number: int
    name: str
    future: concurrent.futures.Future[Any]
    result: Path
    needs: Needs
    told: bool = False
    #: The number of the call's task in the run. None until the run has accepted the call.
    task: int | None = None

    @property
    def source(self) -> Path:
        """The path of the pickled call."""
        return self.result.with_name(f"call{self.number}.pickle")


class Asking(concurrent.futures.Executor):
    """An executor for calls with certain needs. ``submit`` and ``map`` work as in :class:`Executor`. Closing this executor
    closes the original executor."""

    def __init__(self, executor: Executor, needs: Needs) -> None:
        self._executor = executor
        self.needs = needs

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[T]:
        """Submits ``fn(*args, **kwargs)`` with these needs."""
        return self._executor._submit(self.needs, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Closes the executor, also for calls with other needs."""
        self._executor.shutdown(wait, cancel_futures=cancel_futures)

    def needing(self, **changes: Any) -> Asking:
        """Returns this executor with some of the needs changed."""
        if "after" in changes:
            changes["after"] = _futures(changes["after"])
        return Asking(self._executor, replace(self.needs, **changes))


def _pickled(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    """Returns two pickles: first the module path and the file of the program, then the call."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    # A program from standard input has no file, so another process could not read it.
    file = os.path.abspath(file) if file is not None and os.path.isfile(file) else None
    head = pickle.dumps((sys.path, None))
    if file is None and getattr(fn, "__module__", None) == "__main__":
        return head + _by_value((fn, args, kwargs))
    try:
        text = pickle.dumps((fn, args, kwargs))
        # In the worker process that runs a call, the submitting program has the name `__makespan_main__`.
        if b"__main__" in text or b"__makespan_main__" in text:
            if file is None:
                return head + _by_value((fn, args, kwargs))
            head = pickle.dumps((sys.path, file))
        return head + text
    except Exception as error:
        # `pickle` cannot store the function by name. For example, the function is a lambda, or is defined within a
        # function.
        by_value = _cloudpickled((fn, args, kwargs))
        if by_value is not None:
            return head + by_value
        problem = f"the call cannot be pickled: {error}; functions at the top level of a module can be pickled, other functions only with cloudpickle"
        raise InputError(problem, field="fn") from error


def _by_value(call: Any) -> bytes:
    """Pickles a call by value. Other processes cannot import functions from an interactive session such as a notebook."""
    text = _cloudpickled(call)
    if text is None:
        problem = "the function is defined in an interactive session, or in a program without a file; put it into a module, or install cloudpickle"
        raise InputError(problem, field="fn")
    return text


def _cloudpickled(call: Any) -> bytes | None:
    """Returns the pickle of a call with the code of its functions, or None if cloudpickle is not installed or fails."""
    try:
        import cloudpickle

        text: bytes = cloudpickle.dumps(call)
    except Exception:
        return None
    return text
