//! The distribution of the load over the processors.

use crate::model::{Instance, Time};
use crate::online::{Outcome, Trace};

/// Statistics of the load of the processors. The load of a processor is the fraction of a period in which it runs a
/// task. For an empty period, `balance` is 1 and all other values are 0.
///
/// `balance` is the mean load divided by the maximum load. It is 1 if all processors are equally busy, and 1 / n if
/// one of n processors does all work. It is the load balance of C. Rosas, J. Giménez, J. Labarta, "Scalability
/// prediction for fundamental performance factors", Supercomputing Frontiers and Innovations 1(2), 2014, DOI
/// 10.14529/jsfi140201. The load measures busy time, not work: a fast and a slow processor that are busy equally long
/// have equal loads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadBalance {
    /// Mean load, which is the utilisation.
    pub mean: f64,
    /// Minimum load.
    pub least: f64,
    /// Maximum load.
    pub most: f64,
    /// Standard deviation of the load.
    pub deviation: f64,
    /// Mean load divided by maximum load; 1 if nothing ran.
    pub balance: f64,
}

impl LoadBalance {
    /// Measures the load in a period of length `span` that contains all runs. A processor is also busy during runs
    /// that were interrupted.
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
