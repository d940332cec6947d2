"""Load: how much a service takes, and how soon it answers while a long queue waits."""

import json
import os
import resource
import selectors
import socket
import threading
import time

from service import Client, Refused, Service, command, quantile

# A job that would take minutes: the queue is to stay.
WAITS = command("sleep 600", {"time": 600.0}, name="one of many")


def in_threads(count, act):
    """Runs `act(number)` in so many threads, and waits for all."""
    failed = []

    def guarded(number):
        try:
            act(number)
        except Exception as error:  # noqa: BLE001 - it is told below
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    if failed:
        raise failed[0]


def rate(service, threads, size, seconds):
    """Jobs a second that are accepted, so many in a request, and the seconds that a request takes."""
    taken, times, lock, end = [0], [], threading.Lock(), time.monotonic() + seconds
    begun = time.monotonic()

    def act(_):
        client = service.client()
        body = {"submissions": [WAITS] * size} if size > 1 else WAITS
        while time.monotonic() < end:
            _, time_taken = client.ask("POST", "/api/v1/jobs", body, key=True)
            with lock:
                taken[0] += size
                times.append(time_taken)

    in_threads(threads, act)
    return taken[0] / (time.monotonic() - begun), times


def fill(service, count):
    """Lets so many jobs wait."""
    client = service.client()
    missing = count - client.count("waiting")
    while missing > 0:
        client.submit(*[WAITS] * min(missing, 1000))
        missing -= 1000


def answers(service, count):
    """The seconds that each question takes, asked so many times."""
    client, first = service.client(), None
    jobs = client.get("/jobs?limit=1000&state=waiting")["items"]
    first, last = jobs[0]["number"], jobs[-1]["number"]
    questions = {
        "the page itself": ("GET", "/", None),
        "the queue, 100 jobs of it": ("GET", "/api/v1/jobs?state=waiting&state=running&state=held&limit=100", None),
        "the newest 100 jobs": ("GET", "/api/v1/jobs?newest=true&limit=100", None),
        "jobs with a word in their names": ("GET", "/api/v1/jobs?text=nothing&limit=100", None),
        "one job": ("GET", f"/api/v1/jobs/{last}", None),
        "the plan, for the chart": ("GET", "/api/v1/plan", None),
        "the bounds": ("GET", "/api/v1/bounds", None),
        "the users": ("GET", "/api/v1/users", None),
        "the history of a week": ("GET", "/api/v1/history", None),
        "the numbers for a monitor": ("GET", "/api/v1/metrics", None),
        "explain": ("GET", f"/api/v1/jobs/{first}/explain", None),
        "what if": ("POST", "/api/v1/what-if", WAITS),
        "submit": ("POST", "/api/v1/jobs", WAITS),
    }
    found = {}
    for name, (method, path, body) in questions.items():
        times = []
        for _ in range(count if name != "what if" else max(count // 10, 3)):
            answer, taken = client.ask(method, path, body)
            times.append(taken)
        found[name] = (times, len(answer))
    return found


def beside_planning(service, seconds):
    """The seconds of answers while jobs come and the plan is made again and again; how often it was."""
    client, probe = service.client(), service.client()
    first = client.get("/plan")["version"]
    times, end, sent = [], time.monotonic() + seconds, [0]

    def submits(_):
        while time.monotonic() < end:
            client.submit(WAITS)
            sent[0] += 1
            time.sleep(0.1)

    thread = threading.Thread(target=submits, args=(0,))
    thread.start()
    while time.monotonic() < end:
        _, taken = probe.ask("GET", "/api/v1/jobs?state=running&limit=10")
        times.append(taken)
        time.sleep(0.005)
    thread.join()
    return times, client.get("/plan")["version"] - first


def streams(service, count, jobs):
    """Opens so many streams of events and submits jobs: the seconds until each stream has told of each, and what is missing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * count)), hard))
    head = f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {service.token}\r\n\r\n".encode()
    selector, opened = selectors.DefaultSelector(), []
    for number in range(count):
        stream = socket.create_connection(("127.0.0.1", service.port))
        stream.sendall(head)
        opened.append(stream)
        selector.register(stream, selectors.EVENT_READ, number)
    heard, begun_streams, end = [b""] * count, 0, time.monotonic() + 60
    while begun_streams < count and time.monotonic() < end:
        for key, _ in selector.select(1):
            before = heard[key.data]
            heard[key.data] += key.fileobj.recv(1 << 16)
            begun_streams += b"event: begin" in heard[key.data] and b"event: begin" not in before
    numbers, delays, sent = set(), [], {}

    def submits():
        client = service.client()
        for _ in range(jobs):
            [job] = client.submit(command("true", name="told of", hold=True))
            sent[job] = time.monotonic()
            numbers.add(job)
            time.sleep(0.02)

    thread = threading.Thread(target=submits)
    thread.start()
    told, missing, end = [set() for _ in range(count)], count * jobs, time.monotonic() + 120
    while missing and time.monotonic() < end:
        for key, _ in selector.select(0.5):
            heard[key.data] += key.fileobj.recv(1 << 16)
            *whole, heard[key.data] = heard[key.data].split(b"\n\n")
            now = time.monotonic()
            for event in whole:
                data = event.rsplit(b"data: ", 1)[-1].split(b"\r\n")[0]
                if b'"submitted"' not in data:
                    continue
                job = json.loads(data)["job"]
                if job not in told[key.data]:
                    told[key.data].add(job)
                    missing -= 1
                    delays.append(max(0.0, now - sent.get(job, now)))
    thread.join()
    memory = service.memory()
    [stream.close() for stream in opened]
    return begun_streams, delays, missing, memory


def week(service, jobs, speed, processors, told):
    """Runs as many jobs as a team may have in a week, each of them `speed` times shorter; memory and speed after each tenth."""
    client = service.client()
    mean = 7 * 86400 * processors * 0.8 / jobs / speed
    rows, begun = [], time.monotonic()
    for part in range(10):
        started, used = time.monotonic(), service.processor_time()
        for at in range(jobs // 10):
            if at % 20 == 0:
                while client.count("waiting") > 100:
                    time.sleep(0.05)
                seconds = [mean * factor for factor in (0.2, 0.5, 0.8, 1.0, 2.5)]
                client.submit(*[command(f"sleep {seconds[one % 5]:.3f}", name=f"kind {one % 5}") for one in range(20)])
        while client.count("waiting", "running") > 0:
            time.sleep(0.05)
        _, answer = client.ask("GET", "/api/v1/jobs?limit=100&newest=true")
        now = time.monotonic()
        rows.append({
            "jobs": client.get("/jobs?limit=1")["total"], "memory": service.memory()[0], "answer": answer,
            "processor": (service.processor_time() - used) / (now - started), "rate": (jobs // 10) / (now - started),
            "disk": sum(os.lstat(os.path.join(folder, name)).st_blocks * 512
                        for folder, _, names in os.walk(service.store) for name in names),
        })
        told(rows[-1])
    return rows, time.monotonic() - begun
