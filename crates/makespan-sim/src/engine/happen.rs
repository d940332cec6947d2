//! Handling of the events of an instant, before the policy is called.

use makespan_core::{Event, Outcome, ProcSet, Run, Running, TaskId, Time, Unavailable};

use super::{Engine, NEVER};

/// The exit status of a task that was killed by signal 9. Shells report a signal as 128 plus its number.
const KILLED: i32 = 137;

impl Engine<'_> {
    /// Handles all events of one instant in order, and collects them for the policy.
    pub(super) fn happen(&mut self, now: Time) {
        while let Some((at, task, timed_out)) = self.agenda.end(now) {
            self.end(at, task, timed_out);
        }
        let closing = self.cluster.advance(now);
        let failing = self.fail_and_repair(now);
        if closing || failing {
            self.interrupt();
        }
        while let Some(job) = self.agenda.release(self.instance, now) {
            let released = self.instance.job(job).task_ids().filter(|&task| self.cluster.submit(task));
            self.events.extend(released.map(Event::Submitted));
        }
        if self.agenda.wake.is_some_and(|wake| wake <= now) {
            self.events.push(Event::Wake);
        }
        self.events.sort_unstable_by_key(Event::order);
        self.events.dedup();
    }

    /// Ends a task. Has no effect if this run of the task was interrupted before its planned end.
    fn end(&mut self, at: Time, task: TaskId, timed_out: bool) {
        if self.ends[task.index()] != (at, timed_out) {
            return;
        }
        self.ends[task.index()] = NEVER;
        let Some(running) = self.cluster.end(task) else { return };
        let outcome = if timed_out { Outcome::TimedOut } else { Outcome::Succeeded };
        self.record(running, at, outcome);
    }

    /// Handles processors that go down or up. Returns true if at least one failure begins. If all processors of a
    /// failure are already down, the failure is not reported to the policy.
    fn fail_and_repair(&mut self, now: Time) -> bool {
        let mut failing = false;
        while let Some(turn) = self.agenda.turn(now) {
            let changed = if turn.down {
                failing = true;
                self.broken.insert(turn.outage.0, self.down.len());
                let processors = turn.processors.clone();
                self.down.push(Unavailable { processors, start: now, end: Time::MAX });
                self.cluster.fail(turn.outage, &turn.processors, turn.expected_up)
            } else {
                if let Some(at) = self.broken.remove(&turn.outage.0) {
                    self.down[at].end = now;
                }
                self.cluster.repair(turn.outage)
            };
            self.tell_nodes(&changed, if turn.down { Event::NodeDown } else { Event::NodeUp });
        }
        failing
    }

    fn tell_nodes(&mut self, processors: &ProcSet, event: fn(usize) -> Event) {
        let platform = self.instance.platform();
        for &(first, last) in processors.intervals() {
            let nodes = platform.node_of(first)..=platform.node_of(last);
            self.events.extend(nodes.filter(|&node| platform.nodes()[node].processors > 0).map(event));
        }
    }

    /// Interrupts the tasks on processors that are now unavailable.
    fn interrupt(&mut self) {
        let blocked = self.cluster.blocked();
        let on_blocked = self.cluster.running().iter().filter(|running| !running.processors.is_disjoint(blocked));
        let mut lost: Vec<TaskId> = on_blocked.map(|running| running.task).collect();
        lost.sort_unstable();
        self.cluster.extend_by_gangs(&mut lost);
        for task in lost {
            self.ends[task.index()] = NEVER;
            let Some(running) = self.cluster.end(task) else { continue };
            let interruptions = &mut self.interruptions[task.index()];
            *interruptions += 1;
            let again = *interruptions <= self.options.requeues;
            if again {
                self.cluster.submit(task);
            }
            self.record(
                running,
                self.now(),
                if again { Outcome::Interrupted } else { Outcome::Failed { status: KILLED } },
            );
        }
    }

    /// Records the end of a run.
    fn record(&mut self, running: Running, end: Time, outcome: Outcome) {
        let Running { task, start, processors } = running;
        self.events.push(match outcome {
            Outcome::Succeeded => Event::Finished(task),
            Outcome::Interrupted => Event::Interrupted(task),
            Outcome::Failed { .. } | Outcome::TimedOut | Outcome::NotStarted => Event::Failed(task),
        });
        self.left -= usize::from(outcome != Outcome::Interrupted);
        if outcome == Outcome::Succeeded {
            let ready = self.cluster.succeed(task, end, &processors);
            self.events.extend(ready.into_iter().map(Event::Submitted));
        }
        let run = Run { task, start, end, processors, outcome, accounting: None };
        if outcome == Outcome::Succeeded {
            self.learn(&run);
        }
        self.runs.push(run);
        if matches!(outcome, Outcome::Failed { .. } | Outcome::TimedOut) {
            self.abandon(task, end);
        }
    }

    /// Passes a successful run to the estimator, and replaces the estimates for which the estimator returns new times.
    fn learn(&mut self, run: &Run) {
        let Some(estimator) = &mut self.estimator else { return };
        let restated = estimator.ended(self.cluster.instance(), run);
        let told = self.cluster.restate(restated);
        self.restated += told.len() as u64;
        self.events.extend(told);
    }

    /// Marks as not started all tasks that wait for an unsuccessful task. These tasks never start.
    pub(super) fn abandon(&mut self, task: TaskId, at: Time) {
        for task in self.cluster.abandon(task) {
            self.record(Running { task, start: at, processors: ProcSet::new() }, at, Outcome::NotStarted);
        }
    }
}
