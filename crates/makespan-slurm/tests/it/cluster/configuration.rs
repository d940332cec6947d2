//! The `slurm.conf` of a test cluster.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::ports::Ports;

/// A node of a test cluster.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    pub name: String,
    pub cpus: u32,
    /// Memory in MiB.
    pub memory: u64,
    /// Additional words of the node's line, such as `Feature=fast`.
    pub words: String,
}

impl NodeSpec {
    /// Returns nodes `n0`, `n1` .. with `cpus` processors and 64 GiB each.
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

/// Writes the configuration. Jobs are scheduled at once, processors are counted and not bound, and nodes may state more
/// resources than the machine has.
pub fn write(folder: &Path, nodes: &[NodeSpec], ports: &Ports, lines: &str) {
    let (host, user) = (said_by("hostname", &["-s"]), said_by("id", &["-un"]));
    let place = folder.display();
    let mut text = format!(
        "SlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmUser={user}\nSlurmdUser={user}\n\
         AuthType=auth/munge\nCredType=cred/munge\n\
         StateSaveLocation={place}/state\nSlurmdSpoolDir={place}/spool.%n\n\
         SlurmctldPidFile={place}/pid/slurmctld\nSlurmdPidFile={place}/pid/slurmd.%n\n\
         SlurmctldLogFile={place}/log/slurmctld.log\nSlurmdLogFile={place}/log/slurmd.%n.log\n",
        ports.at(0)
    );
    let munge = format!("socket={place}/munge/sock");
    let settings = [
        ("ClusterName", "makespan"),
        ("AuthInfo", &munge),
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
        // Devices that exist on every machine stand for two GPUs per node.
        let gpus = "Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n";
        fs::write(folder.join("gres.conf"), gpus).expect("a configuration is written");
    }
    fs::write(folder.join("slurm.conf"), text).expect("a configuration is written");
}

pub(super) fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it is on every machine");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
