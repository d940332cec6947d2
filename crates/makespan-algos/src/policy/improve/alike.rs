//! Tasks that are alike. No order of such tasks is better than another.

use makespan_core::{Decision, Event, Instance, TaskId, View};

use super::super::held::interchangeable;
use super::is_tied;

/// Returns whether the tasks are alike, so that no order of the tasks is better than another. Each task must have only
/// one allotment. All tasks must have the same estimated time, the same width and the same weight. They must have no
/// deadlines, depend on no other tasks and need no resources. Best-effort tasks are not alike.
pub(super) fn are_alike(instance: &Instance, tasks: impl IntoIterator<Item = TaskId>) -> bool {
    if !interchangeable(instance) {
        return false;
    }
    let mut tasks = tasks.into_iter();
    let Some(first) = tasks.next() else { return true };
    let (profile, weight) = (instance.profile(first), instance.job_of(first).weight);
    let is_alike = |task: TaskId| {
        let job = instance.job_of(task);
        let own = instance.profile(task);
        job.weight == weight && job.deadline.is_none() && !is_tied(instance, task) && (own == profile)
    };
    let is_rigid = profile.min_processors() == profile.max_processors() && !instance.job_of(first).is_best_effort();
    is_rigid && is_alike(first) && tasks.all(is_alike)
}

/// Returns whether an unavailable period can delay the waiting tasks, which are alike. Suppose that the waiting tasks
/// run one after another, after all running tasks have ended. A period can delay the waiting tasks if it begins before
/// the end of this sequence.
fn meets_period(view: &View<'_>) -> bool {
    let View { instance, waiting, now, .. } = *view;
    let ahead = instance.unavailable().iter().filter(|period| period.end > now);
    let (Some(first), Some(begin)) = (waiting.first(), ahead.map(|period| period.start).min()) else { return false };
    let profile = instance.profile(first);
    let each = profile.time(profile.min_processors());
    let free = view.running.iter().map(|running| running.expected_end(instance, now)).max();
    let total = each.ticks().saturating_mul(i64::try_from(waiting.len()).unwrap_or(i64::MAX));
    free.map_or(now, |free| free.max(now)).ticks().saturating_add(total) > begin.ticks()
}

/// The state of a policy that makes no plan while all tasks are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AlikeState {
    /// No event has occurred.
    #[default]
    Unknown,
    /// All tasks so far are alike. The value is one of these tasks.
    Yes(TaskId),
    /// Tasks differ, or an unavailable period can delay tasks.
    No,
}

impl AlikeState {
    /// Returns whether all waiting tasks are alike and no unavailable period can delay them. Once this function has
    /// returned false, it always returns false.
    pub fn remains(&mut self, events: &[Event], view: &View<'_>) -> bool {
        let View { instance, waiting, .. } = *view;
        let Some(first) = waiting.first() else { return *self != Self::No };
        let new = |event: &Event| match *event {
            Event::Submitted(task) | Event::Interrupted(task) => Some(task),
            _ => None,
        };
        let restated = || events.iter().any(|event| matches!(event, Event::Estimated(_)));
        let remains = match *self {
            Self::No => false,
            Self::Yes(one) if !restated() => {
                let new = events.iter().filter_map(new).filter(|&task| instance.has_task(task));
                are_alike(instance, std::iter::once(one).chain(new))
            }
            // Compare all waiting tasks, because the times of tasks may have changed.
            Self::Unknown | Self::Yes(_) => are_alike(instance, waiting.iter()),
        };
        let remains = remains && !meets_period(view);
        *self = if remains { Self::Yes(first) } else { Self::No };
        remains
    }

    /// Starts waiting tasks in their order until too few processors are free for the next task.
    pub fn start(view: &View<'_>, decisions: &mut Vec<Decision>) {
        let mut free = view.free.clone();
        let mut next = view.waiting.first();
        while let Some(task) = next
            && let Some(processors) = free.take(view.instance.profile(task).min_processors())
        {
            decisions.push(Decision::Start { task, processors });
            next = view.waiting.next(TaskId(task.0 + 1));
        }
    }
}
