//! Reservations of processors.

use makespan_core::ProcSet;
use rusqlite::{Connection, Error, Row, params};

use super::change::{StoreChange, StoreResult};
use super::read::Reader;
use super::row::number;
use crate::clock::{shown_instant, wall};
use crate::prepare::refusal;
use crate::words::{RefusalKind, Reservation};

/// Returns the reservations that have not ended at the instant `now`, by start.
fn reservations(connection: &Connection, now: f64) -> Result<Vec<Reservation>, Error> {
    let sql = "SELECT number, name, start, stop, processors FROM reservations WHERE stop > ?1 ORDER BY start";
    let mut select = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        let processors: String = row.get(4)?;
        Ok(Reservation {
            number: number(row, 0)?,
            name: row.get(1)?,
            start: row.get(2)?,
            end: row.get(3)?,
            processors: serde_json::from_str(&processors).unwrap_or_default(),
        })
    };
    select.query_map([now], read)?.collect()
}

impl Reader {
    /// Returns the reservations that end after `now`, in the order of their starts.
    ///
    /// # Errors
    /// The error of the database.
    pub fn reservations(&self, now: f64) -> Result<Vec<Reservation>, Error> {
        reservations(&self.0, now)
    }
}

impl StoreChange<'_> {
    /// Stores a reservation, and returns it with its number. Returns a refusal if an earlier reservation has a processor
    /// and an instant in common with it.
    pub fn reserve(&self, reservation: Reservation) -> StoreResult<Reservation> {
        let own = ProcSet::from_intervals(reservation.processors.clone());
        for other in reservations(self.connection(), wall())? {
            let common = ProcSet::from_intervals(other.processors).intersection(&own);
            if !common.is_empty() && other.start < reservation.end && reservation.start < other.end {
                let [start, end] = [other.start, other.end].map(shown_instant);
                let message = format!(
                    "processors {common} are already reserved from {start} to {end}: reservation {} (`{}`)",
                    other.number, other.name
                );
                let remedy = "choose other processors or another time, or remove the other reservation first";
                return Ok(Err(refusal(RefusalKind::Conflict, "processors", message, remedy)));
            }
        }
        let sql = "INSERT INTO reservations (name, start, stop, processors) VALUES (?1, ?2, ?3, ?4)";
        let processors = serde_json::to_string(&reservation.processors).unwrap_or_default();
        let Reservation { name, start, end, .. } = &reservation;
        self.connection().prepare_cached(sql)?.execute(params![name, start, end, processors])?;
        Ok(Ok(Reservation { number: self.connection().last_insert_rowid() as u64, ..reservation }))
    }

    /// Deletes a reservation. Returns false if there is no such reservation.
    pub fn unreserve(&self, number: u64) -> Result<bool, Error> {
        let sql = "DELETE FROM reservations WHERE number = ?1";
        Ok(self.connection().prepare_cached(sql)?.execute([number as i64])? > 0)
    }
}
