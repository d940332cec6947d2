//! Hands jobs to the engine, and stores their order.

use rusqlite::{Connection, Error, OptionalExtension, params};

use super::change::{StoreChange, StoreResult};
use super::handed::HandedJob;
use super::row::state_of;
use crate::clock::wall;
use crate::prepare::{PreparedJob, refusal};
use crate::words::{HappeningKind, JobNumber, RefusalKind, State, Who};

/// Half-life of the recent use of a user, in seconds.
const HALF_LIFE: f64 = 7.0 * 86_400.0;
/// Factor of the weight for each step of priority.
const STEP: f64 = 8.0;
/// Factor of the weight of an urgent job.
const URGENT: f64 = 64.0;
/// Maximum sum of the lengths of all jobs in a round, in ticks. Instants could overflow with a larger sum.
const MOST: i64 = i64::MAX / 4;

/// A run of the engine, which consists of one or more sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The number of the round, from 1.
    pub number: u64,
    /// The beginning of the round, in seconds since 1970.
    pub began: f64,
    /// A digest of the platform.
    pub platform: String,
}

impl Round {
    /// Returns the current round.
    pub(super) fn latest(connection: &Connection) -> Result<Option<Self>, Error> {
        let sql = "SELECT round, began, platform FROM rounds ORDER BY round DESC LIMIT 1";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Self { number: row.get::<_, i64>(0)? as u64, began: row.get(1)?, platform: row.get(2)? })
        };
        connection.prepare_cached(sql)?.query_row([], read).optional()
    }
}

/// Returns the recent use of a user at the instant `now`, if `recent` is the recent use at the instant `at`. Use
/// decays with the half-life [`HALF_LIFE`].
pub(super) fn faded(recent: f64, at: f64, now: f64) -> f64 {
    recent * 0.5_f64.powf((now - at).max(0.0) / HALF_LIFE)
}

/// The data of a job that is handed to the engine.
struct Row {
    user: String,
    title: String,
    weight: f64,
    priority: i32,
    deadline: Option<f64>,
    begin: Option<f64>,
    directory: Option<String>,
    environment: String,
    spec: String,
    tasks: i64,
    length: i64,
    submitted: f64,
}

impl StoreChange<'_> {
    /// Returns the current round.
    ///
    /// # Errors
    /// The error of the database.
    pub fn round(&self) -> Result<Option<Round>, Error> {
        Round::latest(self.connection())
    }

    /// Begins a new round.
    ///
    /// # Errors
    /// The error of the database.
    pub fn begin_round(&self, platform: &str) -> Result<Round, Error> {
        let number = self.round()?.map_or(1, |round| round.number + 1);
        let began = wall();
        let sql = "INSERT INTO rounds (round, began, platform) VALUES (?1, ?2, ?3)";
        self.connection().prepare_cached(sql)?.execute(params![number as i64, began, platform])?;
        Ok(Round { number, began, platform: platform.to_owned() })
    }

    /// Returns a refusal if the total length of all jobs in the round would exceed [`MOST`] with these jobs.
    pub(super) fn check_length(&self, prepared: &[PreparedJob]) -> StoreResult<()> {
        let sum = |total: i64, one: &PreparedJob| total.saturating_add(one.length);
        if prepared.iter().fold(self.length_so_far()?, sum) <= MOST {
            return Ok(Ok(()));
        }
        let message = "with these jobs, the sum of the run times of all jobs of the service is more than 73 years";
        Ok(Err(refusal(RefusalKind::Quota, "", message, "state shorter times, or submit these jobs later")))
    }

    /// Returns the sum of the lengths of all jobs that the engine received in this round.
    fn length_so_far(&self) -> Result<i64, Error> {
        let sql =
            "SELECT total FROM handed WHERE round = (SELECT max(round) FROM rounds) ORDER BY position DESC LIMIT 1";
        Ok(self.connection().prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?.unwrap_or(0))
    }

    /// Hands a waiting job to the engine, unless the engine already has the job. All jobs for which this job waits
    /// must have succeeded or be in the engine. If a job for which this job waits did not succeed, this job ends.
    pub(super) fn hand(&mut self, job: JobNumber) -> Result<(), Error> {
        let Some(known) = self.known(job)? else { return Ok(()) };
        if known.state != State::Waiting || known.held || known.cancelled || self.place(job)?.is_some() {
            return Ok(());
        }
        let Some(round) = self.round()? else { return Ok(()) };
        let mut after = Vec::new();
        for (before, state) in self.before(job)? {
            match (state, self.place(before)?) {
                (State::Succeeded, _) => {}
                (state, _) if state.is_final() => return self.give_up(job, before),
                (_, Some((_, name))) => after.push(name),
                _ => return Ok(()),
            }
        }
        let row = self.row(job)?;
        let weight = self.weight(job, &row)?;
        let total = self.length_so_far()?.saturating_add(row.length);
        let ticks = |instant: f64| ((instant - round.began).max(0.0) * 1e9) as i64;
        let release = row.begin.filter(|&begin| begin > wall()).map_or(0, ticks);
        let deadline = row.deadline.map(ticks).filter(|&deadline| deadline > release);
        let sql = "SELECT count(*) FROM handed WHERE job = ?1";
        let times: i64 = self.connection().prepare_cached(sql)?.query_row([job.0 as i64], |row| row.get(0))?;
        let name = if times == 0 { job.to_string() } else { format!("{job}-{}", times + 1) };
        let sql = "INSERT INTO handed (round, job, name, tasks, total, weight, release, deadline, after) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let names = serde_json::to_string(&after).unwrap_or_default();
        let (round, number) = (round.number as i64, job.0 as i64);
        self.connection().prepare_cached(sql)?.execute(params![
            round,
            number,
            name,
            row.tasks,
            total,
            weight as i64,
            release,
            deadline,
            names
        ])?;
        self.taken.handed.push(HandedJob {
            job,
            position: self.connection().last_insert_rowid() as u64,
            name,
            user: row.user,
            title: row.title,
            tasks: row.tasks as u64,
            weight,
            submitted: ticks(row.submitted),
            release,
            deadline,
            after,
            spec: row.spec,
            directory: row.directory,
            environment: serde_json::from_str(&row.environment).unwrap_or_default(),
        });
        Ok(())
    }

    /// Gives the engine all jobs that wait for `job`, directly or through other jobs.
    pub(super) fn hand_behind(&mut self, job: JobNumber) -> Result<(), Error> {
        let mut open = vec![job];
        while let Some(job) = open.pop() {
            let sql = "SELECT job FROM waits JOIN jobs ON jobs.number = waits.job \
                       WHERE before = ?1 AND state = 'waiting' ORDER BY job";
            let behind: Vec<i64> = {
                let mut select = self.connection().prepare_cached(sql)?;
                select.query_map([job.0 as i64], |row| row.get(0))?.collect::<Result<_, _>>()?
            };
            for next in behind.into_iter().map(|next| JobNumber(next as u64)) {
                let was_there = self.place(next)?.is_some();
                self.hand(next)?;
                if !was_there && self.place(next)?.is_some() {
                    open.push(next);
                }
            }
        }
        Ok(())
    }

    /// Returns the position and the name of a job in the engine, if the engine has the job.
    pub(super) fn place(&self, job: JobNumber) -> Result<Option<(u64, String)>, Error> {
        // The plus sign prevents SQLite from using the index of rounds. With this index, SQLite would scan all jobs of
        // the round.
        let sql = "SELECT position, name FROM handed WHERE job = ?1 AND withdrawn = 0 \
                   AND +round = (SELECT max(round) FROM rounds) ORDER BY position DESC LIMIT 1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?));
        self.connection().prepare_cached(sql)?.query_row([job.0 as i64], read).optional()
    }

    /// Returns the jobs for which a job waits, with their states.
    fn before(&self, job: JobNumber) -> Result<Vec<(JobNumber, State)>, Error> {
        let sql = "SELECT number, state FROM waits JOIN jobs ON jobs.number = waits.before WHERE job = ?1";
        let mut select = self.connection().prepare_cached(sql)?;
        let read = |row: &rusqlite::Row<'_>| {
            Ok((JobNumber(row.get::<_, i64>(0)? as u64), state_of(&row.get::<_, String>(1)?)))
        };
        select.query_map([job.0 as i64], read)?.collect()
    }

    fn row(&self, job: JobNumber) -> Result<Row, Error> {
        let sql = "SELECT user, name, weight, priority, deadline, begin, directory, environment, spec, tasks, length, submitted \
                   FROM jobs WHERE number = ?1";
        self.connection().prepare_cached(sql)?.query_row([job.0 as i64], |row| {
            Ok(Row {
                user: row.get(0)?,
                title: row.get(1)?,
                weight: row.get(2)?,
                priority: row.get(3)?,
                deadline: row.get(4)?,
                begin: row.get(5)?,
                directory: row.get(6)?,
                environment: row.get(7)?,
                spec: row.get(8)?,
                tasks: row.get(9)?,
                length: row.get(10)?,
                submitted: row.get(11)?,
            })
        })
    }

    /// Returns the weight of a job in the engine, in millionths. The weight is the product of the submitted weight,
    /// the factor of the priority, the factor of the user ([`StoreChange::part_of`]), and [`URGENT`] for an urgent job.
    /// The product is divided by k for the k-th waiting job of the user, with k at most 1001.
    fn weight(&self, job: JobNumber, row: &Row) -> Result<u64, Error> {
        if row.weight == 0.0 {
            return Ok(0);
        }
        let sql = "SELECT count(*) FROM (SELECT 1 FROM jobs WHERE user = ?1 AND state = 'waiting' AND number < ?2 LIMIT 1000)";
        let ahead: i64 = {
            let mut select = self.connection().prepare_cached(sql)?;
            select.query_row(params![row.user, job.0 as i64], |row| row.get(0))?
        };
        let part = self.part_of(&row.user)?;
        let urgency = if self.is_urgent(row)? { URGENT } else { 1.0 };
        let weight = row.weight * STEP.powi(row.priority) * part * urgency / (ahead + 1) as f64;
        Ok((weight.clamp(1e-6, 1e8) * 1e6) as u64)
    }

    /// Returns whether a job would miss its deadline if all waiting and running jobs ran before it.
    fn is_urgent(&self, row: &Row) -> Result<bool, Error> {
        let Some(deadline) = row.deadline else { return Ok(false) };
        // In a long queue, the work of 1000 jobs suffices for this decision.
        let sql = "SELECT coalesce(sum(length * (processors + 0.0)), 0.0) FROM (SELECT length, processors FROM jobs \
                   WHERE state IN ('waiting', 'running') LIMIT 1000)";
        let area: f64 = self.connection().prepare_cached(sql)?.query_row([], |row| row.get(0))?;
        let before = area / 1e9 / f64::from(self.processors.max(1));
        Ok(deadline - wall() < before + row.length as f64 / 1e9)
    }

    /// Returns the fair-share factor of the jobs of a user: weight * 0.5^(share / due). `share` is the user's share of
    /// the recent use of all users, and `due` is the user's share of all weights.
    fn part_of(&self, user: &str) -> Result<f64, Error> {
        let sql = "SELECT user, weight, recent, recent_at FROM users";
        let mut select = self.connection().prepare_cached(sql)?;
        let now = wall();
        let read = |row: &rusqlite::Row<'_>| {
            Ok((row.get::<_, String>(0)?, row.get::<_, f64>(1)?, faded(row.get(2)?, row.get(3)?, now)))
        };
        let users: Vec<(String, f64, f64)> = select.query_map([], read)?.collect::<Result<_, _>>()?;
        let (all, used) = users.iter().fold((0.0, 0.0), |(all, used), one| (all + one.1, used + one.2));
        let Some((_, weight, own)) = users.into_iter().find(|one| one.0 == user) else { return Ok(1.0) };
        let (due, share) = (weight / all, if used > 0.0 { own / used } else { 0.0 });
        Ok(weight * 0.5_f64.powf(share / due))
    }

    /// Adds processor-seconds to the recent and total use of a user.
    pub(super) fn use_up(&self, user: &str, seconds: f64) -> Result<(), Error> {
        let now = wall();
        let sql = "SELECT recent, recent_at FROM users WHERE user = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, f64>(0)?, row.get::<_, f64>(1)?));
        let known = self.connection().prepare_cached(sql)?.query_row([user], read).optional()?;
        let (recent, at) = known.unwrap_or((0.0, now));
        let recent = faded(recent, at, now) + seconds;
        let sql = "UPDATE users SET used = used + ?2, recent = ?3, recent_at = ?4 WHERE user = ?1";
        self.connection().prepare_cached(sql)?.execute(params![user, seconds, recent, now])?;
        Ok(())
    }

    /// Holds a job that is not in the engine, and returns an empty list. If the job is in the engine, changes nothing,
    /// and returns the job and all jobs in the engine that wait for this job. The engine must first withdraw these
    /// jobs ([`StoreChange::withdrawn`]).
    pub fn hold(&mut self, who: &Who, job: JobNumber) -> StoreResult<Vec<JobNumber>> {
        let known = match self.own(who, job)? {
            Ok(known) => known,
            Err(refused) => return Ok(Err(refused)),
        };
        match known.state {
            State::Held => return Ok(Ok(Vec::new())),
            State::Waiting => {}
            state => {
                let message = format!("job {job} is {}; only a waiting job can be held", state.words());
                return Ok(Err(refusal(RefusalKind::Conflict, "", message, "cancel the job if it must not run")));
            }
        }
        if self.place(job)?.is_none() {
            self.put_aside(job, &known.user)?;
            return Ok(Ok(Vec::new()));
        }
        let mut all = vec![job];
        for at in 0.. {
            let Some(&job) = all.get(at) else { break };
            let sql = "SELECT job FROM waits WHERE before = ?1 ORDER BY job";
            let behind: Vec<i64> = {
                let mut select = self.connection().prepare_cached(sql)?;
                select.query_map([job.0 as i64], |row| row.get(0))?.collect::<Result<_, _>>()?
            };
            for next in behind.into_iter().map(|next| JobNumber(next as u64)) {
                if !all.contains(&next) && self.place(next)?.is_some() {
                    all.push(next);
                }
            }
        }
        Ok(Ok(all))
    }

    fn put_aside(&mut self, job: JobNumber, user: &str) -> Result<(), Error> {
        let sql = "UPDATE jobs SET held = 1, state = 'held' WHERE number = ?1";
        self.connection().prepare_cached(sql)?.execute([job.0 as i64])?;
        self.happened(job, user, None, (HappeningKind::Held, State::Held))
    }

    /// Gives the engine all waiting jobs that the engine does not have.
    ///
    /// # Errors
    /// The error of the database.
    pub fn hand_all(&mut self) -> Result<(), Error> {
        let all: Vec<i64> = {
            let sql = "SELECT number FROM jobs WHERE state = 'waiting' ORDER BY number";
            let mut select = self.connection().prepare_cached(sql)?;
            select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        for job in all.into_iter().map(|job| JobNumber(job as u64)) {
            self.hand(job)?;
            self.hand_behind(job)?;
        }
        Ok(())
    }

    /// Removes a job that the engine could not accept from the table `handed`.
    pub(super) fn unhand(&self, position: u64) -> Result<(), Error> {
        let sql = "DELETE FROM handed WHERE position = ?1";
        self.connection().prepare_cached(sql)?.execute([position as i64]).map(drop)
    }

    /// Stores that the engine has withdrawn `jobs`, and holds the first of them.
    ///
    /// # Errors
    /// The error of the database.
    pub fn withdrawn(&mut self, jobs: &[JobNumber]) -> Result<(), Error> {
        for job in jobs {
            self.withdraw(*job)?;
        }
        match jobs.first() {
            Some(&job) => match self.known(job)? {
                Some(known) => self.put_aside(job, &known.user),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// Stores that a job is no longer in the engine.
    pub(super) fn withdraw(&mut self, job: JobNumber) -> Result<(), Error> {
        let sql = "UPDATE handed SET withdrawn = 1 WHERE job = ?1";
        self.connection().prepare_cached(sql)?.execute([job.0 as i64])?;
        Ok(())
    }

    /// Releases a held job.
    pub fn release(&mut self, who: &Who, job: JobNumber) -> StoreResult<State> {
        let known = match self.own(who, job)? {
            Ok(known) => known,
            Err(refused) => return Ok(Err(refused)),
        };
        if known.state != State::Held {
            let message = format!("job {job} is {}; only a held job can be released", known.state.words());
            return Ok(Err(refusal(RefusalKind::Conflict, "", message, "")));
        }
        let sql = "UPDATE jobs SET held = 0, state = 'waiting' WHERE number = ?1";
        self.connection().prepare_cached(sql)?.execute([job.0 as i64])?;
        self.happened(job, &known.user, None, (HappeningKind::Released, State::Waiting))?;
        self.hand(job)?;
        self.hand_behind(job)?;
        Ok(Ok(self.known(job)?.map_or(State::Waiting, |known| known.state)))
    }
}
