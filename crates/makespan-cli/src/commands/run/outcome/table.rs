//! The table of planned and actual times, with one line for each job.

use makespan_core::{Job, Outcome, Rows, Run, Time, counted};

use super::{Kind, Outcomes};
use crate::output::{Line, Tone, shortened, table};
use crate::summary::{figure, names_nodes, node_names};

/// Maximum number of jobs in the table. If there are more jobs, jobs that did not succeed are preferred.
const LISTED: usize = 20;

/// Maximum width of a job name, in columns. With this limit and those below, the table fits into 80 columns.
const NAME: usize = 20;
const OUTCOME: usize = 22;
const WIDE_OUTCOME: usize = 38;
const NODES: usize = 12;

impl Outcomes<'_> {
    /// Returns a heading and a line for each job. All tasks of a bag or a compound job share one line. To fit into 80
    /// columns, a table with nodes leaves out the planned times.
    pub(super) fn table(&self, with_plan: bool) -> Vec<Line> {
        let mut rows: Vec<Row> = self.instance.jobs().iter().map(|job| Row::new(job.tasks())).collect();
        for placement in self.plan.placements() {
            widen(&mut rows[self.instance.job_id(placement.task).index()].planned, placement.start, placement.end);
        }
        for (&task, run) in &self.last {
            let row = &mut rows[self.instance.job_id(task).index()];
            row.add(run);
            row.attempts = row.attempts.max(self.attempts.get(&task).copied().unwrap_or(1));
        }
        let mut listed: Vec<(&Job<Rows>, Row)> = self.instance.jobs().iter().zip(rows).collect();
        let count = listed.len();
        if count > LISTED {
            listed.sort_by_key(|(_, row)| row.succeeded == row.tasks);
            listed.truncate(LISTED);
        }
        let platform = self.instance.platform();
        let nodes = names_nodes(platform);
        let with_plan = with_plan && !nodes;
        let mut heading = vec!["job", "outcome"];
        heading.extend(nodes.then_some("nodes"));
        let words = heading.len();
        let outcome = if with_plan || nodes { OUTCOME } else { WIDE_OUTCOME };
        heading.extend(["planned", "to"].iter().filter(|_| with_plan));
        heading.extend(["ran", "to"]);
        let cells = listed.iter().map(|(job, row)| {
            let mut cells = vec![shortened(&job.name, NAME), shortened(&row.outcome(job), outcome)];
            if nodes {
                let ran = row.ran(job).map_or("-".into(), |run| node_names(platform, &run.processors));
                cells.push(shortened(&ran, NODES));
            }
            cells.extend(Row::times(row.planned).into_iter().filter(|_| with_plan));
            cells.extend(Row::times(row.happened));
            cells
        });
        let text = table(&heading, words, cells);
        let tones = std::iter::once(Tone::Plain).chain(listed.iter().map(|(_, row)| row.tone()));
        let mut lines: Vec<Line> =
            text.lines().zip(tones).map(|(line, tone)| Line::new(tone, line.to_owned())).collect();
        if count > LISTED {
            lines.push(Line::plain(format!("and {} more; jobs.csv lists all", count - LISTED)));
        }
        lines
    }
}

/// Planned and actual times of one job.
struct Row<'a> {
    tasks: u64,
    succeeded: u64,
    planned: Option<(Time, Time)>,
    happened: Option<(Time, Time)>,
    /// The last execution of the job's task. For a job of several tasks, the last execution of any of its tasks.
    run: Option<&'a Run>,
    /// Largest number of attempts at a task of the job.
    attempts: usize,
}

impl<'a> Row<'a> {
    fn new(tasks: u64) -> Self {
        Self { tasks, succeeded: 0, planned: None, happened: None, run: None, attempts: 0 }
    }

    fn add(&mut self, run: &'a Run) {
        self.run = Some(run);
        self.succeeded += u64::from(run.outcome == Outcome::Succeeded);
        if run.outcome != Outcome::NotStarted {
            widen(&mut self.happened, run.start, run.end);
        }
    }

    /// Returns the last execution of a job that consists of one task. Returns `None` if the job was not started.
    fn ran(&self, job: &Job<Rows>) -> Option<&'a Run> {
        self.run.filter(|run| run.outcome != Outcome::NotStarted && !many(job))
    }

    /// Returns the outcome in words.
    fn outcome(&self, job: &Job<Rows>) -> String {
        let outcome = match self.run.map(|run| run.outcome) {
            _ if many(job) => format!("{} of {} succeeded", self.succeeded, counted(self.tasks, "task")),
            None => "did not run".to_owned(),
            Some(Outcome::Succeeded) => "succeeded".into(),
            Some(Outcome::Failed { status }) if Kind::of(self.run) == Kind::OutOfMemory => {
                format!("out of memory, status {status}")
            }
            Some(Outcome::Failed { status }) if Kind::of(self.run) == Kind::Killed => {
                format!("killed, status {status}")
            }
            Some(Outcome::Failed { status }) => format!("failed, status {status}"),
            Some(Outcome::TimedOut) => "reached its time limit".into(),
            Some(Outcome::Interrupted) => "interrupted".into(),
            Some(Outcome::NotStarted) => "not started".into(),
        };
        if self.attempts > 1 { format!("{outcome}, attempt {}", self.attempts) } else { outcome }
    }

    /// Returns two cells: the first start and the last end.
    fn times(span: Option<(Time, Time)>) -> [String; 2] {
        let seconds = |time: Option<Time>| time.map_or("-".into(), |time| figure(time.seconds()));
        [seconds(span.map(|span| span.0)), seconds(span.map(|span| span.1))]
    }
}

impl Row<'_> {
    fn tone(&self) -> Tone {
        if self.succeeded == self.tasks { Tone::Plain } else { Kind::of(self.run).tone().max(Tone::Doubtful) }
    }
}

fn many(job: &Job<Rows>) -> bool {
    job.is_bag() || job.is_compound()
}

/// Extends a span so that it contains the interval from `start` to `end`.
fn widen(span: &mut Option<(Time, Time)>, start: Time, end: Time) {
    let (first, last) = span.get_or_insert((start, end));
    (*first, *last) = (start.min(*first), end.max(*last));
}
