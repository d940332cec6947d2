"""Runs a pickled call in a separate process, and pickles its result. Only the executor starts this file.

This file imports nothing from the package unless the call needs it, because importing takes longer than most calls.
"""

import os
import pickle
import signal
import sys
import traceback
from typing import Any


def main(call: str, result: str, alive: str) -> int:
    """Reads a call from one file and writes its result to the other file atomically. The result is ``("value", value, "")``,
    ``("error", exception, traceback)``, or, without a value and an exception, ``("lost", reason, traceback)``."""
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
    """Returns the pickle of a result. If an exception cannot be pickled and restored, returns the pickle of its text."""
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
        # The call comes from a notebook. Only cloudpickle can pickle functions that are defined in a notebook.
        if "cloudpickle" not in sys.modules:
            raise
        text: bytes = sys.modules["cloudpickle"].dumps(answer)
        return text


def _traced(error: BaseException) -> str:
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    # Also write the traceback to the output of the call.
    sys.stderr.write(text) if sys.stderr is not None else None
    return text


def _as_main(path: str) -> None:
    """Loads the submitting program as ``__main__``. Pickled calls refer to its functions as members of ``__main__``."""
    import runpy
    import types

    module = types.ModuleType("__makespan_main__")
    # If the program creates an executor while it is loaded, each call would load the program again and create another
    # executor. This marker makes the creation an error.
    sys.modules["__makespan_loading__"] = module
    try:
        module.__dict__.update(runpy.run_path(path, run_name="__makespan_main__"))
    finally:
        del sys.modules["__makespan_loading__"]
    sys.modules["__main__"] = sys.modules["__makespan_main__"] = module


def _end_with(alive: str) -> None:
    """Ends this process as soon as the submitting program ends or is killed, because its result would not be used."""
    try:
        import fcntl

        pipe = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
        # A signal ends this process. A thread could also end the process, but threads cause problems in calls that
        # fork.
        fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
        own = os.getpid()
        fcntl.fcntl(pipe, fcntl.F_SETOWN, -own if os.getpgrp() == own else own)
        fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
        # If the program has already ended, this read returns. Otherwise, it raises BlockingIOError.
        os.read(pipe, 1)
        os._exit(1)
    except BlockingIOError:
        return
    except (OSError, AttributeError):
        # The system does not support this signal, so the call runs to its end.
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3]))
