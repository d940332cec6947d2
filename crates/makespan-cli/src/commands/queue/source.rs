//! Reads a queue from a running Slurm or from saved output.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use makespan_formats::length;
use makespan_slurm::Commands;
#[cfg(feature = "service")]
use makespan_slurm::Program;
use makespan_slurm::queue::Queue;
use miette::{Result, miette};

use super::QueueClock;
use crate::output::{complain, shell_word, shortened, shown};

/// Maximum difference, in seconds, between the instants of queues that are compared without a note.
const SAME_INSTANT: i64 = 60;

/// The word that selects the queue of a running Slurm.
pub const SLURM: &str = "slurm";

/// A cluster of which the queue can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterSource {
    /// The cluster that Slurm's commands use without an option.
    Usual,
    /// A cluster of the same accounting database, by its name (`-M`).
    Named(String),
    /// The cluster of a configuration file (`SLURM_CONF`).
    Configured(PathBuf),
    /// A running Grid Engine.
    GridEngine,
    /// A folder with saved output of the commands of Slurm or of Grid Engine.
    Saved(PathBuf),
}

/// The word that selects the queue of a running Grid Engine.
pub const GRID_ENGINE: &str = "sge";

/// Returns true if a text names a running Slurm or Grid Engine, not a folder.
pub fn is_running(from: &str) -> bool {
    from == SLURM || from == GRID_ENGINE || from.starts_with("slurm:")
}

impl ClusterSource {
    /// Parses `slurm`, `slurm:NAME`, `slurm:/PATH/slurm.conf`, `sge` or the path of a folder.
    ///
    /// # Errors
    /// The file or the folder does not exist, or the name is empty.
    pub fn parse(from: &str) -> Result<Self> {
        if from == SLURM {
            return Ok(Self::Usual);
        }
        if from == GRID_ENGINE {
            return Ok(Self::GridEngine);
        }
        match from.strip_prefix("slurm:") {
            Some("") => Err(miette!("--from {from}: write slurm:NAME, or slurm:/PATH/slurm.conf")),
            Some(path) if path.contains('/') => {
                let path = Path::new(path);
                if !path.is_file() {
                    return Err(miette!("--from {from}: there is no such file; name the slurm.conf of the cluster"));
                }
                Ok(Self::Configured(std::path::absolute(path).unwrap_or_else(|_| path.to_owned())))
            }
            Some(name) => Ok(Self::Named(name.to_owned())),
            None if from.is_empty() => Err(miette!("--from: a name is empty; remove the extra comma, or write slurm")),
            None if Path::new(from).is_dir() => Ok(Self::Saved(from.into())),
            None => Err(miette!(
                "--from {from}: this is not a folder; write slurm, slurm:NAME, sge, or a folder with saved output of Slurm or Grid Engine"
            )),
        }
    }

    /// Reads the queue. `at` is the instant of the queue. If `at` is `None`, the instant is now, or the instant that the
    /// saved output states. Ended jobs are read from the accounting data of the last `days` days.
    ///
    /// # Errors
    /// Some output is missing or invalid. The message states a remedy.
    pub fn read(&self, at: Option<i64>, days: u32) -> Result<Queue> {
        self.read_by(Commands::new().with_teller(complain), at, days)
    }

    /// Reads the queue as one of `count` clusters. With several clusters, a request to a controller that does not
    /// respond is not repeated. Such a controller delays the command by a few seconds only.
    fn read_one_of(&self, count: usize, days: u32) -> Result<Queue> {
        let commands = Commands::new().with_teller(complain);
        let commands = if count > 1 { commands.with_patience(Duration::ZERO) } else { commands };
        self.read_by(commands, None, days)
    }

    fn read_by(&self, commands: Commands, at: Option<i64>, days: u32) -> Result<Queue> {
        let read = match self {
            Self::GridEngine => Queue::read_grid_engine(&commands),
            Self::Saved(folder) if Queue::is_of_grid_engine(folder) => Queue::grid_engine_from_folder(folder, at),
            Self::Saved(folder) => Queue::from_folder(folder, at).map_err(|error| error.to_string()),
            Self::Usual | Self::Named(_) | Self::Configured(_) => {
                Queue::read(&self.commands(commands), days).map_err(|error| error.to_string())
            }
        };
        let mut queue = read.map_err(|error| miette!("--from {}: {error}", self.words()))?;
        queue.now = at.unwrap_or(queue.now);
        Ok(queue)
    }

    /// Returns commands that use this cluster. If the source is not a named or configured cluster, the commands are
    /// unchanged.
    pub fn commands(&self, commands: Commands) -> Commands {
        match self {
            Self::Saved(_) | Self::GridEngine | Self::Usual => commands,
            Self::Named(name) => commands.with_cluster(name),
            Self::Configured(path) => commands.with_variable("SLURM_CONF", path),
        }
    }

    /// Returns the text that selects this cluster in `--from`.
    pub fn words(&self) -> String {
        match self {
            Self::Usual => SLURM.to_owned(),
            Self::Named(name) => format!("slurm:{name}"),
            Self::Configured(path) => format!("slurm:{}", path.display()),
            Self::GridEngine => GRID_ENGINE.to_owned(),
            Self::Saved(folder) => folder.display().to_string(),
        }
    }

    /// Returns the name of the cluster, or else a text that identifies the cluster.
    fn label(&self, queue: &Queue) -> String {
        let stated = stated_name(queue).map(str::to_owned);
        match self {
            Self::Named(name) => name.clone(),
            Self::Usual => stated.unwrap_or_else(|| SLURM.to_owned()),
            Self::GridEngine => GRID_ENGINE.to_owned(),
            Self::Configured(path) | Self::Saved(path) => stated.unwrap_or_else(|| path.display().to_string()),
        }
    }

    /// Returns the beginning of a command that submits a job to this cluster.
    pub fn sbatch(&self, queue: &Queue) -> String {
        let name = match self {
            Self::Configured(path) => return format!("SLURM_CONF={} sbatch", shell_word(path.as_os_str())),
            Self::GridEngine => return "qsub".to_owned(),
            Self::Usual => None,
            Self::Named(name) => Some(name.as_str()),
            // Without a database of accounts, Slurm knows no other clusters.
            Self::Saved(_) => {
                let database = queue.config.get("AccountingStorageType");
                stated_name(queue).filter(|_| database.is_none_or(|kind| !kind.contains("none")))
            }
        };
        name.map_or_else(|| "sbatch".to_owned(), |name| format!("sbatch -M {}", shell_word(name.as_ref())))
    }
}

/// A cluster with its queue.
pub struct ReadCluster {
    /// The name of the cluster. If several clusters have equal names, the text that selects this cluster.
    pub label: String,
    pub source: ClusterSource,
    pub queue: Queue,
}

/// Reads the queues of several clusters at the same time, with the jobs that ended in the last `days` days. If `days` is
/// 0, no note states that ended jobs are unknown. Also returns a note for each cluster that gives no answer.
///
/// # Errors
/// A name is invalid or listed twice, or no cluster gives an answer.
pub fn read_all(names: &[&str], days: u32) -> Result<(Vec<ReadCluster>, Vec<String>)> {
    let mut sources = Vec::new();
    for (index, from) in names.iter().enumerate() {
        if names[..index].contains(from) {
            return Err(miette!("--from names {from} twice; name each cluster once"));
        }
        sources.push(ClusterSource::parse(from)?);
    }
    let answers: Vec<Result<Queue>> = thread::scope(|scope| {
        let read = |source| scope.spawn(move || ClusterSource::read_one_of(source, names.len(), days));
        let threads: Vec<_> = sources.iter().map(read).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        threads.into_iter().map(join).collect()
    });
    let (mut clusters, mut problems) = (Vec::new(), Vec::new());
    for (source, answer) in sources.into_iter().zip(answers) {
        match answer {
            Ok(mut queue) => {
                queue.remarks.extend(queue.past_missing.take().filter(|_| days > 0));
                clusters.push(ReadCluster { label: source.label(&queue), source, queue });
            }
            Err(problem) => problems.push(problem),
        }
    }
    if clusters.is_empty() && problems.len() == 1 {
        return Err(problems.remove(0));
    }
    let mut notes: Vec<String> = problems.iter().map(|problem| format!("no answer: {problem}")).collect();
    if clusters.is_empty() {
        return Err(miette!("{}", notes.join("; ")));
    }
    let all: Vec<String> = clusters.iter().map(|own| own.label.clone()).collect();
    for own in &mut clusters {
        if all.iter().filter(|label| **label == own.label).count() > 1 {
            own.label = own.source.words();
        }
    }
    notes.extend(ages(&clusters));
    Ok((clusters, notes))
}

/// Returns a note if the queues are from different instants.
fn ages(clusters: &[ReadCluster]) -> Option<String> {
    let newest = clusters.iter().max_by_key(|own| own.queue.now)?;
    let age = |own: &ReadCluster| newest.queue.now - own.queue.now;
    let older: Vec<String> = clusters
        .iter()
        .filter(|own| age(own) > SAME_INSTANT)
        .map(|own| format!("{} is {} older", own.label, length(age(own) as f64)))
        .collect();
    let clock = QueueClock::new(newest.queue.now);
    (!older.is_empty()).then(|| {
        format!(
            "the queues are not from the same instant: {} than {} ({}); times count from the instant of each queue; save \
             all queues at the same time",
            older.join(", "),
            newest.label,
            clock.full(newest.queue.now)
        )
    })
}

/// Joins the notes of several clusters. Each note begins with the names of the clusters that have this note.
pub fn joined_notes<'a>(clusters: &[ReadCluster], notes: impl Iterator<Item = (usize, &'a String)>) -> Vec<String> {
    let mut joined: Vec<(&str, Vec<usize>)> = Vec::new();
    for (cluster, note) in notes {
        match joined.iter_mut().find(|known| known.0 == note) {
            Some((_, named)) if named.contains(&cluster) => {}
            Some((_, named)) => named.push(cluster),
            None => joined.push((note, vec![cluster])),
        }
    }
    let line = |(note, named): &(&str, Vec<usize>)| {
        if named.len() > 1 && named.len() == clusters.len() {
            return format!("all clusters: {note}");
        }
        let labels: Vec<&str> = named.iter().map(|&cluster| clusters[cluster].label.as_str()).collect();
        format!("{}: {note}", labels.join(", "))
    };
    joined.iter().map(line).collect()
}

/// Shortens the name of a cluster to `width` characters. A path keeps its last characters, after an ellipsis.
pub fn short_label(label: &str, width: usize) -> String {
    let label = shown(label);
    let extra = (label.chars().count() + 1).saturating_sub(width);
    if label.contains('/') && extra > 1 {
        return ['…'].into_iter().chain(label.chars().skip(extra)).collect();
    }
    shortened(&label, width)
}

/// Returns the name that the cluster states in its configuration.
fn stated_name(queue: &Queue) -> Option<&str> {
    queue.config.get("ClusterName").filter(|name| !name.is_empty())
}

/// Reads the queue of the cluster that `from` names, as [`ClusterSource::read`] does.
///
/// # Errors
/// As for [`ClusterSource::parse`] and [`ClusterSource::read`].
pub fn read(from: &str, at: Option<i64>, days: u32) -> Result<Queue> {
    ClusterSource::parse(from)?.read(at, days)
}

#[cfg(feature = "service")]
/// Returns true if Slurm's commands are installed on this machine.
pub fn has_slurm() -> bool {
    makespan_exec::program(Program::Scontrol.name()).is_ok()
}
