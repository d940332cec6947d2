//! The lifted scale that proves the largest makespan.

use super::model::Model;
use super::scales::{Held, Scale, area};
use super::together::Sets;

/// Maximum number of elementary operations of the search for a scale.
const MAX_WORK: u64 = 5_000_000;
/// Maximum number of steps of the simplex method.
const MAX_STEPS: usize = 1000;
/// The unit in which the search states the amounts of a scale, as a fraction of the capacity.
const UNIT: f64 = (1 << 24) as f64;
/// The capacities that are tried, in this order. A smaller capacity is better, because the certificate is then shorter.
const CAPACITIES: std::ops::RangeInclusive<u32> = 1..=60;
/// The capacity if no capacity of this list makes all amounts whole.
const LARGE: f64 = 10_000.0;
/// The tolerance of comparisons.
const PRECISION: f64 = 1e-6;

/// The linear programme of A. Mingozzi, V. Maniezzo, S. Ricciardelli, L. Bianco (Management Science 44, 1998, DOI
/// 10.1287/mnsc.44.5.714). Let S be the sets of tasks that can run at the same time, and suppose that tasks may be
/// interrupted. The variable `x_S` is the time for which exactly the tasks of S run:
///
/// ```text
/// minimise    sum_S x_S
/// subject to  sum_{S contains j} x_S >= t_j    for each task j, with the shortest time t_j
///             x >= 0
/// ```
///
/// In the dual programme, task j holds the amount `f_j` of a scale with the capacity 1:
///
/// ```text
/// maximise    sum_j t_j f_j
/// subject to  sum_{j in S} f_j <= 1    for each set S
///             f >= 0
/// ```
struct Programme {
    /// The inverse of the basis. Row i belongs to the basic variable i, and column j to task j.
    inverse: Vec<Vec<f64>>,
    /// The cost of each basic variable: 1 for a set, and 0 for the excess of a task.
    costs: Vec<f64>,
    values: Vec<f64>,
}

impl Programme {
    /// Returns the programme with a basis in which each task runs alone.
    fn new(times: &[i64]) -> Self {
        let longest = times.iter().copied().max().unwrap_or(0).max(1) as f64;
        let row = |task: usize| (0..times.len()).map(|other| f64::from(u8::from(other == task))).collect();
        Self {
            inverse: (0..times.len()).map(row).collect(),
            costs: vec![1.0; times.len()],
            values: times.iter().map(|&time| time as f64 / longest).collect(),
        }
    }

    /// Returns the amount of the scale that each task holds.
    fn amounts(&self) -> Vec<f64> {
        let of = |task: usize| self.costs.iter().zip(&self.inverse).map(|(cost, row)| cost * row[task]).sum();
        (0..self.values.len()).map(of).collect()
    }

    /// Makes a variable basic. Its column has the entry `entry` for each of `tasks`, and 0 for other tasks.
    fn enter(&mut self, tasks: &[usize], entry: f64, cost: f64) -> Option<()> {
        let direction = |row: &Vec<f64>| tasks.iter().map(|&task| entry * row[task]).sum();
        let direction: Vec<f64> = self.inverse.iter().map(direction).collect();
        let ratio = |at: &usize| self.values[*at] / direction[*at];
        let limits = (0..direction.len()).filter(|&at| direction[at] > 1e-9);
        let leaves = limits.min_by(|one, other| ratio(one).total_cmp(&ratio(other)))?;
        let step = ratio(&leaves);
        let pivot: Vec<f64> = self.inverse[leaves].iter().map(|value| value / direction[leaves]).collect();
        for (at, row) in self.inverse.iter_mut().enumerate() {
            if at != leaves {
                row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= direction[at] * pivot);
                self.values[at] -= direction[at] * step;
            }
        }
        (self.inverse[leaves], self.values[leaves], self.costs[leaves]) = (pivot, step, cost);
        Some(())
    }
}

/// Returns the lifted scale that proves the largest makespan, or `None` if no lifted scale proves more than the
/// supplies, if some task has several modes, or if the search would take too long.
pub(super) fn best(model: &Model) -> Option<Scale> {
    if model.is_sum || model.tasks.iter().any(|task| task.modes() > 1) {
        return None;
    }
    let mut sets = Sets::new(model, MAX_WORK);
    let amounts = optimum(model, &mut sets)?;
    let whole = |capacity: f64| -> Held {
        let amount = |amount: &f64| vec![((amount * capacity + PRECISION * capacity).floor() as i64).max(0)];
        amounts.iter().map(amount).collect()
    };
    let is_exact = |capacity: &f64| {
        amounts.iter().all(|amount| (amount * capacity - (amount * capacity).round()).abs() < PRECISION * capacity)
    };
    let held = whole(CAPACITIES.map(f64::from).find(is_exact).unwrap_or(LARGE));
    let most = sets.heaviest(&held, None)?.0;
    let of_supply = |supply: usize| {
        let held: Held = model.tasks.iter().map(|task| task.amounts[supply].clone()).collect();
        area(model, &held) / model.supplies[supply].most().max(1) as f64
    };
    let known = (0..model.supplies.len()).map(of_supply).fold(0.0, f64::max);
    (area(model, &held) / most.max(1) as f64 > known * (1.0 + PRECISION)).then(|| Scale::lifted(held, most))
}

/// Returns an optimal solution of the dual programme: the amount of the scale that each task holds.
fn optimum(model: &Model, sets: &mut Sets) -> Option<Vec<f64>> {
    let times: Vec<i64> = model.tasks.iter().map(super::task::ModelTask::shortest).collect();
    let mut programme = Programme::new(&times);
    for _ in 0..MAX_STEPS {
        let amounts = programme.amounts();
        if let Some(negative) = (0..amounts.len()).find(|&task| amounts[task] < -1e-9) {
            programme.enter(&[negative], -1.0, 0.0)?;
            continue;
        }
        let held = amounts.iter().map(|amount| vec![(amount * UNIT).round() as i64]).collect();
        let (sum, set) = sets.heaviest(&held, None)?;
        if sum as f64 <= UNIT * (1.0 + PRECISION) {
            return Some(amounts);
        }
        programme.enter(&set, 1.0, 1.0)?;
    }
    None
}
