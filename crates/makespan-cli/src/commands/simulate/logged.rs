//! The recorded schedule of a log, for comparison with the policies.

use makespan::{Simulated, Simulation};
use makespan_core::{Measures, Outcome, ProcSet, Run, Trace};

use super::log::Log;

/// Heading of the column with the recorded schedule.
pub const AS_LOGGED: &str = "AS LOGGED";

/// Returns the recorded schedule of a log. Returns `None` if the log states no starts or has compound jobs.
pub fn as_logged(log: &Log) -> Option<Simulated> {
    let Log { instance, actual, past, .. } = log;
    if past.starts.len() != instance.tasks() as usize || instance.has_compound_jobs() {
        return None;
    }
    let started = instance.task_ids().zip(&past.starts);
    let run = |(task, start): (_, &Option<_>)| {
        // Any processors may be used, because the measures depend only on their number.
        let processors = ProcSet::first(instance.profile(task).min_processors());
        let start = (*start)?;
        let end = start + actual.time(instance, task, &processors);
        Some(Run { task, start, end, processors, outcome: Outcome::Succeeded, accounting: None })
    };
    let mut runs: Vec<Run> = started.filter_map(run).collect();
    runs.sort_by_key(|run| (run.end, run.task));
    let trace = Trace { runs };
    let measures = Measures::of(instance, &trace);
    let (cancelled, down) = (Vec::new(), Vec::new());
    let simulation = Simulation { trace, cancelled, down, events: 0, instants: 0, restated: 0 };
    let policy = AS_LOGGED.to_owned();
    Some(Simulated { policy, simulation, measures, task_flow: None, compound: None, log: Vec::new() })
}
