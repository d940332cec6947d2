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
    scale: Vec<u64>,
    /// A supply, and the amounts of a scale of tasks. The amounts are repeated if the tasks have more than three modes
    /// in total.
    of_tasks: Option<(u8, [u64; 3])>,
    prices: Vec<Vec<(u64, i64)>>,
}

impl Extras {
    pub fn mirrored() -> Self {
        Self { has_mirror: true, ..Self::default() }
    }

    pub fn draw(rng: &mut ChaCha8Rng) -> Self {
        let scale = (0..if rng.random_range(0..2) == 0 { 3 } else { 0 }).map(|_| rng.random_range(0..4)).collect();
        let count = rng.random_range(0..4);
        let run = |rng: &mut ChaCha8Rng| (rng.random_range(0..4), 256 * rng.random_range(0..8));
        let prices = (0..3).map(|_| (0..count).map(|_| run(rng)).collect()).collect();
        let of_tasks = rng.random::<bool>().then(|| (rng.random_range(0..2), [(); 3].map(|()| rng.random_range(0..4))));
        // If the instance has the mirror symmetry, task 0 may be mirrored: its middle is in the first half of the
        // time.
        Self { has_pairs: rng.random(), has_mirror: rng.random(), scale, of_tasks, prices }
    }
}

fn unsigned(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn signed(bytes: &mut Vec<u8>, number: i64) {
    unsigned(bytes, (number << 1 ^ number >> 63).cast_unsigned());
}

fn write(bytes: &mut Vec<u8>, step: RefutationStep) {
    let held = |bytes: &mut Vec<u8>, kind, held: Held| {
        bytes.extend([kind, held.supply as u8]);
        signed(bytes, held.at);
    };
    let within = |bytes: &mut Vec<u8>, kind, held: HeldWithin| {
        bytes.extend([kind, held.supply as u8]);
        signed(bytes, held.from);
        signed(bytes, held.until);
    };
    let last = match step {
        RefutationStep::Nogood(id) => {
            bytes.push(1);
            id as usize
        }
        RefutationStep::After(first, second) | RefutationStep::Before(first, second) => {
            bytes.push(if matches!(step, RefutationStep::After(..)) { 2 } else { 3 });
            unsigned(bytes, first as u64);
            second
        }
        RefutationStep::StartLater(at, task) => {
            held(bytes, 4, at);
            task
        }
        RefutationStep::EndEarlier(at, task) => {
            held(bytes, 5, at);
            task
        }
        RefutationStep::ModesAt(at, task) => {
            held(bytes, 6, at);
            task
        }
        RefutationStep::Deadline(task) => {
            bytes.push(7);
            task
        }
        RefutationStep::FastModes(task) => {
            bytes.push(8);
            task
        }
        RefutationStep::ModesWithin(window, task) => {
            within(bytes, 16, window);
            task
        }
        RefutationStep::FirstStarts(prices, task)
        | RefutationStep::LastStarts(prices, task)
        | RefutationStep::FirstModes(prices, task)
        | RefutationStep::LastModes(prices, task) => {
            let kind = match step {
                RefutationStep::FirstStarts(..) => 10,
                RefutationStep::LastStarts(..) => 11,
                RefutationStep::FirstModes(..) => 12,
                _ => 13,
            };
            bytes.extend([kind, prices as u8]);
            task
        }
        RefutationStep::Energy(window) => return within(bytes, 9, window),
        RefutationStep::Overload(at) => return held(bytes, 14, at),
        RefutationStep::Prices(prices) => return bytes.extend([15, prices as u8]),
    };
    unsigned(bytes, last as u64);
}

/// Returns a refutation of all values below `value`, or `None` if there is a schedule.
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
            steps.extend([22, one as u8, other as u8]);
        }
    }
    if !extras.scale.is_empty() {
        steps.push(30);
        let scale = &extras.scale[..instance.processors() as usize];
        let mut most = vec![0; scale.len() + 1];
        for size in 1..most.len() {
            most[size] = (1..=size).map(|width| most[size - width] + scale[width - 1]).max().unwrap();
        }
        unsigned(&mut steps, most[scale.len()]);
        scale.iter().for_each(|&value| unsigned(&mut steps, value));
    }
    if let Some((supply, amounts)) = extras.of_tasks {
        let modes = relaxation.tasks.iter().flat_map(|task| &task.modes).count();
        steps.extend([32, supply.min(relaxation.supplies.len() as u8 - 1)]);
        amounts.iter().cycle().take(modes).for_each(|&amount| unsigned(&mut steps, amount));
    }
    let scales = usize::from(!extras.scale.is_empty()) + usize::from(extras.of_tasks.is_some());
    let supplies = relaxation.supplies.len() + scales;
    steps.push(31);
    for supply in 0..supplies {
        let runs = extras.prices.get(supply).map_or(&[][..], Vec::as_slice);
        unsigned(&mut steps, runs.len() as u64);
        let mut last = 0;
        for &(length, price) in runs {
            unsigned(&mut steps, length);
            signed(&mut steps, price - last);
            last = price;
        }
    }
    // Even prices of zero prove a bound: the sum of the minimum ends.
    steps.push(31);
    steps.extend(std::iter::repeat_n(0, supplies));
    let mut replay = Replay::new(relaxation, mirror).unwrap();
    let mut search = Search { written: 0, nogoods: 0, steps };
    search.refute(&mut replay, &mut Vec::new())?;
    Some(Refutation { value, grid, steps: search.steps })
}

struct Search {
    /// Number of bytes that the replay has read.
    written: usize,
    nogoods: u64,
    steps: Vec<u8>,
}

impl Search {
    /// Refutes the decisions. Returns the number of the nogood, or `None` if there is a schedule.
    fn refute(&mut self, replay: &mut Replay, decisions: &mut Vec<Literal>) -> Option<u64> {
        if replay.refutes(&self.steps[self.written..]).unwrap() {
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

    fn nogood(&mut self, replay: &mut Replay, decisions: &[Literal], used: &[RefutationStep]) -> u64 {
        self.nogoods += 1;
        self.steps.push(21);
        unsigned(&mut self.steps, self.nogoods);
        unsigned(&mut self.steps, decisions.len() as u64);
        for literal in decisions.iter().map(|literal| literal.negated()) {
            unsigned(&mut self.steps, literal.bound as u64);
            signed(&mut self.steps, literal.value);
        }
        unsigned(&mut self.steps, used.len() as u64);
        used.iter().for_each(|&step| write(&mut self.steps, step));
        replay.refutes(&self.steps[self.written..]).unwrap();
        self.written = self.steps.len();
        self.nogoods
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
