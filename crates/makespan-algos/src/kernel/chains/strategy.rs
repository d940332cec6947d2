//! The strategy of one job: several schedules of it, none better than another in everything.

use super::collisions::{Collision, Penalties, resolve};
use super::draft::Draft;
use super::frame::Frame;
use super::planning::{Aim, Criterion, Lean, plan};
use super::ranking::{Chain, Cover};
use super::reserve::{Isolated, Reserve, reserve};
use crate::kernel::graph::calendar::Calendar;
use crate::kernel::graph::{Place, rank};

/// Rounds without gain after which chains are not planned again, and rounds in all.
const PATIENCE: usize = 4;
const MOST_ROUNDS: usize = 40;

/// Variants that are kept from one chain to the next.
const KEPT: usize = 8;
/// Parts of the time between the longest chain and the end, at which plans are aimed: on processors, and on types of them.
const ENDS: (i64, i64) = (4, 8);

/// What chains are planned into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Nothing: as printed.
    Empty,
    /// A schedule by HEFT, stretched to the walltime, from which each chain is taken and put back better until none
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
        let (cost, run) = draft.figures();
        let held = reserves.iter().filter_map(|held| Some(held.until - draft.end(held.task)?)).sum::<i64>();
        let (places, finish) = (draft.places()?, draft.finish());
        Some(Self { places, finish, cost, busy: run + held, reserves, collisions })
    }

    /// Until when each task holds its processor, as numbered in the job of `frame`.
    pub fn held_until(&self, frame: &Frame) -> Vec<i64> {
        let end = |(task, place): (usize, &Place)| place.start + frame.time_on(task as u32, place.processor);
        let mut until: Vec<i64> = self.places.iter().enumerate().map(end).collect();
        self.reserves.iter().for_each(|held| until[held.task as usize] = held.until);
        until
    }

    fn beats(&self, other: &Self) -> bool {
        self.finish <= other.finish && self.cost <= other.cost && self.busy >= other.busy
    }

    /// By what is optimised, less is better; then by finish.
    pub fn key(&self, criterion: Criterion) -> (i64, i64) {
        (value(criterion, (self.cost, self.busy)), self.finish)
    }
}

fn value(criterion: Criterion, (cost, busy): (i64, i64)) -> i64 {
    match criterion {
        Criterion::Cost => cost,
        Criterion::Utilisation => -busy,
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
    /// When processors are busy.
    pub calendars: &'a [Calendar],
    /// By when the job must end.
    pub end: i64,
    /// Until when isolated tasks may hold processors: the end of the job's walltime.
    pub held: i64,
}

/// HEFT with processors that others hold at times.
pub fn heft<'a>(frame: &'a Frame<'a>, calendars: &[Calendar]) -> Draft<'a> {
    let problem = frame.problem();
    let ranks = rank::upward(problem, &rank::mean_times(problem));
    let mut order = frame.chart.order.clone();
    order.sort_by(|&a, &b| ranks[frame.number(b) as usize].total_cmp(&ranks[frame.number(a) as usize]));
    let mut draft = Draft::new(frame, calendars.to_vec());
    order.into_iter().for_each(|task| draft.put_first(task));
    draft
}

/// The schedules that end in time, of which none beats another in finish, cost and busy time at once: by finish. Empty
/// when the method finds none.
///
/// Source: Tselishchev and Toporkov 2009, section 3. Deviations: at most eight variants are kept from one chain to the
/// next, those best by the criterion, where the paper multiplies them all; windows look at the whole graph; plans are aimed at
/// several ends, of which the last is the job's; `Start::Heft` is ours. Tasks are placed for as long as they run; isolated ones may hold more, see [`Isolated`].
pub fn strategy(task: &Task, settings: &Settings) -> Vec<Offer> {
    let chains = task.chosen.chart.chains(settings.cover);
    let mut offers = Vec::new();
    if settings.start != Start::Heft {
        offers.extend(empty(task, settings, &chains));
    }
    if settings.start != Start::Empty {
        offers.extend(from_heft(task, settings, &chains));
    }
    pareto(offers)
}

/// Those that no other beats, by finish; of equal ones the first.
pub fn pareto(mut offers: Vec<Offer>) -> Vec<Offer> {
    offers.sort_by_key(|offer| (offer.finish, offer.cost, -offer.busy));
    let mut kept: Vec<Offer> = Vec::new();
    for offer in offers {
        if !kept.iter().any(|other| other.beats(&offer)) {
            kept.push(offer);
        }
    }
    kept
}

/// Chains one after the other onto what is free, towards several ends: tasks planned towards an early end leave room to
/// those that collide, and to the chains that come last.
fn empty(task: &Task, settings: &Settings, chains: &[Chain]) -> Vec<Offer> {
    let release = task.real.release();
    let least = chains.first().map_or(0, |chain| chain.length).clamp(0, task.end - release);
    let room = task.end - release - least;
    let ends = if task.chosen.is_of_types() { ENDS.1 } else { ENDS.0 };
    let end = |share: i64| if share == ends { task.end } else { release + least + room / ends * share };
    (0..=ends).flat_map(|share| towards(task, settings, chains, end(share))).collect()
}

/// All chains before one end, then on processors that are free.
fn towards(task: &Task, settings: &Settings, chains: &[Chain], end: i64) -> Vec<Offer> {
    let calendars =
        if task.chosen.is_of_types() { task.chosen.calendars_by_type(task.calendars) } else { task.calendars.to_vec() };
    let mut drafts = vec![Draft::new(task.chosen, calendars)];
    for chain in chains {
        let mut next = variants(&drafts, chain, settings.criterion, end);
        next.sort_by_cached_key(|draft| (value(settings.criterion, draft.figures()), draft.finish()));
        next.truncate(KEPT);
        drafts = next;
    }
    drafts.iter().filter_map(|draft| settled(task, settings, draft)).collect()
}

/// The drafts with one more chain, in each way that is best.
fn variants<'a>(drafts: &[Draft<'a>], chain: &Chain, criterion: Criterion, end: i64) -> Vec<Draft<'a>> {
    let mut next: Vec<Draft> = Vec::with_capacity(2 * drafts.len());
    for draft in drafts {
        // Several optima of one value may be found: those at the two ends of the windows are taken.
        for lean in [Lean::Early, Lean::Late] {
            let mut draft = draft.clone();
            let mut changed = chain.tasks.iter().any(|&task| !draft.is_placed(task));
            if plan(&mut draft, &chain.tasks, &chain.edges, &Aim { criterion, lean, end }) {
                changed &= next.iter().all(|other| !other.has_same_places(&draft));
                if changed || lean == Lean::Early {
                    next.push(draft);
                }
            }
        }
    }
    next
}

/// A draft on processors that are free, if it ends in time.
fn settled(task: &Task, settings: &Settings, draft: &Draft) -> Option<Offer> {
    let (draft, collisions) =
        resolve(task.real, task.calendars.to_vec(), &draft.places()?, (task.end, &settings.penalties));
    if draft.finish() > task.end {
        return None;
    }
    Offer::new(draft, collisions, settings, task.held)
}

/// HEFT's schedule, stretched, with one chain after the other taken away and put back as well as can be.
fn from_heft(task: &Task, settings: &Settings, chains: &[Chain]) -> Vec<Offer> {
    let first = heft(task.real, task.calendars);
    if first.finish() > task.end || task.real.tasks() == 0 {
        return Vec::new();
    }
    let offer = |draft: Draft| Offer::new(draft, Vec::new(), settings, task.held);
    let mut offers: Vec<Offer> = offer(first.clone()).into_iter().collect();
    let mut draft = stretched(task, &first).unwrap_or(first);
    let mut best = draft.clone();
    let (mut waited, mut round) = (0, 0);
    while waited < PATIENCE && round < MOST_ROUNDS {
        let aim = Aim { criterion: settings.criterion, lean: Draft::lean(round), end: task.end };
        for chain in chains {
            again(&mut draft, chain, &aim);
        }
        round += 1;
        waited += 1;
        if value(settings.criterion, draft.figures()) < value(settings.criterion, best.figures()) {
            best = draft.clone();
            waited = 0;
        }
    }
    offers.extend(offer(best));
    offers
}

/// Of the steps by which a schedule is stretched there are 2 to the power of this in the walltime, and fewer than twice as
/// many.
const STEPS: u32 = 8;

/// The step of a walltime: a power of two, so that times in finer ticks of that kind have the same steps.
fn step(walltime: i64) -> i64 {
    1 << walltime.max(1).ilog2().saturating_sub(STEPS)
}

/// Starts as many times later as the walltime is longer than the schedule, in whole steps, if the chart allows it.
fn stretched<'a>(task: &Task<'a>, first: &Draft<'a>) -> Option<Draft<'a>> {
    let (release, places) = (first.release(), first.places()?);
    let span = i128::from((first.finish() - release).max(1));
    let (room, step) = (i128::from(task.end - release), step(task.end - release));
    let mut draft = Draft::new(task.real, task.calendars.to_vec());
    for (number, place) in places.into_iter().enumerate() {
        let time = task.real.time_on(number as u32, place.processor);
        // Steps of the delay alone: no task comes before its data.
        let delay = i128::from(place.start - release) * (room - span) / span / i128::from(step);
        let start = place.start + i64::try_from(delay).ok()?.checked_mul(step)?;
        if task.calendars[place.processor as usize].earliest_fit(start, time) != start {
            return None;
        }
        draft.put_on(number as u32, Place { start, ..place });
    }
    Some(draft)
}

/// Plans a chain again, all else as it is, and keeps the old places where the new ones are no better.
fn again(draft: &mut Draft, chain: &Chain, aim: &Aim) {
    let before = value(aim.criterion, draft.figures());
    let Some(old) = draft.places() else { return };
    chain.tasks.iter().for_each(|&task| draft.lift(task));
    let better = plan(draft, &chain.tasks, &chain.edges, aim) && value(aim.criterion, draft.figures()) <= before;
    if !better {
        chain.tasks.iter().for_each(|&task| draft.lift(task));
        chain.tasks.iter().for_each(|&task| draft.put_on(task, old[task as usize]));
    }
}
