//! Partitions of a cluster.

use crate::text::{OptionalLimit, Record, count, duration, expand};

/// A partition of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// The name of the partition.
    pub name: String,
    /// True for the default partition, which Slurm uses for jobs that name no partition.
    pub is_default: bool,
    /// `UP`, `DOWN`, `DRAIN` or `INACTIVE`.
    pub state: String,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Maximum time limit of a job, in seconds.
    pub max_time: OptionalLimit,
    /// Time limit of jobs that request none, in seconds. If `None`, these jobs get the maximum time limit.
    pub default_time: Option<OptionalLimit>,
    /// Minimum number of nodes of a job.
    pub min_nodes: u64,
    /// Maximum number of nodes of a job.
    pub max_nodes: OptionalLimit,
    /// Maximum number of processors that a job may hold on each node.
    pub max_cpus_per_node: OptionalLimit,
    /// True if only root may submit jobs.
    pub root_only: bool,
    /// Priority tier. Slurm schedules jobs of partitions with a higher tier first.
    pub priority_tier: u64,
    /// All fields that Slurm printed.
    pub record: Record,
}

impl Partition {
    /// Parses a record.
    ///
    /// # Errors
    /// A message that names the missing or invalid field.
    pub fn of(record: Record) -> Result<Self, String> {
        let name = record.get("PartitionName").ok_or("a partition has no name")?.to_owned();
        let wrong = |key: &str, text: &str| format!("partition `{name}`: {key}={text} cannot be understood");
        let limit = |key: &str, read: fn(&str) -> Option<OptionalLimit>| match record.get(key) {
            None => Ok(None),
            Some(text) => read(text).map(Some).ok_or_else(|| wrong(key, text)),
        };
        let number = |key: &str| match record.get(key) {
            None => Ok(None),
            Some(text) => text.parse::<u64>().map(Some).map_err(|_| wrong(key, text)),
        };
        let says_yes = |key: &str| record.get(key) == Some("YES");
        let nodes = record.get("Nodes").unwrap_or_default();
        Ok(Self {
            is_default: says_yes("Default"),
            state: record.get("State").ok_or_else(|| format!("partition `{name}`: State is missing"))?.to_owned(),
            nodes: expand(nodes).map_err(|error| format!("partition `{name}`: {error}"))?,
            max_time: limit("MaxTime", duration)?.unwrap_or(OptionalLimit::Unlimited),
            default_time: limit("DefaultTime", duration)?,
            min_nodes: number("MinNodes")?.unwrap_or(0),
            max_nodes: limit("MaxNodes", count)?.unwrap_or(OptionalLimit::Unlimited),
            max_cpus_per_node: limit("MaxCPUsPerNode", count)?.unwrap_or(OptionalLimit::Unlimited),
            root_only: says_yes("RootOnly"),
            priority_tier: number("PriorityTier")?.unwrap_or(1),
            name,
            record,
        })
    }

    /// Returns true if the partition accepts jobs and starts them.
    pub fn is_up(&self) -> bool {
        self.state == "UP"
    }
}
