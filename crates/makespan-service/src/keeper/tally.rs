//! Counts the starts and ends of jobs for the metrics.

use std::collections::BTreeMap;

use crate::store::JobEvent;
use crate::words::{Metric, MetricKind, State};

/// Upper bounds of the waits in the histogram, in seconds: from a second to a week.
const BOUNDS: [u32; 10] = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800];

/// The starts and ends of jobs since the service started.
#[derive(Debug, Default)]
pub(super) struct JobTally {
    ended: BTreeMap<State, u64>,
    /// The number of started jobs with a wait up to each bound in [`BOUNDS`].
    waits: [u64; BOUNDS.len()],
    started: u64,
    /// Sum of the waits of started jobs, in seconds.
    waited: f64,
}

impl JobTally {
    /// Adds the start or the end of a job.
    pub fn add(&mut self, event: &JobEvent) {
        if event.state.is_final() {
            *self.ended.entry(event.state).or_default() += 1;
        }
        if let Some(waited) = event.waited {
            self.started += 1;
            self.waited += waited;
            for (count, bound) in self.waits.iter_mut().zip(BOUNDS) {
                *count += u64::from(waited <= f64::from(bound));
            }
        }
    }

    /// Returns the metrics.
    pub fn metrics(&self) -> [Metric; 2] {
        let ended = State::ALL.into_iter().filter(|state| state.is_final()).map(|state| {
            let count = self.ended.get(&state).copied().unwrap_or(0);
            (vec![("state", state.name().to_owned())], count as f64)
        });
        let waits = BOUNDS.iter().zip(self.waits).map(|(bound, count)| (vec![("le", bound.to_string())], count as f64));
        let all = (vec![("le", "+Inf".to_owned())], self.started as f64);
        [
            Metric {
                name: "makespan_jobs_ended_total",
                help: "Jobs that have ended since the service started.",
                kind: MetricKind::Counter,
                values: ended.collect(),
            },
            Metric {
                name: "makespan_job_wait_seconds",
                help: "Time from the submission of a job to its first start.",
                kind: MetricKind::Histogram { sum: self.waited, count: self.started },
                values: waits.chain([all]).collect(),
            },
        ]
    }
}
