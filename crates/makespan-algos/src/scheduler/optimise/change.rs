//! The changes that the search makes to a solution.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::kernel::choices::Choices;
use crate::kernel::move_to;

/// An order of the tasks, and their allotments. Serial insertion turns the order and the allotments into a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Solution {
    pub(crate) order: Vec<u32>,
    /// The allotment of each task, as an index among its choices.
    pub(crate) chosen: Vec<u32>,
}

/// A change of a solution that can be undone. The change affects positions in the order, one or two allotments, or
/// both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    places: Places,
    choice: Option<OtherChoice>,
    /// The change of the allotment of another task, and the position of the other task in the order.
    second: Option<(OtherChoice, usize)>,
}

#[derive(Clone, Copy, Debug)]
enum Places {
    Stay(usize),
    Move(usize, usize),
    Swap(usize, usize),
}

#[derive(Clone, Copy, Debug)]
struct OtherChoice {
    task: u32,
    old: u32,
    new: u32,
}

/// Percentage of changes that only change an allotment. The percentages `ALLOTMENT`, `PLACE` and `SWAP` sum to 90. The
/// remaining changes move a task and also change its allotment.
const ALLOTMENT: u32 = 45;
/// Percentage of changes that only move a task.
const PLACE: u32 = 35;
/// Percentage of changes that swap two tasks.
const SWAP: u32 = 10;
/// Percentage of changes in which two tasks exchange processors. `ALLOTMENT`, `PLACE` and `SWAP` are percentages of all
/// other changes.
const EXCHANGES: u32 = 25;
/// If best placement is required, the percentage of changes that align allotments with nodes. All other percentages are
/// percentages of the changes that do not align allotments.
const TRADES: u32 = 35;

impl Change {
    /// Draws a change. The logarithm of a distance is uniform, so short distances are more frequent than long ones. A
    /// distance is a number of positions in the order, or of allotments of a task.
    pub(super) fn draw(solution: &Solution, choices: &Choices, random: &mut ChaCha8Rng) -> Self {
        let place = random.random_range(0..solution.order.len());
        let kind = random.random_range(0..100);
        if let Some(trade) = trade(solution, choices, place, random) {
            return trade;
        }
        if random.random_range(0..100) < EXCHANGES
            && let Some(exchange) = exchange(solution, choices, place, random)
        {
            return exchange;
        }
        let choice = other_choice(solution, choices, place, random);
        if kind < ALLOTMENT && choice.is_some() {
            return Self { places: Places::Stay(place), choice, second: None };
        }
        let other = other_place(solution.order.len(), place, random);
        if kind < ALLOTMENT + PLACE {
            Self { places: Places::Move(place, other), choice: None, second: None }
        } else if kind < ALLOTMENT + PLACE + SWAP {
            Self { places: Places::Swap(place, other), choice: None, second: None }
        } else {
            Self { places: Places::Move(place, other), choice, second: None }
        }
    }

    /// Applies the change. Returns the first and the last changed position. After the last changed position, the order
    /// and the allotments do not change.
    pub(super) fn apply(&self, solution: &mut Solution) -> (usize, usize) {
        if let Some(OtherChoice { task, new, .. }) = self.choice {
            solution.chosen[task as usize] = new;
        }
        if let Some((OtherChoice { task, new, .. }, _)) = self.second {
            solution.chosen[task as usize] = new;
        }
        match self.places {
            Places::Stay(place) => {
                self.second.map_or((place, place), |(_, second)| (second.min(place), second.max(place)))
            }
            Places::Move(from, to) => {
                move_to(&mut solution.order, from, to);
                (from.min(to), from.max(to))
            }
            Places::Swap(a, b) => {
                solution.order.swap(a, b);
                (a.min(b), a.max(b))
            }
        }
    }

    /// Undoes the change.
    pub(super) fn undo(&self, solution: &mut Solution) {
        if let Some(OtherChoice { task, old, .. }) = self.choice {
            solution.chosen[task as usize] = old;
        }
        if let Some((OtherChoice { task, old, .. }, _)) = self.second {
            solution.chosen[task as usize] = old;
        }
        match self.places {
            Places::Stay(_) => {}
            Places::Move(from, to) => move_to(&mut solution.order, to, from),
            Places::Swap(a, b) => solution.order.swap(a, b),
        }
    }
}

/// Returns a change of an allotment to a multiple of the size of a node, or of a half, a quarter .. of this size. In
/// half of these changes, a nearby task loses the processors that the first task gets. Returns `None` in `100 - TRADES`
/// per cent of the calls, and always if best placement is not required.
///
/// Allotments that are multiples of these sizes fill nodes. A single small step rarely leads from one set of such
/// allotments to another.
fn trade(solution: &Solution, choices: &Choices, place: usize, random: &mut ChaCha8Rng) -> Option<Change> {
    let node = choices.node()?;
    if random.random_range(0..100) >= TRADES {
        return None;
    }
    let grain = (node >> random.random_range(0..=node.ilog2())).max(1);
    let changed = |place: usize, wish: &dyn Fn(u32) -> u32| {
        let task = solution.order[place];
        let old = solution.chosen[task as usize];
        let new = choices.nearest(task, wish(choices.of(task)[old as usize].processors));
        (new != old).then_some(OtherChoice { task, old, new })
    };
    let up = random.random_bool(0.5);
    let aligned = |now: u32| if up { (now / grain + 1) * grain } else { (now - 1) / grain * grain };
    let choice = changed(place, &aligned)?;
    let of = |position: u32| i64::from(choices.of(choice.task)[position as usize].processors);
    let more = of(choice.new) - of(choice.old);
    let second = if random.random_bool(0.5) {
        let other = other_place(solution.order.len(), place, random);
        let given = |now: u32| u32::try_from((i64::from(now) - more).max(1)).unwrap_or(now);
        changed(other, &given).filter(|_| other != place).map(|second| (second, other))
    } else {
        None
    };
    Some(Change { places: Places::Stay(place), choice: Some(choice), second })
}

/// Returns a change in which a task gives processors to a nearby task. The two tasks often run at the same time. If
/// only one of them changed, processors would become idle.
fn exchange(solution: &Solution, choices: &Choices, place: usize, random: &mut ChaCha8Rng) -> Option<Change> {
    let other = other_place(solution.order.len(), place, random);
    if choices.node().is_some() || other == place {
        return None;
    }
    let (from, to) = (solution.order[place], solution.order[other]);
    let processors = |task: u32| choices.of(task)[solution.chosen[task as usize] as usize].processors;
    let given = (f64::from(processors(from)).powf(random.random::<f64>()) as u32).max(1);
    let changed = |task: u32, wish: u32| {
        let old = solution.chosen[task as usize];
        let new = choices.nearest(task, wish);
        (new != old).then_some(OtherChoice { task, old, new })
    };
    let choice = changed(from, processors(from) - given)?;
    let second = changed(to, processors(to) + given)?;
    Some(Change { places: Places::Stay(place), choice: Some(choice), second: Some((second, other)) })
}

fn other_place(tasks: usize, place: usize, random: &mut ChaCha8Rng) -> usize {
    let distance = ((tasks as f64).powf(random.random::<f64>()) as usize).max(1);
    if random.random_bool(0.5) { (place + distance).min(tasks - 1) } else { place.saturating_sub(distance) }
}

fn other_choice(solution: &Solution, choices: &Choices, place: usize, random: &mut ChaCha8Rng) -> Option<OtherChoice> {
    let task = solution.order[place];
    let count = choices.of(task).len() as u32;
    if count < 2 {
        return None;
    }
    let old = solution.chosen[task as usize];
    // Draw the distance to the new choice. With 200 choices, the distance is rarely more than 50.
    let distance = (f64::from(count).powf(0.7 * random.random::<f64>()) as u32).max(1);
    let new = if random.random_bool(0.5) { (old + distance).min(count - 1) } else { old.saturating_sub(distance) };
    Some(OtherChoice { task, old, new })
}
