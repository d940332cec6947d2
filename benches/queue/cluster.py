"""A Slurm of its own on this machine: 16 nodes of 8 processors that are not there, with or without accounts."""

import os
import socket
import subprocess
import time
from pathlib import Path

CONFIGURATION = """ClusterName={name}
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


# The fair share decides the order of jobs. The shares of accounts and of users are equal.
FAIR_SHARE = """AccountingStorageEnforce=associations
PriorityType=priority/multifactor
PriorityWeightFairShare=10000
PriorityWeightAge=100
PriorityDecayHalfLife=00:10:00
PriorityCalcPeriod=00:01:00
"""
DATABASE = """AuthType=auth/munge
AuthInfo=socket={folder}/munge/sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={user}
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/pid/slurmdbd
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser={user}
StorageLoc=slurm_acct_db
"""
# Accounts, and their users. These users exist on every Debian.
ACCOUNTS = {"physics": ["games", "news"], "chemistry": ["mail", "uucp"]}


def completed(file):
    """The fields of each ended job in a file of jobcomp, by the number of the job."""
    lines = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in file.read_text().splitlines()]
    return {fields["JobId"]: fields for fields in lines}


class Cluster:
    """Daemons in a folder, from `start` to `stop`."""

    def __init__(self, folder, nodes, processors, port=28817, name="sim"):
        self.folder, self.nodes = Path(folder).absolute(), nodes
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"), TZ="UTC")
        for part in ["state", "log", "pid", "munge"]:
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        for part in ["", "munge"]:
            (self.folder / part).chmod(0o755)
        key = self.folder / "munge/key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        self.user = subprocess.check_output(["id", "-un"], text=True).strip()
        values = {
            "host": socket.gethostname().split(".")[0],
            "name": name,
            "port": port,
            "user": self.user,
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

    def munge(self):
        """Starts the daemon of munge."""
        munge = self.folder / "munge"
        self.run(
            "munged", "--force", f"--key-file={munge}/key", f"--socket={munge}/sock", f"--pid-file={munge}/pid",
            f"--log-file={munge}/log", f"--seed-file={munge}/seed",
        )

    def start(self):
        """Starts the daemons and waits until all nodes are idle."""
        self.munge()
        self.start_slurm()

    def start_slurm(self):
        """Starts the controller and the nodes, and waits until all nodes are idle."""
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


class FairShareCluster(Cluster):
    """A cluster with accounts in a database. Needs root, mariadb-server and slurmdbd."""

    def __init__(self, folder, nodes, processors, port=28817):
        super().__init__(folder, nodes, processors, port)
        self.port = port + 2
        path = self.folder / "slurm.conf"
        text = path.read_text().replace(
            "accounting_storage/none", f"accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort={self.port}\nAccountingStoragePass={self.folder}/munge/sock"
        )
        path.write_text(text + FAIR_SHARE)

    def start(self):
        """Starts the database, then the other daemons, and makes the accounts."""
        folder, user = self.folder, self.user
        (folder / "db").mkdir()
        self.munge()
        self.run(
            "mariadb-install-db", "--no-defaults", f"--user={user}", f"--datadir={folder}/db", "--skip-test-db",
            "--auth-root-authentication-method=socket",
        )
        socket_path = folder / "db/sock"
        self.background(
            "mariadbd", "--no-defaults", f"--user={user}", f"--datadir={folder}/db", f"--socket={socket_path}", "--skip-networking",
            f"--pid-file={folder}/pid/mariadb", "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900",
        )
        self.until("mariadb-admin", f"--socket={socket_path}", "-u", user, "ping")
        self.run("mariadb", f"--socket={socket_path}", "-u", user, "-e", "create database slurm_acct_db")
        configuration = folder / "slurmdbd.conf"
        configuration.touch(mode=0o600)
        configuration.write_text(DATABASE.format(folder=folder, port=self.port, user=user))
        self.background("slurmdbd", "-D", environment={"MYSQL_UNIX_PORT": str(socket_path), "SLURM_CONF": str(configuration)})
        self.until("sacctmgr", "-n", "show", "cluster")
        for command in [("cluster", "sim")] + [("account", name) for name in ACCOUNTS] + [
            ("user", name, f"account={account}") for account, users in ACCOUNTS.items() for name in users
        ]:
            self.run("sacctmgr", "-i", "add", *command)
        self.start_slurm()

    def background(self, *command, environment=None):
        """Starts a daemon that stays in the foreground."""
        log = open(self.folder / f"log/{command[0]}.out", "w")
        subprocess.Popen(command, env={**self.environment, **(environment or {})}, stdout=log, stderr=log, start_new_session=True)

    def until(self, *command):
        """Waits until a command succeeds."""
        for _ in range(300):
            if subprocess.run(command, env=self.environment, capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        raise SystemExit(f"{' '.join(command)}: fails for half a minute; see {self.folder / 'log'}")
