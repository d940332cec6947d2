//! The batch rule: applies a method for tasks without release dates to tasks with release dates.

use makespan_core::{Instance, Schedule, ScheduleBuilder, TaskId, Time};

/// Plans tasks with release dates in batches. An offline method plans each batch. A batch contains all tasks that are
/// released by its start. Tasks that arrive during a batch wait for the next batch.
///
/// `plan` receives the tasks of a batch and the start of the batch. `plan` places these tasks, none before this start,
/// and returns the end of the last task.
///
/// If the offline method guarantees a ratio rho for the makespan, the batches guarantee 2 rho (Shmoys, Wein,
/// Williamson, SIAM J. Comput. 24(6), 1995, DOI 10.1137/S0097539793248317). If the guarantee of the offline method
/// also has an additive constant, the guarantee of the batches contains twice this constant.
pub fn by_batches(
    instance: &Instance,
    mut plan: impl FnMut(&mut ScheduleBuilder<'_>, &[TaskId], Time) -> Time,
) -> Schedule {
    let mut builder = ScheduleBuilder::new(instance);
    each_batch(instance, |batch, now| plan(&mut builder, batch, now));
    builder.finish()
}

/// Calls `plan` for each batch of [`by_batches`]. `plan` must store the placements.
pub fn each_batch(instance: &Instance, mut plan: impl FnMut(&[TaskId], Time) -> Time) {
    let mut arrivals: Vec<TaskId> = instance.task_ids().collect();
    arrivals.sort_by_key(|&id| (instance.release(id), id));
    let mut rest = arrivals.as_slice();
    let mut now = Time::ZERO;
    while let Some(&next) = rest.first() {
        now = now.max(instance.release(next));
        let (batch, later) = rest.split_at(rest.partition_point(|&id| instance.release(id) <= now));
        // Sort the tasks, so that the plan does not depend on the order of their arrival.
        let mut batch = batch.to_vec();
        batch.sort_unstable();
        now = plan(&batch, now);
        rest = later;
    }
}
