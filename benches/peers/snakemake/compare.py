"""Decisions of Snakemake's schedulers: their times with many ready jobs, and makespans of simulated workflows."""

import argparse
import heapq
import logging
import random
import sys
import time
from types import SimpleNamespace

import snakemake_scheduler_plugin_makespan
from snakemake.scheduling import greedy, milp

MODULES = {"greedy": greedy, "ilp": milp, "makespan": snakemake_scheduler_plugin_makespan}


class Job:
    """A job as Snakemake passes it to a scheduler."""

    input = ()
    priority = 0

    def __init__(self, number, seconds, cores, memory, needs):
        self.name = f"rule{number % 7}"
        self.output = [f"out{number:06}"]
        self.seconds = seconds
        self.needs = needs
        self.scheduler_resources = {"_cores": cores, "mem_mb": memory, "_job_count": 1}

    def is_group(self):
        return False


class Workflow:
    """The DAG of Snakemake with simulated jobs. Snakemake's records contain the run time of each job, times a random error."""

    def __init__(self, jobs, error, seed):
        rng = random.Random(seed)
        self.jobs = jobs
        records = {job.output[0]: SimpleNamespace(starttime=0.0, endtime=job.seconds * rng.uniform(1 - error, 1 + error)) for job in jobs}
        self.workflow = SimpleNamespace(persistence=SimpleNamespace(metadata=records.get))

    def job_dependencies(self, job):
        return job.needs


def scheduler(name, workflow):
    settings = MODULES[name].SchedulerSettings() if hasattr(MODULES[name], "SchedulerSettings") else None
    return MODULES[name].Scheduler(workflow, settings, logging.getLogger("schedulers"))


def draw(count, layers, seed):
    """Draws a workflow of `layers` layers. A job needs up to two jobs of the previous layer. Run times are skewed (log-normal)."""
    rng = random.Random(seed)
    jobs, previous = [], []
    for layer in range(layers):
        current = []
        for _ in range(count // layers):
            needs = rng.sample(previous, min(len(previous), rng.randint(1, 2)))
            cores, memory = rng.choice([1, 1, 1, 2, 4]), rng.choice([500, 1000, 4000])
            current.append(Job(len(jobs) + len(current), rng.lognormvariate(2, 1), cores, memory, needs))
        jobs += current
        previous = current
    return jobs


def simulate(name, jobs, capacity, options):
    """Runs a workflow with one scheduler in virtual time. Returns the makespan, and the number of decisions of a fallback."""
    workflow = Workflow(jobs, options.error, options.seed)
    chosen, fallback = scheduler(name, workflow), scheduler("greedy", workflow)
    free, running, done, now, fallbacks = dict(capacity), [], set(), 0.0, 0
    remaining = list(jobs)
    while remaining or running:
        ready = [job for job in remaining if all(need in done for need in job.needs)]
        if ready and free["_cores"] > 0:
            selected = chosen.select_jobs(ready, remaining, free, {})
            if selected is None:
                # Snakemake does this if a scheduler fails.
                selected, fallbacks = fallback.select_jobs(ready, remaining, free, {}), fallbacks + 1
            for job in selected:
                for resource, amount in job.scheduler_resources.items():
                    free[resource] -= amount
                    assert free[resource] >= 0, f"{name} exceeds {resource}"
                heapq.heappush(running, (now + job.seconds, job.output[0], job))
            taken = set(selected)
            remaining = [job for job in remaining if job not in taken]
        now, _, ended = heapq.heappop(running)
        done.add(ended)
        for resource, amount in ended.scheduler_resources.items():
            free[resource] += amount
    return now, fallbacks


def bound(jobs, capacity):
    """Returns a lower bound of the makespan: the longest chain, or the work divided by the capacity."""
    ends = {}
    for job in jobs:
        ends[job] = job.seconds + max((ends[need] for need in job.needs), default=0.0)
    areas = [sum(job.seconds * job.scheduler_resources[name] for job in jobs) / capacity[name] for name in ("_cores", "mem_mb")]
    return max(*areas, max(ends.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ready", type=int, default=20_000, help="ready jobs of the timed decision (default: %(default)s)")
    parser.add_argument("--jobs", default="200,2000", help="jobs of the simulated workflows (default: %(default)s)")
    parser.add_argument("--layers", type=int, default=8, help="(default: %(default)s)")
    parser.add_argument("--cores", type=int, default=16, help="(default: %(default)s)")
    parser.add_argument("--memory", type=int, default=32_000, help="in MB (default: %(default)s)")
    parser.add_argument("--error", type=float, default=0.2, help="largest relative error of recorded times (default: %(default)s)")
    parser.add_argument("--ilp-jobs", type=int, default=200, help="simulate ilp for at most this number of jobs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    options = parser.parse_args()
    capacity = {"_cores": options.cores, "mem_mb": options.memory, "_job_count": sys.maxsize}

    print(f"One decision with {options.ready} ready jobs:\n\n| scheduler | first, s | second, s | selected jobs |\n|---|---|---|---|")
    jobs = draw(options.ready, 1, options.seed)
    for name in MODULES:
        chosen, times = scheduler(name, Workflow(jobs, options.error, options.seed)), []
        for _ in range(2):
            start = time.perf_counter()
            selected = chosen.select_jobs(jobs, jobs, dict(capacity), {})
            times.append(time.perf_counter() - start)
        print(f"| {name} | {times[0]:.2f} | {times[1]:.2f} | {'none: fallback to greedy' if selected is None else len(selected)} |", flush=True)

    print("\nSimulated makespan divided by a lower bound:\n\n| jobs | greedy | ilp | makespan |\n|---|---|---|---|")
    for count in map(int, options.jobs.split(",")):
        jobs, cells = draw(count, options.layers, options.seed), []
        for name in MODULES:
            if name == "ilp" and count > options.ilp_jobs:
                cells.append("not run")
                continue
            makespan, fallbacks = simulate(name, jobs, capacity, options)
            cells.append(f"{makespan / bound(jobs, capacity):.3f}" + (f" ({fallbacks} fallbacks)" if fallbacks else ""))
        print(f"| {count} | {' | '.join(cells)} |", flush=True)


main()
