//! A search without learning that writes refutations. It tries all steps, and branches on starts and modes.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::deadlines;
use super::super::relaxation::are_equal;
use super::super::replay::Replay;
use super::super::state::Literal;
use super::super::step::{Held, HeldWithin, RefutationStep};
use super::super::{Refutation, is_symmetric};
use makespan_core::{Instance, Objective};

/// Optional records of a proof.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    has_pairs: bool,
    has_mirror: bool,
    /// The supply of a scale, and its amounts for the modes of all tasks. If there are more than three modes, the
    /// amounts are repeated.
    of_tasks: Option<(u64, [u64; 3])>,
    /// The amounts of a lifted scale.
    lifted: Option<[u64; 3]>,
    prices: Vec<Vec<(u64, i64)>>,
}

impl Extras {
    pub fn mirrored() -> Self {
        Self { has_mirror: true, ..Self::default() }
    }

    pub fn draw(rng: &mut ChaCha8Rng) -> Self {
        let count = rng.random_range(0..4);
        let run = |rng: &mut ChaCha8Rng| (rng.random_range(0..4), 256 * rng.random_range(0..8));
        let prices = (0..3).map(|_| (0..count).map(|_| run(rng)).collect()).collect();
        let of_tasks = rng.random::<bool>().then(|| (rng.random_range(0..2), [(); 3].map(|()| rng.random_range(0..4))));
        let lifted = rng.random::<bool>().then(|| [(); 3].map(|()| rng.random_range(0..4)));
        // If the instance has mirror symmetry, `has_mirror` mirrors task 0: the middle of its run is in the first half
        // of the time until the deadline.
        Self { has_pairs: rng.random(), has_mirror: rng.random(), of_tasks, lifted, prices }
    }
}

/// Encodes a signed number as an unsigned number.
fn signed(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

fn write(numbers: &mut Vec<u64>, step: RefutationStep) {
    let held = |kind: usize, held: Held, task| [kind, held.supply, task, signed(held.at) as usize].to_vec();
    let within = |kind: usize, held: HeldWithin, task: Option<usize>| {
        let mut all = vec![kind, held.supply];
        all.extend(task);
        all.extend([signed(held.from) as usize, signed(held.until) as usize]);
        all
    };
    let all = match step {
        RefutationStep::Nogood(number) => vec![1, number],
        RefutationStep::After(first, second) => vec![2, first, second],
        RefutationStep::Before(first, second) => vec![3, first, second],
        RefutationStep::StartLater(at, task) => held(4, at, task),
        RefutationStep::EndEarlier(at, task) => held(5, at, task),
        RefutationStep::ModesAt(at, task) => held(6, at, task),
        RefutationStep::Deadline(task) => vec![7, task],
        RefutationStep::FastModes(task) => vec![8, task],
        RefutationStep::Energy(window) => within(9, window, None),
        RefutationStep::FirstStarts(prices, task) => vec![10, prices, task],
        RefutationStep::LastStarts(prices, task) => vec![11, prices, task],
        RefutationStep::FirstModes(prices, task) => vec![12, prices, task],
        RefutationStep::LastModes(prices, task) => vec![13, prices, task],
        RefutationStep::Overload(at) => vec![14, at.supply, signed(at.at) as usize],
        RefutationStep::Prices(prices) => vec![15, prices],
        RefutationStep::ModesWithin(window, task) => within(16, window, Some(task)),
        RefutationStep::UsedUp(consumable) => vec![17, consumable],
        RefutationStep::ModesLeft(consumable, task) => vec![18, consumable, task],
    };
    numbers.extend(all.into_iter().map(|number| number as u64));
}

/// Returns a refutation of all values below `value`, or `None` if some schedule has such a value.
pub fn refutation(
    instance: &Instance,
    objective: Objective,
    grid: i64,
    value: i64,
    extras: &Extras,
) -> Option<Refutation> {
    let relaxation = deadlines::claimed(instance, objective, grid, value - 1).unwrap();
    let mirror = (objective == Objective::Makespan && is_symmetric(&relaxation)).then_some(value - 1);
    let tasks = relaxation.tasks.len();
    let mut steps = Vec::new();
    if extras.has_mirror && mirror.is_some() {
        steps.extend([23, 0]);
    }
    let first = usize::from(extras.has_mirror && mirror.is_some());
    for (one, other) in (first..tasks).flat_map(|one| (one + 1..tasks).map(move |other| (one, other))) {
        if extras.has_pairs && are_equal(&relaxation, one, other) {
            steps.extend([22, one as u64, other as u64]);
        }
    }
    if let Some((supply, amounts)) = extras.of_tasks {
        let modes = relaxation.tasks.iter().flat_map(|task| &task.modes).count();
        steps.extend([32, supply.min(relaxation.supplies.len() as u64 - 1), modes as u64]);
        steps.extend(amounts.iter().cycle().take(modes));
    }
    if let Some(amounts) = extras.lifted {
        let modes = relaxation.tasks.iter().flat_map(|task| &task.modes).count();
        steps.extend([33, modes as u64]);
        steps.extend(amounts.iter().cycle().take(modes));
    }
    let scales = usize::from(extras.of_tasks.is_some()) + usize::from(extras.lifted.is_some());
    let supplies = relaxation.supplies.len() + scales;
    steps.extend([31, supplies as u64]);
    for supply in 0..supplies {
        let runs = extras.prices.get(supply).map_or(&[][..], Vec::as_slice);
        steps.push(runs.len() as u64);
        let mut last = 0;
        for &(length, price) in runs {
            steps.extend([length, signed(price - last)]);
            last = price;
        }
    }
    // Even prices of zero prove a bound: the sum of the minimum ends.
    steps.extend([31, supplies as u64]);
    steps.extend(std::iter::repeat_n(0, supplies));
    let mut replay = Replay::new(relaxation, mirror).unwrap();
    let mut search = Search { written: 0, nogoods: 0, steps };
    search.refute(&mut replay, &mut Vec::new())?;
    Some(Refutation { value, grid, steps: Refutation::encoded(&search.steps) })
}

struct Search {
    /// The count of numbers that the replay has read.
    written: usize,
    nogoods: usize,
    steps: Vec<u64>,
}

impl Search {
    /// Writes steps that refute the decisions. Returns the number of the proved nogood, or `None` if there is a
    /// schedule with these decisions.
    fn refute(&mut self, replay: &mut Replay, decisions: &mut Vec<Literal>) -> Option<usize> {
        if replay.refutes(&Refutation::encoded(&self.steps[self.written..])).unwrap() {
            return Some(self.nogoods);
        }
        self.written = self.steps.len();
        let mut state = replay.root.clone();
        decisions.iter().for_each(|&literal| state.assume(literal));
        let mut used = Vec::new();
        let all = all_steps(replay, decisions.len());
        loop {
            let before = state.windows().to_vec();
            for &step in &all {
                let old = state.windows().to_vec();
                replay.rules.apply(&mut state, step).unwrap();
                if state.is_empty() || state.windows() != old {
                    used.push(step);
                }
                if state.is_empty() {
                    return Some(self.nogood(replay, decisions, &used));
                }
            }
            if state.windows() == before {
                break;
            }
        }
        let branch = state.windows().iter().enumerate().find_map(|(task, window)| {
            if window.first < window.last {
                Some(Literal { bound: 4 * task + 2, value: window.first as i64 + 1 })
            } else {
                let value = window.earliest + 1;
                (window.earliest < window.latest).then_some(Literal { bound: 4 * task, value })
            }
        })?;
        let mut children = Vec::new();
        for literal in [branch.negated(), branch] {
            decisions.push(literal);
            children.push(RefutationStep::Nogood(self.refute(replay, decisions)?));
            decisions.pop();
        }
        used.extend(children);
        Some(self.nogood(replay, decisions, &used))
    }

    fn nogood(&mut self, replay: &mut Replay, decisions: &[Literal], used: &[RefutationStep]) -> usize {
        self.nogoods += 1;
        self.steps.extend([21, decisions.len() as u64]);
        for literal in decisions.iter().map(|literal| literal.negated()) {
            self.steps.extend([literal.bound as u64, signed(literal.value)]);
        }
        self.steps.push(used.len() as u64);
        used.iter().for_each(|&step| write(&mut self.steps, step));
        replay.refutes(&Refutation::encoded(&self.steps[self.written..])).unwrap();
        self.written = self.steps.len();
        self.nogoods - 1
    }
}

/// Returns all steps that may narrow a window. Tries only a few windows for the energy rules, so that proofs also use
/// the other rules.
fn all_steps(replay: &Replay, depth: usize) -> Vec<RefutationStep> {
    let relaxation = &replay.rules.relaxation;
    let tasks = relaxation.tasks.len();
    let end =
        relaxation.tasks.iter().flat_map(|task| &task.modes).map(|mode| mode.latest + mode.time).max().unwrap_or(0);
    let mut steps: Vec<RefutationStep> =
        (0..tasks).flat_map(|task| [RefutationStep::Deadline(task), RefutationStep::FastModes(task)]).collect();
    let pairs = relaxation.waits.keys().chain(&replay.rules.ordered).copied();
    let mut pairs: Vec<(usize, usize)> = pairs.collect();
    pairs.sort_unstable();
    steps.extend(
        pairs.iter().flat_map(|&(one, other)| [RefutationStep::After(one, other), RefutationStep::Before(one, other)]),
    );
    for supply in 0..relaxation.supplies.len() {
        for at in 0..end {
            let held = Held { supply, at };
            steps.push(RefutationStep::Overload(held));
            for task in 0..tasks {
                steps.push(RefutationStep::StartLater(held, task));
                steps.push(RefutationStep::EndEarlier(held, task));
                steps.push(RefutationStep::ModesAt(held, task));
            }
        }
        for from in 0..if depth.is_multiple_of(2) { end } else { 0 } {
            let held = HeldWithin { supply, from, until: end - from / 2 };
            if held.from < held.until {
                steps.push(RefutationStep::Energy(held));
                steps.extend((0..tasks).map(|task| RefutationStep::ModesWithin(held, task)));
            }
        }
    }
    for consumable in 0..relaxation.consumables.len() {
        steps.push(RefutationStep::UsedUp(consumable));
        steps.extend((0..tasks).map(|task| RefutationStep::ModesLeft(consumable, task)));
    }
    for prices in 0..replay.rules.prices.len() {
        steps.push(RefutationStep::Prices(prices));
        for task in 0..tasks {
            steps.push(RefutationStep::FirstStarts(prices, task));
            steps.push(RefutationStep::LastStarts(prices, task));
            steps.push(RefutationStep::FirstModes(prices, task));
            steps.push(RefutationStep::LastModes(prices, task));
        }
    }
    steps
}
