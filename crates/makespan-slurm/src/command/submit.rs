//! Submitting and cancelling.

use std::ffi::OsStr;

use super::{CommandError, Commands, Program};

/// A job that Slurm has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Its number.
    pub job: u64,
    /// Its cluster, where `sbatch` names one.
    pub cluster: Option<String>,
    /// What `sbatch` warned of.
    pub warnings: String,
}

impl Commands {
    /// Submits a script, which is handed over on standard input, with options for `sbatch`.
    ///
    /// # Errors
    /// [`CommandError`]. Where it [`is_ambiguous`](CommandError::is_ambiguous), the job may be in the queue all the same: look for its
    /// name before submitting again.
    pub fn submit<A: AsRef<OsStr>>(
        &self,
        options: impl IntoIterator<Item = A>,
        script: &str,
    ) -> Result<Submitted, CommandError> {
        let mut arguments = vec![OsStr::new("--parsable").to_owned()];
        arguments.extend(options.into_iter().map(|option| option.as_ref().to_owned()));
        let printed = self.run_with_input(Program::Sbatch, &arguments, script.as_bytes())?;
        // A site's wrapper may print lines before it: the number stands on the last line.
        let line = printed.out.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let (job, cluster) = line.split_once(';').map_or((line, None), |(job, cluster)| (job, Some(cluster)));
        match job.parse() {
            Ok(job) => Ok(Submitted { job, cluster: cluster.map(str::to_owned), warnings: printed.warnings }),
            Err(_) => {
                let problem = format!("instead of the number of a job it says `{line}`");
                Err(CommandError::nonsense(Program::Sbatch, &arguments, problem))
            }
        }
    }

    /// Ends a job; that it has ended already is no error.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn cancel(&self, job: u64) -> Result<(), CommandError> {
        use super::Refusal::{JobEnding, NoSuchJob};
        match self.run(Program::Scancel, [job.to_string()]) {
            Err(error) if matches!(error.refusal(), Some(JobEnding | NoSuchJob)) => Ok(()),
            cancelled => cancelled.map(drop),
        }
    }
}
