"""Makespan: planning with proofs, simulation and execution of jobs on clusters and grids.

>>> import makespan as m
>>> instance = m.Instance(
...     platform=m.Platform(processors=4),
...     jobs=[m.Job("a", time=[4, 2.2, 1.6]), m.Job("b", time=[3, 1.7]), m.Job("c", time=1, processors=2)],
... )
>>> plan = m.plan(instance, objective="makespan", time_limit=1)
>>> plan.verify()
>>> plan.makespan >= plan.bounds["makespan"].value
True
"""

import importlib
from typing import TYPE_CHECKING, Any

from makespan import generate
from makespan._cite import Citation, cite
from makespan._compare import compare
from makespan._comparison import Comparison, PairedTest, Profile
from makespan._errors import (
    AlgorithmError,
    InputError,
    MakespanError,
    PolicyError,
    RunError,
    StoppedError,
    VerificationError,
)
from makespan._model import Amount, Graph, Instance, Job, Node, Platform, Tasks, Time, amdahl, downey, power, read
from makespan._native import VERSION as __version__
from makespan._native import FORMATS, Cancel, Event, Processors, Running, Start, Task, View, Wake
from makespan._plan import Bound, Chart, Plan, SearchState, algorithms, bound, plan, verify
from makespan._policy import Decision, Placement, Policy, Scheduler
from makespan._simulate import Log, Simulation, Simulations, policies, read_log, simulate
from makespan._table import Rows, Table
from makespan._trees import Change, TreeSimulation, TreeSimulations, simulate_tree

if TYPE_CHECKING:
    from makespan import adapters as adapters
    from makespan import executor as executor

__all__ = [
    "FORMATS",
    "AlgorithmError",
    "Amount",
    "Bound",
    "Cancel",
    "Change",
    "Chart",
    "Citation",
    "Comparison",
    "Decision",
    "Event",
    "Graph",
    "InputError",
    "Instance",
    "Job",
    "Log",
    "MakespanError",
    "Node",
    "PairedTest",
    "Placement",
    "Plan",
    "Platform",
    "Policy",
    "PolicyError",
    "Processors",
    "Profile",
    "Rows",
    "RunError",
    "Running",
    "Scheduler",
    "SearchState",
    "Simulation",
    "Simulations",
    "Start",
    "StoppedError",
    "Table",
    "Task",
    "Tasks",
    "Time",
    "TreeSimulation",
    "TreeSimulations",
    "VerificationError",
    "View",
    "Wake",
    "__version__",
    "algorithms",
    "amdahl",
    "bound",
    "cite",
    "compare",
    "downey",
    "generate",
    "plan",
    "policies",
    "power",
    "read",
    "read_log",
    "simulate",
    "simulate_tree",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Loads an optional module at its first use."""
    if name in ("adapters", "executor"):
        return importlib.import_module(f"makespan.{name}")
    raise AttributeError(f"module 'makespan' has no attribute {name!r}")
