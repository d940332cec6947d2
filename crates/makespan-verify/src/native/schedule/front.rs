//! Reads and writes the schedules of a Pareto front in Schedule JSON.

use std::io::{self, Write};

use crate::Bound;
use makespan_core::{Instance, Objective, Schedule};
use serde::Deserialize;

use super::bound::{BoundEntry, read_bound, value, write_bounds};
use super::placements::{PlacementEntry, placements};
use super::write::write_placements;
use crate::native::error::{FilePlace, FormatError};
use crate::native::scalar::Scalar;

/// A schedule of a Pareto front, with the values that its file states.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontEntry {
    /// The stated makespan, in ticks.
    pub makespan: i128,
    /// The stated weighted completion, in ticks times millionths of weight.
    pub weighted_completion: i128,
    /// Stated bound on weighted completion or mean flow. If the bound has a horizon ([`Bound::makespan_at_most`]), it
    /// is valid only for schedules that end by this instant. Reading a file does not check the certificate.
    pub bound: Option<Bound>,
    /// The schedule itself.
    pub schedule: Schedule,
}

impl FrontEntry {
    /// Returns the entry for a schedule of a front, with its true values.
    pub fn new(instance: &Instance, schedule: &Schedule, bound: Option<&Bound>) -> Self {
        let value = |objective: Objective| objective.value(instance, schedule);
        Self {
            makespan: value(Objective::Makespan),
            weighted_completion: value(Objective::WeightedCompletion),
            bound: bound.cloned(),
            schedule: schedule.clone(),
        }
    }

    /// Returns the stated value of an objective, in its integer unit.
    pub fn stated(&self, objective: Objective) -> Option<i128> {
        match objective {
            Objective::Makespan => Some(self.makespan),
            Objective::WeightedCompletion => Some(self.weighted_completion),
            _ => None,
        }
    }

    pub(super) fn write(&self, instance: &Instance, writer: &mut dyn Write) -> io::Result<()> {
        write!(writer, "{{")?;
        for objective in Objective::STANDARD {
            if let Some(stated) = self.stated(objective) {
                write!(writer, "\"{}\": {}, ", objective.name(), objective.decimal(stated))?;
            }
        }
        write!(writer, "\"bounds\": ")?;
        write_bounds(instance, &self.bound.iter().collect::<Vec<_>>(), writer)?;
        write!(writer, ",\n   ")?;
        write_placements(instance, &self.schedule, writer)?;
        write!(writer, "}}")
    }
}

/// A point of a front in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Point {
    makespan: Scalar<String>,
    weighted_completion: Scalar<String>,
    bounds: PointBounds,
    placements: Vec<PlacementEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PointBounds {
    weighted_completion: Option<BoundEntry>,
    mean_flow: Option<BoundEntry>,
}

/// Reads the points of a front.
pub(super) fn read(file: &str, points: Vec<Point>, instance: &Instance) -> Result<Vec<FrontEntry>, FormatError> {
    let entry = |(at, point): (usize, Point)| {
        let path = format!("front[{at}]");
        let PointBounds { weighted_completion, mean_flow } = point.bounds;
        if weighted_completion.is_some() && mean_flow.is_some() {
            let problem = "a schedule of a front has only one bound; remove `weighted_completion` or `mean_flow`";
            return Err(FormatError::content(file, FilePlace::field(format!("{path}.bounds")), problem));
        }
        let weighted = weighted_completion.map(|entry| (Objective::WeightedCompletion, entry));
        let bound = weighted.or(mean_flow.map(|entry| (Objective::MeanFlow, entry)));
        let bound = bound.map(|(objective, entry)| {
            read_bound(file, &format!("{path}.bounds.{}", objective.name()), objective, entry)
        });
        let stated = |objective: Objective, text: &Scalar<String>| {
            value(file, &format!("{path}.{}", objective.name()), objective, &text.0)
        };
        Ok(FrontEntry {
            makespan: stated(Objective::Makespan, &point.makespan)?,
            weighted_completion: stated(Objective::WeightedCompletion, &point.weighted_completion)?,
            bound: bound.transpose()?,
            schedule: Schedule::with_groups(placements(
                file,
                &format!("{path}.placements"),
                point.placements,
                instance,
            )?),
        })
    };
    points.into_iter().enumerate().map(entry).collect()
}
