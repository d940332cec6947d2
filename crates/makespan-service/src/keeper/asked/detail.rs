//! The details of one job: its tasks with their states, expected starts and measurements.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use makespan_core::{Estimate, Job, Task, Work};

use super::super::Keeper;
use super::super::outlook::Outlook;
use crate::clock::wall;
use crate::prepare::{commands, job_of};
use crate::store::{JobRow, TaskRow};
use crate::words::{JobDetail, JobNumber, Refusal, Role, State, TaskDetail, Who};

impl Keeper {
    /// Returns the details of a job. Lists at most [`JobDetail::MAX_TASKS`] tasks, and prefers tasks that have started.
    pub(super) fn detail(&self, who: &Who, job: JobNumber) -> Result<JobDetail, Refusal> {
        let mut row = self.row(who, job)?;
        self.expect(who, std::slice::from_mut(&mut row.summary));
        let started = self.read(|reader| reader.tasks(job, None, JobDetail::MAX_TASKS))?;
        let outlook = self.outlook.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let spec = job_of(&row.spec, &self.shared.platform).ok();
        let planned = outlook.as_deref().map(|outlook| planned_starts(outlook, job)).unwrap_or_default();
        let lines = TaskLines {
            job,
            tasks: row.summary.tasks,
            state: row.summary.state,
            commands: spec.as_ref().map(commands).unwrap_or_default(),
            spec,
            outlook: outlook.as_deref(),
            planned,
        };
        let mut task_list = lines.all(started);
        task_list.sort_by_key(|task| (order_of(task.state), task.task));
        let JobRow { summary, after, directory, mut environment, begin, reason, .. } = row;
        // Only the owner and admins see the environment, because it may contain keys and tokens.
        if who.role != Role::Admin && who.user != summary.user {
            environment.clear();
        }
        Ok(JobDetail { summary, task_list, after, directory, environment, begin, reason })
    }
}

/// Returns the expected starts of the tasks of `job`, in seconds after 1970, by the number of the task. Leaves out a task
/// if its start depends on a running task with an unknown end.
fn planned_starts(outlook: &Outlook, job: JobNumber) -> BTreeMap<u64, f64> {
    let now = wall();
    let own = outlook.expected.iter().filter(|one| one.job == job);
    let known = own.filter(|one| outlook.unknown(one.behind, now).is_none());
    known.map(|one| (one.task, one.start.max(now))).collect()
}

/// The sources of the details of the tasks of one job.
struct TaskLines<'a> {
    job: JobNumber,
    /// Number of tasks of the job.
    tasks: u64,
    state: State,
    /// Names and command lines. A bag has only one, for all its tasks.
    commands: Vec<(String, Vec<String>)>,
    /// The job, if its stored text can still be read.
    spec: Option<Job>,
    outlook: Option<&'a Outlook>,
    planned: BTreeMap<u64, f64>,
}

impl TaskLines<'_> {
    /// Returns the details of the tasks in `started`, and then of the first other tasks.
    fn all(&self, started: Vec<TaskRow>) -> Vec<TaskDetail> {
        let rows: BTreeMap<u64, TaskRow> = started.into_iter().map(|row| (row.task, row)).collect();
        let rest = (0..self.tasks).filter(|task| !rows.contains_key(task));
        let numbers = rows.keys().copied().chain(rest).take(JobDetail::MAX_TASKS);
        numbers.map(|number| self.line(number, rows.get(&number))).collect()
    }

    /// Returns the details of a task. `row` is the row of the task in the store, which exists after its first start.
    fn line(&self, number: u64, row: Option<&TaskRow>) -> TaskDetail {
        let (name, command) = match &self.commands[..] {
            [(_, command)] if self.tasks > 1 => (number.to_string(), command.clone()),
            commands => commands.get(number as usize).cloned().unwrap_or_default(),
        };
        let stated = self.spec.as_ref().and_then(|job| task_of(job, number));
        let (estimate, estimated_by) = self.estimate(number, stated.as_ref());
        let nodes = row.and_then(|row| row.nodes.as_deref()).unwrap_or_default();
        TaskDetail {
            task: number,
            name,
            state: row.map_or(self.state_before_start(), |row| row.state),
            command,
            expected_start: self.planned.get(&number).copied().filter(|_| row.is_none_or(|row| row.started.is_none())),
            started: row.and_then(|row| row.started),
            ended: row.and_then(|row| row.ended),
            processors: row.and_then(|row| row.processors.clone()),
            nodes: nodes.split(',').filter(|node| !node.is_empty()).map(str::to_owned).collect(),
            exit: row.and_then(|row| row.exit),
            memory: row.and_then(|row| row.memory),
            attempts: row.map_or(0, |row| row.attempts),
            estimate,
            estimated_by: estimated_by.into(),
            needs: stated.as_ref().map(needs_of).unwrap_or_default(),
            reason: row.and_then(|row| row.reason.clone()),
        }
    }

    /// Returns the state of a task that has never started.
    const fn state_before_start(&self) -> State {
        match self.state {
            State::Held => State::Held,
            state if state.is_final() => State::NotStarted,
            _ => State::Waiting,
        }
    }

    /// Returns the expected run time of a task in seconds, and its source.
    fn estimate(&self, number: u64, stated: Option<&Task>) -> (f64, &'static str) {
        let own = stated.map(|task| task.profile.longest().seconds());
        let planned = self.outlook.and_then(|outlook| outlook.length_of(self.job, number));
        let length = planned.or(own).unwrap_or(0.0);
        // If the length differs by more than 1 %, a length learned from ended tasks has replaced the guess.
        let is_replaced = own.is_some_and(|own| (length - own).abs() > own / 100.0);
        let source = match stated.map(|task| task.estimate) {
            Some(estimate) if estimate.is_guess() && is_replaced => "history",
            Some(Estimate::Stated) => "stated",
            Some(Estimate::Learned { .. }) => "history",
            Some(Estimate::Guessed) | None => "guess",
        };
        (length, source)
    }
}

/// Returns the task with the given number in a job. All tasks of a bag are equal.
fn task_of(job: &Job, number: u64) -> Option<Task> {
    match &job.work {
        Work::Task(task) | Work::Bag(task, _) => Some(task.clone()),
        Work::Graph(graph) => graph.tasks().get(number as usize).map(|one| one.task.clone()),
    }
}

/// Returns the amount of each resource that a task needs on its minimum number of processors.
fn needs_of(task: &Task) -> BTreeMap<String, u64> {
    let fewest = task.profile.min_processors();
    task.needs.iter().map(|(name, need)| (name.to_owned(), need.total(fewest))).collect()
}

/// Returns the rank of a state in the list of tasks: running tasks come first, then tasks that did not succeed.
const fn order_of(state: State) -> u8 {
    match state {
        State::Running => 0,
        State::Failed | State::TimedOut => 1,
        State::Cancelled | State::NotStarted => 2,
        State::Waiting | State::Held => 3,
        State::Succeeded => 4,
    }
}
