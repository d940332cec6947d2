//! Draws modes of tasks at random, and repairs them until the stock of consumables suffices.

use rand::{Rng, RngExt};

use crate::kernel::cumulative::CumulativeProblem;

/// Maximum number of random changes of modes in a repair, per task of the instance. A repair changes modes until the
/// consumables suffice.
const TRIES: usize = 8;

/// Compares the use of consumables with the stock, and repairs modes.
#[derive(Clone, Debug)]
pub(super) struct Repair {
    used: Vec<u64>,
    after: Vec<u64>,
}

impl Repair {
    pub fn new(problem: &CumulativeProblem<'_>) -> Self {
        Self { used: vec![0; problem.stocks().len()], after: vec![0; problem.stocks().len()] }
    }

    /// Returns the excess of the used amounts over the stock: the sum, over all consumables, of the excess divided by
    /// the stock.
    pub fn excess(&mut self, problem: &CumulativeProblem<'_>, modes: &[u32]) -> f64 {
        self.used.fill(0);
        for &mode in modes {
            self.used.iter_mut().zip(problem.used_up(mode)).for_each(|(all, own)| *all = all.saturating_add(*own));
        }
        excess(problem, &self.used)
    }

    /// Repairs modes. Each step gives a random task a mode that reduces the excess. Returns whether there is no excess
    /// at the end.
    pub fn repair(&mut self, problem: &CumulativeProblem<'_>, modes: &mut [u32], random: &mut impl Rng) -> bool {
        if problem.stocks().is_empty() {
            return true;
        }
        let mut present = self.excess(problem, modes);
        for _ in 0..TRIES * modes.len() {
            if present <= 0.0 {
                return true;
            }
            let task = random.random_range(0..modes.len());
            let (old, new) = (modes[task], random.random_range(problem.modes_of(problem.row_of(task as u32))));
            let (own, other) = (problem.used_up(old).iter(), problem.used_up(new));
            for ((after, used), (own, other)) in self.after.iter_mut().zip(&self.used).zip(own.zip(other)) {
                *after = used.saturating_sub(*own).saturating_add(*other);
            }
            let next = excess(problem, &self.after);
            if next < present {
                modes[task] = new;
                present = next;
                std::mem::swap(&mut self.used, &mut self.after);
            }
        }
        present <= 0.0
    }
}

fn excess(problem: &CumulativeProblem<'_>, used: &[u64]) -> f64 {
    let each = used.iter().zip(problem.stocks());
    each.map(|(used, stock)| used.saturating_sub(*stock) as f64 / (*stock).max(1) as f64).sum()
}

/// Returns a random mode of a task, which may be `mode`. If the task has few modes, all of them are equally probable.
/// Otherwise, modes near `mode` are more probable.
pub(super) fn other(problem: &CumulativeProblem<'_>, task: u32, mode: u32, random: &mut impl Rng) -> u32 {
    /// Maximum number of modes of a task for which all modes are equally probable.
    const FEW: usize = 4;
    let all = problem.modes_of(problem.row_of(task));
    if all.len() <= FEW || random.random_range(0..4) == 0 {
        return random.random_range(all);
    }
    let step = random.random_range(1..=FEW as u32);
    if random.random() { (mode + step).min(all.end - 1) } else { mode.saturating_sub(step).max(all.start) }
}
