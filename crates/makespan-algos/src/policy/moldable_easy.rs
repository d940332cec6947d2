//! EASY backfilling that chooses how many processors a job gets when it starts.

use makespan_core::{Decision, Event, Instance, JobId, Policy, ProcSet, Profile, Time, View};

use super::desk::{Desk, Reading, wait_for};
use super::order::{QueueOrder, Request, time_on_equal};
use super::queue::Gap;
use super::space::{Slot, Space};
use super::strips::Strips;

/// EASY backfilling for moldable jobs: the head of the queue starts, or is reserved, at the instant and on the allotment
/// with which it would end first, by the estimates of what runs; a later job starts when some allotment that fits now
/// without delaying that reservation ends no later than it would end by waiting for more processors.
///
/// Ties go to the earlier start, then to fewer processors. Who waits for more looks at what runs and at the reservation,
/// and not at others that wait. A rigid job has one allotment, and with rigid jobs alone this is [`super::Easy`].
///
/// Source: Makespan; allotments chosen at the start as in S. Srinivasan, S. Krishnamoorthy and P. Sadayappan, "A robust
/// scheduling strategy for moldable scheduling of parallel jobs", CLUSTER 2003, with EASY's
/// one reservation. Assumptions: all processors equally fast. Guarantee: the head starts in finite time; no ratio.
/// Complexity: for each waiting job that could start, a walk over the ends of what runs.
///
/// ```
/// let policy = makespan_algos::policy::policy("moldable-easy", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
#[derive(Debug, Default)]
pub struct MoldableEasy {
    order: QueueOrder,
    desk: Option<Desk>,
}

/// What is free from some instant on.
trait Outlook {
    /// Until when a job that begins at `start` could have how many processors; later ones hold until they end.
    fn caps<'a>(&'a self, start: Time) -> Box<dyn Iterator<Item = (Time, u32)> + 'a>;
    /// When more may become free, ascending.
    fn openings(&self, after: Time) -> Vec<Time>;
}

impl Outlook for Strips {
    fn caps<'a>(&'a self, start: Time) -> Box<dyn Iterator<Item = (Time, u32)> + 'a> {
        Box::new(self.steps(start))
    }

    fn openings(&self, after: Time) -> Vec<Time> {
        self.steps(after).map(|(until, _)| until).filter(|&until| until < Time::MAX).collect()
    }
}

impl Outlook for Space<'_> {
    fn caps<'a>(&'a self, start: Time) -> Box<dyn Iterator<Item = (Time, u32)> + 'a> {
        Box::new(self.widest(start))
    }

    fn openings(&self, after: Time) -> Vec<Time> {
        Space::openings(self, after)
    }
}

/// A start and an allotment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    end: Time,
    start: Time,
    width: u32,
}

/// The fewest processors that are fastest among at most `most`, which the profile accepts.
fn fastest_within(profile: &Profile, most: u32) -> u32 {
    let most = most.min(profile.max_processors());
    let mut width = profile.min_allotment(profile.time(most)).unwrap_or(most);
    // More processors may be slower; some in between faster.
    while let Some(faster) = profile.min_allotment(Time::from_ticks(profile.time(width).ticks() - 1))
        && faster <= most
    {
        width = faster;
    }
    width
}

/// The allotment with which the job ends first when it begins at `start`.
fn best_at(instance: &Instance, job: JobId, start: Time, outlook: &dyn Outlook) -> Option<Choice> {
    let profile = instance.job(job).profile();
    let mut cap = u32::MAX;
    for (until, free) in outlook.caps(start) {
        if free < cap {
            cap = free;
            if cap < profile.min_processors() {
                return None;
            }
        }
        let width = fastest_within(profile, cap);
        let end = start + time_on_equal(instance, job, width);
        if end <= until {
            return Some(Choice { end, start, width });
        }
    }
    None
}

/// The earliest end among starts after `now`, if it is before that of `best`.
fn better_later(
    instance: &Instance,
    job: JobId,
    (now, best): (Time, Option<Choice>),
    outlook: &dyn Outlook,
    openings: &[Time],
) -> Option<Choice> {
    let profile = instance.job(job).profile();
    let shortest = time_on_equal(instance, job, profile.fastest());
    let mut found: Option<Choice> = None;
    for &start in openings.iter().filter(|&&start| start > now) {
        let bar = found.or(best).map_or(Time::MAX, |choice| choice.end);
        if start + shortest >= bar {
            break;
        }
        found = best_at(instance, job, start, outlook).filter(|choice| choice.end < bar).or(found);
    }
    found
}

/// What a pass changes: by counts or by sets.
trait Table: Outlook {
    /// Starts the job at this place of the queue now; whether that was possible.
    fn start(&mut self, desk: &mut Desk, rank: usize, choice: Choice, decisions: &mut Vec<Decision>) -> bool;
    /// Reserves for the head.
    fn reserve(&mut self, job: JobId, choice: Choice);
}

struct Counted<'a, 'b> {
    view: &'a View<'b>,
    free: ProcSet,
    /// What is free with the reservation taken out.
    strips: Strips,
}

impl Outlook for Counted<'_, '_> {
    fn caps<'a>(&'a self, start: Time) -> Box<dyn Iterator<Item = (Time, u32)> + 'a> {
        self.strips.caps(start)
    }

    fn openings(&self, after: Time) -> Vec<Time> {
        Outlook::openings(&self.strips, after)
    }
}

impl Table for Counted<'_, '_> {
    fn start(&mut self, desk: &mut Desk, rank: usize, choice: Choice, decisions: &mut Vec<Decision>) -> bool {
        let Some(processors) = self.free.take(choice.width) else { return false };
        let job = desk.queue.job(rank);
        desk.queue.remove(rank);
        self.strips.hold(choice.width, self.view.now, choice.end);
        if let Some(held) = desk.held.as_mut() {
            held.begin(job, choice.width, (self.view.now, choice.end));
        }
        decisions.push(Decision::Start { job, processors });
        true
    }

    fn reserve(&mut self, _: JobId, choice: Choice) {
        self.strips.hold(choice.width, choice.start, choice.end);
    }
}

impl Table for Space<'_> {
    fn start(&mut self, desk: &mut Desk, rank: usize, choice: Choice, decisions: &mut Vec<Decision>) -> bool {
        let slot = self.place(desk.queue.job(rank), choice.width, choice.start, &ProcSet::new());
        slot.is_some_and(|slot| {
            desk.start_in(self, rank, slot, decisions);
            true
        })
    }

    fn reserve(&mut self, job: JobId, choice: Choice) {
        let slot: Option<Slot> = self.place(job, choice.width, choice.start, &ProcSet::new());
        slot.into_iter().for_each(|slot| self.hold(slot));
    }
}

/// One look at the queue.
fn pass(desk: &mut Desk, table: &mut impl Table, view: &View<'_>, decisions: &mut Vec<Decision>) {
    let now = view.now;
    let mut from = 0;
    while let Some(rank) = desk.queue.first() {
        let job = desk.queue.job(rank);
        let at_once = best_at(view.instance, job, now, table);
        let later = better_later(view.instance, job, (now, at_once), table, &table.openings(now));
        from = rank + 1;
        match (at_once, later) {
            (Some(choice), None) if table.start(desk, rank, choice, decisions) => {}
            (_, later) => {
                later.into_iter().for_each(|choice| table.reserve(job, choice));
                break;
            }
        }
    }
    let mut openings = table.openings(now);
    loop {
        let free = table.caps(now).next().map_or(0, |(_, free)| free);
        // The queue is indexed by the fewest processors that a job accepts.
        let gap = Gap { free, window: Time::MAX, beside: free };
        let Some(rank) = desk.queue.next_admitted(from, gap).filter(|_| free > 0) else { return };
        let job = desk.queue.job(rank);
        if let Some(choice) = best_at(view.instance, job, now, table)
            && better_later(view.instance, job, (now, Some(choice)), table, &openings).is_none()
            && table.start(desk, rank, choice, decisions)
        {
            openings = table.openings(now);
        }
        from = rank + 1;
    }
}

impl MoldableEasy {
    /// With the queue in this order; by area and time as they are on the fewest processors.
    pub fn new(order: QueueOrder) -> Self {
        Self { order, desk: None }
    }
}

impl Policy for MoldableEasy {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let reading = Reading { order: self.order, request: Request::Fewest };
        Desk::hear(&mut self.desk, reading, events, view);
        let Some(desk) = self.desk.as_mut() else { return };
        if let Some(held) = desk.held.as_mut() {
            held.extend(view.now, &[]);
            let mut table = Counted { view, free: view.free.clone(), strips: held.timeline.clone() };
            pass(desk, &mut table, view, decisions);
        } else {
            pass(desk, &mut Space::of(view), view, decisions);
            decisions.extend(wait_for(&desk.queue, view));
        }
    }
}
