//! Reads the records that estimates use.

use makespan_core::{Platform, Time};
use rusqlite::{OptionalExtension, Row, ToSql, Transaction, params};

use super::History;
use crate::{Command, HistoryError};

/// Longest time, in ticks, that is considered valid: ten years.
pub(crate) const LONGEST: i64 = 10 * 366 * 86_400 * Time::TICKS_PER_SECOND;

/// A successful run that estimates may use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecalledRun {
    /// Id of the run's command.
    pub command: i64,
    pub processors: u32,
    pub seconds: f64,
    /// CPU time in seconds.
    pub cpu: Option<f64>,
    pub inputs: Option<u64>,
    /// True if the process ran on the machine of the [`RecallSetting`].
    pub here: bool,
    /// True if the process ran in the folder of the [`RecallSetting`].
    pub in_folder: bool,
}

/// Describes the runs that an estimate may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecallSetting<'a> {
    /// Preferred machine.
    pub host: &'a str,
    /// Preferred folder.
    pub folder: &'a str,
    /// True for pinned runs, false for unpinned runs. Other runs are not used.
    pub pinned: bool,
}

const COLUMNS: &str = "processors, wall, cpu, inputs, host, folder, command";

impl History {
    /// Begins a transaction that only reads. Until the transaction is dropped, all reads see one state, and no read
    /// waits for a lock of its own.
    pub(crate) fn snapshot(&self) -> Result<Transaction<'_>, HistoryError> {
        self.connection.unchecked_transaction().map_err(|error| self.error(error))
    }

    /// Returns the id of a command, or `None` if the command never ran.
    pub(crate) fn number_of(&self, command: &Command) -> Result<Option<i64>, HistoryError> {
        let read = || {
            let mut statement = self.connection.prepare_cached("SELECT id FROM commands WHERE words = ?1")?;
            statement.query_row([super::append::json(command.words())], |row| row.get(0)).optional()
        };
        read().map_err(|error| self.error(error))
    }

    /// Returns the latest successful runs of the command with this id, from the latest to the earliest. The order is
    /// the order of insertion, because clocks may be wrong.
    pub(crate) fn of_command(
        &self,
        number: i64,
        setting: RecallSetting<'_>,
        limit: usize,
    ) -> Result<Vec<RecalledRun>, HistoryError> {
        let text = format!(
            "SELECT {COLUMNS} FROM runs WHERE command = ?1
             AND ending = 'succeeded' AND pinned = ?2 ORDER BY id DESC LIMIT {limit}"
        );
        self.recalled(&text, number, setting)
    }

    /// Returns the latest successful runs of all commands of a template. `stated` is true for templates that users
    /// stated, and false for templates with holes.
    pub(crate) fn of_template(
        &self,
        template: &str,
        stated: bool,
        setting: RecallSetting<'_>,
        limit: usize,
    ) -> Result<Vec<RecalledRun>, HistoryError> {
        let column = if stated { "stated" } else { "template" };
        let text = format!(
            "SELECT {COLUMNS} FROM commands JOIN runs ON runs.command = commands.id
             WHERE {column} = ?1 AND ending = 'succeeded' AND pinned = ?2 ORDER BY runs.id DESC LIMIT {limit}"
        );
        self.recalled(&text, template, setting)
    }

    fn recalled(
        &self,
        text: &str,
        key: impl ToSql,
        setting: RecallSetting<'_>,
    ) -> Result<Vec<RecalledRun>, HistoryError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(text)?;
            let rows = statement.query_map(params![key, setting.pinned], |row| believed(row, setting))?;
            rows.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|error| self.error(error))
    }

    /// Returns the work of the latest records of a machine in processor-seconds, and the part of this work that trials
    /// used.
    pub(crate) fn work(&self, host: &str) -> Result<(f64, f64), HistoryError> {
        const LATEST: usize = 10_000;
        let text =
            format!("SELECT processors, wall, explored FROM runs WHERE host = ?1 ORDER BY id DESC LIMIT {LATEST}");
        let read = || {
            let mut statement = self.connection.prepare_cached(&text)?;
            let mut rows = statement.query([host])?;
            let (mut all, mut explored) = (0.0, 0.0);
            while let Some(row) = rows.next()? {
                let (processors, wall): (i64, i64) = (row.get(0)?, row.get(1)?);
                if let (Some(processors), Some(seconds)) = (believed_processors(processors), believed_time(wall)) {
                    let work = f64::from(processors) * seconds;
                    all += work;
                    explored += if row.get::<_, i64>(2)? == 0 { 0.0 } else { work };
                }
            }
            Ok((all, explored))
        };
        read().map_err(|error| self.error(error))
    }
}

/// Returns the run that this table row contains, unless its figures are impossible.
fn believed(
    row: &Row<'_>,
    RecallSetting { host, folder, .. }: RecallSetting<'_>,
) -> Result<Option<RecalledRun>, rusqlite::Error> {
    let number = |column: usize| row.get_ref(column).map(|value| value.as_i64().ok());
    let is = |column: usize, text: &str| row.get_ref(column).map(|value| value.as_str() == Ok(text));
    let (processors, seconds) = (number(0)?.and_then(believed_processors), number(1)?.and_then(believed_time));
    let (Some(processors), Some(seconds)) = (processors, seconds) else { return Ok(None) };
    // A CPU time above the time of all processors is invalid. The tolerance is needed because the CPU clock may be one
    // tick ahead.
    let possible = |cpu: &f64| *cpu <= 1.1 * seconds * f64::from(processors) + 0.1;
    Ok(Some(RecalledRun {
        command: number(6)?.unwrap_or(0),
        processors,
        seconds,
        cpu: number(2)?.and_then(believed_time).filter(possible),
        inputs: number(3)?.and_then(|bytes| u64::try_from(bytes).ok()),
        here: is(4, host)?,
        in_folder: is(5, folder)?,
    }))
}

fn believed_processors(number: i64) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| (1..=Platform::MAX_PROCESSORS).contains(number))
}

fn believed_time(ticks: i64) -> Option<f64> {
    (1..=LONGEST).contains(&ticks).then(|| Time::from_ticks(ticks).seconds())
}
