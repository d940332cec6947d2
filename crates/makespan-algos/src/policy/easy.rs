//! EASY backfilling.

use std::str::FromStr;

use makespan_core::{Decision, Event, JobId, Policy, Time, View};

use super::desk::{Desk, Heard, Reading, Starts, wait_for};
use super::queue::Gap;
use super::space::Space;

/// Starts jobs in the order of the queue while they fit, reserves the first that does not for the earliest instant at
/// which, by the estimates of what runs, enough processors are free; and starts any later job that fits now and does
/// not delay that reservation: it ends before it, or takes processors that the reserved job leaves free.
///
/// Source: D. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995, DOI 10.1007/3-540-60153-8_35; as A. Mu'alem and D.
/// Feitelson, IEEE Trans. Parallel Distrib. Syst. 12(6), 2001, DOI 10.1109/71.932708, describe it. Assumptions: none; with
/// run times at most the estimates the head of the queue starts no later than it was first reserved. Complexity: on
/// equal processors that are always open O(log n) for an event and each job that it starts, and a search in a tree over
/// the queue that skips what fits by neither rule; elsewhere a walk over what runs for each waiting job that is narrow
/// enough, in which nothing runs into a period that closes its own. Which of several processors the head gets is left
/// open until it starts, but where best placement is required: there the reservation has its processors, and changes them
/// where one other placement makes room.
///
/// ```
/// let policy = makespan_algos::policy::policy("easy[order=saf]", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
#[derive(Debug, Default)]
pub struct Easy {
    reading: Reading,
    passes: Passes,
    desk: Option<Desk>,
    /// The reservation of the last pass, while nothing has ended since.
    reserved: Option<Reserved>,
}

/// When the queue is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passes {
    /// Once an instant, when all that happens at it is known.
    Instant,
    /// After every single event, arrivals before ends, as simulators do that take events one at a time: a job whose end at
    /// this instant was not yet heard is still believed to run until its estimate. Reproduces É. Gaussier, D. Glesser,
    /// V. Reis and D. Trystram, SC 2015, DOI 10.1145/2807591.2807646. An instant at which processors go down or come up is
    /// looked at once all the same.
    #[default]
    Event,
}

impl Passes {
    pub(super) const VALUES: &'static str = "instant or event";
}

impl FromStr for Passes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "instant" => Ok(Self::Instant),
            "event" => Ok(Self::Event),
            _ => Err(Self::VALUES.into()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Reserved {
    /// Place of the head in the queue.
    rank: usize,
    /// When it is to start.
    start: Time,
    /// How many processors it leaves free then.
    beside: u32,
}

impl Easy {
    /// With this queue.
    pub fn new(reading: Reading) -> Self {
        Self { reading, ..Self::default() }
    }

    /// The same, looking at the queue at these moments.
    #[must_use]
    pub fn looking(self, passes: Passes) -> Self {
        Self { passes, ..self }
    }

    /// The job that was reserved when the queue was last looked at, and when it is to start; known where counts describe
    /// the platform.
    pub fn reservation(&self) -> Option<(JobId, Time)> {
        let (reserved, desk) = (self.reserved?, self.desk.as_ref()?);
        Some((desk.queue.job(reserved.rank), reserved.start))
    }

    /// All events of the instant, then one pass.
    fn by_instant(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let heard = Desk::hear(&mut self.desk, self.reading, events, view);
        let Some(desk) = self.desk.as_mut() else { return };
        let late = desk.held.extend(view, &[]);
        if !desk.counted {
            by_sets(desk, &mut Space::of(view), view, decisions);
            decisions.extend(wait_for(&desk.queue, view));
            return;
        }
        let mut starts = Starts::new(view);
        let unchanged = heard == Heard::Arrivals && !late;
        if let Some(reserved) = self.reserved.as_mut().filter(|_| unchanged) {
            // Who waited before waits on: as much is free, and less time is left.
            let mut ranks: Vec<usize> = arrivals(events).map(|job| desk.queue.rank(job)).collect();
            ranks.sort_unstable();
            if ranks.first().is_none_or(|&first| first > reserved.rank) {
                backfill(desk, reserved, &mut starts, Some(&ranks), decisions);
                return;
            }
        }
        self.reserved = pass(desk, &mut starts, decisions);
    }

    /// A pass after each event, arrivals first; ends in the order of the starts.
    fn by_event(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let machines = |event: &Event| matches!(event, Event::NodeUp(_) | Event::NodeDown(_) | Event::Interrupted(_));
        // One event alone is both, and quicker there.
        if events.len() == 1 || events.iter().any(machines) {
            return self.by_instant(events, view, decisions);
        }
        if self.desk.is_none() {
            self.desk = Some(Desk::before(events, view, self.reading));
        }
        let Some(desk) = self.desk.as_mut().filter(|desk| knows(desk, events, view)) else {
            return self.by_instant(events, view, decisions);
        };
        let mut ended: Vec<JobId> = Vec::new();
        for event in events {
            if let Event::Finished(job) | Event::Failed(job) = *event {
                ended.push(job);
            }
        }
        ended.sort_unstable();
        desk.held.extend(view, &ended);
        ended.sort_unstable_by_key(|&job| desk.held.order(job));
        let mut ground = Ground::new(desk, &ended, view);
        for job in arrivals(events) {
            desk.take_in(&Event::Submitted(job), view);
            self.reserved = ground.look(desk, view, decisions);
        }
        for job in ended {
            ground.open(desk, job);
            desk.take_in(&Event::Finished(job), view);
            self.reserved = ground.look(desk, view, decisions);
        }
        if !desk.counted {
            decisions.extend(wait_for(&desk.queue, view));
        }
    }
}

/// Where jobs are started.
enum Ground<'a, 'b> {
    Counts(Starts<'a, 'b>),
    Sets(Space<'b>),
}

impl<'a, 'b> Ground<'a, 'b> {
    /// As it is before anybody heard that these jobs ended.
    fn new(desk: &Desk, ended: &[JobId], view: &'a View<'b>) -> Self {
        if desk.counted {
            return Self::Counts(Starts::new(view));
        }
        let mut space = Space::of(view);
        ended.iter().filter_map(|&job| desk.held.slot(job)).for_each(|slot| space.hold(slot));
        Self::Sets(space)
    }

    /// The end of a job is about to be heard.
    fn open(&mut self, desk: &Desk, job: JobId) {
        if let Self::Sets(space) = self
            && let Some(slot) = desk.held.slot(job)
        {
            space.release(&slot);
        }
    }

    fn look(&mut self, desk: &mut Desk, view: &View<'_>, decisions: &mut Vec<Decision>) -> Option<Reserved> {
        match self {
            Self::Counts(starts) => pass(desk, starts, decisions),
            Self::Sets(space) => {
                by_sets(desk, space, view, decisions);
                None
            }
        }
    }
}

fn arrivals(events: &[Event]) -> impl Iterator<Item = JobId> + '_ {
    events.iter().filter_map(|event| if let Event::Submitted(job) = *event { Some(job) } else { None })
}

/// Whether what the desk knows and these events make the view.
fn knows(desk: &Desk, events: &[Event], view: &View<'_>) -> bool {
    let ended = events.iter().filter(|event| matches!(event, Event::Finished(_) | Event::Failed(_))).count();
    let waits = |job: &JobId| view.waiting.contains(*job) && !desk.queue.contains(*job);
    let arrived = arrivals(events).filter(waits).count();
    desk.queue.len() + arrived == view.waiting.len() && desk.held.running() == view.running.len() + ended
}

/// One look at the queue, by counts; the reservation of the head that has to wait.
fn pass(desk: &mut Desk, starts: &mut Starts<'_, '_>, decisions: &mut Vec<Decision>) -> Option<Reserved> {
    let Desk { queue, held, .. } = &mut *desk;
    let now = starts.now();
    while let Some(rank) = queue.first()
        && queue.asked(rank).width <= held.free(now)
        && starts.start((&mut *queue, &mut *held), rank, decisions)
    {}
    let rank = queue.first()?;
    let width = queue.asked(rank).width;
    let start = held.timeline.earliest_fit(width, Time::TICK, (now, Time::MAX))?;
    let mut reserved = Reserved { rank, start, beside: held.timeline.free_at(start).saturating_sub(width) };
    backfill(desk, &mut reserved, starts, None, decisions);
    Some(reserved)
}

/// Starts whatever fits beside the reservation: of these places in the queue, or of all behind the head.
fn backfill(
    desk: &mut Desk,
    reserved: &mut Reserved,
    starts: &mut Starts<'_, '_>,
    only: Option<&[usize]>,
    decisions: &mut Vec<Decision>,
) {
    let Desk { queue, held, .. } = desk;
    let now = starts.now();
    let window = reserved.start.saturating_since(now);
    let mut free = held.free(now);
    let (mut from, mut at) = (reserved.rank + 1, 0);
    while free > 0 {
        let gap = Gap { free, window, beside: reserved.beside.min(free) };
        let next = match only {
            None => queue.next_admitted(from, gap),
            Some(ranks) => {
                let found = ranks[at..].iter().position(|&rank| queue.admitted(rank, gap));
                found.map(|found| {
                    at += found + 1;
                    ranks[at - 1]
                })
            }
        };
        let Some(rank) = next else { return };
        let asked = queue.asked(rank);
        if starts.start((&mut *queue, &mut *held), rank, decisions) {
            free -= asked.width;
            if asked.time > window {
                reserved.beside -= asked.width;
            }
        }
        from = rank + 1;
    }
}

/// One look at the queue where it matters which processors a job gets. Any processors may be taken that leave the head as
/// many as it needs of those that are open for it.
fn by_sets(desk: &mut Desk, space: &mut Space<'_>, view: &View<'_>, decisions: &mut Vec<Decision>) {
    space.unreserve();
    let Some(first) = desk.start_heads(space, decisions) else { return };
    let widest = view.free.len();
    let open = space.open(view.free, view.now, view.now + Time::TICK);
    let head = (desk.queue.job(first), desk.queue.asked(first).width);
    if let Some(slot) = space.earliest(head.0, head.1, view.now) {
        space.reserve(slot);
    }
    let mut free = open.len();
    let mut from = first + 1;
    let gap = |free| Gap { free, window: Time::MAX, beside: free };
    while free > 0
        && let Some(rank) = desk.queue.next_admitted(from, gap(free.min(widest)))
    {
        let (job, width) = (desk.queue.job(rank), desk.queue.asked(rank).width);
        let slot = space.place(job, width, view.now).or_else(|| space.exchange((job, width), head));
        if let Some(slot) = slot {
            free -= width;
            desk.start_in(space, rank, slot, decisions);
        }
        from = rank + 1;
    }
}

impl Policy for Easy {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        match self.passes {
            Passes::Instant => self.by_instant(events, view, decisions),
            Passes::Event => self.by_event(events, view, decisions),
        }
    }
}
