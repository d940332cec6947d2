"""The file with the results of a study that may be interrupted."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from os import PathLike
from threading import Lock
from typing import Any, TypeAlias

from makespan import _check
from makespan._errors import InputError
from makespan._log import LOGGER
from makespan._model import Instance
from makespan._native import VERSION
from makespan._policy import Scheduler

#: Version, hash of the instance, seed, algorithm and objective.
Key: TypeAlias = "tuple[str, str, int, str, str | None]"


class Results:
    """The results of a study by key. With a path, each result is also one line of a file, so that a later call can continue the
    study. The file is text: one JSON object on each line."""

    def __init__(self, path: str | PathLike[str] | None) -> None:
        self._lock = Lock()
        self._found: dict[Key, dict[str, Any]] = {}
        self._file: int | None = None
        self.is_kept = path is not None
        if path is None:
            return
        if not isinstance(path, (str, PathLike)):
            raise InputError(f"{_check.shown(path)} is not a path; give the path of a file, such as 'study.jsonl'", field="resume")
        self._read(os.fsdecode(path))

    def _read(self, path: str) -> None:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        self._file = file
        with open(file, "rb", closefd=False) as stored:
            text = stored.read()
        lines = [line for line in text.split(b"\n") if line.strip()]
        read = [entry for line in lines if (entry := _entry(line)) is not None]
        if lines and not read:
            self.close()
            raise InputError("the file contains no results of `compare`; give the path of another file", file=path, field="resume")
        self._found.update(read)
        if len(read) < len(lines):
            LOGGER.warning("%s: ignored %d of %d lines that are incomplete; their results are computed again", path, len(lines) - len(read), len(lines))
        if text and not text.endswith(b"\n"):
            os.write(file, b"\n")
        LOGGER.info("%s: read %d results", path, len(read))

    def get(self, key: Key) -> dict[str, Any] | None:
        """Returns the result with this key, or None."""
        return self._found.get(key)

    def put(self, key: Key, result: dict[str, Any]) -> None:
        """Adds a result, and appends it to the file in one operation."""
        with self._lock:
            self._found[key] = result
            if self._file is not None:
                os.write(self._file, json.dumps({"key": key, "result": result}).encode() + b"\n")

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _entry(line: bytes) -> tuple[Key, dict[str, Any]] | None:
    """Returns the key and the result of a line. Returns None if the line is incomplete."""
    try:
        entry = json.loads(line)
        version, instance, seed, algorithm, objective = entry["key"]
        found, result = (version, instance, seed, algorithm, objective), entry["result"]
        hash(found)
        return (found, result) if isinstance(result, dict) else None
    except (ValueError, KeyError, TypeError):
        return None


def key(fingerprint: str, seed: int, algorithm: str | Scheduler, objective: str | None) -> Key:
    """Returns the key of a plan. The key of your own scheduler contains a hash of the source of its class, if Python has the
    source, so a changed scheduler plans again."""
    if isinstance(algorithm, str):
        return (VERSION, fingerprint, seed, algorithm, objective)
    try:
        source = inspect.getsource(type(algorithm))
    except (OSError, TypeError):
        source = ""
    return (VERSION, fingerprint, seed, f"{algorithm.name} {_hash(source)}", objective)


def fingerprint(instance: Instance) -> str:
    """Returns a hash of the instance."""
    return _hash(instance._native.text())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
