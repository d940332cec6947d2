//! EASY backfilling that chooses the number of processors of a task when it starts.

use makespan_core::{Decision, Event, FreeTime, Instance, JobId, Policy, ProcSet, Profile, TaskId, Time, View};
use rustc_hash::FxHashMap;

use super::held::interchangeable;
use super::order::{QueuePlace, QueueReading, Request, Widths, time_on_equal};
use super::queue::Gap;
use super::queue_state::{QueueState, Update, wait_for};
use super::space::{ClosedSlot, Space};
use crate::free_time::Strips;

/// EASY backfilling for moldable tasks. Allotments depend on the load. For each task, the policy chooses the start and
/// the allotment with the least cost: the end of the task plus the price of its work. At the chosen instant, the task
/// starts or has a reservation.
///
/// On p of m processors, a task with time t delays each of n other tasks by t p / m on average. So the cost of a start
/// is the end of the task plus n t p / m, and n / m is the price of a processor for a unit of time. The n other tasks
/// are:
///
/// * the waiting tasks;
/// * one task that may arrive at any moment;
/// * half of the tasks that are expected to arrive while this task runs, because they wait for half of the time t on
///   average. Let t' be the time of this task on its fewest processors, and let k tasks have arrived in the last period
///   of length t'. Then k t / t' tasks are expected to arrive during t.
///
/// As a result, a task that is alone takes less than twice its shortest time. If many tasks wait or arrive, a task
/// takes additional processors only if it uses these processors at least as well as other tasks would. For example, let
/// n equal tasks have a speed-up of p to the power a. Then each task takes m / n times a / (1 - a) processors, which
/// minimises the sum of the ends. If all waiting tasks can run at the same time, the price is reduced until these tasks
/// use all processors.
///
/// The head of the queue starts or, if it must wait for running tasks, gets a reservation. A later task starts if its
/// cheapest start is now and does not delay this reservation. Ties are broken in favour of the earlier start, and then
/// of fewer processors. The policy may let a task wait for more processors. The expected start of this task then
/// depends on the running tasks and the reservation, but not on other waiting tasks. A rigid task has one allotment.
/// If all tasks are rigid, this policy is [`super::Easy`] with one pass at each instant.
///
/// Source: Makespan. Allotments are chosen at the start as in S. Srinivasan, S. Krishnamoorthy and P. Sadayappan, "A
/// robust scheduling strategy for moldable scheduling of parallel jobs", CLUSTER 2003, with EASY's one reservation.
/// Assumptions: all processors are equally fast. Guarantee: the head starts in finite time; there is no ratio.
/// Complexity: for each waiting task that could start, a walk over the ends of running tasks.
///
/// ```
/// let policy = makespan_algos::policy::policy("moldable-easy", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
#[derive(Debug, Default)]
pub struct MoldableEasy {
    reading: QueueReading,
    state: Option<QueueState>,
    known: TaskFacts,
}

/// Data about tasks and jobs that the queue does not store.
#[derive(Debug, Default)]
struct TaskFacts {
    fastest: Option<Widths>,
    /// For each task that waits or runs, the fewest processors on which its time is shortest. More processors would
    /// not make the task faster.
    most: FxHashMap<TaskId, u32>,
    /// For each job, whether it has arrived.
    heard: Vec<bool>,
    /// The release dates of jobs in ascending order. For each date, the number of tasks that are released by this
    /// date.
    releases: Vec<(Time, u64)>,
}

impl TaskFacts {
    /// Processes events.
    fn hear(&mut self, events: &[Event], view: &View<'_>) {
        let instance = view.instance;
        if self.fastest.is_none() {
            // Add the jobs that arrived before this policy began.
            let came = instance.ids().filter(|&job| instance.job(job).release <= view.now);
            came.for_each(|job| self.hear_of(instance, job));
        }
        let fastest = self.fastest.get_or_insert_with(|| Widths::new(Request::Fastest, instance));
        let mut new = Vec::new();
        for event in events {
            match *event {
                Event::Submitted(task) => {
                    self.most.insert(task, fastest.of(instance, task));
                    new.push(instance.job_id(task));
                }
                Event::Finished(task) | Event::Failed(task) => _ = self.most.remove(&task),
                Event::Interrupted(_) | Event::NodeUp(_) | Event::NodeDown(_) | Event::Estimated(_) | Event::Wake => {}
            }
        }
        for task in Event::estimated(events, instance).iter() {
            if let Some(most) = self.most.get_mut(&task) {
                *most = fastest.of(instance, task);
            }
        }
        new.into_iter().for_each(|job| self.hear_of(instance, job));
    }

    /// Adds waiting tasks that arrived before this policy began.
    fn see(&mut self, waiting: impl Iterator<Item = TaskId>, instance: &Instance) {
        if let Some(fastest) = &self.fastest {
            waiting.for_each(|task| _ = self.most.entry(task).or_insert_with(|| fastest.of(instance, task)));
        }
    }

    /// Adds all tasks of a job when one of them arrives.
    fn hear_of(&mut self, instance: &Instance, job: JobId) {
        self.heard.resize(instance.jobs().len().max(self.heard.len()), false);
        if std::mem::replace(&mut self.heard[job.index()], true) {
            return;
        }
        let job = instance.job(job);
        let at = self.releases.partition_point(|&(release, _)| release < job.release);
        if self.releases.get(at).is_none_or(|&(release, _)| release > job.release) {
            let before = at.checked_sub(1).map_or(0, |before| self.releases[before].1);
            self.releases.insert(at, (job.release, before));
        }
        self.releases[at..].iter_mut().for_each(|(_, tasks)| *tasks += job.tasks());
    }

    /// Returns the number of tasks that were released before an instant.
    fn released_before(&self, time: Time) -> u64 {
        let releases = self.releases.partition_point(|&(release, _)| release < time);
        releases.checked_sub(1).map_or(0, |last| self.releases[last].1)
    }
}

/// The load by other tasks, which determines the price of processors for a task.
#[derive(Clone, Copy)]
struct Load<'a> {
    now: Time,
    /// Number of other tasks from which the price is computed. This number is at most the number of other waiting
    /// tasks.
    others: usize,
    known: &'a TaskFacts,
}

/// The free processors over time.
trait Outlook {
    /// Returns pairs (t, n) for a task that starts at `start`, in ascending order of t. Suppose that the task ends by
    /// t, but after the instant of the previous pair. Then the task can have as many processors as the minimum of n
    /// over this pair and all earlier pairs.
    fn caps<'a>(&'a self, start: Time) -> Box<dyn Iterator<Item = (Time, u32)> + 'a>;
    /// Returns, in ascending order, the instants after `after` at which processors may become free.
    fn openings(&self, after: Time) -> Vec<Time>;
    /// Returns whether a task on `width` processors can get its resources from `start` on. The processors must be free
    /// from `start` to the end of the task.
    fn has_needs(&self, task: TaskId, width: u32, start: Time) -> bool;
}

impl Outlook for Space<'_> {
    fn caps<'a>(&'a self, start: Time) -> Box<dyn Iterator<Item = (Time, u32)> + 'a> {
        Box::new(self.widest(start))
    }

    fn openings(&self, after: Time) -> Vec<Time> {
        Space::openings(self, after)
    }

    fn has_needs(&self, task: TaskId, width: u32, start: Time) -> bool {
        !self.knows_needs() || self.place(task, width, start).is_some()
    }
}

/// A start and an allotment of a task, and their cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    cost: i128,
    start: Time,
    width: u32,
    end: Time,
}

/// Chooses the allotment of one task.
#[derive(Clone, Copy)]
struct Chooser<'a> {
    instance: &'a Instance,
    task: TaskId,
    profile: &'a Profile,
    /// `Load::others`, plus one task that may arrive at any moment.
    others: i128,
    /// Number of tasks that arrived within the last `longest` ticks.
    came: i128,
    /// The time of the task on its fewest processors, in ticks.
    longest: i128,
    /// Maximum number of processors.
    most: u32,
    /// The number of processors with the least cost on an idle platform.
    wanted: u32,
}

/// Number of units of cost for one processor and one tick.
const UNIT: i128 = 1 << 20;

impl<'a> Chooser<'a> {
    fn new(instance: &'a Instance, task: TaskId, load: Load<'_>) -> Self {
        let profile = instance.profile(task);
        let longest = time_on_equal(instance, task, profile.min_processors());
        let since = load.known.released_before(load.now - longest + Time::TICK);
        let came = load.known.released_before(load.now).saturating_sub(since);
        let (others, came, longest) = (load.others as i128 + 1, i128::from(came), i128::from(longest.ticks()).max(1));
        let most = load.known.most[&task];
        let mut chooser = Self { instance, task, profile, others, came, longest, most, wanted: most };
        chooser.wanted = chooser.cheapest_within(most);
        chooser
    }

    /// Returns the cost of a start on `width` processors at the instant zero.
    fn cost(&self, width: u32) -> i128 {
        let time = i128::from(time_on_equal(self.instance, self.task, width).ticks());
        let (all, width) = (i128::from(self.instance.processors()), i128::from(width));
        // Tasks that arrive while this task runs wait for half of its time on average.
        let coming = self.came * UNIT * time / (2 * self.longest);
        time.saturating_mul((all + self.others * width) * UNIT + coming * width)
    }

    /// Returns the cheapest number of processors up to `most` that the task accepts. If several numbers are equally
    /// cheap, returns the smallest. For a speed-up law, the cost first decreases and then increases, so bisection
    /// finds the minimum. For a table, all entries are compared.
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

    /// Returns the cheapest number of processors if `free` processors are free.
    fn within(&self, free: u32) -> u32 {
        if free >= self.wanted { self.wanted } else { self.cheapest_within(free) }
    }

    /// Returns the cheapest allotment for a start at `start`, on processors that are free until the end of the task.
    fn best_at(&self, start: Time, outlook: &dyn Outlook) -> Option<Choice> {
        let mut cap = u32::MAX;
        for (until, free) in outlook.caps(start) {
            cap = cap.min(free);
            if cap < self.profile.min_processors() {
                return None;
            }
            let mut width = self.within(cap.min(self.most));
            if !outlook.has_needs(self.task, width, start) {
                let others = self.profile.allotments().take_while(|&width| width <= cap.min(self.most));
                let roomy = others.filter(|&width| outlook.has_needs(self.task, width, start));
                width = roomy.min_by_key(|&width| self.cost(width))?;
            }
            let end = start + time_on_equal(self.instance, self.task, width);
            // Stop. Later pairs can only reduce the number of free processors, which does not reduce the cost.
            if end <= until {
                return Some(Choice { cost: self.cost_from(start, width), start, width, end });
            }
        }
        None
    }

    fn cost_from(&self, start: Time, width: u32) -> i128 {
        (i128::from(start.ticks()) * i128::from(self.instance.processors()) * UNIT).saturating_add(self.cost(width))
    }

    /// Returns the cheapest start after `now` among the instants `openings`. If no such start is cheaper than `best`,
    /// returns `None`.
    fn better_later(
        &self,
        now: Time,
        best: Option<Choice>,
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

/// The operations of a visit of the queue. One implementation uses numbers of processors, the other sets of
/// processors.
trait Table: Outlook {
    /// Starts the waiting task with the queue position `place`. Returns whether the task could start now.
    fn start(
        &mut self,
        state: &mut QueueState,
        place: QueuePlace,
        choice: Choice,
        decisions: &mut Vec<Decision>,
    ) -> bool;
    /// Reserves processors for the head of the queue.
    fn reserve(&mut self, task: TaskId, choice: Choice);
}

struct CountedProcessors {
    free: ProcSet,
    /// The number of free processors. The reservation is not subtracted.
    strips: Strips,
}

impl Outlook for CountedProcessors {
    fn caps<'a>(&'a self, start: Time) -> Box<dyn Iterator<Item = (Time, u32)> + 'a> {
        Box::new(self.strips.steps(start))
    }

    fn openings(&self, after: Time) -> Vec<Time> {
        self.strips.steps(after).map(|(until, _)| until).filter(|&until| until < Time::MAX).collect()
    }

    fn has_needs(&self, _: TaskId, _: u32, _: Time) -> bool {
        true
    }
}

impl Table for CountedProcessors {
    fn start(
        &mut self,
        state: &mut QueueState,
        place: QueuePlace,
        choice: Choice,
        decisions: &mut Vec<Decision>,
    ) -> bool {
        let Some(processors) = self.free.take(choice.width) else { return false };
        let task = place.task;
        state.queue.remove(place);
        self.strips.hold(choice.width, choice.start, choice.end);
        state.held.begin(task, &processors, choice.start, choice.end);
        decisions.push(Decision::Start { task, processors });
        true
    }

    fn reserve(&mut self, _: TaskId, choice: Choice) {
        self.strips.hold(choice.width, choice.start, choice.end);
    }
}

impl Table for Space<'_> {
    fn start(
        &mut self,
        state: &mut QueueState,
        place: QueuePlace,
        choice: Choice,
        decisions: &mut Vec<Decision>,
    ) -> bool {
        let slot = self.place(place.task, choice.width, choice.start);
        slot.is_some_and(|slot| {
            state.start_in(self, place, slot, decisions);
            true
        })
    }

    fn reserve(&mut self, task: TaskId, choice: Choice) {
        let slot: Option<ClosedSlot> = self.place(task, choice.width, choice.start);
        slot.into_iter().for_each(|slot| Space::reserve(self, slot));
    }
}

/// Returns the number of other tasks that determines the price of processors. Normally, this is the number of all other
/// waiting tasks. If all waiting tasks can start now, returns the smallest number with which they can all start. A
/// higher price would leave processors idle without need.
fn priced(state: &QueueState, load: Load<'_>, instance: &Instance, free: u32) -> usize {
    let all = load.others;
    if all == 0 || state.queue.len() > free as usize {
        return all;
    }
    let room = |others: usize| {
        let wanted = |place: QueuePlace| u64::from(Chooser::new(instance, place.task, Load { others, ..load }).wanted);
        state.queue.iter().map(wanted).sum::<u64>() <= u64::from(free)
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

/// Visits the queue once.
fn pass(
    state: &mut QueueState,
    known: &TaskFacts,
    table: &mut impl Table,
    view: &View<'_>,
    decisions: &mut Vec<Decision>,
) {
    let now = view.now;
    let free = table.caps(now).next().map_or(0, |(_, free)| free);
    let load = Load { now, others: state.queue.len().saturating_sub(1), known };
    let load = Load { others: priced(state, load, view.instance, free), ..load };
    let chooser = |task: TaskId| Chooser::new(view.instance, task, load);
    let mut after = None;
    while let Some(place) = state.queue.first() {
        let chooser = chooser(place.task);
        let at_once = chooser.best_at(now, table);
        let later = chooser.better_later(now, at_once, table, &table.openings(now));
        after = Some(place);
        match (at_once, later) {
            (Some(choice), None) if table.start(state, place, choice, decisions) => {}
            (_, later) => {
                later.into_iter().for_each(|choice| table.reserve(chooser.task, choice));
                break;
            }
        }
    }
    let mut openings = table.openings(now);
    loop {
        let free = table.caps(now).next().map_or(0, |(_, free)| free);
        // The queue contains each task with its fewest processors, so this search skips the tasks that cannot start.
        let gap = Gap { free, window: Time::MAX, beside: free };
        let Some(place) = state.queue.next_admitted(after, gap).filter(|_| free > 0) else { return };
        let chooser = chooser(place.task);
        if let Some(choice) = chooser.best_at(now, table)
            && chooser.better_later(now, Some(choice), table, &openings).is_none()
            && table.start(state, place, choice, decisions)
        {
            openings = table.openings(now);
        }
        after = Some(place);
    }
}

/// Returns whether unavailable periods are so far away that only numbers of processors matter. Processors must differ
/// only by these periods. Before the first period begins, all running tasks must be able to end, and then the head of
/// the queue and one later task must be able to run one after another. The choices then do not depend on the periods.
fn far_from_periods(state: &QueueState, view: &View<'_>) -> bool {
    let coming = view.instance.unavailable().iter().filter(|period| period.end > view.now);
    let Some(next) = coming.map(|period| period.start).min() else { return interchangeable(view.instance) };
    let held = state.held.last_end().into_iter().chain(view.down.iter().map(|failure| failure.end));
    let free = held.fold(view.now, Time::max);
    let longest = state.longest(view.instance);
    interchangeable(view.instance) && free + longest + longest <= next
}

impl MoldableEasy {
    /// Returns a policy with a queue that follows the rules in `reading`. If the order of the queue uses the area or
    /// the time of a task, the area and the time are computed for the fewest processors of the task.
    pub fn new(reading: QueueReading) -> Self {
        Self { reading: QueueReading { request: Request::Fewest, ..reading }, ..Self::default() }
    }
}

impl Policy for MoldableEasy {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        self.known.hear(events, view);
        let heard = QueueState::hear(&mut self.state, self.reading, events, view);
        let Some(state) = self.state.as_mut() else { return };
        if heard == Update::Anew {
            self.known.see(state.queue.iter().map(|place| place.task), view.instance);
        }
        state.held.extend(view, &[]);
        if state.counted || far_from_periods(state, view) {
            let mut table = CountedProcessors { free: view.free.clone(), strips: state.held.timeline.clone() };
            pass(state, &self.known, &mut table, view, decisions);
        } else {
            pass(state, &self.known, &mut Space::of(view), view, decisions);
            decisions.extend(wait_for(&state.queue, view));
        }
    }
}
