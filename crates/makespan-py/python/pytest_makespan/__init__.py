"""The pytest plugin: ``pytest -n 4 --dist makespan`` and ``pytest --makespan-shard 3/8 --makespan-times FILE``.

pytest loads this module in each session. So the module imports only pytest. The other modules of the package are imported
if an option of the plugin is used. For the same reason, the package does not import ``makespan``.
"""

from __future__ import annotations

from typing import Any

import pytest

__all__: list[str] = []


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    group = parser.getgroup("makespan", "order and shards from the run times of earlier runs (see also `--dist makespan`)")
    group.addoption(
        "--makespan-shard",
        metavar="K/N",
        type=_shard_of,
        help="Run only shard K of N, such as 3/8. The shards are chosen by the times of --makespan-times, or else by a hash "
        "of each test's id.",
    )
    group.addoption(
        "--makespan-times",
        metavar="FILE",
        action="append",
        default=[],
        help="Run times of earlier runs, from --makespan-store. Give the option several times to merge the files of shards. "
        "Default for `--dist makespan`: the times in pytest's cache.",
    )
    group.addoption(
        "--makespan-store",
        metavar="FILE",
        help="Add the run times of this run to FILE after the run. FILE also gets the times of --makespan-times. "
        "Default for `--dist makespan` without --makespan-times: pytest's cache.",
    )
    group.addoption(
        "--makespan-split",
        action="store_true",
        help="With `--dist makespan`, run tests of one class or module on different workers if none of them uses a fixture of "
        "its class or module.",
    )
    pluginmanager.register(_DistMode(parser), "makespan-dist-mode")


def _shard_of(text: str) -> tuple[int, int]:
    """Returns K and N of ``K/N``.

    >>> _shard_of("3/8")
    (3, 8)
    """
    import argparse

    first, slash, second = text.partition("/")
    if slash and len(text) < 20 and all(part.isascii() and part.isdigit() for part in (first, second)):
        number, count = int(first), int(second)
        if 1 <= number <= count <= 1_000_000:
            return number, count
    problem = f"{text[:40]!r} is not a shard; give its number and the number of shards, such as 1/4 (at most 1,000,000 shards)"
    raise argparse.ArgumentTypeError(problem)


class _DistMode:
    """Adds ``makespan`` to the values of pytest-xdist's option ``--dist``. pytest-xdist may be loaded before or after this
    plugin, so the value is added as soon as a plugin has added the option."""

    def __init__(self, parser: pytest.Parser) -> None:
        self._parser = parser
        self._added = False

    def pytest_plugin_registered(self) -> None:
        if self._added:
            return
        # pytest has no public way to find an option. The attributes are present in pytest 7, 8 and 9. If they are missing,
        # pytest reports that `makespan` is an invalid choice.
        for group in getattr(self._parser, "_groups", ()):
            for option in group.options:
                choices = option.attrs().get("choices")
                if "--dist" in option.names() and isinstance(choices, list):
                    choices.append("makespan")
                    self._added = True


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Reports a missing pytest-xdist, because pytest only reports an unrecognized argument."""
    if hasattr(early_config.known_args_namespace, "dist"):
        return
    if "--dist=makespan" in args or ("--dist", "makespan") in zip(args, args[1:], strict=False):
        raise pytest.UsageError(
            "--dist makespan needs pytest-xdist, which is not loaded; install it (pip install pytest-xdist), or remove "
            "`-p no:xdist`. --makespan-shard works without pytest-xdist"
        )


def pytest_configure(config: pytest.Config) -> None:
    sent: dict[str, Any] | None = getattr(config, "workerinput", {}).get("makespan")
    if sent is not None:
        from pytest_makespan._worker import Worker

        config.pluginmanager.register(Worker(config, sent), "makespan-worker")
    elif not hasattr(config, "workerinput") and _used(config):
        from pytest_makespan._session import Session

        config.pluginmanager.register(Session(config), "makespan-session")


def _used(config: pytest.Config) -> bool:
    option = config.option
    return bool(
        option.makespan_shard or option.makespan_times or option.makespan_store or getattr(option, "dist", None) == "makespan"
    )
