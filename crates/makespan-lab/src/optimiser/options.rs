//! What to run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use makespan_core::{Objective, Time};

use super::{Key, Limit, Setting};
use crate::LabError;
use crate::campaign::{Instances, build};

/// A campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder for the results; made when missing.
    pub output: PathBuf,
    /// Which instances.
    pub instances: Instances,
    /// For weighted completion each of them; for the makespan the first.
    pub limits: Vec<Limit>,
    /// Independent searches a plan, a thread each.
    pub searches: usize,
    /// How many instances are planned at the same time. More than the cores can carry distorts the times.
    pub at_once: usize,
}

impl Options {
    /// The measurement of record: 10 instances a point, 1 s for both objectives and 10 s for weighted completion, two
    /// searches, one instance at a time.
    pub fn record(output: impl Into<PathBuf>) -> Self {
        Self {
            output: output.into(),
            instances: Instances::paper(10),
            limits: [1, 10].map(|seconds| Limit::Time(Time::from_seconds(seconds))).to_vec(),
            searches: 2,
            at_once: 1,
        }
    }

    /// The settings, in the order of the results.
    pub fn settings(&self) -> Vec<Setting> {
        let weighted = self.limits.iter().map(|&limit| (Objective::WeightedCompletion, limit));
        let makespan = self.limits.first().map(|&limit| (Objective::Makespan, limit));
        weighted.chain(makespan).map(|(objective, limit)| Setting { objective, limit }).collect()
    }

    pub(super) fn keys(&self) -> Vec<Key> {
        let settings = self.settings();
        let of = |setting| self.instances.keys().map(move |instance| Key { setting, instance });
        settings.into_iter().flat_map(of).collect()
    }

    /// What a plan depends on besides its key. The program is part of it: the figures of another build are not taken for
    /// those of this one.
    pub(super) fn version(&self) -> Result<String, LabError> {
        Ok(format!(
            "build {:016x}; journal 1; seed {}; {} processors; {} searches; {} at once",
            build()?,
            self.instances.seed,
            self.instances.processors,
            self.searches,
            self.at_once
        ))
    }

    pub(super) fn check(&self) -> Result<(), LabError> {
        let refuse = |name, value: String, expected| Err(LabError::Option { name, value, expected });
        self.instances.check()?;
        if self.limits.is_empty() || self.limits.iter().collect::<BTreeSet<_>>().len() < self.limits.len() {
            let given: Vec<String> = self.limits.iter().map(ToString::to_string).collect();
            return refuse("limits", format!("`{}`", given.join(",")), "give at least one, and each only once");
        }
        if self.searches == 0 {
            return refuse("searches", "0".into(), "it must be at least 1");
        }
        if self.at_once == 0 {
            return refuse("at once", "0".into(), "it must be at least 1");
        }
        Ok(())
    }
}
