"""HyperQueue on so many equal tasks: prints the seconds from the submission to the last end, without the start of its server."""

import sys
import time

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig


def main():
    tasks, cores, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    with LocalCluster() as cluster:
        cluster.start_worker(WorkerConfig(cores=cores))
        client = cluster.client()
        begun = time.monotonic()
        job = Job()
        for _ in range(tasks):
            job.program(command, stdout=None, stderr=None)
        client.wait_for_jobs([client.submit(job)])
        print("seconds", time.monotonic() - begun)


main()
