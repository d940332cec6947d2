"""A Slurm of its own on this machine: 16 nodes of 8 processors that are not there, without accounts."""

import os
import socket
import subprocess
import time
from pathlib import Path

CONFIGURATION = """ClusterName=sim
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/pid/slurmctld
SlurmdPidFile={folder}/pid/slurmd.%n
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/log/jobcomp.txt
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1,bf_resolution=1,default_queue_depth=1000
ReturnToService=2
KillWait=2
TreeWidth=128
NodeName=n[0-{last}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{final}] CPUs={processors} RealMemory=65536
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Cluster:
    """Daemons in a folder, from `start` to `stop`."""

    def __init__(self, folder, nodes, processors, port=28817):
        self.folder, self.nodes = Path(folder).absolute(), nodes
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"), TZ="UTC")
        for name in ["state", "log", "pid", "munge"]:
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for name in ["", "munge"]:
            (self.folder / name).chmod(0o755)
        key = self.folder / "munge/key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        values = {
            "host": socket.gethostname().split(".")[0],
            "port": port,
            "user": subprocess.check_output(["id", "-un"], text=True).strip(),
            "folder": self.folder,
            "last": nodes - 1,
            "first": port + 200,
            "final": port + 199 + nodes,
            "processors": processors,
        }
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(**values))

    def run(self, *command):
        """What a command prints, as seen in this cluster."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def start(self):
        """Starts the daemons and waits until all nodes are idle."""
        munge = self.folder / "munge"
        self.run(
            "munged", "--force", f"--key-file={munge}/key", f"--socket={munge}/sock", f"--pid-file={munge}/pid",
            f"--log-file={munge}/log", f"--seed-file={munge}/seed",
        )
        configuration = self.environment["SLURM_CONF"]
        self.run("slurmctld", "-f", configuration)
        for node in range(self.nodes):
            self.run("slurmd", "-N", f"n{node}", "-f", configuration)
        for _ in range(600):
            idle = self.run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split()
            if len(idle) == self.nodes:
                return
            time.sleep(0.1)
        raise SystemExit("the nodes are not ready after a minute; see " + str(self.folder / "log"))

    def stop(self):
        """Ends the daemons that were started here, munged last."""
        files = [*(self.folder / "pid").iterdir(), self.folder / "munge/pid"]
        for file in files:
            if file.exists():
                subprocess.run(["kill", file.read_text().strip()], check=False)
                time.sleep(0.05)
