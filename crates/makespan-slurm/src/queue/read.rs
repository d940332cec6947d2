//! Reads the texts of a queue, from a running Slurm or from files in a folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::command::{CommandError, Commands, Program, Refusal};
use crate::text::{Kind, date, records};

use super::doubts::on_idle_nodes;
use super::now::TOLERANCE;
use super::saved::{FILES, SavedError, file, saved};
use super::{ClusterOutput, Queue, Texts, beside};

/// Optional parts. For each part, the consequence if the part is missing.
const HELPFUL: [(ClusterOutput, &str); 4] = [
    (ClusterOutput::Config, "the intervals of the scheduler and the resources that it counts are assumed"),
    (ClusterOutput::Reservations, "no reservation is known"),
    (ClusterOutput::Licences, "no licence is known"),
    (ClusterOutput::Limits, "no limit of users and accounts is known"),
];

/// The consequence if accounting data are missing. It matters only if run times are learned.
const NO_PAST: &str = "run times are learned only from jobs that the controller remembers";

impl Queue {
    /// Queries a running Slurm. Runs only commands that change nothing. The first query has a time limit of 10 s. All
    /// further queries together take no longer than the time limit of one command. The first query without an answer
    /// ends the reading.
    ///
    /// # Errors
    /// [`CommandError`] if nodes or jobs cannot be read. If another part is missing, the result contains a warning.
    pub fn read(commands: &Commands, days: u32) -> Result<Self, CommandError> {
        // A controller that is down is reported soon. A controller that answers the first query gets more time.
        let first = commands.clone().for_first_request();
        let mut texts = helpful(&first, ClusterOutput::Config, Texts::default(), days)?;
        let commands = &commands.clone().sharing_limits();
        for part in [
            ClusterOutput::Partitions,
            ClusterOutput::Reservations,
            ClusterOutput::Licences,
            ClusterOutput::Limits,
            ClusterOutput::Qos,
        ] {
            texts = helpful(commands, part, texts, days)?;
        }
        if days > 0 {
            texts = helpful(commands, ClusterOutput::Past, texts, days)?;
        }
        let mut best: Option<Self> = None;
        // If a job starts or ends between the two queries, it seems to be hidden or to run on an idle node. In this
        // case, repeat both queries.
        for _ in 0..2 {
            let queue = asked(commands, &texts)?;
            let fewer = best.as_ref().is_none_or(|best| queue.hidden.len() < best.hidden.len());
            let done = queue.hidden.is_empty() && on_idle_nodes(&queue.jobs, &queue.nodes).next().is_none();
            if fewer {
                best = Some(queue);
            }
            if done {
                break;
            }
        }
        Ok(best.expect("the loop queries the queue at least once"))
    }

    /// Reads saved output from files in a folder. `docs/queue.md` lists the names of the files. Each file may be
    /// compressed (`.gz`). `now` is the instant of the output in seconds since 1970, if known.
    ///
    /// # Errors
    /// [`SavedError`]
    pub fn from_folder(folder: &Path, now: Option<i64>) -> Result<Self, SavedError> {
        let mut texts = Texts::default();
        let (mut paths, mut names) = (Vec::<(ClusterOutput, PathBuf)>::new(), Vec::new());
        let mut unusable = Vec::new();
        let listed = folder.read_dir().map_err(|problem| SavedError::Read { path: folder.to_owned(), problem })?;
        drop(listed);
        for (part, name) in FILES {
            if texts.get(part).is_some() {
                continue;
            }
            let found = match saved(folder, name) {
                Err(SavedError::Damaged { path, problem, .. }) => {
                    unusable.push(UnusableFile { part, path, problem: Some(problem) });
                    continue;
                }
                found => found?,
            };
            if let Some((path, mut text)) = found {
                if STAND_INS.contains(&part) && text.trim().is_empty() {
                    unusable.push(UnusableFile { part, path, problem: None });
                    continue;
                }
                if path_is_text(name) && !text.ends_with('\n') && is_cut(part, &text) {
                    let job = (part == ClusterOutput::Jobs).then(|| without_last_job(&mut text)).flatten();
                    let job = job.map_or(String::new(), |job| format!("{job} is ignored, "));
                    let lost = format!("{job}{}", lost_by_cut(part));
                    texts.cut.push(part);
                    texts.remarks.push(format!("{name} ends within a record: it was cut off, so {lost}"));
                }
                texts = texts.with_file(part, name, text);
                paths.push((part, path));
                names.push((part, name.to_owned()));
            }
        }
        for file in &unusable {
            texts = file.replaced(texts, &names)?;
            paths.push((file.part, file.path.clone()));
        }
        for (part, unknown) in HELPFUL {
            if texts.get(part).is_none() && unusable.iter().all(|file| file.part != part) {
                texts.remarks.push(format!("{} is missing: {unknown}", file(part)));
            }
        }
        let has_accounts = texts.get(ClusterOutput::Config).is_some_and(|text| text.contains("slurmdbd"));
        if texts.get(ClusterOutput::Qos).is_none() && has_accounts {
            let is_known = texts.get(ClusterOutput::Limits).is_some();
            let known = if is_known {
                "only the limits of QOS in scontrol.assoc.txt are known"
            } else {
                "no limit of QOS is known"
            };
            texts.remarks.push(format!("{} is missing: {known}", file(ClusterOutput::Qos)));
        }
        if texts.get(ClusterOutput::Past).is_none() {
            texts.past_missing = Some(format!("{} is missing: {NO_PAST}", file(ClusterOutput::Past)));
        }
        let against = beside::remarks(folder, &texts, &names)?;
        texts.remarks.extend(against);
        if let Some(stated) = now
            && let Ok(told) = texts.queue(None).map(|queue| queue.now)
        {
            if told.saturating_sub(stated) > TOLERANCE {
                return Err(SavedError::Early { folder: folder.to_owned(), stated, told });
            }
            if stated.saturating_sub(told) > TOLERANCE {
                let (stated, told) = (date(stated), date(told));
                texts.remarks.push(format!(
                    "the stated instant is {stated} (UTC), but the outputs contain nothing after {told}"
                ));
            }
        }
        let of_jobs = paths.iter().find(|path| matches!(path.0, ClusterOutput::Jobs | ClusterOutput::JobsJson));
        texts.changed = of_jobs.and_then(|path| changed(&path.1));
        texts.queue(now).map_err(|(part, problem)| match paths.into_iter().find(|path| path.0 == part) {
            Some((_, path)) => SavedError::Nonsense { path, problem },
            None => SavedError::Missing { folder: folder.to_owned(), part, command: command(part) },
        })
    }
}

/// Returns the time of the last change of a file, in seconds since 1970.
pub(super) fn changed(path: &Path) -> Option<i64> {
    let at = path.metadata().ok()?.modified().ok()?;
    i64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

/// Required parts that a JSON output can replace.
const STAND_INS: [ClusterOutput; 2] = [ClusterOutput::Nodes, ClusterOutput::Jobs];

/// A file that cannot be used.
struct UnusableFile {
    part: ClusterOutput,
    path: PathBuf,
    /// The problem, or `None` if the file is empty.
    problem: Option<String>,
}

impl UnusableFile {
    /// Adds a warning about this file, and about the file that replaces it.
    fn replaced(&self, mut texts: Texts, names: &[(ClusterOutput, String)]) -> Result<Texts, SavedError> {
        let group = match self.part {
            ClusterOutput::Nodes | ClusterOutput::NodesJson => &[ClusterOutput::Nodes, ClusterOutput::NodesJson][..],
            ClusterOutput::Jobs | ClusterOutput::JobsJson => &[ClusterOutput::Jobs, ClusterOutput::JobsJson],
            _ => &[],
        };
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let what = self
            .problem
            .as_ref()
            .map_or_else(|| "is empty".to_owned(), |problem| format!("was cut off or is damaged ({problem})"));
        if group.is_empty() {
            let unknown =
                HELPFUL.iter().find(|known| known.0 == self.part).map_or("this file is ignored", |known| known.1);
            texts.remarks.push(format!("{name} {what}: {unknown}"));
            return Ok(texts);
        }
        match (names.iter().find(|taken| group.contains(&taken.0)), &self.problem) {
            (Some((_, taken)), _) => texts.remarks.push(format!("{name} {what}: {taken} is used instead")),
            // The parser of the part reports an empty file.
            (None, None) if texts.get(self.part).is_none() => {
                texts = texts.with_file(self.part, &name, String::new());
            }
            (None, None) => {}
            (None, Some(problem)) => {
                let help = format!(": save the output of `{}` again", command(self.part));
                return Err(SavedError::Damaged { path: self.path.clone(), problem: problem.clone(), help });
            }
        }
        Ok(texts)
    }
}

/// Removes an incomplete job at the end of a text. Returns the job as a note names it, such as `the incomplete job 12`.
/// If the text contains no other job, returns `None` and keeps the text, so that the parser reports the problem.
fn without_last_job(text: &mut String) -> Option<String> {
    let (others, last) = text.trim_end().rsplit_once('\n')?;
    let id = last.split_whitespace().next()?.strip_prefix("JobId=").filter(|id| !id.is_empty());
    let job = id.map_or_else(|| "the last job".to_owned(), |id| format!("the incomplete job {id}"));
    *text = format!("{others}\n");
    Some(job)
}

/// Describes the effect of records that are missing at the end of a part.
fn lost_by_cut(part: ClusterOutput) -> &'static str {
    match part {
        ClusterOutput::Nodes | ClusterOutput::NodesJson => {
            "further nodes are unknown, and jobs may start earlier than expected"
        }
        ClusterOutput::Jobs | ClusterOutput::JobsJson => {
            "further jobs are unknown, and jobs may start later than expected"
        }
        ClusterOutput::Partitions => "further partitions are unknown, and their jobs seem never to start",
        ClusterOutput::Config => "further settings have default values",
        ClusterOutput::Past => "run times are learned from fewer ended jobs",
        ClusterOutput::Reservations | ClusterOutput::Licences | ClusterOutput::Limits | ClusterOutput::Qos => {
            "further records are unknown, and jobs may start later than expected"
        }
    }
}

fn path_is_text(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "txt")
}

/// Returns true if a text was cut off: its last line has no line break and lacks something that all other lines have.
/// A missing line break alone proves nothing, because some editors leave out the last line break.
fn is_cut(part: ClusterOutput, text: &str) -> bool {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let Some((&last, others)) = lines.split_last() else { return false };
    let kind = match part {
        ClusterOutput::Nodes => Kind::Node,
        ClusterOutput::Partitions => Kind::Partition,
        ClusterOutput::Jobs => Kind::Job,
        ClusterOutput::Reservations => Kind::Reservation,
        ClusterOutput::Licences => Kind::License,
        // All lines have the same columns.
        ClusterOutput::Qos | ClusterOutput::Past => {
            let columns = |line: &str| line.matches('|').count();
            return others.first().is_some_and(|first| columns(first) > columns(last));
        }
        // The last lines of a complete output state whether the controllers are up or down.
        ClusterOutput::Config => return !last.contains(" = ") && !last.ends_with("UP") && !last.ends_with("DOWN"),
        ClusterOutput::Limits => return super::limits::is_cut(&lines),
        ClusterOutput::NodesJson | ClusterOutput::JobsJson => return false,
    };
    let keys = |line: &str| -> Option<HashSet<String>> {
        let record = records(kind, line).0.into_iter().next()?;
        Some(record.fields().iter().map(|field| field.0.clone()).collect())
    };
    let Some(own) = keys(last) else { return !last.starts_with("No ") };
    let common = others.iter().filter_map(|line| keys(line)).reduce(|all, keys| &all & &keys);
    match common {
        Some(common) => !common.is_subset(&own),
        // The text has no other record for a comparison. At least, its last word must be a field.
        None => last.split_whitespace().last().is_some_and(|word| !word.contains('=')),
    }
}

/// Queries nodes and jobs. The second query follows directly after the first.
fn asked(commands: &Commands, texts: &Texts) -> Result<Queue, CommandError> {
    let jobs = ["-o", "-d", "show", "jobs"];
    let nodes = ["-o", "-d", "show", "nodes"];
    let text = commands.run(Program::Scontrol, jobs)?.out;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let mut texts = texts.clone().with(ClusterOutput::Nodes, commands.run(Program::Scontrol, nodes)?.out);
    let (found, strange) = records(Kind::Job, &text);
    if !strange.is_empty() || found.iter().any(crate::Record::is_doubtful) {
        match commands.run(Program::Squeue, ["--json", "--states=all"]) {
            Ok(printed) => texts = texts.with(ClusterOutput::JobsJson, printed.out),
            Err(error) => texts.remarks.push(error.to_string()),
        }
    }
    let texts = texts.with(ClusterOutput::Jobs, text);
    texts.queue(Some(now)).map_err(|(part, problem)| match part {
        ClusterOutput::Nodes | ClusterOutput::NodesJson => CommandError::nonsense(Program::Scontrol, &nodes, problem),
        _ => CommandError::nonsense(Program::Scontrol, &jobs, problem),
    })
}

/// Queries an optional part. If the part is missing, adds a warning. If the controller does not answer, returns an
/// error, because the query for the jobs would then fail too.
fn helpful(commands: &Commands, part: ClusterOutput, mut texts: Texts, days: u32) -> Result<Texts, CommandError> {
    let since = format!("now-{days}days");
    let scontrol = |what: &'static str| (Program::Scontrol, vec!["-o", "show", what]);
    let (program, arguments) = match part {
        ClusterOutput::Config => (Program::Scontrol, vec!["show", "config"]),
        ClusterOutput::Partitions => scontrol("partitions"),
        ClusterOutput::Reservations => scontrol("reservations"),
        ClusterOutput::Licences => scontrol("licenses"),
        ClusterOutput::Limits => scontrol("assoc_mgr"),
        ClusterOutput::Qos => (Program::Sacctmgr, vec!["-P", "show", "qos"]),
        _ => (Program::Sacct, PAST.iter().copied().chain(["-S", &since]).collect()),
    };
    // The accounting database may be down although the controller answers.
    let commands = if program == Program::Scontrol { commands.clone() } else { commands.for_optional_requests() };
    match commands.run(program, arguments) {
        Ok(printed) => Ok(texts.with(part, printed.out)),
        // If there is no configuration, every further command would wait for a long time, and the jobs could not be
        // read.
        Err(error) if program == Program::Scontrol && ends_all(&error) => Err(error),
        // A cluster without an accounting database is no error.
        Err(error) => {
            if part == ClusterOutput::Past {
                let cause = match &error {
                    CommandError::Refused { said, refusal: Refusal::NoAccounting, .. } => said.clone(),
                    _ => error.to_string(),
                };
                texts.past_missing = Some(format!("the {} are unknown: {NO_PAST} ({cause})", part.name()));
            } else if part != ClusterOutput::Qos {
                let unknown = HELPFUL.iter().find(|known| known.0 == part).map_or("", |known| known.1);
                let colon = if unknown.is_empty() { "" } else { ": " };
                texts.remarks.push(format!("the {} are unknown{colon}{unknown} ({error})", part.name()));
            }
            Ok(texts)
        }
    }
}

/// Returns true if all further commands would fail too.
fn ends_all(error: &CommandError) -> bool {
    error.is_passing() || error.refusal() == Some(crate::Refusal::NoConfiguration)
}

/// Columns that exist in all versions. The job name is last, because it may contain the separator.
const PAST: [&str; 8] = [
    "-a",
    "-X",
    "-P",
    "-s",
    "CD,F,TO,OOM",
    "-o",
    "JobIDRaw,JobID,User,Account,Partition,ElapsedRaw,TimelimitRaw,State,Submit,Start,NNodes,AllocCPUS,JobName",
    "--noconvert",
];

const fn command(part: ClusterOutput) -> &'static str {
    match part {
        ClusterOutput::Nodes => "scontrol -o -d show nodes",
        ClusterOutput::NodesJson => "scontrol show nodes --json",
        ClusterOutput::JobsJson => "squeue --json --states=all",
        _ => "scontrol -o -d show jobs",
    }
}
