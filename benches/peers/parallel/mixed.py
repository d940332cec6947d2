"""A list of commands of mixed times, some of which can use several cores, under makespan and GNU parallel.

Nobody is told how long a command takes. makespan runs the list three times with one history; GNU parallel runs it with each -j, with every command
on one core and with those that can on more.

Commands compute on the cores that there are. With --sleep they sleep instead, as long as they would compute on --cores cores of which the machine
need not have so many, by Amdahl's law with a tenth that is sequential; GNU parallel then has no more cores in use at once than that."""

import argparse
import csv
import math
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

# The part of a sleeping task that no core makes shorter.
SEQUENTIAL = 0.1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--makespan", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--parallel", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--python", default="", help=argparse.SUPPRESS)
    parser.add_argument("--output", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--tasks", type=int, default=60, help="(default: %(default)s)")
    parser.add_argument("--work", type=float, default=30, help="seconds of all tasks on one core (default: %(default)s)")
    parser.add_argument("--sigma", type=float, default=1.5, help="of the logarithms of the times (default: %(default)s)")
    parser.add_argument("--wide", type=float, default=0.33, help="the part that can use all cores (default: %(default)s)")
    parser.add_argument("--seeds", default="1,2,3", help="(default: %(default)s)")
    parser.add_argument("--sleep", action="store_true", help="sleep instead of computing")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="(default: all that there are)")
    return parser.parse_args()


def drawn(options, seed, per_second):
    """Numbers of terms, and whether each may have all cores."""
    draw = random.Random(seed)
    sizes = [math.exp(draw.gauss(0, options.sigma)) for _ in range(options.tasks)]
    scale = options.work * per_second / sum(sizes)
    return [(size * scale, draw.random() < options.wide) for size in sizes]


class Compute:
    """Commands that keep cores busy."""

    def __init__(self, options):
        self.program = pathlib.Path(options.makespan).resolve().with_name("crunch")
        self.cores = options.cores
        # What a second is on this machine, at this hour: all take turns after that.
        probe = 200_000_000
        self.per_second = probe / statistics.median(wall(["sh", "-c", self.command(probe, 1)]) for _ in range(3))
        # More tasks than cores may take turns.
        self.ways = [(jobs, threads) for jobs in range(1, 2 * self.cores + 1) for threads in {1, self.cores}]

    def command(self, size, threads):
        return f"{self.program} pi --terms {max(1, round(size))} --threads {threads}"


class Sleep:
    """Commands that take as long as if they had cores."""

    per_second = 1.0

    def __init__(self, options):
        self.cores = options.cores
        widths = [width for width in range(1, self.cores + 1) if self.cores % width == 0]
        self.ways = [(self.cores // width, width) for width in widths]

    def command(self, size, threads):
        def time(count):
            return f"{size * (SEQUENTIAL + (1 - SEQUENTIAL) / count):.4f}"

        if threads != "{processors}":
            return f"sleep {time(threads)}"
        cases = " ".join(f"{count}) sleep {time(count)};;" for count in range(1, self.cores + 1))
        return f"case {{processors}} in {cases} esac"


def wall(command, **options):
    begun = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)
    return time.monotonic() - begun


def by_parallel(options, kind, tasks, jobs, threads):
    lines = "".join(kind.command(size, threads if wide else 1) + "\n" for size, wide in tasks)
    return wall([options.parallel, "--will-cite", "-j", str(jobs)], input=lines, text=True)


def by_makespan(options, kind, tasks, folder):
    """Three runs with one history, which is empty at first."""
    note = f"#: cores=1-{kind.cores}\n"
    lines = "".join((note if wide else "") + kind.command(size, "{processors}") + "\n" for size, wide in tasks)
    (folder / "list.txt").write_text(lines)
    command = [options.makespan, "run", "list.txt", "--quiet", "--history", "history.sqlite"]
    command += ["--processors", str(kind.cores), "--oversubscribe"] if options.sleep else []
    return [wall(command, cwd=folder) for _ in range(3)]


def main():
    options = arguments()
    options.makespan = pathlib.Path(options.makespan).resolve()
    kind = (Sleep if options.sleep else Compute)(options)
    options.output.mkdir(parents=True, exist_ok=True)
    heading = ["seed", "parallel best s", "-j", "threads", "makespan 1st s", "2nd s", "3rd s", "2nd / parallel"]
    rows = []
    for seed in map(int, options.seeds.split(",")):
        tasks = drawn(options, seed, kind.per_second)
        walls = {way: by_parallel(options, kind, tasks, *way) for way in kind.ways}
        best = min(kind.ways, key=walls.get)
        with tempfile.TemporaryDirectory(dir=options.output) as folder:
            own = by_makespan(options, kind, tasks, pathlib.Path(folder))
        rows.append([seed, walls[best], *best, *own, own[1] / walls[best]])
        print(dict(zip(heading, [f"{cell:.3g}" for cell in rows[-1]])), flush=True)
    print(f"mean of 2nd / parallel: {statistics.mean(row[-1] for row in rows):.3f}")
    with open(options.output / "mixed.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heading)
        writer.writerows(rows)


main()
