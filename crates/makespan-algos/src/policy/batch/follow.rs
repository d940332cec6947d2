//! A batch of tasks with a plan that is followed whatever the tasks really take.

use makespan_core::{Decision, Event, Left, Placement, ProcSet, Scheduler, TaskId, TaskSet, Time, View};

use crate::policy::ahead::plan_ahead;

/// The tasks of one batch and their plan.
pub(super) struct Follow {
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    /// Planned and not started, by planned start.
    upcoming: Vec<Placement>,
    /// Started and not ended, with the planned ends.
    running: Vec<(TaskId, Time)>,
    /// Whether some task ended when the plan did not say so: planned instants then mean nothing, only the order does.
    departed: bool,
    /// Whether the rest has to be planned again.
    broken: bool,
}

impl Follow {
    pub(super) fn new(scheduler: Box<dyn Scheduler>, seed: u64) -> Self {
        Self { scheduler, seed, upcoming: Vec::new(), running: Vec::new(), departed: false, broken: false }
    }

    /// Whether no task of the batch waits or runs.
    pub(super) fn has_ended(&self) -> bool {
        self.upcoming.is_empty() && self.running.is_empty()
    }

    /// Plans these waiting tasks. Nothing is done if the scheduler cannot.
    pub(super) fn begin(&mut self, batch: &TaskSet, view: &View<'_>) {
        (self.departed, self.broken) = (false, false);
        let plan = plan_ahead(self.scheduler.as_ref(), self.seed, &View { waiting: batch, ..*view });
        self.upcoming = plan.unwrap_or_default();
    }

    /// Takes in what happened; plans the rest of the batch again when processors came or went, or it takes
    /// other times than it was planned for.
    pub(super) fn hear(&mut self, events: &[Event], view: &View<'_>) {
        for event in events {
            match *event {
                Event::Finished(task) | Event::Failed(task) => {
                    if let Some(at) = self.running.iter().position(|&(running, _)| running == task) {
                        self.departed |= self.running.swap_remove(at).1 != view.now;
                    }
                }
                Event::Interrupted(task) => {
                    self.running.retain(|&(running, _)| running != task);
                    self.broken = true;
                }
                Event::NodeUp(_) | Event::NodeDown(_) => self.broken = true,
                Event::Estimated(_) | Event::Submitted(_) | Event::Wake => {}
            }
        }
        self.upcoming.retain(|placement| view.waiting.contains(placement.task));
        self.restate(&Event::estimated(events, view.instance), view);
        self.departed |= self.running.iter().any(|&(_, end)| end <= view.now);
        if self.broken && !self.upcoming.is_empty() {
            let rest: TaskSet = self.upcoming.iter().map(|placement| placement.task).collect();
            self.begin(&rest, view);
        }
        self.broken = false;
    }

    /// Takes in other times.
    fn restate(&mut self, restated: &TaskSet, view: &View<'_>) {
        if restated.is_empty() {
            return;
        }
        self.broken |= self.upcoming.iter().any(|placement| restated.contains(placement.task));
        for (task, end) in self.running.iter_mut().filter(|(task, _)| restated.contains(*task)) {
            if let Some(run) = view.running.iter().find(|run| run.task == *task) {
                *end = run.start + view.instance.time(run.task, &run.processors);
                self.broken = true;
            }
        }
    }

    /// Starts what is due where the plan has it.
    pub(super) fn start_due(&mut self, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let now = view.now;
        // What nobody holds or has a claim on by an earlier place in the plan.
        let (mut free, mut resources) = (view.free.clone(), Left::of(view));
        let mut waiting = Vec::with_capacity(self.upcoming.len());
        let mut upcoming = std::mem::take(&mut self.upcoming).into_iter();
        for placement in upcoming.by_ref() {
            let due = placement.start <= now || self.departed;
            if !due || free.is_empty() {
                waiting.push(placement);
                if !self.departed || free.is_empty() {
                    break;
                }
                continue;
            }
            let left = free.difference(&placement.processors);
            let may = placement.processors.is_subset(&free) && opens(view, &placement).is_none();
            if may && resources.take(placement.task, &placement.processors) {
                let Placement { task, processors, .. } = placement;
                self.running.push((task, now + view.instance.time(task, &processors)));
                decisions.push(Decision::Start { task, processors });
            } else {
                self.departed |= placement.start <= now;
                waiting.push(placement);
            }
            free = left;
        }
        waiting.extend(upcoming);
        self.upcoming = waiting;
        let next = self.upcoming.first().map(|placement| placement.start).filter(|&start| start > now);
        let opens = self.upcoming.iter().filter_map(|placement| opens(view, placement)).min();
        decisions.extend(next.into_iter().chain(opens.filter(|_| self.departed)).min().map(Decision::WakeAt));
    }
}

/// When the first period that keeps a placement from beginning now is over.
fn opens(view: &View<'_>, Placement { task, processors, .. }: &Placement) -> Option<Time> {
    let end = view.now + view.instance.time(*task, processors);
    let meeting = view.instance.unavailable().iter().filter(|period| period.start < end && view.now < period.end);
    meeting.filter(|period| !ProcSet::is_disjoint(&period.processors, processors)).map(|period| period.end).min()
}
