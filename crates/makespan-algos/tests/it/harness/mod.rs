//! The shared parts of the tests of the catalogue.

pub mod bounds;
pub mod draft;
pub mod extremes;
pub mod functions;
pub mod optimum;
pub mod solved;

use makespan_algos::{Context, Scheduler};
use makespan_algos::{catalogue, scheduler};
use makespan_core::{Instance, Schedule};

/// Returns every representative of every entry that places tasks. An entry that is added to the catalogue is tested
/// without further work. Schedulers of rates are tested in `trees`.
pub fn representatives() -> Vec<Box<dyn Scheduler>> {
    let placing = catalogue().iter().filter(|entry| entry.name != "steady-state");
    let specs = placing.flat_map(|entry| {
        assert!(!entry.kind.representatives.is_empty(), "{} has no representative, so nothing tests it", entry.name);
        entry.kind.representatives
    });
    specs.map(|spec| scheduler(spec).unwrap_or_else(|error| panic!("{spec}: {error}"))).collect()
}

/// Returns the plan and the remarks.
pub fn plan(scheduler: &dyn Scheduler, instance: &Instance, seed: u64) -> (Schedule, Vec<String>) {
    let mut context = Context { seed, ..Context::default() };
    let plan = scheduler.schedule(instance, &mut context);
    let plan = plan.unwrap_or_else(|error| panic!("{} supports the instance, but: {error}", scheduler.name()));
    (plan.into_schedule().unwrap(), context.remarks)
}
