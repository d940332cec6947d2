"""A service that is measured: it is started, asked and killed."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import time
import uuid


class Service:
    """`makespan serve` on a store. `environment` is added to that of this process."""

    def __init__(self, program, store, words=(), environment=None, log=None):
        self.program, self.store, self.words = program, pathlib.Path(store), list(words)
        self.environment = {**os.environ, **(environment or {})}
        self.log = log or self.store.with_suffix(".log")
        self.process, self.port = None, 0

    def start(self):
        """Starts it, on the port that it had before."""
        command = [self.program, "serve", "--store", self.store, "--listen", f"127.0.0.1:{self.port}", "--no-history", *self.words]
        self.process = subprocess.Popen(
            [str(word) for word in command], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=open(self.log, "ab"), text=True,
        )
        line = self.process.stdout.readline()
        if "http://" not in line:
            raise SystemExit(f"the service did not start: {line}{pathlib.Path(self.log).read_text()}")
        self.port = int(line.rsplit(":", 1)[1])
        self.token = (self.store / "token").read_text().strip()
        return self

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    def client(self):
        return Client(self.port, self.token)

    def memory(self):
        """Bytes of memory that its process has now, and most that it had."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        field = lambda name: int(status.split(f"{name}:")[1].split()[0]) * 1024
        return field("VmRSS"), field("VmHWM")

    def processor_time(self):
        """Seconds of processors that it has used."""
        words = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status, self.text = status, text


class Client:
    """One connection, which is kept open."""

    def __init__(self, port, token, timeout=120):
        self.port, self.token, self.timeout, self.connection = port, token, timeout, None

    def ask(self, method, path, body=None, key=False):
        """The bytes of the answer, and how many seconds it took. `key` is an idempotency key, or true for a new one."""
        headers = {"Authorization": f"Bearer {self.token}"}
        if body is not None:
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        if key:
            headers["Idempotency-Key"] = key if isinstance(key, str) else uuid.uuid4().hex
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        begun = time.perf_counter()
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
            read = answer.read()
        except BaseException:
            self.connection = None
            raise
        taken = time.perf_counter() - begun
        if answer.status >= 400:
            raise Refused(answer.status, read.decode(errors="replace"))
        return read, taken

    def get(self, path):
        return json.loads(self.ask("GET", f"/api/v1{path}")[0])

    def submit(self, *submissions):
        """The numbers of the jobs."""
        answer, _ = self.ask("POST", "/api/v1/jobs", {"submissions": list(submissions)}, key=True)
        return [job for receipt in json.loads(answer)["receipts"] for job in receipt["jobs"]]

    def count(self, *states):
        return self.get("/jobs?limit=1&" + "&".join(f"state={state}" for state in states))["total"]

    def wait_for_all(self, patience=600):
        """Waits until no job waits or runs; whether it came so far."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if self.count("waiting", "running") == 0:
                return True
            time.sleep(0.2)
        return False


def command(script, needs=None, **more):
    return {"content": {"command": {"argv": ["sh", "-c", script], "needs": needs or {}}}, **more}


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]
