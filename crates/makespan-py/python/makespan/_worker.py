"""Runs a pickled call in a process of its own, and pickles what came of it. Started by the executor; nobody else needs it."""

from __future__ import annotations

import os
import pickle
import sys
import traceback


def main(call: str, result: str) -> int:
    """Reads a call from one file and writes ``(True, value)`` or ``(False, exception)`` to the other, whole or not at all."""
    try:
        with open(call, "rb") as file:
            path, main_file = pickle.load(file)
            sys.path[:] = path
            if main_file is not None:
                _as_main(main_file)
            function, arguments, keywords = pickle.load(file)
        answer: tuple[bool, object] = (True, function(*arguments, **keywords))
    except BaseException as error:
        traceback.print_exc()
        error.add_note(traceback.format_exc()) if hasattr(error, "add_note") else None
        answer = (False, error)
    try:
        text = pickle.dumps(answer)
    except Exception as error:
        what = "result" if answer[0] else "exception"
        text = pickle.dumps((False, TypeError(f"the {what} cannot be pickled: {error}")))
        answer = (False, None)
    with open(f"{result}.part", "wb") as file:
        file.write(text)
    os.replace(f"{result}.part", result)
    return 0 if answer[0] else 1


def _as_main(path: str) -> None:
    """Functions of the program that submits are pickled as those of ``__main__``, and are found there again."""
    import runpy
    import types

    module = types.ModuleType("__makespan_main__")
    module.__dict__.update(runpy.run_path(path, run_name="__makespan_main__"))
    sys.modules["__main__"] = sys.modules["__makespan_main__"] = module


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
