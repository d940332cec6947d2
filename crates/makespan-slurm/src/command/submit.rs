//! Submission and cancellation of jobs.

use std::ffi::OsStr;

use super::{CommandError, Commands, Program};

/// A job that Slurm has accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmittedJob {
    /// The id of the job.
    pub job: u64,
    /// The name of the cluster, if `sbatch` prints it.
    pub cluster: Option<String>,
    /// Warnings of `sbatch`.
    pub warnings: String,
}

impl Commands {
    /// Submits a script with options for `sbatch`. The script is passed on standard input.
    ///
    /// # Errors
    /// [`CommandError`]. If [`is_ambiguous`](CommandError::is_ambiguous) returns true for the error, Slurm may have
    /// accepted the job without sending an answer. In this case, search the queue for the job's name before you submit
    /// the job again.
    pub fn submit<A: AsRef<OsStr>>(
        &self,
        options: impl IntoIterator<Item = A>,
        script: &str,
    ) -> Result<SubmittedJob, CommandError> {
        let mut arguments = vec![OsStr::new("--parsable").to_owned()];
        arguments.extend(options.into_iter().map(|option| option.as_ref().to_owned()));
        // The job id is on the last line, because at some sites `sbatch` is a script that prints other lines first.
        let last = |out: &str| {
            let line = out.lines().map(str::trim).rfind(|line| !line.is_empty())?;
            let (job, cluster) = line.split_once(';').map_or((line, None), |(job, cluster)| (job, Some(cluster)));
            Some((job.parse().ok()?, cluster.map(str::to_owned)))
        };
        let ((job, cluster), warnings) = self.submit_by(Program::Sbatch, &arguments, script, last)?;
        Ok(SubmittedJob { job, cluster, warnings })
    }

    /// Submits a script with any program. `read` finds the job in the output. Returns the job and the warnings.
    ///
    /// # Errors
    /// The errors of [`Commands::submit`].
    pub(crate) fn submit_by<A: AsRef<OsStr>, T>(
        &self,
        program: Program,
        arguments: &[A],
        script: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<(T, String), CommandError> {
        let printed = self.run_with_input(program, arguments, script.as_bytes())?;
        match read(&printed.out) {
            Some(job) => Ok((job, printed.warnings)),
            None => {
                let line = printed.out.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
                let problem = format!("the command printed `{line}` instead of a job number");
                Err(CommandError::nonsense(program, arguments, problem))
            }
        }
    }

    /// Cancels a job. If the job has already ended, this is not an error.
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
