//! What stands in the `slurm.conf` of a cluster for tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::ports::Ports;

/// A node of a cluster for tests.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    pub name: String,
    pub cpus: u32,
    /// MiB of memory.
    pub memory: u64,
    /// More words of its line, such as `Feature=fast`.
    pub words: String,
}

impl NodeSpec {
    /// Nodes `n0`, `n1` .. of so many processors, with 64 GiB each.
    pub fn equal(count: usize, cpus: u32) -> Vec<Self> {
        (0..count).map(|node| Self::new(&format!("n{node}"), cpus)).collect()
    }

    pub fn new(name: &str, cpus: u32) -> Self {
        Self { name: name.into(), cpus, memory: 64 << 10, words: String::new() }
    }

    #[must_use]
    pub fn with_words(self, words: &str) -> Self {
        Self { words: words.into(), ..self }
    }
}

/// Writes it: everything is scheduled at once, processors are counted and not bound, and nodes may state more than there are.
pub fn write(folder: &Path, nodes: &[NodeSpec], ports: &Ports, lines: &str) {
    let (host, user) = (said_by("hostname", &["-s"]), said_by("id", &["-un"]));
    let place = folder.display();
    let mut text = format!(
        "ClusterName=makespan\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmUser={user}\nSlurmdUser={user}\n\
         AuthType=auth/munge\nAuthInfo=socket={place}/munge/sock\nCredType=cred/munge\n\
         StateSaveLocation={place}/state\nSlurmdSpoolDir={place}/spool.%n\n\
         SlurmctldPidFile={place}/pid/slurmctld\nSlurmdPidFile={place}/pid/slurmd.%n\n\
         SlurmctldLogFile={place}/log/slurmctld.log\nSlurmdLogFile={place}/log/slurmd.%n.log\n",
        ports.at(0)
    );
    let settings = [
        ("MpiDefault", "none"),
        ("ProctrackType", "proctrack/linuxproc"),
        ("TaskPlugin", "task/none"),
        ("JobAcctGatherType", "jobacct_gather/none"),
        ("AccountingStorageType", "accounting_storage/none"),
        ("SelectType", "select/cons_tres"),
        ("SelectTypeParameters", "CR_CPU"),
        ("SlurmdParameters", "config_overrides"),
        ("SchedulerType", "sched/backfill"),
        (
            "SchedulerParameters",
            "batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1,bf_resolution=1,default_queue_depth=1000",
        ),
        ("ReturnToService", "2"),
        ("SlurmdTimeout", "15"),
        ("KillWait", "2"),
        ("MaxJobCount", "20000"),
        ("TreeWidth", "128"),
    ];
    let states = |key: &str| lines.lines().any(|line| line.starts_with(&format!("{key}=")));
    for (key, value) in settings.into_iter().filter(|(key, _)| !states(key)) {
        text += &format!("{key}={value}\n");
    }
    text += lines;
    text += "\n";
    for (node, NodeSpec { name, cpus, memory, words }) in nodes.iter().enumerate() {
        let port = ports.at(node + 1);
        text += &format!(
            "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory={memory} {words}\n"
        );
    }
    if !lines.contains("PartitionName=") {
        text += "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
    }
    if lines.contains("GresTypes=gpu") {
        // Devices that every machine has stand for two GPUs a node.
        let gpus = "Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n";
        fs::write(folder.join("gres.conf"), gpus).expect("a configuration is written");
    }
    fs::write(folder.join("slurm.conf"), text).expect("a configuration is written");
}

fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it is on every machine");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
