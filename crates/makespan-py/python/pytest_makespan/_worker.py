"""The part of the plugin that runs in each worker of pytest-xdist: it selects the shard and names the groups."""

from __future__ import annotations

import unittest
from collections.abc import Generator
from typing import Any

import pytest
from pytest_makespan._shard import select

#: Separates the id of a test and its group, in the collection that a worker sends. An id cannot contain this character.
SEPARATOR = "\0"


def keep_shard(
    config: pytest.Config, items: list[pytest.Item], known: dict[str, float] | None, shard: tuple[int, int]
) -> dict[str, Any]:
    """Deselects the tests of other shards, and returns the figures of the summary."""
    mine, report = select([item.nodeid for item in items], known, shard)
    others = [item for item, chosen in zip(items, mine, strict=True) if not chosen]
    items[:] = [item for item, chosen in zip(items, mine, strict=True) if chosen]
    if others:
        config.hook.pytest_deselected(items=others)
    return {**report}


class Worker:
    """Hooks in a worker. ``sent`` is the dictionary that the main process has sent."""

    def __init__(self, config: pytest.Config, sent: dict[str, Any]) -> None:
        self._config = config
        self._sent = sent

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._sent["shard"] is not None:
            report = keep_shard(self._config, items, self._sent["times"], tuple(self._sent["shard"]))
            self._config.workeroutput["makespan"] = report  # type: ignore[attr-defined]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection_finish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Adds the group to each id when pytest-xdist sends the ids to the main process. The tests keep their ids, because
        reports and `--lf` need them. If pytest-xdist has no such sender, the main process groups tests by their ids."""
        plugins: Any = self._config.pluginmanager.get_plugins()
        sender = next((plugin for plugin in plugins if type(plugin).__name__ == "WorkerInteractor"), None)
        if not self._sent["dist"] or sender is None:
            yield
            return
        names = groups(session.items, split=self._sent["split"])
        send = sender.sendevent

        def sendevent(name: str, **values: Any) -> None:
            if name == "collectionfinish":
                values["ids"] = [f"{test}{SEPARATOR}{group}" for test, group in zip(values["ids"], names, strict=True)]
            send(name, **values)

        sender.sendevent = sendevent
        try:
            yield
        finally:
            del sender.sendevent


def groups(items: list[pytest.Item], *, split: bool = False) -> list[str]:
    """Returns the name of the group of each test: its marks ``xdist_group``, or else its class or module. All tests of a module
    form one group if one of them uses a fixture of the module, so that the fixture is set up once. With ``split``, each test is
    a group if no test of its class or module uses a fixture of the class or module."""
    modules = {_module(item) for item in items if _uses(item, "module")}
    parents = {_parent(item) for item in items if _uses(item, "class")}

    def name(item: pytest.Item) -> str:
        if _module(item) in modules:
            return _module(item)
        alone = split and _parent(item) not in parents and hasattr(item, "_fixtureinfo")
        return item.nodeid if alone else _parent(item)

    return [_marks(item) or name(item) for item in items]


def _marks(item: pytest.Item) -> str:
    names = set()
    for mark in item.iter_markers("xdist_group"):
        names.add(str(mark.args[0] if mark.args else mark.kwargs.get("name", "default")))
    # The names of classes and modules never begin with `@`.
    return f"@{'_'.join(sorted(names))}" if names else ""


def _parent(item: pytest.Item) -> str:
    return item.parent.nodeid if item.parent is not None else item.nodeid


def _module(item: pytest.Item) -> str:
    return _parent(item).partition("::")[0]


def _uses(item: pytest.Item, scope: str) -> bool:
    # pytest has no public way to find the scope of a fixture. If the attribute is missing, classes are separate groups.
    definitions = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return any(
        definition.scope == scope and not (name.startswith("_unittest_setUpClass_fixture") and _sets_up_nothing(item))
        for name, several in definitions.items()
        for definition in several[-1:]
    )


def _sets_up_nothing(item: pytest.Item) -> bool:
    """Returns true if the class of the test inherits the empty `setUpClass` and `tearDownClass` of `unittest`. pytest makes a
    fixture of these methods for each class of `unittest`."""
    cls = getattr(item, "cls", None)
    return all(
        getattr(getattr(cls, name, None), "__func__", None) is getattr(unittest.TestCase, name).__func__
        for name in ("setUpClass", "tearDownClass")
    )
