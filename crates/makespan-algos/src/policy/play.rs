//! Simulates the future of a policy, beginning with the state of a view. The caller states the run times of the tasks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{
    Decision, EndedTasks, Event, Instance, Placement, Policy, ProcSet, Running, TaskId, TaskSet, Time, Unavailable,
    View,
};
use rustc_hash::FxHashMap;

/// A simulated future of a policy, without failures.
pub(super) struct PolicySimulation<'a> {
    instance: &'a Instance,
    now: Time,
    waiting: TaskSet,
    running: Vec<Running>,
    down: Vec<Unavailable>,
    /// Processors that no task and no failure holds.
    idle: ProcSet,
    ends: BinaryHeap<Reverse<(Time, TaskId)>>,
    /// The maximum run times that the policy has set for tasks ([`Decision::Limit`]).
    granted: FxHashMap<TaskId, Time>,
    /// The tasks that will arrive, the next arrival last.
    arrivals: Vec<TaskId>,
    /// The placements of the started tasks, in the order of their starts.
    pub started: Vec<Placement>,
}

impl<'a> PolicySimulation<'a> {
    /// Returns a simulation that begins with the waiting and running tasks of the view. Running tasks end as expected.
    pub(super) fn from(instance: &'a Instance, view: &View<'_>) -> Self {
        let held = view.running.iter().map(|running| &running.processors);
        let held = held.chain(view.down.iter().map(|failure| &failure.processors));
        let held = held.flat_map(|processors| processors.intervals().iter().copied()).collect();
        let ends = view.running.iter().map(|running| Reverse((running.expected_end(instance, view.now), running.task)));
        Self {
            instance,
            now: view.now,
            waiting: view.waiting.clone(),
            running: view.running.to_vec(),
            down: view.down.to_vec(),
            idle: ProcSet::first(instance.processors()).difference(&ProcSet::from_intervals(held)),
            ends: ends.collect(),
            granted: FxHashMap::default(),
            arrivals: Vec::new(),
            started: Vec::new(),
        }
    }

    /// Calls the policy at every instant with an event, until there are no more events or `most` instants have been
    /// simulated.
    pub(super) fn run(&mut self, policy: &mut dyn Policy, time: &dyn Fn(TaskId, &ProcSet) -> Time, most: usize) {
        let events = self.waiting.iter().map(Event::Submitted).collect();
        self.rounds(policy, time, most, events);
    }

    /// Continues the simulation with a policy that has already decided at this instant. The policy has requested a
    /// wake-up at `wake`.
    pub(super) fn go_on(
        &mut self,
        policy: &mut dyn Policy,
        time: &dyn Fn(TaskId, &ProcSet) -> Time,
        most: usize,
        wake: Option<Time>,
    ) {
        let mut events = Vec::new();
        if self.advance(wake, &mut events) {
            self.rounds(policy, time, most, events);
        }
    }

    fn rounds(
        &mut self,
        policy: &mut dyn Policy,
        time: &dyn Fn(TaskId, &ProcSet) -> Time,
        most: usize,
        mut events: Vec<Event>,
    ) {
        let mut decisions = Vec::new();
        for _ in 0..most {
            let free = self.free();
            let Self { now, instance, .. } = *self;
            let (waiting, running, down, ended) = (&self.waiting, &self.running, &self.down, EndedTasks::default());
            let view = View { now, instance, waiting, running, free: &free, down, ended };
            policy.on(&events, &view, &mut decisions);
            let mut wake = None;
            for decision in decisions.drain(..) {
                match decision {
                    Decision::Start { task, processors } => self.start(task, processors, time),
                    Decision::Limit { task, time } => _ = self.granted.insert(task, time),
                    Decision::WakeAt(at) => wake = wake.into_iter().chain([at]).min(),
                    Decision::Cancel(task) => _ = self.waiting.remove(task),
                }
            }
            if !self.advance(wake, &mut events) {
                break;
            }
        }
    }

    /// Returns the processors that are neither held nor unavailable.
    fn free(&self) -> ProcSet {
        let now = self.now;
        let open = self.instance.unavailable().iter().filter(|period| period.start <= now && now < period.end);
        let closed: Vec<(u32, u32)> = open.flat_map(|period| period.processors.intervals().iter().copied()).collect();
        if closed.is_empty() { self.idle.clone() } else { self.idle.difference(&ProcSet::from_intervals(closed)) }
    }

    fn start(&mut self, task: TaskId, processors: ProcSet, time: &dyn Fn(TaskId, &ProcSet) -> Time) {
        let waited = self.waiting.remove(task);
        debug_assert!(
            waited && processors.is_subset(&self.free()),
            "a policy starts only waiting tasks, and only on free processors"
        );
        let whole = time(task, &processors);
        let lasts = self.granted.remove(&task).map_or(whole, |granted| whole.min(granted));
        let (start, end) = (self.now, self.now + lasts);
        self.idle = self.idle.difference(&processors);
        self.ends.push(Reverse((end, task)));
        self.started.push(Placement { task, start, end, processors: processors.clone() });
        self.running.push(Running { task, start, processors });
    }

    /// Advances to the next instant with an event, and collects the events of this instant. Returns `false` if there is
    /// no such instant.
    fn advance(&mut self, wake: Option<Time>, events: &mut Vec<Event>) -> bool {
        events.clear();
        let end = self.ends.peek().map(|Reverse((end, _))| *end);
        let arrival = self.arrivals.last().map(|&task| self.instance.release(task));
        let up = self.down.iter().map(|failure| failure.end).filter(|&end| end < Time::MAX).min();
        let next = [end, arrival, up.map(|up| up.max(self.now + Time::TICK)), wake].into_iter().flatten().min();
        let Some(now) = next else { return false };
        self.now = now;
        while let Some(&Reverse((end, task))) = self.ends.peek()
            && end <= now
        {
            self.ends.pop();
            if let Some(at) = self.running.iter().position(|running| running.task == task) {
                self.idle = self.idle.union(&self.running.swap_remove(at).processors);
            }
            events.push(Event::Finished(task));
        }
        let platform = self.instance.platform();
        let (up, down): (Vec<_>, Vec<_>) = self.down.drain(..).partition(|failure| failure.end <= now);
        self.down = down;
        for failure in up {
            // A processor stays down while another failure also keeps it down.
            let mut up = failure.processors.clone();
            self.down.iter().for_each(|other| up.remove(&other.processors));
            self.idle = self.idle.union(&up);
            events.extend(failure.processors.last().map(|last| Event::NodeUp(platform.node_of(last))));
        }
        while let Some(task) = self.arrivals.pop_if(|task| self.instance.release(*task) <= now) {
            self.waiting.insert(task);
            events.push(Event::Submitted(task));
        }
        if wake == Some(now) {
            events.push(Event::Wake);
        }
        events.sort_unstable_by_key(Event::order);
        true
    }
}

#[cfg(test)]
impl<'a> PolicySimulation<'a> {
    /// Returns a simulation of a whole instance. The simulation begins before the first release.
    pub(super) fn all(instance: &'a Instance) -> Self {
        let (waiting, free) = (TaskSet::new(), ProcSet::first(instance.processors()));
        let (now, ended) = (Time::ZERO, EndedTasks::default());
        let view = View { now, instance, waiting: &waiting, running: &[], free: &free, down: &[], ended };
        let mut play = Self::from(instance, &view);
        play.arrivals = instance.task_ids().collect();
        play.arrivals.sort_by_key(|&task| Reverse((instance.release(task), task)));
        play
    }

    /// Returns the placements of all tasks of an instance under a policy, in the order of their starts.
    pub(super) fn starts(
        instance: &'a Instance,
        policy: &mut dyn Policy,
        time: &dyn Fn(TaskId, &ProcSet) -> Time,
    ) -> Vec<Placement> {
        let mut play = Self::all(instance);
        play.run(policy, time, 1_000_000);
        play.started
    }
}

/// Returns narrow tasks, and the task [`WIDE`], which needs all eight processors. The narrow tasks arrive very often.
/// If every plan starts the task that is best at the moment, the eight processors are never free at the same time.
#[cfg(test)]
pub(super) fn a_wide_job_among_narrow_ones() -> Instance {
    use makespan_core::{Job, Platform, Profile};
    let seconds = Time::from_seconds;
    let narrow = |index: i64| {
        let job = Job::new(index.to_string(), Profile::rigid(2, seconds(20)).unwrap());
        job.with_release(seconds(5 * index))
    };
    let wide = Job::new("wide", Profile::rigid(8, seconds(10)).unwrap()).with_release(seconds(22));
    let jobs = (0..100).map(narrow).chain([wide]).collect();
    Instance::new(Platform::flat(8).unwrap(), jobs, vec![]).unwrap()
}

/// The wide task.
#[cfg(test)]
pub(super) const WIDE: TaskId = TaskId(100);
