//! Jobs of a cluster.

use makespan_core::ProcSet;

use crate::text::{Gres, OptionalLimit, Record, duration, expand, moment, range};

use super::JobState;

/// The resources that a job holds on each node of a group of nodes (`scontrol show job -d`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The processors that the job holds on each node, by Slurm's numbers.
    pub cpus: ProcSet,
    /// Memory in bytes that the job holds on each node. 0 if the cluster does not allocate memory.
    pub memory: u64,
    /// Generic resources that the job holds on each node.
    pub gres: Vec<Gres>,
}

/// A job that is pending, running, or ended recently.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The id of the job.
    pub id: u64,
    /// The id of the job array, and the task ids in Slurm's notation. One pending job may represent several tasks,
    /// such as `3-10%2`.
    pub array: Option<(u64, String)>,
    /// The name that the user gave the job.
    pub name: String,
    /// The user who submitted the job.
    pub user: String,
    /// The account that is charged.
    pub account: Option<String>,
    /// The partition of the job. A pending job may have several, separated by commas.
    pub partition: String,
    /// The state of the job.
    pub state: JobState,
    /// The reason why the job is pending, or why it ended. May be empty.
    pub reason: String,
    /// Nodes that the job holds, or held before it ended.
    pub nodes: Vec<String>,
    /// Nodes that Slurm has planned for the job, if known.
    pub scheduled_nodes: Vec<String>,
    /// Minimum and maximum number of requested nodes. For a running job, both are the number of nodes that the job
    /// holds.
    pub node_count: (u64, u64),
    /// Number of requested processors. For a running job, the number of processors that the job holds.
    pub cpus: Option<u64>,
    /// Time limit in seconds.
    pub time_limit: Option<OptionalLimit>,
    /// Time of submission in seconds since 1970.
    pub submitted: Option<i64>,
    /// Actual or expected start in seconds since 1970.
    pub start: Option<i64>,
    /// End in seconds since 1970. For a job that has not ended, the latest possible end.
    pub end: Option<i64>,
    /// Priority. 0 if the job is held.
    pub priority: Option<u64>,
    /// The dependency expression of the job.
    pub dependency: Option<String>,
    /// Exit code and signal of an ended job.
    pub exit: Option<(i32, i32)>,
    /// Resources that the job holds on its nodes, if they were queried (`-d`).
    pub shares: Vec<Share>,
    /// True if parsed fields may be wrong. This is the case if a free text in the record, such as the name, looks like
    /// a field.
    pub is_doubtful: bool,
    /// All fields that Slurm printed.
    pub record: Record,
}

impl Job {
    /// Parses a record.
    ///
    /// # Errors
    /// A message that names the missing or invalid field.
    pub fn of(record: Record) -> Result<Self, String> {
        let id = record.get("JobId").and_then(|id| id.split_whitespace().next()).unwrap_or_default();
        let id: u64 = id.parse().map_err(|_| format!("JobId={id} is not a number"))?;
        let wrong = |key: &str, text: &str| format!("job {id}: {key}={text} cannot be understood");
        let number = |key: &str| match record.get(key) {
            None => Ok(None),
            Some(text) => text.parse::<u64>().map(Some).map_err(|_| wrong(key, text)),
        };
        let hosts = |key: &str| {
            expand(record.get(key).unwrap_or_default()).map_err(|error| format!("job {id}: {key}: {error}"))
        };
        let owned = |key: &str| record.get(key).map(str::to_owned);
        let user = record.get("UserId").unwrap_or_default();
        let array =
            number("ArrayJobId")?.map(|array| (array, record.raw("ArrayTaskId").unwrap_or_default().to_owned()));
        let state = JobState::parse(record.get("JobState").ok_or_else(|| format!("job {id}: JobState is missing"))?);
        let nodes =
            record.get("NumNodes").map(|text| range(text).ok_or_else(|| wrong("NumNodes", text))).transpose()?;
        // For a pending job, `NumNodes` is the range that Slurm expects to allocate. `ReqTRES` contains the requested
        // minimum.
        let asked = record.get("ReqTRES").or_else(|| record.get("TRES")).and_then(|tres| {
            let nodes = tres.split(',').find_map(|part| part.strip_prefix("node="))?;
            nodes.parse::<u64>().ok()
        });
        let nodes = match (nodes, asked) {
            (Some((least, most)), Some(asked)) if state.is_waiting() => Some((least.min(asked), most)),
            (nodes, _) => nodes,
        };
        let cpus = record.get("NumCPUs").map(|text| range(text).ok_or_else(|| wrong("NumCPUs", text))).transpose()?;
        // If the time limit is a word instead of a time, the limit of the partition is valid for the job.
        let time_limit = record.get("TimeLimit").and_then(duration);
        let time = |key: &str| record.get(key).and_then(moment);
        Ok(Self {
            id,
            array,
            name: record.raw("JobName").unwrap_or_default().to_owned(),
            user: user.rsplit_once('(').map_or(user, |(name, _)| name).to_owned(),
            account: owned("Account"),
            partition: owned("Partition").unwrap_or_default(),
            state,
            reason: owned("Reason").unwrap_or_default(),
            nodes: hosts("NodeList")?,
            scheduled_nodes: hosts("SchedNodeList")?,
            node_count: nodes.unwrap_or_default(),
            cpus: cpus.map(|cpus| cpus.0),
            time_limit,
            submitted: time("SubmitTime"),
            start: time("StartTime"),
            end: time("EndTime"),
            priority: number("Priority")?,
            dependency: owned("Dependency"),
            exit: record.get("ExitCode").and_then(exit),
            shares: shares(&record, id)?,
            is_doubtful: record.is_doubtful(),
            record,
        })
    }

    /// Returns true if the job is held by its user or an operator.
    pub fn is_held(&self) -> bool {
        self.state.is_waiting() && (self.priority == Some(0) || self.reason.starts_with("JobHeld"))
    }
}

/// Parses an exit code and a signal, such as `2:15`.
fn exit(text: &str) -> Option<(i32, i32)> {
    let (code, signal) = text.split_once(':')?;
    Some((code.parse().ok()?, signal.parse().ok()?))
}

/// Parses the groups `Nodes= CPU_IDs= Mem= GRES=`, which state the resources that a job holds.
fn shares(record: &Record, id: u64) -> Result<Vec<Share>, String> {
    let mut shares: Vec<Share> = Vec::new();
    for (key, value) in record.fields() {
        if key == "Nodes" {
            let nodes = expand(value).map_err(|error| format!("job {id}: {error}"))?;
            shares.push(Share { nodes, cpus: ProcSet::new(), memory: 0, gres: Vec::new() });
            continue;
        }
        let wrong = || format!("job {id}: {key}={value} cannot be understood");
        let Some(last) = shares.last_mut() else { continue };
        match key.as_str() {
            "CPU_IDs" => last.cpus = value.parse().map_err(|_| wrong())?,
            "Mem" => last.memory = value.parse::<u64>().map_err(|_| wrong())?.saturating_mul(1 << 20),
            "GRES" => {
                let (gres, strange) = Gres::list(value);
                if !strange.is_empty() {
                    return Err(wrong());
                }
                last.gres = gres;
            }
            _ => {}
        }
    }
    Ok(shares)
}
