"""Measures how often jobs start within the ranges that the service states. Jobs arrive at random for some time, with wrong
expected run times and a quota, while a thread asks for the ranges of waiting jobs, first of new ones."""

import argparse
import json
import pathlib
import random
import tempfile
import threading
import time
from http.client import HTTPException

from service import Refused, Service, command

# Tolerance for the comparison of a start with a range, in seconds.
TOLERANCE = 0.05


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--makespan", required=True, help="the program")
    parser.add_argument("--seconds", type=float, default=120, help="the time in which jobs arrive")
    options = parser.parse_args()
    draw = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="makespan-coverage-") as folder:
        store = pathlib.Path(folder) / "store"
        with Service(str(pathlib.Path(options.makespan).resolve()), store, ["--processors", "4", "--oversubscribe"]) as service:
            client = service.client()
            client.ask("PATCH", "/api/v1/users/root", {"most_processors": 3})
            answers, done = [], threading.Event()

            def ask():
                own, picks, asked = service.client(), random.Random(2), set()
                while not done.is_set():
                    try:
                        waiting = own.get("/jobs?state=waiting&limit=200")["items"]
                        if waiting:
                            waiting = [job["number"] for job in waiting]
                            job = picks.choice([job for job in waiting if job not in asked] or waiting)
                            asked.add(job)
                            why = own.get(f"/jobs/{job}/explain")
                            if why["early"] is not None:
                                answers.append((job, why["early"], why["late"], why.get("calibrated", False)))
                    except (OSError, HTTPException, ValueError, Refused):
                        pass
                    time.sleep(0.1)

            asker = threading.Thread(target=ask)
            asker.start()
            end, jobs = time.monotonic() + options.seconds, []
            while time.monotonic() < end:
                length = draw.uniform(0.1, 1.1)
                needs = {"time": length * draw.lognormvariate(0.0, 0.5), "processors": draw.choice((1, 1, 2))}
                jobs += client.submit(command(f"sleep {length:.2f}", needs))
                # The load is about 85 % of three processors.
                time.sleep(draw.expovariate(1 / 0.32))
            client.wait_for_all(600)
            done.set()
            asker.join()
            starts = {job: client.get(f"/jobs/{job}")["started"] for job in jobs}
    held = [(early - TOLERANCE <= starts[job] <= late + TOLERANCE, late - early, is_calibrated) for job, early, late, is_calibrated in answers]
    calibrated = {job: at for at, (job, _, _, is_calibrated) in reversed(list(enumerate(answers))) if is_calibrated}
    first = [held[at] for at in calibrated.values()]
    print("| answers | number | starts within the range | mean width |\n|---|---|---|---|")
    for name, some in (("all", held), ("calibrated", [one for one in held if one[2]]), ("first calibrated one of each job", first)):
        if some:
            print(f"| {name} | {len(some)} | {100 * sum(one[0] for one in some) / len(some):.0f} % | {sum(one[1] for one in some) / len(some):.2f} s |")
    print(json.dumps({"jobs": len(jobs), "answers": len(held)}))


if __name__ == "__main__":
    main()
