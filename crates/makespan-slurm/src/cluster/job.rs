//! A job.

use makespan_core::ProcSet;

use crate::text::{Gres, Limit, Record, duration, expand, moment, range};

use super::JobState;

/// What a job holds of each of some nodes (`scontrol show job -d`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Their names.
    pub nodes: Vec<String>,
    /// Which processors of each, in Slurm's numbers.
    pub cpus: ProcSet,
    /// Bytes of memory of each; 0 where the cluster does not give out memory.
    pub memory: u64,
    /// Generic resources of each.
    pub gres: Vec<Gres>,
}

/// A job in the queue, running, or ended a short time ago.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its number.
    pub id: u64,
    /// The number of its array, and which of its tasks: one waiting record stands for several, such as `3-10%2`.
    pub array: Option<(u64, String)>,
    /// As its user calls it.
    pub name: String,
    /// Whose it is.
    pub user: String,
    /// Who pays.
    pub account: Option<String>,
    /// Where it was submitted to: several with commas between them while it waits.
    pub partition: String,
    /// Its state.
    pub state: JobState,
    /// Why it waits, or why it ended; empty without one.
    pub reason: String,
    /// Nodes that it holds or held.
    pub nodes: Vec<String>,
    /// Nodes on which it is to start, as far as Slurm has decided.
    pub scheduled_nodes: Vec<String>,
    /// The least and the most nodes that it asks for, or how many it holds.
    pub node_count: (u64, u64),
    /// Processors that it asks for or holds.
    pub cpus: Option<u64>,
    /// Seconds that it may run.
    pub time_limit: Option<Limit>,
    /// Seconds after 1970 at which it was submitted.
    pub submitted: Option<i64>,
    /// At which it started, or is expected to.
    pub start: Option<i64>,
    /// At which it ended, or will end at the latest.
    pub end: Option<i64>,
    /// 0 of one that is held.
    pub priority: Option<u64>,
    /// What it waits for.
    pub dependency: Option<String>,
    /// Exit code and signal.
    pub exit: Option<(i32, i32)>,
    /// What it holds of its nodes, where that was asked for.
    pub shares: Vec<Share>,
    /// Whether a text in it looks like its fields, so that the others may be wrong.
    pub is_doubtful: bool,
    /// Everything that Slurm says of it.
    pub record: Record,
}

impl Job {
    /// Reads a record; the error names the field that is missing or wrong.
    ///
    /// # Errors
    /// A sentence.
    pub fn of(record: Record) -> Result<Self, String> {
        let id = record.get("JobId").and_then(|id| id.split_whitespace().next()).unwrap_or_default();
        let id: u64 = id.parse().map_err(|_| format!("JobId={id} is no number"))?;
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
        // While a job waits, the range is what Slurm expects to give; what was asked for at least stands among its resources.
        let asked = record.get("ReqTRES").or_else(|| record.get("TRES")).and_then(|tres| {
            let nodes = tres.split(',').find_map(|part| part.strip_prefix("node="))?;
            nodes.parse::<u64>().ok()
        });
        let nodes = match (nodes, asked) {
            (Some((least, most)), Some(asked)) if state.is_waiting() => Some((least.min(asked), most)),
            (nodes, _) => nodes,
        };
        let cpus = record.get("NumCPUs").map(|text| range(text).ok_or_else(|| wrong("NumCPUs", text))).transpose()?;
        // A partition may state the limit, which then has a word of its own.
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

    /// Whether it waits because its user or an operator holds it.
    pub fn is_held(&self) -> bool {
        self.state.is_waiting() && (self.priority == Some(0) || self.reason.starts_with("JobHeld"))
    }
}

/// `2:15`: exit code and signal.
fn exit(text: &str) -> Option<(i32, i32)> {
    let (code, signal) = text.split_once(':')?;
    Some((code.parse().ok()?, signal.parse().ok()?))
}

/// The groups `Nodes= CPU_IDs= Mem= GRES=`.
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
