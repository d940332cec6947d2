//! The strategy of one job: several schedules, none of which is better than another in every respect.

use makespan_core::{FreeTime, undominated};

use super::collisions::{Collision, Penalties, Resolution, resolve};
use super::criterion::{Criterion, Figures, TieBreak};
use super::draft::Draft;
use super::frame::Frame;
use super::planning::{ChainAim, plan};
use super::ranking::{Chain, Cover};
use super::reserve::{Isolated, Reserve, reserve};
use super::windows::TransferRoom;
use crate::free_time::Calendar;
use crate::kernel::graph::TaskPlace;

/// Number of rounds without improvement after which chains are not planned again.
const PATIENCE: usize = 4;
const MAX_ROUNDS: usize = 40;
/// Maximum number of tasks that ten rounds may plan again. If the number would be larger, each round plans each task
/// only once, and the rounds end after `MAX_ONCE` tasks in total.
const MAX_REPLANNED: usize = 60_000;
const MAX_ONCE: usize = 20_000;

/// Maximum number of variants that are kept from one chain to the next. If the variants would have more than `MAX_PLACES` places in
/// total, fewer are kept.
const KEPT: usize = 8;
const MAX_PLACES: usize = 2048;
/// Number of parts into which the time from the earliest possible end (the length of the longest chain) to the latest
/// end is divided. There is one plan for the end of each part. The first number of `ENDS` is for chains on processors,
/// the second for chains on types of processors. `MANY` contains a number of tasks, and the number of parts for jobs
/// with more tasks.
const ENDS: (i64, i64) = (4, 8);
const MANY: (usize, i64) = (512, 1);

/// The schedule into which chains are planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChainBase {
    /// The empty schedule, as in the paper.
    Empty,
    /// HEFT's schedule, stretched to the deadline. Each chain is removed and planned again until no chain
    /// can be improved.
    Heft,
    /// Both starts, one after the other. The best schedules of both are kept.
    #[default]
    Both,
}

/// Settings of the critical jobs method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The objective.
    pub criterion: Criterion,
    /// The way in which chains cover the graph.
    pub cover: Cover,
    /// The schedule into which chains are planned.
    pub start: ChainBase,
    /// The penalties for resolved collisions.
    pub penalties: Penalties,
    /// The time for which isolated tasks hold their processors.
    pub isolated: Isolated,
}

/// A schedule of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSchedule {
    /// The place of each task.
    pub places: Vec<TaskPlace>,
    /// The end of the last task, in ticks.
    pub finish: i64,
    /// The cost, in thousandths.
    pub cost: i64,
    /// The time for which processors are busy with the job or held for it, in ticks.
    pub busy: i64,
    /// The isolated tasks that hold processors longer than they run.
    pub reserves: Vec<Reserve>,
    /// The tasks that were moved to resolve collisions.
    pub collisions: Vec<Collision>,
}

impl JobSchedule {
    /// Returns the offer for a complete draft, or `None` if a task is not placed. Isolated tasks may hold processors until `held`.
    fn new(mut draft: Draft, collisions: Vec<Collision>, settings: &Settings, held: i64) -> Option<Self> {
        draft.places()?;
        let reserves = match settings.isolated {
            Isolated::Run => Vec::new(),
            Isolated::Reserve => reserve(&mut draft, held, settings.criterion),
        };
        let held = reserves.iter().filter_map(|held| Some(held.until - draft.end(held.task)?)).sum::<i64>();
        let plain = Self::plain(&draft);
        Some(Self { busy: plain.busy + held, reserves, collisions, ..plain })
    }

    /// Returns the offer for a complete draft, without reserves.
    pub fn plain(draft: &Draft) -> Self {
        let Figures { cost, busy } = draft.figures();
        let (places, finish) = (draft.places().unwrap_or_default(), draft.finish());
        Self { places, finish, cost, busy, reserves: Vec::new(), collisions: Vec::new() }
    }

    /// Returns, for each task of the job, the instant until which it holds its processor.
    pub fn held_until(&self, frame: &Frame) -> Vec<i64> {
        let end = |(task, place): (usize, &TaskPlace)| place.start + frame.time_on(task as u32, place.processor);
        let mut until: Vec<i64> = self.places.iter().enumerate().map(end).collect();
        self.reserves.iter().for_each(|held| until[held.task as usize] = held.until);
        until
    }

    /// Returns a sort key: the value of the objective, where less is better, and then the finish.
    pub fn key(&self, criterion: Criterion) -> (i64, i64) {
        (Figures { cost: self.cost, busy: self.busy }.value(criterion), self.finish)
    }
}

/// A job to be planned. Chains are planned on the types or processors of `chosen`, and then moved to the processors of
/// `real`. `calendars` contains the free times of these processors.
#[derive(Clone, Copy, Debug)]
pub struct ChainJob<'a> {
    /// The processors, or types of processors, on which chains are planned.
    pub chosen: &'a Frame<'a>,
    /// The processors on which the tasks finally run.
    pub real: &'a Frame<'a>,
    /// The chains of the job.
    pub chains: &'a [Chain],
    /// The busy periods of each processor.
    pub calendars: &'a [Calendar],
    /// The schedule of [`heft`] on these calendars.
    pub first: &'a Draft<'a>,
    /// Latest end of the job, in ticks.
    pub end: i64,
    /// The instant until which isolated tasks may hold processors: the job's deadline.
    pub held: i64,
}

/// Plans a job by HEFT on processors that other jobs occupy at times.
pub fn heft<'a>(frame: &'a Frame<'a>, calendars: &[Calendar]) -> Draft<'a> {
    let mut draft = Draft::new(frame, calendars.to_vec());
    frame.by_rank().iter().for_each(|&task| draft.put_first(task));
    draft
}

/// Returns the schedules that end in time, sorted by finish. None of them is dominated by another in finish, cost and
/// busy time. The result is empty if the method finds no schedule.
///
/// Source: Tselishchev and Toporkov 2009, section 3. Deviations:
///
/// * At most eight variants are kept from one chain to the next, the best ones by the criterion. The paper keeps all
///   combinations.
/// * The windows of tasks take the whole graph into account.
/// * If the unplaced tasks of a chain do not fit, the whole chain is planned again.
/// * Plans are made for several latest ends, up to the end of the job. For each latest end, there is one plan with
///   minimum and one with mean transfer times.
/// * `Start::Heft` is not in the paper.
///
/// A placement is as long as its task runs. Isolated tasks may hold processors for longer, see [`Isolated`].
pub fn strategy(task: &ChainJob, settings: &Settings) -> Vec<JobSchedule> {
    let mut offers = Vec::new();
    if settings.start != ChainBase::Heft {
        offers.extend(empty(task, settings));
    }
    if settings.start != ChainBase::Empty {
        offers.extend(from_heft(task, settings));
    }
    pareto(offers)
}

/// Returns the offers that are not dominated, sorted by finish. The first of several equal offers is kept.
pub fn pareto(offers: Vec<JobSchedule>) -> Vec<JobSchedule> {
    undominated(offers, |offer| [offer.finish, offer.cost, -offer.busy].map(i128::from))
}

/// Plans the chains one by one into the empty schedule, for several ends. Plans for an early end leave time before the
/// deadline for colliding tasks and for the last chains.
fn empty(task: &ChainJob, settings: &Settings) -> Vec<JobSchedule> {
    let release = task.real.release();
    let least = task.chains.first().map_or(0, |chain| chain.length).clamp(0, task.end - release);
    let room = task.end - release - least;
    let ends = if task.real.tasks() > MANY.0 {
        MANY.1
    } else if task.chosen.is_of_types() {
        ENDS.1
    } else {
        ENDS.0
    };
    let end = |share: i64| if share == ends { task.end } else { release + least + room / ends * share };
    let mut each: Vec<i64> = (0..=ends).map(end).collect();
    each.dedup();
    let (criterion, tie_break) = (settings.criterion, TieBreak::Earliest);
    let aim =
        |end: i64| [TransferRoom::Least, TransferRoom::Mean].map(|room| ChainAim { criterion, tie_break, end, room });
    each.into_iter().flat_map(aim).flat_map(|aim| towards(task, settings, &aim)).collect()
}

/// Plans all chains with one aim, and then resolves the collisions.
fn towards(task: &ChainJob, settings: &Settings, aim: &ChainAim) -> Vec<JobSchedule> {
    let calendars =
        if task.chosen.is_of_types() { task.chosen.calendars_by_type(task.calendars) } else { task.calendars.to_vec() };
    let mut drafts = vec![Draft::new(task.chosen, calendars)];
    let kept = (MAX_PLACES / task.real.tasks().max(1)).clamp(1, KEPT);
    for chain in task.chains {
        let mut next = variants(drafts, chain, aim);
        next.sort_by_cached_key(|draft| (draft.figures().value(aim.criterion), draft.finish()));
        next.truncate(kept);
        drafts = next;
    }
    drafts.iter().filter_map(|draft| settled(task, settings, draft, aim.room)).collect()
}

/// Adds a chain to each draft, in each of the best ways.
fn variants<'a>(drafts: Vec<Draft<'a>>, chain: &Chain, aim: &ChainAim) -> Vec<Draft<'a>> {
    let mut next: Vec<Draft> = Vec::with_capacity(2 * drafts.len());
    for draft in drafts {
        let changed = chain.tasks.iter().any(|&task| !draft.is_placed(task));
        if !changed && holds(&draft, chain) {
            next.push(draft);
            continue;
        }
        // There may be several optima. The earliest and the latest one are used.
        for tie_break in [TieBreak::Earliest, TieBreak::Latest] {
            let Some(draft) = with_chain(&draft, chain, &ChainAim { tie_break, ..*aim }) else { continue };
            if next.iter().all(|other| !other.has_same_places(&draft)) {
                next.push(draft);
            }
        }
    }
    next
}

/// Returns whether the draft keeps all edges between the tasks of a chain.
fn holds(draft: &Draft, chain: &Chain) -> bool {
    chain.tasks.windows(2).zip(&chain.edges).all(|(pair, &edge)| draft.keeps(pair[0], pair[1], edge))
}

/// Adds a chain to a draft. If the unplaced tasks of the chain do not fit, the whole chain is planned again.
fn with_chain<'a>(draft: &Draft<'a>, chain: &Chain, aim: &ChainAim) -> Option<Draft<'a>> {
    let mut next = draft.clone();
    if plan(&mut next, &chain.tasks, &chain.edges, aim) {
        return Some(next);
    }
    if chain.tasks.iter().all(|&task| !draft.is_placed(task)) {
        return None;
    }
    chain.tasks.iter().for_each(|&task| next.lift(task));
    plan(&mut next, &chain.tasks, &chain.edges, aim).then_some(next)
}

/// Moves the tasks of a draft to free processors. Returns `None` if the job then ends too late.
fn settled(task: &ChainJob, settings: &Settings, draft: &Draft, room: TransferRoom) -> Option<JobSchedule> {
    let resolution =
        Resolution { chosen: task.chosen, real: task.real, end: task.end, room, penalties: &settings.penalties };
    let (draft, collisions) = resolve(&resolution, task.calendars.to_vec(), &draft.places()?);
    if draft.finish() > task.end {
        return None;
    }
    JobSchedule::new(draft, collisions, settings, task.held)
}

/// Stretches HEFT's schedule. Then plans one chain after another again, as well as possible, several times.
fn from_heft(task: &ChainJob, settings: &Settings) -> Vec<JobSchedule> {
    let first = task.first;
    if first.finish() > task.end || task.real.tasks() == 0 {
        return Vec::new();
    }
    let offer = |draft: Draft| JobSchedule::new(draft, Vec::new(), settings, task.held);
    let mut offers: Vec<JobSchedule> = offer(first.clone()).into_iter().collect();
    let mut draft = stretched(task).unwrap_or_else(|| first.clone());
    let mut best = draft.clone();
    let mut rest: Vec<u32> = Vec::new();
    let mut planned = vec![false; task.real.tasks()];
    let once = 10 * task.chains.iter().map(|chain| chain.tasks.len()).sum::<usize>() > MAX_REPLANNED;
    let (mut waited, mut round, mut replanned) = (0, 0, 0);
    while waited < PATIENCE && round < MAX_ROUNDS && !(once && replanned >= MAX_ONCE) {
        // All other tasks are placed, so no room must be left for them.
        let (criterion, end, room) = (settings.criterion, task.end, TransferRoom::Least);
        let aim = ChainAim { criterion, tie_break: Draft::tie_break(round), end, room };
        planned.fill(false);
        for chain in task.chains {
            rest.clear();
            rest.extend(chain.tasks.iter().filter(|&&task| !(once && planned[task as usize])));
            rest.iter().for_each(|&task| planned[task as usize] = true);
            replanned += rest.len();
            again(&mut draft, chain, &rest, &aim);
        }
        round += 1;
        waited += 1;
        if draft.figures().value(criterion) < best.figures().value(criterion) {
            best = draft.clone();
            waited = 0;
        }
    }
    offers.extend(offer(best));
    offers
}

/// Binary logarithm of the minimum number of steps into which the time to the deadline is divided. Schedules are
/// stretched by whole steps. The number of steps is less than twice the minimum.
const STEPS: u32 = 8;

/// Returns the length of a step for a span. It is a power of two, so that rounding does not depend on the unit if
/// ticks become finer by a power of two.
fn step(span: i64) -> i64 {
    1 << span.max(1).ilog2().saturating_sub(STEPS)
}

/// Delays the starts in HEFT's schedule in proportion to the time to the deadline, in whole steps. Returns `None` if a processor is
/// busy.
fn stretched<'a>(task: &ChainJob<'a>) -> Option<Draft<'a>> {
    let first = task.first;
    let (release, places) = (first.release(), first.places()?);
    let span = i128::from((first.finish() - release).max(1));
    let (room, step) = (i128::from(task.end - release), step(task.end - release));
    let mut draft = Draft::new(task.real, task.calendars.to_vec());
    for (number, place) in places.into_iter().enumerate() {
        let time = task.real.time_on(number as u32, place.processor);
        // Only the delay is rounded to steps, so no task starts before its data arrive.
        let delay = i128::from(place.start - release) * (room - span) / span / i128::from(step);
        let start = place.start + i64::try_from(delay).ok()?.checked_mul(step)?;
        if !task.calendars[place.processor.index()].fits(1, start, time) {
            return None;
        }
        draft.put_on(number as u32, TaskPlace { start, ..place });
    }
    Some(draft)
}

/// Plans these tasks of a chain again, without moving other tasks. Keeps the old places if the new ones are worse or
/// do not fit.
fn again(draft: &mut Draft, chain: &Chain, tasks: &[u32], aim: &ChainAim) {
    if tasks.is_empty() {
        return;
    }
    let figures = |draft: &Draft| draft.figures_of(tasks).value(aim.criterion);
    let before = figures(draft);
    let old: Vec<Option<TaskPlace>> = tasks.iter().map(|&task| draft.place(task)).collect();
    tasks.iter().for_each(|&task| draft.lift(task));
    let better = plan(draft, &chain.tasks, &chain.edges, aim) && figures(draft) <= before;
    if !better {
        tasks.iter().for_each(|&task| draft.lift(task));
        for (&task, place) in tasks.iter().zip(old) {
            if let Some(place) = place {
                draft.put_on(task, place);
            }
        }
    }
}
