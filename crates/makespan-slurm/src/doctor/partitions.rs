//! Checks of partitions, and of the user's right to submit jobs.

use makespan_core::{Platform, Resource, ResourceKind, counted};

use crate::command::{Commands, Program};
use crate::{OptionalLimit, Partition};

use super::{Finding, split};

/// Checks the partition of the pilots, the nodes of the partition and its limits. Also tests whether Slurm would
/// accept a job, without submitting it.
pub(super) fn examine(commands: &Commands, name: Option<&str>) -> Vec<Finding> {
    const TOPIC: &str = "partition";
    let partitions = match commands.partitions() {
        Ok(partitions) => partitions.items,
        Err(error) => {
            let (said, remedy) = split(&error.to_string());
            return vec![Finding::bad(TOPIC, said, remedy)];
        }
    };
    let is_it = |partition: &&Partition| name.map_or(partition.is_default, |name| partition.name == name);
    let Some(partition) = partitions.iter().find(is_it) else {
        let known: Vec<&str> = partitions.iter().map(|partition| partition.name.as_str()).collect();
        let found = name.map_or_else(
            || "the cluster has no default partition".to_owned(),
            |name| format!("there is no partition `{name}`"),
        );
        return vec![Finding::bad(TOPIC, found, format!("choose a partition: --partition {}", known.join("|")))];
    };
    vec![limits(partition), nodes(commands, name, partition), rights(commands, &partition.name)]
}

fn limits(partition: &Partition) -> Finding {
    const TOPIC: &str = "partition";
    let default = partition.default_time.unwrap_or(partition.max_time);
    let most = match partition.max_time.value() {
        None => "jobs may take any time".to_owned(),
        Some(seconds) => format!("jobs may take {}", span(seconds)),
    };
    let without = match default.value() {
        _ if default == partition.max_time => "also without --time".to_owned(),
        None => "without --time any".to_owned(),
        Some(seconds) => format!("without --time {}", span(seconds)),
    };
    let found = format!("{}: {most}, {without}", partition.name);
    match default {
        _ if !partition.is_up() => Finding::bad(
            TOPIC,
            format!("{found}; the partition is {}", partition.state),
            "choose another partition, or wait until the partition is UP",
        ),
        _ if partition.root_only => {
            Finding::bad(TOPIC, format!("{found}; only root may use it"), "choose another partition")
        }
        OptionalLimit::At(seconds) if partition.default_time.is_some() && default != partition.max_time => {
            let remedy =
                format!("state the time limit of pilots (--time); otherwise, each pilot ends after {}", span(seconds));
            Finding::doubtful(TOPIC, found, remedy)
        }
        _ => Finding::good(TOPIC, found),
    }
}

fn nodes(commands: &Commands, name: Option<&str>, partition: &Partition) -> Finding {
    const TOPIC: &str = "nodes";
    match commands.machines(name) {
        Ok(machines) => {
            let platform = &machines.platform;
            let all = commands
                .nodes()
                .map_or(0, |nodes| nodes.items.iter().filter(|node| node.partitions.contains(&partition.name)).count());
            let (there, all) = (platform.node_count(), all.max(platform.node_count()));
            let processors = platform.processors();
            let found = format!(
                "{there} of {} take jobs, with {}{}",
                counted(all, "node"),
                counted(processors, "processor"),
                equipment(platform)
            );
            if there < all {
                let away = machines.remarks.join("; ");
                let remedy = format!(
                    "with --nodes {all}, a run first waits until all nodes are available; use --nodes {there}: {away}"
                );
                return Finding::doubtful(TOPIC, found, remedy);
            }
            if machines.remarks.is_empty() {
                Finding::good(TOPIC, found)
            } else {
                Finding::doubtful(TOPIC, found, machines.remarks.join("; "))
            }
        }
        Err(error) => {
            let (said, remedy) = split(&error.to_string());
            Finding::bad(TOPIC, said, remedy)
        }
    }
}

/// Formats the generic resources of all nodes together, such as `, 8 gpus on 4 nodes`.
fn equipment(platform: &Platform) -> String {
    let counted = platform
        .resources()
        .iter()
        .filter(|resource| resource.kind == ResourceKind::OfNodes && &*resource.name != Resource::MEMORY);
    let words = counted.filter_map(|resource| {
        let amounts = platform.nodes().iter().map(|node| node.resources.amount(&resource.name));
        let (nodes, total) =
            amounts.filter(|&amount| amount > 0).fold((0, 0_u64), |(nodes, total), amount| (nodes + 1, total + amount));
        (nodes > 0).then(|| format!(", {total} {} on {nodes} of them", resource.name))
    });
    words.collect()
}

/// Tests whether Slurm would accept a job of this user, without submitting it.
fn rights(commands: &Commands, partition: &str) -> Finding {
    const TOPIC: &str = "rights";
    let arguments = ["--test-only", "--nodes=1", "--time=1", "--partition", partition, "--job-name=makespan-doctor"];
    match commands.run_with_input(Program::Sbatch, arguments, b"#!/bin/sh\n") {
        Ok(_) => Finding::good(TOPIC, format!("this user may submit to {partition}")),
        Err(error) => {
            let (said, remedy) = split(&error.to_string());
            Finding::bad(TOPIC, said, remedy)
        }
    }
}

/// Formats a time in one or two units.
pub(super) fn span(seconds: u64) -> String {
    let units = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)];
    let at = units.iter().position(|unit| seconds >= unit.1).unwrap_or(3);
    let (name, unit) = units[at];
    let rest = units.get(at + 1).map(|&(name, unit)| (name, seconds % units[at].1 / unit)).filter(|rest| rest.1 > 0);
    let rest = rest.map(|(name, count)| format!(" {count} {name}")).unwrap_or_default();
    format!("{} {name}{rest}", seconds / unit)
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn times_have_two_units() {
        assert_eq!(
            [span(86_400), span(5400), span(30), span(0), span(90)],
            ["1 d", "1 h 30 min", "30 s", "0 s", "1 min 30 s"]
        );
    }
}
