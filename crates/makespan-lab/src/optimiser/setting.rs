//! What is measured: an objective and how long the optimiser may search.

use std::fmt;
use std::str::FromStr;

use makespan_core::{Objective, Time};
use serde::{Deserialize, Serialize};

use crate::LabError;

/// When the optimiser stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// After this time, the proof of the bounds included.
    Time(Time),
    /// After this many steps: the same seed gives the same plan on any machine.
    Steps(u64),
}

/// An objective under a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Setting {
    /// What is minimised.
    pub objective: Objective,
    /// For how long.
    pub limit: Limit,
}

impl Setting {
    /// The catalogue's spec of the optimiser in this setting, with this many independent searches.
    pub fn spec(&self, searches: usize) -> String {
        let objective = self.objective.name().replace('_', "-");
        let limit = match self.limit {
            Limit::Time(time) => format!("time-limit={time}s"),
            Limit::Steps(steps) => format!("steps={steps}"),
        };
        format!("optimise[objective={objective},{limit},searches={searches}]")
    }

    /// For names of files: `weighted_completion-1s`.
    pub(super) fn file_stem(&self) -> String {
        format!("{}-{}", self.objective.name(), self.limit).replace('=', "-")
    }
}

/// For people: `weighted completion in 1 s`.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            Limit::Time(time) => f.pad(&format!("{} in {time} s", self.objective)),
            Limit::Steps(steps) => f.pad(&format!("{} in {steps} steps", self.objective)),
        }
    }
}

/// As it is read: `1s`, `steps=500`.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "{time}s"),
            Self::Steps(steps) => write!(f, "steps={steps}"),
        }
    }
}

impl FromStr for Limit {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let refuse = || LabError::Option {
            name: "limit",
            value: format!("`{text}`"),
            expected: "write a positive time such as 1s or 500ms, or steps=500",
        };
        let limit = match text.trim().strip_prefix("steps=") {
            Some(steps) => Self::Steps(steps.parse().map_err(|_| refuse())?),
            None => Self::Time(Time::parse(text).map_err(|_| refuse())?),
        };
        if matches!(limit, Self::Time(Time::ZERO)) { Err(refuse()) } else { Ok(limit) }
    }
}
