//! Changes of the store. Each change is part of a transaction.

use rusqlite::{Connection, Error, OptionalExtension, Transaction, params};

use super::handed::HandedJob;
use super::row::{JobRow, job_row, state_of};
use crate::clock::wall;
use crate::log::Priority;
use crate::prepare::{PreparedJob, PreparedSubmission, refusal};
use crate::words::{
    HappeningKind, JobNumber, Receipt, Refusal, RefusalKind, Role, State, Submission, UserChange, UserSettings, Who,
};

/// An open transaction.
#[derive(Debug)]
pub struct StoreChange<'a> {
    pub(super) transaction: Transaction<'a>,
    latest: u64,
    /// Number of processors of the platform.
    pub(super) processors: u32,
    pub(super) taken: CommitEffects,
}

/// The start or the end of a job, for the log and the metrics.
#[derive(Clone, Debug)]
pub struct JobEvent {
    /// The job.
    pub job: JobNumber,
    /// The user of the job.
    pub user: String,
    /// The new state: running, waiting again after a lost attempt, or the final state.
    pub state: State,
    /// The reason why the job did not succeed or waits again, if known.
    pub reason: Option<String>,
    /// The time from the submission to the first start, in seconds. Only the event of this start has it.
    pub waited: Option<f64>,
}

/// An event for the log.
#[derive(Clone, Debug)]
pub enum LogEvent {
    /// A job started, ended or waits again.
    Job(JobEvent),
    /// A user sent a request that was carried out. The line describes the request.
    Request(Priority, String),
}

/// The effects of a committed transaction on the other parts of the service.
#[derive(Debug, Default)]
pub struct CommitEffects {
    /// Jobs to pass to the engine, in this order.
    pub handed: Vec<HandedJob>,
    /// Requests, and starts and ends of jobs. A request precedes the starts and ends that it causes.
    pub events: Vec<LogEvent>,
    /// The number of the latest event.
    pub latest: u64,
}

/// The stored state of a job and the states of its tasks.
#[derive(Clone, Debug)]
pub(super) struct StoredState {
    pub user: String,
    pub state: State,
    pub held: bool,
    pub cancelled: bool,
    pub tasks: u64,
    pub running: u64,
    /// The number of tasks that succeeded, failed, reached their walltime, and did not start, in this order.
    pub ends: [u64; 4],
}

impl StoredState {
    /// Returns the number of ended tasks.
    pub fn ended(&self) -> u64 {
        self.ends.iter().sum()
    }
}

/// A result or a refusal. The outer error comes from the database.
pub type StoreResult<T> = Result<Result<T, Refusal>, Error>;

impl<'a> StoreChange<'a> {
    pub(super) fn new(transaction: Transaction<'a>, latest: u64, processors: u32) -> Self {
        Self { transaction, latest, processors, taken: CommitEffects::default() }
    }

    pub(super) fn commit(self) -> Result<CommitEffects, Error> {
        let Self { transaction, latest, mut taken, .. } = self;
        transaction.commit()?;
        taken.latest = latest;
        Ok(taken)
    }

    /// Executes `act` as a part of the transaction, and rolls this part back if `act` returns a refusal.
    ///
    /// # Errors
    /// The error of the database.
    pub fn part<T>(&mut self, act: impl FnOnce(&mut Self) -> StoreResult<T>) -> StoreResult<T> {
        self.part_if(act, Result::is_ok)
    }

    /// Executes `act` as a part of the transaction, and rolls this part back unless `keeps` returns true.
    fn part_if<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> StoreResult<T>,
        keeps: impl FnOnce(&Result<T, Refusal>) -> bool,
    ) -> StoreResult<T> {
        let before = (self.latest, self.taken.handed.len(), self.taken.events.len());
        self.transaction.execute_batch("SAVEPOINT part")?;
        let answer = act(self)?;
        if !keeps(&answer) {
            self.transaction.execute_batch("ROLLBACK TO part")?;
            self.latest = before.0;
            self.taken.handed.truncate(before.1);
            self.taken.events.truncate(before.2);
        }
        self.transaction.execute_batch("RELEASE part")?;
        Ok(answer)
    }

    /// Returns the number of events for the log so far.
    pub fn event_count(&self) -> usize {
        self.taken.events.len()
    }

    /// Adds a line about a request to the log. `before` is the number of events before the request was carried out, so
    /// the line precedes the events that the request caused.
    pub fn log_request(&mut self, before: usize, (priority, line): (Priority, String)) {
        self.taken.events.insert(before, LogEvent::Request(priority, line));
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.transaction
    }

    /// Stores an event of a job.
    pub(super) fn happened(
        &mut self,
        job: JobNumber,
        user: &str,
        task: Option<u64>,
        (kind, state): (HappeningKind, State),
    ) -> Result<(), Error> {
        let sql =
            "INSERT INTO happenings (sequence, at, job, user, task, kind, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let mut insert = self.transaction.prepare_cached(sql)?;
        let next = self.latest + 1;
        insert.execute(params![
            next as i64,
            wall(),
            job.0 as i64,
            user,
            task.map(|task| task as i64),
            kind.name(),
            state.name()
        ])?;
        self.latest = next;
        Ok(())
    }

    pub(super) fn known(&self, job: JobNumber) -> Result<Option<StoredState>, Error> {
        let sql = "SELECT user, state, held, cancelled, tasks, running, succeeded, failed, timed_out, not_started \
                   FROM jobs WHERE number = ?1";
        let mut select = self.connection().prepare_cached(sql)?;
        let count = |row: &rusqlite::Row<'_>, at| row.get::<_, i64>(at).map(|count| count as u64);
        select
            .query_row([job.0 as i64], |row| {
                Ok(StoredState {
                    user: row.get(0)?,
                    state: state_of(&row.get::<_, String>(1)?),
                    held: row.get(2)?,
                    cancelled: row.get(3)?,
                    tasks: count(row, 4)?,
                    running: count(row, 5)?,
                    ends: [count(row, 6)?, count(row, 7)?, count(row, 8)?, count(row, 9)?],
                })
            })
            .optional()
    }

    /// Returns a job, or a refusal if `who` may not change the job.
    pub(super) fn own(&self, who: &Who, job: JobNumber) -> StoreResult<StoredState> {
        let unknown = || refusal(RefusalKind::Unknown, "", format!("there is no job {job}"), "see the queue");
        if who.role == Role::Reader {
            return Ok(Err(refusal(
                RefusalKind::Forbidden,
                "",
                "a reader may not change anything",
                "use the token of a submitter",
            )));
        }
        let known = self.known(job)?.filter(|known| who.role == Role::Admin || known.user == who.user);
        Ok(known.ok_or_else(unknown))
    }

    /// Returns the receipts of an earlier request with the same key and the same content. Returns a refusal if the key
    /// was used with different content.
    pub fn earlier(&self, who: &Who, key: &str, digest: &str) -> StoreResult<Option<Vec<Receipt>>> {
        let sql = "SELECT digest, receipts FROM keys WHERE user = ?1 AND key = ?2";
        let mut select = self.connection().prepare_cached(sql)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let Some((known, receipts)) = select.query_row([&who.user, key], read).optional()? else { return Ok(Ok(None)) };
        if known != digest {
            let message = "this idempotency key was used for another submission";
            return Ok(Err(refusal(RefusalKind::Conflict, "Idempotency-Key", message, "use a new key")));
        }
        Ok(Ok(serde_json::from_str(&receipts).ok()))
    }

    /// Stores the receipts of a key, and deletes receipts that are older than a week.
    pub fn remember(&self, who: &Who, key: &str, digest: &str, receipts: &[Receipt]) -> Result<(), Error> {
        let text = serde_json::to_string(receipts).unwrap_or_default();
        let sql = "INSERT INTO keys (user, key, digest, receipts, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.connection().prepare_cached(sql)?.execute(params![who.user, key, digest, text, wall()])?;
        let sql = "DELETE FROM keys WHERE at < ?1";
        self.connection().prepare_cached(sql)?.execute([wall() - 7.0 * 86_400.0])?;
        Ok(())
    }

    /// Stores the jobs of a submission. If this function returns a refusal, the caller must roll the transaction back.
    pub fn submit(
        &mut self,
        who: &Who,
        submission: &Submission,
        prepared: &PreparedSubmission,
    ) -> StoreResult<Receipt> {
        let PreparedSubmission { jobs: prepared, remarks } = prepared;
        if let Err(refused) = self.check(who, submission, prepared)? {
            return Ok(Err(refused));
        }
        if let Err(refused) = self.check_length(prepared)? {
            return Ok(Err(refused));
        }
        let now = wall();
        let environment = serde_json::to_string(&submission.environment).unwrap_or_else(|_| "{}".into());
        let state = if submission.hold { State::Held } else { State::Waiting };
        let mut jobs = Vec::with_capacity(prepared.len());
        for one in prepared {
            let sql = "INSERT INTO jobs (user, name, state, submitted, weight, priority, deadline, begin, directory, environment, \
                       spec, processors, length, tasks, held) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
            let earliest = |own: Option<f64>, of_all: Option<f64>, pick: fn(f64, f64) -> f64| match (own, of_all) {
                (Some(own), Some(of_all)) => Some(pick(own + now, of_all)),
                (own, of_all) => own.map(|own| own + now).or(of_all),
            };
            self.connection().prepare_cached(sql)?.execute(params![
                who.user,
                one.name,
                state.name(),
                now,
                one.weight * submission.weight.unwrap_or(1.0),
                submission.priority.unwrap_or(0),
                earliest(one.deadline, submission.deadline, f64::min),
                earliest(one.begin, submission.begin, f64::max),
                submission.directory,
                environment,
                one.spec,
                one.processors,
                one.length,
                one.tasks as i64,
                submission.hold,
            ])?;
            jobs.push(JobNumber(self.connection().last_insert_rowid() as u64));
        }
        for (one, &job) in prepared.iter().zip(&jobs) {
            let before = one.after.iter().map(|&at| jobs[at]).chain(submission.after.iter().copied());
            for before in before {
                let sql = "INSERT OR IGNORE INTO waits (job, before) VALUES (?1, ?2)";
                self.connection().prepare_cached(sql)?.execute([job.0 as i64, before.0 as i64])?;
            }
        }
        for &job in &jobs {
            self.happened(job, &who.user, None, (HappeningKind::Submitted, state))?;
        }
        for job in Self::in_order(&jobs, prepared) {
            self.hand(job)?;
        }
        Ok(Ok(Receipt { jobs, submitted: now, remarks: remarks.clone() }))
    }

    /// Checks a submission as [`StoreChange::submit`] does, but stores nothing. Returns the jobs as they would be stored,
    /// and the weights that they would have in the plan.
    pub fn try_out(
        &mut self,
        who: &Who,
        submission: &Submission,
        prepared: &PreparedSubmission,
    ) -> StoreResult<Vec<(JobRow, f64)>> {
        let try_out = |change: &mut Self| {
            let receipt = match change.submit(who, submission, prepared)? {
                Ok(receipt) => receipt,
                Err(refused) => return Ok(Err(refused)),
            };
            let connection = change.connection();
            let tried = |&job: &JobNumber| {
                let row = job_row(connection, job)?.ok_or(Error::QueryReturnedNoRows)?;
                Ok((row, planned_weight(connection, job)?))
            };
            Ok(Ok(receipt.jobs.iter().map(tried).collect::<Result<_, Error>>()?))
        };
        self.part_if(try_out, |_| false)
    }

    /// Sorts the jobs of a submission so that each job comes after the jobs for which it waits.
    fn in_order(jobs: &[JobNumber], prepared: &[PreparedJob]) -> Vec<JobNumber> {
        let mut missing: Vec<usize> = prepared.iter().map(|one| one.after.len()).collect();
        let mut behind: Vec<Vec<usize>> = vec![Vec::new(); jobs.len()];
        for (at, one) in prepared.iter().enumerate() {
            one.after.iter().for_each(|&before| behind[before].push(at));
        }
        let mut order: Vec<usize> = (0..jobs.len()).filter(|&at| missing[at] == 0).collect();
        for next in 0.. {
            let Some(&at) = order.get(next) else { break };
            for &other in &behind[at] {
                missing[other] -= 1;
                if missing[other] == 0 {
                    order.push(other);
                }
            }
        }
        order.into_iter().map(|at| jobs[at]).collect()
    }

    fn check(&self, who: &Who, submission: &Submission, prepared: &[PreparedJob]) -> StoreResult<()> {
        let count = prepared.len();
        let forbidden = |message: &str, remedy: &str| Ok(Err(refusal(RefusalKind::Forbidden, "", message, remedy)));
        if who.role == Role::Reader {
            return forbidden("a reader may not submit jobs", "use the token of a submitter");
        }
        if who.role != Role::Admin && submission.priority.unwrap_or(0) > 0 {
            return forbidden("only an admin may state a priority above 0", "remove the priority, or write 0 or less");
        }
        for &before in &submission.after {
            let known = self.known(before)?.filter(|known| who.role == Role::Admin || known.user == who.user);
            if known.is_none() {
                let message = format!("there is no job {before} to wait for");
                return Ok(Err(refusal(RefusalKind::BadInput, "after", message, "name only jobs that exist")));
            }
        }
        let sql = "INSERT OR IGNORE INTO users (user, recent_at) VALUES (?1, ?2)";
        self.connection().prepare_cached(sql)?.execute(params![who.user, wall()])?;
        let sql = "SELECT most_waiting, most_processors FROM users WHERE user = ?1";
        let mut select = self.connection().prepare_cached(sql)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<u32>>(1)?));
        let (most, processors) = select.query_row([&who.user], read)?;
        if let Some((one, most)) =
            prepared.iter().find_map(|one| Some((one, processors.filter(|&most| one.widest > most)?)))
        {
            let message =
                format!("job `{}` may use {} processors, but you may use at most {most} at once", one.name, one.widest);
            return Ok(Err(refusal(
                RefusalKind::Quota,
                "most_processors",
                message,
                "use fewer processors, or ask an admin for a higher limit",
            )));
        }
        if let Some(most) = most {
            let there = self.waiting_of(&who.user)?;
            if there + count as i64 > most {
                let message = format!(
                    "you submit {count} jobs, and {there} of your jobs already wait, but at most {most} may wait"
                );
                return Ok(Err(refusal(
                    RefusalKind::Quota,
                    "most_waiting",
                    message,
                    "submit these jobs after other jobs have started",
                )));
            }
        }
        Ok(Ok(()))
    }

    /// Returns the number of waiting and held jobs of a user.
    pub(super) fn waiting_of(&self, user: &str) -> Result<i64, Error> {
        let sql = "SELECT coalesce(sum(jobs), 0) FROM counts WHERE user = ?1 AND state IN ('waiting', 'held')";
        self.connection().prepare_cached(sql)?.query_row([user], |row| row.get(0))
    }

    /// Changes settings of a user, and keeps the settings that are not stated.
    pub fn set_user(&self, who: &Who, user: &str, stated: &UserChange) -> StoreResult<()> {
        if who.role != Role::Admin {
            return Ok(Err(refusal(RefusalKind::Forbidden, "", "only an admin changes the settings of users", "")));
        }
        let sql = "SELECT weight, most_waiting, most_processors FROM users WHERE user = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            let most_waiting = row.get::<_, Option<i64>>(1)?.and_then(|most| u64::try_from(most).ok());
            Ok(UserSettings { weight: Some(row.get(0)?), most_waiting, most_processors: row.get(2)? })
        };
        let before = self.connection().prepare_cached(sql)?.query_row([user], read).optional()?.unwrap_or_default();
        let settings = before.changed(stated);
        let weight = settings.weight.unwrap_or(1.0);
        if !(1e-3..=1e3).contains(&weight) {
            return Ok(Err(refusal(
                RefusalKind::BadInput,
                "weight",
                "the value is out of range",
                "write a number from 0.001 to 1000",
            )));
        }
        if settings.most_processors == Some(0) {
            let remedy = "write 1 or more; for no limit, remove the field";
            return Ok(Err(refusal(
                RefusalKind::BadInput,
                "most_processors",
                "with 0 processors, no job could ever start",
                remedy,
            )));
        }
        if settings.most_waiting.is_some_and(|most| most > i64::MAX as u64) {
            let remedy = "write a smaller number; for no limit, remove the field";
            return Ok(Err(refusal(RefusalKind::BadInput, "most_waiting", "the value is out of range", remedy)));
        }
        let sql = "INSERT INTO users (user, weight, most_waiting, most_processors, recent_at) VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT (user) DO UPDATE SET weight = ?2, most_waiting = ?3, most_processors = ?4";
        let most = settings.most_waiting.map(|most| i64::try_from(most).unwrap_or(i64::MAX));
        let changed = params![user, weight, most, settings.most_processors, wall()];
        self.connection().prepare_cached(sql)?.execute(changed)?;
        Ok(Ok(()))
    }
}

/// Returns the weight of a waiting job in the plan: the weight in the engine or, if the engine has not received the job,
/// the submitted weight.
fn planned_weight(connection: &Connection, job: JobNumber) -> Result<f64, Error> {
    let sql = "SELECT coalesce((SELECT weight / 1e6 FROM handed WHERE handed.job = jobs.number AND withdrawn = 0 \
               ORDER BY position DESC LIMIT 1), weight) FROM jobs WHERE number = ?1";
    connection.prepare_cached(sql)?.query_row([job.0 as i64], |row| row.get(0))
}
