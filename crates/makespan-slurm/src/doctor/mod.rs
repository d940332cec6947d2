//! Checks that runs work on a cluster. Each check returns a finding with a verdict and, if the user must act, a
//! remedy.

mod folder;
mod partitions;
mod probe;
mod programs;
mod settings;

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::command::Commands;
pub use programs::MeasuredVersion;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything is as required.
    Good,
    /// The check was not possible.
    Unknown,
    /// Jobs can run, but with a disadvantage.
    Doubtful,
    /// Runs fail until the user follows the remedy.
    Bad,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject of the check, in one or two words.
    pub topic: &'static str,
    /// The severity of the finding.
    pub verdict: Verdict,
    /// The result of the check, as text.
    pub found: String,
    /// The recommended action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Finding {
    fn good(topic: &'static str, found: impl Into<String>) -> Self {
        Self { topic, verdict: Verdict::Good, found: found.into(), remedy: None }
    }

    fn unknown(topic: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { topic, verdict: Verdict::Unknown, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn doubtful(topic: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { topic, verdict: Verdict::Doubtful, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn bad(topic: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { topic, verdict: Verdict::Bad, found: found.into(), remedy: Some(remedy.into()) }
    }
}

/// The options of an examination.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The commands to use.
    pub commands: Commands,
    /// The parent of the folders of runs.
    pub folder: PathBuf,
    /// The partition of pilots. `None` means the default partition.
    pub partition: Option<String>,
    /// Number of nodes of the test job, which checks clocks and the folder. If 0, no test job runs.
    pub nodes: u32,
    /// Maximum time that the test job may wait for its nodes.
    pub patience: Duration,
    /// The id of the Slurm job in which this program runs, if any.
    pub own_job: Option<u64>,
}

/// The result of an examination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The name of the cluster.
    pub cluster: Option<String>,
    /// The version of the controller.
    pub version: Option<String>,
    /// The findings, in order of importance.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// Returns the worst verdict.
    pub fn verdict(&self) -> Verdict {
        self.findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Unknown)
    }
}

impl Examination {
    /// Examines the cluster. If a program or a controller does not answer, this becomes a finding.
    pub fn run(&self) -> Diagnosis {
        // Do not repeat requests, because a controller that does not answer is a finding.
        let commands = self.commands.clone().with_patience(Duration::ZERO);
        let mut findings = vec![programs::programs(&commands)];
        let config = match commands.config() {
            Ok(config) => config,
            Err(error) => {
                let (said, remedy) = split(&error.to_string());
                findings.push(Finding::bad("controller", said, remedy));
                findings.push(folder::here(&self.folder, self.nodes > 0));
                return Diagnosis { cluster: None, version: None, findings };
            }
        };
        findings.push(programs::controller(&commands));
        findings.push(programs::versions(&commands, &config));
        findings.extend(partitions::examine(&commands, self.partition.as_deref()));
        findings.extend(settings::examine(&commands, &config));
        findings.push(folder::here(&self.folder, self.nodes > 0));
        findings.extend(probe::examine(self, &commands));
        let owned = |name: &str| config.get(name).map(str::to_owned);
        Diagnosis { cluster: owned("ClusterName"), version: owned("SLURM_VERSION"), findings }
    }
}

/// Splits an error at the first semicolon into the problem and the remedy.
fn split(error: &str) -> (String, String) {
    let (problem, remedy) = error.split_once("; ").unwrap_or((error, "see the log of the controller"));
    (problem.to_owned(), remedy.to_owned())
}
