//! `makespan queue`: the queue of a service, or of a cluster that Slurm runs.

mod calibrated;
pub mod clock;
mod clusters;
mod detail;
mod json;
mod page;
mod prometheus;
mod rows;
pub mod source;
pub mod what_if;

use std::io::{IsTerminal, Write, stdout};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use makespan_history::RangeShare;
use makespan_slurm::forecast::{ExpectedJob, Forecast, ForecastOptions, forecast};
use makespan_slurm::queue::Queue;
use miette::{Result, miette};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::args::{KnownTimes, QueueFormat, QueueOptions};
#[cfg(feature = "service")]
use crate::output::complain;
use crate::output::{check_kind, emit, write_file};
pub use clock::{QueueClock, begin};
pub use json::run_time_from;

use calibrated::calibrate;

/// A queue with its forecast.
struct ForecastQueue<'a> {
    queue: &'a Queue,
    forecast: &'a Forecast,
    ranges: &'a RangeShare,
    clock: &'a QueueClock,
}

/// The jobs that the options select.
struct SelectedJobs<'a> {
    /// Pending jobs, ordered by their predicted starts.
    waiting: Vec<&'a ExpectedJob>,
    /// Running jobs with their predicted ends, ordered by these ends.
    running: Vec<(usize, i64)>,
    /// Description of the selection, such as `of ann`. Empty if all jobs are selected.
    which: String,
    /// Maximum number of pending jobs to show.
    limit: usize,
    /// Maximum number of running jobs to show.
    running_limit: usize,
}

impl<'a> SelectedJobs<'a> {
    /// Returns the pending jobs to show.
    fn shown(&self) -> &[&'a ExpectedJob] {
        &self.waiting[..self.waiting.len().min(self.limit)]
    }

    /// Returns the number of selected pending jobs that are not shown.
    fn more(&self) -> usize {
        self.waiting.len().saturating_sub(self.limit)
    }

    /// Returns the running jobs to show, with their predicted ends.
    fn shown_running(&self) -> &[(usize, i64)] {
        &self.running[..self.running.len().min(self.running_limit)]
    }

    /// Returns the number of selected running jobs that are not shown.
    fn more_running(&self) -> usize {
        self.running.len().saturating_sub(self.running_limit)
    }
}

/// Minimum time between two updates of `--watch`, in seconds. For each update, Slurm's controller must send the whole
/// queue.
const MIN_PAUSE: u16 = 5;
/// By default, run times are learned from the jobs that ended in the last `DAYS` days.
const DAYS: u32 = 7;

pub fn queue(options: &QueueOptions) -> Result<ExitCode> {
    check_kind("--report", options.report.as_ref(), &["html", "htm"])?;
    #[cfg(not(feature = "service"))]
    let from = options.from.clone().unwrap_or_else(|| source::SLURM.to_owned());
    #[cfg(feature = "service")]
    let from = match cluster(options)? {
        Ok(from) => from,
        Err(answered) => return Ok(answered),
    };
    if let Some(names) = clusters::listed(&from) {
        return clusters::queues(&names, options);
    }
    if source::is_running(&from) && options.at.is_some() {
        return Err(miette!(
            "--at applies only to saved outputs (--from FOLDER); a running cluster has only its present queue; remove \
             --at"
        ));
    }
    if from == source::GRID_ENGINE && options.past.is_some() {
        return Err(miette!("--past: nothing is learned from the accounts of Grid Engine; remove --past"));
    }
    if !source::is_running(&from) && options.past.is_some() {
        return Err(miette!(
            "--past: the outputs in {from} cover fixed days (sacct.history.txt); --past is only for --from slurm"
        ));
    }
    if options.past.is_some() && !matches!(options.times, None | Some(KnownTimes::Learned)) {
        return Err(miette!(
            "--past: with this --times, nothing is learned from the past; remove one of the two options"
        ));
    }
    if options.draws.is_some() && options.times == Some(KnownTimes::Limits) {
        return Err(miette!(
            "--draws: with --times limits, every job is expected to run until its time limit, so no run times are \
             drawn; remove one of the two options"
        ));
    }
    if options.history.is_some() && !matches!(options.times, None | Some(KnownTimes::Learned)) {
        return Err(miette!("--history: only ranges of learned run times are calibrated; remove --history or --times"));
    }
    if options.range.is_some() && options.times == Some(KnownTimes::Limits) {
        return Err(miette!(
            "--range: with --times limits, every job is expected to run until its time limit, so starts have no \
             range; remove one of the two options"
        ));
    }
    if options.format == QueueFormat::Prometheus
        && let Some(option) = options.of_part().next()
    {
        return Err(miette!(
            "{option}: the metrics of --format prometheus describe the whole queue once; remove {option}"
        ));
    }
    let Some(pause) = options.watch else { return once(&from, options) };
    if !source::is_running(&from) {
        return Err(miette!(
            "--watch: the outputs in {from} do not change; --watch is only for --from slurm and --from sge"
        ));
    }
    if pause < MIN_PAUSE {
        return Err(miette!(
            "--watch {pause}: the minimum is {MIN_PAUSE} s, because Slurm's controller sends the whole queue for each update; \
             write --watch {MIN_PAUSE}"
        ));
    }
    loop {
        once(&from, options)?;
        if has_reader_left(Duration::from_secs(pause.into())) {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Blocks for `pause`, or until no process can read standard output any more. Returns true in the second case.
fn has_reader_left(pause: Duration) -> bool {
    let out = stdout();
    let until = Instant::now() + pause;
    loop {
        // Without requested events, `poll` reports only errors: a pipe without a reader, or a closed terminal.
        let mut waited = [PollFd::new(out.as_fd(), PollFlags::empty())];
        let left = until.saturating_duration_since(Instant::now());
        match poll(&mut waited, PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)) {
            Ok(0) if Instant::now() >= until => return false,
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return true,
            Err(_) => {
                thread::sleep(until.saturating_duration_since(Instant::now()));
                return false;
            }
        }
    }
}

/// Returns the cluster for which the caller must show the queue. If the options mean a service, shows the queue of the
/// service and returns an exit status instead.
#[cfg(feature = "service")]
fn cluster(options: &QueueOptions) -> Result<Result<String, ExitCode>> {
    let given = options.of_cluster();
    match &options.from {
        Some(from) => return Ok(Ok(from.clone())),
        None if given.is_some() && options.names_no_service() => return Ok(Ok(source::SLURM.to_owned())),
        None => {}
    }
    if let Some(option) = given {
        return Err(miette!(
            "{option} applies only to the queue of a cluster, but the options name a service; add --from slurm, or omit {option}"
        ));
    }
    match super::service::queue(options) {
        // `--state` has no meaning for a cluster, so the queue of Slurm is no replacement.
        Err(error) if !options.state.is_empty() => Err(error),
        // No service responds, but Slurm is installed, so the queue of Slurm is shown instead.
        Err(error) if options.names_no_service() && source::has_slurm() => {
            complain(&format!(
                "note: no service of makespan was found ({error}); this is the queue of Slurm (--from slurm)"
            ));
            Ok(Ok(source::SLURM.to_owned()))
        }
        answered => answered.map(Err),
    }
}

/// Returns the options of a forecast. `clock` formats an instant as a time of day.
fn forecast_options<'a>(options: &QueueOptions, clock: &'a (dyn Fn(i64) -> String + Sync)) -> ForecastOptions<'a> {
    let usual = ForecastOptions::default();
    ForecastOptions {
        draws: options.draws.unwrap_or(usual.draws),
        times: options.times.unwrap_or_default().into(),
        percent: options.range.unwrap_or(usual.percent),
        clock,
        ..usual
    }
}

fn once(from: &str, options: &QueueOptions) -> Result<ExitCode> {
    let at = options.at.as_deref().map(clock::instant).transpose().map_err(|error| miette!("--at: {error}"))?;
    let learns = options.times.unwrap_or_default() == KnownTimes::Learned;
    let mut queue = source::read(from, at, if learns { options.past.unwrap_or(DAYS) } else { 0 })?;
    queue.remarks.extend(queue.past_missing.take().filter(|_| learns));
    queue.remarks.extend(makespan_formats::Clock::unknown_here());
    let clock = QueueClock::new(queue.now);
    if options.what_if.is_some() && queue.is_grid_engine() {
        return Err(miette!(
            "--what-if: the words describe jobs of Slurm, but {from} is a Grid Engine; remove --what-if"
        ));
    }
    if let Some(stated) = &options.what_if {
        return what_if::answer(queue, stated, from, options, &clock);
    }
    let words = |seconds: i64| clock.words(seconds);
    let play = forecast_options(options, &words);
    let mut forecast = forecast(&queue, &play);
    let ranges = calibrate(&queue, &mut forecast, from, options, play.percent);
    let seen = ForecastQueue { queue: &queue, forecast: &forecast, ranges: &ranges, clock: &clock };
    let chosen = chosen(&seen, options)?;
    if let Some(path) = &options.report {
        write_report(&seen, &chosen, from, path)?;
    }
    let sizes = |expected: &ExpectedJob| makespan_slurm::forecast::sizes(&queue, expected.job, &play);
    let text = match (options.format, &options.job) {
        (QueueFormat::Json, _) => {
            format!("{:#}\n", json::document(&seen, &chosen, options.job.is_some().then_some(&sizes)))
        }
        (QueueFormat::Prometheus, _) => prometheus::text(&seen),
        (QueueFormat::Text, Some(_)) => detail::text(&seen, &chosen, options.limit, &sizes),
        (QueueFormat::Text, None) => {
            let limit = options.limit.unwrap_or(rows::SHOWN);
            let running_limit = options.limit.unwrap_or(rows::SHOWN_RUNNING);
            rows::text(&seen, &SelectedJobs { limit, running_limit, ..chosen })
        }
    };
    if options.watch.is_some() && stdout().is_terminal() && options.format == QueueFormat::Text {
        clear_screen()?;
    }
    emit(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Moves the cursor of the terminal to the first line and clears the screen.
fn clear_screen() -> Result<()> {
    let mut out = stdout().lock();
    out.write_all(b"\x1b[H\x1b[2J").map_err(|error| miette!("cannot write to standard output: {error}"))
}

/// Returns the jobs that the options select.
fn chosen<'a>(seen: &ForecastQueue<'a>, options: &QueueOptions) -> Result<SelectedJobs<'a>> {
    let jobs = &seen.queue.jobs;
    let mut waiting: Vec<&ExpectedJob> = seen.forecast.expected.iter().collect();
    waiting.sort_by_key(|one| (one.outlook.start.unwrap_or(i64::MAX), one.job));
    let mut running = seen.forecast.ends.clone();
    running.sort_by_key(|&(job, end)| (end, job));
    let mut which = Vec::new();
    if let Some(name) = &options.job {
        let named: Vec<usize> = (0..jobs.len()).filter(|&job| is_named(jobs, job, name)).collect();
        let Some(&first) = named.first() else {
            return Err(miette!(
                "--job {name}: the queue has no such pending or running job; `makespan queue` lists the jobs of the queue, without \
                 ended jobs"
            ));
        };
        if let Some(user) = options.user.as_ref().filter(|user| named.iter().all(|&job| jobs[job].user != **user)) {
            return Err(miette!("--job {name}: the job belongs to {}, not to {user}; remove --user", jobs[first].user));
        }
    }
    if let Some(user) = &options.user {
        waiting.retain(|one| jobs[one.job].user == *user);
        running.retain(|one| jobs[one.0].user == *user);
        which.push(format!("of {user}"));
    }
    if let Some(name) = &options.job {
        waiting.retain(|one| is_named(jobs, one.job, name));
        running.retain(|one| is_named(jobs, one.0, name));
        which.push(format!("with the number {name}"));
    }
    let limit = options.limit.unwrap_or(usize::MAX);
    Ok(SelectedJobs { waiting, running, which: which.join(" "), limit, running_limit: limit })
}

/// Returns true if `name` is the number of this job or of its array.
fn is_named(jobs: &[makespan_slurm::queue::QueueJob], job: usize, name: &str) -> bool {
    jobs[job].shown == *name || jobs[job].id.to_string() == *name || of_array(jobs, job, name)
}

/// Returns true if the job is a task of the array job with the id `name`.
fn of_array(jobs: &[makespan_slurm::queue::QueueJob], job: usize, name: &str) -> bool {
    jobs[job].array.is_some_and(|member| member.array.to_string() == name)
}

fn write_report(seen: &ForecastQueue<'_>, chosen: &SelectedJobs<'_>, from: &str, path: &Path) -> Result<()> {
    write_file(path, |out| page::write(seen, chosen, from, out))
}
