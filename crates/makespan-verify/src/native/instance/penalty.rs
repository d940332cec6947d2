//! Reads the penalty of a job.

use makespan_core::{EndPenalty, PenaltyForm, Time, Weight};
use serde::Deserialize;

use crate::native::scalar::Scalar;

/// A penalty: `{"steps": [[TIME, PENALTY], ..]}` or `{"linear": [[TIME, PENALTY], ..]}`.
#[derive(Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct PenaltyEntry(pub(super) EndPenalty);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a penalty such as {\"linear\": [[10, 0], [20, 5]]}")]
struct Fields {
    steps: Option<Vec<PointEntry>>,
    linear: Option<Vec<PointEntry>>,
}

#[derive(Deserialize)]
#[serde(expecting = "a time and a penalty, such as [10, 2.5]")]
struct PointEntry(Scalar<Time>, Scalar<Weight>);

impl TryFrom<Fields> for PenaltyEntry {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let (form, points) = match (fields.steps, fields.linear) {
            (Some(points), None) => (PenaltyForm::Steps, points),
            (None, Some(points)) => (PenaltyForm::Linear, points),
            _ => return Err("state the points of a penalty either in `steps` or in `linear`".to_owned()),
        };
        let points = points.into_iter().map(|PointEntry(at, value)| (at.0, value.0)).collect();
        EndPenalty::new(form, points).map(Self).map_err(|error| error.to_string())
    }
}
