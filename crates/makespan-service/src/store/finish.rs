//! Changes of the store when tasks and jobs start and end.

use makespan_core::Outcome;
use rusqlite::{Error, OptionalExtension, params};

use super::change::{JobEvent, LogEvent, StoreChange, StoreResult, StoredState};
use super::row::state_of;
use crate::clock::wall;
use crate::prepare::refusal;
use crate::words::{HappeningKind, JobNumber, RefusalKind, State, Who};

/// A change of the state of a task, as the engine reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEnd {
    /// The job of the task.
    pub job: JobNumber,
    /// The position of the job among all jobs that the engine has received.
    pub position: u64,
    /// The number of the task in its job.
    pub task: u64,
    /// The new state. `Waiting` means that an attempt has ended and the task waits again. `Cancelled` means that the
    /// engine removed the task before its start.
    pub state: State,
    /// The start of the attempt, in seconds since 1970.
    pub started: Option<f64>,
    /// The end of the task, in seconds since 1970.
    pub ended: Option<f64>,
    /// The processors, as ranges such as `0-3,6`.
    pub processors: Option<String>,
    /// The number of processors.
    pub width: u32,
    /// The names of the nodes, separated by commas.
    pub nodes: Option<String>,
    /// The name of the output files in the folder of the round (the run of the engine), without their extensions.
    pub output: Option<String>,
    /// The exit status.
    pub exit: Option<i32>,
    /// Peak memory in bytes.
    pub memory: Option<u64>,
    /// The reason why the task did not succeed.
    pub reason: Option<String>,
}

impl TaskEnd {
    /// Returns the state and the exit status of a task after an attempt with the given outcome.
    pub const fn after(outcome: Outcome) -> (State, Option<i32>) {
        match outcome {
            Outcome::Succeeded => (State::Succeeded, Some(0)),
            Outcome::Failed { status } => (State::Failed, Some(status)),
            Outcome::TimedOut => (State::TimedOut, None),
            Outcome::NotStarted => (State::NotStarted, None),
            Outcome::Interrupted => (State::Waiting, None),
        }
    }
}

/// Returns the column with the number of a job's tasks in the given state.
const fn column(state: State) -> Option<&'static str> {
    match state {
        State::Running => Some("running"),
        State::Succeeded => Some("succeeded"),
        State::Failed => Some("failed"),
        State::TimedOut => Some("timed_out"),
        State::Cancelled | State::NotStarted => Some("not_started"),
        State::Held | State::Waiting => None,
    }
}

impl StoreChange<'_> {
    /// Stores the new state of a task. Does nothing if this state is already stored.
    ///
    /// # Errors
    /// The error of the database.
    pub fn note(&mut self, task: &TaskEnd) -> Result<(), Error> {
        let (job, number) = (task.job.0 as i64, task.task as i64);
        let sql = "SELECT withdrawn FROM handed WHERE position = ?1";
        let withdrawn: Option<bool> =
            self.connection().prepare_cached(sql)?.query_row([task.position as i64], |row| row.get(0)).optional()?;
        let Some(known) = self.known(task.job)?.filter(|known| !known.state.is_final()) else { return Ok(()) };
        if withdrawn != Some(false) {
            return Ok(());
        }
        let was_ended = known.cancelled && task.state == State::Failed;
        let cancelled = || Some("it was cancelled".to_owned());
        let own = was_ended.then(|| TaskEnd { state: State::Cancelled, reason: cancelled(), ..task.clone() });
        let task = own.as_ref().unwrap_or(task);
        if task.state == State::Cancelled && !known.cancelled {
            // The engine removed the task to hold its job, but never confirmed the hold.
            self.withdraw(task.job)?;
            return self.hand(task.job);
        }
        let sql = "SELECT state FROM tasks WHERE job = ?1 AND task = ?2";
        let before: Option<String> =
            self.connection().prepare_cached(sql)?.query_row([job, number], |row| row.get(0)).optional()?;
        let before = before.map_or(State::Waiting, |name| state_of(&name));
        if before == task.state || before.is_final() {
            return Ok(());
        }
        self.write_task(task)?;
        for (state, change) in [(before, -1), (task.state, 1)] {
            if let Some(column) = column(state) {
                let sql = format!("UPDATE jobs SET {column} = {column} + ?2 WHERE number = ?1");
                self.connection().prepare_cached(&sql)?.execute([job, change])?;
            }
        }
        if let (Some(started), Some(ended), true) = (task.started, task.ended, task.state != State::NotStarted) {
            self.use_up(&known.user, (ended - started).max(0.0) * f64::from(task.width))?;
        }
        self.follow(task, &known)
    }

    fn write_task(&self, task: &TaskEnd) -> Result<(), Error> {
        let starts = i64::from(task.state == State::Running);
        let sql = "INSERT INTO tasks (job, task, state, started, ended, processors, width, nodes, output, attempts, exit, memory, reason) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT (job, task) DO UPDATE SET \
                   state = ?3, started = coalesce(?4, started), ended = ?5, processors = coalesce(?6, processors), \
                   width = coalesce(?7, width), nodes = coalesce(?8, nodes), output = coalesce(?9, output), \
                   attempts = attempts + ?10, exit = ?11, memory = coalesce(?12, memory), reason = ?13";
        self.connection().prepare_cached(sql)?.execute(params![
            task.job.0 as i64,
            task.task as i64,
            task.state.name(),
            task.started,
            task.ended,
            task.processors,
            Some(task.width).filter(|&width| width > 0),
            task.nodes,
            task.output,
            starts,
            task.exit,
            task.memory.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
            task.reason,
        ])?;
        Ok(())
    }

    /// Updates the state of a job after a change of one of its tasks.
    fn follow(&mut self, task: &TaskEnd, before: &StoredState) -> Result<(), Error> {
        let Some(now) = self.known(task.job)? else { return Ok(()) };
        let state = state_by(&now);
        let job = task.job.0 as i64;
        if task.state == State::Running {
            let sql = "UPDATE jobs SET started = ?2 WHERE number = ?1 AND started IS NULL RETURNING submitted";
            let first = params![job, task.started];
            let submitted: Option<f64> =
                self.connection().prepare_cached(sql)?.query_row(first, |row| row.get(0)).optional()?;
            if let Some(submitted) = submitted {
                let waited = task.started.map(|started| (started - submitted).max(0.0));
                self.event(task.job, &before.user, State::Running, None, waited);
            }
        }
        if task.state == State::Waiting {
            self.event(task.job, &before.user, State::Waiting, task.reason.clone(), None);
        }
        if task.state.is_final() && task.state != State::Succeeded {
            let sql = "UPDATE jobs SET reason = coalesce(reason, ?2) WHERE number = ?1";
            self.connection().prepare_cached(sql)?.execute(params![job, task.reason])?;
        }
        let kind = match task.state {
            State::Running => HappeningKind::Started,
            State::Waiting | State::Held => HappeningKind::Retried,
            State::Cancelled => HappeningKind::Cancelled,
            _ => HappeningKind::Ended,
        };
        let sql = "UPDATE jobs SET state = ?2 WHERE number = ?1";
        self.connection().prepare_cached(sql)?.execute(params![job, state.name()])?;
        let of_task = (now.tasks > 1).then_some(task.task);
        if !state.is_final() {
            return self.happened(task.job, &before.user, of_task, (kind, state));
        }
        if of_task.is_some() {
            self.happened(task.job, &before.user, of_task, (kind, State::Running))?;
        }
        self.finish(task.job, &before.user, state, task.ended)
    }

    fn event(&mut self, job: JobNumber, user: &str, state: State, reason: Option<String>, waited: Option<f64>) {
        let event = JobEvent { job, user: user.to_owned(), state, reason, waited };
        self.taken.events.push(LogEvent::Job(event));
    }

    /// Stores the end of a job, and gives the engine the jobs that waited for this job.
    fn finish(&mut self, job: JobNumber, user: &str, state: State, at: Option<f64>) -> Result<(), Error> {
        let sql = "UPDATE jobs SET state = ?2, ended = ?3, held = 0 WHERE number = ?1 RETURNING reason";
        let change = params![job.0 as i64, state.name(), at.unwrap_or_else(wall)];
        let reason: Option<String> =
            self.connection().prepare_cached(sql)?.query_row(change, |row| row.get(0)).optional()?.flatten();
        self.event(job, user, state, reason, None);
        let kind = if state == State::Cancelled { HappeningKind::Cancelled } else { HappeningKind::Ended };
        self.happened(job, user, None, (kind, state))?;
        self.hand_behind(job)
    }

    /// Ends a job that the engine has not received. The job `before`, for which it waits, did not succeed.
    pub(super) fn give_up(&mut self, job: JobNumber, before: JobNumber) -> Result<(), Error> {
        let Some(known) = self.known(job)? else { return Ok(()) };
        let reason = format!("job {before}, which it waits for, did not succeed");
        let sql = "UPDATE jobs SET reason = ?2, not_started = tasks WHERE number = ?1";
        self.connection().prepare_cached(sql)?.execute(params![job.0 as i64, reason])?;
        self.finish(job, &known.user, State::NotStarted, None)
    }

    /// Ends a job that does not fit the platform of the engine.
    ///
    /// # Errors
    /// The error of the database.
    pub fn not_taken(&mut self, job: JobNumber, position: u64, reason: &str) -> Result<(), Error> {
        self.unhand(position)?;
        let Some(known) = self.known(job)?.filter(|known| !known.state.is_final()) else { return Ok(()) };
        let sql = "UPDATE jobs SET reason = ?2, not_started = tasks WHERE number = ?1";
        self.connection().prepare_cached(sql)?.execute(params![job.0 as i64, reason])?;
        self.finish(job, &known.user, State::NotStarted, None)
    }

    /// Cancels a job. Returns the state of the job, and true if the engine must also cancel the job. If false, the job
    /// has ended.
    pub fn cancel(&mut self, who: &Who, job: JobNumber) -> StoreResult<(State, bool)> {
        let known = match self.own(who, job)? {
            Ok(known) => known,
            Err(refused) => return Ok(Err(refused)),
        };
        if known.state.is_final() {
            let message = format!("job {job} has ended: {}", known.state.words());
            return Ok(Err(refusal(RefusalKind::Conflict, "", message, "")));
        }
        let sql = "UPDATE jobs SET cancelled = 1 WHERE number = ?1";
        self.connection().prepare_cached(sql)?.execute([job.0 as i64])?;
        if self.place(job)?.is_some() {
            return Ok(Ok((known.state, true)));
        }
        self.end_cancelled(job)?;
        Ok(Ok((State::Cancelled, false)))
    }

    /// Ends a cancelled job that the engine does not have.
    pub(super) fn end_cancelled(&mut self, job: JobNumber) -> Result<(), Error> {
        let Some(known) = self.known(job)? else { return Ok(()) };
        let sql = "UPDATE jobs SET running = 0, not_started = tasks - succeeded - failed - timed_out, \
                   reason = coalesce(reason, 'it was cancelled') WHERE number = ?1";
        self.connection().prepare_cached(sql)?.execute([job.0 as i64])?;
        self.finish(job, &known.user, State::Cancelled, None)
    }

    /// Returns tasks to the waiting state if they were running when the previous session of the engine died and are
    /// not running now.
    ///
    /// # Errors
    /// The error of the database.
    pub fn wait_again(&mut self, runs: impl Fn(JobNumber, u64) -> bool) -> Result<(), Error> {
        let sql = "SELECT job, task FROM tasks WHERE state = 'running'";
        let all: Vec<(i64, i64)> = {
            let mut select = self.connection().prepare_cached(sql)?;
            select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?
        };
        for (job, task) in all.into_iter().map(|(job, task)| (JobNumber(job as u64), task as u64)) {
            let Some((position, _)) = self.place(job)?.filter(|_| !runs(job, task)) else { continue };
            let reason = Some("it was interrupted because the service stopped".to_owned());
            self.note(&TaskEnd {
                job,
                position,
                task,
                state: State::Waiting,
                started: None,
                ended: None,
                processors: None,
                width: 0,
                nodes: None,
                output: None,
                exit: None,
                memory: None,
                reason,
            })?;
        }
        Ok(())
    }
}

/// Returns the state of a job, given the number of its tasks in each state.
fn state_by(known: &StoredState) -> State {
    let [succeeded, failed, timed_out, not_started] = known.ends;
    match known.state {
        _ if known.ended() < known.tasks => {
            if known.running > 0 || known.ended() > 0 {
                State::Running
            } else {
                State::Waiting
            }
        }
        _ if succeeded == known.tasks => State::Succeeded,
        _ if known.cancelled => State::Cancelled,
        _ if failed > 0 => State::Failed,
        _ if timed_out > 0 => State::TimedOut,
        _ if not_started > 0 => State::NotStarted,
        state => state,
    }
}
