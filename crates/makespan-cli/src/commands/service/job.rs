//! `makespan job`

use std::process::ExitCode;

use makespan_service::client::ClientError;
use makespan_service::words::{JobNumber, JobOutlook, JobSummary, RangeShare, State, TaskDetail};
use miette::Result;
use serde_json::Value;

use super::{connect, expected, fail, note, now, relative, span, waits};
use crate::args::{Format, JobOptions};
use crate::outlook::line;
use crate::output::{emit, shortened, shown, table};

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
    let explanation: Option<(JobOutlook, RangeShare)> = match summary.state {
        State::Waiting | State::Held => {
            let explained: Value = client.get(&format!("jobs/{number}/explain")).map_err(fail)?;
            let ranges = serde_json::from_value(explained["ranges"].clone()).map_err(strange)?;
            Some((serde_json::from_value(explained).map_err(strange)?, ranges))
        }
        _ => None,
    };
    let mut text = told(&summary, &value, explanation.as_ref());
    text += &tasks_told(&tasks, summary.tasks);
    text += &explanation.map_or_else(String::new, |(outlook, ranges)| note(&[outlook], &ranges));
    emit(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn told(summary: &JobSummary, value: &Value, explanation: Option<&(JobOutlook, RangeShare)>) -> String {
    let now = now();
    let line = |label: &str, text: String| line(0, label, &text);
    let mut text = line("job", format!("{} {}", summary.number, summary.name));
    text += &line("state", summary.state.words());
    text += &line("user", summary.user.clone());
    text += &line("submitted", relative(Some(summary.submitted), now));
    text += &match summary.started {
        Some(started) => line("started", relative(Some(started), now)),
        None => line("starts", expected(summary.expected_start, summary.behind, now)),
    };
    text += &explanation.map_or_else(String::new, |(outlook, ranges)| waits(0, outlook, ranges, now));
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
