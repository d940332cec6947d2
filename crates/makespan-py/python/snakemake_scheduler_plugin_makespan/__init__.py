"""The scheduler plugin of Snakemake 9: ``snakemake --scheduler makespan``.

Snakemake imports each package with the prefix ``snakemake_scheduler_plugin_`` when it starts. So this package does not import
``makespan``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snakemake_executor_plugin_makespan._records import recorded
from snakemake_interface_scheduler_plugins.base import SchedulerBase
from snakemake_scheduler_plugin_makespan._select import Order, select

__all__ = ["Scheduler"]


class Scheduler(SchedulerBase):  # type: ignore[misc]
    """Selects ready jobs by critical path. The run times come from Snakemake's records of earlier runs."""

    def __post_init__(self) -> None:
        self._order: Order | None = None

    def select_jobs(
        self,
        selectable_jobs: Sequence[Any],
        remaining_jobs: Sequence[Any],
        available_resources: Mapping[str, int | str],
        input_sizes: Mapping[Any, int],
    ) -> list[Any]:
        order = self._order
        if order is None or order.is_outdated(remaining_jobs):
            order = self._order = Order(remaining_jobs, self.dag.job_dependencies, self._recorded)
        return select(selectable_jobs, available_resources, order)

    def _recorded(self, job: Any) -> float | None:
        """Returns the run time of a job in an earlier run, in seconds, or None if Snakemake has no record of the job."""
        # The interface for plugins has no access to the records, so this uses Snakemake's own object.
        persistence = getattr(getattr(self.dag, "workflow", None), "persistence", None)
        return None if persistence is None else recorded(persistence, job)
