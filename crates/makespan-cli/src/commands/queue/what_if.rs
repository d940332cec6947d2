//! `makespan queue --what-if`: the predicted start of a job that is not submitted, and the jobs that it would delay.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use makespan_slurm::forecast::{ExpectedJob, Forecast, ForecastOptions, forecast, sizes};
use makespan_slurm::queue::{NewJob, Queue};
use miette::{Result, miette};
use nix::unistd::{Uid, User};
use serde_json::{Value, json};

use super::calibrated::calibrate;
use super::clock::QueueClock;
use super::{ForecastQueue, SelectedJobs, detail, forecast_options, json, rows};
use crate::args::{QueueFormat, QueueOptions};
use crate::difference::Difference;
use crate::outlook::{delays, line};
use crate::output::{emit, shown};

/// Maximum number of delayed jobs that the text names.
const NAMED: usize = 3;

/// Delays of other jobs by a new job.
struct Delays {
    /// The jobs that would start later, by descending delay.
    later: Vec<(usize, Difference)>,
    /// The number of jobs that would start earlier.
    earlier: usize,
    /// The difference of the mean wait of the other jobs.
    wait: Difference,
}

/// Returns the name of the user of this process, or an empty text if the user has no name.
pub fn user() -> String {
    User::from_uid(Uid::effective()).ok().flatten().map_or(String::new(), |user| user.name)
}

/// Reads a job script. Also returns the options that are ignored although they may change when the job starts. Without
/// a stated name, the name of the job is the name of the file.
///
/// # Errors
/// A sentence that does not name the file.
pub fn of_script(path: &Path) -> Result<(NewJob, Vec<String>), String> {
    let text = std::fs::read_to_string(path).map_err(|problem| format!("cannot open: {problem}"))?;
    let (job, ignored) = NewJob::of_script(&text)?;
    Ok((job.of_name(&path.file_name().unwrap_or_default().to_string_lossy()), ignored))
}

/// Returns true if a text is the path of a job script rather than options.
fn is_path(stated: &str) -> bool {
    let is_script = Path::new(stated).extension().is_some_and(|extension| extension == "sh");
    !stated.contains('=') && (stated.contains('/') || is_script)
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
        of_script(Path::new(stated)).map_err(|problem| miette!("--what-if {stated}: {problem}"))?
    } else if is_path(stated) {
        return Err(miette!("--what-if {stated}: there is no such file"));
    } else {
        NewJob::of_words(stated).map_err(failed)?
    };
    let job = job.of_user(&user()).with_instants(|text| super::clock::begin(text, before.now)).map_err(failed)?;
    let (mut queue, own, mut notes) = before.with_new_job(&job).map_err(failed)?;
    if !ignored.is_empty() {
        notes.push(format!("ignored: {}", ignored.join(", ")));
    }
    queue.remarks.extend(notes);
    before.remarks.clear();
    let words = |seconds: i64| clock.words(seconds);
    let play = forecast_options(options, &words);
    let without = forecast(&before, &play);
    let mut with = forecast(&queue, &ForecastOptions { like: Some(&before), ..play });
    let others = Delays::of(&without, &with, play.percent);
    let ranges = calibrate(&queue, &mut with, from, options, play.percent);
    let seen = ForecastQueue { queue: &queue, forecast: &with, ranges: &ranges, clock };
    let new: Vec<&ExpectedJob> = with.expected.iter().filter(|one| own.contains(&one.job)).collect();
    let of_sizes = |expected: &ExpectedJob| sizes(&queue, expected.job, &play);
    let text = match options.format {
        QueueFormat::Json => {
            let chosen = SelectedJobs {
                waiting: new,
                running: Vec::new(),
                which: String::new(),
                limit: usize::MAX,
                running_limit: usize::MAX,
            };
            let mut document = json::document(&seen, &chosen, Some(&of_sizes));
            document["others"] = others.json(&queue);
            format!("{document:#}\n")
        }
        QueueFormat::Text | QueueFormat::Prometheus => {
            let mut text = rows::head(&seen);
            new.iter().take(detail::SHOWN).for_each(|one| text += &detail::job(&seen, one, &of_sizes));
            if new.len() > detail::SHOWN {
                text +=
                    &format!("\n{} more tasks of the array (--format json prints all)\n", new.len() - detail::SHOWN);
            }
            text + &line(2, "other jobs", &others.words(&queue)) + &rows::remarks(&seen, rows::width())
        }
    };
    emit(&text)?;
    Ok(ExitCode::SUCCESS)
}

impl Delays {
    /// Compares the predicted starts without and with the new job.
    fn of(without: &Forecast, with: &Forecast, percent: u32) -> Self {
        let before: HashMap<usize, i64> =
            without.expected.iter().filter_map(|one| Some((one.job, one.outlook.start?))).collect();
        let drawn = || with.drawn.iter().zip(&without.drawn);
        let later_by = |(with, without): (&Vec<Option<i64>>, &Vec<Option<i64>>), job: usize| {
            Some((with[job]? - without[job]?) as f64)
        };
        let both =
            with.expected.iter().filter_map(|one| Some((one.job, (one.outlook.start? - before.get(&one.job)?) as f64)));
        let both: Vec<(usize, f64)> = both.collect();
        let difference = |&(job, seconds): &(usize, f64)| {
            (job, Difference::new(seconds, drawn().filter_map(|pair| later_by(pair, job)).collect(), percent))
        };
        let mut later: Vec<_> = both.iter().filter(|one| one.1 > 0.0).map(difference).collect();
        later.sort_by(|one, other| other.1.seconds.total_cmp(&one.1.seconds));
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
        let means = drawn().map(|pair| mean(&both.iter().filter_map(|one| later_by(pair, one.0)).collect::<Vec<_>>()));
        let expected: Vec<f64> = both.iter().map(|one| one.1).collect();
        let wait = Difference::new(mean(&expected), means.collect(), percent);
        Self { later, earlier: both.iter().filter(|one| one.1 < 0.0).count(), wait }
    }

    fn words(&self, queue: &Queue) -> String {
        let named = self.later.iter().take(NAMED);
        let named = named.map(|(job, by)| format!("job {} {}", shown(&queue.jobs[*job].shown), by.words()));
        let most = self.later.first().map_or(0.0, |most| most.1.seconds);
        delays(self.later.len() as u64, most, self.earlier as u64, &self.wait, named)
    }

    fn json(&self, queue: &Queue) -> Value {
        let job = |(job, by): &(usize, Difference)| {
            let mut value = by.json();
            value["job"] = queue.jobs[*job].shown.clone().into();
            value
        };
        json!({
            "later": self.later.len(),
            "most_seconds": self.later.first().map_or(0, |most| most.1.seconds as i64),
            "earlier": self.earlier,
            "mean_wait": self.wait.json(),
            "jobs": self.later.iter().map(job).collect::<Vec<_>>(),
        })
    }
}
