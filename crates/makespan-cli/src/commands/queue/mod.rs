//! `makespan queue`: the queue of a service, or of a cluster that Slurm runs.

mod clock;
mod detail;
mod json;
mod page;
mod rows;
pub mod source;

use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use makespan_slurm::forecast::{Expected, Forecast, Options, forecast};
use makespan_slurm::queue::Queue;
use miette::{Result, miette};

use crate::args::{Format, QueueOptions};
use crate::output::{check_kind, complain, emit, write_file};
use clock::Clock;

/// A queue with what is expected of it.
struct Seen<'a> {
    queue: &'a Queue,
    forecast: &'a Forecast,
    clock: &'a Clock,
}

/// Least seconds between two looks of `--watch`: every look asks the controller for the whole queue.
const MIN_PAUSE: u64 = 5;

pub fn queue(options: &QueueOptions) -> Result<ExitCode> {
    check_kind("--report", options.report.as_ref(), &["html", "htm"])?;
    let from = match &options.from {
        Some(from) => from.clone(),
        None if asks_slurm(options) => source::SLURM.to_owned(),
        None => match super::service::queue(options) {
            // Nobody runs a service here, and there is a cluster: its queue is what is meant.
            Err(error) if options.names_no_service() && source::has_slurm() => {
                complain(&format!(
                    "note: no service of makespan is known here ({error}); this is the queue of Slurm (--from slurm)"
                ));
                source::SLURM.to_owned()
            }
            answered => return answered,
        },
    };
    let Some(pause) = options.watch else { return once(&from, options) };
    if from != source::SLURM {
        return Err(miette!("--watch: the outputs in {from} do not change; it is for --from slurm"));
    }
    let clears = stdout().is_terminal() && options.format == Format::Text;
    loop {
        if clears {
            // Back to the first line, and what was below it is gone.
            print!("\u{1b}[H\u{1b}[2J");
        }
        once(&from, options)?;
        thread::sleep(Duration::from_secs(pause.max(MIN_PAUSE)));
    }
}

/// Whether options say that a cluster is asked for.
fn asks_slurm(options: &QueueOptions) -> bool {
    let means = options.job.is_some() || options.watch.is_some() || options.report.is_some();
    means && options.names_no_service()
}

fn once(from: &str, options: &QueueOptions) -> Result<ExitCode> {
    let at = options.at.as_deref().map(clock::instant).transpose().map_err(|error| miette!("--at: {error}"))?;
    let queue = source::read(from, at, options.past)?;
    let clock = Clock::new(queue.now);
    let words = |seconds: i64| clock.words(seconds);
    let play = Options { draws: options.draws, seed: 1, times: options.times.into(), clock: &words };
    let forecast = forecast(&queue, &play);
    let seen = Seen { queue: &queue, forecast: &forecast, clock: &clock };
    let shown = chosen(&seen, options)?;
    if let Some(path) = &options.report {
        write_report(&seen, &shown, from, path)?;
    }
    let sizes = |expected: &Expected| makespan_slurm::forecast::sizes(&queue, expected.job, &play);
    let text = match (options.format, &options.job) {
        (Format::Json, _) => format!("{:#}\n", json::document(&seen, &shown, options.job.is_some().then_some(&sizes))),
        (Format::Text, Some(name)) => detail::text(&seen, name, &shown, &sizes),
        (Format::Text, None) => rows::text(&seen, &shown, options.limit.unwrap_or(rows::SHOWN)),
    };
    emit(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The waiting jobs that are asked for, by when they are expected to start.
fn chosen<'a>(seen: &Seen<'a>, options: &QueueOptions) -> Result<Vec<&'a Expected>> {
    let jobs = &seen.queue.jobs;
    let mut shown: Vec<&Expected> = seen.forecast.expected.iter().collect();
    shown.sort_by_key(|one| (one.start.unwrap_or(i64::MAX), one.job));
    if let Some(user) = &options.user {
        shown.retain(|one| jobs[one.job].user == *user);
    }
    if let Some(name) = &options.job {
        let is_named =
            |job: usize| jobs[job].shown == *name || jobs[job].id.to_string() == *name || of_array(jobs, job, name);
        if !(0..jobs.len()).any(is_named) {
            return Err(miette!(
                "--job {name}: the queue has no such job that waits or runs; `makespan queue` lists what it has, and what ended a short \
                 time ago is not among it"
            ));
        }
        shown.retain(|one| is_named(one.job));
    }
    Ok(shown)
}

/// Whether the number is that of the whole array.
fn of_array(jobs: &[makespan_slurm::queue::QueueJob], job: usize, name: &str) -> bool {
    jobs[job].array.is_some_and(|member| member.array.to_string() == name)
}

fn write_report(seen: &Seen<'_>, shown: &[&Expected], from: &str, path: &Path) -> Result<()> {
    write_file(path, |out| page::write(seen, shown, from, out))
}
