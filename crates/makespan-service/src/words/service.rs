//! Users, what they may use, and the service itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder, ObjectBuilder, Type};

/// What a user has done and may do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UserSummary {
    /// The name.
    pub user: String,
    /// How many jobs wait or are held.
    pub waiting: u64,
    /// How many run.
    pub running: u64,
    /// How many have ended.
    pub ended: u64,
    /// Processor seconds of all that ended.
    pub used: f64,
    /// The part of all recent use that was this user's, between 0 and 1; use counts half after a week.
    pub share: f64,
    /// How the user's part compares with that of others.
    pub weight: f64,
    /// Most jobs that may wait.
    pub most_waiting: Option<u64>,
    /// Most processors that may be used at once.
    pub most_processors: Option<u32>,
}

/// What an admin says of a user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UserSettings {
    /// How the user's part compares with that of others; 1 where nothing is said.
    #[schema(minimum = 0.001, maximum = 1000)]
    pub weight: Option<f64>,
    /// Most jobs that may wait; none: no limit.
    pub most_waiting: Option<u64>,
    /// Most processors that may be used at once; none: no limit.
    #[schema(minimum = 1)]
    pub most_processors: Option<u32>,
}

/// A time in which processors run nothing that they would have to break off: they are kept free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// Its number; the service gives it.
    #[serde(default)]
    pub number: u64,
    /// What it is for.
    #[schema(max_length = 1000, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub name: String,
    /// From when.
    pub start: f64,
    /// Until when.
    pub end: f64,
    /// Which processors, as ranges, first and last.
    #[schema(schema_with = ranges)]
    pub processors: Vec<(u32, u32)>,
}

/// Returns the schema for ranges of processors.
fn ranges() -> Array {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(u32::MAX));
    let range = ArrayBuilder::new().items(number).min_items(Some(2)).max_items(Some(2));
    ArrayBuilder::new()
        .description(Some("Processors as ranges, each with its first and its last processor."))
        .items(range)
        .min_items(Some(1))
        .build()
}

/// What happened in a span of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Span {
    /// From when.
    pub start: f64,
    /// Until when.
    pub end: f64,
    /// How many jobs were submitted.
    pub submitted: u64,
    /// How many ended, with success or without.
    pub ended: u64,
    /// How many of those without.
    pub failed: u64,
    /// Seconds that those which started then had waited, on average.
    pub wait: Option<f64>,
    /// The part of all processor time that was used, between 0 and 1.
    pub use_of_processors: f64,
}

/// How the service itself is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Whether it accepts submissions.
    pub accepts: bool,
    /// Whether jobs are started.
    pub runs: bool,
    /// What is wrong, in words.
    pub trouble: Vec<String>,
    /// Since when it is up.
    pub since: f64,
    /// Its version.
    pub version: String,
    /// As whom commands run.
    pub runs_as: String,
}

/// A number for a monitor.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name, with `makespan_` before it and its unit behind it.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Whether it only grows.
    pub is_counter: bool,
    /// Labels and values.
    pub values: Vec<(Vec<(&'static str, String)>, f64)>,
}
