//! Reads the hosts (`qhost -xml`), the parallel environments and the scheduler of Grid Engine (`qconf`).

use std::collections::BTreeMap;

use makespan_core::{CycleRules, WaitKind, WaitReason};
use roxmltree::Document;

use crate::bytes;

/// Name of the setting that marks a queue as read from Grid Engine.
pub(super) const SETTING: &str = "GridEngine";

/// Prefixes of the reasons for jobs that cannot start until a user or an administrator acts. A name follows each
/// prefix.
pub(super) const IN_ERROR: &str = "JobHeldError:";
pub(super) const NO_ENVIRONMENT: &str = "JobHeldEnvironment:";
pub(super) const NO_QUEUE: &str = "JobHeldQueue:";

/// Text of `qhost` for a value that the host has not reported.
const UNKNOWN: &str = "-";

/// A host of Grid Engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GridHost {
    /// Memory in bytes, if known.
    pub memory: Option<u64>,
    /// True if the host reports its load. Grid Engine starts no job on other hosts.
    pub is_heard: bool,
}

/// The hosts by name.
pub(super) type GridHosts = BTreeMap<String, GridHost>;

/// Parses the hosts.
///
/// # Errors
/// The text is not XML.
pub(super) fn grid_hosts(text: &str) -> Result<GridHosts, String> {
    let document = Document::parse(text).map_err(|error| format!("this is not the XML of qhost: {error}"))?;
    let mut hosts = GridHosts::new();
    for host in document.descendants().filter(|node| node.has_tag_name("host")) {
        let Some(name) = host.attribute("name").filter(|&name| name != "global") else { continue };
        let value = |key: &str| {
            let mut values = host.children().filter(|child| child.has_tag_name("hostvalue"));
            let found = values.find(|child| child.attribute("name") == Some(key))?;
            found.text().map(str::trim).filter(|text| *text != UNKNOWN)
        };
        let own = GridHost { memory: value("mem_total").and_then(amount), is_heard: value("load_avg").is_some() };
        hosts.insert(name.to_owned(), own);
    }
    Ok(hosts)
}

/// Parses an amount of memory such as `23.5G`. A number without a unit is in bytes.
pub(super) fn amount(text: &str) -> Option<u64> {
    if text.ends_with(|last: char| last.is_ascii_digit()) {
        return text.parse::<f64>().ok().filter(|number| *number >= 0.0).map(|number| number as u64);
    }
    bytes(text)
}

/// Returns settings with which Slurm's scheduler decides as Grid Engine's scheduler does: it examines the jobs by
/// priority, starts each job that fits now, and reserves nodes for no job.
pub(super) fn config(scheduler: &str) -> String {
    let value = |name: &str| {
        let mut words = scheduler.lines().map(str::split_whitespace);
        words.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()).flatten())
    };
    let interval = value("schedule_interval").and_then(seconds).unwrap_or(15).max(1);
    format!(
        "{SETTING} = yes\nSchedulerType = sched/backfill\nSelectType = select/cons_tres\nSelectTypeParameters = CR_CPU\n\
         PriorityType = priority/basic\nSchedulerParameters = bf_interval={interval},bf_resolution=1,\
         bf_max_job_test=1000000,default_queue_depth=1000000,sched_interval=-1,bf_min_prio_reserve={}\n",
        CycleRules::NO_RESERVATION
    )
}

/// Parses a time such as `0:10:0` or `600`.
pub(super) fn seconds(text: &str) -> Option<u64> {
    text.split(':').try_fold(0_u64, |all, part| all.checked_mul(60)?.checked_add(part.parse().ok()?))
}

/// Returns the parallel environments, each with true if it needs all slots of a job on one host. `None` if the
/// environments are unknown.
pub(super) fn environments(text: Option<&str>) -> Option<BTreeMap<String, bool>> {
    let (mut name, mut found) = ("", BTreeMap::new());
    for line in text?.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["pe_name", own] => {
                name = own;
                found.insert(name.to_owned(), false);
            }
            ["allocation_rule", "$pe_slots"] => _ = found.insert(name.to_owned(), true),
            _ => {}
        }
    }
    Some(found)
}

/// Returns the reason for a job of Grid Engine that cannot start by itself.
pub(crate) fn permanent(id: u64, reason: &str) -> Option<WaitReason> {
    if let Some(state) = reason.strip_prefix(IN_ERROR) {
        let remedy = format!("qmod -cj {id}");
        let brief = format!("error state {state}: {remedy}");
        return Some(WaitReason::new(WaitKind::Held, brief, format!("it is in the error state {state}")).with(remedy));
    }
    let (kind, name, change) = match (reason.strip_prefix(NO_ENVIRONMENT), reason.strip_prefix(NO_QUEUE)) {
        (Some(name), _) => ("parallel environment", name, format!("qalter -pe NAME SLOTS {id}")),
        (None, Some(name)) => ("queue with slots", name, format!("qalter -q NAME {id}")),
        (None, None) => return None,
    };
    let text = format!("it asks for {name}, but there is no such {kind}");
    Some(WaitReason::new(WaitKind::Partition, format!("no {kind} {name}"), text).with(change))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_amounts_are_read() {
        let text = "<qhost><host name='global'/><host name='a'><hostvalue name='load_avg'>0.1</hostvalue>\
                    <hostvalue name='mem_total'>1.5G</hostvalue></host><host name='b'>\
                    <hostvalue name='load_avg'>-</hostvalue><hostvalue name='mem_total'>-</hostvalue></host></qhost>";
        let hosts: Vec<(String, GridHost)> = grid_hosts(text).unwrap().into_iter().collect();
        let host = |memory, is_heard| GridHost { memory, is_heard };
        assert_eq!(hosts, [("a".into(), host(Some(3 << 29), true)), ("b".into(), host(None, false))]);
        assert!(grid_hosts("no XML").unwrap_err().contains("qhost"));
        assert_eq!(["4096", "2G", "0.0", "-1", "x"].map(amount), [Some(4096), Some(2 << 30), Some(0), None, None]);
    }
}
