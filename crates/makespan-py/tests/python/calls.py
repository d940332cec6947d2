"""What the tests of the executor call in other processes."""

from __future__ import annotations

import os
import signal
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


def fail(word: str) -> None:
    raise ValueError(word)


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def unpicklable() -> Callable[[], int]:
    return lambda: 3
