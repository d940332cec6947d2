"""A day of a service for a team, from an upgrade in the morning to a full disk in the evening. Prints a table with a verdict for each
step, and the line of the log about it. The exit status is 1 if a step fails. `day.py --help` lists the options."""

import argparse
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from http.client import HTTPException

from connections import allow_files, answer_time, crowd
from service import Client, Refused, Service, command

USERS = ("ann", "bob", "carol")
OLD_STORE = pathlib.Path(__file__).resolve().parents[2] / "crates/makespan-service/tests/it/stores/134f65d3"
WORDS = ["--processors", "4", "--oversubscribe"]


class Table:
    """The rows, which are printed at once."""

    def __init__(self):
        self.wrong = 0
        print("| step | found | the log says | verdict |\n|---|---|---|---|", flush=True)

    def add(self, step, found, is_right, said="–"):
        self.wrong += not is_right
        print(f"| {step} | {found} | {said} | {'ok' if is_right else '**WRONG**'} |", flush=True)

    def skip(self, step, why):
        print(f"SKIPPED: {step}: {why}", flush=True)


class Day:
    def __init__(self, program, folder, jobs, pictures):
        self.program, self.folder, self.jobs, self.pictures = program, folder, jobs, pictures
        self.store, self.log, self.table = folder / "store", folder / "day.log", Table()
        self.service = self.of(self.store, "notes", self.log)
        self.tokens, self.mounted = {}, False

    def of(self, store, notes, log, words=()):
        """A service on `store`, whose jobs write their starts and ends into the folder `notes`."""
        (self.folder / notes).mkdir(exist_ok=True)
        environment = {"NOTES": str(self.folder / notes)}
        return Service(self.program, store, [*WORDS, "--log", log, *words], environment, log=self.folder / f"{notes}.stderr")

    def makespan(self, *words, store=None):
        environment = {**os.environ, "MAKESPAN_STORE": str(store or self.store)}
        done = subprocess.run([self.program, *map(str, words)], env=environment, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    def said(self, part, log=None, patience=10):
        """Waits for a line of the log with this text. Returns the last such line without its time, and whether there is one."""
        end = time.monotonic() + patience
        while True:
            text = (log or self.log).read_text() if (log or self.log).exists() else ""
            lines = [line.split(" ", 1)[1] for line in text.splitlines() if part in line]
            if lines:
                return lines[-1].replace("|", "/"), True
            if time.monotonic() > end:
                return f"nothing with `{part}`", False
            time.sleep(0.05)

    def noted(self, name, notes="notes"):
        path = self.folder / notes / name
        return path.read_text() if path.exists() else ""

    def client(self, user):
        return Client(self.service.port, self.tokens[user])

    def upgrade(self):
        """The store of an earlier version."""
        shutil.copytree(OLD_STORE, self.store)
        os.chmod(self.store, 0o700)
        os.chmod(self.store / "tokens.json", 0o600)
        database = sqlite3.connect(self.store / "store.sqlite")
        database.executescript((self.store / "store.sql").read_text())
        database.close()
        (self.store / "store.sql").unlink()
        status, text = self.makespan("serve", "--check", *WORDS, "--listen", "127.0.0.1:0", "--no-history")
        self.table.add("`serve --check`", text.strip().splitlines()[-1], status == 0)
        self.service.start()
        client = self.service.client()
        client.ask("POST", "/api/v1/jobs/3/release")
        ended = client.wait_for_all(120)
        jobs = client.get("/jobs?limit=100")["items"]
        states = [job["state"] for job in jobs]
        attempts = {task["attempts"] for job in jobs for task in client.get(f"/jobs/{job['number']}")["task_list"]}
        outputs = [self.makespan("logs", job)[1] for job in (1, 6)]
        right = ended and states == ["succeeded", "failed", *["succeeded"] * 4] and attempts == {1} and outputs == ["one\n", "b\n"]
        said, is_there = self.said("the store has")
        self.table.add("upgrade of a store of commit 134f65d3", f"{len(jobs)} jobs, each started {sorted(attempts)} times; old outputs {outputs}", right and is_there, said)

    def unit(self):
        status, text = self.makespan("serve", "--unit", "--store", self.store, *WORDS)
        if not shutil.which("systemd-analyze"):
            return self.table.skip("systemd unit", "systemd-analyze is not installed")
        path = self.folder / "makespan.service"
        path.write_text(text)
        checked = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
        right = status == 0 and checked.returncode == 0 and "makespan" not in checked.stderr and "KillMode=process" in text
        # Without a manager, the command of the unit is tried directly. It must name this store, and not depend on a shell.
        line = re.search("^ExecStart=(.*)$", text, re.MULTILINE)[1]
        words = [*shlex.split(line), "--check", "--listen", "127.0.0.1:0"]
        tried = subprocess.run(words, env={"PATH": os.environ["PATH"], "HOME": str(self.folder)}, capture_output=True, text=True)
        is_busy = tried.returncode == 1 and str(self.store) in tried.stdout + tried.stderr
        self.table.add("systemd unit", f"`systemd-analyze verify` ends with {checked.returncode}; `ExecStart` with --check finds the running service: {is_busy}",
                       right and is_busy)

    def people(self):
        for user in USERS:
            status, token = self.makespan("token", "add", user, "--role", "submitter")
            self.tokens[user] = token.strip()
        _, token = self.makespan("token", "add", "grafana", "--role", "reader")
        self.tokens["grafana"] = token.strip()
        time.sleep(1)
        found = {user: self.client(user).get("/whoami")["user"] for user in self.tokens}
        said, is_there = self.said("of carol (submitter) was added")
        self.table.add("three users and a monitor", ", ".join(found.values()), all(k == v for k, v in found.items()) and is_there, said)
        status, text = self.makespan("service", "user", "set", "ann", "--most-processors", 1, "--most-waiting", "none", "--weight", 2)
        said, is_there = self.said("set the limits of ann")
        self.table.add("quota", text.strip(), status == 0 and is_there, said)
        self.makespan("service", "user", "set", "bob", "--most-waiting", 2)
        try:
            self.client("bob").submit(*[command("true")] * 3)
            found = "three jobs were accepted"
        except Refused as refused:
            found = refused.status
        said, is_there = self.said("refused POST /api/v1/jobs of bob")
        self.makespan("service", "user", "remove", "bob")
        self.table.add("quota of 2 waiting jobs", f"3 jobs: {found}", found == 429 and is_there, said)
        status, text = self.makespan("service", "reservation", "add", "demo", "--processors", "2-3", "--start", "4s", "--for", "12s")
        said, is_there = self.said("reserved processors")
        [one] = self.service.client().get("/reservations")
        self.reserved = one["start"], one["end"]
        self.table.add("reservation for a demo", text.strip(), status == 0 and is_there, said)

    def what_if(self):
        wide = command("true", {"processors": 3, "time": 60.0})
        end = time.monotonic() + 30
        while not self.service.client().get("/plan")["closed"] and time.monotonic() < end:
            time.sleep(0.1)
        # The service makes a new plan at most two seconds after a change.
        time.sleep(2)
        while True:
            try:
                answer = json.loads(self.client("carol").ask("POST", "/api/v1/what-if", wide)[0])
                break
            except Refused as refused:
                if time.monotonic() > end:
                    return self.table.add("what if", str(refused), False)
                time.sleep(0.2)
        start = answer["waiting"][0]["start"]
        late = start - self.reserved[1]
        self.table.add("what if, for 3 processors and 60 s", f"it would start {late:.1f} s after the end of the reservation", -1 <= late <= 2)

    def burst(self):
        """Three users submit jobs at the same time. Meanwhile, a backup is made, and the service is killed."""
        acknowledged, lock, odd, reasons, ranges = {}, threading.Lock(), [], set(), []
        count = self.jobs // len(USERS)

        def submit(user):
            draw = random.Random(user)
            for number in range(count):
                name = f"{user}-{number}"
                script = f"echo begin >>$NOTES/{name}; sleep {draw.uniform(0.02, 0.3):.2f}; echo end >>$NOTES/{name}; echo {name}"
                key = uuid.uuid4().hex
                body = {"submissions": [command(script, {"time": 0.5}, name=name)]}
                while True:
                    try:
                        answer = json.loads(self.client(user).ask("POST", "/api/v1/jobs", body, key=key)[0])
                        break
                    except (OSError, HTTPException, ValueError):
                        time.sleep(0.05)
                with lock:
                    acknowledged[name] = answer["receipts"][0]["jobs"][0]

        def ask():
            asked = set()
            while not finished.is_set():
                try:
                    waiting = self.client("ann").get("/jobs?state=waiting&limit=200")["items"]
                    new = [job for job in waiting if job["number"] not in asked]
                    for job in (new or waiting)[:3]:
                        asked.add(job["number"])
                        why = self.client("ann").get(f"/jobs/{job['number']}/explain")
                        reasons.update(reason["text"] for reason in why["reasons"])
                        if why["early"] is None:
                            continue
                        ranges.append((job["number"], why["ranges"]["calibrated"]))
                        # The expected start is unknown if the job waits for a job that takes longer than every similar job.
                        if not why["early"] <= (why["start"] or why["early"]) <= why["late"]:
                            odd.append(why)
                except (OSError, HTTPException, ValueError, Refused):
                    pass
                time.sleep(0.1)

        threads = [threading.Thread(target=submit, args=(user,)) for user in USERS]
        begun = time.monotonic()
        [thread.start() for thread in threads]
        finished, asker = threading.Event(), threading.Thread(target=ask)
        asker.start()

        def until(part):
            while len(acknowledged) < part * self.jobs and any(thread.is_alive() for thread in threads):
                time.sleep(0.01)

        until(0.4)
        with lock:
            self.before = dict(acknowledged)
        self.ended_before = self.ended()
        backup_begun = time.monotonic()
        status, text = self.makespan("service", "backup", self.folder / "backup")
        backup = time.monotonic() - backup_begun
        said, is_there = self.said("notice a backup of")
        self.table.add("backup while it runs", f"{text.strip().split(' in /')[0]}; {backup:.2f} s", status == 0 and is_there, said)
        up = []
        for part in (0.6, 0.75, 0.9):
            until(part)
            self.service.kill()
            killed = time.monotonic()
            self.service.start()
            up.append(time.monotonic() - killed)
        [thread.join() for thread in threads]
        ended = self.service.client().wait_for_all(300)
        finished.set()
        asker.join()
        lost = [name for name in acknowledged if self.noted(name) != "begin\nend\n"]
        jobs = {job["number"]: job for job in self.all_jobs(self.service.client())}
        lost += [name for name, job in acknowledged.items() if jobs.get(job, {}).get("state") != "succeeded"]
        twice = len(jobs) - 6 - len(acknowledged)
        said, is_there = self.said("did not stop cleanly")
        is_there = self.log.read_text().count("did not stop cleanly") == len(up)
        self.table.add(f"{len(up)} times `kill -9` during a burst", f"{len(acknowledged)} acknowledged jobs in {time.monotonic() - begun:.0f} s, {len(lost)} lost or repeated, "
                       f"{twice} accepted twice; up again in at most {max(up):.2f} s",
                       ended and len(acknowledged) >= self.jobs - len(USERS) and not lost and twice == 0 and is_there, said)
        self.check_limits(jobs)
        named = any("ann may use 1 processor at once" in reason for reason in reasons)
        calibrated = sum(is_calibrated for _, is_calibrated in ranges)
        self.table.add("ranges of starts", f"{len(odd)} of {len(ranges)} without the expected start; {calibrated} calibrated; "
                       f"a reason names the quota: {'yes' if named else 'no'}", not odd and len(ranges) >= 20 and calibrated >= 20 and named)
        self.check_order(jobs)

    def check_order(self, jobs):
        """Checks in the log that no job starts before its submission or ends before its start."""
        places = {}
        for at, line in enumerate(self.log.read_text().splitlines()):
            submitted = re.search(r" submitted jobs? (\d+)(?: to (\d+))?$", line)
            if submitted:
                first, last = int(submitted[1]), int(submitted[2] or submitted[1])
                places.update({(job, "submitted"): at for job in range(first, last + 1)})
            event = re.search(r" job (\d+) of \w+ (started|succeeded|failed)", line)
            if event:
                places.setdefault((int(event[1]), "started" if event[2] == "started" else "ended"), at)
        pairs = [(job, one, other) for job in jobs for one, other in (("submitted", "started"), ("started", "ended"))]
        both = [(places[job, one], places[job, other]) for job, one, other in pairs if (job, one) in places and (job, other) in places]
        wrong = sum(one > other for one, other in both)
        missing = sum((job, "submitted") not in places for job in jobs if job > 6)
        self.table.add("order of the log", f"{wrong} of {len(both)} pairs of lines in the wrong order; {missing} jobs without a line about their submission "
                       "(a kill may lose lines)", wrong == 0 and len(both) >= len(jobs))

    def what_if_of_others(self):
        """A submitter tries a job that would delay jobs of other users."""
        admin, carol = self.service.client(), self.client("carol")
        wide = {"processors": 4, "time": 10.0}
        long = admin.submit(command("sleep 600", {"processors": 4, "time": 600.0}))
        bobs = self.client("bob").submit(*[command("true", wide, name=f"bob-waits-{number}") for number in range(5)])
        heavy = command("true", {"processors": 4, "time": 30.0}, weight=1e6)
        end, text, others = time.monotonic() + 60, "", {"later": 0, "most_seconds": 0.0, "jobs": []}
        while not others["later"] and time.monotonic() < end:
            try:
                text = carol.ask("POST", "/api/v1/what-if", heavy)[0].decode()
                others = json.loads(text)["others"]
            except Refused:
                pass
            time.sleep(0.5)
        named = [word for word in ("bob", "root") if word in text] + others["jobs"]
        self.table.add("what if counts jobs of others", f"{others['later']} jobs of others would start later, by at most {others['most_seconds']:.0f} s; the answer names {named}",
                       others["later"] == others["hidden"] == len(bobs) and 25 <= others["most_seconds"] <= 35 and not named)
        for job in bobs + long:
            admin.ask("POST", f"/api/v1/jobs/{job}/cancel")
        admin.wait_for_all(30)

    def crowd(self):
        """One user opens more connections than the service accepts. Another user is still answered."""
        opened = crowd(self.service.port, self.tokens["ann"], 2100)
        waited = answer_time(self.service.port, self.tokens["bob"])
        said, is_there = self.said("ann has too many connections")
        found = "not answered" if waited is None else f"answered after {waited:.2f} s"
        self.table.add(f"{len(opened)} connections of one token", f"another user is {found}", waited is not None and waited < 1 and is_there, said)
        [connection.close() for connection in opened]

    def damage(self):
        """A damaged journal and a damaged database are reported with their places and remedies."""
        for what, name, remedy in (("journal", "round-*/journal.jsonl", "makespan serve --recover"), ("database", "store.sqlite", "makespan service restore")):
            store, log = self.folder / f"damaged-{what}", self.folder / f"damaged-{what}.log"
            shutil.copytree(self.store, store)
            os.chmod(store, 0o700)
            path = max(store.glob(name), key=lambda path: path.stat().st_mtime)
            size = path.stat().st_size
            with open(path, "r+b") as file:
                file.seek(size // 2)
                file.write(b"?" * min(3000, size // 4))
            words = ["serve", *WORDS, "--listen", "127.0.0.1:0", "--no-history", "--store", store]
            answers = [self.makespan(*words, "--check"), self.makespan(*words, "--log", log), self.makespan("service", "backup", self.folder / "no", store=store)]
            right = all(status == 1 and path.name in text and remedy in text for status, text in answers)
            said, is_there = self.said("error the service cannot start", log)
            self.table.add(f"damaged {what}", " ".join(answers[1][1].split())[:300].replace(str(self.folder), ".."), right and is_there, said[:200].replace(str(self.folder), ".."))

    def reason_of_a_failure(self):
        """A job fails while no service runs, and another one cannot start in its folder. Both reasons are shown after a restart."""
        go = self.folder / "go"
        client = self.service.client()
        [late] = client.submit(command(f"until [ -e {go} ]; do sleep 0.05; done; exec /no/such/program"))
        [nowhere] = client.submit(command("true", directory="/no/such/folder"))
        end = time.monotonic() + 30
        while client.get(f"/jobs/{nowhere}")["state"] != "failed" or client.get(f"/jobs/{late}")["state"] != "running":
            if time.monotonic() > end:
                return self.table.add("reason of a failed start", "the jobs do not come so far", False)
            time.sleep(0.1)
        self.service.kill()
        go.touch()
        time.sleep(1)
        self.service.start()
        self.service.client().wait_for_all(60)
        texts = [self.makespan("job", job)[1] for job in (late, nowhere)]
        reasons = [next((line.split(None, 1)[1] for line in text.splitlines() if line.startswith("reason")), "none") for text in texts]
        right = reasons[0].startswith("it returned exit status 127: ") and "/no/such/folder" in reasons[1]
        said, is_there = self.said(f"job {late} of root failed")
        self.table.add("reason of a failed start, after `kill -9`", "; ".join(reasons), right and is_there and "no/such" not in said, said)

    def page(self):
        if not (os.environ.get("CHROMIUM") and os.environ.get("MAKESPAN_MODULES") and shutil.which("node")):
            return self.table.skip("page", "CHROMIUM and MAKESPAN_MODULES do not name a browser and playwright-core (see scripts/browser-test)")
        self.pictures.mkdir(parents=True, exist_ok=True)
        self.makespan("service", "reservation", "add", "upkeep", "--processors", "1-2", "--start", "60s", "--for", "10min")
        client = self.service.client()
        client.submit(*[command("sleep 5", {"time": 100.0, "processors": 1 + number % 2}, name=f"page-{number}") for number in range(6)])
        end = time.monotonic() + 20
        while not client.get("/plan")["closed"] and time.monotonic() < end:
            time.sleep(0.1)
        words = ["node", pathlib.Path(__file__).with_name("page.mjs"), f"http://127.0.0.1:{self.service.port}", self.store / "token", "upkeep", self.pictures]
        done = subprocess.run(words, capture_output=True, text=True, timeout=180)
        if done.returncode:
            return self.table.add("page", done.stderr.strip().splitlines()[-1][:200], False)
        found = json.loads(done.stdout)
        light = [one["brightness"] for one in found if one["colorScheme"] == "light"]
        dark = [one["brightness"] for one in found if one["colorScheme"] == "dark"]
        text = "; ".join(f"{one['width']} {one['colorScheme']}: hatched, overflow {one['overflow']}, faults {one['faults']}" for one in found)
        right = all(one["hatchings"] > 0 and one["overflow"] <= 0 and not one["faults"] for one in found) and min(light) > 128 > max(dark)
        self.table.add("page with a reservation", text, right and len(found) == 4)
        self.makespan("service", "reservation", "remove", 2)
        self.service.client().wait_for_all(120)

    def ended(self):
        return {job["name"] for job in self.all_jobs(self.service.client()) if job["state"] == "succeeded"}

    def all_jobs(self, client):
        found, after = [], ""
        while True:
            page = client.get(f"/jobs?limit=1000{after}")
            found += page["items"]
            if page["next"] is None:
                return found
            after = f"&after={page['next']}"

    def check_limits(self, jobs):
        """Checks the quota and the reservation with the times at which jobs ran."""
        spans, inside, beside = [], 0, 0
        for job in jobs.values():
            if job["number"] <= 6:
                continue
            task = self.service.client().get(f"/jobs/{job['number']}")["task_list"][0]
            first, last = (int(word) for word in (task["processors"].split("-") * 2)[:2])
            if job["user"] == "ann":
                spans.append((task["started"], task["ended"]))
            # The engine learns of the reservation a moment after the answer, long before its start.
            if self.reserved[0] <= task["started"] < self.reserved[1]:
                inside, beside = inside + (last >= 2), beside + (last < 2)
        spans.sort()
        overlaps = sum(one[1] > other[0] + 0.001 for one, other in zip(spans, spans[1:]))
        self.table.add("quota of 1 processor", f"{len(spans)} jobs of ann, {overlaps} ran beside another one", overlaps == 0 and len(spans) > 1)
        self.table.add("reserved processors", f"{inside} jobs started on them within the reservation, {beside} on other processors", inside == 0 and beside > 0)

    def refused(self):
        number = max(job["number"] for job in self.all_jobs(self.client("ann")))
        found = []
        for client, method, path in [(self.client("bob"), "POST", f"/api/v1/jobs/{number}/cancel"), (Client(self.service.port, "mks_wrong"), "GET", "/api/v1/jobs")]:
            try:
                client.ask(method, path)
            except Refused as refused:
                found.append(refused.status)
        said, is_there = self.said(f"/jobs/{number}/cancel")
        self.table.add("a job of another user, a wrong token", f"refused with {found}", found == [404, 401] and is_there and "bob" in said, said)

    def metrics(self):
        text = self.client("grafana").ask("GET", "/api/v1/metrics")[0]
        if not shutil.which("promtool"):
            return self.table.skip("metrics", "promtool is not installed (Debian's package prometheus)")
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
        found = (checked.stdout + checked.stderr).decode().strip().replace("\n", "; ") or "nothing to report"
        families = text.decode().count("# TYPE")
        wanted = ("processors_in_use ", "job_wait_seconds_bucket{", "jobs_ended_total{", "store_bytes ", "build_info{")
        missing = [name for name in wanted if f"\nmakespan_{name}" not in f"\n{text.decode()}"]
        self.table.add("`promtool check metrics`", f"{families} metrics: {found}; missing: {missing}", checked.returncode == 0 and not missing)

    def restore(self):
        """Restores the backup on a small disk, where it is served; then fills the disk."""
        self.service.stop()
        said, is_there = self.said("the service has stopped")
        status = self.service.process.returncode
        self.table.add("stop", f"SIGTERM; exit status {status}", is_there and status == 0, said)
        small = self.folder / "small"
        small.mkdir()
        self.mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "none", small], capture_output=True).returncode == 0
        new, log = small / "store", self.folder / "restored.log"
        status, text = self.makespan("service", "restore", self.folder / "backup", new)
        lines = text.strip().splitlines()
        with self.of(new, "restored", log) as service:
            client = service.client()
            ended = client.wait_for_all(300)
            jobs = self.all_jobs(client)
            names = {job["name"]: job for job in jobs}
            missing = [name for name, job in self.before.items() if names.get(name, {}).get("number") != job]
            again = [name for name in self.ended_before if self.noted(name, "restored")]
            failed = [job["number"] for job in jobs if job["state"] != "succeeded" and job["number"] != 2]
            counted = sum(user["ended"] for user in client.get("/users"))
            said, is_there = self.said("restored from the backup", log)
            first = lines[0].split(" from ")[0]
            self.table.add("restore elsewhere", f"{first}; of {len(self.before)} jobs acknowledged before the backup, {len(missing)} missing; of "
                           f"{len(self.ended_before)} ended ones, {len(again)} ran again; {counted} counted of {len(jobs)}",
                           status == 0 and ended and not missing and not again and not failed and counted == len(jobs) and is_there, said)
            self.full_disk(service, small, log)

    def full_disk(self, service, small, log):
        if self.mounted:
            filler = open(small / "filler", "wb", buffering=0)
            try:
                while True:
                    filler.write(b"x" * 4096)
            except OSError:
                pass
            free = lambda: (filler.close(), (small / "filler").unlink())
        else:
            limits = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (1, limits[1]))
            free = lambda: resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, limits)
        client, found, number = service.client(), [], 0
        acknowledged = {}
        for number in range(3000):
            name = f"full-{number}"
            try:
                acknowledged[name] = client.submit(command(f"echo begin >>$NOTES/{name}; echo end >>$NOTES/{name}", name=name))[0]
            except Refused as refused:
                found.append(refused.status)
                break
        try:
            client.get("/health")
        except Refused as refused:
            found.append(refused.status)
        status, text = self.makespan("service", "backup", small / "other", store=service.store) if self.mounted else (1, "free space")
        half = list(small.glob("*other*")) + list(small.glob(".other*"))
        said, is_there = self.said("error the store cannot be written", log)
        self.table.add("full disk" if self.mounted else "full disk (RLIMIT_FSIZE, because mounting takes root)", f"answers {found}, after {len(acknowledged)} more jobs",
                       found == [507, 503] and is_there, said)
        self.table.add("backup to a full disk", text.strip().split(": ", 1)[-1][:140], status == 1 and "free space" in text and not half)
        free()
        begun = time.monotonic()
        while time.monotonic() < begun + 60:
            try:
                acknowledged["room"] = client.submit(command("echo begin >>$NOTES/room; echo end >>$NOTES/room", name="room"))[0]
                break
            except Refused:
                time.sleep(0.1)
        waited = time.monotonic() - begun
        ended = client.wait_for_all(120)
        wrong = [name for name in acknowledged if self.noted(name, "restored") != "begin\nend\n"]
        said, is_there = self.said("this problem no longer exists", log)
        self.table.add("free space", f"accepts again after {waited:.1f} s; {len(wrong)} of {len(acknowledged)} jobs lost or repeated", ended and not wrong and "room" in acknowledged and is_there, said)

    def secrets(self):
        tokens = [*self.tokens.values(), self.service.token]
        files = [path for path in [self.log, self.folder / "restored.log", *(self.folder / "backup").rglob("*")] if path.is_file()]
        found = [path.name for path in files if any(token.encode() in path.read_bytes() for token in tokens)]
        logs = "".join(path.read_text() for path in (self.log, self.folder / "restored.log"))
        words = [word for word in ("NOTES", "sleep", "begin", "ann-", "full-", "no/such") if word in logs]
        self.table.add("secrets", f"tokens in {len(found)} of {len(files)} files of logs and backup; words of users in the logs: {words}", not found and not words)

    def run(self):
        steps = (self.upgrade, self.unit, self.people, self.what_if, self.burst, self.refused, self.metrics, self.what_if_of_others, self.crowd, self.reason_of_a_failure,
                 self.page, self.restore, self.damage, self.secrets)
        try:
            for step in steps:
                step()
        finally:
            if self.service.process and self.service.process.poll() is None:
                self.service.stop()
            if self.mounted:
                subprocess.run(["umount", "-l", self.folder / "small"])
        return self.table.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--makespan", required=True, help="the program")
    parser.add_argument("--jobs", type=int, default=300, help="the jobs of the burst")
    parser.add_argument("--pictures", type=pathlib.Path, default=pathlib.Path("target/day"), help="folder for pictures of the page")
    options = parser.parse_args()
    allow_files()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="makespan-day-") as temporary:
        wrong = Day(str(pathlib.Path(options.makespan).resolve()), pathlib.Path(temporary), options.jobs, options.pictures.resolve()).run()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
