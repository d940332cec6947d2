//! Users and their limits, reservations, statistics, health and metrics.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder, ObjectBuilder, Type};

/// The use and the limits of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UserSummary {
    /// The name of the user.
    pub user: String,
    /// The number of waiting and held jobs.
    pub waiting: u64,
    /// The number of running jobs.
    pub running: u64,
    /// The number of ended jobs.
    pub ended: u64,
    /// Processor-seconds of all ended tasks.
    pub used: f64,
    /// The share of this user in the recent use of all users, between 0 and 1. Use counts half after a week.
    pub share: f64,
    /// The fair-share weight. A user is entitled to processor time in proportion to this weight.
    pub weight: f64,
    /// The maximum number of waiting and held jobs, or `None` for no limit.
    pub most_waiting: Option<u64>,
    /// The maximum number of processors in use at once, or `None` for no limit.
    pub most_processors: Option<u32>,
}

/// The settings of a user, which an admin sets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UserSettings {
    /// The fair-share weight; 1 by default. A user is entitled to processor time in proportion to this weight.
    #[schema(minimum = 0.001, maximum = 1000)]
    pub weight: Option<f64>,
    /// The maximum number of waiting and held jobs. By default, there is no limit.
    pub most_waiting: Option<u64>,
    /// The maximum number of processors in use at once. By default, there is no limit.
    #[schema(minimum = 1)]
    pub most_processors: Option<u32>,
}

/// A change of some settings of a user. Settings that are left out stay as they are, and `null` restores the default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UserChange {
    /// The fair-share weight; 1 by default. A user is entitled to processor time in proportion to this weight.
    #[serde(deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, minimum = 0.001, maximum = 1000)]
    pub weight: Option<Option<f64>>,
    /// The maximum number of waiting and held jobs. By default, there is no limit.
    #[serde(deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub most_waiting: Option<Option<u64>>,
    /// The maximum number of processors in use at once. By default, there is no limit.
    #[serde(deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub most_processors: Option<Option<u32>>,
}

/// Deserializes a stated value, which may be `null`. A value that is left out is `None`.
#[expect(clippy::option_option, reason = "the outer option is `None` if the value is left out")]
fn stated<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl From<&UserSettings> for UserChange {
    fn from(settings: &UserSettings) -> Self {
        let &UserSettings { weight, most_waiting, most_processors } = settings;
        Self { weight: Some(weight), most_waiting: Some(most_waiting), most_processors: Some(most_processors) }
    }
}

impl UserSettings {
    /// Returns these settings after a change.
    #[must_use]
    pub fn changed(&self, change: &UserChange) -> Self {
        Self {
            weight: change.weight.unwrap_or(self.weight),
            most_waiting: change.most_waiting.unwrap_or(self.most_waiting),
            most_processors: change.most_processors.unwrap_or(self.most_processors),
        }
    }
}

/// A period in which processors are kept free. Jobs that are expected to run into this period do not start on these
/// processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// The number of the reservation, which the service assigns.
    #[serde(default)]
    pub number: u64,
    /// The purpose of the reservation.
    #[schema(min_length = 1, max_length = 1000, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub name: String,
    /// The start of the reservation.
    pub start: f64,
    /// The end of the reservation.
    pub end: f64,
    /// The reserved processors, as ranges of the first and the last processor.
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

/// Statistics of a span of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Span {
    /// The start of the span.
    pub start: f64,
    /// The end of the span.
    pub end: f64,
    /// The number of submitted jobs.
    pub submitted: u64,
    /// The number of ended jobs.
    pub ended: u64,
    /// The number of jobs that ended without success.
    pub failed: u64,
    /// The mean wait of the jobs that started in this span, in seconds.
    pub wait: Option<f64>,
    /// The used share of the processor time, between 0 and 1.
    pub use_of_processors: f64,
}

/// The health of the service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Whether the service accepts submissions.
    pub accepts: bool,
    /// Whether the service starts jobs.
    pub runs: bool,
    /// Descriptions of the present problems.
    pub trouble: Vec<String>,
    /// The instant at which the service started.
    pub since: f64,
    /// The version of makespan.
    pub version: String,
    /// The system user as which commands run.
    pub runs_as: String,
}
