"""The executor plugin of Snakemake 9: ``snakemake --executor makespan`` sends jobs to ``makespan serve``.

Snakemake imports each package with the prefix ``snakemake_executor_plugin_`` when it starts. So this package does not import
``makespan``.
"""

# Snakemake reads the types of the settings, so annotations are not postponed in this file.
import contextlib
import os
import time
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecutorSettingsBase

from snakemake_executor_plugin_makespan._client import Client, Refused, ServiceError, Unreachable, repeated
from snakemake_executor_plugin_makespan._notes import Note, Notes, targets
from snakemake_executor_plugin_makespan._records import recorded

__all__ = ["Executor", "ExecutorSettings", "common_settings"]

#: States of jobs that have not ended.
UNFINISHED = ("held", "waiting", "running")
#: Limits of the expected run time in a submission, in seconds.
MIN_TIME, MAX_TIME = 0.001, 31_622_400.0


@dataclass
class ExecutorSettings(ExecutorSettingsBase):  # type: ignore[misc]
    """The options ``--makespan-url`` and so on. The defaults are those of ``makespan submit``."""

    url: Optional[str] = field(default=None, metadata={"help": "Address of the service, such as http://127.0.0.1:8321"})
    token_file: Optional[str] = field(default=None, metadata={"help": "File with the token"})
    ca: Optional[str] = field(default=None, metadata={"help": "PEM file with the certificates to trust"})
    store: Optional[str] = field(default=None, metadata={"help": "Store of the service"})


# The variables that a workflow declares are sent separately, because other users can see commands.
common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_envvar_declarations_to_cmd=False,
)


class Executor(RemoteExecutor):  # type: ignore[misc]
    """Submits each job to the service, and asks for the states of all jobs at once."""

    def __post_init__(self) -> None:
        settings = self.workflow.executor_settings or ExecutorSettings()
        #: The numbers of the submitted jobs that have not ended. The list of Snakemake is empty during a check.
        self._open: set[int] = set()
        #: The service could not report the states of all jobs, in this check and in the check before it.
        self._is_lost = self._was_lost = False
        self._notes = Notes(Path(self.workflow.persistence.path) / "makespan")
        #: The run times of ended jobs of each rule, in seconds.
        self._times: dict[str, list[float]] = {}
        try:
            self._client = Client(settings.url, settings.token_file, settings.ca, settings.store)
            self._user, role = repeated(self._client.user, 5.0)
            #: The numbers of the jobs that had not ended when this session began.
            self._begun: set[int] = repeated(lambda: self._client.unfinished(self._user), 5.0)
        except ServiceError as error:
            raise WorkflowError(str(error)) from None
        if role == "reader":
            raise WorkflowError(f"user `{self._user}` of the service may not submit jobs; use a token with the role submitter")

    def run_job(self, job: Any) -> None:
        try:
            if (earlier := self._earlier(job)) is not None:
                self.logger.info(f"Job {job.jobid} continues as job {earlier} of the service.")
                self._open.add(earlier)
                self.report_job_submission(self._info(job, earlier), register_job=False)
                return
            submission, key = self._submission(job), uuid.uuid4().hex
            # If this process is killed before it receives the number, a later session finds the job by its script.
            note = Note(submission["content"]["command"]["argv"][0], submission["name"])
            self._notes.write(targets(job), note)
            number = repeated(lambda: self._client.submit(submission, key))
        except ServiceError as error:
            self.report_job_error(SubmittedJobInfo(job), msg=f"The service did not accept the job: {error}. ")
            return
        except OSError as error:
            self.report_job_error(SubmittedJobInfo(job), msg=f"The files of the job cannot be written: {error}. ")
            return
        with contextlib.suppress(OSError):
            self._notes.write(targets(job), replace(note, number=number))
        self._open.add(number)
        self.report_job_submission(self._info(job, number))

    async def check_active_jobs(self, active_jobs: list[SubmittedJobInfo]) -> AsyncGenerator[SubmittedJobInfo, None]:
        if not active_jobs:
            return
        self._was_lost, self._is_lost = self._is_lost, False
        try:
            async with self.status_rate_limiter:
                unfinished = self._client.unfinished(self._user)
        except ServiceError as error:
            self._lose(error)
            unfinished = {self._number(info) for info in active_jobs}
        for info in active_jobs:
            number = self._number(info)
            if number in unfinished or not await self._has_ended(info, number):
                yield info
            else:
                self._open.discard(number)

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        numbers = self._open | {self._number(info) for info in active_jobs}
        for number in sorted(numbers):
            try:
                repeated(lambda: self._client.cancel(number), 5.0)
            except ServiceError as error:
                self.logger.error(f"Job {number} of the service may still run: {error}. Cancel it: makespan cancel {number}")
                if isinstance(error, Unreachable):
                    rest = " ".join(str(other) for other in sorted(numbers) if other > number)
                    self.logger.error(f"The service also still has the jobs: {rest}") if rest else None
                    return

    def _submission(self, job: Any) -> dict[str, Any]:
        """Returns the submission of a job in the words of the service."""
        jobscript = self.get_jobscript(job)
        self.write_jobscript(job, jobscript)
        needs: dict[str, Any] = {"processors": max(1, int(job.threads))}
        resources: dict[str, int] = {}
        for name, of_job, unit in (("memory", "mem_mb", 10**6), ("gpus", "gpu", 1)):
            amount = job.resources.get(of_job)
            if isinstance(amount, int) and amount > 0:
                resources[name] = amount * unit
        if resources:
            needs["resources"] = resources
        minutes = job.resources.get("runtime")
        if isinstance(minutes, (int, float)) and minutes > 0:
            needs["walltime"] = minutes * 60
        if (expected := self._expected(job)) is not None:
            needs["time"] = expected
        environment = {name: str(value) for name, value in self.envvars().items()}
        if "PATH" in os.environ:
            environment.setdefault("PATH", os.environ["PATH"])
        return {
            "content": {"command": {"argv": [jobscript], "needs": needs}},
            "name": f"{job.name}-{job.jobid}",
            "directory": str(self.workflow.workdir_init),
            "environment": environment,
        }

    def _expected(self, job: Any) -> float | None:
        """Returns the run time of a job in its last run, or else the median of its rule in this session, or None. The service
        cannot learn it, because each job has a script of its own."""
        known = None if job.is_group() else recorded(self.workflow.persistence, job)
        times = sorted(self._times.get(job.name, []))
        if known is None and times:
            known = times[len(times) // 2]
        return None if known is None else min(max(known, MIN_TIME), MAX_TIME)

    def _earlier(self, job: Any) -> int | None:
        """Returns the number of the job of the service that an earlier session of Snakemake submitted for this job, if that job
        has not failed. With ``--rerun-incomplete``, cancels it instead, and waits for its end."""
        notes = set(self._notes.read(targets(job)))
        found = dict(pair for note in notes if note is not None and (pair := self._noted(note)) is not None)
        # If the notes differ, the rules or groups have changed, so that no job makes exactly these outputs.
        is_one = len({note and note.script for note in notes}) == 1
        if is_one and not self.workflow.dag_settings.force_incomplete:
            for number, state in found.items():
                # Snakemake decided to run the job while it was running. So a success after this decision counts.
                if state in UNFINISHED or (state == "succeeded" and number in self._begun):
                    return number
        for number, state in found.items():
            if state in UNFINISHED:
                self.logger.info(f"Job {number} of an earlier session is cancelled, because job {job.jobid} replaces it.")
                self._end(number)
        return None

    def _noted(self, note: Note) -> tuple[int, str] | None:
        """Returns the number and the state of the job of a note, or None if the service does not have this job."""
        numbers = {note.number} if note.number is not None else repeated(lambda: self._client.unfinished(self._user, note.name))
        for number in sorted(numbers):
            # A service with a restored store uses numbers again.
            found = self._details(number)
            if found is not None and any(task.get("command") == [note.script] for task in found["task_list"]):
                return number, str(found["state"])
        return None

    def _end(self, number: int) -> None:
        """Cancels a job and waits until it has ended."""
        repeated(lambda: self._client.cancel(number))
        while (found := self._details(number)) is not None and found["state"] in UNFINISHED:
            time.sleep(0.1)

    def _details(self, number: int) -> dict[str, Any] | None:
        """Returns the details of a job, or None if this user has no such job."""
        try:
            found: dict[str, Any] = repeated(lambda: self._client.job(number))
        except Refused as refused:
            if refused.status in (403, 404):
                return None
            raise
        return found

    async def _has_ended(self, info: SubmittedJobInfo, number: int) -> bool:
        """Reports the end of a job to Snakemake. Returns false if the job has not ended or its state is unknown."""
        try:
            async with self.status_rate_limiter:
                found = self._client.job(number)
        except ServiceError as error:
            if isinstance(error, Refused) and error.status == 404:
                self._notes.remove(targets(info.job))
                self.report_job_error(info, msg=f"The service no longer knows job {number}: {error}. ")
                return True
            # Another error, such as an expired token or a full disk, says nothing about the job.
            self._lose(error)
            return False
        state = str(found["state"])
        if state in UNFINISHED:
            return False
        # Snakemake may run a failed job again as soon as it receives the report.
        self._notes.remove(targets(info.job))
        if state == "succeeded":
            started, ended = found.get("started"), found.get("ended")
            if started is not None and ended is not None:
                self._times.setdefault(info.job.name, []).append(float(ended) - float(started))
            self.report_job_success(info)
        else:
            reason = f": {found['reason']}" if found.get("reason") else ""
            text = f"Job {number} of the service: {state.replace('_', ' ')}{reason}. `makespan logs {number}` prints its output. "
            self.report_job_error(info, msg=text)
        return True

    def _lose(self, error: ServiceError) -> None:
        """Reports once that the states of the jobs are unknown. The jobs continue without this program."""
        if not (self._is_lost or self._was_lost):
            self.logger.warning(f"{error}; the jobs continue, and Snakemake asks again")
        self._is_lost = True

    def _info(self, job: Any, number: int) -> SubmittedJobInfo:
        return SubmittedJobInfo(job, external_jobid=f"{self._client.url}/jobs/{number}")

    @staticmethod
    def _number(info: SubmittedJobInfo) -> int:
        return int(str(info.external_jobid).rpartition("/")[2])
