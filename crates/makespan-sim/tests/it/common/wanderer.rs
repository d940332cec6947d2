//! A policy that makes random legal decisions.

use makespan_core::{Decision, Event, Platform, Policy, ProcSet, TaskId, Time, View};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A policy that starts waiting tasks in any order, on any valid processors, and sometimes cancels a task. At each
/// call, the policy compares its view with a state that it computes from the instance.
pub struct Wanderer {
    random: ChaCha8Rng,
    cancels: bool,
}

impl Wanderer {
    pub fn new(seed: u64, cancels: bool) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed), cancels }
    }

    /// Returns free processors on which the task can start, for a random allotment, or `None` if no such processors
    /// were found.
    fn place(&mut self, task: TaskId, free: &ProcSet, view: &View<'_>) -> Option<ProcSet> {
        let profile = view.instance.profile(task);
        let most = profile.max_processors().min(free.len());
        if most < profile.min_processors() {
            return None;
        }
        let wanted = self.random.random_range(profile.min_processors()..=most);
        let processors = if view.instance.platform().is_compact() {
            compact(wanted, free, view.instance.platform(), &mut self.random)?
        } else {
            let mut ids: Vec<u32> = free.iter().collect();
            ids.shuffle(&mut self.random);
            ProcSet::from_intervals(ids[..wanted as usize].iter().map(|&id| (id, id)).collect())
        };
        let arrived = view.arrival(task, &processors).is_some_and(|arrival| arrival <= view.now);
        if !arrived || !view.instance.accepts(task, &processors) {
            return None;
        }
        let end = view.now + view.instance.time(task, &processors);
        let closing =
            view.instance.unavailable().iter().any(|period| {
                period.start < end && period.end > view.now && !period.processors.is_disjoint(&processors)
            });
        (!closing).then_some(processors)
    }
}

/// Returns processors that form a best placement: whole nodes in random order, and some processors of one more node.
fn compact(wanted: u32, free: &ProcSet, platform: &Platform, random: &mut ChaCha8Rng) -> Option<ProcSet> {
    let mut nodes: Vec<ProcSet> = (0..platform.nodes().len()).map(|node| platform.processors_of(node)).collect();
    nodes.shuffle(random);
    let mut taken = ProcSet::new();
    for node in &nodes {
        if node.is_subset(free) && node.len() <= wanted - taken.len() {
            taken.insert(node);
        }
    }
    let rest = wanted - taken.len();
    let parts = nodes.iter().map(|node| node.intersection(free).difference(&taken));
    let part = if rest == 0 { Some(ProcSet::new()) } else { parts.into_iter().find_map(|mut part| part.take(rest)) };
    part.map(|part| taken.union(&part))
}

fn check_view(events: &[Event], view: &View<'_>) {
    let View { now, instance, waiting, running, free, down, .. } = *view;
    assert!(!events.is_empty() && events.is_sorted_by_key(Event::order));
    let mut left = ProcSet::first(instance.processors());
    for run in running {
        assert!(run.processors.is_subset(&left), "two tasks on one processor");
        left = left.difference(&run.processors);
        assert!(!waiting.contains(run.task));
    }
    let closed = instance.unavailable().iter().filter(|period| period.start <= now && now < period.end);
    for period in closed.chain(down) {
        assert!(running.iter().all(|run| run.processors.is_disjoint(&period.processors)));
        left = left.difference(&period.processors);
    }
    assert_eq!(&left, free);
    assert!(waiting.iter().all(|task| instance.release(task) <= now));
    assert!(down.iter().all(|down| down.start <= now && now < down.end));
}

impl Policy for Wanderer {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        check_view(events, view);
        let mut waiting: Vec<TaskId> = view.waiting.iter().collect();
        waiting.shuffle(&mut self.random);
        let mut free = view.free.clone();
        for task in waiting {
            if self.cancels && self.random.random_bool(0.02) {
                decisions.push(Decision::Cancel(task));
            } else if self.random.random_bool(0.8)
                && let Some(processors) = self.place(task, &free, view)
            {
                free.remove(&processors);
                decisions.push(Decision::Start { task, processors });
            }
        }
        if !view.waiting.is_empty() {
            let seconds = self.random.random_range(0..20);
            decisions.push(Decision::WakeAt(view.now + Time::from_seconds(seconds)));
        }
    }
}
