"""The same trees under the same rules in SimGrid and in makespan: speed, and whether the same tasks end where."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", default="10,50,100", help="sizes of the trees")
    parser.add_argument("--tasks", type=int, default=20000, help="tasks of the one application")
    parser.add_argument("--ratio", type=float, default=0.002, help="bytes an operation")
    parser.add_argument("--seeds", default="1,2,3", help="trees of each size")
    parser.add_argument("--buffer", type=int, default=10, help="tasks that wait at a node")
    parser.add_argument("--makespan", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--peer", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, required=True, help="folder for the trees")
    return parser.parse_args()


def run(command, text=None):
    begin = time.perf_counter()
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout, seconds


def as_text(tree, buffer):
    """What the peer reads. `generate tree` writes parents before their children."""
    nodes, job = tree["platform"]["nodes"], tree["jobs"][0]
    places = {node["name"]: place for place, node in enumerate(nodes)}
    lines = [f"{buffer} {job['data']} {job.get('work', job.get('time'))} {job['count']} {len(nodes)}"]
    for node in nodes:
        parent = places[node["parent"]] if "parent" in node else -1
        lines.append(f"{parent} {node['speed']} {node.get('bandwidth', 1)}")
    return "\n".join(lines) + "\n"


def main():
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    print(f"{'nodes':>6}{'seed':>5}{'hops':>9}{'SimGrid s':>11}{'makespan s':>12}{'ratio':>8}"
          f"{'end SimGrid':>14}{'end makespan':>14}{'counts that differ':>20}")
    total = [0.0, 0.0]
    agreed = tasks_apart = 0
    for size in options.nodes.split(","):
        for seed in options.seeds.split(","):
            path = options.output / f"tree-{size}-{seed}.json"
            run([options.makespan, "generate", "tree", "--nodes", size, "--seed", seed, "--applications", "1",
                 "--largest-ratio", str(options.ratio), "--tasks", str(options.tasks), "--output", path])
            tree = json.loads(path.read_text())
            theirs, their_process = run([options.peer], as_text(tree, options.buffer))
            lines = theirs.split()
            their_end, their_counts, their_seconds = float(lines[0]), list(map(int, lines[1:-1])), float(lines[-1])
            ours, our_process = run([options.makespan, "simulate", path, "--policy", "cgbc", "--format", "json",
                                     "--buffer", str(options.buffer)])
            policy = json.loads(ours)["policies"][0]
            by_name = {node["name"]: node["computed"][0] for node in policy["nodes"]}
            our_counts = [by_name[node["name"]] for node in tree["platform"]["nodes"]]
            differ = [abs(a - b) for a, b in zip(their_counts, our_counts) if a != b]
            # Whole processes: of ours the reading and the proved bound are part, of theirs the platform.
            total[0] += their_process
            total[1] += our_process
            agreed += not differ
            tasks_apart = max(tasks_apart, max(differ, default=0))
            del their_seconds
            print(f"{size:>6}{seed:>5}{policy['hops']:>9}{their_process:>11.3f}{our_process:>12.3f}"
                  f"{their_process / our_process:>8.1f}{their_end:>14.6f}{policy['end']:>14.6f}"
                  f"{f'{len(differ)} of {size}, by {max(differ, default=0)}':>20}")
    print(f"\nall: SimGrid {total[0]:.2f} s, makespan {total[1]:.2f} s, ratio {total[0] / total[1]:.1f}; "
          f"{agreed} trees with the same counts on every node, otherwise at most {tasks_apart} tasks apart")


if __name__ == "__main__":
    main()
