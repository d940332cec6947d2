//! Reads a plan for a tree.

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use makespan_core::tree::{Fairness, Periodic, Rates, TreePrices};
use makespan_core::{Instance, Objective, Time};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::{StatedFairness, StatedPeriod, TreePlanFile};
use crate::native::document::from_json;
use crate::native::error::{FilePlace, FormatError};
use crate::native::origin::PlanOrigin;
use crate::native::scalar::{Count, FromLiteral, Scalar};
use crate::native::schedule::{BoundEntry, rational, read_bound};
use crate::native::suggest::nearest;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: Scalar<Count>,
    algorithm: String,
    fair_throughput: Scalar<String>,
    bounds: Bounds,
    #[serde(default)]
    remarks: Vec<String>,
    fairness: Option<FairnessEntry>,
    period: Option<PeriodEntry>,
    origin: Option<PlanOrigin>,
    rates: Table<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    fair_throughput: BoundEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FairnessEntry {
    alpha: Scalar<Count>,
    excess: Scalar<String>,
    prices: TreePrices,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PeriodEntry {
    seconds: Scalar<Time>,
    fair_throughput: Scalar<String>,
    tasks: Table<Tasks>,
}

/// Number of tasks of one application on one node in a period.
#[derive(Clone)]
struct Tasks(u64);

impl FromLiteral for Tasks {
    const EXPECTED: &'static str = "a number of tasks";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        let tasks = text.parse().ok().filter(|&tasks| !quoted && tasks <= Periodic::MAX_TASKS);
        tasks.map(Self).ok_or_else(|| {
            format!("`{text}` is not a number of tasks; write a whole number from 0 to {}", Periodic::MAX_TASKS)
        })
    }
}

/// Numbers by application and node.
type Table<T> = BTreeMap<String, BTreeMap<String, Scalar<T>>>;

impl TreePlanFile {
    /// Reads the plan file of an instance. `file` is the file name for errors. Only the form of the file is checked.
    ///
    /// # Errors
    /// [`FormatError`] with the place of the error. An unknown application or node is an error.
    pub fn read(file: &str, bytes: &[u8], instance: &Instance) -> Result<Self, FormatError> {
        let document: Document = from_json(file, bytes)?;
        let wrong = |field: &str, problem: String| FormatError::content(file, FilePlace::field(field), problem);
        if document.version.0.0 != 1 {
            return Err(wrong("version", format!("version {} is not supported; write 1", document.version.0.0)));
        }
        let entry = document.bounds.fair_throughput;
        if entry.kind() != "tree_prices" {
            let problem =
                format!("`{}` is not a kind of certificate for a fair throughput; write tree_prices", entry.kind());
            return Err(wrong("bounds.fair_throughput.certificate.kind", problem));
        }
        let bound = read_bound(file, "bounds.fair_throughput", Objective::Throughput, entry)?;
        if bound.makespan_at_most.is_some() {
            let problem = "this bound is valid only under a condition, but a bound of a plan must be valid for all \
                           steady states; remove the condition"
                .to_owned();
            return Err(wrong("bounds.fair_throughput.makespan_at_most", problem));
        }
        let decimal = |field: &str, text: &str| rational(file, field, text);
        let rates = table(file, "rates", document.rates, instance)?;
        let rate = |rate: Option<Scalar<String>>| rate.map_or(Ok(RBig::ZERO), |rate| decimal("rates", &rate.0));
        let rates = rates.into_iter().map(rate).collect::<Result<_, _>>()?;
        let fairness = document.fairness.map(|entry| {
            let excess = decimal("fairness.excess", &entry.excess.0)?;
            Ok(StatedFairness { fairness: Fairness { alpha: entry.alpha.0.0, prices: entry.prices }, excess })
        });
        let period = document.period.map(|entry| {
            let tasks = table(file, "period.tasks", entry.tasks, instance)?;
            let tasks = tasks.into_iter().map(|tasks| tasks.map_or(0, |tasks| tasks.0.0)).collect();
            let periodic = Periodic { period: entry.seconds.0, tasks };
            let fair_throughput = decimal("period.fair_throughput", &entry.fair_throughput.0)?;
            Ok(StatedPeriod { periodic, fair_throughput })
        });
        Ok(Self {
            fair_throughput: decimal("fair_throughput", &document.fair_throughput.0)?,
            bound,
            rates: Rates::new(instance.jobs().len(), rates),
            fairness: fairness.transpose()?,
            period: period.transpose()?,
            algorithm: document.algorithm,
            remarks: document.remarks,
            origin: document.origin,
        })
    }
}

/// Returns the numbers of a table, by node and then by application.
fn table<T: Clone>(
    file: &str,
    field: &str,
    table: BTreeMap<String, BTreeMap<String, T>>,
    instance: &Instance,
) -> Result<Vec<Option<T>>, FormatError>
where
{
    let nodes = instance.platform().nodes();
    let applications = instance.jobs();
    let positions: FxHashMap<&str, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
    let unknown = |what: &str, name: &str, names: &[&str]| {
        let hint =
            nearest(name, names.iter().copied()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        FormatError::content(file, FilePlace::field(field), format!("the instance has no {what} `{name}`{hint}"))
    };
    let mut figures = vec![None; nodes.len() * applications.len()];
    for (name, row) in table {
        let Some(app) = applications.iter().position(|job| job.name == name) else {
            let names: Vec<&str> = applications.iter().map(|job| job.name.as_str()).collect();
            return Err(unknown("job", &name, &names));
        };
        for (name, figure) in row {
            let Some(&node) = positions.get(name.as_str()) else {
                let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
                return Err(unknown("node", &name, &names));
            };
            figures[node * applications.len() + app] = Some(figure);
        }
    }
    Ok(figures)
}
