//! The initial lists of a search.

use rand::{Rng, RngExt};

use super::modes::{self, Repair};
use crate::kernel::cumulative::CumulativeProblem;
use crate::kernel::packing::{ListEntry, Row};

/// The maximum random changes of the keys that define an order, as fractions of the largest key.
const NOISE: [f64; 3] = [0.05, 0.2, 0.5];
/// The fraction of the tasks that get another mode in a random initial list.
const CHANGED: f64 = 0.2;
/// Maximum number of draws of random modes. If the modes of every draw use up too much of a consumable, the modes of a
/// known list are used.
const DRAWN: usize = 8;

/// The initial lists with their modes. No list uses up more of a consumable than the stock.
#[derive(Debug)]
pub(super) struct ModeStarts {
    /// Two arrays for each list, indexed by task: the position and the mode of the task.
    lists: Vec<(Vec<u32>, Vec<u32>)>,
    /// Whether some task has several modes.
    has_modes: bool,
}

impl ModeStarts {
    /// Creates the initial lists from lists of a packing. If the problem omits an allotment of such a list, a mode that
    /// is at least as good replaces the allotment.
    pub fn new(problem: &CumulativeProblem<'_>, lists: &[Vec<ListEntry>]) -> Self {
        let mut repair = Repair::new(problem);
        let mut kept = Vec::with_capacity(lists.len());
        for list in lists {
            let mut places = vec![0; problem.tasks()];
            let mut modes = vec![0; problem.tasks()];
            for (place, entry) in (0..).zip(list) {
                places[entry.task.index()] = place;
                modes[entry.task.index()] = problem.mode_of(problem.row_of(entry.task.0 as u32), entry.choice);
            }
            if repair.excess(problem, &modes) <= 0.0 {
                kept.push((places, modes));
            }
        }
        Self { lists: kept, has_modes: problem.modes() > problem.rows().len() }
    }

    pub fn are_empty(&self) -> bool {
        self.lists.is_empty()
    }

    pub fn len(&self) -> usize {
        self.lists.len()
    }

    pub fn has_modes(&self) -> bool {
        self.has_modes
    }

    /// Returns a list in its original order.
    pub fn as_given(&self, at: usize) -> (Vec<u32>, Vec<u32>) {
        let (places, modes) = &self.lists[at];
        let mut order: Vec<u32> = (0..places.len() as u32).collect();
        order.sort_unstable_by_key(|&task| places[task as usize]);
        (order, modes.clone())
    }

    /// Returns a list in which each task comes after its predecessors.
    pub fn given(&self, problem: &CumulativeProblem<'_>, at: usize) -> (Vec<u32>, Vec<u32>) {
        let (places, modes) = &self.lists[at];
        (in_order(problem, |task| f64::from(places[task as usize])), modes.clone())
    }

    /// Returns a random list. The modes of this list are changed modes of a given list. The order follows from the
    /// positions in the given list or from the longest paths, with random changes.
    pub fn random(
        &self,
        problem: &CumulativeProblem<'_>,
        by_paths: bool,
        repair: &mut Repair,
        random: &mut impl Rng,
    ) -> (Vec<u32>, Vec<u32>) {
        let (places, known) = &self.lists[random.random_range(0..self.lists.len())];
        let modes = if self.has_modes { random_modes(problem, known, repair, random) } else { known.clone() };
        let noise = NOISE[random.random_range(0..NOISE.len())];
        if by_paths {
            let paths = longest_paths(problem, &modes);
            let longest = paths.iter().copied().fold(1.0, f64::max) * noise;
            let mut key = |task: u32| longest * random.random::<f64>() - paths[problem.row_of(task).index()];
            let keys: Vec<f64> = (0..problem.tasks() as u32).map(&mut key).collect();
            return (in_order(problem, |task| keys[task as usize]), modes);
        }
        let far = places.len() as f64 * noise;
        let keys: Vec<f64> = places.iter().map(|&place| f64::from(place) + far * random.random::<f64>()).collect();
        (in_order(problem, |task| keys[task as usize]), modes)
    }
}

/// Returns a mode for each task. There are three kinds of draws. The first kind changes the known modes of some tasks.
/// The second kind draws the mode of each task at random. The third kind draws two modes for each task, and uses the
/// mode with the smaller area.
fn random_modes(
    problem: &CumulativeProblem<'_>,
    known: &[u32],
    repair: &mut Repair,
    random: &mut impl Rng,
) -> Vec<u32> {
    for _ in 0..DRAWN {
        let kind = random.random_range(0..3);
        let mut drawn = known.to_vec();
        for (task, mode) in (0..).zip(&mut drawn) {
            let all = problem.modes_of(problem.row_of(task));
            match kind {
                0 if random.random_bool(CHANGED) => *mode = modes::other(problem, task, *mode, random),
                0 => {}
                1 => *mode = random.random_range(all),
                _ => {
                    let area = |mode: u32| problem.mode(mode).time as f64 * problem.share(mode);
                    let (one, other) = (random.random_range(all.clone()), random.random_range(all));
                    *mode = if area(one) < area(other) { one } else { other };
                }
            }
        }
        if repair.repair(problem, &mut drawn, random) {
            return drawn;
        }
    }
    known.to_vec()
}

/// Returns, for each row of equal tasks, the longest path from its start through its successors.
fn longest_paths(problem: &CumulativeProblem<'_>, modes: &[u32]) -> Vec<f64> {
    let mut paths = vec![0.0_f64; problem.rows().len()];
    for &row in problem.order().iter().rev() {
        let own = problem.tasks_of(row).map(|task| problem.mode(modes[task as usize]).time).max().unwrap_or(0);
        let behind = problem.behind(row).iter().map(|row| paths[row.index()]);
        paths[row.index()] = own as f64 + behind.fold(0.0, f64::max);
    }
    paths
}

/// Returns all tasks, each after its predecessors. A task is ready if all its predecessors are in the order. The ready
/// task with the smallest key is next.
fn in_order(problem: &CumulativeProblem<'_>, key: impl Fn(u32) -> f64) -> Vec<u32> {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    let mut by_key: Vec<u32> = (0..problem.tasks() as u32).collect();
    by_key.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
    let mut rank = vec![0_u32; by_key.len()];
    (0..).zip(&by_key).for_each(|(at, &task)| rank[task as usize] = at);
    let count = |row: &Row| problem.tasks_of(*row).len();
    let mut missing: Vec<usize> = problem.rows().map(|row| problem.before(row).iter().map(count).sum()).collect();
    let free = problem.rows().filter(|row| missing[row.index()] == 0).flat_map(|row| problem.tasks_of(row));
    let mut next: BinaryHeap<Reverse<u32>> = free.map(|task| Reverse(rank[task as usize])).collect();
    let mut order = Vec::with_capacity(by_key.len());
    while let Some(Reverse(at)) = next.pop() {
        let task = by_key[at as usize];
        order.push(task);
        for &row in problem.behind(problem.row_of(task)) {
            missing[row.index()] -= 1;
            if missing[row.index()] == 0 {
                next.extend(problem.tasks_of(row).map(|task| Reverse(rank[task as usize])));
            }
        }
    }
    order
}
