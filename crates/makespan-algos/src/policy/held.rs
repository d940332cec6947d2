//! What is held now and until when, by counts: for platforms where any free processors serve.

use std::collections::BTreeSet;

use makespan_core::{Instance, JobId, Time, View};

use super::strips::Strips;

/// The processors that running jobs and failures hold, until they are believed to end. It is kept from event to event,
/// so that an event costs no more than what it changes.
///
/// A job is believed to end by its estimate. When it runs longer, it is believed to take a quarter longer than it has
/// taken when that is noticed ([`makespan_core::Running::expected_end`]), and so on.
#[derive(Debug)]
pub(super) struct Held {
    /// Free processors from now on; what is past is of no interest.
    pub timeline: Strips,
    /// When what is held is believed to end.
    ends: BTreeSet<(Time, Holder)>,
    running: Vec<Option<Hold>>,
    /// What failures hold.
    down: Vec<Hold>,
    count: usize,
    started: u64,
    /// From when to when processors were given back by jobs that ended early, since this was last taken.
    opened: Option<(Time, Time)>,
}

/// The smallest period that holds two.
pub(super) fn hull(a: Option<(Time, Time)>, b: (Time, Time)) -> (Time, Time) {
    a.map_or(b, |a| (a.0.min(b.0), a.1.max(b.1)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Job(JobId),
    Failure(usize),
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    width: u32,
    start: Time,
    end: Time,
    /// How many were started before.
    order: u64,
}

/// Far enough away for what ends at no known time; twice as much can be counted.
const NEVER: Time = Time::from_ticks(i64::MAX / 2);

impl Held {
    /// What the view shows.
    pub(super) fn of(view: &View<'_>) -> Self {
        let mut held = Self {
            timeline: Strips::constant(view.instance.processors()),
            ends: BTreeSet::new(),
            running: vec![None; view.instance.jobs().len()],
            down: Vec::new(),
            count: 0,
            started: 0,
            opened: None,
        };
        let mut running: Vec<_> = view.running.iter().collect();
        running.sort_unstable_by_key(|running| (running.start, running.job));
        for running in running {
            let end = running.expected_end(view.instance, view.now);
            held.begin(running.job, running.processors.len(), (running.start, end));
        }
        for (index, failure) in view.down.iter().enumerate() {
            let end = failure.end.max(view.now + Time::TICK).min(NEVER);
            let hold = Hold { width: failure.processors.len(), start: failure.start, end, order: 0 };
            held.down.push(hold);
            held.hold(Holder::Failure(index), hold);
        }
        held
    }

    /// Whether it has as many running jobs as the view.
    pub(super) fn agrees(&self, view: &View<'_>) -> bool {
        self.count == view.running.len() && self.down.len() == view.down.len()
    }

    /// How many jobs run.
    pub(super) fn running(&self) -> usize {
        self.count
    }

    /// A job runs.
    pub(super) fn begin(&mut self, job: JobId, width: u32, (start, end): (Time, Time)) {
        self.started += 1;
        let hold = Hold { width, start, end, order: self.started };
        self.running[job.index()] = Some(hold);
        self.count += 1;
        self.hold(Holder::Job(job), hold);
    }

    /// A job runs no more; when it was believed to end.
    pub(super) fn end(&mut self, job: JobId, now: Time) -> Option<Time> {
        let hold = self.running[job.index()].take()?;
        self.count -= 1;
        if hold.end > now {
            self.opened = Some(hull(self.opened, (now, hold.end)));
        }
        self.let_go(Holder::Job(job), hold);
        Some(hold.end)
    }

    /// In which period jobs that ended early gave processors back since this was last asked.
    pub(super) fn take_opened(&mut self) -> Option<(Time, Time)> {
        self.opened.take()
    }

    /// How many were started before a job that runs.
    pub(super) fn order(&self, job: JobId) -> Option<u64> {
        self.running[job.index()].map(|hold| hold.order)
    }

    /// Free processors now.
    pub(super) fn free(&self, now: Time) -> u32 {
        self.timeline.free_at(now)
    }

    /// Believes that what should have ended by now, and has not, takes longer: all but the jobs in `ending`, which is
    /// sorted. Whether there was any.
    pub(super) fn extend(&mut self, now: Time, ending: &[JobId]) -> bool {
        self.timeline.forget(now);
        let mut late = Vec::new();
        for &(_, holder) in self.ends.range(..=(now, Holder::Failure(usize::MAX))) {
            if !matches!(holder, Holder::Job(job) if ending.binary_search(&job).is_ok()) {
                late.push(holder);
            }
        }
        for &holder in &late {
            let Some(mut hold) = self.get(holder) else { continue };
            self.let_go(holder, hold);
            let elapsed = now.saturating_since(hold.start);
            hold.end = now + Time::from_ticks((elapsed.ticks() / 4).max(1));
            match holder {
                Holder::Job(job) => self.running[job.index()] = Some(hold),
                Holder::Failure(index) => self.down[index] = hold,
            }
            self.hold(holder, hold);
        }
        !late.is_empty()
    }

    fn get(&self, holder: Holder) -> Option<Hold> {
        match holder {
            Holder::Job(job) => self.running[job.index()],
            Holder::Failure(index) => self.down.get(index).copied(),
        }
    }

    fn hold(&mut self, holder: Holder, hold: Hold) {
        self.ends.insert((hold.end, holder));
        self.timeline.hold(hold.width, hold.start, hold.end);
    }

    fn let_go(&mut self, holder: Holder, hold: Hold) {
        self.ends.remove(&(hold.end, holder));
        self.timeline.release(hold.width, hold.start, hold.end);
    }
}

/// Whether counts describe the platform: processors are equal, never closed, and any of them serve.
pub(super) fn counts_suffice(instance: &Instance) -> bool {
    let platform = instance.platform();
    let equal = equal_speeds(instance) && !instance.has_machine_times();
    equal && !platform.restricts_placement() && instance.availability().is_always_open()
}

/// Whether all processors are equally fast, whatever network is between them.
pub(super) fn equal_speeds(instance: &Instance) -> bool {
    let mut speeds = instance.platform().nodes().iter().filter(|node| node.processors > 0).map(|node| node.speed);
    let first = speeds.next().unwrap_or(1.0);
    speeds.all(|speed| (speed - first).abs() < f64::EPSILON)
}
