//! Reads Schedule JSON.

use std::collections::BTreeMap;

use crate::Bound;
use makespan_core::{Instance, Objective, Schedule};
use serde::Deserialize;

use super::bound::{BoundEntry, read_bound, value};
use super::placements::{PlacementEntry, placements};
use super::{ScheduleFile, front, strategy};
use crate::native::document::from_json;
use crate::native::error::{FilePlace, FormatError};
use crate::native::origin::PlanOrigin;
use crate::native::scalar::{Count, Scalar};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: Scalar<Count>,
    algorithm: String,
    seed: Option<u64>,
    origin: Option<PlanOrigin>,
    makespan: Scalar<String>,
    weighted_completion: Scalar<String>,
    mean_flow: Option<Scalar<String>>,
    cost: Option<Scalar<String>>,
    max_tardiness: Option<Scalar<String>>,
    weighted_tardiness: Option<Scalar<String>>,
    max_lateness: Option<Scalar<String>>,
    total_tardiness: Option<Scalar<String>>,
    tardy_jobs: Option<Scalar<String>>,
    weighted_tardy_jobs: Option<Scalar<String>>,
    total_penalty: Option<Scalar<String>>,
    max_penalty: Option<Scalar<String>>,
    bounds: Bounds,
    #[serde(default)]
    remarks: Vec<String>,
    #[serde(default)]
    front: Vec<front::Point>,
    strategy: Option<strategy::Entry>,
    placements: Vec<PlacementEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    makespan: Option<BoundEntry>,
    weighted_completion: Option<BoundEntry>,
    mean_flow: Option<BoundEntry>,
    cost: Option<BoundEntry>,
    max_tardiness: Option<BoundEntry>,
    weighted_tardiness: Option<BoundEntry>,
    max_lateness: Option<BoundEntry>,
    total_tardiness: Option<BoundEntry>,
    tardy_jobs: Option<BoundEntry>,
    weighted_tardy_jobs: Option<BoundEntry>,
    total_penalty: Option<BoundEntry>,
    max_penalty: Option<BoundEntry>,
}

impl ScheduleFile {
    /// Reads the schedule file of an instance. `file` is the file name for errors. Only the form of the file is
    /// checked, not the schedule, the stated values or the bounds.
    ///
    /// # Errors
    /// [`FormatError`] with the place of the error. An unknown job or task is an error.
    pub fn read(file: &str, bytes: &[u8], instance: &Instance) -> Result<Self, FormatError> {
        let document: Document = from_json(file, bytes)?;
        if document.version.0.0 != 1 {
            let problem = format!("version {} is not supported; write 1", document.version.0.0);
            return Err(FormatError::content(file, FilePlace::field("version"), problem));
        }
        let stated = |objective: Objective, text: &Scalar<String>| value(file, objective.name(), objective, &text.0);
        let entries = [
            (Objective::Makespan, None, document.bounds.makespan),
            (Objective::WeightedCompletion, None, document.bounds.weighted_completion),
            (Objective::MeanFlow, document.mean_flow, document.bounds.mean_flow),
            (Objective::Cost, document.cost, document.bounds.cost),
            (Objective::MaxTardiness, document.max_tardiness, document.bounds.max_tardiness),
            (Objective::WeightedTardiness, document.weighted_tardiness, document.bounds.weighted_tardiness),
            (Objective::MaxLateness, document.max_lateness, document.bounds.max_lateness),
            (Objective::TotalTardiness, document.total_tardiness, document.bounds.total_tardiness),
            (Objective::TardyJobs, document.tardy_jobs, document.bounds.tardy_jobs),
            (Objective::WeightedTardyJobs, document.weighted_tardy_jobs, document.bounds.weighted_tardy_jobs),
            (Objective::TotalPenalty, document.total_penalty, document.bounds.total_penalty),
            (Objective::MaxPenalty, document.max_penalty, document.bounds.max_penalty),
        ];
        let (mut others, mut bounds) = (BTreeMap::new(), Vec::new());
        for (objective, value, entry) in entries {
            if let Some(value) = value {
                others.insert(objective, stated(objective, &value)?);
            }
            if let Some(entry) = entry {
                bounds.push(bound(file, objective, entry)?);
            }
        }
        Ok(Self {
            makespan: stated(Objective::Makespan, &document.makespan)?,
            weighted_completion: stated(Objective::WeightedCompletion, &document.weighted_completion)?,
            others,
            bounds,
            algorithm: document.algorithm,
            seed: document.seed,
            origin: document.origin,
            remarks: document.remarks,
            front: front::read(file, document.front, instance)?,
            strategy: document.strategy.map(|entry| strategy::read(file, entry, instance)).transpose()?,
            schedule: Schedule::with_groups(placements(file, "placements", document.placements, instance)?),
        })
    }
}

/// Reads a bound at the top level of the file. The bound must be valid for all schedules, except that a bound on cost
/// may be restricted to schedules that end by an instant.
fn bound(file: &str, objective: Objective, entry: BoundEntry) -> Result<Bound, FormatError> {
    let field = format!("bounds.{}", objective.name());
    let bound = read_bound(file, &field, objective, entry)?;
    if bound.makespan_at_most.is_some() && objective != Objective::Cost {
        let problem = "this bound is valid only under a condition, but a bound of a plan must be valid for all \
                       schedules; remove the condition";
        return Err(FormatError::content(file, FilePlace::field(format!("{field}.makespan_at_most")), problem));
    }
    Ok(bound)
}
