//! Plans of the waiting tasks.

use makespan_core::{Area, Instance, Placement, Time, View};

use crate::plan::{Context, Scheduler};

/// Returns a scheduler's plan of all waiting tasks. The plan has the task ids of the view's instance. Returns `None`
/// if the scheduler cannot plan these tasks, or if the plan has no placements.
///
/// A scheduler may plan differently if the instance has a future unavailable period, even a period after the end of the
/// plan. So periods that begin after the end of the plan must be hidden from the scheduler. The first plan uses the
/// periods that begin before a lower bound on the end of the waiting tasks. Each further plan uses the periods that
/// begin before the end of the previous plan. The first plan that ends before every hidden period begins is returned.
/// Usually this is the first or the second plan.
pub(super) fn plan_ahead(scheduler: &dyn Scheduler, seed: u64, view: &View<'_>) -> Option<Vec<Placement>> {
    let periods = view.instance.unavailable().iter().filter(|period| period.end > view.now);
    let begins: Vec<Time> = periods.map(|period| period.start).collect();
    let mut horizon = view.now + least_time(view).max(Time::TICK);
    loop {
        let residual = view.instance.residual_before(view, horizon);
        // The scheduler supports the remaining tasks, because it supports the whole instance. (The policy is created
        // only for such instances.)
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

/// Returns a lower bound on the time in which all processors together can complete the waiting tasks.
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
