"""Compares defaults for jobs that state no cores: pinned, not pinned, not pinned with a limited number of threads.

In each round, each default runs each list twice, in turn, so that other work on the machine disturbs all of them alike: once without
a history, in the order of the list, and once with a history of its own, which the earlier rounds have taught.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

CORES = len(os.sched_getaffinity(0))
DEFAULTS = {"pinned": ["--pin"], "unpinned": [], "threads": []}
MEMORY = "import sys; b = bytearray(1 << 27); [bytes(b) for _ in range(int(sys.argv[1]))]"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--makespan", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--crunch", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=6, help="(default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of one unit of work on one core (default: %(default)s)")
    parser.add_argument("--kinds", default="one-core,eight-thread,memory-bound,one job", help="of jobs (default: %(default)s)")
    return parser.parse_args()


def shortest(command):
    """Returns the shortest of three run times in seconds."""
    times = []
    for _ in range(3):
        begin = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.monotonic() - begin)
    return min(times)


def lists(options):
    """Returns the commands of each kind of job: units of work differ, so that the order of starts matters."""
    probe = 20_000_000
    terms = int(probe * options.seconds / shortest([options.crunch, "pi", "--terms", str(probe), "--threads", "1"]))
    copies = 4
    unit = shortest(["python3", "-c", MEMORY, str(copies)]) - shortest(["python3", "-c", MEMORY, "0"])
    copies = max(1, round(copies * options.seconds / max(unit, 1e-3)))
    work = [1, 1, 1, 2, 2, 3, 4]
    pi = lambda units, threads: f"{options.crunch} pi --terms {units * terms} --threads {threads}"
    kinds = {
        "one-core": [pi(units, 1) for units in work],
        "eight-thread": [pi(units, "${OMP_NUM_THREADS:-8}") for units in work],
        "memory-bound": [f"python3 -c '{MEMORY}' {units * copies}" for units in work],
        "one job": [pi(4, "${OMP_NUM_THREADS:-8}")],
    }
    return {name: commands for name, commands in kinds.items() if name in options.kinds.split(",")}


def run(options, name, default, commands, folder, number, learns):
    """Runs a list once. Returns its makespan and its planned makespan in seconds."""
    path = folder / f"{name}.txt"
    path.write_text("".join(command + "\n" for command in commands))
    results = folder / f"{default}-{name}-{number}-{learns}"
    words = [options.makespan, "run", str(path), *DEFAULTS[default], "--quiet", "--folder", str(results)]
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    if default == "threads":
        environment["OMP_NUM_THREADS"] = str(max(1, CORES // min(CORES, len(commands))))
    words += ["--history", str(folder / f"{default}.sqlite")] if learns else ["--no-history"]
    said = subprocess.run(words, check=True, text=True, capture_output=True, env=environment)
    text = said.stdout + said.stderr
    return [float(re.search(rf" {key}=([\d.]+)", text).group(1)) for key in ("makespan", "planned")]


def spread(options, folder, default, commands):
    """Returns the standard deviation of the times of a command over their mean: the mean over all commands."""
    words = [options.makespan, "history", "--history", str(folder / f"{default}.sqlite"), "--format", "json"]
    records = json.loads(subprocess.run(words, check=True, text=True, capture_output=True).stdout)["records"]
    spreads = []
    for command in set(commands):
        times = [record["wall"] for record in records if record["command"] == command]
        spreads.append(statistics.stdev(times) / statistics.mean(times))
    return statistics.mean(spreads)


def main():
    options = arguments()
    kinds = lists(options)
    results = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for number in range(options.rounds):
            for name, commands in kinds.items():
                for learns in (False, True):
                    for default in DEFAULTS:
                        row = run(options, name, default, commands, folder, number, learns)
                        results.setdefault((name, default, learns), []).append(row)
        print(f"{CORES} cores, {options.rounds} rounds, load {os.getloadavg()[0]:.1f}; medians, and in brackets the shortest")
        print(f"{'jobs':14}{'default':10}{'first run (s)':>16}{'later runs (s)':>16}{'spread of times':>17}{'actual / planned':>18}")
        for name, default in ((name, default) for name in kinds for default in DEFAULTS):
            first, later = (results[name, default, learns] for learns in (False, True))
            shown = lambda rows: f"{statistics.median(row[0] for row in rows):.2f} ({min(row[0] for row in rows):.2f})"
            # The plan of the round that begins the history is made of guesses.
            ratio = statistics.median(actual / planned for actual, planned in later[1:])
            apart = spread(options, folder, default, kinds[name])
            print(f"{name:14}{default:10}{shown(first):>16}{shown(later):>16}{100 * apart:15.0f} %{ratio:18.2f}")


if __name__ == "__main__":
    main()
