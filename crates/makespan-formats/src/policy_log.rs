//! Writes the decisions that a policy logged, as JSON and CSV.

use std::io::Write;

use makespan_core::{Instance, LogEntry, LoggedDecision, StartPlace, Time};
use serde::Serialize;
use serde_json::Value;

use crate::names::CsvNames;

/// Log entry of a policy, as a row of a file. Columns without a value are empty. Times are in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LogRow {
    /// Time of the decision.
    pub time: f64,
    /// Name of the job. For a collision, the name of the task.
    pub job: String,
    /// Kind of the decision, in one word ([`LoggedDecision::name`]).
    pub kind: String,
    /// Sentence that describes the entry, without its subject (the job).
    pub text: String,
    /// Number of variants to choose from.
    pub variants: Option<u64>,
    /// Planned end of the last task.
    pub finish: Option<f64>,
    /// Deadline of the job.
    pub deadline: Option<f64>,
    /// Cost of the plan: the sum of volume / run time over the tasks.
    pub cost: Option<f64>,
    /// Processor on which a task was planned before a collision.
    pub from_processor: Option<u32>,
    /// Start of the task before the collision.
    pub from_start: Option<f64>,
    /// Processor of the task after the collision.
    pub to_processor: Option<u32>,
    /// Start of the task after the collision.
    pub to_start: Option<f64>,
    /// Penalty for moving the task.
    pub penalty: Option<i64>,
    /// Previous variant. Variants are numbered from 0, in the order of their finish times.
    pub from_variant: Option<u64>,
    /// New variant.
    pub to_variant: Option<u64>,
    /// Last possible start of the chosen variant.
    pub possible_until: Option<f64>,
}

impl LogRow {
    /// Converts an entry of the log of a policy for `instance`.
    pub fn new(instance: &Instance, entry: &LogEntry) -> Self {
        let mut row = Self {
            time: entry.time.seconds(),
            job: entry.name(instance).into_owned(),
            kind: entry.what.name().to_owned(),
            text: entry.sentence(),
            finish: entry.what.finish().map(Time::seconds),
            deadline: entry.what.deadline().map(Time::seconds),
            possible_until: entry.what.until().map(Time::seconds),
            ..Self::default()
        };
        let spot = |spot: StartPlace| (Some(spot.processor), Some(spot.start.seconds()));
        match entry.what {
            LoggedDecision::Planned { variants, cost, .. } => {
                (row.variants, row.cost) = (Some(variants as u64), Some(cost as f64 / 1e3));
            }
            LoggedDecision::Collision { planned, resolved, penalty } => {
                (row.from_processor, row.from_start) = spot(planned);
                (row.to_processor, row.to_start) = spot(resolved);
                row.penalty = Some(penalty);
            }
            LoggedDecision::OtherVariant { from, to, .. } => {
                (row.from_variant, row.to_variant) = (Some(from as u64), Some(to as u64));
            }
            LoggedDecision::Unaffordable { cost, .. } => row.cost = Some(cost as f64 / 1e3),
            LoggedDecision::PlannedAgain { .. } | LoggedDecision::Fallback { .. } | LoggedDecision::Rejected { .. } => {
            }
        }
        row
    }

    /// Converts all entries, in their order.
    pub fn all(instance: &Instance, log: &[LogEntry]) -> Vec<Self> {
        log.iter().map(|entry| Self::new(instance, entry)).collect()
    }

    /// Returns the entry as a JSON object, without empty columns.
    pub fn json(&self) -> Value {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => {
                Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect())
            }
            // Numbers, texts and `None` always have a JSON form.
            _ => Value::Null,
        }
    }
}

/// Writes rows as CSV. The header line is written even if there are no rows.
///
/// # Errors
/// Errors of the writer.
pub fn write_log_csv(rows: &[LogRow], names: CsvNames, writer: &mut dyn Write) -> csv::Result<()> {
    let mut table = csv::Writer::from_writer(writer);
    if rows.is_empty() {
        table.write_record(COLUMNS)?;
    }
    let named = |row: &LogRow| LogRow { job: names.write(&row.job).into_owned(), ..row.clone() };
    rows.iter().try_for_each(|row| table.serialize(named(row)))?;
    table.flush()?;
    Ok(())
}

/// Column names.
const COLUMNS: [&str; 16] = [
    "time",
    "job",
    "kind",
    "text",
    "variants",
    "finish",
    "deadline",
    "cost",
    "from_processor",
    "from_start",
    "to_processor",
    "to_start",
    "penalty",
    "from_variant",
    "to_variant",
    "possible_until",
];

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, Profile, TaskId};

    use super::*;

    fn rows() -> Vec<LogRow> {
        let s = Time::from_seconds;
        let job = Job::new("=a, \"b\"\n<c>", Profile::rigid(1, s(1)).unwrap());
        let instance = Instance::new(Platform::flat(1).unwrap(), vec![job], vec![]).unwrap();
        let at = |processor, start| StartPlace { processor, start };
        let all = [
            LoggedDecision::Planned { variants: 3, finish: s(4), cost: 1234, deadline: s(3), until: None },
            LoggedDecision::Collision {
                planned: at(0, s(1)),
                resolved: at(2, Time::from_ticks(1_500_000_000)),
                penalty: -7,
            },
            LoggedDecision::OtherVariant { from: 0, to: 2, until: Some(s(2)) },
            LoggedDecision::PlannedAgain { finish: s(5) },
            LoggedDecision::Fallback { finish: s(6), deadline: s(7) },
            LoggedDecision::Rejected { finish: s(8), deadline: s(7) },
        ];
        let entry = |what| LogEntry { time: Time::from_ticks(1), task: TaskId(0), what };
        LogRow::all(&instance, &all.map(entry))
    }

    #[test]
    fn every_row_has_a_cell_in_each_column() {
        for rows in [rows(), Vec::new()] {
            let mut bytes = Vec::new();
            write_log_csv(&rows, CsvNames::Guarded, &mut bytes).unwrap();
            let mut table = csv::Reader::from_reader(bytes.as_slice());
            assert_eq!(table.headers().unwrap().iter().collect::<Vec<_>>(), COLUMNS);
            assert_eq!(table.records().map(Result::unwrap).count(), rows.len());
        }
    }

    #[test]
    fn json_has_what_an_entry_says() {
        let rows = rows();
        let keys = |row: &LogRow| {
            let Value::Object(fields) = row.json() else { panic!("an object") };
            let mut keys: Vec<String> = fields.into_iter().map(|(key, _)| key).collect();
            keys.retain(|key| !["time", "job", "kind", "text"].contains(&key.as_str()));
            keys.sort();
            keys.join(" ")
        };
        assert_eq!(keys(&rows[0]), "cost deadline finish variants");
        assert_eq!(keys(&rows[1]), "from_processor from_start penalty to_processor to_start");
        assert_eq!(keys(&rows[2]), "from_variant possible_until to_variant");
        assert_eq!(keys(&rows[3]), "finish");
        assert_eq!((rows[0].cost, rows[1].to_start, rows[1].penalty), (Some(1.234), Some(1.5), Some(-7)));
        assert_eq!(rows[5].kind, "rejected");
    }
}
