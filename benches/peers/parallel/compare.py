"""Wall and CPU time of many short tasks under xargs -P, GNU parallel, HyperQueue and makespan, whose outputs are printed."""

import argparse
import csv
import os
import pathlib
import resource
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
    parser.add_argument("--tasks", default="1000", help="numbers of tasks (default: %(default)s)")
    parser.add_argument("--command", default="true", help="the shell command of a task (default: %(default)s)")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="(default: all that there are)")
    parser.add_argument("--repetitions", type=int, default=3, help="the tools take turns (default: %(default)s)")
    parser.add_argument("--policy", help="of makespan (default: its own)")
    parser.add_argument("--tools", default="xargs,xargs-sh,parallel,hq,makespan", help="which (default: %(default)s)")
    return parser.parse_args()


class Tools:
    """The command lines of the tools for a number of tasks."""

    def __init__(self, options):
        self.options = options

    def xargs(self, tasks, _folder):
        """Starts the words of the command without a shell."""
        command = f"xargs -P {self.options.cores} -I '{{}}' {self.options.command}"
        return ["sh", "-c", f"seq {tasks} | {command}"]

    def xargs_sh(self, tasks, _folder):
        """Starts a shell for each task, as the other tools do."""
        command = f"xargs -P {self.options.cores} -I '{{}}' sh -c '{{}}'"
        return ["sh", "-c", f"yes '{self.options.command}' | head -n {tasks} | {command}"]

    def parallel(self, tasks, _folder):
        # `-N0` takes an argument from the list and adds none to the command.
        command = f"{self.options.parallel} --will-cite -N0 -j {self.options.cores} {self.options.command}"
        return ["sh", "-c", f"seq {tasks} | {command}"]

    def hq(self, tasks, _folder):
        program = str(pathlib.Path(__file__).with_name("hq.py"))
        return [self.options.python, program, str(tasks), str(self.options.cores), "sh", "-c", self.options.command]

    def makespan(self, tasks, folder):
        (folder / "list.txt").write_text(f"{self.options.command}\n" * tasks)
        policy = ["--policy", self.options.policy] if self.options.policy else []
        limits = ["--processors", str(self.options.cores), "--oversubscribe", "--no-history"]
        return [self.options.makespan, "run", str(folder / "list.txt"), *policy, *limits, "--folder", str(folder / "run")]


def cpu():
    """Returns the CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(command):
    """Returns wall and CPU seconds of a command."""
    before, begun = cpu(), time.monotonic()
    run = subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    wall = time.monotonic() - begun
    # The start of the server and the worker of HyperQueue counts for nothing in wall time.
    own = [line.split()[1] for line in run.stdout.splitlines() if line.startswith("seconds ")]
    return (float(own[0]) if own else wall), cpu() - before


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
        times = {name: [] for name in names}
        # The folders stay until the end: ext4 is slow where files were removed a moment ago.
        with tempfile.TemporaryDirectory(dir=options.output) as place:
            # The tools take turns, so that other work on the machine slows all of them.
            for round in range(options.repetitions):
                for name in names:
                    folder = pathlib.Path(place) / f"{name}-{round}"
                    folder.mkdir()
                    times[name].append(measured(getattr(tools, name.replace("-", "_"))(tasks, folder)))
        for name in names:
            walls, cpus = zip(*times[name])
            rows.append([tasks, name, *(1000 * statistics.median(of) / tasks for of in (walls, cpus)), 1000 * min(walls) / tasks, 1000 * min(cpus) / tasks])
    heading = ["tasks", "tool", "wall ms a task", "CPU ms a task", "least wall", "least CPU"]
    print(" | ".join(heading))
    for row in rows:
        print(" | ".join(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row))
    with open(options.output / "overhead.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heading)
        writer.writerows(rows)


main()
