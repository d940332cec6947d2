//! The strategy of one job: several schedules, none of which dominates another.

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

/// Number of rounds without improvement after which the planning of chains ends.
const PATIENCE: usize = 4;
const MAX_ROUNDS: usize = 40;
/// Maximum number of tasks that ten rounds may plan again if each round plans all tasks of each chain. If ten rounds
/// would plan more tasks, each round plans each task only once. The rounds then end after `MAX_ONCE` planned tasks in
/// total.
const MAX_REPLANNED: usize = 60_000;
const MAX_ONCE: usize = 20_000;

/// Maximum number of variants that are kept from one chain to the next. If the variants would have more than
/// `MAX_PLACES` places in total, fewer variants are kept.
const KEPT: usize = 8;
const MAX_PLACES: usize = 2048;
/// Number of equal parts into which the last part of the time of a job is divided. This part begins at the earliest
/// possible end of the job, which follows from its longest chain, and ends at the latest end of the job. The job is
/// planned to end by each boundary, including the first and the last. The first number is for chains on processors, the
/// second for chains on types of processors.
const ENDS: (i64, i64) = (4, 8);
/// The first number is the maximum number of tasks for which `ENDS` is used. The second number is the number of parts
/// for jobs with more tasks.
const MANY: (usize, i64) = (512, 1);

/// The schedule that chains are planned into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChainBase {
    /// An empty schedule, as in the paper.
    Empty,
    /// HEFT's schedule, stretched to the deadline. Each chain is removed and planned again until no chain can be
    /// improved.
    Heft,
    /// The empty schedule first, and then HEFT's schedule. The best schedules of both are kept.
    #[default]
    Both,
}

/// Settings of the critical jobs method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The objective.
    pub criterion: Criterion,
    /// The rule by which chains cover the graph.
    pub cover: Cover,
    /// The schedule that chains are planned into.
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
    /// The cost, computed as in [`Criterion::Cost`].
    pub cost: i64,
    /// The time for which processors are busy with the job or held for it, in ticks.
    pub busy: i64,
    /// The isolated tasks that hold processors longer than they run.
    pub reserves: Vec<Reserve>,
    /// The tasks that were moved to resolve collisions.
    pub collisions: Vec<Collision>,
    /// For each chain, the number of variants after this chain was planned. Filled only if the chains were planned one
    /// after another, beginning with an empty schedule; otherwise empty.
    pub counts: Vec<u32>,
}

impl JobSchedule {
    /// Returns the schedule for a complete draft, or `None` if a task is not placed. Isolated tasks may hold
    /// processors until `held`.
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

    /// Returns the schedule for a complete draft, without reserves.
    pub fn plain(draft: &Draft) -> Self {
        let Figures { cost, busy } = draft.figures();
        let (places, finish) = (draft.places().unwrap_or_default(), draft.finish());
        Self { places, finish, cost, busy, reserves: Vec::new(), collisions: Vec::new(), counts: Vec::new() }
    }

    /// Returns, for each task of the job, the instant until which the task holds its processor.
    pub fn held_until(&self, frame: &Frame) -> Vec<i64> {
        let end = |(task, place): (usize, &TaskPlace)| place.start + frame.time_on(task as u32, place.processor);
        let mut until: Vec<i64> = self.places.iter().enumerate().map(end).collect();
        self.reserves.iter().for_each(|held| until[held.task as usize] = held.until);
        until
    }

    /// Returns a sort key: first the value of the objective, where less is better, and then the end of the job.
    pub fn key(&self, criterion: Criterion) -> (i64, i64) {
        (Figures { cost: self.cost, busy: self.busy }.value(criterion), self.finish)
    }
}

/// A job to be planned. Chains are planned on the processors or types of `chosen`. The tasks are then moved to the
/// processors of `real`.
#[derive(Clone, Copy, Debug)]
pub struct ChainJob<'a> {
    /// The processors, or types of processors, on which chains are planned.
    pub chosen: &'a Frame<'a>,
    /// The processors on which the tasks finally run.
    pub real: &'a Frame<'a>,
    /// The chains of the job.
    pub chains: &'a [Chain],
    /// The busy periods of each processor of `real`.
    pub calendars: &'a [Calendar],
    /// The schedule that [`heft`] finds on `calendars`.
    pub first: &'a Draft<'a>,
    /// Latest end of the job, in ticks.
    pub end: i64,
    /// The instant until which isolated tasks may hold processors: the job's deadline.
    pub held: i64,
}

/// Plans a job by HEFT on processors that may be busy at times. The tasks of a gang are placed together, when the gang is
/// ready.
pub fn heft<'a>(frame: &'a Frame<'a>, calendars: &[Calendar]) -> Draft<'a> {
    let mut draft = Draft::new(frame, calendars.to_vec());
    let mut rest = frame.by_rank();
    while let Some(&task) = rest.first() {
        let (gang, later) = rest.split_at(frame.gang_size(task));
        match gang {
            [_] => draft.put_first(task),
            _ => draft.put_together(gang),
        }
        rest = later;
    }
    draft
}

/// Returns schedules that end in time, sorted by the end of the job. Compared with every other schedule of the result,
/// each ends sooner, costs less or keeps the processors busier. If the method finds no schedule, the result is empty.
///
/// Source: Tselishchev and Toporkov 2009, section 3. Deviations:
///
/// * From one chain to the next, only the best variants by the criterion are kept, at most eight. The paper keeps all
///   combinations.
/// * The time windows of tasks depend on the whole graph.
/// * If the unplaced tasks of a chain do not fit, the whole chain is planned again.
/// * The method plans for several deadlines, up to the deadline of the job. For each latest end, one plan assumes
///   minimum
///   transfer times and one plan assumes mean transfer times.
/// * [`ChainBase::Heft`] is not in the paper.
///
/// The chains of a job with gangs are not planned: the only schedule is the schedule of [`heft`], if it ends in time.
///
/// A placement is as long as its task runs. Isolated tasks may hold processors for longer, see [`Isolated`].
pub fn strategy(task: &ChainJob, settings: &Settings) -> Vec<JobSchedule> {
    if task.real.has_gangs() {
        let in_time = task.first.finish() <= task.end;
        return in_time.then(|| JobSchedule::plain(task.first)).into_iter().collect();
    }
    let mut offers = Vec::new();
    if settings.start != ChainBase::Heft {
        offers.extend(empty(task, settings));
    }
    if settings.start != ChainBase::Empty {
        offers.extend(from_heft(task, settings));
    }
    pareto(offers)
}

/// Returns the schedules that are not dominated, sorted by the end of the job. If schedules are equal, the first is
/// kept.
pub fn pareto(offers: Vec<JobSchedule>) -> Vec<JobSchedule> {
    undominated(offers, |offer| [offer.finish, offer.cost, -offer.busy].map(i128::from))
}

/// Plans the chains one by one into the empty schedule, for several latest ends. A plan for an early end leaves time
/// before the deadline. Colliding tasks and the last chains may use this time.
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

/// Plans all chains with one aim (an objective and a latest end), and then resolves the collisions.
fn towards(task: &ChainJob, settings: &Settings, aim: &ChainAim) -> Vec<JobSchedule> {
    let calendars =
        if task.chosen.is_of_types() { task.chosen.calendars_by_type(task.calendars) } else { task.calendars.to_vec() };
    let mut drafts = vec![Draft::new(task.chosen, calendars)];
    let kept = (MAX_PLACES / task.real.tasks().max(1)).clamp(1, KEPT);
    let mut counts = Vec::with_capacity(task.chains.len());
    for chain in task.chains {
        let mut next = variants(drafts, chain, aim);
        next.sort_by_cached_key(|draft| (draft.figures().value(aim.criterion), draft.finish()));
        next.truncate(kept);
        counts.push(next.len() as u32);
        drafts = next;
    }
    let settled = drafts.iter().filter_map(|draft| settled(task, settings, draft, aim.room));
    settled.map(|offer| JobSchedule { counts: counts.clone(), ..offer }).collect()
}

/// Adds a chain to each draft, in up to two equally good ways.
fn variants<'a>(drafts: Vec<Draft<'a>>, chain: &Chain, aim: &ChainAim) -> Vec<Draft<'a>> {
    let mut next: Vec<Draft> = Vec::with_capacity(2 * drafts.len());
    for draft in drafts {
        let changed = chain.tasks.iter().any(|&task| !draft.is_placed(task));
        if !changed && holds(&draft, chain) {
            next.push(draft);
            continue;
        }
        // If several plans are optimal, use the earliest and the latest one.
        for tie_break in [TieBreak::Earliest, TieBreak::Latest] {
            let Some(draft) = with_chain(&draft, chain, &ChainAim { tie_break, ..*aim }) else { continue };
            if next.iter().all(|other| !other.has_same_places(&draft)) {
                next.push(draft);
            }
        }
    }
    next
}

/// Returns whether all edges between the tasks of a chain are satisfied in the draft.
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

/// Stretches HEFT's schedule to the latest end. Then, in several rounds, plans each chain again as well as possible.
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
        // All other tasks are placed, so the plan needs no additional time for their transfers.
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

/// Binary logarithm of the minimum number of steps into which the time from release to deadline is divided. The number
/// of steps is less than twice this minimum. Schedules are stretched by whole steps.
const STEPS: u32 = 8;

/// Returns the length of a step if the time from release to deadline is `span`. The length is a power of two. Thus a
/// schedule is rounded in the same way if ticks become finer by a power of two.
fn step(span: i64) -> i64 {
    1 << span.max(1).ilog2().saturating_sub(STEPS)
}

/// Delays each start in HEFT's schedule in proportion to its time since the release, so that the schedule ends at
/// about the latest end of the job. Delays are rounded to whole steps. Returns `None` if a processor is busy at the
/// delayed time.
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

/// Plans the tasks `tasks` of a chain again, without moving other tasks. If the new places are worse or do not fit,
/// keeps the old places.
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
