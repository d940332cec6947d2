//! `makespan queue --what-if`: the predicted start of a job that is not submitted, and the jobs that it would delay.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use makespan_core::counted;
use makespan_slurm::forecast::{ExpectedJob, Forecast, ForecastOptions, forecast, sizes};
use makespan_slurm::queue::{NewJob, Queue};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use nix::unistd::{Uid, User};
use serde_json::json;

use super::calibrated::RangeShare;
use super::clock::QueueClock;
use super::{ForecastQueue, SelectedJobs, detail, forecast_options, json, rows};
use crate::args::{Format, QueueOptions};
use crate::output::{emit, wrapped};

/// Delays of other jobs by a new job.
struct Delays {
    /// The number of jobs that would start later, with the largest delay in seconds.
    later: (usize, i64),
    /// The number of jobs that would start earlier.
    earlier: usize,
}

/// Prints the predicted start of the job that `stated` describes.
pub fn answer(
    mut before: Queue,
    stated: &str,
    from: &str,
    options: &QueueOptions,
    clock: &QueueClock,
) -> Result<ExitCode> {
    let failed = |problem: String| miette!("--what-if: {problem}");
    let (job, ignored) = if Path::new(stated).is_file() {
        let text = std::fs::read_to_string(stated).into_diagnostic().wrap_err_with(|| format!("--what-if {stated}"))?;
        NewJob::of_script(&text)
    } else {
        NewJob::of_words(stated)
    }
    .map_err(failed)?;
    let user = User::from_uid(Uid::effective()).ok().flatten().map_or(String::new(), |user| user.name);
    let (mut queue, own, mut notes) = before.with_new_job(&job.of_user(&user)).map_err(failed)?;
    if !ignored.is_empty() {
        notes.push(format!("ignored: {}", ignored.join(", ")));
    }
    queue.remarks.extend(notes);
    before.remarks.clear();
    let words = |seconds: i64| clock.words(seconds);
    let play = forecast_options(options, &words);
    let without = forecast(&before, &ForecastOptions { draws: 0, ..play });
    let mut with = forecast(&queue, &play);
    let ranges = RangeShare::of(&queue, &mut with, from, options, play.percent);
    let delays = Delays::of(&without, &with);
    let seen = ForecastQueue { queue: &queue, forecast: &with, ranges: &ranges, clock };
    let new: Vec<&ExpectedJob> = with.expected.iter().filter(|one| own.contains(&one.job)).collect();
    let of_sizes = |expected: &ExpectedJob| sizes(&queue, expected.job, &play);
    let text = match options.format {
        Format::Json => {
            let chosen = SelectedJobs {
                waiting: new,
                running: Vec::new(),
                which: String::new(),
                limit: usize::MAX,
                running_limit: usize::MAX,
            };
            let mut document = json::document(&seen, &chosen, Some(&of_sizes));
            document["others"] =
                json!({ "later": delays.later.0, "most_seconds": delays.later.1, "earlier": delays.earlier });
            format!("{document:#}\n")
        }
        Format::Text => {
            let mut text = rows::head(&seen);
            new.iter().take(detail::SHOWN).for_each(|one| text += &detail::job(&seen, one, &of_sizes));
            if new.len() > detail::SHOWN {
                text +=
                    &format!("\n{} more tasks of the array (--format json prints all)\n", new.len() - detail::SHOWN);
            }
            text + &wrapped("  other jobs  ", 14, &delays.words()) + &rows::remarks(&seen, rows::width())
        }
    };
    emit(&text)?;
    Ok(ExitCode::SUCCESS)
}

impl Delays {
    /// Compares the predicted starts without and with the new job.
    fn of(without: &Forecast, with: &Forecast) -> Self {
        let before: HashMap<usize, Option<i64>> = without.expected.iter().map(|one| (one.job, one.start)).collect();
        let (mut later, mut earlier) = ((0, 0), 0);
        for one in &with.expected {
            match (before.get(&one.job).copied().flatten(), one.start) {
                (Some(was), Some(start)) if start > was => later = (later.0 + 1, later.1.max(start - was)),
                (Some(was), Some(start)) if start < was => earlier += 1,
                _ => {}
            }
        }
        Self { later, earlier }
    }

    fn words(&self) -> String {
        let Self { later: (count, most), earlier } = *self;
        let sooner =
            if earlier == 0 { String::new() } else { format!("; {} would start earlier", counted(earlier, "job")) };
        match count {
            0 => format!("none would start later{sooner}"),
            count => format!("{} would start later, by at most {most} s{sooner}", counted(count, "job")),
        }
    }
}
