"""Wall times of test suites under modes of pytest-xdist, and the longest shards of pytest-split and Makespan."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from replay import replay

HERE = pathlib.Path(__file__).parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--suites", "--sources", "--output"):
        parser.add_argument(name, required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="comma-separated packages (default: all)")
    parser.add_argument("--modes", default="loadscope,worksteal,makespan,makespan-split", help="values of --dist, and makespan-split (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="(default: %(default)s)")
    parser.add_argument("--runs", type=int, default=2, help="runs of each mode; the modes take turns (default: %(default)s)")
    parser.add_argument("--replay", default="2,4,8,16", help="numbers of simulated workers (default: %(default)s)")
    parser.add_argument("--shards", type=int, default=4, help="(default: %(default)s)")
    return parser.parse_args()


class Suite:
    """The tests of one package."""

    def __init__(self, package, tests, options):
        self.name = package.partition("==")[0]
        folder = package.replace("-", "_").replace("==", "-")
        self.folder = options.sources / folder
        self.tests = tests
        self.output = options.output / self.name
        shutil.rmtree(self.output, ignore_errors=True)
        self.output.mkdir(parents=True)

    def pytest(self, *words):
        """Runs pytest. Returns the record of the run and the wall time."""
        record = self.output / "record.json"
        record.unlink(missing_ok=True)
        environment = {**os.environ, "RECORD": str(record), "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "recorder", *words, self.tests]
        start = time.monotonic()
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        wall = time.monotonic() - start
        # Status 1: tests have failed. Status 5: a shard is empty.
        if not record.exists() or done.returncode not in (0, 1, 5):
            output = done.stdout[-3000:] + done.stderr[-3000:]
            sys.exit(f"{' '.join(command)} in {self.folder} ended with status {done.returncode}:\n{output}")
        return json.loads(record.read_text()), wall

    def run(self, mode, workers):
        dist = ("--dist", "makespan", "--makespan-split") if mode == "makespan-split" else ("--dist", mode)
        words = ("-n", str(workers), *dist, "-o", f"cache_dir={self.output / mode}")
        return self.pytest(*words)


def compare_modes(suite, options):
    """Runs the suite in all modes. Prints the wall times, and returns the record of the first run."""
    modes = options.modes.split(",")
    walls = {mode: [] for mode in modes}
    first = None
    for _ in range(options.runs):
        for mode in modes:
            record, wall = suite.run(mode, options.workers)
            walls[mode].append(wall)
            print(f"  {suite.name}, {mode}: {wall:.1f} s", file=sys.stderr, flush=True)
            first = first or record
            different = {
                test: (first["outcomes"].get(test), record["outcomes"].get(test))
                for test in first["outcomes"].keys() | record["outcomes"].keys()
                if first["outcomes"].get(test) != record["outcomes"].get(test)
            }
            if different:
                print(f"DIFFERENT OUTCOMES with {mode}: {different}")
    tests, total = len(first["outcomes"]), sum(first["seconds"].values())
    row = " | ".join(", ".join(f"{wall:.1f}" for wall in walls[mode]) for mode in modes)
    print(f"| {suite.name}, {tests} tests, {total:.0f} s | {row} |", flush=True)
    return first


def compare_shards(suite, record, count):
    """Prints for each tool the sum of the run times in its longest shard, and the shortest possible sum."""
    seconds = record["seconds"]
    ours, theirs = suite.output / "times.json", suite.output / "durations.json"
    ours.write_text(json.dumps({"makespan-times": 1, "tests": {test: [1, round(time, 6)] for test, time in seconds.items()}}))
    theirs.write_text(json.dumps(seconds))
    split = ("--splits", str(count), "--durations-path", str(theirs), "--splitting-algorithm")
    tools = {
        "pytest-split, chunks": lambda number: (*split, "duration_based_chunks", "--group", str(number)),
        "pytest-split, least duration": lambda number: (*split, "least_duration", "--group", str(number)),
        "makespan": lambda number: ("--makespan-shard", f"{number}/{count}", "--makespan-times", str(ours)),
    }
    longest = []
    for name, words in tools.items():
        selected = [suite.pytest("--collect-only", "-p", "no:cacheprovider", *words(number))[0]["selected"] for number in range(1, count + 1)]
        found = sorted(test for shard in selected for test in shard)
        if found != sorted(seconds):
            sys.exit(f"{suite.name}: the shards of {name} contain {len(found)} tests, but the suite has {len(seconds)}")
        longest.append(max(sum(seconds[test] for test in shard) for shard in selected))
    best = max(sum(seconds.values()) / count, max(seconds.values()))
    print(f"| {suite.name} | {best:.2f} | {' | '.join(f'{one:.2f}' for one in longest)} |", flush=True)


def compare_replays(suite, record, options):
    """Prints the makespan of each mode with simulated workers, and a lower bound."""
    collected, _ = suite.pytest("--collect-only", "-p", "no:cacheprovider")
    tests = collected["selected"]
    seconds = {test: record["seconds"].get(test, 0.0) for test in tests}
    total, longest = sum(seconds.values()), max(seconds.values())
    for workers in map(int, options.replay.split(",")):
        best = max(total / workers, longest)
        makespans = [replay(mode, tests, collected.get(mode), seconds, workers) for mode in options.modes.split(",")]
        print(f"| {suite.name}, {workers} | {best:.1f} | {' | '.join(f'{one:.1f}' for one in makespans)} |", flush=True)


def main():
    options = arguments()
    lines = [line.split() for line in options.suites.read_text().splitlines() if line and not line.startswith("#")]
    only = options.only.split(",") if options.only else []
    suites = [Suite(package, tests, options) for package, tests in lines if not only or package.partition("==")[0] in only]
    modes = options.modes.split(",")
    print(f"Wall time in s of run 1 to {options.runs} with {options.workers} workers:\n")
    print(f"| suite | {' | '.join(modes)} |\n|---{'|---' * len(modes)}|")
    records = [compare_modes(suite, options) for suite in suites]
    print(f"\nMakespan in s with simulated workers and the recorded run times:\n\n| suite, workers | lower bound | {' | '.join(modes)} |")
    print(f"|---|---{'|---' * len(modes)}|")
    for suite, record in zip(suites, records, strict=True):
        compare_replays(suite, record, options)
    print(f"\nSum of the run times in the longest of {options.shards} shards, in s:\n")
    print("| suite | lower bound | pytest-split, chunks | pytest-split, least duration | makespan |\n|---|---|---|---|---|")
    for suite, record in zip(suites, records, strict=True):
        compare_shards(suite, record, options.shards)


main()
