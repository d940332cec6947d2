"""Tests of the executor plugin of Snakemake: with a simulated service, and with a real service and Snakemake."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from snakemake_executor_plugin_makespan import Executor
from snakemake_executor_plugin_makespan._client import Client, Refused, ServiceError, Unreachable, checked
from snakemake_executor_plugin_makespan._notes import Note, Notes, targets
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

ROOT = Path(__file__).parents[4]
#: Only `./check long` runs the tests with many jobs.
long = pytest.mark.skipif("MAKESPAN_LONG" not in os.environ, reason="long: runs Snakemake several times; set MAKESPAN_LONG=1")


def private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)


class Service:
    """A service with jobs that never start. It stores the submissions, and tests change the states."""

    def __init__(self, folder: Path, role: str = "submitter") -> None:
        self.jobs: dict[int, dict[str, Any]] = {}
        self.keys: dict[str, int] = {}
        #: The status of all responses, and of the responses to questions about single jobs.
        self.problem: int | None = None
        self.problem_of_jobs: int | None = None
        service = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self, status: int, body: object) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self) -> None:
                path = self.path.removeprefix("/api/v1/")
                if service.problem is not None or self.headers["Authorization"] != "Bearer secret":
                    self.answer(service.problem or 401, {"detail": "no", "remedy": "wait"})
                elif path == "whoami":
                    self.answer(200, {"user": "ann", "role": role})
                elif path.startswith("jobs?"):
                    assert "user=ann" in path and "state=held%2Cwaiting%2Crunning" in path
                    first = 2 if "after=" in path else 1
                    text = parse_qs(urlsplit(path).query).get("text", [""])[0]
                    part = [job for job in service.jobs.values() if job["state"] in ("waiting", "running") and text in job["name"]]
                    page = part[1:] if first == 2 else part[:1]
                    self.answer(200, {"items": page, "next": 1 if first == 1 and len(part) > 1 else None})
                else:
                    job = service.jobs.get(int(path.removeprefix("jobs/")))
                    if service.problem_of_jobs is not None:
                        self.answer(service.problem_of_jobs, {"detail": "no"})
                    else:
                        self.answer(200, job) if job else self.answer(404, {"detail": "there is no such job"})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                path = self.path.removeprefix("/api/v1/")
                if service.problem is not None:
                    self.answer(service.problem, {"detail": "it needs too much", "place": "content"})
                elif path == "jobs":
                    number = service.keys.setdefault(self.headers["Idempotency-Key"], len(service.keys) + 1)
                    tasks = [{"command": body["content"]["command"]["argv"]}]
                    service.jobs.setdefault(number, {"number": number, "state": "waiting", "task_list": tasks, **body})
                    self.answer(201, {"jobs": [number], "submitted": 0, "remarks": []})
                else:
                    service.jobs[int(path.split("/")[1])]["state"] = "cancelled"
                    self.answer(200, {"state": "cancelled"})

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        private(folder / "url", self.url + "\n")
        private(folder / "token", "secret\n")
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("MAKESPAN_STORE", str(tmp_path))
    for name in ("MAKESPAN_URL", "MAKESPAN_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    started = Service(tmp_path)
    yield started
    started.server.shutdown()


class Log:
    """Collects what the executor reports."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.info = self.warning = self.error = self.debug = self.lines.append


def executor(tmp_path: Path, session: int = 1, is_forced: bool = False) -> tuple[Any, Log]:
    """Returns an executor without the thread that asks for states. Each session has a folder for its job scripts."""
    log = Log()
    made: Any = Executor.__new__(Executor)
    record = SimpleNamespace(starttime=10, endtime=14)
    made.workflow = SimpleNamespace(
        executor_settings=None,
        workdir_init=str(tmp_path),
        persistence=SimpleNamespace(path=tmp_path, metadata={"recorded": record}.__getitem__),
        dag_settings=SimpleNamespace(force_incomplete=is_forced),
    )
    made.logger, made.status_rate_limiter = log, contextlib.AsyncExitStack()
    made.get_jobscript = lambda job: f"/tmp/{session}/{job.jobid}.sh"
    made.write_jobscript = lambda job, path: None
    made.envvars = lambda: {"TOKEN_OF_USER": "x"}
    made.submitted, made.ended = [], []
    made.report_job_submission = lambda info, register_job=True: made.submitted.append((info, register_job))
    made.report_job_success = lambda info: made.ended.append((info.job.jobid, None))
    made.report_job_error = lambda info, msg=None: made.ended.append((info.job.jobid, msg))
    made.__post_init__()
    return made, log


def job(jobid: int, **resources: Any) -> Any:
    threads, output = resources.pop("threads", 1), resources.pop("output", [f"out/{jobid}"])
    return SimpleNamespace(jobid=jobid, name="rule", threads=threads, output=output, resources=resources, is_group=lambda: False)


def check(made: Any, infos: list[SubmittedJobInfo]) -> list[int]:
    """Returns the numbers of the jobs that have not ended."""

    async def rest() -> list[int]:
        return [info.job.jobid async for info in made.check_active_jobs(infos)]

    return asyncio.run(rest())


def test_a_submission_states_cores_memory_and_time_limit(service: Service, tmp_path: Path) -> None:
    made, _ = executor(tmp_path)
    made.run_job(job(7, threads=3, mem_mb=200, runtime=5, gpu=1, tmpdir="/tmp"))
    made.run_job(job(8, mem_mb="<TBD>"))
    first, second = service.jobs[1], service.jobs[2]
    needs = {"processors": 3, "resources": {"memory": 200_000_000, "gpus": 1}, "walltime": 300}
    assert first["content"] == {"command": {"argv": ["/tmp/1/7.sh"], "needs": needs}}
    assert (first["name"], first["directory"]) == ("rule-7", str(tmp_path))
    assert first["environment"] == {"TOKEN_OF_USER": "x", "PATH": os.environ["PATH"]}
    assert second["content"]["command"]["needs"] == {"processors": 1}
    assert [info.external_jobid for info, _ in made.submitted] == [f"{service.url}/jobs/1", f"{service.url}/jobs/2"]


def test_expected_run_times_come_from_records_and_ended_jobs(service: Service, tmp_path: Path) -> None:
    made, _ = executor(tmp_path)
    made.run_job(job(1, output=["recorded"]))
    made.run_job(job(2))
    service.jobs[2].update(state="succeeded", started=100.0, ended=107.5)
    assert check(made, [info for info, _ in made.submitted]) == [1]
    made.run_job(job(3))
    assert [one["content"]["command"]["needs"].get("time") for one in service.jobs.values()] == [4.0, None, 7.5]


def test_states_are_reported_once_each(service: Service, tmp_path: Path) -> None:
    made, log = executor(tmp_path)
    for jobid in range(1, 7):
        made.run_job(job(jobid))
    infos = [info for info, _ in made.submitted]
    for number, state in ((1, "succeeded"), (2, "failed"), (3, "timed_out"), (4, "running")):
        service.jobs[number]["state"] = state
    service.jobs[2]["reason"] = "it returned exit status 3"
    del service.jobs[5]
    assert check(made, infos) == [4, 6]
    assert made.ended[0] == (1, None) and [jobid for jobid, _ in made.ended] == [1, 2, 3, 5]
    assert "failed: it returned exit status 3. `makespan logs 2`" in made.ended[1][1] and "timed out" in made.ended[2][1]
    # While the service is away, the jobs continue.
    for status in (401, 500, 502, 503, 507):
        service.problem = status
        assert check(made, infos[3:4]) == [4] and check(made, infos[3:4]) == [4]
        assert len(log.lines) == 1 and "the jobs continue" in log.lines.pop()
        service.problem = None
        assert check(made, infos[3:4]) == [4]
    # The list of jobs arrives, but not the state of a job.
    service.jobs[4]["state"], service.problem_of_jobs = "succeeded", 500
    assert check(made, infos[3:4]) == [4] and check(made, infos[3:4]) == [4]
    assert len(log.lines) == 1 and len(made.ended) == 4
    service.problem_of_jobs = None
    assert check(made, infos[3:4]) == [] and made.ended[4] == (4, None)


def test_submissions_are_repeated_after_a_temporary_error(service: Service, tmp_path: Path) -> None:
    made, _ = executor(tmp_path)
    for jobid, status in enumerate((429, 502, 503, 504), 1):
        service.problem = status
        threading.Timer(0.3, lambda: setattr(service, "problem", None)).start()
        made.run_job(job(jobid))
        assert len(service.jobs) == jobid and made.ended == []


def test_a_refused_job_fails_and_a_cancelled_run_cancels_all_jobs(service: Service, tmp_path: Path) -> None:
    made, _ = executor(tmp_path)
    made.run_job(job(1))
    made.run_job(job(2))
    service.problem = 422
    made.run_job(job(3))
    assert made.ended == [(3, "The service did not accept the job: content: it needs too much. ")]
    service.problem = None
    # The thread that asks for states may hold the list of active jobs.
    made.cancel_jobs([])
    assert [one["state"] for one in service.jobs.values()] == ["cancelled", "cancelled"]


def test_a_restarted_snakemake_continues_its_jobs(service: Service, tmp_path: Path) -> None:
    made, _ = executor(tmp_path)
    for jobid in range(1, 5):
        made.run_job(job(jobid))
    # Job 2 failed before the restart, and job 3 succeeded. Job 1 succeeds after the restart, and job 4 is still waiting.
    service.jobs[2]["state"], service.jobs[3]["state"] = "failed", "succeeded"
    made, log = executor(tmp_path, session=2)
    service.jobs[1]["state"] = "succeeded"
    for jobid in range(1, 5):
        made.run_job(job(jobid))
    assert [(info.external_jobid.rpartition("/")[2], register) for info, register in made.submitted] == [
        ("1", False), ("5", True), ("6", True), ("4", False),
    ]
    assert check(made, [info for info, _ in made.submitted]) == [2, 3, 4] and made.ended == [(1, None)]
    # A job that has ended has no note, so its next run is a new job.
    made, _ = executor(tmp_path, session=3)
    made.run_job(job(1))
    assert made.submitted[0][0].external_jobid.endswith("/7")
    made, log = executor(tmp_path, session=4, is_forced=True)
    made.run_job(job(4))
    assert service.jobs[4]["state"] == "cancelled" and made.submitted[0][0].external_jobid.endswith("/8")
    assert log.lines == ["Job 4 of an earlier session is cancelled, because job 4 replaces it."]
    # After the restore of a store, another job has the number.
    service.jobs[8]["task_list"][0]["command"] = ["/tmp/other.sh"]
    made, _ = executor(tmp_path, session=5)
    made.run_job(job(4))
    assert made.submitted[0][0].external_jobid.endswith("/9") and service.jobs[8]["state"] == "waiting"


def test_a_job_is_found_without_its_number(service: Service, tmp_path: Path) -> None:
    made, _ = executor(tmp_path)
    made.run_job(job(1))
    made.run_job(job(11))
    # The process was killed between the submission and the note of the number.
    notes = Notes(tmp_path / "makespan")
    notes.write(["out/1"], Note("/tmp/1/1.sh", "rule-1"))
    # This job was never submitted.
    notes.write(["out/2"], Note("/tmp/1/2.sh", "rule-2"))
    made, _ = executor(tmp_path, session=2)
    made.run_job(job(1))
    made.run_job(job(2))
    assert [info.external_jobid.rpartition("/")[2] for info, _ in made.submitted] == ["1", "3"]


def test_changed_groups_replace_earlier_jobs(service: Service, tmp_path: Path) -> None:
    made, _ = executor(tmp_path)
    made.run_job(job(1))
    made.run_job(job(2))
    made, _ = executor(tmp_path, session=2)
    group = job(3)
    group.is_group, group.jobs = lambda: True, [job(1), job(2, output=["out/2", "more"]), job(4, output=[])]
    assert targets(group) == ["out/1", "out/2", "more", "rule rule"]
    made.run_job(group)
    assert [one["state"] for one in service.jobs.values()] == ["cancelled", "cancelled", "waiting"]
    made, _ = executor(tmp_path, session=3)
    made.run_job(group)
    made.run_job(job(2, output=["more"]))
    assert [info.external_jobid.rpartition("/")[2] for info, _ in made.submitted] == ["3", "3"]


def test_jobs_without_a_note_on_disk_are_not_submitted(service: Service, tmp_path: Path) -> None:
    (tmp_path / "makespan").touch()
    made, _ = executor(tmp_path)
    made.run_job(job(1))
    assert service.jobs == {} and "cannot be written" in made.ended[0][1]


def test_the_token_goes_only_to_the_service(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Authorization"])
            self.send_response(302)
            self.send_header("Location", f"{service.url}/api/v1/whoami")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    other = ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{other.server_address[1]}"
    with pytest.raises(Refused, match="status of the response is 302"):
        Client(url=url).user()
    assert seen == ["Bearer secret"]
    # The variables for proxies have no effect, even for other machines.
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, url)
    assert Client().user() == ("ann", "submitter")
    monkeypatch.setattr("snakemake_executor_plugin_makespan._client._is_here", lambda url: True)
    with pytest.raises(Unreachable):
        Client(url="http://makespan.invalid").user()
    assert len(seen) == 1
    other.shutdown()
    other.server_close()


@pytest.mark.parametrize("name", ["token", "url"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_files_of_other_users_are_refused(service: Service, tmp_path: Path, name: str, mode: int) -> None:
    path = tmp_path / name
    path.chmod(mode)
    with pytest.raises(ServiceError) as refused:
        Client()
    assert str(refused.value) == f"{path}: other users may read this file; run chmod 600 {path}"


def test_wrong_addresses_and_tokens_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKESPAN_URL", "MAKESPAN_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MAKESPAN_STORE", str(tmp_path))
    with pytest.raises(WorkflowError, match="makespan serve"):
        executor(tmp_path)
    reader = Service(tmp_path, role="reader")
    with pytest.raises(WorkflowError, match="may not submit"):
        executor(tmp_path)
    (tmp_path / "token").write_text("wrong")
    with pytest.raises(WorkflowError, match="no; wait"):
        executor(tmp_path)
    (tmp_path / "token").write_text(" \n")
    with pytest.raises(ServiceError, match="contains no token"):
        Client()
    reader.server.shutdown()
    reader.server.server_close()
    (tmp_path / "token").write_text("secret")
    with pytest.raises(Unreachable):
        Client().user()
    for wrong in ("http://example.org", "ftp://127.0.0.1", "http://127.0.0.1/x", "https://a@b", "x", "http://[::1", "http://127.0.0.1:x"):
        with pytest.raises(ServiceError):
            checked(wrong)
    assert issubclass(Refused, ServiceError)


SNAKEFILE = """
rule all:
    input: expand("out/{{i}}", i=range({count})), "sum"
rule one:
    output: "out/{{i}}"
    resources: runtime=5, mem_mb=50
    shell: "{command}"
rule sum:
    input: expand("out/{{i}}", i=range({count}))
    output: "sum"
    threads: 2
    shell: "cat {{input}} > {{output}}; echo $MAKESPAN_PROCESSORS >> {{output}}"
"""


class Workflow:
    """A workflow and a real service."""

    def __init__(self, folder: Path) -> None:
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        self.program = Path(os.environ.get("MAKESPAN_PROGRAM", target / "debug/makespan"))
        if not self.program.exists():
            pytest.skip(f"{self.program} does not exist (cargo build), so the executor plugin is tested without a service")
        found = subprocess.run([ROOT / "scripts/snakemake-for-tests"], capture_output=True, text=True)
        if found.returncode:
            pytest.skip(f"snakemake cannot be installed, so its executor plugin is tested without it: {found.stderr.strip()[-200:]}")
        self.folder, self.store = folder / "workflow", folder / "store"
        self.folder.mkdir()
        package = Path(sys.modules["snakemake_executor_plugin_makespan"].__file__ or "").parent
        # The interpreter of snakemake must see only the plugin, not the other packages of this environment.
        (folder / "plugins").mkdir()
        (folder / "plugins" / package.name).symlink_to(package)
        self.environment = {**os.environ, "PYTHONPATH": str(folder / "plugins"), "MAKESPAN_STORE": str(self.store)}
        self.environment.pop("MAKESPAN_URL", None)
        self.snakemake = Path(found.stdout.strip()) / "snakemake"
        serve = [str(self.program), "serve", "--listen", "127.0.0.1:0", "--processors", "2", "--oversubscribe"]
        self.log = (folder / "serve.log").open("w")
        self.service = subprocess.Popen(serve, env=self.environment, stdout=self.log, stderr=self.log)

    def write(self, count: int, command: str) -> None:
        (self.folder / "Snakefile").write_text(SNAKEFILE.format(count=count, command=command))

    def start(self, *options: str) -> subprocess.Popen[str]:
        command = [str(self.snakemake), "--executor", "makespan", "--jobs", "50", "--seconds-between-status-checks", "1", *options]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def states(self) -> list[str]:
        done = subprocess.run([self.program, "queue", "--state", "all", "--format", "json"], env=self.environment, capture_output=True, text=True, check=True)
        return [str(one["state"]) for one in json.loads(done.stdout)["jobs"]]

    def stop(self) -> None:
        self.service.terminate()
        self.service.wait()
        self.log.close()


@pytest.fixture
def workflow(tmp_path: Path) -> Iterator[Workflow]:
    started = Workflow(tmp_path)
    yield started
    started.stop()


def wait_for(condition: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_service_runs_the_jobs_and_reports_failures(workflow: Workflow) -> None:
    workflow.write(2, "test {wildcards.i} = 0 && echo $MAKESPAN_NAME > {output}")
    run = workflow.start("--keep-going")
    text = run.communicate()[0]
    assert run.returncode == 1 and ("Job 2 of the service: failed" in text or "Job 1 of the service: failed" in text), text
    assert (workflow.folder / "out/0").read_text().startswith("one-")
    assert sorted(workflow.states()) == ["failed", "succeeded"]


@long
def test_a_workflow_of_20_jobs(workflow: Workflow) -> None:
    workflow.write(19, "echo {wildcards.i} > {output}")
    run = workflow.start()
    text = run.communicate()[0]
    assert run.returncode == 0, text
    assert (workflow.folder / "sum").read_text().split() == [*map(str, range(19)), "2"]
    assert workflow.states() == ["succeeded"] * 20


@long
def test_an_interrupted_run_cancels_its_jobs(workflow: Workflow) -> None:
    workflow.write(3, "touch started{wildcards.i}; sleep 600")
    run = workflow.start()
    wait_for(lambda: (workflow.folder / "started0").exists() or (workflow.folder / "started1").exists())
    run.send_signal(signal.SIGINT)
    assert run.wait(60) != 0
    wait_for(lambda: workflow.states() == ["cancelled"] * 3)


@long
def test_a_killed_snakemake_continues_its_jobs(workflow: Workflow) -> None:
    workflow.write(2, "echo x >> started{wildcards.i}; while [ ! -e go ]; do sleep 0.1; done; echo {wildcards.i} > {output}")
    run = workflow.start()
    wait_for(lambda: (workflow.folder / "started0").exists() and (workflow.folder / "started1").exists())
    run.kill()
    run.wait()
    subprocess.run([workflow.snakemake, "--unlock"], cwd=workflow.folder, env=workflow.environment, check=True, capture_output=True)
    # The note of one job has no number, as if the process was killed before it received the number.
    notes = Notes(workflow.folder / ".snakemake/makespan")
    (note,) = notes.read(["out/0"])
    assert note is not None and note.number is not None
    notes.write(["out/0"], replace(note, number=None))
    again = workflow.start()
    timer = threading.Timer(60, again.kill)
    timer.start()
    assert again.stdout is not None
    text = ""
    while text.count("continues as job") < 2:
        line = again.stdout.readline()
        assert line, text
        text += line
    timer.cancel()
    (workflow.folder / "go").touch()
    text += again.communicate()[0]
    assert again.returncode == 0, text
    assert [(workflow.folder / f"started{i}").read_text() for i in (0, 1)] == ["x\n", "x\n"], text
    assert workflow.states() == ["succeeded"] * 3
    assert list((workflow.folder / ".snakemake/makespan").iterdir()) == []


@long
def test_a_killed_snakemake_cancels_its_jobs_if_it_must_rerun_them(workflow: Workflow) -> None:
    command = "echo x > {output}; echo x >> started{wildcards.i}; while [ ! -e go ]; do sleep 0.1; done; echo y >> {output}"
    workflow.write(2, command)
    run = workflow.start()
    wait_for(lambda: (workflow.folder / "started0").exists() and (workflow.folder / "started1").exists())
    run.kill()
    run.wait()
    subprocess.run([workflow.snakemake, "--unlock"], cwd=workflow.folder, env=workflow.environment, check=True, capture_output=True)
    again = workflow.start("--rerun-incomplete")
    wait_for(lambda: (workflow.folder / "started0").read_text() == (workflow.folder / "started1").read_text() == "x\nx\n")
    assert sorted(workflow.states()) == ["cancelled"] * 2 + ["running"] * 2
    (workflow.folder / "go").touch()
    text = again.communicate()[0]
    assert again.returncode == 0, text
    assert [(workflow.folder / f"out/{i}").read_text() for i in (0, 1)] == ["x\ny\n", "x\ny\n"], text
    assert sorted(workflow.states()) == ["cancelled"] * 2 + ["succeeded"] * 3
