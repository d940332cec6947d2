"""Measures a service under load and faults, and writes the tables of benches/service/README.md. `measure.py --help` lists the options."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import tempfile
import time

import faults
import load
from service import Service, quantile

MIB = 1 << 20


def milliseconds(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 0.0995 else f"{seconds * 1000:.0f} ms"


def verdict(fine):
    return "yes" if fine else "**no**"


class Tables:
    """Rows as they are found; each is printed at once."""

    def __init__(self):
        self.load, self.questions, self.week, self.faults = [], [], [], []

    def add(self, table, *cells):
        table.append(cells)
        print(" | ".join(cells), flush=True)


def measure_load(program, folder, options, tables):
    add = lambda *cells: tables.add(tables.load, *cells)
    with Service(program, folder / "load", ["--processors", "2", "--oversubscribe"]) as service:
        single, times = load.rate(service, 8, 1, options.seconds)
        add("single submissions, 8 clients", "200 a second", f"{single:.0f} a second, median {milliseconds(quantile(times, 0.5))}", verdict(single >= 200))
        batch, times = load.rate(service, 4, 100, options.seconds)
        add("submissions in batches of 100, 4 clients", "1,000 a second", f"{batch:.0f} a second, median {milliseconds(quantile(times, 0.5))} a batch", verdict(batch >= 1000))
        load.fill(service, options.queued)
        queued = service.client().count("waiting")
        add("waiting jobs", f"{options.queued:,}", f"{queued:,}", verdict(queued >= options.queued))
        time.sleep(options.settle)
        for name, (times, size) in load.answers(service, 50).items():
            median, late = quantile(times, 0.5), quantile(times, 0.95)
            planned = name in ("what if", "explain")
            tables.add(tables.questions, name, milliseconds(median), milliseconds(late), milliseconds(max(times)), f"{size / 1024:.0f} KiB",
                       verdict(late < 0.1) if not planned else "no aim: the planner computes the answer")
        times, plans = load.beside_planning(service, options.beside)
        add(f"slowest of {len(times):,} answers, while 10 jobs a second arrived and {plans} plans were made in total", "50 ms",
            f"{milliseconds(max(times))}, 99.9 % within {milliseconds(quantile(times, 0.999))}", verdict(max(times) <= 0.05))
        opened, delays, missing, _ = load.streams(service, 500, 50)
        add(f"{opened} open streams of events, each with 50 jobs", "500, all complete",
            f"{missing} missing, 95 % within {milliseconds(quantile(delays, 0.95)) if delays else '–'}", verdict(opened == 500 and not missing))
        _, most = service.memory()
        add("peak memory until this row", "1,024 MiB", f"{most / MIB:.0f} MiB", verdict(most < 1 << 30))
        service.kill()
        begun = time.monotonic()
        service.start()
        answered = time.monotonic() - begun
        while not service.client().get("/health")["runs"]:
            time.sleep(0.05)
        add("restart after `kill -9` with this queue", "–", f"answers after {answered:.2f} s, starts jobs after {time.monotonic() - begun:.1f} s", "–")
        client = service.client()
        [client.ask("POST", f"/api/v1/jobs/{job['number']}/cancel") for job in client.get("/jobs?state=running")["items"]]
        service.kill()


def measure_week(program, folder, options, tables):
    words = ["--processors", str(options.processors), "--oversubscribe"]
    with Service(program, folder / "week", words) as service:
        told = lambda row: tables.add(tables.week, f"{row['jobs']:,}", f"{row['memory'] / MIB:.0f} MiB", f"{row['disk'] / MIB:.0f} MiB",
                                      milliseconds(row["answer"]), f"{row['rate']:.0f}", f"{row['processor'] * 100:.0f} %")
        return load.week(service, options.jobs, options.speed, options.processors, told)


def measure_faults(program, folder, options, tables):
    add = lambda name, act: tables.add(tables.faults, name, act()) if not options.only or name in options.only else None
    add("`kill -9` at any instant", lambda: faults.killed(program, folder, options.kills))
    add("full disk", lambda: faults.full_disk(program, folder))
    add("clock stepped", lambda: faults.stepped_clock(program, folder))
    add("two services on one store", lambda: faults.two_services(program, folder))
    add("Slurm's controller gone", lambda: faults.controller_gone(program, options.cluster, folder, options.gone))


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(cells) + " |" for cells in rows])


def text(tables, options, weeks):
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown processor")
    parts = [f"Measured by `benches/service/run` on {time.strftime('%Y-%m-%d')}: {os.cpu_count()} cores ({model}), {platform.system()}, "
             f"{options.note}load average {os.getloadavg()[2]:.1f} over the last 15 minutes (including the service)."]
    if tables.load:
        parts += [table(["load", "aim", "found", "met"], tables.load),
                  f"Answers while {options.queued:,} jobs are waiting:", table(["question", "median", "95 %", "slowest", "size", "95 % below 100 ms"], tables.questions)]
    if tables.week:
        seconds, jobs, processors, speed = weeks
        parts += [f"A simulated week: {jobs:,} real processes on {processors} processors. All times are divided by {speed:,.0f}, so the "
                  f"test takes {seconds / 60:.0f} minutes. The test does not show problems that appear only after several days, such as slow leaks.",
                  table(["jobs so far", "memory", "disk", "queue answers in", "jobs a second", "CPU use of the service"], tables.week)]
    if tables.faults:
        parts += [table(["fault", "what happens"], tables.faults)]
    return "\n\n".join(parts)


def write(path, found):
    """Puts the tables between the two marks of the page."""
    page = path.read_text()
    begin, end = "<!-- measured: begin -->", "<!-- measured: end -->"
    before, rest = page.split(begin)
    path.write_text(f"{before}{begin}\n\n{found}\n\n{end}{rest.split(end)[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--makespan", required=True, help="the program, of a release build")
    parser.add_argument("--cluster", help="the program that starts a Slurm (examples/cluster of makespan-slurm)")
    parser.add_argument("--write", type=pathlib.Path, help="a page whose tables are replaced")
    parser.add_argument("--parts", default="load,week,faults", help="which of load, week, faults")
    parser.add_argument("--only", action="append", help="a fault by the name of its row; may be repeated")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each rate is measured")
    parser.add_argument("--queued", type=int, default=100_000, help="how many jobs wait")
    parser.add_argument("--settle", type=float, default=10.0, help="seconds before answers are measured")
    parser.add_argument("--beside", type=float, default=30.0, help="seconds for which answers are asked for beside planning")
    parser.add_argument("--jobs", type=int, default=20_000, help="the jobs of a week")
    parser.add_argument("--speed", type=float, default=1000.0, help="how much shorter they are; 50 takes 3.4 hours")
    parser.add_argument("--processors", type=int, default=8, help="of the service that runs a week")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--gone", type=float, default=60.0, help="seconds without Slurm's controller")
    parser.add_argument("--note", default="", help="words for the head of the tables")
    parser.add_argument("--results", type=pathlib.Path, help="a file of JSON that keeps the tables of earlier parts")
    options = parser.parse_args()
    tables, weeks = Tables(), None
    if options.results and options.results.exists():
        kept = json.loads(options.results.read_text())
        tables.__dict__.update(kept["tables"])
        weeks = kept["weeks"]
    with tempfile.TemporaryDirectory(prefix="makespan-service-") as temporary:
        folder, parts = pathlib.Path(temporary), options.parts.split(",")
        if "load" in parts:
            tables.load, tables.questions = [], []
            measure_load(options.makespan, folder, options, tables)
        if "week" in parts:
            tables.week = []
            weeks = measure_week(options.makespan, folder, options, tables)
        if "faults" in parts:
            tables.faults = [row for row in tables.faults if options.only and row[0] not in options.only]
            measure_faults(options.makespan, folder, options, tables)
    if "week" in parts:
        weeks = [weeks[1], options.jobs, options.processors, options.speed]
    if options.results:
        options.results.write_text(json.dumps({"tables": tables.__dict__, "weeks": weeks}))
    found = text(tables, options, weeks)
    if options.write:
        write(options.write, found)
    else:
        print(found)


if __name__ == "__main__":
    main()
