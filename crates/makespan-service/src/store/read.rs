//! Queries of a store.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::TaskId;
use rusqlite::types::Value;
use rusqlite::{Connection, Error, OptionalExtension, Row, params, params_from_iter};

use super::hand::{Round, faded};
use super::handed::HandedJob;
use super::row::{JobRow, SUMMARY, job_row, number, state_of, summary};
use crate::clock::wall;
use crate::words::{Filter, Happening, HappeningKind, JobNumber, JobSummary, Page, Role, State, UserSummary, Who};

/// A connection that reads the store.
#[derive(Debug)]
pub struct Reader(pub(super) Connection);

/// A stored task, which has started or ended.
#[derive(Clone, Debug)]
pub struct TaskRow {
    /// The number of the task in its job.
    pub task: u64,
    /// The state of the task.
    pub state: State,
    /// See [`TaskEnd::started`](super::TaskEnd::started).
    pub started: Option<f64>,
    /// See [`TaskEnd::ended`](super::TaskEnd::ended).
    pub ended: Option<f64>,
    /// See [`TaskEnd::processors`](super::TaskEnd::processors).
    pub processors: Option<String>,
    /// See [`TaskEnd::nodes`](super::TaskEnd::nodes).
    pub nodes: Option<String>,
    /// See [`TaskEnd::output`](super::TaskEnd::output).
    pub output: Option<String>,
    /// The number of starts.
    pub attempts: u32,
    /// See [`TaskEnd::exit`](super::TaskEnd::exit).
    pub exit: Option<i32>,
    /// See [`TaskEnd::memory`](super::TaskEnd::memory).
    pub memory: Option<u64>,
    /// See [`TaskEnd::reason`](super::TaskEnd::reason).
    pub reason: Option<String>,
}

/// A job that waits for other jobs or for its earliest start.
#[derive(Clone, Debug)]
pub struct PendingRow {
    /// The number of the job.
    pub job: JobNumber,
    /// The name that the user gave the job.
    pub title: String,
    /// The user of the job.
    pub user: String,
    /// The job as an instance in the native format.
    pub spec: String,
    /// The weight in the engine, or the submitted weight if the engine has not received the job.
    pub weight: f64,
    /// The earliest start, in seconds since 1970.
    pub begin: Option<f64>,
    /// The unfinished jobs for which this job waits.
    pub after: Vec<JobNumber>,
}

impl Reader {
    /// Returns up to `limit` jobs that `who` may see and that match `filter`. The jobs have numbers above `after`, in
    /// ascending order. With `filter.newest`, they have numbers below `after`, in descending order.
    ///
    /// # Errors
    /// The error of the database.
    pub fn jobs(
        &self,
        who: &Who,
        filter: &Filter,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Page<JobSummary>, Error> {
        let mut values: Vec<Value> = Vec::new();
        let mut conditions = String::new();
        let own = (who.role == Role::Submitter).then_some(&who.user);
        for user in own.into_iter().chain(&filter.user) {
            values.push(user.clone().into());
            conditions += &format!(" AND user = ?{}", values.len());
        }
        let mut names: Vec<&str> = filter.state.iter().map(|state| state.name()).collect();
        names.sort_unstable();
        names.dedup();
        let states = names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        let among = if names.is_empty() { String::new() } else { format!(" AND state IN ({states})") };
        let total = if let Some(text) = &filter.text {
            values.push(text.clone().into());
            conditions += &format!(" AND instr(lower(name), lower(?{})) > 0", values.len());
            format!("SELECT count(*) FROM jobs INDEXED BY jobs_by_state WHERE 1{conditions}{among}")
        } else {
            format!("SELECT coalesce(sum(jobs), 0) FROM counts WHERE 1{conditions}{among}")
        };
        let total = self.0.prepare_cached(&total)?.query_row(params_from_iter(&values), |row| number(row, 0))?;
        let (sign, order) = if filter.newest { ("<", "DESC") } else { (">", "ASC") };
        let place = after.map_or_else(String::new, |after| format!(" AND number {sign} {after}"));
        let end = format!("ORDER BY number {order} LIMIT {}", limit + 1);
        // The query reads the first jobs of each state from a sorted index and merges them, so it need not sort a long
        // queue.
        if names.is_empty() && (own.or(filter.user.as_ref()).is_some() || filter.text.is_some()) {
            names = State::ALL.iter().map(|state| state.name()).collect();
        }
        let index = if filter.text.is_some() { "INDEXED BY jobs_by_state" } else { "" };
        let first = |name: &&str| {
            format!("SELECT * FROM (SELECT number FROM jobs {index} WHERE state = '{name}'{conditions}{place} {end})")
        };
        let sql = if names.is_empty() {
            format!("SELECT {SUMMARY} FROM jobs WHERE 1{conditions}{place} {end}")
        } else {
            let parts = names.iter().map(first).collect::<Vec<_>>().join(" UNION ALL ");
            format!("SELECT {SUMMARY} FROM jobs WHERE number IN ({parts}) {end}")
        };
        let mut select = self.0.prepare(&sql)?;
        let mut items: Vec<JobSummary> =
            select.query_map(params_from_iter(&values), summary)?.collect::<Result<_, _>>()?;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().map(|last| last.number.0).filter(|_| more);
        Ok(Page { items, next, total, others: self.others(who)?, trouble: Vec::new() })
    }

    /// Returns a job, or `None` if there is no such job or `who` may not see it.
    ///
    /// # Errors
    /// The error of the database.
    pub fn job(&self, who: &Who, job: JobNumber) -> Result<Option<JobRow>, Error> {
        Ok(job_row(&self.0, job)?.filter(|row| who.may_see(&row.summary.user)))
    }

    /// Returns up to `limit` tasks of a job that have started or ended, or only the task `only`. Running tasks come first, then the
    /// tasks that did not succeed.
    ///
    /// # Errors
    /// The error of the database.
    pub fn tasks(&self, job: JobNumber, only: Option<u64>, limit: usize) -> Result<Vec<TaskRow>, Error> {
        let sql = "SELECT task, state, started, ended, processors, nodes, output, attempts, exit, memory, reason FROM tasks \
                   WHERE job = ?1 AND (?2 IS NULL OR task = ?2) ORDER BY CASE state WHEN 'running' THEN 0 WHEN 'succeeded' THEN 2 \
                   ELSE 1 END, task LIMIT ?3";
        let mut select = self.0.prepare_cached(sql)?;
        let read = |row: &Row<'_>| {
            Ok(TaskRow {
                task: number(row, 0)?,
                state: state_of(&row.get::<_, String>(1)?),
                started: row.get(2)?,
                ended: row.get(3)?,
                processors: row.get(4)?,
                nodes: row.get(5)?,
                output: row.get(6)?,
                attempts: row.get(7)?,
                exit: row.get(8)?,
                memory: row.get::<_, Option<i64>>(9)?.map(|bytes| bytes as u64),
                reason: row.get(10)?,
            })
        };
        let only = only.map(|task| i64::try_from(task).unwrap_or(i64::MAX));
        select.query_map(params![job.0 as i64, only, limit as i64], read)?.collect()
    }

    /// Returns the `limit` tasks that ended last, the latest end first. Each task comes with the number, the name and
    /// the user of its job.
    ///
    /// # Errors
    /// The error of the database.
    pub fn past(&self, limit: usize) -> Result<Vec<(JobNumber, String, String, TaskRow)>, Error> {
        let sql = "SELECT tasks.task, tasks.state, tasks.started, tasks.ended, tasks.processors, tasks.job, jobs.name, jobs.user FROM tasks \
                   JOIN jobs ON jobs.number = tasks.job WHERE tasks.ended IS NOT NULL AND tasks.started IS NOT NULL \
                   AND tasks.processors IS NOT NULL ORDER BY tasks.ended DESC LIMIT ?1";
        let mut select = self.0.prepare_cached(sql)?;
        let read = |row: &Row<'_>| {
            let task = TaskRow {
                task: number(row, 0)?,
                state: state_of(&row.get::<_, String>(1)?),
                started: row.get(2)?,
                ended: row.get(3)?,
                processors: row.get(4)?,
                nodes: None,
                output: None,
                attempts: 0,
                exit: None,
                memory: None,
                reason: None,
            };
            Ok((JobNumber(number(row, 5)?), row.get(6)?, row.get(7)?, task))
        };
        select.query_map([limit as i64], read)?.collect()
    }

    /// Returns up to `limit` events with numbers above `after` that `who` may see.
    ///
    /// # Errors
    /// The error of the database.
    pub fn happenings(&self, who: &Who, after: u64, limit: usize) -> Result<Vec<Happening>, Error> {
        let sql = "SELECT sequence, at, job, user, task, kind, state FROM happenings WHERE sequence > ?1 AND (?2 IS NULL OR user = ?2) \
                   ORDER BY sequence LIMIT ?3";
        let own = (who.role == Role::Submitter).then_some(&who.user);
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let mut select = self.0.prepare_cached(sql)?;
        let read = |row: &Row<'_>| {
            Ok(Happening {
                sequence: number(row, 0)?,
                at: row.get(1)?,
                job: JobNumber(number(row, 2)?),
                user: row.get(3)?,
                task: row.get::<_, Option<i64>>(4)?.map(|task| task as u64),
                kind: HappeningKind::of_name(&row.get::<_, String>(5)?).unwrap_or(HappeningKind::Ended),
                state: state_of(&row.get::<_, String>(6)?),
            })
        };
        select.query_map(params![after, own, limit as i64], read)?.collect()
    }

    /// Returns the number of jobs in each state.
    ///
    /// # Errors
    /// The error of the database.
    pub fn counts(&self) -> Result<BTreeMap<State, u64>, Error> {
        let mut select = self.0.prepare_cached("SELECT state, sum(jobs) FROM counts GROUP BY state")?;
        let read = |row: &Row<'_>| Ok((state_of(&row.get::<_, String>(0)?), number(row, 1)?));
        select.query_map([], read)?.collect()
    }

    /// Returns the number of unfinished jobs that `who` may not see.
    ///
    /// # Errors
    /// The error of the database.
    fn others(&self, who: &Who) -> Result<u64, Error> {
        if who.role != Role::Submitter {
            return Ok(0);
        }
        let sql =
            "SELECT coalesce(sum(jobs), 0) FROM counts WHERE user <> ?1 AND state IN ('held', 'waiting', 'running')";
        self.0.prepare_cached(sql)?.query_row([&who.user], |row| number(row, 0))
    }

    /// Returns the number of processors of running tasks.
    ///
    /// # Errors
    /// The error of the database.
    pub fn in_use(&self) -> Result<u64, Error> {
        let sql = "SELECT coalesce(sum(width), 0) FROM tasks WHERE state = 'running'";
        self.0.prepare_cached(sql)?.query_row([], |row| number(row, 0))
    }

    /// Returns the users that `who` may see.
    ///
    /// # Errors
    /// The error of the database.
    pub fn users(&self, who: &Who) -> Result<Vec<UserSummary>, Error> {
        let sql = "SELECT users.user, weight, most_waiting, most_processors, used, recent, recent_at, \
                   (SELECT coalesce(sum(jobs), 0) FROM counts WHERE counts.user = users.user AND state IN ('waiting', 'held')), \
                   (SELECT coalesce(sum(jobs), 0) FROM counts WHERE counts.user = users.user AND state = 'running'), \
                   (SELECT coalesce(sum(jobs), 0) FROM counts WHERE counts.user = users.user \
                    AND state NOT IN ('held', 'waiting', 'running')) FROM users ORDER BY users.user";
        let mut select = self.0.prepare_cached(sql)?;
        let read = |row: &Row<'_>| {
            Ok(UserSummary {
                user: row.get(0)?,
                weight: row.get(1)?,
                most_waiting: row.get::<_, Option<i64>>(2)?.map(|most| most as u64),
                most_processors: row.get(3)?,
                used: row.get(4)?,
                share: faded(row.get(5)?, row.get(6)?, wall()),
                waiting: number(row, 7)?,
                running: number(row, 8)?,
                ended: number(row, 9)?,
            })
        };
        let mut users: Vec<UserSummary> = select.query_map([], read)?.collect::<Result<_, _>>()?;
        let all: f64 = users.iter().map(|user| user.share).sum();
        users.iter_mut().for_each(|user| user.share = if all > 0.0 { user.share / all } else { 0.0 });
        users.retain(|user| who.may_see(&user.user));
        Ok(users)
    }

    /// Returns up to `limit` jobs that wait for other jobs or for their earliest start, the oldest job first. Jobs
    /// that wait for a held job are omitted, because the instant of its release is unknown.
    ///
    /// # Errors
    /// The error of the database.
    pub fn pending(&self, now: f64, limit: usize) -> Result<Vec<PendingRow>, Error> {
        let sql = "SELECT number, name, user, spec, begin, coalesce((SELECT weight / 1e6 FROM handed WHERE handed.job = jobs.number \
                   AND withdrawn = 0 ORDER BY position DESC LIMIT 1), weight) FROM jobs WHERE state = 'waiting' AND cancelled = 0 \
                   AND (begin > ?1 OR EXISTS (SELECT 1 FROM waits JOIN jobs AS first ON first.number = waits.before \
                   WHERE waits.job = jobs.number AND first.state IN ('held', 'waiting', 'running'))) ORDER BY number LIMIT ?2";
        let mut select = self.0.prepare_cached(sql)?;
        let read = |row: &Row<'_>| {
            Ok(PendingRow {
                job: JobNumber(number(row, 0)?),
                title: row.get(1)?,
                user: row.get(2)?,
                spec: row.get(3)?,
                begin: row.get(4)?,
                weight: row.get(5)?,
                after: Vec::new(),
            })
        };
        let all: Vec<PendingRow> = select.query_map(params![now, limit as i64], read)?.collect::<Result<_, _>>()?;
        let sql = "SELECT number, state FROM waits JOIN jobs ON jobs.number = waits.before WHERE job = ?1 \
                   AND state IN ('held', 'waiting', 'running')";
        let mut select = self.0.prepare_cached(sql)?;
        let mut unknown: BTreeSet<JobNumber> = BTreeSet::new();
        let mut known = Vec::with_capacity(all.len());
        for mut one in all {
            let read = |row: &Row<'_>| Ok((JobNumber(number(row, 0)?), state_of(&row.get::<_, String>(1)?)));
            let first: Vec<(JobNumber, State)> =
                select.query_map([one.job.0 as i64], read)?.collect::<Result<_, _>>()?;
            if first.iter().any(|(job, state)| *state == State::Held || unknown.contains(job)) {
                unknown.insert(one.job);
                continue;
            }
            one.after = first.into_iter().map(|(job, _)| job).collect();
            known.push(one);
        }
        Ok(known)
    }

    /// Returns the running jobs.
    ///
    /// # Errors
    /// The error of the database.
    pub fn begun(&self) -> Result<BTreeSet<JobNumber>, Error> {
        let mut select = self.0.prepare_cached("SELECT number FROM jobs WHERE state = 'running'")?;
        select.query_map([], |row| Ok(JobNumber(number(row, 0)?)))?.collect()
    }

    /// Returns the cancelled jobs that have not ended.
    ///
    /// # Errors
    /// The error of the database.
    pub fn to_cancel(&self) -> Result<Vec<JobNumber>, Error> {
        let sql = "SELECT number FROM jobs WHERE state IN ('waiting', 'running') AND cancelled = 1";
        self.0.prepare_cached(sql)?.query_map([], |row| Ok(JobNumber(number(row, 0)?)))?.collect()
    }

    /// Returns the current round (run of the engine).
    ///
    /// # Errors
    /// The error of the database.
    pub fn round(&self) -> Result<Option<Round>, Error> {
        Round::latest(&self.0)
    }

    /// Returns the number of jobs that the engine received in a round and that have started in it.
    ///
    /// # Errors
    /// The error of the database.
    pub fn started_in(&self, round: &Round) -> Result<u64, Error> {
        let sql = "SELECT count(DISTINCT tasks.job) FROM tasks JOIN handed ON handed.job = tasks.job \
                   WHERE handed.round = ?1 AND tasks.started >= ?2";
        self.0.prepare_cached(sql)?.query_row((round.number as i64, round.began), |row| number(row, 0))
    }

    /// Returns the tasks that have started and ended in a round, by their numbers in the engine, with their jobs.
    ///
    /// # Errors
    /// The error of the database.
    pub fn ended_in(&self, round: &Round) -> Result<Vec<(TaskId, JobNumber)>, Error> {
        // The engine numbers tasks in the order in which it received them. If it received a job several times, only the
        // latest tasks can have started.
        let sql = "WITH received AS (SELECT job, position, sum(tasks) OVER (ORDER BY position) - tasks AS first, \
                   max(position) OVER (PARTITION BY job) AS latest FROM handed WHERE round = ?1) \
                   SELECT first + task, tasks.job FROM received JOIN tasks ON tasks.job = received.job \
                   WHERE position = latest AND ended IS NOT NULL AND started >= ?2 \
                   AND state IN ('succeeded', 'failed', 'timed_out')";
        let mut select = self.0.prepare_cached(sql)?;
        let read = |row: &rusqlite::Row<'_>| Ok((TaskId(number(row, 0)?), JobNumber(number(row, 1)?)));
        select.query_map((round.number as i64, round.began), read)?.collect()
    }

    /// Returns the number of the latest round in which the engine received a job.
    ///
    /// # Errors
    /// The error of the database.
    pub fn round_of(&self, job: JobNumber) -> Result<Option<u64>, Error> {
        let sql = "SELECT round FROM handed WHERE job = ?1 ORDER BY position DESC LIMIT 1";
        self.0.prepare_cached(sql)?.query_row([job.0 as i64], |row| number(row, 0)).optional()
    }

    /// Returns the jobs that the engine received in a round, with positions above `behind`, in the order of their
    /// positions.
    ///
    /// # Errors
    /// The error of the database.
    pub fn handed(&self, round: &Round, behind: u64) -> Result<Vec<HandedJob>, Error> {
        let sql = "SELECT job, position, handed.name, jobs.name, user, handed.tasks, handed.weight, release, handed.deadline, after, spec, \
                   directory, environment, submitted FROM handed JOIN jobs ON jobs.number = handed.job WHERE round = ?1 AND position > ?2 ORDER BY position";
        let mut select = self.0.prepare_cached(sql)?;
        let read = |row: &Row<'_>| {
            let (after, environment): (String, String) = (row.get(9)?, row.get(12)?);
            Ok(HandedJob {
                job: JobNumber(number(row, 0)?),
                position: number(row, 1)?,
                name: row.get(2)?,
                title: row.get(3)?,
                user: row.get(4)?,
                tasks: number(row, 5)?,
                weight: number(row, 6)?,
                submitted: ((row.get::<_, f64>(13)? - round.began).max(0.0) * 1e9) as i64,
                release: row.get(7)?,
                deadline: row.get(8)?,
                after: serde_json::from_str(&after).unwrap_or_default(),
                spec: row.get(10)?,
                directory: row.get(11)?,
                environment: serde_json::from_str(&environment).unwrap_or_default(),
            })
        };
        select.query_map([round.number as i64, behind as i64], read)?.collect()
    }

    /// Returns the maximum number of processors in use at once, for each user with such a limit.
    ///
    /// # Errors
    /// The error of the database.
    pub fn limits(&self) -> Result<BTreeMap<String, u32>, Error> {
        let mut select =
            self.0.prepare_cached("SELECT user, most_processors FROM users WHERE most_processors IS NOT NULL")?;
        select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }
}
