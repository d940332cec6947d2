"""Functions that the tests of the executor call in other processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable


def double(number: int) -> int:
    return 2 * number


def add(a: int, b: int) -> int:
    return a + b


def cores() -> set[int]:
    return os.sched_getaffinity(0)


def nap(seconds: float, path: str | None = None, word: str = "") -> None:
    time.sleep(seconds)
    if path is not None:
        with open(path, "a") as file:
            file.write(f"{word}\n")


def wait_for(path: str) -> None:
    """Waits until a file exists."""
    while not os.path.exists(path):
        time.sleep(0.01)


def fail(word: str) -> None:
    raise ValueError(word)


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Odd(Exception):
    """An exception that pickle cannot restore."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"odd {first}")
        self.second = second


def odd() -> None:
    raise Odd(1, 2)


def leave(status: int) -> None:
    sys.exit(status)


def vanish() -> None:
    os._exit(0)


def chained() -> None:
    try:
        fail("inner")
    except ValueError as error:
        raise LookupError("outer") from error


def process() -> int:
    return os.getpid()


def unpicklable() -> Callable[[], int]:
    return lambda: 3


def speak(words: str, errors: str = "") -> None:
    print(words)
    print(errors, file=sys.stderr, end="")


def nested(number: int) -> int:
    from makespan.executor import Executor

    with Executor(cores=1) as executor:
        return executor.submit(double, number).result()
