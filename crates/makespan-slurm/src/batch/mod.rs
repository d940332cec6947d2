//! Batch systems by their commands: one interface for Slurm, Grid Engine and systems that a user describes.

mod description;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use regex_lite::{Captures, Regex};

pub use description::{BatchDescription, CancelWords, ListWords, StateNames, SubmitWords};

use crate::{CommandError, Commands, JobState, OptionalLimit, Program, Refusal, duration};

/// Maximum number of jobs that one command cancels.
const MAX_CANCELLED: usize = 500;

/// A batch system: its description, and the runner of its commands.
#[derive(Clone, Debug)]
pub struct BatchSystem {
    description: Arc<BatchDescription>,
    commands: Commands,
    programs: [Program; 3],
    id: Regex,
    job: Regex,
}

/// A job to submit.
#[derive(Clone, Copy, Debug)]
pub struct JobRequest<'a> {
    /// The name of the job.
    pub name: &'a str,
    /// The size of a pilot. `None` if the options state the size of the job.
    pub size: Option<JobSize>,
    /// Time limit in the format of Slurm.
    pub time: Option<&'a str>,
    /// The folder of the log file. The name of this file is the number of the job and `.log`. `None` if the options
    /// state the log file.
    pub logs: Option<&'a Path>,
}

/// The size of a pilot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSize {
    /// Number of nodes. Only Slurm supports several nodes.
    pub nodes: usize,
    /// Number of cores. Pilots of Slurm have all cores of their nodes.
    pub cores: u32,
}

/// A job of the user in the list of the batch system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedJob {
    /// The number of the job.
    pub job: u64,
    /// The state of the job.
    pub state: JobState,
    /// The reason why the job is pending. Empty if the list contains none.
    pub reason: String,
    /// The name of the job.
    pub name: String,
    /// Number of nodes. `None` if the list does not contain it.
    pub nodes: Option<usize>,
}

impl BatchSystem {
    /// Returns a batch system with this description.
    ///
    /// # Errors
    /// A regular expression of the description is invalid.
    pub fn new(description: BatchDescription, commands: Commands) -> Result<Self, String> {
        let program = |words: &[String]| Program::of_name(words.first().map_or("", String::as_str));
        let BatchDescription { submit, list, cancel, .. } = &description;
        let programs = [program(&submit.command), program(&list.command), program(&cancel.command)];
        let compiled = |text: &str| Regex::new(text).map_err(|error| format!("`{text}`: {error}"));
        let (id, job) = (compiled(&submit.id)?, compiled(&list.job)?);
        Ok(Self { description: Arc::new(description), commands, programs, id, job })
    }

    /// Returns Slurm.
    ///
    /// # Errors
    /// The description of Slurm inside this program is invalid.
    pub fn slurm(commands: Commands) -> Result<Self, String> {
        Self::new(BatchDescription::built_in("slurm").ok_or("the description of Slurm is missing")?, commands)
    }

    /// Returns Slurm's commands if this batch system is Slurm.
    pub fn as_slurm(&self) -> Option<&Commands> {
        self.description.job_id.is_empty().then_some(&self.commands)
    }

    /// Returns the name of the batch system.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Returns this batch system with `patience` as the time for repetitions ([`Commands::with_patience`]).
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.commands = self.commands.with_patience(patience);
        self
    }

    /// Returns this batch system with `limit` as the time limit of commands ([`Commands::with_limit`]).
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.commands = self.commands.with_limit(limit);
        self
    }

    /// Submits a job that runs the command `line` of the shell. `options` are further arguments. If `options` contains
    /// the first of the description's arguments for cores, all of the description's arguments for cores are omitted.
    /// Returns the number of the job.
    ///
    /// # Errors
    /// [`CommandError`]. If [`CommandError::is_ambiguous`] returns true for the error, search the list of jobs for the
    /// name before you submit the job again.
    pub fn submit(&self, request: &JobRequest<'_>, options: &[String], line: &str) -> Result<u64, CommandError> {
        let words = self.words(request, options);
        let number = |out: &str| self.id.captures(out)?.name("job")?.as_str().parse().ok();
        let script = self.script(request, line);
        self.commands.submit_by(self.programs[0], &words[1..], &script, number).map(|(job, _)| job)
    }

    /// Returns the command that submits a job.
    fn words(&self, request: &JobRequest<'_>, options: &[String]) -> Vec<String> {
        let SubmitWords { command, size, cores, time, log, log_name, .. } = &self.description.submit;
        let names_cores = cores.first().is_some_and(|first| options.contains(first));
        let JobSize { nodes, cores: count } = request.size.unwrap_or(JobSize { nodes: 1, cores: 1 });
        let log_file = request.logs.unwrap_or(Path::new("")).join(format!("{log_name}.log"));
        let values = [
            ("{name}", request.name.to_owned()),
            ("{nodes}", nodes.to_string()),
            ("{cores}", count.to_string()),
            ("{time}", request.time.unwrap_or_default().to_owned()),
            ("{seconds}", request.seconds().unwrap_or_default().to_string()),
            ("{log}", log_file.display().to_string()),
        ];
        let parts = [
            (true, command),
            (request.size.is_some(), size),
            (count > 1 && !names_cores, cores),
            (request.time.is_some(), time),
            (request.logs.is_some(), log),
        ];
        let words = parts.into_iter().filter(|(is_needed, _)| *is_needed).flat_map(|(_, words)| words);
        words.map(|word| filled(word, &values)).chain(options.iter().cloned()).collect()
    }

    /// Returns the script of a job. For batch systems other than Slurm, the script sets environment variables that
    /// state the number and the end of the job.
    fn script(&self, request: &JobRequest<'_>, line: &str) -> String {
        let id = &self.description.job_id;
        if id.is_empty() {
            return format!("#!/bin/sh\nexec {line}\n");
        }
        let mut script = format!("#!/bin/sh\nMAKESPAN_JOB_ID={id}\nexport MAKESPAN_JOB_ID\n");
        // Some batch systems start jobs in the home folder.
        if let Ok(here) = std::env::current_dir() {
            script += &format!("cd {} || exit 1\n", quoted(&here));
        }
        if let Some(size) = request.size {
            script += &format!("MAKESPAN_JOB_CORES={}\nexport MAKESPAN_JOB_CORES\n", size.cores);
        }
        if let Some(seconds) = request.seconds() {
            script += &format!("MAKESPAN_JOB_END=$(($(date +%s) + {seconds}))\nexport MAKESPAN_JOB_END\n");
        }
        let logs = request.logs.filter(|_| self.description.submit.log.is_empty());
        let log = logs.map_or_else(String::new, |logs| format!(" >>{}/\"$MAKESPAN_JOB_ID\".log 2>&1", quoted(logs)));
        format!("{script}exec {line}{log}\n")
    }

    /// Returns the arguments for an account and a partition.
    ///
    /// # Errors
    /// The description has no arguments for a stated value.
    pub fn options(&self, account: Option<&str>, partition: Option<&str>) -> Result<Vec<String>, String> {
        let SubmitWords { account: charged, partition: queue, .. } = &self.description.submit;
        let mut all = Vec::new();
        for (name, value, words) in [("account", account, charged), ("partition", partition, queue)] {
            let Some(value) = value else { continue };
            if words.is_empty() {
                return Err(format!(
                    "--{name}: the description of {} has no key submit.{name}; add the key, or use --submit-option",
                    self.name()
                ));
            }
            all.extend(words.iter().map(|word| filled(word, &[(&format!("{{{name}}}"), value.to_owned())])));
        }
        Ok(all)
    }

    /// Returns the jobs of this user. Recently ended jobs may be included.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn jobs(&self) -> Result<Vec<ListedJob>, CommandError> {
        Ok(self.list()?.0)
    }

    /// Returns the jobs of this user, as [`Self::jobs`] does, and true if the list contains any text.
    pub(crate) fn list(&self) -> Result<(Vec<ListedJob>, bool), CommandError> {
        let printed = self.commands.run(self.programs[1], &self.description.list.command[1..])?;
        let jobs = self.job.captures_iter(&printed.out).filter_map(|found| self.listed(&found)).collect();
        Ok((jobs, !printed.out.trim().is_empty()))
    }

    fn listed(&self, found: &Captures<'_>) -> Option<ListedJob> {
        let part = |name: &str| found.name(name).map(|part| part.as_str().trim());
        let (state, name) = (part("state")?, part("name")?.to_owned());
        let StateNames { waiting, held, suspended, ended } = &self.description.states;
        let is_in = |list: &[String]| list.iter().any(|known| known == state);
        let own = match state {
            _ if is_in(waiting) || is_in(held) => JobState::Pending,
            _ if is_in(suspended) => JobState::Suspended,
            _ if is_in(ended) => JobState::Completed,
            _ if self.as_slurm().is_some() => JobState::parse(state),
            _ => JobState::Running,
        };
        let reason = part("reason").unwrap_or(if is_in(held) { state } else { "" }).to_owned();
        let nodes = part("nodes").and_then(|nodes| nodes.parse().ok());
        Some(ListedJob { job: part("job")?.parse().ok()?, state: own, reason, name, nodes })
    }

    /// Cancels jobs. If a job has already ended, this is not an error.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn cancel(&self, jobs: &[u64]) -> Result<(), CommandError> {
        for some in jobs.chunks(MAX_CANCELLED) {
            let words = self.description.cancel.command[1..].iter().cloned();
            let words: Vec<String> = words.chain(some.iter().map(u64::to_string)).collect();
            let Err(error) = self.commands.run(self.programs[2], &words) else { continue };
            let is_over = matches!(error.refusal(), Some(Refusal::JobEnding | Refusal::NoSuchJob))
                || (self.as_slurm().is_none()
                    && self.jobs().is_ok_and(|all| !all.iter().any(|one| some.contains(&one.job))));
            if !is_over {
                return Err(error);
            }
        }
        Ok(())
    }
}

impl JobRequest<'_> {
    /// Returns the time limit in seconds.
    fn seconds(&self) -> Option<u64> {
        self.time.and_then(duration).and_then(OptionalLimit::value)
    }
}

/// Replaces the names in braces in a word by their values.
fn filled(word: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(word.to_owned(), |word, (name, value)| word.replace(name, value))
}

/// Returns a path as one word of the shell.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// Returns the number of the job in which this process runs, and the name of its node, from the environment that Slurm
/// or the script of a job has set.
pub(crate) fn own_place() -> Option<(u64, String)> {
    let node = if own_script_job().is_some() { Some(makespan_exec::host()) } else { variable("SLURMD_NODENAME") };
    Some((own_job()?, node?))
}

/// Returns the number of the job in which this process runs.
pub(crate) fn own_job() -> Option<u64> {
    own_script_job().or_else(|| variable("SLURM_JOB_ID")?.parse().ok())
}

/// Returns the number of the job, as the script of the job states it. `None` in a job of Slurm.
pub(crate) fn own_script_job() -> Option<u64> {
    variable("MAKESPAN_JOB_ID")?.parse().ok()
}

/// Returns the number of cores of the job, if its script states it.
pub(crate) fn own_cores() -> Option<usize> {
    variable("MAKESPAN_JOB_CORES")?.parse().ok()
}

/// Returns the end of the job in seconds since 1970, if its script states it.
pub(crate) fn own_end() -> Option<u64> {
    variable("MAKESPAN_JOB_END")?.parse().ok()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(name: &str) -> BatchSystem {
        BatchSystem::new(BatchDescription::built_in(name).unwrap(), Commands::new()).unwrap()
    }

    fn request() -> JobRequest<'static> {
        let size = Some(JobSize { nodes: 2, cores: 4 });
        JobRequest { name: "run-1", size, time: Some("1:00:00"), logs: Some(Path::new("/r/it's")) }
    }

    #[test]
    fn commands_are_filled() {
        let sge = system("sge");
        let said = sge.words(&request(), &["-q".into(), "all.q".into()]).join(" ");
        assert_eq!(said, "qsub -terse -N run-1 -S /bin/sh -r n -j y -o /dev/null -pe smp 4 -l h_rt=3600 -q all.q");
        let said = sge.words(&request(), &["-pe".into(), "other".into(), "4".into()]).join(" ");
        assert!(!said.contains("smp"), "{said}");
        assert!(sge.script(&request(), "x").ends_with("exec x >>'/r/it'\\''s'/\"$MAKESPAN_JOB_ID\".log 2>&1\n"));
        let said = system("slurm").words(&request(), &[]).join(" ");
        let expected = "--nodes=2 --exclusive --no-kill --time=1:00:00 --output=/r/it's/%j.log --open-mode=append";
        assert!(said.ends_with(expected), "{said}");
    }

    #[test]
    fn jobs_are_listed() {
        let read = |name: &str, text: &str| -> Vec<(u64, String, String)> {
            let own = system(name);
            let all = own.job.captures_iter(text).filter_map(|found| own.listed(&found));
            all.map(|job| (job.job, format!("{:?} {}", job.state, job.reason), job.name)).collect()
        };
        let xml = "<job_list state=\"running\">\n<JB_job_number>7</JB_job_number>\n<JAT_prio>0.5</JAT_prio>\n\
            <JB_name>a-1</JB_name>\n<state>r</state></job_list><job_list><JB_job_number>8</JB_job_number>\
            <JB_name>b</JB_name><state>Eqw</state></job_list>";
        let expected = [(7, "Running ".into(), "a-1".into()), (8, "Pending Eqw".into(), "b".into())];
        assert_eq!(read("sge", xml), expected);
        let full = "Job Id: 12.head\n    Job_Name = c\n    Job_Owner = ann@head\n    job_state = F\n\n";
        assert_eq!(read("pbs", full), [(12, "Completed ".into(), "c".into())]);
        let lines = "12|PENDING|Dependency|1|a|b\n3_1|RUNNING|None|1|x\n|\n9|FAILED|NonZeroExitCode|1|d\n";
        let expected =
            [(12, "Pending Dependency".into(), "a|b".into()), (9, "Failed NonZeroExitCode".into(), "d".into())];
        assert_eq!(read("slurm", lines), expected);
    }
}
