//! Reads a queue from a running Slurm or from saved output.

use std::path::{Path, PathBuf};

use makespan_slurm::Commands;
#[cfg(feature = "service")]
use makespan_slurm::Program;
use makespan_slurm::queue::Queue;
use miette::{Result, miette};

use crate::output::{complain, shell_word};

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
    /// A folder with saved output of Slurm's commands.
    Saved(PathBuf),
}

/// Returns true if a text names a running Slurm, not a folder.
pub fn is_running(from: &str) -> bool {
    from == SLURM || from.starts_with("slurm:")
}

impl ClusterSource {
    /// Parses `slurm`, `slurm:NAME`, `slurm:/PATH/slurm.conf` or the path of a folder.
    ///
    /// # Errors
    /// The file or the folder does not exist, or the name is empty.
    pub fn parse(from: &str) -> Result<Self> {
        if from == SLURM {
            return Ok(Self::Usual);
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
            None if Path::new(from).is_dir() => Ok(Self::Saved(from.into())),
            None => Err(miette!(
                "--from {from}: this is not a folder; write slurm, slurm:NAME, or a folder with saved output of Slurm's commands"
            )),
        }
    }

    /// Reads the queue. `at` is the instant of the queue. If `at` is `None`, the instant is now, or the instant that the
    /// saved output states. Ended jobs are read from the accounting data of the last `days` days.
    ///
    /// # Errors
    /// Some output is missing or invalid. The message states a remedy.
    pub fn read(&self, at: Option<i64>, days: u32) -> Result<Queue> {
        let commands = Commands::new().with_teller(complain);
        let (commands, from) = match self {
            Self::Saved(folder) => {
                let from = folder.display();
                return Queue::from_folder(folder, at).map_err(|error| miette!("--from {from}: {error}"));
            }
            Self::Usual => (commands, SLURM.to_owned()),
            Self::Named(name) => (commands.with_cluster(name), format!("slurm:{name}")),
            Self::Configured(path) => (commands.with_variable("SLURM_CONF", path), format!("slurm:{}", path.display())),
        };
        let mut queue = Queue::read(&commands, days).map_err(|error| miette!("--from {from}: {error}"))?;
        queue.now = at.unwrap_or(queue.now);
        Ok(queue)
    }

    /// Returns the name of the cluster, or else a text that identifies the cluster.
    pub fn label(&self, queue: &Queue) -> String {
        let stated = stated_name(queue).map(str::to_owned);
        match self {
            Self::Named(name) => name.clone(),
            Self::Usual => stated.unwrap_or_else(|| SLURM.to_owned()),
            Self::Configured(path) | Self::Saved(path) => stated.unwrap_or_else(|| path.display().to_string()),
        }
    }

    /// Returns the beginning of a command that submits a job to this cluster.
    pub fn sbatch(&self, queue: &Queue) -> String {
        let name = match self {
            Self::Configured(path) => return format!("SLURM_CONF={} sbatch", shell_word(path.as_os_str())),
            Self::Usual => None,
            Self::Named(name) => Some(name.as_str()),
            Self::Saved(_) => stated_name(queue),
        };
        name.map_or_else(|| "sbatch".to_owned(), |name| format!("sbatch -M {}", shell_word(name.as_ref())))
    }
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
