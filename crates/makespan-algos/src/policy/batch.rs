//! Batches: policies that use an offline scheduler online.

use makespan_core::{Decision, Event, Policy, TaskId, TaskSet, Time, View};

use super::ahead::plan_ahead;
use super::keeper::{Departure, PlanKeeper};
use super::order::Queues;
use crate::plan::Scheduler;

/// Whenever a batch has ended, plans all waiting tasks as the next batch. Tasks that arrive during a batch wait for the
/// next batch.
///
/// If the scheduler has the offline ratio rho for the makespan, this policy has the online ratio 2 rho: D. Shmoys, J.
/// Wein and D. Williamson, SIAM J. Comput. 24(6), 1995, DOI 10.1137/S0097539793248317. P.-F. Dutot, L. Eyraud, G.
/// Mounié and D. Trystram (SPAA 2004, DOI 10.1145/1007912.1007932) apply this rule to their scheduler. The ratio holds
/// if estimates are exact, because the tasks of a batch then start exactly as planned. If a task ends early or late,
/// the later tasks on its processors start as soon as all their processors are free, and each processor keeps the order
/// of the plan. If processors fail or return, the tasks that have not started are planned again. Complexity: one plan
/// for each batch, and a walk over the batch for each event.
///
/// ```
/// let policy = makespan_algos::policy::policy("batch[scheduler=demt[shuffles=5]]", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
pub struct Batch {
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    keeper: PlanKeeper,
    selection: Selection,
}

/// The rule that selects the tasks of a batch from the waiting tasks.
#[derive(Clone, Copy, Debug)]
enum Selection {
    /// All waiting tasks with `Queues::One`, or the waiting tasks of the highest priority with `Queues::Priority`.
    Queues(Queues),
    /// Tasks that can end within the length of the batch. The value is this length, or `None` for the shortest run time
    /// of the waiting tasks.
    Doubling(Option<Time>),
}

impl Batch {
    /// Creates a policy that plans every batch with `scheduler` and `seed`.
    pub fn new(scheduler: Box<dyn Scheduler>, seed: u64) -> Self {
        let (keeper, selection) = (PlanKeeper::new(Departure::KeepOrderThen), Selection::Queues(Queues::One));
        Self { scheduler, seed, keeper, selection }
    }

    /// Unless `queues` is `Queues::One`, restricts each batch to the waiting tasks with the highest priority.
    #[must_use]
    pub fn taking(self, queues: Queues) -> Self {
        Self { selection: Selection::Queues(queues), ..self }
    }

    /// Plans batches, each twice as long as the previous batch. When a batch has ended, the next batch is selected from
    /// the waiting tasks that can end within the length of the next batch. These tasks are considered in descending
    /// order of weight divided by work. A task is skipped if its work, plus the work of the tasks selected so far, is
    /// more than the open processors can do in the length of the batch. After the selection, the length is doubled for
    /// the following batch.
    ///
    /// The length of the first batch is the shortest run time of the waiting tasks. After a batch that contains all
    /// waiting tasks, the length is reset to the shortest run time of the tasks that then wait. If a length is shorter
    /// than the run time of every waiting task, the length is doubled until a task can end within it. If batches
    /// contained all waiting tasks, short tasks would have to wait until the longest task of a backlog has ended. With
    /// doubling lengths, short tasks do not wait for the longest task.
    ///
    /// Source: the framework of L. Hall, A. Schulz, D. Shmoys and J. Wein, Math. Oper. Res. 22(3), 1997, DOI
    /// 10.1287/moor.22.3.513, on which DEMT (SPAA 2004, DOI 10.1145/1007912.1007932) builds its selection. Deviations:
    /// tasks are selected greedily, a batch ends when its tasks have ended rather than at its length, and lengths are
    /// reset to the shortest run time. No guarantee is claimed. The tasks of a batch start in the order of the plan, as
    /// with [`Batch::new`].
    ///
    /// ```
    /// let policy = makespan_algos::policy::policy("doubling[scheduler=demt]", 1)?;
    /// # Ok::<(), makespan_algos::SpecError>(())
    /// ```
    #[must_use]
    pub fn doubling(self) -> Self {
        Self { selection: Selection::Doubling(None), ..self }
    }

    /// Plans the tasks of a batch. If the scheduler cannot plan these tasks, the plan is empty.
    fn begin(&mut self, batch: &TaskSet, view: &View<'_>) {
        let plan = plan_ahead(self.scheduler.as_ref(), self.seed, &View { waiting: batch, ..*view });
        self.keeper.begin(plan.unwrap_or_default());
    }

    /// Selects the next batch.
    fn select(&mut self, view: &View<'_>) -> TaskSet {
        let queues = match self.selection {
            Selection::Queues(queues) => queues,
            Selection::Doubling(length) => {
                let (batch, next) = within(length, view);
                self.selection = Selection::Doubling(next);
                return batch;
            }
        };
        let priority = |task: TaskId| view.instance.job_of(task).priority;
        let highest = view.waiting.iter().map(priority).max();
        let taken = |task: &TaskId| queues == Queues::One || Some(priority(*task)) == highest;
        view.waiting.iter().filter(taken).collect()
    }
}

/// Selects the tasks of a batch of length `length`. If `length` is `None`, the length is the shortest run time of the
/// waiting tasks. Returns the tasks of the batch, and the length of the following batch. If the batch contains all
/// waiting tasks, the returned length is `None`.
fn within(length: Option<Time>, view: &View<'_>) -> (TaskSet, Option<Time>) {
    let profile = |task: TaskId| view.instance.profile(task);
    let shortest = view.waiting.iter().map(|task| profile(task).shortest()).min().unwrap_or(Time::TICK);
    let mut length = length.unwrap_or(shortest);
    while length < shortest {
        length = doubled(length);
    }
    let mut admitted: Vec<(TaskId, i128)> =
        view.waiting.iter().filter_map(|task| profile(task).least_work(length).map(|work| (task, work))).collect();
    let weight = |task: TaskId| i128::from(view.instance.weight(task).millionths());
    // Sort by decreasing weight divided by work. Compare products to avoid divisions.
    admitted.sort_by(|a, b| {
        let (first, second) = (weight(b.0).saturating_mul(a.1), weight(a.0).saturating_mul(b.1));
        first.cmp(&second).then(a.0.cmp(&b.0))
    });
    let end = Time::from_ticks(view.now.ticks().saturating_add(length.ticks()));
    let availability = view.instance.availability();
    let always = availability.last_change() <= view.now;
    let room = if always { length.area(view.instance.processors()) } else { availability.open_area(view.now, end) };
    let mut used: i128 = 0;
    let fitting = admitted.iter().enumerate().filter(|&(index, &(_, work))| {
        let fits = index == 0 || used.saturating_add(work) <= room;
        used = used.saturating_add(if fits { work } else { 0 });
        fits
    });
    let batch: TaskSet = fitting.map(|(_, &(task, _))| task).collect();
    let next = (batch.len() < view.waiting.len()).then(|| doubled(length));
    (batch, next)
}

fn doubled(length: Time) -> Time {
    Time::from_ticks(length.ticks().saturating_mul(2))
}

impl Policy for Batch {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let broken = self.keeper.hear_all(events, view);
        self.keeper.remove(|task| !view.waiting.contains(task));
        self.keeper.notice_late(view.now);
        if broken && !self.keeper.is_empty() {
            let rest: TaskSet = self.keeper.upcoming().map(|placement| placement.task).collect();
            self.begin(&rest, view);
        }
        if self.keeper.has_ended() && view.running.is_empty() && !view.waiting.is_empty() {
            let batch = self.select(view);
            self.begin(&batch, view);
        }
        self.keeper.start(view, decisions);
    }
}
