//! Reads the stated and the used memory of jobs from the output of sacct. Slurm records the peak of each step of a job,
//! so the lines of steps are joined with the lines of their jobs.

use std::fs::File;
use std::io::BufRead;
use std::path::Path;

use makespan_core::{Resource, counted};
use rustc_hash::FxHashMap;

use super::cells::{cells, is_step};
use super::columns::SacctColumns;
use super::needs::needs;
use super::read::{is_alive, last_of, processors, run_of};
use super::values::{count, instant};
use crate::error::{FilePlace, FormatError};
use crate::input::{MAX_BYTES, open};
use crate::lines::each;
use crate::needs::memory;

/// Begin of the state `OUT_OF_MEMORY` of a job that was killed for lack of memory. Narrow columns cut the state.
const KILLED: &str = "OUT_OF_ME";
/// State of a job that succeeded.
const SUCCEEDED: &str = "COMPLETED";

/// The stated and the used memory of a job that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SacctMemory {
    /// The user, or an empty text if the dump states none.
    pub user: String,
    /// The name of the job, or an empty text if the dump states none.
    pub name: String,
    /// The stated memory of the whole job in bytes. `None` if the job requested no memory or all memory of its nodes.
    pub stated: Option<u64>,
    /// Peak memory in bytes: the largest peak of its steps. If a step has several tasks, its peak is the peak of the
    /// largest task times the number of tasks.
    pub peak: u64,
    /// Memory in bytes that the job certainly needed: its peak or, if it was killed, the larger of its peak and the stated
    /// amount.
    pub needed: u64,
    /// Run time in seconds.
    pub seconds: u64,
    /// Instant of the end in seconds, if the dump states it.
    pub ended: Option<i64>,
    /// True if the job or one of its steps was killed for lack of memory.
    pub is_killed: bool,
}

/// The memory of the jobs in a dump, and notes for the user about jobs that were skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SacctMemoryTable {
    /// The jobs that succeeded or were killed for lack of memory, in the order of their ends. Jobs without a known end are
    /// the first.
    pub jobs: Vec<SacctMemory>,
    /// Notes about missing and unreadable values.
    pub remarks: Vec<String>,
}

/// Reads the memory of jobs from a file. The file may be compressed.
///
/// # Errors
/// [`FormatError`] with the line and the column of the error.
pub fn read_sacct_memory(path: &Path) -> Result<SacctMemoryTable, FormatError> {
    let name = path.display().to_string();
    let raw = File::open(path).map_err(|error| FormatError::io(&name, "open it", error))?;
    let mut input = open(raw, MAX_BYTES).map_err(|error| FormatError::io(&name, "read it", error))?;
    parse_sacct_memory(&name, &mut input)
}

/// Reads the memory of jobs from a decompressed dump. `file` is the file name for errors.
///
/// ```
/// let dump = "JobID|User|JobName|Submit|Elapsed|AllocCPUS|State|ReqMem|MaxRSS\n\
///             7|ann|fit|2024-03-30T23:00:00|01:00:00|2|COMPLETED|4Gc|\n\
///             7.batch||batch|2024-03-30T23:00:00|01:00:00|2|COMPLETED||1.5G\n";
/// let table = makespan_formats::parse_sacct_memory("dump", &mut dump.as_bytes())?;
/// assert_eq!((table.jobs[0].stated, table.jobs[0].peak), (Some(8 << 30), 3 << 29));
/// # Ok::<(), makespan_formats::FormatError>(())
/// ```
///
/// # Errors
/// [`FormatError`] with the line and the column of the error.
pub fn parse_sacct_memory(file: &str, input: &mut dyn BufRead) -> Result<SacctMemoryTable, FormatError> {
    let mut reader = Reader::default();
    each(file, input, |line, content| {
        let problem = |problem| FormatError::content(file, FilePlace::line(line).with_field("header"), problem);
        reader.line(content).map_err(problem)
    })?;
    if reader.columns.is_none() {
        let problem = format!("the file is empty; save {ADVICE}");
        return Err(FormatError::content(file, FilePlace::default(), problem));
    }
    Ok(reader.table())
}

/// The output that has all columns for advice.
const ADVICE: &str = "the output of `SLURM_BITSTR_LEN=0 sacct --allusers --parsable2 \
                      --format=JobID,User,Submit,End,Elapsed,AllocCPUS,NNodes,NTasks,State,ReqMem,MaxRSS,JobName`";

#[derive(Default)]
struct Reader {
    columns: Option<SacctColumns>,
    jobs: Vec<UsedJob>,
    /// The latest job with each name. `None` if the line of the job was skipped.
    latest: FxHashMap<String, Option<usize>>,
    /// Steps before the line of their job.
    early: FxHashMap<String, UsedSteps>,
    skipped: SkippedLines,
}

/// The memory of steps of a job.
#[derive(Clone, Copy, Default)]
struct UsedSteps {
    /// Largest peak in bytes.
    peak: u64,
    is_killed: bool,
}

impl UsedSteps {
    fn add(&mut self, other: Self) {
        self.peak = self.peak.max(other.peak);
        self.is_killed |= other.is_killed;
    }
}

/// A job, and its steps so far.
struct UsedJob {
    job: SacctMemory,
    steps: UsedSteps,
    /// True if the job failed, was cancelled or reached its time limit.
    has_failed: bool,
    /// True if the job ran on several nodes.
    is_spread: bool,
}

/// Numbers of lines and values that were skipped, for the notes.
#[derive(Default)]
struct SkippedLines {
    malformed: usize,
    alive: usize,
    untimed: usize,
    failed: usize,
    broken: usize,
    without_peak: usize,
    without_amount: usize,
    spread: usize,
    steps: usize,
}

impl Reader {
    /// Reads a line.
    ///
    /// # Errors
    /// The reason why a header line cannot be used.
    fn line(&mut self, content: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(content);
        let Some(columns) = &self.columns else {
            self.columns = Some(header(&text)?);
            return Ok(());
        };
        let Some(mut cells) = cells(columns, &text) else {
            self.skipped.malformed += 1;
            return Ok(());
        };
        let id = cells[columns.job];
        // If several dumps are concatenated, each of them begins with a header.
        if id.eq_ignore_ascii_case("JobID") || id.eq_ignore_ascii_case("JobIDRaw") {
            self.columns = Some(header(&text)?);
            return Ok(());
        }
        cells.resize(columns.count, "");
        let peak = peak(columns, &cells).unwrap_or_else(|()| {
            self.skipped.broken += 1;
            0
        });
        let steps = UsedSteps { peak, is_killed: state(columns, &cells).starts_with(KILLED) };
        if is_step(id) {
            let job = id.split('.').next().unwrap_or_default();
            match self.latest.get(job) {
                Some(&Some(at)) => self.jobs[at].steps.add(steps),
                Some(None) => {}
                None => self.early.entry(job.to_owned()).or_default().add(steps),
            }
            return Ok(());
        }
        if id.is_empty() {
            self.skipped.malformed += 1;
            return Ok(());
        }
        let early = self.early.remove(id).unwrap_or_default();
        // A requeued job has several lines with one name. The steps after a line belong to this line.
        let place = self.skipped.job(columns, &cells).map(|mut used| {
            used.steps.add(early);
            used.steps.add(steps);
            self.jobs.push(used);
            self.jobs.len() - 1
        });
        self.latest.insert(id.to_owned(), place);
        Ok(())
    }

    fn table(self) -> SacctMemoryTable {
        let Self { jobs, early, mut skipped, columns, .. } = self;
        skipped.steps = early.len();
        let has_tasks = columns.is_some_and(|columns| columns.tasks.is_some());
        let mut table = SacctMemoryTable::default();
        for UsedJob { mut job, steps, has_failed, is_spread } in jobs {
            if has_failed && !steps.is_killed {
                skipped.failed += 1;
                continue;
            }
            if steps.peak == 0 {
                skipped.without_peak += 1;
                continue;
            }
            (job.peak, job.is_killed) = (steps.peak, steps.is_killed);
            let held = job.stated.filter(|_| job.is_killed).unwrap_or(0);
            job.needed = job.peak.max(held);
            skipped.without_amount += usize::from(job.stated.is_none());
            skipped.spread += usize::from(is_spread && !has_tasks);
            table.jobs.push(job);
        }
        table.jobs.sort_by_key(|job| job.ended);
        table.remarks = skipped.remarks();
        table
    }
}

impl SkippedLines {
    /// Returns the job in these cells, without its peak. Returns `None` if the job has not ended or has no run time.
    fn job(&mut self, columns: &SacctColumns, cells: &[&str]) -> Option<UsedJob> {
        let state = state(columns, cells);
        if is_alive(state) {
            self.alive += 1;
            return None;
        }
        let Some(seconds) = run_of(columns, cells).ok().flatten().and_then(|seconds| u64::try_from(seconds).ok())
        else {
            self.untimed += 1;
            return None;
        };
        let (needs, is_broken) = needs(columns, cells);
        self.broken += usize::from(is_broken);
        let processors = processors(columns, cells).unwrap_or(1);
        let memory = needs.iter().find(|(name, _)| name == Resource::MEMORY);
        let text = |column: Option<usize>| column.map_or("", |column| cells[column]).to_owned();
        let nodes = columns.nodes.iter().find_map(|&column| count(cells[column]).ok().flatten());
        let job = SacctMemory {
            user: text(columns.user),
            name: text(columns.name),
            stated: memory.map(|(_, need)| need.total(processors)),
            peak: 0,
            needed: 0,
            seconds,
            ended: end(columns, cells, seconds),
            is_killed: false,
        };
        let (has_failed, is_spread) = (!matches!(state, "" | SUCCEEDED), nodes.is_some_and(|nodes| nodes > 1));
        Some(UsedJob { job, steps: UsedSteps::default(), has_failed, is_spread })
    }

    /// Returns a sentence for each kind of skipped data.
    fn remarks(&self) -> Vec<String> {
        let remarks = [
            (self.malformed, "skipped: the number of cells differs from the header, or the job has no name", "line"),
            (self.alive, "skipped: no end yet", "job"),
            (self.untimed, "skipped: no run time", "job"),
            (self.failed, "skipped: failed, cancelled or ended at the time limit, not for lack of memory", "job"),
            (self.without_peak, "skipped: no MaxRSS in the lines of its steps", "job"),
            (self.steps, "with lines of steps but without an own line: these steps are ignored", "job"),
            (self.broken, "of memory ignored, because it cannot be read", "amount"),
            (self.without_amount, "without a stated amount of memory: no saving is computed", "job"),
            (
                self.spread,
                "on several nodes: MaxRSS is the peak of one task, so the peak may be too small; add the column NTasks",
                "job",
            ),
        ];
        let remark = |&(count, text, noun): &(usize, &str, &str)| {
            (count > 0).then(|| format!("{} {text}", counted(count, noun)))
        };
        remarks.iter().filter_map(remark).collect()
    }
}

/// Returns the first word of the state, such as `CANCELLED` of `CANCELLED by 5`.
fn state<'a>(columns: &SacctColumns, cells: &[&'a str]) -> &'a str {
    columns.state.map_or("", |state| cells[state]).split_whitespace().next().unwrap_or_default()
}

/// Returns the end of a job with this run time in seconds. Without a known end and start, it is as if the job had
/// started when it was submitted.
fn end(columns: &SacctColumns, cells: &[&str], seconds: u64) -> Option<i64> {
    let submitted = || instant(cells[columns.submit]).ok().flatten();
    last_of(columns, cells).or_else(|| submitted()?.checked_add_unsigned(seconds))
}

/// Reads a header line. In addition to the columns of other dumps, it must name the user, the name of the job, and the
/// peaks.
fn header(line: &str) -> Result<SacctColumns, String> {
    let columns = SacctColumns::read(line, ADVICE)?;
    let needed = [("User", columns.user), ("JobName", columns.name), ("MaxRSS", columns.peak)];
    match needed.iter().find(|(_, column)| column.is_none()) {
        Some((name, _)) => Err(format!("there is no column `{name}`; save {ADVICE}")),
        None => Ok(columns),
    }
}

/// Returns the peak in these cells in bytes, or 0 if they state none. A peak without a unit is in bytes.
fn peak(columns: &SacctColumns, cells: &[&str]) -> Result<u64, ()> {
    let cell = columns.peak.map_or("", |column| cells[column]);
    let largest = match cell {
        "" => 0,
        plain if plain.bytes().all(|byte| byte.is_ascii_digit()) => plain.parse().map_err(|_| ())?,
        text => memory(text).ok_or(())?,
    };
    let tasks = columns.tasks.and_then(|column| count(cells[column]).ok().flatten());
    let tasks = tasks.and_then(|tasks| u64::try_from(tasks).ok()).unwrap_or(1).max(1);
    Ok(largest.saturating_mul(tasks).min(i64::MAX as u64))
}
