//! Reads how a job was submitted: partition, account, QOS, constraint, reservation, and the reason for its wait.

use std::collections::BTreeMap;
use std::sync::Arc;

use makespan_core::{Submission, counted};
use makespan_verify::native::hosts::hosts;
use rustc_hash::FxHashSet;

use super::columns::SacctColumns;

/// Pool of submissions that stores equal submissions once, and statistics for remarks.
#[derive(Default)]
pub(super) struct Submissions {
    known: FxHashSet<Arc<Submission>>,
    names: FxHashSet<Arc<str>>,
    /// Number of jobs for each reason for waiting. Jobs with the reason `Priority` or `Resources` are not counted.
    reasons: BTreeMap<String, usize>,
    /// Names of the nodes on which jobs ran.
    nodes: FxHashSet<String>,
    /// Five counts of jobs: the jobs that state a partition, an account, a QOS, a constraint, and a reservation.
    tell: [usize; 5],
}

/// Returns the text of a cell, or `None` if the text means that the value is missing.
fn said(cell: &str) -> Option<&str> {
    (!matches!(cell, "" | "None" | "none" | "(null)" | "N/A" | "Unknown" | "None assigned")).then_some(cell)
}

impl Submissions {
    fn name(&mut self, text: &str) -> Arc<str> {
        match self.names.get(text) {
            Some(known) => known.clone(),
            None => {
                let new: Arc<str> = text.into();
                self.names.insert(new.clone());
                new
            }
        }
    }

    /// Returns the submission of a record.
    pub(super) fn of(
        &mut self,
        columns: &SacctColumns,
        cells: &[&str],
        array: Option<(&str, Option<u32>)>,
    ) -> Arc<Submission> {
        let cell = |column: Option<usize>| column.and_then(|column| said(cells[column]));
        let told =
            [columns.partition, columns.account, columns.qos, columns.constraints, columns.reservation].map(cell);
        self.tell.iter_mut().zip(&told).for_each(|(count, told)| *count += usize::from(told.is_some()));
        let [partition, account, qos, constraint, reservation] = told;
        let reason = cell(columns.reason);
        let held = reason.filter(|reason| reason.starts_with("JobHeld"));
        if let Some(reason) = reason.filter(|reason| !matches!(*reason, "Priority" | "Resources")) {
            *self.reasons.entry(reason.to_owned()).or_insert(0) += 1;
        }
        if let Some(list) = cell(columns.node_list) {
            self.nodes.extend(hosts(list).into_iter().flatten());
        }
        let submission = Submission {
            user: cell(columns.user).map(|name| self.name(name)),
            account: account.map(|name| self.name(name)),
            qos: qos.map(|name| self.name(name)),
            partitions: partition.into_iter().flat_map(|names| names.split(',')).map(|name| self.name(name)).collect(),
            constraint: constraint.map(|text| self.name(text)),
            array: array.map(|(array, parts)| (self.name(array), parts)),
            reservation: reservation.map(|name| self.name(name)),
            held: held.map(|reason| self.name(reason)),
            ..Submission::default()
        };
        match self.known.get(&submission) {
            Some(known) => known.clone(),
            None => {
                let new = Arc::new(submission);
                self.known.insert(new.clone());
                new
            }
        }
    }

    /// Returns remarks for the user.
    pub(super) fn remarks(&self, columns: &SacctColumns) -> Vec<String> {
        let mut remarks = Vec::new();
        let names = ["partition", "account", "QOS", "constraint", "reservation"];
        let told = names.iter().zip(&self.tell).filter(|told| *told.1 > 0);
        let told: Vec<String> = told.map(|(name, count)| format!("{name} ({count})")).collect();
        if !told.is_empty() {
            remarks.push(format!(
                "numbers of jobs that request a name of the cluster: {}; only the policy `slurm` applies the limits that \
                 the platform states for these names",
                told.join(", ")
            ));
        }
        if !self.reasons.is_empty() {
            let mut reasons: Vec<(&String, &usize)> = self.reasons.iter().collect();
            reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), *reason));
            let more = reasons.len().saturating_sub(5);
            let listed: Vec<String> =
                reasons.iter().take(5).map(|(reason, count)| format!("{count} {reason}")).collect();
            let more = if more > 0 { format!(" and {more} more reasons") } else { String::new() };
            remarks.push(format!(
                "jobs waited for reasons other than resources and priority: {}{more}",
                listed.join(", ")
            ));
        }
        if !self.nodes.is_empty() {
            let count = self.nodes.len();
            remarks.push(format!("jobs ran on {} (NodeList); a policy may choose other nodes", counted(count, "node")));
        }
        if !columns.unused.is_empty() {
            let (count, few) = (columns.unused.len(), columns.unused.iter().take(4));
            let few: Vec<&str> = few.map(String::as_str).collect();
            let more = if count > few.len() { format!(" and {} more", count - few.len()) } else { String::new() };
            remarks.push(format!("not used: {}, {}{more}", counted(count, "column"), few.join(", ")));
        }
        remarks
    }
}
