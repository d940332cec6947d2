//! Nodes of a cluster.

use crate::text::{Gres, Record, moment};

use super::NodeState;

/// A node of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name of the node in Slurm.
    pub name: String,
    /// The host name of the node.
    pub host: String,
    /// Number of processors in Slurm's sense: hardware threads, or cores if the cluster counts cores.
    pub cpus: u32,
    /// Number of processors that jobs can use. Processors that are reserved for the system are not included.
    pub usable_cpus: u32,
    /// Number of cores.
    pub cores: u32,
    /// Hardware threads per core.
    pub threads_per_core: u32,
    /// Number of processors that jobs currently hold.
    pub allocated_cpus: u32,
    /// Memory in bytes, or `None` if the cluster does not state it.
    pub memory: Option<u64>,
    /// Memory reserved for the system, in bytes.
    pub kept_memory: u64,
    /// Memory that jobs currently hold, in bytes.
    pub allocated_memory: u64,
    /// Generic resources of the node.
    pub gres: Vec<Gres>,
    /// Generic resources that jobs currently hold, if they were queried (`-d`).
    pub gres_used: Vec<Gres>,
    /// Features that jobs can request.
    pub features: Vec<String>,
    /// The state of the node.
    pub state: NodeState,
    /// The reason why the node is unavailable, with the time and the user who entered the reason.
    pub reason: Option<String>,
    /// The partitions that contain the node.
    pub partitions: Vec<String>,
    /// Scheduling weight. Slurm allocates nodes of lower weight first.
    pub weight: u64,
    /// The version of slurmd on the node.
    pub version: Option<String>,
    /// Boot time in seconds since 1970.
    pub booted: Option<i64>,
    /// All fields that Slurm printed.
    pub record: Record,
}

impl Node {
    /// Parses a record.
    ///
    /// # Errors
    /// A message that names the missing or invalid field.
    pub fn of(record: Record) -> Result<Self, String> {
        const MIB: u64 = 1 << 20;
        let name = record.get("NodeName").ok_or("a node has no name")?.to_owned();
        let wrong = |key: &str, text: &str| format!("node `{name}`: {key}={text} is not a number");
        let number = |key: &str| match record.get(key) {
            None => Ok(None),
            Some(text) => text.parse::<u64>().map(Some).map_err(|_| wrong(key, text)),
        };
        let small = |key: &str| {
            let value = number(key)?;
            value.map(|value| u32::try_from(value).map_err(|_| wrong(key, &value.to_string()))).transpose()
        };
        let cpus = small("CPUTot")?.ok_or_else(|| format!("node `{name}`: CPUTot is missing"))?;
        let threads_per_core = small("ThreadsPerCore")?.unwrap_or(1).max(1);
        let sockets = small("Sockets")?.unwrap_or(1);
        let cores = small("CoresPerSocket")?.and_then(|cores| cores.checked_mul(sockets));
        // If the memory of nodes is not configured, Slurm reports 1 MiB for each node.
        let memory = number("RealMemory")?.filter(|&memory| memory > 1);
        let list = |key: &str| record.get(key).map(split).unwrap_or_default();
        let gres = |key: &str| {
            let (gres, strange) = Gres::list(record.get(key).unwrap_or_default());
            match strange.first() {
                Some(part) => {
                    Err(format!("node `{name}`: {key} contains `{part}`, which is not a resource such as gpu:a100:2"))
                }
                None => Ok(gres),
            }
        };
        Ok(Self {
            host: record.get("NodeHostName").unwrap_or(&name).to_owned(),
            cpus,
            usable_cpus: small("CPUEfctv")?.unwrap_or(cpus).min(cpus),
            cores: cores.unwrap_or(cpus / threads_per_core).max(1),
            threads_per_core,
            allocated_cpus: small("CPUAlloc")?.unwrap_or(0),
            memory: memory.map(|memory| memory.saturating_mul(MIB)),
            kept_memory: number("MemSpecLimit")?.unwrap_or(0).saturating_mul(MIB),
            allocated_memory: number("AllocMem")?.unwrap_or(0).saturating_mul(MIB),
            gres: gres("Gres")?,
            gres_used: gres("GresUsed")?,
            features: list("ActiveFeatures"),
            state: NodeState::parse(record.raw("State").ok_or_else(|| format!("node `{name}`: State is missing"))?),
            reason: record.get("Reason").map(str::to_owned),
            partitions: list("Partitions"),
            weight: number("Weight")?.unwrap_or(1),
            version: record.get("Version").map(str::to_owned),
            booted: record.get("BootTime").and_then(moment),
            name,
            record,
        })
    }
}

/// Splits a text at commas.
pub(super) fn split(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
