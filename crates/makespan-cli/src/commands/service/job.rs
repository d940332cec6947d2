//! `makespan job`

use std::process::ExitCode;

use makespan_history::ENOUGH;
use makespan_service::client::ClientError;
use makespan_service::words::{Explanation, JobNumber, JobSummary, Reason, State, TaskDetail};
use miette::Result;
use serde_json::Value;

use super::{connect, expected, fail, now, relative, span};
use crate::args::{Format, JobOptions};
use crate::output::{emit, shortened, shown, table, wrapped};

/// Maximum number of tasks that the text shows.
const SHOWN: usize = 20;

pub fn job(number: u64, options: &JobOptions) -> Result<ExitCode> {
    let number = JobNumber(number);
    let client = connect(&options.connection)?;
    let value: Value = client.get(&format!("jobs/{number}")).map_err(fail)?;
    if options.format == Format::Json {
        emit(&format!("{value:#}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let strange = |error: serde_json::Error| {
        fail(ClientError::Strange { url: client.url().to_owned(), message: error.to_string() })
    };
    let summary: JobSummary = serde_json::from_value(value.clone()).map_err(strange)?;
    let tasks: Vec<TaskDetail> = serde_json::from_value(value["task_list"].clone()).map_err(strange)?;
    let mut text = told(&summary, &value);
    text += &tasks_told(&tasks, summary.tasks);
    if !summary.state.is_final() {
        let explanation: Explanation = client.get(&format!("jobs/{number}/explain")).map_err(fail)?;
        text += &explained(&explanation);
    }
    emit(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn told(summary: &JobSummary, value: &Value) -> String {
    let now = now();
    let line = |label: &str, text: String| format!("{label:<11}{}\n", shown(&text));
    let mut text = line("job", format!("{} {}", summary.number, summary.name));
    text += &line("state", summary.state.words());
    text += &line("user", summary.user.clone());
    text += &line("submitted", relative(Some(summary.submitted), now));
    text += &match summary.started {
        Some(started) => line("started", relative(Some(started), now)),
        None => line("starts", expected(summary.expected_start, summary.behind, now)),
    };
    text += &match summary.ended {
        Some(ended) => line("ended", relative(Some(ended), now)),
        None => line(
            "ends",
            match summary.longer_than {
                Some(length) => format!("longer than expected ({}), end unknown", span(length)),
                None => expected(summary.expected_end, summary.behind, now),
            },
        ),
    };
    text += &line("processors", summary.processors.to_string());
    text += &line("weight", format!("{}, priority {}", summary.weight, summary.priority));
    if let Some(deadline) = summary.deadline {
        text += &line("deadline", relative(Some(deadline), now));
    }
    for (label, key) in [("folder", "directory"), ("reason", "reason")] {
        if let Some(said) = value[key].as_str() {
            text += &line(label, said.to_owned());
        }
    }
    if let Some(after) = value["after"].as_array().filter(|after| !after.is_empty()) {
        let numbers: Vec<String> = after.iter().map(Value::to_string).collect();
        text += &line("after", numbers.join(", "));
    }
    text
}

fn tasks_told(tasks: &[TaskDetail], all: u64) -> String {
    let now = now();
    let rows = tasks.iter().take(SHOWN).map(|task| {
        let time = match (task.started, task.ended) {
            (Some(started), Some(ended)) => span(ended - started),
            // If a task has run longer than expected, its run time so far is shown instead of an end.
            (Some(started), None) if now - started > task.estimate + 0.5 => format!(">{}", span(now - started)),
            _ => format!("~{}", span(task.estimate)),
        };
        let end = task.exit.map_or("-".into(), |exit| exit.to_string());
        let place = task.processors.clone().unwrap_or_else(|| "-".into());
        vec![
            task.task.to_string(),
            task.state.words(),
            end,
            time,
            shortened(&shown(&place), 14),
            shortened(&shown(&task.command.join(" ")), 34),
        ]
    });
    let left = all.saturating_sub(tasks.len().min(SHOWN) as u64);
    let rest = if left > 0 { format!("and {left} more tasks\n") } else { String::new() };
    format!("\n{}{rest}", table(&["task", "state", "exit", "time", "cores", ""], 2, rows))
}

fn explained(explanation: &Explanation) -> String {
    if explanation.why_not.is_empty() && explanation.early.is_none() {
        return String::new();
    }
    let now = now();
    let mut text = String::from("\n");
    if let (Some(early), Some(late)) = (explanation.early, explanation.late) {
        let from_now = |instant: f64| span((instant - now).max(0.0));
        let (early, late, known) = (from_now(early), from_now(late), explanation.known_starts);
        let range = if explanation.calibrated {
            let held = explanation.held.map_or_else(String::new, |held| {
                format!("; the latest such ranges contained {:.0} % of the starts", held * 100.0)
            });
            format!(
                "it starts {early} to {late} from now; the range is calibrated to contain 80 % of the starts, from \
                 {known} known starts{held}"
            )
        } else {
            format!(
                "in at least 80 % of the simulations, it starts {early} to {late} from now; the range is not yet \
                 calibrated: {known} of {ENOUGH} starts are known"
            )
        };
        text += &wrapped("", 0, &range);
    }
    let waits = matches!(explanation.state, State::Waiting | State::Held);
    for reason in explanation.why_not.iter().filter(|_| waits) {
        text += &wrapped("why not now: ", 2, &with_jobs(reason));
    }
    text
}

/// Returns the text of a reason, and the numbers of the jobs that the text does not name.
fn with_jobs(reason: &Reason) -> String {
    let is_named = |job: &JobNumber| {
        reason.text.split(|sign: char| !sign.is_ascii_digit()).any(|number| number.parse() == Ok(job.0))
    };
    let others: Vec<String> = reason.jobs.iter().filter(|job| !is_named(job)).map(ToString::to_string).collect();
    match others.len() {
        0 => reason.text.clone(),
        1 => format!("{} (job {})", reason.text, others[0]),
        _ => format!("{} (jobs {})", reason.text, others.join(", ")),
    }
}
