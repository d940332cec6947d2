//! The example of two jobs, served in virtual time.

use makespan_core::{Instance, Schedule};

use super::super::example::{WALLTIMES, instance};
use super::serve;
use crate::LabError;

/// The policy that collects both jobs; half a second of the walltimes passes in its buffer.
const TOGETHER: &str = "job-flow[buffer=500ms]";

/// Both ways in which the metascheduler serves the two jobs.
#[derive(Clone, Debug)]
pub struct TwoJobs {
    /// One by one, the second submitted when the walltime of the first is over.
    pub consecutive: Way,
    /// Both submitted at 0 and collected in a buffer.
    pub collective: Way,
}

/// One of the ways.
#[derive(Clone, Debug)]
pub struct Way {
    /// The two jobs.
    pub instance: Instance,
    /// What ran where.
    pub schedule: Schedule,
    /// How many of them ended within their walltimes from their release.
    pub in_time: usize,
    /// In thousandths.
    pub cost: i128,
    /// The mean load of the processors from 0 to the last end.
    pub utilisation: f64,
}

/// Simulates the example.
///
/// # Errors
/// [`LabError`] when what happened breaks a rule.
pub fn two_jobs() -> Result<TwoJobs, LabError> {
    Ok(TwoJobs { consecutive: way(WALLTIMES[0], super::ONE_BY_ONE)?, collective: way(0, TOGETHER)? })
}

fn way(second: i64, policy: &str) -> Result<Way, LabError> {
    let instance = instance(second)?;
    let (schedule, measures) = serve(&instance, policy)?;
    let flow = measures.flow;
    Ok(Way { instance, schedule, in_time: flow.in_time, cost: flow.cost, utilisation: flow.load.mean })
}

impl Way {
    /// When the last task ends; seconds.
    pub fn end(&self) -> f64 {
        self.schedule.makespan().seconds()
    }
}
