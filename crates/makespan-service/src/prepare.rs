//! Checks submissions and converts them to jobs.

use std::collections::BTreeMap;

use makespan::formats::instance::read_json;
use makespan::formats::list::read_list;
use makespan::formats::{FormatError, Language, ReadOptions, parse_instance, write_instance};
use makespan::scheduler;
use makespan_core::{Instance, InstanceError, Job, JobId, Platform, TaskId, Time, Weight, Work, shell_line};
use serde_json::{Map, Value, json};

use crate::clock::wall;
use crate::host::Host;
use crate::words::{Content, Needs, Refusal, RefusalKind, Submission};

/// Maximum length of a name, in characters.
const LONGEST_NAME: usize = 1000;
/// Maximum expected run time and maximum walltime of a task, in seconds. The sum of longer times over a long queue
/// could exceed the range of instants.
const LONGEST: f64 = 366.0 * 86_400.0;
/// Maximum number of jobs in one request, and maximum number of their tasks.
const MOST: usize = 100_000;
/// Maximum distance of an instant from now, in seconds: about 30 years. The distance is limited because engines count
/// in nanoseconds.
const FARTHEST: f64 = 1e9;
/// Maximum length of an argument or a variable, in bytes. Linux cannot start a program with a longer argument.
const LONGEST_WORD: usize = (128 << 10) - 1;
/// Maximum total length of all arguments of a command, or of all variables, in bytes.
const LONGEST_COMMAND: usize = 1 << 20;
/// Maximum number of jobs for which a submission waits.
const MAX_BEFORE: usize = 10_000;
/// Maximum absolute value of a priority.
const PRIORITIES: i32 = 10;

/// A checked job in the form in which it is stored.
#[derive(Clone, Debug)]
pub struct PreparedJob {
    /// The name of the job.
    pub name: String,
    /// The job as an instance in the native format, without a platform.
    pub spec: String,
    /// The smallest number of processors on which some task of the job can run.
    pub processors: u32,
    /// The largest number of processors on which some task of the job can run. The check of a user's processor limit
    /// uses this number for tasks that have not started.
    pub widest: u32,
    /// The number of tasks.
    pub tasks: u64,
    /// The sum of the longest run times of all tasks, in ticks.
    pub length: i64,
    /// The weight in the submitted file, before it is multiplied by the weight of the submission.
    pub weight: f64,
    /// The jobs for which this job waits, as positions in this submission.
    pub after: Vec<usize>,
    /// The deadline in the file, in seconds after the submission.
    pub deadline: Option<f64>,
    /// The earliest start in the file, in seconds after the submission.
    pub begin: Option<f64>,
}

/// A checked submission in the form in which it is stored.
#[derive(Clone, Debug)]
pub struct PreparedSubmission {
    /// The jobs, in the order of the file.
    pub jobs: Vec<PreparedJob>,
    /// Warnings about parts of the file that were ignored or may have a different meaning than intended.
    pub remarks: Vec<String>,
}

/// Checks that the number of jobs does not exceed the maximum for one request.
///
/// # Errors
/// [`Refusal`].
pub fn check_count(jobs: usize) -> Result<(), Refusal> {
    if jobs <= MOST {
        return Ok(());
    }
    Err(bad("submissions", format!("there are {jobs} jobs"), &format!("submit at most {MOST} at once")))
}

/// Creates a refusal. An empty `place` or `remedy` is omitted.
pub fn refusal(kind: RefusalKind, place: &str, message: impl Into<String>, remedy: &str) -> Refusal {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Refusal { kind, message: message.into(), place: some(place), remedy: some(remedy) }
}

fn bad(place: &str, message: impl Into<String>, remedy: &str) -> Refusal {
    refusal(RefusalKind::BadInput, place, message, remedy)
}

/// Checks a submission for a platform, and converts it to jobs.
///
/// # Errors
/// [`Refusal`] with the place of the problem.
pub fn prepare(submission: &Submission, platform: &Platform, host: &dyn Host) -> Result<PreparedSubmission, Refusal> {
    check(submission)?;
    let (instance, remarks) = match &submission.content {
        Content::Command { argv, needs } => (command(submission, argv, needs, platform)?, Vec::new()),
        Content::List { text } => (read_list("list", text, platform).map_err(|error| of_file(&error))?, Vec::new()),
        Content::Instance { text, file } => file_of_jobs(text, file.as_deref(), platform)?,
    };
    // The reader removes resources that no job needs from the platform, so the instance is built again with the whole
    // platform.
    let jobs = host.learn(instance.all_submitted());
    let whole = Instance::new(platform.clone(), jobs, Vec::new()).map_err(|error| of_instance(&error))?;
    check_jobs(&whole, platform)?;
    let jobs = whole.all_submitted();
    let positions: BTreeMap<&str, usize> = jobs.iter().enumerate().map(|(at, job)| (job.name.as_str(), at)).collect();
    let prefix = match (&submission.content, &submission.name) {
        (Content::Command { .. }, _) | (_, None) => String::new(),
        (_, Some(name)) => format!("{name}/"),
    };
    let mut prepared = Vec::with_capacity(jobs.len());
    for (at, job) in jobs.iter().enumerate() {
        let after = job.after.iter().filter_map(|name| positions.get(&**name).copied()).collect();
        prepared.push(one(job, &whole, at, &prefix, after, platform)?);
    }
    Ok(PreparedSubmission { jobs: prepared, remarks })
}

fn one(
    job: &Job,
    whole: &Instance,
    at: usize,
    prefix: &str,
    after: Vec<usize>,
    platform: &Platform,
) -> Result<PreparedJob, Refusal> {
    let id = JobId(at as u32);
    let tasks: Vec<TaskId> = whole.job(id).different_task_ids().collect();
    let profiles = || tasks.iter().map(|&task| whole.profile(task));
    let longest = |sum: i64, ticks: i64| sum.saturating_add(ticks);
    let equal = i64::try_from(whole.job(id).equal_tasks()).unwrap_or(i64::MAX);
    let length = profiles().map(|profile| profile.longest().ticks()).fold(0, longest).saturating_mul(equal);
    let seconds = |time: Time| time.seconds();
    let mut alone = job.clone();
    alone.after.clear();
    let name = format!("{prefix}{}", job.name);
    Ok(PreparedJob {
        spec: spec(alone, platform)?,
        processors: profiles().map(makespan_core::Profile::min_processors).min().unwrap_or(1),
        widest: profiles().map(makespan_core::Profile::max_processors).max().unwrap_or(1),
        tasks: job.work.tasks(),
        length,
        weight: job.weight.millionths() as f64 / 1e6,
        after,
        deadline: job.deadline.map(seconds),
        begin: (job.release > Time::ZERO).then(|| seconds(job.release)),
        name,
    })
}

/// Returns a job as an instance in the native format, without platform, weight, release date and deadline. The service
/// stores these data separately. A best-effort job keeps its weight of 0.
pub(crate) fn spec(mut job: Job, platform: &Platform) -> Result<String, Refusal> {
    let is_best_effort = job.weight == Weight::ZERO;
    if !is_best_effort {
        job.weight = Weight::ONE;
    }
    (job.deadline, job.release) = (None, Time::ZERO);
    let alone = Instance::new(platform.clone(), vec![job], Vec::new()).map_err(|error| of_instance(&error))?;
    let mut text = Vec::new();
    let failed = |error: &dyn std::fmt::Display| bad("content", format!("a job cannot be stored: {error}"), "");
    write_instance(&alone, Language::Json, &mut text).map_err(|error| failed(&error))?;
    let mut file: Map<String, Value> = serde_json::from_slice(&text).map_err(|error| failed(&error))?;
    file.remove("platform");
    serde_json::to_string(&file).map_err(|error| failed(&error))
}

/// Reads the only job of an instance in the native format, for a platform.
///
/// # Errors
/// The reason why the job does not fit the platform.
pub fn job_of(spec: &str, platform: &Platform) -> Result<Job, String> {
    let instance = read_json("job", spec.as_bytes(), Some(platform)).map_err(|error| error.to_string())?;
    Ok(instance.submitted(JobId(0)))
}

/// Wraps a command in a call of the program `env`, which sets the working directory and environment variables without a
/// shell.
pub fn wrapped(
    command: Vec<String>,
    name: &str,
    directory: Option<&str>,
    environment: &BTreeMap<String, String>,
) -> Vec<String> {
    let folder = directory.into_iter().flat_map(|directory| ["-C".to_owned(), directory.to_owned()]);
    // Braces are removed, because they would be read as placeholders such as `{processors}`.
    let name = format!("MAKESPAN_NAME={}", name.replace(['{', '}', '\0'], "_"));
    let variables = environment.iter().map(|(name, value)| format!("{name}={value}"));
    ["env".to_owned()].into_iter().chain(folder).chain([name]).chain(variables).chain(command).collect()
}

/// Undoes [`wrapped`]: returns the original command and its working directory.
pub fn unwrapped(words: &[String]) -> (&[String], Option<&str>) {
    let (folder, rest) = match words {
        [env, option, folder, rest @ ..] if env == "env" && option == "-C" => (Some(folder.as_str()), rest),
        [env, rest @ ..] if env == "env" => (None, rest),
        _ => return (words, None),
    };
    let first = rest.iter().position(|word| !word.contains('=')).unwrap_or(rest.len());
    (&rest[first..], folder)
}

/// Wraps the commands of all tasks of a job with [`wrapped`].
pub fn wrap(job: &mut Job, name: &str, directory: Option<&str>, environment: &BTreeMap<String, String>) {
    for task in job.work.tasks_mut() {
        task.command = wrapped(std::mem::take(&mut task.command), name, directory, environment);
    }
}

/// Returns the names and commands of the tasks of a job. A bag has one entry for all its tasks.
pub fn commands(job: &Job) -> Vec<(String, Vec<String>)> {
    match &job.work {
        Work::Task(task) | Work::Bag(task, _) => vec![(String::new(), task.command.clone())],
        Work::Graph(graph) => {
            graph.tasks().iter().map(|one| (one.name.to_string(), one.task.command.clone())).collect()
        }
    }
}

fn check(submission: &Submission) -> Result<(), Refusal> {
    let Submission { name, directory, environment, weight, priority, deadline, begin, after, .. } = submission;
    if let Some(name) = name
        && (name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control))
    {
        let message =
            format!("the name is empty, contains control characters, or has more than {LONGEST_NAME} characters");
        return Err(bad("name", message, "write another name"));
    }
    if let Some(directory) = directory
        && (!directory.starts_with('/') || is_special(directory))
    {
        return Err(bad(
            "directory",
            "the path is not absolute, or contains {processors}, {gpus} or {task}",
            "write an absolute path, beginning with /, without {processors} or {gpus}",
        ));
    }
    for (name, value) in environment {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit()) {
            let message = format!("`{name}` is not a valid name of a variable");
            return Err(bad(
                "environment",
                message,
                "a name consists of letters, digits and _, and does not begin with a digit",
            ));
        }
        if is_special(value) {
            let remedy = "write a value without NUL bytes and without the texts {processors}, {gpus} and {task}";
            return Err(bad(&format!("environment.{name}"), "the value of this variable is not allowed", remedy));
        }
    }
    check_words("environment", environment.iter().map(|(name, value)| name.len() + value.len()))?;
    for (field, value) in [("deadline", deadline), ("begin", begin)] {
        if value.is_some_and(|value| !(0.0..=wall() + FARTHEST).contains(&value)) {
            return Err(bad(field, "the instant is not within the next 30 years", "write seconds after 1970"));
        }
    }
    if after.len() > MAX_BEFORE {
        let message = format!("the submission waits for {} jobs", after.len());
        return Err(bad("after", message, &format!("name at most {MAX_BEFORE} jobs")));
    }
    if weight.is_some_and(|weight| !weight.is_finite() || !(1e-6..=1e6).contains(&weight)) {
        return Err(bad("weight", "the value is out of range", "write a number from 0.000001 to 1000000"));
    }
    if priority.is_some_and(|priority| !(-PRIORITIES..=PRIORITIES).contains(&priority)) {
        return Err(bad("priority", "the value is out of range", "write a number from -10 to 10"));
    }
    Ok(())
}

/// Returns a refusal if arguments or variables are too long to start a program.
fn check_words(place: &str, lengths: impl Iterator<Item = usize>) -> Result<(), Refusal> {
    let mut all = 0;
    for length in lengths {
        all += length + 9;
        if length > LONGEST_WORD || all > LONGEST_COMMAND {
            let message = format!(
                "one word has more than {LONGEST_WORD} bytes, or all words together have more than {LONGEST_COMMAND}"
            );
            return Err(bad(place, message, "put the text into a file, and pass the name of the file"));
        }
    }
    Ok(())
}

fn is_special(text: &str) -> bool {
    text.contains('\0') || ["{processors}", "{gpus}", "{task}"].iter().any(|word| text.contains(word))
}

fn command(submission: &Submission, argv: &[String], needs: &Needs, platform: &Platform) -> Result<Instance, Refusal> {
    let place = "content.command.argv";
    if needs.processors == Some(0) {
        return Err(bad(
            "content.command.needs.processors",
            "the number of processors is 0",
            "write 1 or more, or remove the field",
        ));
    }
    let Some(program) = argv.first().filter(|program| !program.is_empty()) else {
        return Err(bad(place, "there is no program", "write a program and its arguments"));
    };
    if program.contains('=') {
        return Err(bad(
            place,
            "the name of the program contains the character =",
            "run the program through a shell, such as [\"sh\", \"-c\", ..]",
        ));
    }
    if argv.iter().any(|word| word.contains('\0')) {
        return Err(bad(place, "an argument contains a NUL byte", "remove this byte"));
    }
    check_words(place, argv.iter().map(String::len))?;
    for (field, value) in [("time", needs.time), ("walltime", needs.walltime)] {
        if value.is_some_and(|value| !value.is_finite() || value <= 0.0 || value > LONGEST) {
            let place = format!("content.command.needs.{field}");
            return Err(bad(&place, "the value is not a valid duration", "write seconds above 0, at most 366 days"));
        }
    }
    let mut name = submission.name.clone().unwrap_or_else(|| named(argv));
    name.truncate(name.char_indices().nth(LONGEST_NAME).map_or(name.len(), |(at, _)| at));
    let mut job = Map::new();
    job.insert("name".into(), name.into());
    job.insert("command".into(), argv.into());
    job.insert("processors".into(), needs.processors.unwrap_or(1).into());
    if let Some(time) = needs.time {
        job.insert("time".into(), time.into());
    }
    if let Some(walltime) = needs.walltime {
        job.insert("walltime".into(), walltime.into());
    }
    if !needs.resources.is_empty() {
        job.insert("needs".into(), json!(needs.resources));
    }
    let file = json!({ "version": 2, "jobs": [job] }).to_string();
    read_json("job", file.as_bytes(), Some(platform)).map_err(|error| of_command(&error))
}

/// Returns a name for a command: the first 60 characters of its arguments.
fn named(argv: &[String]) -> String {
    let words = shell_line(argv).map_or_else(|| argv.join(" "), str::to_owned);
    let plain: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect();
    let plain = plain.trim().to_owned();
    if plain.is_empty() { "command".into() } else { plain }
}

/// Reads the jobs of a file. Returns the instance and the warnings.
fn file_of_jobs(text: &str, file: Option<&str>, platform: &Platform) -> Result<(Instance, Vec<String>), Refusal> {
    if let Some(program) = file.and_then(program_that_reads) {
        let message = format!("a service does not read files of {program}");
        return Err(bad("content.instance.file", message, &format!("submit the program instead: {program}")));
    }
    let options = ReadOptions { machine: Some(platform.clone()), workflows_on_machine: true, ..ReadOptions::default() };
    let read = parse_instance(text.as_bytes(), file.unwrap_or("file"), &options).map_err(|error| of_file(&error))?;
    if !read.instance.unavailable().is_empty() {
        let message = "the file states unavailable processors, but all users share the machines of a service";
        return Err(bad(
            "content: unavailable",
            message,
            "remove the unavailable periods; an admin can keep processors free with a reservation",
        ));
    }
    let mut remarks = read.remarks;
    // The reader removes resources that no job needs, so only the names and processors of nodes are compared.
    let machines = |platform: &Platform| -> Vec<(String, u32)> {
        platform.nodes().iter().map(|node| (node.name.clone(), node.processors)).collect()
    };
    if machines(read.instance.platform()) != machines(platform) {
        remarks.push("the machines of the file are ignored: the jobs run on the machines of the service".into());
    }
    Ok((read.instance, remarks))
}

/// If the file name indicates a file for `make` or `snakemake`, which the service cannot read, returns the name of
/// this program.
fn program_that_reads(file: &str) -> Option<&'static str> {
    let ends = |ending: &str| file.rsplit_once('.').is_some_and(|(_, own)| own == ending);
    match file {
        "Makefile" | "makefile" | "GNUmakefile" => Some("make"),
        "Snakefile" => Some("snakemake"),
        _ if ends("mk") => Some("make"),
        _ if ends("smk") => Some("snakemake"),
        _ => None,
    }
}

fn check_jobs(instance: &Instance, platform: &Platform) -> Result<(), Refusal> {
    if instance.jobs().len() > MOST {
        let message = format!("there are {} jobs", instance.jobs().len());
        return Err(bad("content", message, &format!("submit at most {MOST} at once")));
    }
    if instance.tasks() > MOST as u64 {
        let message = format!("there are {} tasks", instance.tasks());
        return Err(bad("content", message, &format!("submit at most {MOST} at once")));
    }
    instance.check_task_names().map_err(|error| of_instance(&error))?;
    for (at, job) in instance.jobs().iter().enumerate() {
        let far = |time: Time| time.seconds() > FARTHEST;
        if far(job.release) || job.deadline.is_some_and(far) {
            let message = format!("a date of job {} is more than 30 years in the future", at + 1);
            return Err(bad("content", message, "write seconds after the submission"));
        }
    }
    if instance.has_setups() {
        let message = "the platform states `setups`, but only `plan` supports setup times".to_owned();
        return Err(bad("content", message, "remove the key `family` of the jobs"));
    }
    if let Some(job) = instance.jobs().iter().find(|job| job.must_end_by.is_some()) {
        let message = format!("job `{}` states `must_end_by`, but only `plan` keeps such deadlines", job.name);
        return Err(bad("content", message, "write `deadline` (a due date) instead"));
    }
    for task in instance.different_task_ids() {
        if instance.task(task).command.is_empty() {
            let message = format!("job `{}` has no command", instance.name(task));
            return Err(bad("content", message, "state a command for every job"));
        }
        if instance.task(task).command[0].contains('=') {
            let message = format!("the program of job `{}` contains the character = in its name", instance.name(task));
            return Err(bad("content", message, "run the program through a shell, such as [\"sh\", \"-c\", ..]"));
        }
        if instance.profile(task).longest().seconds() > LONGEST {
            let message = format!("job `{}` is expected to run for more than 366 days", instance.name(task));
            return Err(bad("content", message, "state a shorter time"));
        }
    }
    let alone =
        Instance::new(platform.clone(), instance.all_submitted(), Vec::new()).map_err(|error| of_instance(&error))?;
    let refused = |error: String| {
        bad("content", format!("a service cannot run these jobs: {error}"), "run these jobs with `makespan run`")
    };
    let planner = scheduler(crate::PLANNER).map_err(|error| refused(error.to_string()))?;
    planner.supports(&alone).map_err(|error| refused(error.to_string()))
}

fn of_file(error: &FormatError) -> Refusal {
    let text = error.to_string();
    let FormatError::Content { place, problem, .. } = error else { return bad("content", text, "") };
    let at = place.to_string();
    let at = at.trim_start_matches(':').trim();
    let place = if at.is_empty() { "content".to_owned() } else { format!("content: {at}") };
    bad(&place, problem.clone(), "").of_kind(kind_of(problem))
}

/// Converts a problem of the instance file that was generated from a command. The place of the refusal is a field of
/// the submission, not of the generated file.
fn of_command(error: &FormatError) -> Refusal {
    let refused = of_file(error);
    let place = refused
        .place
        .as_deref()
        .and_then(|place| place.split_once("jobs[0]"))
        .map(|(_, rest)| rest.trim_matches(['.', '`', ':', ' ']));
    let place = match place {
        Some("command") => "content.command.argv".into(),
        Some("name") => "name".into(),
        Some(needs) if needs.starts_with("needs.") => needs.replacen("needs.", "content.command.needs.resources.", 1),
        Some(field) if !field.is_empty() => format!("content.command.needs.{field}"),
        _ => "content.command.needs".into(),
    };
    Refusal { place: Some(place), ..refused }
}

fn of_instance(error: &InstanceError) -> Refusal {
    let text = error.to_string();
    bad("content", text.clone(), "").of_kind(kind_of(&text))
}

/// Returns the kind of refusal for a message of a reader.
fn kind_of(problem: &str) -> RefusalKind {
    if problem.contains("in a cycle") {
        RefusalKind::Cycle
    } else if problem.contains("machines, but the platform has")
        || problem.contains("fits no")
        || problem.contains("at least")
    {
        RefusalKind::FitsNowhere
    } else {
        RefusalKind::BadInput
    }
}

impl Refusal {
    fn of_kind(self, kind: RefusalKind) -> Self {
        Self { kind, ..self }
    }
}
