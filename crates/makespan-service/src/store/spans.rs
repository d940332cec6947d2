//! Statistics of jobs over time. One scan of an index computes a statistic for all spans.

use rusqlite::{Error, Row, params};

use super::read::Reader;
use crate::clock::wall;
use crate::words::{Role, Span, Who};

impl Reader {
    /// Divides the time from `start` to `end` into `spans` spans of equal length, and returns the statistics of each
    /// span for a platform with `processors` processors.
    ///
    /// # Errors
    /// The error of the database.
    pub fn spans(
        &self,
        who: &Who,
        (start, end): (f64, f64),
        spans: usize,
        processors: u32,
    ) -> Result<Vec<Span>, Error> {
        let length = (end - start) / spans as f64;
        let empty = |at: usize| Span {
            start: start + length * at as f64,
            end: start + length * (at + 1) as f64,
            submitted: 0,
            ended: 0,
            failed: 0,
            wait: None,
            use_of_processors: 0.0,
        };
        let mut all: Vec<Span> = (0..spans).map(empty).collect();
        let own = (who.role == Role::Submitter).then_some(&who.user);
        let (last, place) = (spans - 1, |at: f64| ((at - start) / length) as usize);
        let mut each = |columns: &str, heed: &mut dyn FnMut(&mut Span, &Row<'_>) -> Result<(), Error>| {
            let time = columns.split(',').next().unwrap_or_default();
            let sql =
                format!("SELECT {columns} FROM jobs WHERE {time} >= ?1 AND {time} < ?2 AND (?3 IS NULL OR user = ?3)");
            let mut select = self.0.prepare_cached(&sql)?;
            let mut rows = select.query(params![start, end, own])?;
            while let Some(row) = rows.next()? {
                heed(&mut all[place(row.get(0)?).min(last)], row)?;
            }
            Ok::<(), Error>(())
        };
        each("submitted", &mut |span, _| {
            span.submitted += 1;
            Ok(())
        })?;
        each("ended, state <> 'succeeded'", &mut |span, row| {
            span.ended += 1;
            span.failed += u64::from(row.get::<_, bool>(1)?);
            Ok(())
        })?;
        let mut waits = vec![(0.0, 0_u32); spans];
        each("started, started - submitted", &mut |_, row| {
            let (sum, count) = &mut waits[place(row.get(0)?).min(last)];
            (*sum, *count) = (*sum + row.get::<_, f64>(1)?, *count + 1);
            Ok(())
        })?;
        for (span, (sum, count)) in all.iter_mut().zip(waits) {
            span.wait = (count > 0).then(|| sum / f64::from(count));
        }
        for (used, span) in self.used((start, end), spans)?.into_iter().zip(&mut all) {
            span.use_of_processors = (used / (length * f64::from(processors.max(1)))).clamp(0.0, 1.0);
        }
        Ok(all)
    }

    /// Returns the used processor-seconds in each span.
    fn used(&self, (start, end): (f64, f64), spans: usize) -> Result<Vec<f64>, Error> {
        let length = (end - start) / spans as f64;
        let mut used = vec![0.0; spans];
        let sql = "SELECT started, ended, width FROM tasks WHERE ended >= ?1 AND started < ?2 AND width IS NOT NULL \
                   UNION ALL SELECT started, ?3, width FROM tasks WHERE state = 'running' AND started < ?2 AND width IS NOT NULL";
        let mut select = self.0.prepare_cached(sql)?;
        let mut rows = select.query(params![start, end, wall()])?;
        while let Some(row) = rows.next()? {
            let (from, to, width): (f64, f64, f64) = (row.get(0)?, row.get(1)?, f64::from(row.get::<_, u32>(2)?));
            let (from, to) = (from.max(start), to.min(end));
            if from >= to {
                continue;
            }
            let span = |at: f64| (((at - start) / length) as usize).min(spans - 1);
            for (at, used) in used.iter_mut().enumerate().take(span(to) + 1).skip(span(from)) {
                let (first, last) = (start + length * at as f64, start + length * (at + 1) as f64);
                *used += (to.min(last) - from.max(first)).max(0.0) * width;
            }
        }
        Ok(used)
    }
}
