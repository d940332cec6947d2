"""Runs a pickled call in a separate process and pickles its result. Only the executor starts this file.

Nothing of the package is imported here unless the call needs it, because the import would take longer than most calls.
"""

import os
import pickle
import signal
import sys
import traceback
from typing import Any


def main(call: str, result: str, alive: str) -> int:
    """Reads a call from one file and writes its result to another, completely or not at all: ``("value", value, "")``,
    ``("error", exception, its traceback)``, or ``("lost", reason for the missing result, a traceback)``."""
    _end_with(alive)
    answer = _answer(call)
    with open(f"{result}.part", "wb") as file:
        file.write(_text(answer))
    os.replace(f"{result}.part", result)
    return 0 if answer[0] == "value" else 1


def _answer(call: str) -> "tuple[str, Any, str]":
    try:
        with open(call, "rb") as file:
            path, main_file = pickle.load(file)
            sys.path[:] = path
            if main_file is not None:
                _as_main(main_file)
            function, arguments, keywords = pickle.load(file)
    except BaseException as error:
        if isinstance(error, RuntimeError) and "__main__" in str(error):
            return "lost", f"its process cannot read the call: {error}", _traced(error)
        where = "define functions at the top level of a module, before `if __name__ == \"__main__\":`"
        return "lost", f"its process cannot read the call: {type(error).__name__}: {error}; {where}", _traced(error)
    try:
        return "value", function(*arguments, **keywords), ""
    except (SystemExit, KeyboardInterrupt) as error:
        return "lost", f"it raised {type(error).__name__}({error})", _traced(error)
    except BaseException as error:
        return "error", error, _traced(error)


def _text(answer: "tuple[str, Any, str]") -> bytes:
    """Pickles an answer. If an exception would change or fail when unpickled, its message is pickled instead."""
    kind, value, trace = answer
    try:
        text = _pickled(answer)
        if kind == "error":
            pickle.loads(text)
        return text
    except Exception as error:
        if kind == "error":
            problem = f"it raised {type(value).__name__}: {value} (the exception cannot be pickled: {error})"
        else:
            problem = f"its result, a `{type(value).__name__}`, cannot be pickled: {error}"
        return pickle.dumps(("lost", problem, trace))


def _pickled(answer: "tuple[str, Any, str]") -> bytes:
    try:
        return pickle.dumps(answer)
    except Exception:
        # The call came from a notebook, so only cloudpickle can pickle objects that the notebook defines.
        if "cloudpickle" not in sys.modules:
            raise
        text: bytes = sys.modules["cloudpickle"].dumps(answer)
        return text


def _traced(error: BaseException) -> str:
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    # The message also appears in the output of the call.
    sys.stderr.write(text) if sys.stderr is not None else None
    return text


def _as_main(path: str) -> None:
    """Functions of the submitting program are pickled as functions of ``__main__``, and must be found there."""
    import runpy
    import types

    module = types.ModuleType("__makespan_main__")
    # This marker prevents an executor in the program from reading the program again.
    sys.modules["__makespan_loading__"] = module
    try:
        module.__dict__.update(runpy.run_path(path, run_name="__makespan_main__"))
    finally:
        del sys.modules["__makespan_loading__"]
    sys.modules["__main__"] = sys.modules["__makespan_main__"] = module


def _end_with(alive: str) -> None:
    """Lets this process end as soon as the submitting program ends, even if that program was killed. No process would use the
    result."""
    try:
        import fcntl

        pipe = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
        # A thread could also watch the pipe, but would interfere with calls that fork.
        fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
        own = os.getpid()
        fcntl.fcntl(pipe, fcntl.F_SETOWN, -own if os.getpgrp() == own else own)
        fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
        # The program may have ended earlier. Otherwise there is nothing to read yet.
        os.read(pipe, 1)
        os._exit(1)
    except BlockingIOError:
        return
    except (OSError, AttributeError):
        # The system does not support this notification, so the call runs to its end.
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3]))
