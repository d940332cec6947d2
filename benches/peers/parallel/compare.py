"""Times of many short tasks under makespan, xargs -P, GNU parallel and HyperQueue."""

import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import tempfile
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--makespan", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--parallel", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--python", default="", help=argparse.SUPPRESS)
    parser.add_argument("--output", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--tasks", default="1000,10000", help="numbers of tasks (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.01, help="what a task sleeps (default: %(default)s)")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="(default: all that there are)")
    parser.add_argument("--repetitions", type=int, default=3, help="the tools take turns (default: %(default)s)")
    parser.add_argument("--policy", default="fcfs", help="of makespan (default: %(default)s)")
    parser.add_argument("--tools", default="xargs,parallel,hq,makespan", help="which (default: %(default)s)")
    return parser.parse_args()


class Tools:
    """How each tool runs so many tasks on so many cores; each returns what it is to be called with."""

    def __init__(self, options):
        self.options = options

    def sleep(self):
        return ["sleep", str(self.options.seconds)]

    def xargs(self, tasks, _folder):
        return ["sh", "-c", f"seq {tasks} | xargs -P {self.options.cores} -I '{{}}' {' '.join(self.sleep())}"]

    def parallel(self, tasks, _folder):
        # `-N0` takes an argument from the list and adds none to the command.
        command = f"{self.options.parallel} --will-cite -N0 -j {self.options.cores} {' '.join(self.sleep())}"
        return ["sh", "-c", f"seq {tasks} | {command}"]

    def hq(self, tasks, _folder):
        return [self.options.python, str(pathlib.Path(__file__).with_name("hq.py")), str(tasks), str(self.options.cores), *self.sleep()]

    def makespan(self, tasks, folder):
        instance = folder / "i.toml"
        head = f"version = 1\n[platform]\nprocessors = {self.options.cores}\n"
        words = ", ".join(f'"{word}"' for word in self.sleep())
        job = f'[[jobs]]\nname = "{{}}"\nprocessors = 1\ntime = {self.options.seconds}\ncommand = [{words}]\n'
        instance.write_text(head + "".join(job.format(f"job{number}") for number in range(tasks)))
        policy = ["--policy", self.options.policy, "--quiet", "--oversubscribe"]
        return [self.options.makespan, "run", str(instance), *policy, "--folder", str(folder / "run")]


def main():
    options = arguments()
    tools = Tools(options)
    names = options.tools.split(",")
    if "hq" in names and not options.python:
        print("HyperQueue is left out: pip cannot install it here.")
        names.remove("hq")
    options.output.mkdir(parents=True, exist_ok=True)
    rows = []
    for tasks in map(int, options.tasks.split(",")):
        walls = {name: [] for name in names}
        # In turn, so that what else the machine does meets all of them.
        for _ in range(options.repetitions):
            for name in names:
                with tempfile.TemporaryDirectory(dir=options.output) as folder:
                    command = getattr(tools, name)(tasks, pathlib.Path(folder))
                    begun = time.monotonic()
                    said = subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
                    wall = time.monotonic() - begun
                    # HyperQueue's server and worker are started before, which counts for nothing.
                    own = [line.split()[1] for line in said.stdout.splitlines() if line.startswith("seconds ")]
                    walls[name].append(float(own[0]) if name == "hq" else wall)
        for name in names:
            wall = statistics.median(walls[name])
            overhead = wall * options.cores / tasks - options.seconds
            rows.append([tasks, name, wall, 1000 * overhead, min(walls[name]), max(walls[name])])
    heading = ["tasks", "tool", "wall s", "overhead a task and core ms", "least s", "most s"]
    print(" | ".join(heading))
    for row in rows:
        print(" | ".join(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row))
    with open(options.output / "overhead.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heading)
        writer.writerows(rows)


main()
