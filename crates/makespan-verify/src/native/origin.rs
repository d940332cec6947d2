//! The origin of a plan: the program, the algorithm and the instance that made it.

use makespan_core::{Instance, instance_hash};
use serde::{Deserialize, Serialize};

/// The data, together with the seed, from which a plan can be made again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanOrigin {
    /// Version of Makespan.
    pub version: String,
    /// Spec of the algorithm with all its parameters, also those that have their default value.
    pub spec: String,
    /// Hash of the planned instance ([`instance_hash`]).
    pub instance: String,
}

impl PlanOrigin {
    /// Returns the origin of a plan that this version of Makespan makes.
    pub fn new(spec: String, instance: &Instance) -> Self {
        Self { version: env!("CARGO_PKG_VERSION").into(), spec, instance: instance_hash(instance) }
    }

    /// Returns an error message if the plan was made for another instance.
    pub(crate) fn problem(&self, instance: &Instance) -> Option<String> {
        let own = instance_hash(instance);
        let start = |hash: &str| hash.chars().take(12).collect::<String>();
        (own != self.instance).then(|| {
            format!(
                "the plan was made for another instance: its file states the hash {}.., but this instance has {}..; \
                 verify the plan with the instance and the options with which it was planned",
                start(&self.instance),
                start(&own)
            )
        })
    }
}
