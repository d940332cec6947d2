//! Annealing of lists on a packing: their order, and the allotments.

use makespan_core::{Instance, Job, JobId, Objective, Rows};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::density;
use crate::kernel::move_to;
use crate::kernel::packing::{Entry, Packer, Packing, Row};
use crate::search::{Course, Neighbourhood, anneal, heat};

/// The temperature begins at this share of the value.
const HOT: f64 = 0.02;
/// What one task beyond the limit counts, for each tick.
const BEYOND: f64 = 1e9;

/// What is minimised.
#[derive(Clone, Copy, Debug)]
pub(in crate::scheduler) struct Aim {
    pub objective: Objective,
    /// No schedule that is longer is wanted.
    pub limit: Option<i64>,
    /// A proven bound on the value, in the unit of the search: a search that reaches it ends.
    pub floor: f64,
}

/// Lists, one at a time, and what they are worth.
pub(in crate::scheduler) struct PackedSearch<'p, 'a> {
    packing: &'p Packing<'a>,
    packer: Packer<'p, 'a>,
    aim: Aim,
    from: i64,
    /// The last end of each job.
    ends: Vec<i64>,
    job_of: Vec<JobId>,
}

impl<'p, 'a> PackedSearch<'p, 'a> {
    pub(in crate::scheduler) fn new(packing: &'p Packing<'a>, aim: Aim) -> Self {
        let instance = packing.instance();
        Self {
            packing,
            packer: Packer::new(packing),
            aim,
            from: instance.first_release().ticks(),
            ends: vec![0; instance.jobs().len()],
            job_of: packing.rows().map(|row| packing.job_of(row)).collect(),
        }
    }

    /// The objective in its own unit, but a sum where the mean is meant; more for schedules beyond the limit. Infinite for a list
    /// that cannot be carried out.
    pub(in crate::scheduler) fn value(&mut self, list: &[Entry]) -> f64 {
        if self.packer.run(list, self.from, false).is_err() {
            return f64::INFINITY;
        }
        let Self { packing, ends, job_of, .. } = self;
        ends.fill(0);
        let mut last = 0;
        for (entry, &end) in list.iter().zip(self.packer.ends()) {
            let job = job_of[packing.row_of(entry.task).index()].index();
            ends[job] = ends[job].max(end);
            last = last.max(end);
        }
        let value = of_ends(self.aim.objective, packing.instance(), ends, last);
        beyond(value, self.aim.limit, last)
    }
}

/// A value, and more where a schedule ends beyond the limit.
pub(super) fn beyond(value: f64, limit: Option<i64>, last: i64) -> f64 {
    match limit {
        Some(limit) if last > limit => value + BEYOND * (last - limit) as f64 * (1.0 + value.abs() * 1e-6),
        _ => value,
    }
}

/// An objective of the ends of jobs; the sum of flows instead of their mean.
pub(super) fn of_ends(objective: Objective, instance: &Instance, ends: &[i64], last: i64) -> f64 {
    let each = || instance.jobs().iter().zip(ends);
    let late = |(job, &end): (&Job<Rows>, &i64)| {
        job.deadline.map_or(0.0, |deadline| end.saturating_sub(deadline.ticks()).max(0) as f64)
    };
    match objective {
        Objective::WeightedCompletion => each().map(|(job, &end)| job.weight.millionths() as f64 * end as f64).sum(),
        Objective::MeanFlow => each().map(|(job, &end)| (end - job.release.ticks()) as f64).sum(),
        Objective::MaxLateness => each().map(late).fold(0.0, f64::max),
        Objective::WeightedLateness => each().map(|(job, end)| job.weight.millionths() as f64 * late((job, end))).sum(),
        Objective::Makespan | Objective::Cost | Objective::Throughput => last as f64,
    }
}

/// The best list found, with its value: from lists over all balances in several orders, and from those that are known. `None` when
/// none can be carried out.
pub(in crate::scheduler) fn search(
    packing: &Packing<'_>,
    aim: Aim,
    known: &[Vec<Entry>],
    random: ChaCha8Rng,
    course: &mut Course,
) -> Option<(f64, Vec<Entry>)> {
    let mut search = PackedSearch::new(packing, aim);
    let mut best: Option<(f64, Vec<Entry>)> = None;
    let mut consider = |search: &mut PackedSearch<'_, '_>, list: Vec<Entry>| {
        let value = search.value(&list);
        if value.is_finite() && best.as_ref().is_none_or(|(least, _)| value < *least) {
            best = Some((value, list));
        }
    };
    known.iter().for_each(|list| consider(&mut search, list.clone()));
    balanced_lists(packing).into_iter().for_each(|list| consider(&mut search, list));
    let (value, list) = best?;
    if list.len() < 2 {
        return Some((value, list));
    }
    let mut changing = Changing { search, random, current: value, best: (value, list.clone()), list, hot: HOT * value };
    anneal(&mut changing, course);
    Some(changing.best)
}

/// Lists over all balances, each in several orders.
pub(super) fn balanced_lists(packing: &Packing<'_>) -> Vec<Vec<Entry>> {
    packing.balanced().iter().flat_map(|choices| orders(packing, choices)).collect()
}

/// Lists of the same choices: the longest path first, jobs by weight for their area, jobs by their deadline.
pub(super) fn orders(packing: &Packing<'_>, choices: &[u32]) -> Vec<Vec<Entry>> {
    let instance = packing.instance();
    let ranks = packing.ranks(choices);
    let mut areas = vec![0.0; instance.jobs().len()];
    let mut longest = vec![0.0_f64; instance.jobs().len()];
    for row in packing.rows() {
        let job = packing.job_of(row).index();
        areas[job] += packing.area(choices[row.index()]) * f64::from(packing.count_of(row));
        longest[job] = longest[job].max(ranks[row.index()]);
    }
    let largest = ranks.iter().copied().fold(1.0, f64::max);
    // Within a job those first whose path is longest.
    let within = |row: Row| -ranks[row.index()] / largest;
    let by_job = |keys: Vec<f64>| {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
        let mut place = vec![0.0; keys.len()];
        order.into_iter().enumerate().for_each(|(at, job)| place[job] = 2.0 * at as f64);
        packing.list(choices, |row| place[packing.job_of(row).index()] + within(row))
    };
    let weight = |job: usize| instance.jobs()[job].weight.as_f64().max(1e-9);
    let jobs = 0..instance.jobs().len();
    let mut lists = vec![
        packing.list(choices, within),
        packing.list(choices, |row| -density(packing, choices, row)),
        packing.list(choices, |row| packing.area(choices[row.index()])),
        by_job(jobs.clone().map(|job| areas[job] / weight(job)).collect()),
        by_job(jobs.clone().map(|job| longest[job] / weight(job)).collect()),
    ];
    if instance.jobs().iter().any(|job| job.deadline.is_some()) {
        let due = |job: usize| instance.jobs()[job].deadline.map_or(f64::MAX, |deadline| deadline.ticks() as f64);
        lists.push(by_job(jobs.map(due).collect()));
    }
    lists
}

/// A list that changes.
struct Changing<'p, 'a> {
    search: PackedSearch<'p, 'a>,
    random: ChaCha8Rng,
    list: Vec<Entry>,
    current: f64,
    best: (f64, Vec<Entry>),
    hot: f64,
}

/// How a change is taken back.
enum Undo {
    Choice(usize, u32),
    /// From one place to another.
    Move(usize, usize),
}

impl Neighbourhood for Changing<'_, '_> {
    fn is_optimal(&self) -> bool {
        self.best.0 <= self.search.aim.floor
    }

    fn step(&mut self, done: f64) {
        let undo = self.change();
        let value = self.search.value(&self.list);
        let cooling = 1.0 - done;
        let tolerated = heat(1.0, &mut self.random) * self.hot * cooling * cooling;
        if value - self.current > tolerated || !value.is_finite() {
            undo.apply(&mut self.list);
            return;
        }
        self.current = value;
        if value < self.best.0 {
            self.best.0 = value;
            self.best.1.copy_from_slice(&self.list);
        }
    }
}

impl Changing<'_, '_> {
    /// Changes one allotment, or the place of one task.
    fn change(&mut self) -> Undo {
        let Self { search, random, list, .. } = self;
        let at = random.random_range(0..list.len());
        let Entry { task, choice } = list[at];
        let choices = search.packing.choices_of(search.packing.row_of(task));
        if choices.len() > 1 && random.random_bool(0.4) {
            list[at].choice = other(choice, &choices, random);
            return Undo::Choice(at, choice);
        }
        // Mostly not far, sometimes anywhere.
        let far = list.len() as i64;
        let reach = if random.random_bool(0.7) { (far / 10).clamp(2, 30) } else { far };
        let to = (at as i64 + random.random_range(-reach..=reach)).clamp(0, far - 1) as usize;
        move_to(list, at, to);
        Undo::Move(at, to)
    }
}

/// Another choice of the same task: mostly the next one.
fn other(choice: u32, choices: &std::ops::Range<u32>, random: &mut impl Rng) -> u32 {
    match random.random_range(0..4) {
        0 => random.random_range(choices.clone()),
        1 | 2 if choice + 1 < choices.end => choice + 1,
        _ if choice > choices.start => choice - 1,
        _ => choice + 1,
    }
}

impl Undo {
    fn apply(&self, list: &mut [Entry]) {
        match *self {
            Self::Choice(at, choice) => list[at].choice = choice,
            Self::Move(from, to) => move_to(list, to, from),
        }
    }
}
