"""Run times of jobs in Snakemake's records of earlier runs."""

from __future__ import annotations

from typing import Any

__all__ = ["recorded"]


def recorded(persistence: Any, job: Any) -> float | None:
    """Returns the run time of a job in an earlier run, in seconds, or None if Snakemake has no record of the job."""
    for path in job.output:
        try:
            record = persistence.metadata(path)
            begin, end = record.starttime, record.endtime
        except Exception:  # A record that cannot be read only makes the prediction worse.
            continue
        if isinstance(begin, (int, float)) and isinstance(end, (int, float)) and 0 <= end - begin < float("inf"):
            return float(end - begin)
    return None
