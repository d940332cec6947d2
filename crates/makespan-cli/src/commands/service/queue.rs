//! `makespan queue`

use std::process::ExitCode;

use makespan_core::counted;
use makespan_service::words::{JobSummary, State};
use miette::Result;
use serde_json::json;

use super::{ahead, connect, fail, now, relative};
use crate::args::{AnyState, QueueFormat, QueueOptions};
use crate::output::{emit, shortened, shown, table};

/// Default maximum number of jobs that the text shows.
const SHOWN: usize = 1000;
/// Maximum number of jobs with a reason above the table.
const BLOCKS: usize = 5;
/// Width of the table, in columns of text.
const WIDTH: usize = 80;

pub fn queue(options: &QueueOptions) -> Result<ExitCode> {
    let client = connect(&options.connection)?;
    let mut query = String::new();
    let states: Vec<&str> = match &options.state[..] {
        [] => vec![State::Held.name(), State::Waiting.name(), State::Running.name()],
        stated if stated.contains(&AnyState::Any) => Vec::new(),
        stated => stated
            .iter()
            .filter_map(|state| if let AnyState::One(state) = state { Some(state.name()) } else { None })
            .collect(),
    };
    if !states.is_empty() {
        query += &format!("state={}", states.join(","));
    }
    if let Some(user) = &options.user {
        let bytes = user.bytes().map(|byte| format!("%{byte:02X}"));
        query += &format!("&user={}", bytes.collect::<String>());
    }
    let limit = options.limit.unwrap_or(if options.format == QueueFormat::Json { usize::MAX } else { SHOWN });
    // The service returns at least one job, so this command applies a limit of 0 itself.
    let mut page = client.jobs(&query, limit.max(1)).map_err(fail)?;
    page.items.truncate(limit);
    if options.format == QueueFormat::Json {
        emit(&format!(
            "{:#}\n",
            json!({ "total": page.total, "others": page.others, "trouble": page.trouble, "jobs": page.items })
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let table = text(&page.items, page.total, now());
    emit(
        &(blocks(&page.trouble, &page.items) + &with_others(table, page.total, page.others, options.user.as_deref())),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Returns lines with the problems of the service, and with the reasons why jobs cannot start.
fn blocks(trouble: &[String], jobs: &[JobSummary]) -> String {
    let mut lines: Vec<String> = trouble.to_vec();
    let own = |job: &JobSummary| {
        let reason = job.blocked.as_ref().filter(|reason| !trouble.contains(reason))?;
        Some(format!("job {} cannot start: {reason}", job.number))
    };
    let own: Vec<String> = jobs.iter().filter_map(own).collect();
    lines.extend(own.iter().take(BLOCKS).cloned());
    if own.len() > BLOCKS {
        let count = own.len() - BLOCKS;
        lines.push(format!("{} more cannot start; makespan job N prints the reason", counted(count as u64, "job")));
    }
    let end = if lines.is_empty() { "" } else { "\n" };
    lines.iter().fold(String::new(), |text, line| text + &shown(line) + "\n") + end
}

/// Adds the number of the jobs of others, which a submitter cannot see, to a table of `own` jobs, which may be only the
/// jobs of `user`.
fn with_others(table: String, own: u64, others: u64, user: Option<&str>) -> String {
    let jobs = counted(others, "job");
    let none = || match user {
        Some(user) => format!("you can see no jobs of {}", shown(user)),
        None => "you have no jobs".to_owned(),
    };
    match (own, others) {
        (_, 0) => table,
        (0, 1) => format!("{}\n1 job of other users is running or waiting\n", none()),
        (0, _) => format!("{}\n{jobs} of other users are running or waiting\n", none()),
        _ => format!("{table}\nand {jobs} of other users\n"),
    }
}

/// Formats a table of jobs. `total` is the number of all selected jobs.
fn text(jobs: &[JobSummary], total: u64, now: f64) -> String {
    if total == 0 {
        return "no jobs\n".to_owned();
    }
    let shown = jobs.len() as u64;
    if shown == 0 {
        return format!("0 of {}\n", counted(total, "job"));
    }
    let rest = if total > shown { format!("\n{shown} of {}\n", counted(total, "job")) } else { String::new() };
    let soon = if jobs.iter().any(|job| is_planned_now(job, now)) { NOT_YET } else { "" };
    let long = if jobs.iter().any(|job| has_unknown_end(job) && job.blocked.is_none()) { LONGER } else { "" };
    rows(jobs, now) + &rest + soon + long
}

/// Time after the submission during which a job without an expected start is shown as `planning`, in seconds. After
/// this time, another cause is shown, such as a held job that must start first.
const PLANNING: f64 = 10.0;
/// The text that is shown instead of the start of a job that is being planned.
const SOON: &str = "planning";
/// Explanation of [`SOON`], printed below the table.
const NOT_YET: &str = "\nplanning: the service is planning new jobs; ask again in a moment\n";

/// Text for the start and the end of a job that cannot start at present. The lines above the table state the reason.
const BLOCKED: &str = "blocked";
/// Text for an unknown start or end. [`LONGER`], printed below the table, explains this text.
const UNKNOWN: &str = "unknown";
const LONGER: &str = "\nunknown: the job, or a job that must end before it, runs longer than expected, and no\nsimilar job is known to have run as long\n";

fn is_planned_now(job: &JobSummary, now: f64) -> bool {
    job.state == State::Waiting
        && job.started.or(job.expected_start).is_none()
        && job.behind.is_none()
        && job.blocked.is_none()
        && (now - job.submitted).abs() < PLANNING
}

/// Returns true if the end of a job is unknown because one of its tasks, or another job for which it waits, runs
/// longer than expected.
fn has_unknown_end(job: &JobSummary) -> bool {
    job.expected_end.is_none() && (job.longer_than.is_some() || job.behind.is_some())
}

/// Formats jobs as a table of at most 80 columns. Users and names are cut to fit.
fn rows(jobs: &[JobSummary], now: f64) -> String {
    // Minimum and maximum width of the user column, and minimum width of the name column.
    const USER: (usize, usize) = (4, 12);
    const NAME: usize = 8;
    let heading = ["job", "user", "state", "cores", "tasks", "starts", "ends", "name"];
    let mut rows: Vec<Vec<String>> = jobs.iter().map(|job| cells(job, now)).collect();
    let width = |rows: &[Vec<String>], column: usize| {
        rows.iter().map(|row| row[column].chars().count()).chain([heading[column].len()]).max().unwrap_or(0)
    };
    // Two spaces separate the columns.
    let others: usize = (0..heading.len() - 1).filter(|&at| at != 1).map(|at| width(&rows, at) + 2).sum();
    let user = WIDTH.saturating_sub(others + NAME + 2).clamp(USER.0, USER.1);
    for row in &mut rows {
        row[1] = shortened(&row[1], user);
    }
    let left = WIDTH.saturating_sub(others + width(&rows, 1) + 2).max(heading[7].len());
    for row in &mut rows {
        row[7] = shortened(&row[7], left);
    }
    // The table right-aligns this column, so all names are padded to the same length.
    let longest = rows.iter().map(|row| row[7].chars().count()).max().unwrap_or(0);
    for row in &mut rows {
        row[7] = format!("{:<longest$}", row[7]);
    }
    let mut heading = heading.map(str::to_owned);
    heading[7] = format!("{:<longest$}", heading[7]);
    table(&heading.each_ref().map(String::as_str), 3, rows)
}

fn cells(job: &JobSummary, now: f64) -> Vec<String> {
    let tasks = if job.tasks == 1 { "1".to_owned() } else { format!("{}/{}", job.tasks_ended, job.tasks) };
    vec![
        job.number.to_string(),
        crate::output::shown(&job.user).into_owned(),
        job.state.words(),
        job.processors.to_string(),
        tasks,
        match job.started {
            Some(started) => relative(Some(started), now),
            None if job.blocked.is_some() => BLOCKED.into(),
            None if is_planned_now(job, now) => SOON.into(),
            None if job.behind.is_some() && job.expected_start.is_none() => UNKNOWN.into(),
            None => ahead(job.expected_start, now),
        },
        match job.ended {
            Some(ended) => relative(Some(ended), now),
            None if job.blocked.is_some() => BLOCKED.into(),
            None if has_unknown_end(job) => UNKNOWN.into(),
            None => ahead(job.expected_end, now),
        },
        crate::output::shown(&job.name).into_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use makespan_service::words::JobNumber;

    use super::*;

    fn job(number: u64, state: State, submitted: f64) -> JobSummary {
        JobSummary {
            number: JobNumber(number),
            name: "name".into(),
            user: "ann".into(),
            state,
            submitted,
            expected_start: None,
            expected_end: None,
            longer_than: None,
            behind: None,
            blocked: None,
            started: None,
            ended: None,
            processors: 1,
            weight: 1.0,
            priority: 0,
            deadline: None,
            tasks: 1,
            tasks_ended: 0,
        }
    }

    #[test]
    fn a_plan_that_is_being_made_is_said_to_be() {
        let jobs = [
            job(1, State::Waiting, 99.0),
            JobSummary { expected_start: Some(130.0), ..job(2, State::Waiting, 99.0) },
            job(3, State::Waiting, 50.0),
            job(4, State::Held, 99.0),
        ];
        let starts = jobs.each_ref().map(|job| cells(job, 100.0)[5].clone());
        assert_eq!(starts, ["planning", "in 30 s", "-", "-"]);
    }

    /// An expected instant is never shown as past. Only the instant of an event is shown as past.
    #[test]
    fn nothing_that_is_expected_is_in_the_past() {
        for state in [State::Waiting, State::Running] {
            for (start, end) in [(90.0, 95.0), (99.99, 100.0), (100.0, 100.4), (130.0, 140.0)] {
                let started = (state == State::Running).then_some(80.0);
                let one =
                    JobSummary { expected_start: Some(start), expected_end: Some(end), started, ..job(1, state, 50.0) };
                let shown = cells(&one, 100.0);
                assert!(shown[6].starts_with("in "), "{shown:?}");
                assert_eq!(shown[5].ends_with("ago"), started.is_some(), "{shown:?}");
            }
        }
        let longer = JobSummary { started: Some(80.0), longer_than: Some(1.0), ..job(1, State::Running, 50.0) };
        assert_eq!(cells(&longer, 100.0)[6], "unknown");
        assert!(text(&[longer], 1, 100.0).contains("runs longer than expected"));
        let behind = JobSummary { behind: Some(JobNumber(1)), ..job(2, State::Waiting, 99.0) };
        assert_eq!(cells(&behind, 100.0)[5..7], ["unknown", "unknown"]);
        assert!(text(&[behind], 1, 100.0).contains("runs longer than expected"));
        let partly =
            JobSummary { expected_start: Some(130.0), behind: Some(JobNumber(1)), ..job(2, State::Waiting, 99.0) };
        assert_eq!(cells(&partly, 100.0)[5..7], ["in 30 s", "unknown"]);
    }

    /// A job that cannot start is never shown as planned, and the reason is above the table.
    #[test]
    fn the_reason_why_a_job_cannot_start_is_shown_first() {
        let trouble = ["jobs cannot be started: the disk is full".to_owned()];
        for expected_start in [None, Some(99.0), Some(130.0)] {
            for behind in [None, Some(JobNumber(1))] {
                let blocked = Some("ann may use 1 processor at once, but this job needs 2".to_owned());
                let one = JobSummary { blocked, expected_start, behind, ..job(7, State::Waiting, 99.0) };
                assert_eq!(cells(&one, 100.0)[5..7], ["blocked", "blocked"]);
                let table = text(std::slice::from_ref(&one), 1, 100.0);
                assert!(!table.contains("planning") && !table.contains("longer"), "{table}");
                let above = blocks(&trouble, &[one]);
                assert!(
                    above.starts_with("jobs cannot be started: the disk is full\njob 7 cannot start: ann"),
                    "{above}"
                );
            }
        }
        let same = JobSummary { blocked: Some(trouble[0].clone()), ..job(7, State::Waiting, 99.0) };
        assert_eq!(blocks(&trouble, &[same]).lines().count(), 2);
        assert_eq!(blocks(&[], &[job(1, State::Waiting, 99.0)]), "");
        assert!(with_others(String::new(), 0, 2, Some("ann")).starts_with("you can see no jobs of ann\n"));
        assert!(with_others(String::new(), 0, 2, None).starts_with("you have no jobs\n"));
    }

    #[test]
    fn none_are_shown_where_none_are_asked_for() {
        assert_eq!((text(&[], 3, 0.0), text(&[], 0, 0.0)), ("0 of 3 jobs\n".into(), "no jobs\n".into()));
    }

    #[test]
    fn the_table_has_80_columns_and_one_line_a_job() {
        let job = JobSummary {
            name: "a very long name\nwith a line break that goes on and on".into(),
            user: "somebody-with-a-long-name".into(),
            expected_start: Some(100_000.0),
            expected_end: Some(172_000.0),
            processors: 128,
            tasks: 2000,
            tasks_ended: 1500,
            ..job(123_456, State::NotStarted, 0.0)
        };
        let text = rows(&[job], 0.0);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
