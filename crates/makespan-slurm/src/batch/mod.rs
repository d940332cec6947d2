//! Batch systems by their commands: one interface for Slurm, Grid Engine and systems that a user describes.

mod description;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use regex_lite::{Captures, Regex};

pub use description::{BatchDescription, CancelWords, ListWords, NodeWords, StateNames, SubmitWords};

use crate::{CommandError, Commands, JobState, OptionalLimit, Program, Refusal, duration, expand, present};

/// Maximum number of jobs that one command cancels.
const MAX_CANCELLED: usize = 500;

/// Factor of the task in the number of a pilot of a job array: the pilot has the number of the job array, plus this
/// factor times the number of the task.
const TASK: u64 = 1_000_000_000_000;

/// Exclusive maximum of the number of a task in a job array.
const MAX_TASK: u64 = 10_000_000;

/// Environment variables that the script of a job sets.
const JOB_ID: &str = "MAKESPAN_JOB_ID";
const JOB_CORES: &str = "MAKESPAN_JOB_CORES";
const JOB_END: &str = "MAKESPAN_JOB_END";
const JOB_NODE: &str = "MAKESPAN_JOB_NODE";
const JOB_NODES: &str = "MAKESPAN_JOB_NODES";
const JOB_LAUNCH: &str = "MAKESPAN_JOB_LAUNCH";

/// Returns the number of a pilot as the batch system prints it: `7`, or `7.2` for a task of a job array.
pub(crate) fn shown(job: u64) -> String {
    if job < TASK { job.to_string() } else { format!("{}.{}", job % TASK, job / TASK) }
}

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
    /// Number of nodes.
    pub nodes: usize,
    /// Number of cores of each node. Pilots of Slurm have all cores of their nodes.
    pub cores: u32,
    /// Memory of each node in bytes, if stated. Pilots of Slurm have the memory of their nodes.
    pub memory: Option<u64>,
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
    /// Time until the batch system ends the job. `None` if the list does not contain it.
    pub left: Option<Duration>,
    /// The names of the nodes that the job holds. Empty if the list contains none.
    pub hosts: Vec<String>,
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
        self.submit_by(&self.words(request, options, 1), &self.script(request, line, false))
    }

    /// Returns true if [`Self::submit_array`] is possible.
    pub fn has_arrays(&self) -> bool {
        !self.description.submit.array.is_empty()
    }

    /// Submits `count` equal jobs as one job array. Otherwise as [`Self::submit`]. Returns the numbers of the jobs.
    ///
    /// # Errors
    /// The errors of [`Self::submit`].
    pub fn submit_array(
        &self,
        request: &JobRequest<'_>,
        options: &[String],
        line: &str,
        count: u32,
    ) -> Result<Vec<u64>, CommandError> {
        let job = self.submit_by(&self.words(request, options, count), &self.script(request, line, true))?;
        Ok((1..=u64::from(count)).map(|task| job + task * TASK).collect())
    }

    fn submit_by(&self, words: &[String], script: &str) -> Result<u64, CommandError> {
        let (program, words) = (self.programs[0], &words[1..]);
        let printed = self.commands.run_with_input(program, words, script.as_bytes())?.out;
        let number = || self.id.captures(&printed)?.name("job")?.as_str().parse().ok();
        number().ok_or_else(|| {
            let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
            let problem = format!("the command printed `{last}` instead of a job number");
            CommandError::nonsense(program, words, problem)
        })
    }

    /// Returns the command that submits `tasks` equal jobs.
    fn words(&self, request: &JobRequest<'_>, options: &[String], tasks: u32) -> Vec<String> {
        let SubmitWords { command, size, cores, memory, nodes: several, array, time, log, log_name, .. } =
            &self.description.submit;
        let names_cores = cores.first().is_some_and(|first| options.contains(first));
        let JobSize { nodes, cores: count, memory: bytes } =
            request.size.unwrap_or(JobSize { nodes: 1, cores: 1, memory: None });
        let is_wide = nodes > 1 && !several.is_empty();
        let log_file = request.logs.unwrap_or(Path::new("")).join(format!("{log_name}.log"));
        let values = [
            ("{name}", request.name.to_owned()),
            ("{nodes}", nodes.to_string()),
            ("{cores}", count.to_string()),
            ("{memory}", bytes.unwrap_or_default().to_string()),
            ("{megabytes}", bytes.unwrap_or_default().div_ceil(1 << 20).to_string()),
            ("{count}", tasks.to_string()),
            ("{time}", request.time.unwrap_or_default().to_owned()),
            ("{seconds}", request.seconds().unwrap_or_default().to_string()),
            ("{log}", log_file.display().to_string()),
        ];
        let parts = [
            (true, command),
            (request.size.is_some(), size),
            (count > 1 && !is_wide && !names_cores, cores),
            (bytes.is_some(), memory),
            (is_wide, several),
            (tasks > 1, array),
            (request.time.is_some(), time),
            (request.logs.is_some(), log),
        ];
        let words = parts.into_iter().filter(|(is_needed, _)| *is_needed).flat_map(|(_, words)| words);
        words.map(|word| filled(word, &values)).chain(options.iter().cloned()).collect()
    }

    /// Returns the script of a job. For batch systems other than Slurm, the script sets environment variables that
    /// state the number, the nodes and the end of the job.
    fn script(&self, request: &JobRequest<'_>, line: &str, is_array: bool) -> String {
        let BatchDescription { job_id: id, task_id, nodes, .. } = &*self.description;
        if id.is_empty() {
            return format!("#!/bin/sh\nexec {line}\n");
        }
        let mut script = format!("#!/bin/sh\n{JOB_ID}={id}\n");
        if is_array {
            let _ = writeln!(script, "task={task_id}\n{JOB_ID}=$(({JOB_ID} + task * {TASK}))");
        }
        let _ = writeln!(script, "export {JOB_ID}");
        // Some batch systems start jobs in the home folder.
        if let Ok(here) = std::env::current_dir() {
            script += &format!("cd {} || exit 1\n", quoted(&here));
        }
        if let Some(size) = request.size {
            let _ = writeln!(script, "{JOB_CORES}={}\nexport {JOB_CORES}", size.cores);
        }
        if let Some(nodes) = nodes.as_ref().filter(|_| request.size.is_some_and(|size| size.nodes > 1)) {
            let launch = quoted(Path::new(&nodes.launch.join(" ")));
            let _ =
                writeln!(script, "{JOB_NODES}={}\n{JOB_LAUNCH}={launch}\nexport {JOB_NODES} {JOB_LAUNCH}", nodes.names);
        }
        if let Some(seconds) = request.seconds() {
            let _ = writeln!(script, "{JOB_END}=$(($(date +%s) + {seconds}))\nexport {JOB_END}");
        }
        let logs = request.logs.filter(|_| self.description.submit.log.is_empty());
        let log = logs.map_or_else(String::new, |logs| format!(" >>{}/\"$MAKESPAN_JOB_ID\".log 2>&1", quoted(logs)));
        format!("{script}exec {line}{log}\n")
    }

    /// Returns an error if the description has no arguments for pilots of this size.
    ///
    /// # Errors
    /// A message with the missing key.
    pub fn check_size(&self, size: JobSize) -> Result<(), String> {
        let SubmitWords { memory, nodes, .. } = &self.description.submit;
        let (what, key) = match size {
            JobSize { nodes: 2.., .. } if nodes.is_empty() => ("pilots with several nodes", "nodes"),
            JobSize { memory: Some(_), .. } if memory.is_empty() => ("--node-memory", "memory"),
            _ => return Ok(()),
        };
        let name = self.name();
        Err(format!("{what}: the description of {name} has no key submit.{key}; add the key, or omit the option"))
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
        let jobs = self.job.captures_iter(&printed.out).flat_map(|found| self.tasks(&found)).collect();
        Ok((jobs, !printed.out.trim().is_empty()))
    }

    /// Returns the job of a match, or the tasks of a job array.
    fn tasks(&self, found: &Captures<'_>) -> Vec<ListedJob> {
        let tasks = found.name("task").map_or_else(Vec::new, |tasks| task_numbers(tasks.as_str().trim()));
        let Some(one) = self.listed(found) else { return Vec::new() };
        if tasks.is_empty() {
            return vec![one];
        }
        tasks.into_iter().map(|task| ListedJob { job: one.job + task * TASK, ..one.clone() }).collect()
    }

    fn listed(&self, found: &Captures<'_>) -> Option<ListedJob> {
        let part = |name: &str| found.name(name).map(|part| part.as_str().trim());
        let (state, name) = (part("state")?, part("name")?.to_owned());
        let StateNames { waiting, held, suspended, ended, .. } = &self.description.states;
        let is_in = |list: &[String]| list.iter().any(|known| known == state);
        let own = match state {
            _ if is_in(waiting) || is_in(held) => JobState::Pending,
            _ if is_in(suspended) => JobState::Suspended,
            _ if is_in(ended) => JobState::Completed,
            _ if self.as_slurm().is_some() => JobState::parse(state),
            _ => JobState::Running,
        };
        let reason = part("reason").unwrap_or(if is_in(held) { state } else { "" });
        let reason = present(reason).unwrap_or_default().to_owned();
        let nodes = part("nodes").and_then(|nodes| nodes.parse().ok());
        let left = part("left").and_then(duration).and_then(OptionalLimit::value).map(Duration::from_secs);
        let hosts = part("hosts").and_then(|hosts| expand(hosts).ok()).unwrap_or_default();
        Some(ListedJob { job: part("job")?.parse().ok()?, state: own, reason, name, nodes, left, hosts })
    }

    /// Returns what the user can do about a job that is pending for this reason and does not start by itself.
    pub fn advice(&self, reason: &str, job: u64) -> Option<String> {
        let StateNames { held, advice, .. } = &self.description.states;
        let is_held = held.iter().any(|known| known == reason);
        advice.as_ref().filter(|_| is_held).map(|advice| advice.replace("{job}", &self.name_of(job)))
    }

    /// Returns the name of a job for the commands of the batch system.
    fn name_of(&self, job: u64) -> String {
        if job < TASK {
            return job.to_string();
        }
        let [number, task] = [job % TASK, job / TASK].map(|number| number.to_string());
        self.description.cancel.task.replace("{job}", &number).replace("{task}", &task)
    }

    /// Cancels jobs. If a job has already ended, this is not an error.
    ///
    /// # Errors
    /// [`CommandError`]
    pub fn cancel(&self, jobs: &[u64]) -> Result<(), CommandError> {
        for some in jobs.chunks(MAX_CANCELLED) {
            let words = self.description.cancel.command[1..].iter().cloned();
            let words: Vec<String> = words.chain(some.iter().map(|&job| self.name_of(job))).collect();
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

/// Returns the numbers of tasks in a text such as `2`, `1-3:1` or `4,7-9`. At most [`MAX_CANCELLED`] numbers of each range
/// are returned.
fn task_numbers(text: &str) -> Vec<u64> {
    let part = |part: &str| {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        let step = step.parse().ok().filter(|&step: &usize| step > 0)?;
        (last < MAX_TASK).then(|| (first..=last).step_by(step).take(MAX_CANCELLED))
    };
    text.split(',').filter_map(part).flatten().collect()
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
    let of_script = || variable(JOB_NODE).unwrap_or_else(makespan_exec::host);
    let node = if own_script_job().is_some() { Some(of_script()) } else { variable("SLURMD_NODENAME") };
    Some((own_job()?, node?))
}

/// Returns a command that runs a program on each node of the job. Empty if the job has one node.
pub(crate) fn own_launches() -> Vec<Command> {
    let (Some(nodes), Some(launch)) = (variable(JOB_NODES), variable(JOB_LAUNCH)) else { return Vec::new() };
    let mut names: Vec<&str> = Vec::new();
    for name in nodes.split_whitespace() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let launch_on = |(index, name): (usize, &&str)| {
        let values = [("{node}", (*name).to_owned()), ("{index}", index.to_string())];
        let mut words = launch.split_whitespace().map(|word| filled(word, &values));
        let mut command = Command::new(words.next().unwrap_or_default());
        // The program may start on the node with another environment.
        let own = [JOB_ID, JOB_CORES, JOB_END].into_iter().filter_map(|key| Some(format!("{key}={}", variable(key)?)));
        command.args(words).arg("env").arg(format!("{JOB_NODE}={name}")).args(own);
        command
    };
    names.iter().enumerate().map(launch_on).collect()
}

/// Returns the number of the job in which this process runs.
pub(crate) fn own_job() -> Option<u64> {
    own_script_job().or_else(|| variable("SLURM_JOB_ID")?.parse().ok())
}

/// Returns the number of the job, as the script of the job states it. `None` in a job of Slurm.
pub(crate) fn own_script_job() -> Option<u64> {
    variable(JOB_ID)?.parse().ok()
}

/// Returns the number of cores of the job, if its script states it.
pub(crate) fn own_cores() -> Option<usize> {
    variable(JOB_CORES)?.parse().ok()
}

/// Returns the end of the job in seconds since 1970, if its script states it.
pub(crate) fn own_end() -> Option<u64> {
    variable(JOB_END)?.parse().ok()
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
        let size = Some(JobSize { nodes: 2, cores: 4, memory: None });
        JobRequest { name: "run-1", size, time: Some("1:00:00"), logs: Some(Path::new("/r/it's")) }
    }

    #[test]
    fn commands_are_filled() {
        let sge = system("sge");
        let said = sge.words(&request(), &["-q".into(), "all.q".into()], 1).join(" ");
        assert_eq!(said, "qsub -terse -N run-1 -S /bin/sh -r n -j y -o /dev/null -pe smp 4 -l h_rt=3600 -q all.q");
        let said = sge.words(&request(), &["-pe".into(), "other".into(), "4".into()], 1).join(" ");
        assert!(!said.contains("smp"), "{said}");
        assert!(sge.script(&request(), "x", false).ends_with("exec x >>'/r/it'\\''s'/\"$MAKESPAN_JOB_ID\".log 2>&1\n"));
        let said = system("slurm").words(&request(), &[], 1).join(" ");
        let expected = "--nodes=2 --exclusive --no-kill --time=1:00:00 --output=/r/it's/%j.log --open-mode=append";
        assert!(said.ends_with(expected), "{said}");
    }

    #[test]
    fn memory_nodes_and_arrays_are_requested() {
        let size = JobSize { nodes: 1, cores: 4, memory: Some((1 << 30) + 1) };
        let one = JobRequest { size: Some(size), ..request() };
        let said = system("sge").words(&one, &[], 3).join(" ");
        assert!(said.contains("-pe smp 4 -l mem_free=1025M -t 1-3 -l h_rt=3600"), "{said}");
        let script = system("sge").script(&one, "x", true);
        let number =
            "MAKESPAN_JOB_ID=$JOB_ID\ntask=$SGE_TASK_ID\nMAKESPAN_JOB_ID=$((MAKESPAN_JOB_ID + task * 1000000000000))\n";
        assert!(script.contains(number), "{script}");
        let two = JobRequest { size: Some(JobSize { nodes: 2, memory: None, ..size }), ..request() };
        let said = system("pbs").words(&two, &[], 1).join(" ");
        assert!(said.contains("-l select=2:ncpus=4 -l place=scatter") && !said.contains("-l ncpus"), "{said}");
        let script = system("pbs").script(&two, "x", false);
        assert!(script.contains("MAKESPAN_JOB_LAUNCH='pbsdsh -n {index} --'\n"), "{script}");
        assert!(system("pbs").check_size(two.size.unwrap()).is_ok() && system("pbs").check_size(size).is_ok());
        let said = system("sge").check_size(two.size.unwrap()).unwrap_err();
        assert!(said.contains("Grid Engine has no key submit.nodes"), "{said}");
        assert_eq!((shown(7), shown(7 + 12 * TASK)), ("7".into(), "7.12".into()));
        assert_eq!(system("sge").name_of(7 + 12 * TASK), "7.12");
        assert_eq!(task_numbers("2"), [2]);
        assert_eq!(task_numbers("1-5:2,9"), [1, 3, 5, 9]);
        assert!(task_numbers("").is_empty() && task_numbers("x-3").is_empty() && task_numbers("3-1").is_empty());
    }

    #[test]
    fn held_jobs_have_advice() {
        let said = system("sge").advice("Eqw", 7).unwrap();
        assert!(said.contains("`qmod -cj 7`") && said.contains("`qrls 7`"), "{said}");
        assert_eq!((system("sge").advice("qw", 7), system("slurm").advice("JobHeldUser", 7)), (None, None));
    }

    #[test]
    fn jobs_are_listed() {
        let read = |name: &str, text: &str| -> Vec<(u64, String, String)> {
            let own = system(name);
            let all = own.job.captures_iter(text).flat_map(|found| own.tasks(&found));
            all.map(|job| (job.job, format!("{:?} {}", job.state, job.reason), job.name)).collect()
        };
        let xml = "<job_list state=\"running\">\n<JB_job_number>7</JB_job_number>\n<JAT_prio>0.5</JAT_prio>\n\
            <JB_name>a-1</JB_name>\n<state>r</state></job_list><job_list><JB_job_number>8</JB_job_number>\
            <JB_name>b</JB_name><state>Eqw</state></job_list>\n<job_list>\n\
            <JB_job_number>9</JB_job_number><JB_name>c</JB_name><state>qw</state><slots>1</slots>\n<tasks>2-3:1</tasks>\n\
            </job_list>";
        let name = |name: &str, state: &str| (state.to_owned(), name.to_owned());
        let numbers = [7, 8, 9 + 2 * TASK, 9 + 3 * TASK];
        let others = [name("a-1", "Running "), name("b", "Pending Eqw"), name("c", "Pending "), name("c", "Pending ")];
        let expected: Vec<_> =
            numbers.into_iter().zip(others).map(|(number, (state, name))| (number, state, name)).collect();
        assert_eq!(read("sge", xml), expected);
        let full = "Job Id: 12.head\n    Job_Name = c\n    Job_Owner = ann@head\n    job_state = F\n\n";
        assert_eq!(read("pbs", full), [(12, "Completed ".into(), "c".into())]);
        let lines = "12|PENDING|Dependency|1|1:00||a|b\n3_1|RUNNING|None|1|2:00|n1|x\n|\n\
            9|FAILED|NonZeroExitCode|1|0:00|n1|d\n";
        let expected =
            [(12, "Pending Dependency".into(), "a|b".into()), (9, "Failed NonZeroExitCode".into(), "d".into())];
        assert_eq!(read("slurm", lines), expected);
        let own = system("slurm");
        let found = own.job.captures("7|RUNNING|None|2|1-00:00:05|n[1-2]|x").unwrap();
        let expected = ListedJob {
            job: 7,
            state: JobState::Running,
            reason: String::new(),
            name: "x".into(),
            nodes: Some(2),
            left: Some(Duration::from_secs(86_405)),
            hosts: vec!["n1".into(), "n2".into()],
        };
        assert_eq!(own.listed(&found), Some(expected));
    }
}
