//! What a cluster allows: one finding a question, each with a verdict and, where something is to be done, a remedy.

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

/// How good what was found is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Nobody could tell.
    Unknown,
    /// It works with a loss, which the remedy describes.
    Doubtful,
    /// Runs fail until it is changed.
    Bad,
}

/// What was found about one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The question in a word or two.
    pub topic: &'static str,
    /// How good it is.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What is to be done.
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

/// What is to be examined.
#[derive(Clone, Debug)]
pub struct Examination {
    /// How Slurm's programs are run.
    pub commands: Commands,
    /// Where the folders of runs will be.
    pub folder: PathBuf,
    /// The partition of pilots; `None`: the default one.
    pub partition: Option<String>,
    /// On how many nodes a job looks at clocks and at the folder; 0 for no job.
    pub nodes: u32,
    /// For how long such a job may wait for its nodes.
    pub patience: Duration,
    /// The job inside which this program runs.
    pub own_job: Option<u64>,
}

/// A cluster, examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The name of the cluster.
    pub cluster: Option<String>,
    /// The version of its controller.
    pub version: Option<String>,
    /// What was found, in the order in which it matters.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// The worst verdict.
    pub fn verdict(&self) -> Verdict {
        self.findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Unknown)
    }
}

impl Examination {
    /// Examines the cluster. What does not answer is a finding.
    pub fn run(&self) -> Diagnosis {
        // A doctor does not wait for a controller that is away: that it is away is what it has to say.
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

/// An error's problem and its remedy, which stands behind the last semicolons.
fn split(error: &str) -> (String, String) {
    let (problem, remedy) = error.split_once("; ").unwrap_or((error, "look at the log of the controller"));
    (problem.to_owned(), remedy.to_owned())
}
