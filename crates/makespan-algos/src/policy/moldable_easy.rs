//! EASY backfilling that chooses how many processors a job gets when it starts.

use makespan_core::{Decision, Event, Instance, JobId, Policy, ProcSet, Profile, Time, View};

use super::held::interchangeable;
use super::order::{Request, time_on_equal};
use super::queue::Gap;
use super::queue_state::{QueueState, Reading, wait_for};
use super::space::{Slot, Space};
use super::strips::Strips;

/// EASY backfilling for moldable jobs that chooses allotments by the load: a job starts, or is reserved, at the instant and
/// on the allotment at which its end and the price of its work cost least.
///
/// On p of m processors a job that runs for t makes n others wait t p / m longer, in the mean of the machine. So the cost of a
/// start is its end plus n t p / m, and n / m is the price of a processor for a time. The others are those that wait, one
/// that may come at once, and those that will come while it runs, which wait for half of the time on average: as many for
/// the time as came in as long before now as it takes on its fewest processors. So a job that is alone takes less than
/// twice its shortest time, and where many wait or come it takes no more processors than use them as well as theirs
/// would. For n equal jobs with a speedup of p to the power a this is m / n times a / (1 - a) processors each, with which the
/// sum of their ends is least. Where all who wait find room together their price falls until they fill the machine.
///
/// The head of the queue starts, or is reserved where it has to wait for what runs; a later job starts when what costs
/// it least begins now and does not delay that reservation. Ties go to the earlier start, then to fewer processors. Who
/// waits for more looks at what runs and at the reservation, and not at others that wait. A rigid job has one allotment, and
/// with rigid jobs alone this is [`super::Easy`], looking once an instant.
///
/// Source: Makespan; allotments chosen at the start as in S. Srinivasan, S. Krishnamoorthy and P. Sadayappan, "A robust
/// scheduling strategy for moldable scheduling of parallel jobs", CLUSTER 2003, with EASY's one reservation. Assumptions: all
/// processors equally fast. Guarantee: the head starts in finite time; no ratio. Complexity: for each waiting job that could start, a
/// walk over the ends of what runs.
///
/// ```
/// let policy = makespan_algos::policy::policy("moldable-easy", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
#[derive(Debug, Default)]
pub struct MoldableEasy {
    reading: Reading,
    state: Option<QueueState>,
    /// The fewest processors with which each job is fastest; none gets more.
    most: Vec<u32>,
    /// When jobs are released, ascending.
    releases: Vec<Time>,
}

/// What there is beside a job.
#[derive(Clone, Copy)]
struct Load<'a> {
    now: Time,
    /// How many others wait.
    others: usize,
    releases: &'a [Time],
    most: &'a [u32],
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

/// A start and an allotment, and what they cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    cost: i128,
    start: Time,
    width: u32,
    end: Time,
}

/// A job that chooses.
#[derive(Clone, Copy)]
struct Chooser<'a> {
    instance: &'a Instance,
    job: JobId,
    profile: &'a Profile,
    /// How many others wait or may come at once.
    others: i128,
    /// How many came in as long before now as it takes on its fewest processors, which is so many ticks.
    came: i128,
    longest: i128,
    /// The most processors that it may get.
    most: u32,
    /// The cheapest number of processors, were all free.
    wanted: u32,
}

/// Costs are counted in these parts of a processor times a tick.
const UNIT: i128 = 1 << 20;

impl<'a> Chooser<'a> {
    fn new(instance: &'a Instance, job: JobId, load: Load<'_>) -> Self {
        let profile = instance.job(job).profile();
        let longest = time_on_equal(instance, job, profile.min_processors());
        let since = load.releases.partition_point(|&release| release <= load.now - longest);
        let came = load.releases.partition_point(|&release| release < load.now).saturating_sub(since);
        let (others, came, longest) = (load.others as i128 + 1, came as i128, i128::from(longest.ticks()).max(1));
        let most = load.most[job.index()];
        let mut chooser = Self { instance, job, profile, others, came, longest, most, wanted: most };
        chooser.wanted = chooser.cheapest_within(most);
        chooser
    }

    /// What a start at the beginning of time costs.
    fn cost(&self, width: u32) -> i128 {
        let time = i128::from(time_on_equal(self.instance, self.job, width).ticks());
        let (all, width) = (i128::from(self.instance.processors()), i128::from(width));
        // Who comes while it runs waits for half of the time.
        let coming = self.came * UNIT * time / (2 * self.longest);
        time.saturating_mul((all + self.others * width) * UNIT + coming * width)
    }

    /// The cheapest of at most `most` processors, which it accepts; the fewest of these. Along a law the cost falls and
    /// then rises, so that it is found by halving; a table is looked through.
    fn cheapest_within(&self, most: u32) -> u32 {
        let fewest = self.profile.min_processors();
        if self.profile.speedup().is_none() {
            let within = self.profile.allotments().take_while(|&width| width <= most);
            return within.min_by_key(|&width| self.cost(width)).unwrap_or(fewest);
        }
        let (mut low, mut high) = (fewest, most.max(fewest));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.cost(middle + 1) < self.cost(middle) { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The same where `free` are to be had.
    fn within(&self, free: u32) -> u32 {
        if free >= self.wanted { self.wanted } else { self.cheapest_within(free) }
    }

    /// The cheapest start at this instant: on as many processors as there are until its end.
    fn best_at(&self, start: Time, outlook: &dyn Outlook) -> Option<Choice> {
        let mut cap = u32::MAX;
        for (until, free) in outlook.caps(start) {
            cap = cap.min(free);
            if cap < self.profile.min_processors() {
                return None;
            }
            let width = self.within(cap.min(self.most));
            let end = start + time_on_equal(self.instance, self.job, width);
            // What is free only falls from here on, and fewer processors are not cheaper.
            if end <= until {
                return Some(Choice { cost: self.cost_from(start, width), start, width, end });
            }
        }
        None
    }

    fn cost_from(&self, start: Time, width: u32) -> i128 {
        (i128::from(start.ticks()) * i128::from(self.instance.processors()) * UNIT).saturating_add(self.cost(width))
    }

    /// The cheapest of the starts after `now`, if it is cheaper than `best`.
    fn better_later(
        &self,
        (now, best): (Time, Option<Choice>),
        outlook: &dyn Outlook,
        openings: &[Time],
    ) -> Option<Choice> {
        let mut found: Option<Choice> = None;
        for &start in openings.iter().filter(|&&start| start > now) {
            let bar = found.or(best).map_or(i128::MAX, |choice| choice.cost);
            if self.cost_from(start, self.wanted) >= bar {
                break;
            }
            found = self.best_at(start, outlook).filter(|choice| choice.cost < bar).or(found);
        }
        found
    }
}

/// What a pass changes: by counts or by sets.
trait Table: Outlook {
    /// Starts the job at this place of the queue now; whether that was possible.
    fn start(&mut self, state: &mut QueueState, rank: usize, choice: Choice, decisions: &mut Vec<Decision>) -> bool;
    /// Reserves for the head.
    fn reserve(&mut self, job: JobId, choice: Choice);
}

struct Counted {
    free: ProcSet,
    /// What is free with the reservation taken out.
    strips: Strips,
}

impl Outlook for Counted {
    fn caps<'a>(&'a self, start: Time) -> Box<dyn Iterator<Item = (Time, u32)> + 'a> {
        self.strips.caps(start)
    }

    fn openings(&self, after: Time) -> Vec<Time> {
        Outlook::openings(&self.strips, after)
    }
}

impl Table for Counted {
    fn start(&mut self, state: &mut QueueState, rank: usize, choice: Choice, decisions: &mut Vec<Decision>) -> bool {
        let Some(processors) = self.free.take(choice.width) else { return false };
        let job = state.queue.job(rank);
        state.queue.remove(rank);
        self.strips.hold(choice.width, choice.start, choice.end);
        state.held.begin(job, &processors, (choice.start, choice.end));
        decisions.push(Decision::Start { job, processors });
        true
    }

    fn reserve(&mut self, _: JobId, choice: Choice) {
        self.strips.hold(choice.width, choice.start, choice.end);
    }
}

impl Table for Space<'_> {
    fn start(&mut self, state: &mut QueueState, rank: usize, choice: Choice, decisions: &mut Vec<Decision>) -> bool {
        let slot = self.place(state.queue.job(rank), choice.width, choice.start);
        slot.is_some_and(|slot| {
            state.start_in(self, rank, slot, decisions);
            true
        })
    }

    fn reserve(&mut self, job: JobId, choice: Choice) {
        let slot: Option<Slot> = self.place(job, choice.width, choice.start);
        slot.into_iter().for_each(|slot| Space::reserve(self, slot));
    }
}

/// By how many others each job that waits reckons: all of them, but for where fewer let all start together. Then nobody
/// delays anybody, and no processor is to be left idle by a price that nobody asks.
fn priced(state: &QueueState, load: Load<'_>, instance: &Instance, free: u32) -> usize {
    let all = load.others;
    if all == 0 || state.queue.len() > free as usize {
        return all;
    }
    let waiting = || std::iter::successors(state.queue.first(), |rank| state.queue.next(rank + 1));
    let room = |others: usize| {
        let wanted = waiting()
            .map(|rank| u64::from(Chooser::new(instance, state.queue.job(rank), Load { others, ..load }).wanted));
        wanted.sum::<u64>() <= u64::from(free)
    };
    if !room(all) {
        return all;
    }
    let (mut low, mut high) = (0, all);
    while low < high {
        let middle = usize::midpoint(low, high);
        if room(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// One look at the queue.
fn pass(
    state: &mut QueueState,
    (most, releases): (&[u32], &[Time]),
    table: &mut impl Table,
    view: &View<'_>,
    decisions: &mut Vec<Decision>,
) {
    let now = view.now;
    let free = table.caps(now).next().map_or(0, |(_, free)| free);
    let load = Load { now, others: state.queue.len().saturating_sub(1), releases, most };
    let load = Load { others: priced(state, load, view.instance, free), ..load };
    let chooser = |job: JobId| Chooser::new(view.instance, job, load);
    let mut from = 0;
    while let Some(rank) = state.queue.first() {
        let chooser = chooser(state.queue.job(rank));
        let at_once = chooser.best_at(now, table);
        let later = chooser.better_later((now, at_once), table, &table.openings(now));
        from = rank + 1;
        match (at_once, later) {
            (Some(choice), None) if table.start(state, rank, choice, decisions) => {}
            (_, later) => {
                later.into_iter().for_each(|choice| table.reserve(chooser.job, choice));
                break;
            }
        }
    }
    let mut openings = table.openings(now);
    loop {
        let free = table.caps(now).next().map_or(0, |(_, free)| free);
        // The queue is indexed by the fewest processors that a job accepts.
        let gap = Gap { free, window: Time::MAX, beside: free };
        let Some(rank) = state.queue.next_admitted(from, gap).filter(|_| free > 0) else { return };
        let chooser = chooser(state.queue.job(rank));
        if let Some(choice) = chooser.best_at(now, table)
            && chooser.better_later((now, Some(choice)), table, &openings).is_none()
            && table.start(state, rank, choice, decisions)
        {
            openings = table.openings(now);
        }
        from = rank + 1;
    }
}

/// Whether counts say all that a look has to know although there are unavailable periods: they alone tell processors apart, and
/// none begins before what runs, then the head and then a job behind it could have ended. By sets, what a job might have later
/// depends on where the reservation is, which would let a period that nobody meets change a choice.
fn far_from_periods(state: &QueueState, view: &View<'_>) -> bool {
    let coming = view.instance.unavailable().iter().filter(|period| period.end > view.now);
    let Some(next) = coming.map(|period| period.start).min() else { return interchangeable(view.instance) };
    let held = state.held.last_end().into_iter().chain(view.down.iter().map(|failure| failure.end));
    let free = held.fold(view.now, Time::max);
    let longest = state.longest(view.instance);
    interchangeable(view.instance) && free + longest + longest <= next
}

impl MoldableEasy {
    /// With this queue; by area and time as they are on the fewest processors.
    pub fn new(reading: Reading) -> Self {
        Self { reading: Reading { request: Request::Fewest, ..reading }, ..Self::default() }
    }
}

impl Policy for MoldableEasy {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        if self.most.is_empty() {
            self.most = Request::Fastest.widths(view.instance);
            self.releases = view.instance.jobs().iter().map(|job| job.release).collect();
            self.releases.sort_unstable();
        }
        QueueState::hear(&mut self.state, self.reading, events, view);
        let Some(state) = self.state.as_mut() else { return };
        state.held.extend(view, &[]);
        let load = (self.most.as_slice(), self.releases.as_slice());
        if state.counted || far_from_periods(state, view) {
            let mut table = Counted { free: view.free.clone(), strips: state.held.timeline.clone() };
            pass(state, load, &mut table, view, decisions);
        } else {
            pass(state, load, &mut Space::of(view), view, decisions);
            decisions.extend(wait_for(&state.queue, view));
        }
    }
}
