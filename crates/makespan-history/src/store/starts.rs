//! Forecasts of starts, and what happened.

use rusqlite::{Error, TransactionBehavior, params};

use super::History;
use crate::HistoryError;

/// Maximum number of known starts that are kept for each cluster and each percentage of `--range`.
const KEPT: i64 = 4000;
/// A forecast of the start of a job. All instants are counted from 1970, in seconds or in another unit that all forecasts
/// of a cluster share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartForecast {
    /// The name of the job, which must be unique on its cluster.
    pub job: String,
    /// The instant of the forecast.
    pub made: i64,
    /// The first instant of the range from simulations.
    pub early: i64,
    /// The expected start.
    pub start: i64,
    /// The last instant of the range from simulations.
    pub late: i64,
    /// The calibrated range of the start that was printed. `None` if the printed range was not calibrated.
    pub range: Option<(i64, i64)>,
    /// The actual start, once it is known.
    pub started: Option<i64>,
}

impl History {
    /// Records the starts of jobs (name, instant) on a cluster, and returns the forecasts from which the next ranges are
    /// calibrated: the latest 4,000 forecasts with a known start, and those of jobs that still wait.
    ///
    /// `percent` is the share of starts that the ranges must contain. Each share has its own forecasts.
    ///
    /// # Errors
    /// [`HistoryError`]. On an error, nothing was recorded.
    pub fn learn_starts(
        &mut self,
        cluster: &str,
        percent: u32,
        started: &[(String, i64)],
        waits: impl Fn(&str) -> bool,
    ) -> Result<Vec<StartForecast>, HistoryError> {
        let learned = self.resolve(cluster, started).and_then(|()| self.starts(cluster, percent));
        let is_needed = |one: &StartForecast| one.started.is_some() || waits(&one.job);
        let learned = learned.map(|all| all.into_iter().filter(is_needed).collect());
        learned.map_err(|error| HistoryError::of(&self.path, error))
    }

    fn resolve(&mut self, cluster: &str, started: &[(String, i64)]) -> Result<(), Error> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            // A start before the forecast belongs to an earlier run of a requeued job.
            let mut update = transaction.prepare_cached(
                "UPDATE starts SET started = ?3 WHERE cluster = ?1 AND job = ?2 AND started IS NULL AND made <= ?3",
            )?;
            for (job, at) in started {
                update.execute(params![cluster, job, at])?;
            }
        }
        transaction.commit()
    }

    fn starts(&self, cluster: &str, percent: u32) -> Result<Vec<StartForecast>, Error> {
        let mut select = self.connection.prepare_cached(
            "SELECT * FROM (
                 SELECT job, made, early, start, late, range_early, range_late, started FROM starts
                 WHERE cluster = ?1 AND percent = ?2 AND started IS NOT NULL ORDER BY started DESC, id DESC LIMIT ?3
             ) UNION ALL
             SELECT job, made, early, start, late, range_early, range_late, started FROM starts
             WHERE cluster = ?1 AND percent = ?2 AND started IS NULL",
        )?;
        let row = |row: &rusqlite::Row<'_>| {
            let range = row.get::<_, Option<i64>>(5)?.zip(row.get(6)?);
            let (job, made, early) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(StartForecast { job, made, early, start: row.get(3)?, late: row.get(4)?, range, started: row.get(7)? })
        };
        select.query_map(params![cluster, percent, KEPT], row)?.collect()
    }

    /// Records forecasts. Only the first forecast of each job is kept, because later forecasts of the same job repeat its
    /// error. Removes forecasts that are no longer needed, such as forecasts that are older than `patience` and have no
    /// known start.
    ///
    /// # Errors
    /// [`HistoryError`]. On an error, nothing was recorded.
    pub fn append_starts(
        &mut self,
        cluster: &str,
        percent: u32,
        patience: i64,
        forecasts: &[StartForecast],
    ) -> Result<(), HistoryError> {
        self.add_starts(cluster, percent, patience, forecasts).map_err(|error| HistoryError::of(&self.path, error))
    }

    fn add_starts(
        &mut self,
        cluster: &str,
        percent: u32,
        patience: i64,
        forecasts: &[StartForecast],
    ) -> Result<(), Error> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT OR IGNORE INTO starts (cluster, percent, job, made, early, start, late, range_early, range_late, started)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?;
            for one in forecasts {
                let (early, late) = one.range.unzip();
                let values = params![
                    cluster,
                    percent,
                    one.job,
                    one.made,
                    one.early,
                    one.start,
                    one.late,
                    early,
                    late,
                    one.started
                ];
                insert.execute(values)?;
            }
        }
        if let Some(now) = forecasts.iter().map(|one| one.made).max() {
            transaction.execute(
                "DELETE FROM starts WHERE cluster = ?1 AND percent = ?2 AND (
                     (started IS NULL AND made < ?3)
                     OR started < (SELECT started FROM starts WHERE cluster = ?1 AND percent = ?2 AND started IS NOT NULL
                                   ORDER BY started DESC LIMIT 1 OFFSET ?4))",
                params![cluster, percent, now.saturating_sub(patience), KEPT],
            )?;
        }
        transaction.commit()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATIENCE: i64 = 90 * 86_400;

    fn one(job: u32, made: i64) -> StartForecast {
        StartForecast {
            job: job.to_string(),
            made,
            early: made,
            start: made + 5,
            late: made + 9,
            range: job.is_multiple_of(2).then_some((made + 1, made + 7)),
            started: None,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// Compares the database with a map from job to forecast.
        #[test]
        fn the_first_forecast_of_a_job_gets_its_start(
            steps in prop::collection::vec((0_u32..2, 0_u32..12, any::<bool>()), 0..60),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut history = History::open(&folder.path().join("h.sqlite")).unwrap();
            let mut model = std::collections::BTreeMap::new();
            for (now, &(cluster, job, starts)) in steps.iter().enumerate() {
                let (now, name) = (now as i64, format!("c{cluster}"));
                if starts {
                    history.learn_starts(&name, 80, &[(job.to_string(), now)], |_| false).unwrap();
                    if let Some(known) = model.get_mut(&(cluster, job)) {
                        let known: &mut StartForecast = known;
                        known.started = known.started.or(Some(now));
                    }
                } else {
                    history.append_starts(&name, 80, PATIENCE, &[one(job, now)]).unwrap();
                    model.entry((cluster, job)).or_insert_with(|| one(job, now));
                }
            }
            for cluster in 0..2 {
                let name = format!("c{cluster}");
                let waits = |job: &str| job.len() == 1;
                let mut found = history.learn_starts(&name, 80, &[], waits).unwrap();
                let mut expect: Vec<StartForecast> =
                    model.iter().filter(|(key, one)| key.0 == cluster && (one.started.is_some() || waits(&one.job))).map(|(_, one)| one.clone()).collect();
                found.sort_by(|a, b| a.job.cmp(&b.job));
                expect.sort_by(|a, b| a.job.cmp(&b.job));
                prop_assert_eq!(found, expect);
                prop_assert!(history.learn_starts(&name, 90, &[], waits).unwrap().is_empty());
            }
        }
    }

    #[test]
    fn old_forecasts_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::open(&folder.path().join("h.sqlite")).unwrap();
        let many: Vec<StartForecast> = (0..5000).map(|job| one(job, i64::from(job))).collect();
        history.append_starts("c", 80, PATIENCE, &many).unwrap();
        let starts: Vec<(String, i64)> = (0..4500).map(|job| (job.to_string(), 10_000 + job)).collect();
        assert_eq!(history.learn_starts("c", 80, &starts, |_| false).unwrap().len(), KEPT as usize);
        history.append_starts("c", 80, PATIENCE, &[one(9000, PATIENCE + 6000)]).unwrap();
        let count = |condition: &str| -> i64 {
            let text = format!("SELECT count(*) FROM starts WHERE {condition}");
            history.connection.query_row(&text, [], |row| row.get(0)).unwrap()
        };
        assert_eq!((count("started IS NULL"), count("started IS NOT NULL")), (1, KEPT + 1));
    }
}
