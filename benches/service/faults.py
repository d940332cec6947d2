"""Faults: what a service loses, repeats and says when something goes wrong beneath it. Each returns a sentence for the table."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import threading
import time
from http.client import HTTPException

from service import Refused, Service, command


def noting(folder, number, seconds):
    """A job that notes its begin and its end."""
    log = folder / f"log-{number}"
    return command(f"echo begin >>{log}; sleep {seconds}; echo end >>{log}", name=f"j{number}")


def check(folder, service, acknowledged):
    """What is wrong with jobs that were acknowledged, when all have ended: `{number: job}`."""
    client, wrong = service.client(), []
    for number, job in acknowledged.items():
        state = client.get(f"/jobs/{job}")["state"]
        noted = (folder / f"log-{number}").read_text() if (folder / f"log-{number}").exists() else ""
        if state != "succeeded" or noted != "begin\nend\n":
            wrong.append(f"job {job} is {state} and noted {noted!r}")
    return wrong


def killed(program, folder, kills):
    """`kill -9` at any instant, while jobs come and run."""
    service, acknowledged, given, seconds = Service(program, folder / "killed", ["--processors", "2"]), {}, 0, []
    for _ in range(kills):
        begun = time.monotonic()
        service.start()
        seconds.append(time.monotonic() - begun)
        client, end = service.client(), time.monotonic() + random.uniform(0.05, 1.5)

        def kill():
            time.sleep(max(0.0, end - time.monotonic()))
            service.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        while True:
            given += 1
            try:
                acknowledged[given] = client.submit(noting(folder, given, round(random.uniform(0, 0.3), 2)))[0]
            except (OSError, Refused, ValueError, HTTPException):
                break
            time.sleep(random.uniform(0, 0.05))
        killer.join()
    with service:
        ended = service.client().wait_for_all()
        wrong = check(folder, service, acknowledged) if ended else ["jobs did not end"]
    if wrong:
        return f"WRONG: {len(wrong)} of {len(acknowledged)} jobs: {wrong[:3]}"
    return (f"{kills} kills, {len(acknowledged)} acknowledged jobs: none lost, none run twice; "
            f"up again in {sorted(seconds)[len(seconds) // 2]:.2f} s (median)")


def full_disk(program, folder):
    """The file system of the store is full for a while."""
    mounted = folder / "small"
    mounted.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "none", mounted], capture_output=True).returncode != 0:
        return "not measured: mounting a file system takes root"
    try:
        with Service(program, mounted / "store", ["--processors", "2"], log=folder / "small.log") as service:
            client, acknowledged = service.client(), {}
            for number in range(1, 21):
                acknowledged[number] = client.submit(noting(folder, f"full-{number}", 0.2))[0]
            with open(mounted / "filler", "wb") as filler:
                try:
                    while True:
                        filler.write(b"x" * 65536)
                        filler.flush()
                except OSError:
                    pass
            words, number = "", 20
            for _ in range(2000):
                number += 1
                try:
                    acknowledged[number] = client.submit(noting(folder, f"full-{number}", 0.0))[0]
                except Refused as refused:
                    words = f"{refused.status}"
                    said = refused.text
                    break
            else:
                return "WRONG: the disk did not become full"
            client.count("waiting")
            try:
                client.get("/health")
                health = "200"
            except Refused as refused:
                health = str(refused.status)
            time.sleep(3)
            (mounted / "filler").unlink()
            begun = time.monotonic()
            while True:
                try:
                    number += 1
                    acknowledged[number] = client.submit(noting(folder, f"full-{number}", 0.0))[0]
                    break
                except Refused:
                    time.sleep(0.2)
                    if time.monotonic() - begun > 60:
                        return f"WRONG: nothing is accepted a minute after there is room: {said}"
            recovered = time.monotonic() - begun
            if not client.wait_for_all(120):
                return f"WRONG: jobs do not end: {client.get('/health')}"
            wrong = check(folder, service, {f"full-{number}": job for number, job in acknowledged.items()})
            if wrong:
                return f"WRONG: {wrong[:3]}"
            return (f"submissions are refused with status {words}, `/health` says {health}, questions are answered; "
                    f"accepts again {recovered:.1f} s after there is room; {len(acknowledged)} acknowledged jobs, none lost or run twice")
    finally:
        subprocess.run(["umount", "-l", mounted])


def stepped_clock(program, folder):
    """The clock of the system is set forward and back by an hour while jobs run and wait."""
    found = [str(path) for path in pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1")]
    if not found:
        return "not measured: Debian's faketime is not installed"
    shift = folder / "shift"
    shift.write_text("+0")
    environment = {"LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": str(shift), "FAKETIME_NO_CACHE": "1",
                   "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}
    service = Service(program, folder / "stepped", ["--processors", "2"], environment)
    with service:
        client, acknowledged, number = service.client(), {}, 0
        for step in ("+0", "+3600", "-3600", "+0"):
            shift.write_text(step)
            for _ in range(6):
                number += 1
                job = noting(folder, f"step-{number}", 1.0)
                job["content"]["command"]["needs"] = {"time": 1.0, "walltime": 120.0}
                acknowledged[f"step-{number}"] = client.submit(job)[0]
            time.sleep(1.5)
        if not client.wait_for_all(120):
            return f"WRONG: jobs do not end: {client.get('/jobs?limit=3&state=waiting')}"
        wrong = check(folder, service, acknowledged)
        jobs = client.get("/jobs?limit=100")["items"]
        odd = [job for job in jobs if job["ended"] < job["started"]]
        if max(job["submitted"] for job in jobs) - min(job["submitted"] for job in jobs) < 7000:
            return "not measured: faketime did not move the clock of the service"
    if wrong or odd:
        return f"WRONG: {wrong[:3]} {odd[:3]}"
    return f"steps of +1 h, -2 h and +1 h: {len(acknowledged)} jobs ran once each, none was ended early or late, none ended before it began"


def two_services(program, folder):
    """A second service on the same store."""
    with Service(program, folder / "shared", ["--processors", "2"]):
        second = subprocess.run([program, "serve", "--store", folder / "shared", "--listen", "127.0.0.1:0"],
                                capture_output=True, text=True, timeout=60)
    if second.returncode == 0 or "another service uses this store" not in second.stderr:
        return f"WRONG: status {second.returncode}: {second.stderr}"
    return f"the second one ends with status {second.returncode}: another service uses this store"


def controller_gone(program, cluster_program, folder, seconds):
    """Slurm's controller is killed, and started again later."""
    if not cluster_program:
        return "not measured: no program that starts a Slurm was named"
    if not shutil.which("slurmctld", path=f"{os.environ['PATH']}:/usr/sbin"):
        return "not measured: Slurm is not installed"
    process = subprocess.Popen([cluster_program, "2x2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        values = dict(process.stdout.readline().strip().split("=", 1) for _ in range(2))
        shared, configuration = pathlib.Path(values["SHARED"]), values["SLURM_CONF"]
        environment = {"SLURM_CONF": configuration}
        service = Service(program, shared / "store", ["--on", "slurm"], environment, log=folder / "slurm.log")
        with service:
            client, acknowledged = service.client(), {}
            for number in range(8):
                acknowledged[f"slurm-{number}"] = client.submit(noting(shared, f"slurm-{number}", 3.0))[0]
            begun = time.monotonic()
            while client.count("running") == 0 and time.monotonic() < begun + 120:
                time.sleep(0.1)
            pid_file = next(line.split("=", 1)[1] for line in pathlib.Path(configuration).read_text().splitlines()
                            if line.startswith("SlurmctldPidFile="))
            os.kill(int(pathlib.Path(pid_file).read_text()), signal.SIGKILL)
            begun, slowest, number = time.monotonic(), 0.0, 8
            while time.monotonic() < begun + seconds:
                _, taken = client.ask("GET", "/api/v1/jobs?limit=10")
                slowest = max(slowest, taken)
                if int(time.monotonic() - begun) // 10 > number - 8:
                    number += 1
                    acknowledged[f"slurm-{number}"] = client.submit(noting(shared, f"slurm-{number}", 1.0))[0]
                time.sleep(0.2)
            ended = client.count("succeeded")
            said = client.get("/health")["trouble"]
            path = f"{os.environ['PATH']}:/usr/sbin"
            subprocess.Popen([shutil.which("slurmctld", path=path), "-f", configuration],
                             env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if not client.wait_for_all(180):
                return f"WRONG: jobs do not end: {client.get('/health')}"
            wrong = check(shared, service, acknowledged)
        if wrong:
            return f"WRONG: {wrong[:3]}"
        return (f"gone for {seconds} s: meanwhile, {ended} jobs ended in the running pilots, submissions were accepted, and the slowest answer "
                f"took {slowest * 1000:.0f} ms; afterwards, all {len(acknowledged)} jobs had ended, and each ran once"
                + (f"; said: {said[0]}" if said else ""))
    finally:
        process.stdin.close()
        process.wait()
