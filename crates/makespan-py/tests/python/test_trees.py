"""Tests of bags of tasks on a tree of machines."""

from __future__ import annotations

import makespan as m
import pytest


def test_policies_stand_side_by_side_with_the_bound() -> None:
    tree = m.generate.tree(nodes=15, tasks=400, seed=3)
    results = m.simulate_tree(tree, ["back-pressure", "fcfs"])
    best = results["back-pressure"]
    assert best.bound == pytest.approx(m.plan(tree).value) and results.table["policy"] == ["back-pressure", "fcfs"]
    assert best.throughput is not None and 0.5 * best.bound < best.throughput < 1.1 * best.bound
    assert best.applications["tasks"] == best.applications["computed"]
    again = m.simulate_tree(tree, ["back-pressure", "fcfs"], threads=1)
    assert list(again["fcfs"].completions) == list(results["fcfs"].completions)
    assert "back-pressure" in results._repr_html_() and "fair throughput" in repr(best)


def test_nodes_slow_down_and_go() -> None:
    tree = m.generate.tree(nodes=8, tasks=200, seed=1)
    usual = m.simulate_tree(tree)[0]
    leaf = usual.nodes["node"][-1]
    slow = m.simulate_tree(tree, changes=[m.Change(0, name, speed=1e-3) for name in usual.nodes["node"]])[0]
    assert slow.end > usual.end
    gone = m.simulate_tree(tree, changes=[m.Change(usual.end / 2, leaf, removed=True)])[0]
    assert gone.unfinished == 0 and gone.nodes["removed"][-1] == 1
    with pytest.raises(m.InputError, match="bandwidth"):
        m.simulate_tree(tree, changes=[m.Change(0, leaf, bandwidth="a lot")])
    with pytest.raises(m.AlgorithmError, match="policy for trees"):
        m.simulate_tree(tree, "easy")


def test_progress_is_told() -> None:
    told: list[tuple[float, float]] = []
    m.simulate_tree(m.generate.tree(nodes=60, tasks=4000), ["fcfs", "back-pressure"], progress=lambda *so_far: told.append(so_far))
    assert all(done <= total == 2 for done, total in told)
