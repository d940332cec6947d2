"""Moldable jobs as a model of PyJobShop, solved by it and by makespan; prints a line of JSON. Run by the interpreter that has both."""

import argparse
import json
import time

import makespan as m
import pyjobshop
from makespan.adapters import from_pyjobshop


def main():
    options = arguments()
    model = drawn(options.jobs, options.processors)
    begin = time.perf_counter()
    theirs = model.solve(solver="ortools", time_limit=options.seconds, display=False, num_workers=options.workers)
    spent = time.perf_counter() - begin
    begin = time.perf_counter()
    plan = m.plan(from_pyjobshop(model), objective="makespan", time_limit=options.seconds / 10)
    ours = time.perf_counter() - begin
    plan.verify()
    figures = {"value": theirs.objective, "bound": theirs.lower_bound, "seconds": spent}
    own = {"value": plan.makespan, "bound": plan.bounds["makespan"].value, "seconds": ours}
    print(json.dumps({"pyjobshop": figures, "makespan": own}))


def drawn(jobs, processors):
    """Jobs of the family `mixed`, whole seconds, with a mode for each allotment that is faster than the ones before."""
    model = pyjobshop.Model()
    machine = model.add_renewable(capacity=processors, name="cores")
    for task in m.generate.moldable(jobs=jobs, processors=processors, family="mixed", seed=1).tasks:
        made, last = model.add_task(name=task.name), None
        for count in task.allotments:
            duration = max(1, round(100 * task.time(count)))
            if duration != last:
                model.add_mode(made, machine, duration, demands=count)
            last = duration
    return model


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--processors", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
