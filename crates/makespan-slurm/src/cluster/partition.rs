//! A partition.

use crate::text::{Limit, Record, count, duration, expand};

/// A partition of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// As users call it.
    pub name: String,
    /// Whether jobs go there that name none.
    pub is_default: bool,
    /// `UP`, `DOWN`, `DRAIN` or `INACTIVE`.
    pub state: String,
    /// Names of its nodes.
    pub nodes: Vec<String>,
    /// Seconds that a job may ask for.
    pub max_time: Limit,
    /// Seconds that a job gets that asks for none; `None`: as many as it may ask for.
    pub default_time: Option<Limit>,
    /// Nodes that a job needs at least.
    pub min_nodes: u64,
    /// Nodes that a job may have.
    pub max_nodes: Limit,
    /// Processors of a node that a job may have.
    pub max_cpus_per_node: Limit,
    /// Whether only root submits there.
    pub root_only: bool,
    /// Jobs of partitions with a higher tier are looked at first.
    pub priority_tier: u64,
    /// Everything that Slurm says of it.
    pub record: Record,
}

impl Partition {
    /// Reads a record; the error names the field that is missing or wrong.
    ///
    /// # Errors
    /// A sentence.
    pub fn of(record: Record) -> Result<Self, String> {
        let name = record.get("PartitionName").ok_or("a partition has no name")?.to_owned();
        let wrong = |key: &str, text: &str| format!("partition `{name}`: {key}={text} cannot be understood");
        let limit = |key: &str, read: fn(&str) -> Option<Limit>| match record.get(key) {
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
            max_time: limit("MaxTime", duration)?.unwrap_or(Limit::Unlimited),
            default_time: limit("DefaultTime", duration)?,
            min_nodes: number("MinNodes")?.unwrap_or(0),
            max_nodes: limit("MaxNodes", count)?.unwrap_or(Limit::Unlimited),
            max_cpus_per_node: limit("MaxCPUsPerNode", count)?.unwrap_or(Limit::Unlimited),
            root_only: says_yes("RootOnly"),
            priority_tier: number("PriorityTier")?.unwrap_or(1),
            name,
            record,
        })
    }

    /// Whether it takes jobs and starts them.
    pub fn is_up(&self) -> bool {
        self.state == "UP"
    }
}
