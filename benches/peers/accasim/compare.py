"""AccaSim and makespan on the same log under FCFS and EASY: times, mean waits, and the ratio. See ../README.md."""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import log

LINE = "{:<8}{:>10}{:>10}{:>10}{:>10}{:>14}{:>14}{:>9}"


def main():
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    records, processors = log.common(options.log, options.processors, options.jobs)
    if not records:
        raise SystemExit(f"{options.log}: no record can be a job")
    common, system = options.output / "log.swf", options.output / "system.json"
    log.write(common, records, processors)
    # One node with all cores is the form in which AccaSim is fastest; --nodes spreads them.
    nodes = options.nodes
    if processors % nodes:
        raise SystemExit(f"--nodes {nodes} does not divide the {processors} processors")
    groups = {"groups": {"g": {"core": processors // nodes}}, "resources": {"g": nodes}}
    system.write_text(json.dumps({**groups, "equivalence": {"processor": {"core": 1}}, "start_time": 0}))

    print(f"{options.log.name}: {len(records)} jobs on {processors} processors; AccaSim's machine has {nodes} node(s)")
    print("AccaSim's simulation alone, makespan's whole process with reading; the least CPU time of each, ratio of CPU times")
    print(LINE.format("policy", "AccaSim", "(wall)", "makespan", "(wall)", "mean wait", "makespan's", "ratio"))
    for policy in options.policies:
        theirs = best(options.repetitions, lambda: accasim(options, common, system, policy))
        ours = best(options.repetitions, lambda: makespan(options, common, policy))
        print(
            LINE.format(
                policy, f"{theirs['cpu']:.3f}", f"{theirs['wall']:.3f}", f"{ours['cpu']:.3f}", f"{ours['wall']:.3f}",
                f"{theirs['mean_wait']:.1f}", f"{ours['mean_wait']:.1f}", f"{theirs['cpu'] / ours['cpu']:.1f}",
            ),
            flush=True,
        )


def best(repetitions, measure):
    return min((measure() for _ in range(repetitions)), key=lambda outcome: outcome["cpu"])


def accasim(options, common, system, policy):
    words = [sys.executable, "-B", Path(__file__).with_name("peer.py"), common, system, policy, options.output]
    return json.loads(said(words).splitlines()[-1])


def makespan(options, common, policy):
    before, began = spent(), time.perf_counter()
    text = said([options.makespan, "simulate", common, "--policy", policy, "--format", "json"])
    cpu, wall = spent() - before, time.perf_counter() - began
    (measured,) = json.loads(text)["policies"]
    return {"cpu": cpu, "wall": wall, "mean_wait": measured["metrics"]["wait"]["mean"]}


def spent():
    """CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def said(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(str(word) for word in words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def arguments():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("log", type=Path, help="an SWF log, plain, .gz or .bz2")
    parser.add_argument("--jobs", type=int, default=None, help="the first so many jobs only")
    parser.add_argument("--processors", type=int, default=None, help="instead of the header's MaxProcs")
    parser.add_argument("--policies", type=lambda text: text.split(","), default=["fcfs", "easy"], metavar="POLICY,..")
    parser.add_argument("--repetitions", type=int, default=3, help="runs of each; the shortest counts (default 3)")
    parser.add_argument("--nodes", type=int, default=1, help="nodes of AccaSim's machine (default 1)")
    parser.add_argument("--makespan", default="makespan", help="the command")
    parser.add_argument("--output", type=Path, default=Path("."), help="folder for the log and AccaSim's files")
    return parser.parse_args()


if __name__ == "__main__":
    main()
