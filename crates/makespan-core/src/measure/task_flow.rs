//! Measures of a flow of independent tasks on machines that differ in speed.

mod phases;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use phases::{Phase, PhaseStep, Phases};

use crate::model::{Instance, Time};
use crate::online::{Outcome, Trace};

/// Measures of a flow of sequential tasks, in addition to [`crate::Measures`]. The measures are floats for display and
/// statistics. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskFlowMeasures {
    /// End of the last task.
    pub makespan: f64,
    /// A lower bound on the makespan that any policy can reach with the real times.
    pub bound: f64,
    /// Mean over all processors of the fraction of time, from 0 to the makespan, in which a processor runs a task. A
    /// policy that prefers fast processors gets a lower value. The definition is from the source of [`Phase`].
    pub utilisation: f64,
    /// Like `utilisation`, but each processor is weighted by its speed.
    pub utilisation_by_speed: f64,
    /// Number of tasks that ended, divided by the time from the first release to the makespan, in tasks per second.
    pub throughput: f64,
    /// The phases of the system over time.
    pub phases: Phases,
}

impl TaskFlowMeasures {
    /// Returns true if an instance is a flow. A flow consists of independent sequential tasks with several release
    /// dates. Its machines differ in speed.
    pub fn suits(instance: &Instance) -> bool {
        instance.is_sequential()
            && instance.has_release_dates()
            && (!instance.platform().has_unit_speed() || instance.has_machine_times())
    }

    /// Computes the measures of a trace of a sequential instance. The use of processors includes interrupted runs.
    /// `bound` is a lower bound on the makespan for the real run times. If the real run times equal the estimates,
    /// `makespan_bounds::release_area_bound` computes this bound.
    pub fn of(instance: &Instance, trace: &Trace, bound: Time) -> Self {
        let platform = instance.platform();
        let started = || trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted);
        let ended = started().filter(|run| run.outcome != Outcome::Interrupted).count();
        let makespan = started().map(|run| run.end).max().unwrap_or(Time::ZERO);
        let mut busy = vec![0_i64; platform.processors() as usize];
        for run in started() {
            run.processors.iter().for_each(|id| busy[id as usize] += (run.end - run.start).ticks());
        }
        let speed = |id: usize| platform.nodes()[platform.node_of(id as u32)].speed;
        let (mut plain, mut fast, mut speeds) = (0.0, 0.0, 0.0);
        for (id, &busy) in busy.iter().enumerate() {
            let part = if makespan > Time::ZERO { busy as f64 / makespan.ticks() as f64 } else { 0.0 };
            (plain, fast, speeds) = (plain + part, part.mul_add(speed(id), fast), speeds + speed(id));
        }
        let span = makespan.saturating_since(instance.first_release()).seconds();
        Self {
            makespan: makespan.seconds(),
            bound: bound.seconds(),
            utilisation: plain / busy.len() as f64,
            utilisation_by_speed: fast / speeds,
            throughput: if span > 0.0 { ended as f64 / span } else { 0.0 },
            phases: Phases::of(instance, trace),
        }
    }

    /// Returns the amount by which the makespan exceeds `bound`, as a fraction of the bound.
    pub fn gap(&self) -> f64 {
        if self.bound > 0.0 { self.makespan / self.bound - 1.0 } else { 0.0 }
    }
}
