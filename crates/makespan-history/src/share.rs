//! The share of starts that ranges contain.

use serde::{Deserialize, Serialize};

use crate::{Calibration, ENOUGH};

/// The share of the starts that ranges contain, and the calibration of the ranges with the starts of earlier jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeShare {
    /// The percentage of the starts that a range contains.
    pub percent: u32,
    /// True if the ranges are calibrated. Calibration needs at least 50 known starts.
    pub calibrated: bool,
    /// The number of earlier forecasts with a known start.
    pub known_starts: u64,
    /// The share of starts that the calibrated ranges contained, among up to 500 of the latest starts.
    pub held: Option<f64>,
    /// The number of starts from which `held` is computed.
    pub held_of: u64,
}

impl RangeShare {
    /// Returns the share of ranges that contain `percent` % of the starts. `calibration` is `None` without a history.
    pub fn new(percent: u32, calibration: Option<&Calibration>) -> Self {
        let known = calibration.map_or(0, |calibration| calibration.known);
        let (held, of) = calibration.map_or((0, 0), |calibration| calibration.held);
        let share = (of > 0).then(|| held as f64 / of as f64);
        Self { percent, calibrated: known >= ENOUGH, known_starts: known as u64, held: share, held_of: of as u64 }
    }

    /// Describes the calibration in a sentence.
    pub fn words(&self) -> String {
        let Self { percent, calibrated, known_starts: known, held, held_of: of } = self;
        if !calibrated {
            return format!("the ranges are not yet calibrated: {known} of {ENOUGH} starts are known");
        }
        let held = held.map_or(String::new(), |held| {
            format!("; the latest ranges contained {:.0} % of {of} starts", 100.0 * held)
        });
        format!("the ranges are calibrated to contain {percent} % of the starts, from {known} known starts{held}")
    }
}
