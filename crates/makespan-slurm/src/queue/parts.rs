//! The outputs that describe a cluster, and their combination into a queue.

use std::collections::HashMap;

use crate::text::{Kind, Record};
use crate::{Config, Job, JobState, Node, Partition, jobs_of_json};

use super::holding::hidden;
use super::job::JobContext;
use super::listed::{OutputRecords, once};
use super::{EndedJob, Licence, PastRun, Queue, QueueJob, SlurmReservation, doubts, limits, now};

/// An output that describes a part of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClusterOutput {
    /// The output of `scontrol show config`.
    Config,
    /// The output of `scontrol -o -d show nodes`.
    Nodes,
    /// The output of `sinfo --json` or `scontrol show nodes --json`. Used if the text output of the nodes is missing.
    NodesJson,
    /// The output of `scontrol -o show partitions`.
    Partitions,
    /// The output of `scontrol -o -d show jobs`.
    Jobs,
    /// The output of `squeue --json --states=all`. Used if the text output of the jobs is missing or doubtful.
    JobsJson,
    /// The output of `scontrol -o show reservations`.
    Reservations,
    /// The output of `scontrol -o show licenses`.
    Licences,
    /// The output of `scontrol -o show assoc_mgr`.
    Limits,
    /// The output of `sacctmgr -P show qos`.
    Qos,
    /// The output of `sacct -P`.
    Past,
}

impl ClusterOutput {
    /// Returns the word that messages use for this output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Config => "settings",
            Self::Nodes | Self::NodesJson => "nodes",
            Self::Partitions => "partitions",
            Self::Jobs | Self::JobsJson => "jobs",
            Self::Reservations => "reservations",
            Self::Licences => "licences",
            Self::Limits => "limits of accounts",
            Self::Qos => "qualities of service",
            Self::Past => "accounts of ended jobs",
        }
    }
}

/// The texts of the parts, as the commands print them.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    parts: HashMap<ClusterOutput, String>,
    /// For each part that was read from a file, the name of the file.
    names: HashMap<ClusterOutput, String>,
    /// The parts that were cut off.
    pub(super) cut: Vec<ClusterOutput>,
    /// Instant of the last change of the jobs file, in seconds since 1970.
    pub(super) changed: Option<i64>,
    /// Warnings about missing data, as sentences.
    pub remarks: Vec<String>,
    /// A sentence that says why accounting data of ended jobs are missing.
    pub past_missing: Option<String>,
}

/// Maximum number of array tasks for which there are separate jobs.
const MAX_TASKS: usize = 200_000;

impl Texts {
    /// Adds a part.
    #[must_use]
    pub fn with(mut self, part: ClusterOutput, text: impl Into<String>) -> Self {
        self.parts.insert(part, text.into());
        self
    }

    /// Adds a part that was read from a file.
    pub(super) fn with_file(mut self, part: ClusterOutput, name: &str, text: String) -> Self {
        self.names.insert(part, name.to_owned());
        self.with(part, text)
    }

    /// Returns the name of a part for warnings: the name of its file. If it was not read from a file, the name of the
    /// part itself.
    fn name(&self, part: ClusterOutput) -> &str {
        let unnamed = if part == ClusterOutput::JobsJson { "squeue --json" } else { part.name() };
        self.names.get(&part).map_or(unnamed, String::as_str)
    }

    /// Adds warnings about a part.
    fn remark(&self, part: ClusterOutput, said: impl IntoIterator<Item = String>, remarks: &mut Vec<String>) {
        remarks.extend(said.into_iter().map(|remark| format!("{}: {remark}", self.name(part))));
    }

    /// Returns the text of a part.
    pub fn get(&self, part: ClusterOutput) -> Option<&str> {
        self.parts.get(&part).map(String::as_str)
    }

    /// Combines the texts into a queue at `now`. If `now` is `None`, derives the instant from the jobs.
    ///
    /// # Errors
    /// The part that is missing or invalid, and a message.
    pub fn queue(&self, now: Option<i64>) -> Result<Queue, (ClusterOutput, String)> {
        let mut remarks = self.remarks.clone();
        let nodes = self.nodes(&mut remarks)?;
        let partitions = self.partitions(&nodes, &mut remarks);
        let mut listed = self.jobs(&mut remarks)?;
        let part = if self.get(ClusterOutput::Jobs).is_some() { ClusterOutput::Jobs } else { ClusterOutput::JobsJson };
        let missing = "the jobs contain no date, so the instant of the queue is unknown; state the instant (--at \
                       2026-11-22T02:04:10Z)";
        let now = now
            .or_else(|| self.told(&listed))
            .or_else(|| listed.is_empty().then(|| self.told_without_jobs(&nodes, &mut remarks))?)
            .ok_or((part, missing.to_owned()))?;
        self.remark(part, once(&mut listed, "job", |job| job.id.to_string()), &mut remarks);
        let by_name = nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
        let mut around =
            JobContext { now, nodes: by_name, partitions: &partitions, room: MAX_TASKS, remarks: Vec::new() };
        let mut jobs: Vec<_> = listed.iter().flat_map(|job| around.entries(job)).collect();
        free_suspended(&mut jobs, &nodes);
        remarks.append(&mut around.remarks);
        remarks.extend(doubts::dates(&listed, now));
        remarks.extend(doubts::idle(&jobs, &nodes));
        let holds = jobs.iter().filter_map(|job| job.run.as_ref()).flat_map(|run| &run.holds);
        let hidden = hidden(&nodes, holds);
        let config = self.config(&mut remarks);
        let (qos, associations) = self.limits(&config, &mut remarks);
        let reservations = self.reservations(&mut remarks);
        remarks.extend(choose_reservations(&mut jobs, &reservations, now));
        let mut queue = Queue {
            now,
            config,
            reservations,
            licences: self.licences(&mut remarks),
            // If the command failed, the text is empty.
            knows_licences: self.get(ClusterOutput::Licences).is_some_and(|text| !text.trim().is_empty())
                && !self.cut.contains(&ClusterOutput::Licences),
            past: self.past(&listed, &mut remarks),
            past_missing: self.past_missing.clone(),
            nodes,
            partitions,
            qos,
            associations,
            adds_fair_share: false,
            jobs,
            ended: listed.iter().filter_map(EndedJob::of).collect(),
            hidden,
            remarks,
        };
        queue.settle_dependencies(0..queue.jobs.len());
        queue.remarks.extend(queue.fair_share_note());
        Ok(queue)
    }

    /// Returns the time at which the list of jobs was printed. Uses the JSON output only if the text does not state
    /// this time, because the JSON file may be from another time.
    fn told(&self, listed: &[Job]) -> Option<i64> {
        let (own, json) = (now::of_jobs(listed.iter()), self.get(ClusterOutput::JobsJson));
        if let Some(now::OutputInstant::Exactly(at)) = own
            && self.get(ClusterOutput::Jobs).is_some()
        {
            return Some(at);
        }
        own.into_iter().chain(json.and_then(now::of_json)).map(now::OutputInstant::instant).max()
    }

    /// Returns the instant of a queue without jobs. It is the latest instant that the nodes state, or the last change
    /// of the file with the jobs.
    fn told_without_jobs(&self, nodes: &[Node], remarks: &mut Vec<String>) -> Option<i64> {
        let (part, json) = match self.get(ClusterOutput::Nodes) {
            Some(_) => (ClusterOutput::Nodes, None),
            None => (ClusterOutput::NodesJson, self.get(ClusterOutput::NodesJson)),
        };
        let told = now::of_nodes(nodes, json).map(now::OutputInstant::instant);
        let from = match told {
            Some(_) => format!("the last instant in {}", self.name(part)),
            None => "the last change of the file of the jobs".to_owned(),
        };
        let at = told.or(self.changed)?;
        remarks.push(format!("there are no jobs, so the instant of the outputs is unknown; {from} is used instead"));
        Some(at)
    }

    fn nodes(&self, remarks: &mut Vec<String>) -> Result<Vec<Node>, (ClusterOutput, String)> {
        let (part, mut reading) = match (self.get(ClusterOutput::Nodes), self.get(ClusterOutput::NodesJson)) {
            (Some(text), _) => (ClusterOutput::Nodes, OutputRecords::of_text(Kind::Node, text, Node::of)),
            (None, Some(json)) => {
                let help = "save the output of `scontrol show nodes --json` again";
                let records = crate::cluster::nodes_of_json(json)
                    .map_err(|problem| (ClusterOutput::NodesJson, format!("{problem}; {help}")))?;
                (ClusterOutput::NodesJson, OutputRecords::of_records(records, Node::of))
            }
            (None, None) => return Err((ClusterOutput::Nodes, "they are missing".into())),
        };
        if reading.items.is_empty() {
            return Err((part, reading.remarks().into_iter().next().unwrap_or_else(|| "it is empty".into())));
        }
        let again = once(&mut reading.items, "node", |node| node.name.clone());
        self.remark(part, reading.remarks().into_iter().chain(again), remarks);
        Ok(reading.items)
    }

    /// Returns the partitions. If they are missing, derives them from the nodes.
    fn partitions(&self, nodes: &[Node], remarks: &mut Vec<String>) -> Vec<Partition> {
        if let Some(text) = self.get(ClusterOutput::Partitions) {
            let mut reading = OutputRecords::of_text(Kind::Partition, text, Partition::of);
            let again = once(&mut reading.items, "partition", |partition| partition.name.clone());
            self.remark(ClusterOutput::Partitions, reading.remarks().into_iter().chain(again), remarks);
            if !reading.items.is_empty() {
                return reading.items;
            }
        }
        remarks.push(
            "the outputs contain no partitions; the partitions are derived from the nodes, without limits".into(),
        );
        let mut names: Vec<&String> = nodes.iter().flat_map(|node| &node.partitions).collect();
        names.sort_unstable();
        names.dedup();
        let of = |name: &String| {
            let members: Vec<&str> =
                nodes.iter().filter(|node| node.partitions.contains(name)).map(|node| node.name.as_str()).collect();
            let field = |key: &str, value: String| (key.to_owned(), value);
            let fields = vec![
                field("PartitionName", name.clone()),
                field("State", "UP".into()),
                field("Nodes", members.join(",")),
            ];
            Partition::of(Record::of(fields)).ok()
        };
        names.into_iter().filter_map(of).collect()
    }

    /// Returns the jobs in the text output. If some job is doubtful, uses the JSON output.
    fn jobs(&self, remarks: &mut Vec<String>) -> Result<Vec<Job>, (ClusterOutput, String)> {
        let json = || {
            self.get(ClusterOutput::JobsJson)
                .map(|text| jobs_of_json(text).map(|records| OutputRecords::of_records(records, Job::of)))
        };
        let help = "save the output of `squeue --json --states=all` on the cluster";
        let Some(text) = self.get(ClusterOutput::Jobs) else {
            let reading = json().ok_or((ClusterOutput::Jobs, "they are missing".to_owned()))?;
            let reading = reading.map_err(|problem| (ClusterOutput::JobsJson, format!("{problem}; {help}")))?;
            if let Some(problem) = reading.remarks().first().filter(|_| reading.items.is_empty()) {
                return Err((ClusterOutput::JobsJson, format!("{problem}; {help}")));
            }
            self.remark(ClusterOutput::JobsJson, reading.remarks(), remarks);
            return Ok(reading.items);
        };
        let trimmed = text.trim();
        let mut reading = OutputRecords::of_text(Kind::Job, text, Job::of);
        let none = trimmed.is_empty() || trimmed.starts_with("No jobs");
        if none {
            if trimmed.is_empty() {
                remarks.push("the list of jobs is empty, although Slurm prints a sentence if there are no jobs".into());
            }
            return Ok(Vec::new());
        }
        let is_doubtful = |job: &Job| job.is_doubtful;
        let mut said = reading.remarks();
        if reading.items.iter().any(is_doubtful) || !said.is_empty() {
            match json() {
                Some(Ok(better)) => {
                    self.remark(ClusterOutput::JobsJson, better.remarks(), remarks);
                    let better: HashMap<u64, Job> = better.items.into_iter().map(|job| (job.id, job)).collect();
                    let known: std::collections::HashSet<u64> = reading.items.iter().map(|job| job.id).collect();
                    let (is_of_one, all) = self.doubted(&reading.items);
                    for job in reading.items.iter_mut().filter(|job| all || job.is_doubtful) {
                        if let Some(better) = better.get(&job.id) {
                            *job = better.clone();
                        }
                    }
                    let unknown: Vec<u64> = reading
                        .items
                        .extract_if(.., |job| is_of_one && (all || job.is_doubtful) && !better.contains_key(&job.id))
                        .map(|job| job.id)
                        .collect();
                    let unknown = doubts::part_of_a_name(&unknown, self.name(ClusterOutput::JobsJson));
                    self.remark(ClusterOutput::Jobs, unknown, remarks);
                    let mut rest: Vec<Job> = better.into_values().filter(|job| !known.contains(&job.id)).collect();
                    rest.sort_by_key(|job| job.id);
                    reading.items.extend(rest);
                    // Do not report lines that belong to no record. They are parts of free texts, which the JSON
                    // output contains completely.
                    let count =
                        format!("{} of {}", reading.problems.len(), makespan_core::counted(reading.of, "record"));
                    let from = self.name(ClusterOutput::JobsJson);
                    let first = reading.problems.first();
                    said = first
                        .map(|first| format!("{count} cannot be read, so {from} is used instead: {first}"))
                        .into_iter()
                        .collect();
                }
                Some(Err(problem)) => {
                    remarks.push(format!("{} cannot be parsed: {problem}; {help}", self.name(ClusterOutput::JobsJson)));
                }
                None => {}
            }
            let doubtful: Vec<u64> = reading.items.iter().filter(|job| job.is_doubtful).map(|job| job.id).collect();
            said.extend(doubts::texts(&doubtful, self.get(ClusterOutput::JobsJson).is_none()));
        }
        if reading.items.is_empty() {
            let problem = said.first().cloned();
            return Err((ClusterOutput::Jobs, problem.unwrap_or_else(|| "the output lists no job".into())));
        }
        self.remark(ClusterOutput::Jobs, said, remarks);
        Ok(reading.items)
    }

    /// Returns two flags. The first is true if the JSON output is from the same instant as the text. The second is
    /// true if all jobs must be taken from the JSON output.
    ///
    /// If a record has the fields of two records, some job has a name that contains a record. Then every record may be a
    /// part of such a name. Files from two instants
    /// contain different jobs anyway.
    fn doubted(&self, jobs: &[Job]) -> (bool, bool) {
        let sure = jobs.iter().filter(|job| !job.is_doubtful);
        let json = self.get(ClusterOutput::JobsJson).and_then(now::of_json);
        let are_of_two_instants = || now::of_jobs(sure).zip(json).is_some_and(|(text, json)| text.contradicts(json));
        let is_of_one = self.names.is_empty() || !are_of_two_instants();
        (is_of_one, is_of_one && jobs.iter().any(|job| job.record.is_of_two()))
    }

    fn list<T>(
        &self,
        part: ClusterOutput,
        kind: Kind,
        read: impl Fn(&Record) -> Result<T, String>,
        remarks: &mut Vec<String>,
    ) -> Vec<T> {
        let Some(text) = self.get(part) else { return Vec::new() };
        let text = text.trim();
        // If there are no records, Slurm prints a sentence.
        if text.is_empty() || text.starts_with("No ") {
            return Vec::new();
        }
        let reading = OutputRecords::of_text(kind, text, |record| read(&record));
        self.remark(part, reading.remarks(), remarks);
        reading.items
    }

    fn reservations(&self, remarks: &mut Vec<String>) -> Vec<SlurmReservation> {
        let mut all = self.list(ClusterOutput::Reservations, Kind::Reservation, SlurmReservation::of, remarks);
        let again = once(&mut all, "reservation", |kept| kept.name.clone());
        self.remark(ClusterOutput::Reservations, again, remarks);
        all
    }

    fn licences(&self, remarks: &mut Vec<String>) -> Vec<Licence> {
        let mut all = self.list(ClusterOutput::Licences, Kind::License, Licence::of, remarks);
        let again = once(&mut all, "licence", |licence| licence.name.clone());
        self.remark(ClusterOutput::Licences, again, remarks);
        all
    }

    fn config(&self, remarks: &mut Vec<String>) -> Config {
        let text = self.get(ClusterOutput::Config).unwrap_or_default();
        let config = Config::parse(text);
        if config.settings().is_empty() && !text.trim().is_empty() {
            remarks.push(
                "the output of scontrol show config contains no setting; the settings are treated as missing".into(),
            );
        }
        config
    }

    fn limits(&self, config: &Config, remarks: &mut Vec<String>) -> (Vec<super::Qos>, Vec<super::Association>) {
        let (mut qos, associations) = limits::of_controller(self.get(ClusterOutput::Limits).unwrap_or_default());
        if !super::limits::are_enforced(config) {
            let stated = |limits: &super::SlurmLimits| !limits.is_empty();
            if qos.iter().any(|qos| stated(&qos.all) || stated(&qos.each_user))
                || associations.iter().any(|one| stated(&one.all))
            {
                remarks.push(
                    "this cluster does not enforce limits of users, accounts and QOS (AccountingStorageEnforce)".into(),
                );
            }
            // The fair share does not depend on the enforcement of limits.
            return (Vec::new(), associations.into_iter().map(super::Association::without_limits).collect());
        }
        if let Some(text) = self.get(ClusterOutput::Qos) {
            match limits::of_accounts(text) {
                Ok(better) if !better.is_empty() => {
                    // The accounting data contain all limits. But only the controller knows the usage.
                    let known = std::mem::replace(&mut qos, better);
                    for one in &mut qos {
                        let own = known.iter().find(|known| known.name == one.name);
                        for budget in &mut one.budgets {
                            let same = own.and_then(|own| own.budgets.iter().find(|known| known.name == budget.name));
                            budget.used = budget.used.or(same.and_then(|same| same.used));
                        }
                    }
                }
                Ok(_) => {}
                Err(problem) => remarks.push(format!("the qualities of service cannot be parsed: {problem}")),
            }
        }
        (qos, associations)
    }

    fn past(&self, listed: &[Job], remarks: &mut Vec<String>) -> Vec<PastRun> {
        let remembered = listed.iter().filter_map(PastRun::of);
        let (mut runs, strange) = match self.get(ClusterOutput::Past).map(PastRun::of_sacct) {
            None => (Vec::new(), 0),
            Some(Ok(read)) => read,
            Some(Err(problem)) => {
                remarks.push(format!("the records of ended jobs (sacct) cannot be read: {problem}"));
                (Vec::new(), 0)
            }
        };
        if strange > 0 {
            remarks.push(format!(
                "lines of the records of ended jobs (sacct) that cannot be understood are ignored: {strange}"
            ));
        }
        let known: std::collections::HashSet<u64> = runs.iter().map(|run| run.id).collect();
        runs.extend(remembered.filter(|run| !known.contains(&run.id)));
        runs
    }
}

/// Chooses one reservation for each job that may use one of several (`--reservation=a,b`): the first to begin that admits
/// the job and has not ended. Returns a note about these jobs.
fn choose_reservations(jobs: &mut [QueueJob], reservations: &[SlurmReservation], now: i64) -> Option<String> {
    let mut first = None;
    let mut count = 0;
    for job in jobs {
        let Some(list) = job.request.reservation.as_deref().filter(|list| list.contains(',')) else { continue };
        let usable = |kept: &&SlurmReservation| {
            let is_listed = list.split(',').any(|name| name.trim() == kept.name);
            is_listed && kept.end > now && kept.admits(&job.user, job.account.as_deref())
        };
        if let Some(chosen) = reservations.iter().filter(usable).min_by_key(|kept| kept.start) {
            first.get_or_insert_with(|| format!("job {} uses {}", job.shown, chosen.name));
            count += 1;
            job.request.reservation = Some(chosen.name.clone());
        }
    }
    let first = first?;
    Some(format!("jobs that may use several reservations: {count}; each is planned in the first to begin ({first})"))
}

/// Reduces the processors of suspended jobs to those that their nodes report as allocated. Slurm frees the processors
/// of a suspended job, but keeps its memory.
fn free_suspended(jobs: &mut [QueueJob], nodes: &[Node]) {
    let mut left: Vec<u32> = nodes.iter().map(|node| node.allocated_cpus).collect();
    let (suspended, others): (Vec<_>, Vec<_>) = jobs.iter_mut().partition(|job| job.state == JobState::Suspended);
    for holding in others.iter().filter_map(|job| job.run.as_ref()).flat_map(|run| &run.holds) {
        left[holding.node] = left[holding.node].saturating_sub(holding.cpus);
    }
    for holding in suspended.into_iter().filter_map(|job| job.run.as_mut()).flat_map(|run| &mut run.holds) {
        holding.cpus = holding.cpus.min(left[holding.node]);
        left[holding.node] -= holding.cpus;
    }
}
