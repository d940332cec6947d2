"""A real Slurm on this machine, and what runs on it."""

import os
import pathlib
import resource
import subprocess
import time


class Cluster:
    """So many nodes of so many processors, until the end of a `with`."""

    def __init__(self, program, nodes, cpus, lines=()):
        self.process = subprocess.Popen(
            [program, f"{nodes}x{cpus}", *lines], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        said = [self.process.stdout.readline().strip().partition("=") for _ in range(2)]
        if not said[0][2]:
            raise SystemExit("no Slurm was started; what it said stands above")
        values = {name: value for name, _, value in said}
        self.folder = pathlib.Path(values["SHARED"])
        self.environment = {**os.environ, "SLURM_CONF": values["SLURM_CONF"]}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def run(self, *words, **more):
        """A program that sees the cluster; what it printed."""
        said = subprocess.run(
            [str(word) for word in words],
            env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,
        )
        if said.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))}: status {said.returncode}\n{said.stdout}{said.stderr}")
        return said.stdout

    def measured(self, *words):
        """The same, with its seconds and the most bytes of memory that it and its children had at once, the larger of them."""
        begun = time.monotonic()
        process = subprocess.Popen(
            [str(word) for word in words],
            env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))}: status {process.returncode}\n{printed}")
        return printed, wall, usage.ru_maxrss * 1024

    def is_empty(self):
        return not self.run("squeue", "--noheader", "--states=PENDING,RUNNING,COMPLETING").strip()
