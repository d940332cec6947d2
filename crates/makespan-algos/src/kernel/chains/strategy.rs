//! The strategy of one job: several schedules of it, none better than another in everything.

use makespan_core::{FreeTime, undominated};

use super::collisions::{Collision, Penalties, Resolution, resolve};
use super::criterion::{Criterion, Figures, TieBreak};
use super::draft::Draft;
use super::frame::Frame;
use super::planning::{Aim, plan};
use super::ranking::{Chain, Cover};
use super::reserve::{Isolated, Reserve, reserve};
use super::windows::Room;
use crate::free_time::Calendar;
use crate::kernel::graph::Place;

/// Rounds without gain after which chains are not planned again, and rounds in all.
const PATIENCE: usize = 4;
const MAX_ROUNDS: usize = 40;
/// Where ten rounds would plan more tasks of chains again, a round plans each task once, and all rounds so many.
const MAX_REPLANNED: usize = 60_000;
const MAX_ONCE: usize = 20_000;

/// Variants that are kept from one chain to the next; of many tasks fewer, so that these have so many places in all.
const KEPT: usize = 8;
const MAX_PLACES: usize = 2048;
/// Parts of the time between the longest chain and the end, at which plans are aimed: on processors, on types of them, and of
/// so many tasks.
const ENDS: (i64, i64) = (4, 8);
const MANY: (usize, i64) = (512, 1);

/// What chains are planned into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Nothing: as printed.
    Empty,
    /// A schedule by HEFT, stretched to the deadline, from which each chain is taken and put back better until none
    /// can be.
    Heft,
    /// Both, and whatever is better of either is kept.
    #[default]
    Both,
}

/// How a job is planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What is optimised.
    pub criterion: Criterion,
    /// How chains cover the graph.
    pub cover: Cover,
    /// What chains are planned into.
    pub start: Start,
    /// What a resolved collision costs.
    pub penalties: Penalties,
    /// For how long isolated tasks hold their processors.
    pub isolated: Isolated,
}

/// A schedule of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Where and when, a task after the other.
    pub places: Vec<Place>,
    /// When its last task ends.
    pub finish: i64,
    /// What it costs, in thousandths.
    pub cost: i64,
    /// How long processors are busy with it, or held for it.
    pub busy: i64,
    /// The isolated tasks that hold processors longer than they run.
    pub reserves: Vec<Reserve>,
    /// What had to be moved.
    pub collisions: Vec<Collision>,
}

impl Offer {
    /// A whole draft with what isolated tasks may hold of the time until `held`.
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

    /// A whole draft as it is.
    pub fn plain(draft: &Draft) -> Self {
        let Figures { cost, busy } = draft.figures();
        let (places, finish) = (draft.places().unwrap_or_default(), draft.finish());
        Self { places, finish, cost, busy, reserves: Vec::new(), collisions: Vec::new() }
    }

    /// Until when each task holds its processor, as numbered in the job of `frame`.
    pub fn held_until(&self, frame: &Frame) -> Vec<i64> {
        let end = |(task, place): (usize, &Place)| place.start + frame.time_on(task as u32, place.processor);
        let mut until: Vec<i64> = self.places.iter().enumerate().map(end).collect();
        self.reserves.iter().for_each(|held| until[held.task as usize] = held.until);
        until
    }

    /// By what is optimised, less is better; then by finish.
    pub fn key(&self, criterion: Criterion) -> (i64, i64) {
        (Figures { cost: self.cost, busy: self.busy }.value(criterion), self.finish)
    }
}

/// One job to be planned: on types of processors or on these themselves (`chosen`), for processors that are free as
/// `calendars` say (`real`).
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// What chains are planned on.
    pub chosen: &'a Frame<'a>,
    /// Where they run in the end.
    pub real: &'a Frame<'a>,
    /// The chains of the job.
    pub chains: &'a [Chain],
    /// When processors are busy.
    pub calendars: &'a [Calendar],
    /// What [`heft`] makes of the job on these calendars.
    pub first: &'a Draft<'a>,
    /// By when the job must end.
    pub end: i64,
    /// Until when isolated tasks may hold processors: the job's deadline.
    pub held: i64,
}

/// HEFT with processors that others hold at times.
pub fn heft<'a>(frame: &'a Frame<'a>, calendars: &[Calendar]) -> Draft<'a> {
    let mut draft = Draft::new(frame, calendars.to_vec());
    frame.by_rank().iter().for_each(|&task| draft.put_first(task));
    draft
}

/// The schedules that end in time, of which none beats another in finish, cost and busy time at once: by finish. Empty
/// when the method finds none.
///
/// Source: Tselishchev and Toporkov 2009, section 3. Deviations: at most eight variants are kept from one chain to the
/// next, those best by the criterion, where the paper multiplies them all; windows look at the whole graph; a chain whose rest
/// does not fit is planned again as a whole; plans are aimed at several ends, of which the last is the job's, with the least
/// and with mean room for data; `Start::Heft` is ours. Tasks are placed for as long as they run; isolated ones may hold more, see [`Isolated`].
pub fn strategy(task: &Task, settings: &Settings) -> Vec<Offer> {
    let mut offers = Vec::new();
    if settings.start != Start::Heft {
        offers.extend(empty(task, settings));
    }
    if settings.start != Start::Empty {
        offers.extend(from_heft(task, settings));
    }
    pareto(offers)
}

/// Those that no other beats, by finish; of equal ones the first.
pub fn pareto(offers: Vec<Offer>) -> Vec<Offer> {
    undominated(offers, |offer| [offer.finish, offer.cost, -offer.busy].map(i128::from))
}

/// Chains one after the other onto what is free, towards several ends: tasks planned towards an early end leave room to
/// those that collide, and to the chains that come last.
fn empty(task: &Task, settings: &Settings) -> Vec<Offer> {
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
    let aim = |end: i64| [Room::Least, Room::Mean].map(|room| Aim { criterion, tie_break, end, room });
    each.into_iter().flat_map(aim).flat_map(|aim| towards(task, settings, &aim)).collect()
}

/// All chains by one aim, then on processors that are free.
fn towards(task: &Task, settings: &Settings, aim: &Aim) -> Vec<Offer> {
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

/// The drafts with one more chain, in each way that is best.
fn variants<'a>(drafts: Vec<Draft<'a>>, chain: &Chain, aim: &Aim) -> Vec<Draft<'a>> {
    let mut next: Vec<Draft> = Vec::with_capacity(2 * drafts.len());
    for draft in drafts {
        let changed = chain.tasks.iter().any(|&task| !draft.is_placed(task));
        if !changed && holds(&draft, chain) {
            next.push(draft);
            continue;
        }
        // Several optima of one value may be found: those at the two ends of the windows are taken.
        for tie_break in [TieBreak::Earliest, TieBreak::Latest] {
            let Some(draft) = with_chain(&draft, chain, &Aim { tie_break, ..*aim }) else { continue };
            if next.iter().all(|other| !other.has_same_places(&draft)) {
                next.push(draft);
            }
        }
    }
    next
}

/// Whether all edges of a chain whose tasks are placed are kept.
fn holds(draft: &Draft, chain: &Chain) -> bool {
    chain.tasks.windows(2).zip(&chain.edges).all(|(pair, &edge)| draft.keeps(pair[0], pair[1], edge))
}

/// A draft with one more chain. Where what others left of it does not fit, the whole of it is planned again.
fn with_chain<'a>(draft: &Draft<'a>, chain: &Chain, aim: &Aim) -> Option<Draft<'a>> {
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

/// A draft on processors that are free, if it ends in time.
fn settled(task: &Task, settings: &Settings, draft: &Draft, room: Room) -> Option<Offer> {
    let resolution =
        Resolution { chosen: task.chosen, real: task.real, end: task.end, room, penalties: &settings.penalties };
    let (draft, collisions) = resolve(&resolution, task.calendars.to_vec(), &draft.places()?);
    if draft.finish() > task.end {
        return None;
    }
    Offer::new(draft, collisions, settings, task.held)
}

/// HEFT's schedule, stretched, with one chain after the other taken away and put back as well as can be.
fn from_heft(task: &Task, settings: &Settings) -> Vec<Offer> {
    let first = task.first;
    if first.finish() > task.end || task.real.tasks() == 0 {
        return Vec::new();
    }
    let offer = |draft: Draft| Offer::new(draft, Vec::new(), settings, task.held);
    let mut offers: Vec<Offer> = offer(first.clone()).into_iter().collect();
    let mut draft = stretched(task).unwrap_or_else(|| first.clone());
    let mut best = draft.clone();
    let mut rest: Vec<u32> = Vec::new();
    let mut planned = vec![false; task.real.tasks()];
    let once = 10 * task.chains.iter().map(|chain| chain.tasks.len()).sum::<usize>() > MAX_REPLANNED;
    let (mut waited, mut round, mut replanned) = (0, 0, 0);
    while waited < PATIENCE && round < MAX_ROUNDS && !(once && replanned >= MAX_ONCE) {
        // All else is placed: there is nothing to leave room to.
        let (criterion, end, room) = (settings.criterion, task.end, Room::Least);
        let aim = Aim { criterion, tie_break: Draft::tie_break(round), end, room };
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

/// Of the steps by which a schedule is stretched there are 2 to the power of this before the deadline, and fewer than twice as
/// many.
const STEPS: u32 = 8;

/// The step of a span: a power of two, so that times in finer ticks of that kind have the same steps.
fn step(span: i64) -> i64 {
    1 << span.max(1).ilog2().saturating_sub(STEPS)
}

/// HEFT's starts as many times later as the time to the deadline is longer than the schedule, in whole steps, if the chart allows it.
fn stretched<'a>(task: &Task<'a>) -> Option<Draft<'a>> {
    let first = task.first;
    let (release, places) = (first.release(), first.places()?);
    let span = i128::from((first.finish() - release).max(1));
    let (room, step) = (i128::from(task.end - release), step(task.end - release));
    let mut draft = Draft::new(task.real, task.calendars.to_vec());
    for (number, place) in places.into_iter().enumerate() {
        let time = task.real.time_on(number as u32, place.processor);
        // Steps of the delay alone: no task comes before its data.
        let delay = i128::from(place.start - release) * (room - span) / span / i128::from(step);
        let start = place.start + i64::try_from(delay).ok()?.checked_mul(step)?;
        if !task.calendars[place.processor.index()].fits(1, start, time) {
            return None;
        }
        draft.put_on(number as u32, Place { start, ..place });
    }
    Some(draft)
}

/// Plans these tasks of a chain again, all else as it is, and keeps the old places where the new ones are no better.
fn again(draft: &mut Draft, chain: &Chain, tasks: &[u32], aim: &Aim) {
    if tasks.is_empty() {
        return;
    }
    let figures = |draft: &Draft| draft.figures_of(tasks).value(aim.criterion);
    let before = figures(draft);
    let old: Vec<Option<Place>> = tasks.iter().map(|&task| draft.place(task)).collect();
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
