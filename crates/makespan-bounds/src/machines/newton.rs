//! Maximises the sum of the least payments of all jobs, in a smoothed form.

use makespan_core::{Profile, Time};

use super::NodeColumns;

/// The first width of the soft minimum of each job, as a fraction of the payment of the job. The width is multiplied
/// by `COOLING` until it is below `COLD`.
const HOT: f64 = 0.2;
const COOLING: f64 = 0.35;
const COLD: f64 = 1e-6;
/// Maximum number of steps with one width of the soft minimum.
const STEPS: usize = 8;
/// Maximum number of columns for which the matrix of second derivatives is computed.
const MAX_COLUMNS: usize = 64;
/// Approximate maximum number of run times that the search examines. For large instances, the search examines more,
/// because it makes at least 12 evaluations.
const MAX_LOOKS: f64 = 4e9;
/// The soft minimum of a job ignores machines on which the job pays too much: the logarithm of the payment exceeds the
/// logarithm of the least payment by more than this number of widths.
const REACH: f64 = 36.0;
/// The maximum change of the logarithm of a price in one step. Longer steps are shortened.
const LONGEST: f64 = 1.0;

/// An iterate of Newton's method: prices, and the sum of the payments at these prices. The point also has the
/// derivatives of this sum, smoothed with one width of the soft minimum.
struct Point {
    /// Logarithms of the prices, scaled so that the prices of all machines sum to 1.
    log: Vec<f64>,
    /// The smoothed sum of the payments.
    smooth: f64,
    /// The sum of the payments without smoothing, which is the bound.
    value: f64,
    /// For each column, the sum of the payments of the jobs to this column.
    earned: Vec<f64>,
    /// The matrix `sum_i c_i x_ik x_il`, row by row. Here, `c_i` is the smoothed payment of job i, and `x_ik` is the
    /// share of column k in `c_i`. Empty if the matrix is not computed.
    joint: Vec<f64>,
}

struct Programme<'a, F> {
    columns: &'a NodeColumns,
    counts: &'a [f64],
    time: F,
    /// The length of the unit of time, in ticks.
    unit: f64,
    with_matrix: bool,
}

/// Returns prices that nearly maximise `sum_i counts_i min_k price_k time(i, k) + sum_k price_k machines_k ready_k`,
/// such that the prices of all machines sum to 1.
///
/// A column without machines has the price zero. The result is the best of all prices that the search tries, measured
/// by the sum without smoothing.
pub fn maximise(columns: &NodeColumns, counts: &[f64], nodes: usize, time: impl Fn(usize, usize) -> Time) -> Vec<f64> {
    let machines: f64 = columns.machines.iter().sum();
    if counts.is_empty() {
        return vec![1.0 / machines; nodes];
    }
    let longest = (0..nodes).map(|node| time(0, node)).filter(|&time| time < Profile::CANNOT_RUN).max();
    let unit = longest.map_or(1.0, |time| time.ticks() as f64);
    let programme = Programme { columns, counts, time, unit, with_matrix: nodes <= MAX_COLUMNS };
    let per_look =
        counts.len() as f64 * nodes as f64 * if programme.with_matrix { nodes as f64 / 8.0 + 1.0 } else { 1.0 };
    let mut looks = ((MAX_LOOKS / per_look) as usize).clamp(12, 400);
    let even: Vec<f64> =
        columns.machines.iter().map(|&of| if of > 0.0 { -machines.ln() } else { f64::NEG_INFINITY }).collect();
    let mut width = HOT;
    let mut point = programme.evaluate(even, width);
    let mut best = (point.value, point.log.clone());
    while width > COLD && looks > 0 {
        for _ in 0..STEPS {
            let (next, used) = programme.step(&point, width);
            looks = looks.saturating_sub(used);
            let Some(next) = next else { break };
            let gain = next.smooth - point.smooth;
            point = next;
            if point.value > best.0 {
                best = (point.value, point.log.clone());
            }
            if gain <= point.smooth * width * 1e-3 || looks == 0 {
                break;
            }
        }
        width *= COOLING;
        point = programme.evaluate(point.log, width);
        looks = looks.saturating_sub(1);
    }
    best.1.iter().map(|log| log.exp()).collect()
}

impl<F: Fn(usize, usize) -> Time> Programme<'_, F> {
    fn evaluate(&self, log: Vec<f64>, width: f64) -> Point {
        let nodes = log.len();
        let prices: Vec<f64> = log.iter().map(|log| log.exp() / self.unit).collect();
        let ready: f64 = (0..nodes).map(|k| prices[k] * self.columns.machines[k] * self.columns.ready[k]).sum();
        let mut point = Point {
            log,
            smooth: ready,
            value: ready,
            earned: vec![0.0; nodes],
            joint: vec![0.0; if self.with_matrix { nodes * nodes } else { 0 }],
        };
        let mut costs = vec![0.0; nodes];
        let mut near: Vec<(usize, f64)> = Vec::with_capacity(nodes);
        for (job, &count) in self.counts.iter().enumerate() {
            let mut least = f64::INFINITY;
            for (node, cost) in costs.iter_mut().enumerate() {
                let time = (self.time)(job, node);
                let able = time < Profile::CANNOT_RUN && self.columns.machines[node] > 0.0;
                *cost = if able { prices[node] * time.ticks() as f64 } else { f64::INFINITY };
                least = least.min(*cost);
            }
            if !least.is_finite() || least <= 0.0 {
                continue;
            }
            // The soft minimum uses the logarithms of the costs: least * (sum (cost / least) ^ (-1 / width)) ^
            // (-width).
            near.clear();
            let limit = least * (REACH * width).exp();
            let mut sum = 0.0;
            for (node, &cost) in costs.iter().enumerate().filter(|(_, cost)| **cost <= limit) {
                let share = (-(cost / least).ln() / width).exp();
                near.push((node, share));
                sum += share;
            }
            let soft = count * least * (-width * f64::ln(sum)).exp();
            point.smooth += soft;
            point.value += count * least;
            for &(node, share) in &near {
                let part = soft * share / sum;
                point.earned[node] += part;
                if self.with_matrix {
                    for &(other, second) in &near {
                        point.joint[node * nodes + other] += part * second / sum;
                    }
                }
            }
        }
        point
    }

    /// Makes one step towards the maximum. Returns the new point, or `None` if no step increases the sum. Also returns
    /// the number of evaluations.
    fn step(&self, point: &Point, width: f64) -> (Option<Point>, usize) {
        let nodes = point.log.len();
        let (machines, ready) = (&self.columns.machines, &self.columns.ready);
        let share = |k: usize| point.log[k].exp() * machines[k];
        // For each column, the derivative is the share of the column in the smoothed sum, minus the share of the
        // column in the sum of all prices.
        let income = |k: usize| (point.earned[k] + share(k) * ready[k] / self.unit) / point.smooth;
        let gradient: Vec<f64> =
            (0..nodes).map(|k| if machines[k] > 0.0 { income(k) - share(k) } else { 0.0 }).collect();
        let mut direction = if self.with_matrix {
            self.newton_direction(point, width, &gradient)
        } else {
            let ratio = |k: usize| (income(k).max(1e-9) / share(k)).ln() * width.max(1e-4);
            (0..nodes).map(|k| if machines[k] > 0.0 { ratio(k) } else { 0.0 }).collect()
        };
        let longest = direction.iter().fold(0.0_f64, |longest, change| longest.max(change.abs()));
        if longest > LONGEST {
            direction.iter_mut().for_each(|change| *change *= LONGEST / longest);
        }
        let mut length = 1.0;
        for tried in 1..=6 {
            let mut log: Vec<f64> =
                point.log.iter().zip(&direction).map(|(log, change)| log + length * change).collect();
            let all: f64 = log.iter().zip(machines).map(|(log, of)| log.exp() * of).sum();
            log.iter_mut().for_each(|log| *log -= all.ln());
            let next = self.evaluate(log, width);
            if next.smooth > point.smooth {
                return (Some(next), tried);
            }
            length *= 0.35;
        }
        (None, 6)
    }

    /// Solves `((diag(earned) - joint) / (width smooth) + diag(share)) d = gradient`. Let f be the logarithm of the
    /// quotient of the smoothed sum and the sum of all prices. The matrix approximates minus the second derivative of
    /// f. It omits the term `joint / smooth`, because this term could make the matrix indefinite.
    fn newton_direction(&self, point: &Point, width: f64, gradient: &[f64]) -> Vec<f64> {
        let nodes = gradient.len();
        let mut matrix: Vec<f64> = point.joint.iter().map(|joint| -joint / (width * point.smooth)).collect();
        for k in 0..nodes {
            let share = point.log[k].exp() * self.columns.machines[k];
            let own = point.earned[k] / (width * point.smooth);
            matrix[k * nodes + k] += own + share + 1e-9 * own + 1e-12;
        }
        solve(matrix, gradient.to_vec())
    }
}

/// Solves a symmetric positive definite system by Cholesky decomposition. If rounding makes a pivot zero or negative,
/// a small positive number replaces it.
fn solve(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for k in 0..size {
        let pivot = matrix[k * size + k].max(1e-14).sqrt();
        matrix[k * size + k] = pivot;
        for row in k + 1..size {
            matrix[row * size + k] /= pivot;
        }
        for row in k + 1..size {
            let factor = matrix[row * size + k];
            for column in k + 1..=row {
                matrix[row * size + column] -= factor * matrix[column * size + k];
            }
        }
    }
    for k in 0..size {
        let sum: f64 = (0..k).map(|j| matrix[k * size + j] * right[j]).sum();
        right[k] = (right[k] - sum) / matrix[k * size + k];
    }
    for k in (0..size).rev() {
        let sum: f64 = (k + 1..size).map(|j| matrix[j * size + k] * right[j]).sum();
        right[k] = (right[k] - sum) / matrix[k * size + k];
    }
    right
}
