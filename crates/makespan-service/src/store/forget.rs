//! Deletes old jobs, events and rounds from the store.

use rusqlite::{Error, params};

use super::change::StoreChange;
use super::read::Reader;

impl StoreChange<'_> {
    /// Deletes up to `limit` jobs that ended before the instant `before`, with their tasks, and up to `limit` events
    /// from before this instant. Keeps the jobs of the current round (run of the engine), and jobs for which an
    /// unfinished job waits. Returns true if there may be more jobs or events to delete.
    ///
    /// # Errors
    /// The error of the database.
    pub fn forget(&mut self, before: f64, limit: usize) -> Result<bool, Error> {
        let jobs = self.old_jobs(before, limit)?;
        for job in &jobs {
            for sql in [
                "DELETE FROM tasks WHERE job = ?1",
                "DELETE FROM waits WHERE job = ?1",
                "DELETE FROM waits WHERE before = ?1",
                "DELETE FROM handed WHERE job = ?1",
                "DELETE FROM jobs WHERE number = ?1",
            ] {
                self.connection().prepare_cached(sql)?.execute([job])?;
            }
        }
        let events = self.forget_events(before, limit)?;
        Ok(jobs.len() == limit || events == limit)
    }

    fn old_jobs(&self, before: f64, limit: usize) -> Result<Vec<i64>, Error> {
        let sql = "SELECT number FROM jobs WHERE ended < ?1 AND state NOT IN ('held', 'waiting', 'running') \
                   AND NOT EXISTS (SELECT 1 FROM handed WHERE handed.job = jobs.number AND +round = (SELECT max(round) FROM rounds)) \
                   AND NOT EXISTS (SELECT 1 FROM waits JOIN jobs AS next ON next.number = waits.job \
                                   WHERE waits.before = jobs.number AND next.state IN ('held', 'waiting', 'running')) \
                   ORDER BY ended LIMIT ?2";
        let mut select = self.connection().prepare_cached(sql)?;
        select.query_map(params![before, limit as i64], |row| row.get(0))?.collect()
    }

    /// Deletes up to `limit` events from before the instant `before`, and returns their number. Keeps the last event,
    /// because it determines the number of the next event.
    fn forget_events(&self, before: f64, limit: usize) -> Result<usize, Error> {
        let sql = "SELECT sequence, at FROM happenings WHERE sequence < (SELECT max(sequence) FROM happenings) \
                   ORDER BY sequence LIMIT ?1";
        let mut select = self.connection().prepare_cached(sql)?;
        let rows = select.query_map([limit as i64], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?)))?;
        let first: Vec<(i64, f64)> = rows.collect::<Result<_, _>>()?;
        let old = first.iter().take_while(|(_, at)| *at < before).count();
        let Some((last, _)) = old.checked_sub(1).map(|at| first[at]) else { return Ok(0) };
        self.connection().prepare_cached("DELETE FROM happenings WHERE sequence <= ?1")?.execute([last])
    }

    /// Deletes a round if the store contains none of its jobs.
    ///
    /// # Errors
    /// The error of the database.
    pub fn forget_round(&self, round: u64) -> Result<(), Error> {
        let sql = "DELETE FROM rounds WHERE round = ?1 AND NOT EXISTS (SELECT 1 FROM handed WHERE round = ?1)";
        self.connection().prepare_cached(sql)?.execute([round as i64]).map(drop)
    }
}

impl Reader {
    /// Returns the earlier rounds without jobs in the store.
    ///
    /// # Errors
    /// The error of the database.
    pub fn empty_rounds(&self) -> Result<Vec<u64>, Error> {
        let sql = "SELECT round FROM rounds WHERE round < (SELECT max(round) FROM rounds) \
                   AND NOT EXISTS (SELECT 1 FROM handed WHERE handed.round = rounds.round)";
        let mut select = self.0.prepare_cached(sql)?;
        select.query_map([], |row| row.get::<_, i64>(0).map(|round| round as u64))?.collect()
    }
}
