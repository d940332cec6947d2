//! Queries for nodes, partitions, jobs and the configuration.

use crate::command::{CommandError, Commands, Program};
use crate::text::{Kind, Record, records};

use super::{Config, Job, Node, Partition, jobs_of_json};

/// The result of a query. Parts of the output that could not be parsed cause warnings.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryReading<T> {
    /// The items in the order of Slurm's output.
    pub items: Vec<T>,
    /// Warnings for the user, as sentences.
    pub remarks: Vec<String>,
}

impl Commands {
    /// Returns all nodes.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn nodes(&self) -> Result<QueryReading<Node>, CommandError> {
        self.show(Kind::Node, &["-o", "-d", "show", "nodes"], Node::of)
    }

    /// Returns the nodes with the given names.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn nodes_named(&self, names: &[String]) -> Result<QueryReading<Node>, CommandError> {
        self.show(Kind::Node, &["-o", "-d", "show", "node", &names.join(",")], Node::of)
    }

    /// Returns all partitions that this user can see.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn partitions(&self) -> Result<QueryReading<Partition>, CommandError> {
        self.show(Kind::Partition, &["-o", "show", "partitions"], Partition::of)
    }

    /// Returns all pending, running and recently ended jobs that this user can see. If a free text of some job, such
    /// as the name, looks like a field, queries all jobs again as JSON.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn jobs(&self) -> Result<QueryReading<Job>, CommandError> {
        let jobs = self.show(Kind::Job, &["-o", "show", "jobs"], Job::of)?;
        if jobs.remarks.is_empty() && !jobs.items.iter().any(|job| job.is_doubtful) {
            return Ok(jobs);
        }
        // Some versions leave out ended jobs unless all states are requested.
        let arguments = ["--json", "--states=all"];
        let printed = self.run(Program::Squeue, arguments)?;
        match jobs_of_json(&printed.out).and_then(|records| records.into_iter().map(Job::of).collect()) {
            Ok(items) => Ok(QueryReading { items, remarks: Vec::new() }),
            Err(problem) => {
                let doubtful: Vec<String> =
                    jobs.items.iter().filter(|job| job.is_doubtful).map(|job| job.id.to_string()).collect();
                let mut remarks = jobs.remarks;
                remarks.push(format!(
                    "jobs {} have a name or a comment that looks like a field of Slurm, so their fields may be wrong; \
                     `squeue --json` cannot replace them: {problem}",
                    doubtful.join(", ")
                ));
                Ok(QueryReading { items: jobs.items, remarks })
            }
        }
    }

    /// Returns all jobs with the resources that each job holds on its nodes. Reads only the text output.
    ///
    /// # Errors
    ///
    /// [`CommandError`]
    pub fn jobs_with_shares(&self) -> Result<QueryReading<Job>, CommandError> {
        self.show(Kind::Job, &["-o", "-d", "show", "jobs"], Job::of)
    }

    /// Returns a job with the resources that it holds on each node. Returns `None` if the controller does not know the
    /// job any more. For a job array, returns the first record.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn job(&self, id: u64) -> Result<Option<Job>, CommandError> {
        let number = id.to_string();
        let arguments = ["-o", "-d", "show", "job", &number];
        let printed = match self.run(Program::Scontrol, arguments) {
            Err(error) if error.refusal() == Some(crate::Refusal::NoSuchJob) => return Ok(None),
            printed => printed?,
        };
        let job = records(Kind::Job, &printed.out)
            .0
            .into_iter()
            .next()
            .ok_or_else(|| "the output contains no job".to_owned());
        job.and_then(Job::of)
            .map(Some)
            .map_err(|problem| CommandError::nonsense(Program::Scontrol, &arguments, shown(&problem)))
    }

    /// Returns the configuration of the cluster.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn config(&self) -> Result<Config, CommandError> {
        let arguments = ["show", "config"];
        let config = Config::parse(&self.run(Program::Scontrol, arguments)?.out);
        if config.version().is_none() {
            let problem = "the output does not state SLURM_VERSION";
            return Err(CommandError::nonsense(Program::Scontrol, &arguments, problem));
        }
        Ok(config)
    }

    fn show<T>(
        &self,
        kind: Kind,
        arguments: &[&str],
        read: impl Fn(Record) -> Result<T, String>,
    ) -> Result<QueryReading<T>, CommandError> {
        let printed = self.run(Program::Scontrol, arguments)?;
        let reading = read_records(kind, &printed.out, read);
        // If a cluster has no jobs, `scontrol` prints nothing or a sentence. For all other queries, output without an
        // item is an error.
        let nothing = printed.out.trim();
        if reading.items.is_empty() && !(kind == Kind::Job && (nothing.is_empty() || nothing.starts_with("No jobs"))) {
            let problem = reading.remarks.first().cloned().unwrap_or_else(|| "the output is empty".to_owned());
            return Err(CommandError::nonsense(Program::Scontrol, arguments, problem));
        }
        let remarks = if reading.items.is_empty() { Vec::new() } else { reading.remarks };
        Ok(QueryReading { items: reading.items, remarks })
    }
}

/// Parses the output of `scontrol -o show`.
pub(crate) fn read_records<T>(kind: Kind, text: &str, read: impl Fn(Record) -> Result<T, String>) -> QueryReading<T> {
    let (records, strange) = records(kind, text);
    let (items, mut remarks) = read_all(records, read);
    remarks.extend(
        strange
            .iter()
            .map(|line| format!("the output has a line that does not begin with {}: `{}`", kind.head(), shown(line))),
    );
    QueryReading { items, remarks }
}

/// Parses records. Returns the parsed items, and a message for each invalid record.
pub(crate) fn read_all<T>(records: Vec<Record>, read: impl Fn(Record) -> Result<T, String>) -> (Vec<T>, Vec<String>) {
    let (mut items, mut problems) = (Vec::new(), Vec::new());
    for record in records {
        match read(record) {
            Ok(item) => items.push(item),
            Err(problem) => problems.push(shown(&problem)),
        }
    }
    (items, problems)
}

/// Returns the beginning of the output of another program, on a single line.
pub(crate) fn shown(text: &str) -> String {
    const MAX_CHARACTERS: usize = 200;
    let one = |character: char| if character.is_control() { '?' } else { character };
    let mut shown: String = text.chars().take(MAX_CHARACTERS).map(one).collect();
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        shown += " ..";
    }
    shown
}
