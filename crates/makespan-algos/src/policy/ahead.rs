//! Plans of what waits.

use makespan_core::{Area, Context, Instance, Placement, Scheduler, Time, View};

/// A scheduler's plan of all that waits, in the ids of the view's instance; `None` if it cannot, or plans no
/// placements.
///
/// A scheduler may plan otherwise where a period is to come, even after the end of its plan. So a period that the plan does
/// not reach is not told to it: plans are made with the periods that begin before the least time that what waits can take,
/// then before the end of the plan before, until one ends before all others begin. That is mostly the first or the second.
pub(super) fn plan_ahead(scheduler: &dyn Scheduler, seed: u64, view: &View<'_>) -> Option<Vec<Placement>> {
    let periods = view.instance.unavailable().iter().filter(|period| period.end > view.now);
    let begins: Vec<Time> = periods.map(|period| period.start).collect();
    let mut horizon = view.now + least_time(view).max(Time::TICK);
    loop {
        let residual = view.instance.residual_before(view, horizon);
        // What is supported as a whole is supported in part: the policy is made for an instance that is.
        let plan = scheduler.schedule(&residual.instance, &mut Context::with_seed(seed)).ok()?.into_schedule()?;
        let end = plan.placements().iter().map(|placement| placement.end).max().unwrap_or(view.now);
        let untold = begins.iter().copied().filter(|&begin| begin >= horizon).min();
        if untold.is_none_or(|begin| end <= begin) {
            let original =
                |placement: &Placement| Placement { task: residual.tasks[placement.task.index()], ..placement.clone() };
            return Some(plan.placements().iter().map(original).collect());
        }
        horizon = end;
    }
}

/// Less than what waits takes on all processors.
fn least_time(view: &View<'_>) -> Time {
    let instance: &Instance = view.instance;
    let own_times = |task| instance.profile(task).machine_times().is_some();
    if !instance.platform().has_unit_speed() || view.waiting.iter().any(own_times) {
        return Time::TICK;
    }
    let work = view.waiting.iter().filter_map(|task| instance.profile(task).least_work(Time::MAX));
    let time = work.fold(0, Area::saturating_add) / Area::from(instance.processors());
    Time::from_ticks(i64::try_from(time).unwrap_or(i64::MAX))
}
