//! How evenly processors are loaded.

use crate::model::{Instance, Time};
use crate::online::{Outcome, Trace};

/// Of the parts of a period in which each processor runs a task. All 0, but `balance`, which is 1, for an empty period.
///
/// `balance` is mean over most: 1 where all processors are equally busy, 1 / processors where one does everything. It is
/// the load balance of C. Rosas, J. Giménez, J. Labarta, "Scalability prediction for fundamental performance factors",
/// Supercomputing Frontiers and Innovations 1(2), 2014, DOI 10.14529/jsfi140201. Faster processors that do more in the same
/// time count as equally loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadBalance {
    /// The mean over processors: the utilisation.
    pub mean: f64,
    /// Of the processor that is busy for the shortest time.
    pub least: f64,
    /// Of the one that is busy for the longest.
    pub most: f64,
    /// The standard deviation over processors.
    pub deviation: f64,
    /// Mean over most; 1 where nothing ran.
    pub balance: f64,
}

impl LoadBalance {
    /// Of what ran in a period of this length, that nothing began before and nothing outlived. Interrupted runs count as busy.
    pub(super) fn of(instance: &Instance, trace: &Trace, span: Time) -> Self {
        let mut busy = vec![0_i64; instance.processors() as usize];
        for run in trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted) {
            run.processors.iter().for_each(|id| busy[id as usize] += (run.end - run.start).ticks());
        }
        let span = span.ticks();
        let part = |&busy: &i64| if span > 0 { busy as f64 / span as f64 } else { 0.0 };
        let parts: Vec<f64> = busy.iter().map(part).collect();
        let count = parts.len() as f64;
        let mean = parts.iter().sum::<f64>() / count;
        let squares = parts.iter().map(|part| (part - mean).powi(2)).sum::<f64>();
        let most = parts.iter().copied().fold(0.0, f64::max);
        Self {
            mean,
            least: parts.iter().copied().fold(f64::INFINITY, f64::min),
            most,
            deviation: (squares / count).sqrt(),
            balance: if most > 0.0 { mean / most } else { 1.0 },
        }
    }
}
