//! Alpha-fair steady states, by cutting planes.
//!
//! Each bound on the fair throughput is a linear inequality on the throughputs x of the applications: with the prices t
//! of tasks, the sum of `t_k x_k` is at most the income. The search alternates two steps (J. E. Kelley, Journal of the
//! SIAM 8(4), 1960, DOI 10.1137/0108053). It maximises the utility under all known inequalities. Then it solves the
//! programme of the module with these throughputs as weights. Its solution is the longest feasible vector in this
//! direction, and its prices are the next inequality. If the vector reaches the maximum, it is optimal.

use dashu_ratio::RBig;
use makespan_core::tree::{Fairness, Rates, SteadyState, TreePrices, TreeProblem, float_of};

use super::period::period;
use super::rounding::integers;
use super::{Precision, throughput};

/// Rates that are nearly alpha-fair, with a proof.
#[derive(Clone, Debug)]
pub struct FairRates {
    /// The rate of each application on each node, in tasks per second. The rates are feasible in exact arithmetic.
    pub rates: Rates,
    /// The proof of fairness.
    pub fairness: Fairness,
    /// The number e of the proof ([`Fairness::excess`]).
    pub excess: RBig,
}

/// Maximum number of inequalities.
const ROUNDS: usize = 60;
/// The search ends if the proof shows that the rates are at most this far from fair.
const ENOUGH: f64 = 1e-9;
/// Maximum number of sweeps over the multipliers of all inequalities.
const SWEEPS: usize = 2000;
/// The sweeps end if the largest relative change of a sum is below this number.
const STILL: f64 = 1e-13;

/// Returns the alpha-fair steady state of a tree problem, with a proof of its distance from the optimum. Returns `None`
/// if no steady state completes tasks of all applications, or if `alpha` is not from 1 to [`Fairness::MAX`].
///
/// ```
/// use makespan_bounds::tree::alpha_fair;
/// use makespan_core::tree::TreeProblem;
/// use makespan_core::{Instance, Job, Link, Node, Platform, Profile, Time};
/// # use std::num::NonZeroU64;
///
/// // The root computes. The port sends one byte per second to a worker of the same speed. Tasks of `b` have a byte.
/// let link = Some(Link { bandwidth: 1.0, latency: Time::ZERO });
/// let worker = Node { parent: Some(0), link, speed: 3.0, ..Node::new("worker", 1) };
/// let platform = Platform::new(vec![Node::new("root", 1), worker])?;
/// let job = |name: &str, bytes| {
///     let job = Job::new(name, Profile::rigid(1, Time::from_seconds(1)).unwrap());
///     job.with_count(NonZeroU64::new(100).unwrap()).with_data(bytes)
/// };
/// let problem = TreeProblem::new(&Instance::new(platform, vec![job("a", 0), job("b", 1)], vec![])?)?;
/// let found = alpha_fair(&problem, 1).unwrap();
/// assert_eq!(found.fairness.excess(&problem, &found.rates), Ok(found.excess));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn alpha_fair(problem: &TreeProblem, alpha: u32) -> Option<FairRates> {
    let first = throughput(problem, Precision::Float);
    if alpha == 0 || alpha > Fairness::MAX || first.value.is_zero() {
        return None;
    }
    let applications = problem.applications();
    let unit: Vec<f64> = applications.iter().map(|app| float_of(&(&app.weight * &first.value))).collect();
    // The utility of throughputs in multiples of `unit` has these weights. Only their ratios matter.
    let weights: Vec<f64> =
        applications.iter().zip(&unit).map(|(app, unit)| float_of(&app.weight) * unit.powi(1 - alpha as i32)).collect();
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let weights = weights.iter().map(|weight| weight / largest).collect();
    let mut cuts = Cuts { alpha: f64::from(alpha), weights, rows: Vec::new(), sums: vec![0.0; unit.len()] };
    let works: Vec<f64> = applications.iter().map(|app| float_of(&app.work)).collect();
    let by_work = TreePrices { tasks: integers(&works).0, ports: vec![0; problem.nodes().len()], exponent: 0 };
    cuts.add(problem, &unit, &by_work);
    let mut next = first;
    let mut best: Option<FairRates> = None;
    for _ in 0..ROUNDS {
        let rates = next.rates.clone();
        cuts.add(problem, &unit, &next.prices);
        let target = cuts.optimum();
        let proved = cuts.proof(problem, &unit, alpha, &rates);
        let proved = proved.and_then(|fairness| Some((fairness.excess(problem, &rates).ok()?, fairness)));
        if let Some((excess, fairness)) = proved
            && best.as_ref().is_none_or(|best| excess < best.excess)
        {
            best = Some(FairRates { rates, fairness, excess });
        }
        if best.as_ref().is_some_and(|best| float_of(&best.excess) <= ENOUGH) {
            break;
        }
        let directed = target.iter().zip(&unit).map(|(one, unit)| RBig::try_from(one * unit).unwrap_or(RBig::ONE));
        next = throughput(&problem.with_weights(directed), Precision::Float);
    }
    best
}

impl FairRates {
    /// Returns the rates as a plan with a period.
    pub fn steady_state(self, problem: &TreeProblem) -> SteadyState {
        let throughput = self.rates.fair_throughput(problem).unwrap_or(RBig::ZERO);
        let period = period(problem, &self.rates);
        SteadyState { rates: self.rates, throughput, optimum: None, fairness: Some(self.fairness), period }
    }
}

/// Linear inequalities on the throughputs, in multiples of a unit for each application.
struct Cuts {
    alpha: f64,
    /// The weight of each application in the utility.
    weights: Vec<f64>,
    rows: Vec<Cut>,
    /// The sum over all rows of the multiplier times the coefficient, for each application.
    sums: Vec<f64>,
}

/// The sum of the coefficients times the throughputs is at most 1.
struct Cut {
    coefficients: Vec<f64>,
    /// The prices of ports that prove the inequality.
    ports: Vec<f64>,
    /// The dual multiplier of the inequality.
    multiplier: f64,
}

impl Cuts {
    /// Adds the inequality that these prices prove.
    fn add(&mut self, problem: &TreeProblem, unit: &[f64], prices: &TreePrices) {
        let Ok(income) = prices.income(problem) else { return };
        let income = float_of(&income);
        let scale = 2.0_f64.powi(prices.exponent) / income;
        let coefficients = prices.tasks.iter().zip(unit).map(|(&price, unit)| price as f64 * unit / income).collect();
        let ports = prices.ports.iter().map(|&price| price as f64 * scale).collect();
        self.rows.push(Cut { coefficients, ports, multiplier: 0.0 });
    }

    /// Returns the throughputs of the largest utility under all inequalities, by coordinate descent on the multipliers.
    /// With the sum `q_k` of multipliers times coefficients, the best throughput is `(w_k / q_k)^(1 / alpha)`.
    fn optimum(&mut self) -> Vec<f64> {
        for _ in 0..SWEEPS {
            let mut moved: f64 = 0.0;
            for at in 0..self.rows.len() {
                let old = self.rows[at].multiplier;
                let new = self.multiplier(at);
                for (sum, coefficient) in self.sums.iter_mut().zip(&self.rows[at].coefficients) {
                    let after = (*sum + (new - old) * coefficient).max(0.0);
                    moved = moved.max((after - *sum).abs() / after.max(f64::MIN_POSITIVE));
                    *sum = after;
                }
                self.rows[at].multiplier = new;
            }
            if moved < STILL {
                break;
            }
        }
        // Rounding errors of the updates do not accumulate over rounds.
        for (application, sum) in self.sums.iter_mut().enumerate() {
            *sum = self.rows.iter().map(|row| row.multiplier * row.coefficients[application]).sum();
        }
        self.sums.iter().zip(&self.weights).map(|(sum, weight)| self.throughput(*sum, *weight)).collect()
    }

    fn throughput(&self, sum: f64, weight: f64) -> f64 {
        (weight / sum).powf(1.0 / self.alpha)
    }

    /// Returns the multiplier of a row for which its inequality holds while the other multipliers are fixed. The
    /// multiplier is 0 or a root. The left side of the inequality is convex and decreases with the multiplier, so
    /// Newton's method from the left converges.
    fn multiplier(&self, at: usize) -> f64 {
        let Cut { coefficients, multiplier: old, .. } = &self.rows[at];
        let others: Vec<f64> =
            self.sums.iter().zip(coefficients).map(|(sum, own)| (sum - old * own).max(0.0)).collect();
        let side = |multiplier: f64| {
            let (mut value, mut slope) = (-1.0, 0.0);
            for ((other, own), weight) in others.iter().zip(coefficients).zip(&self.weights) {
                if *own > 0.0 {
                    let sum = other + multiplier * own;
                    let part = own * self.throughput(sum, *weight);
                    value += part;
                    slope -= part * own / (self.alpha * sum);
                }
            }
            (value, slope)
        };
        if side(0.0).0 <= 0.0 {
            return 0.0;
        }
        let mut left = if *old > 0.0 { *old } else { 1.0 };
        while side(left).0 < 0.0 {
            left /= 2.0;
        }
        for _ in 0..60 {
            let (value, slope) = side(left);
            let step = value / -slope;
            if step <= left * 1e-16 {
                break;
            }
            left += step;
        }
        left
    }

    /// Returns a proof for these rates: tasks have prices proportional to their marginal utilities, and ports have the
    /// prices of the inequalities, multiplied by their multipliers.
    fn proof(&self, problem: &TreeProblem, unit: &[f64], alpha: u32, rates: &Rates) -> Option<Fairness> {
        let totals: Vec<f64> = rates.totals(problem).iter().map(float_of).collect();
        if totals.contains(&0.0) {
            return None;
        }
        let relative: Vec<f64> = totals.iter().zip(unit).map(|(total, unit)| total / unit).collect();
        let values: Vec<f64> =
            self.weights.iter().zip(&relative).map(|(weight, one)| weight * one.powf(-self.alpha)).collect();
        // The prices of ports refer to the prices `sums`. The values of tasks refer to the same total.
        let total = |prices: &[f64]| prices.iter().zip(&relative).map(|(price, one)| price * one).sum::<f64>();
        let factor = total(&values) / total(&self.sums);
        let ports: Vec<f64> = (0..problem.nodes().len())
            .map(|node| factor * self.rows.iter().map(|row| row.multiplier * row.ports[node]).sum::<f64>())
            .collect();
        let values: Vec<f64> = values.iter().zip(unit).map(|(value, unit)| value / unit).collect();
        // Prices are rounded up, since a price that is too low by a fraction makes the proof weaker by this fraction.
        let of_tasks = integers(&values).1;
        let tasks = values.iter().map(|value| (value / 2.0_f64.powi(of_tasks)).ceil() as u64).collect();
        let (ports, of_ports) = integers(&ports);
        Some(Fairness { alpha, prices: TreePrices { tasks, ports, exponent: of_ports - of_tasks } })
    }
}
