"""HyperQueue on equal tasks with workers as large as nodes: prints the seconds from the submission to the last end."""

import sys
import time

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig


def main():
    tasks, workers, cores, command = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    with LocalCluster() as cluster:
        for _ in range(workers):
            cluster.start_worker(WorkerConfig(cores=cores))
        client = cluster.client()
        begun = time.monotonic()
        job = Job()
        for _ in range(tasks):
            job.program(command, stdout=None, stderr=None)
        client.wait_for_jobs([client.submit(job)])
        print("seconds", time.monotonic() - begun)


main()
