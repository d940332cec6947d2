//! Which instance of a campaign, and what an algorithm made of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Key {
    /// One graph: its shape as counted in the report, and its number.
    Graph(u32, u32),
    /// A flow of jobs: mean seconds between two of them, and its number.
    Flow(u32, u32),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Graph(shape, run) => write!(f, "graph {run} of shape {shape}"),
            Self::Flow(gap, run) => write!(f, "flow {run} with {gap} s between jobs"),
        }
    }
}

/// What an algorithm made of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its spec.
    pub algorithm: String,
    /// In seconds.
    pub makespan: f64,
    /// The sum over tasks of V / T, each rounded up to a thousandth.
    pub cost: f64,
    /// Jobs that end by their deadline.
    pub on_time: usize,
    /// Jobs for which no chain plan was found.
    pub fallbacks: usize,
    /// More about a flow that a policy served.
    #[serde(default)]
    pub served: Option<Served>,
}

/// What is measured of a flow that a policy served, beside an [`Outcome`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// The mean load of the processors from the first release to the last end.
    pub utilisation: f64,
    /// The mean load over the largest.
    pub balance: f64,
    /// Jobs in time by the policy's own clock.
    pub as_told: usize,
    /// Tasks that collided in the plans that were carried out.
    pub collisions: usize,
    /// What these are charged with.
    pub penalty: f64,
}

impl Served {
    /// The cells of a row, empty where nothing was served in virtual time: utilisation, balance, jobs in time by the policy's
    /// clock, collisions, penalty.
    pub(super) fn cells(served: Option<&Self>) -> [String; 5] {
        let Some(Self { utilisation, balance, as_told, collisions, penalty }) = served else {
            return [const { String::new() }; 5];
        };
        [
            format!("{utilisation:.6}"),
            format!("{balance:.6}"),
            as_told.to_string(),
            collisions.to_string(),
            penalty.to_string(),
        ]
    }
}
