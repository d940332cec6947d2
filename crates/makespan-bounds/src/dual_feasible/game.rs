//! Search for the prices of the terms, as a game. A term of a certificate is the area, a function of the width, a
//! function of the time, or a product of two such functions. The need of an allotment is the sum, over all terms, of
//! the price of the term times the value of the term. One player sets the prices, and maximises the total need of the
//! chosen allotments. The other player chooses an allotment for each job, and minimises this need.
//!
//! The prices follow from multiplicative weights (N. Littlestone, M. K. Warmuth, Information and Computation 108,
//! 1994, DOI 10.1006/inco.1994.1009). The price of a term increases with the need of the chosen allotments for this
//! term, summed over all rounds.

use super::board::{AllotmentBoard, BoardSetting};
use super::functions::most;
use crate::Clock;

/// The rate at which prices follow the needs in the first round. In round r, the rate is divided by the square root of
/// r.
const RATE: f64 = 32.0;

/// The costs of allotments for each class of width and time. A cost is the sum of the terms multiplied by their
/// prices.
#[derive(Clone, Debug, Default)]
pub(super) struct Costs {
    /// The cost of work that equals the whole open area.
    pub area: f64,
    /// The cost of holding all processors, for each class of the time.
    pub times: Vec<f64>,
    /// The cost of holding a width for the whole time, for each class of the width.
    pub widths: Vec<f64>,
    /// For each function of the width and each class of the time, the cost for each unit of the function's value.
    pub both: Vec<Vec<f64>>,
}

/// The total demand of the chosen allotments.
struct Demand {
    work: f64,
    /// The total number of processors of the chosen allotments, for each class of the time.
    processors: Vec<f64>,
    /// The total time of the chosen allotments, for each class of the width.
    time: Vec<f64>,
    /// For each pair of classes (one of the width, one of the time), the number of jobs. The pairs are sorted by the
    /// class of the width.
    jobs: Vec<f64>,
}

/// The state of the game after `rounds` rounds. The game for the next deadline continues from this state.
pub(super) struct Game {
    rounds: u32,
    /// The total need for each term over all rounds. The terms are in this order: the area, the functions of the time,
    /// the functions of the width, and the products of two functions.
    needed: Vec<f64>,
    weights: Vec<f64>,
}

impl Game {
    pub(super) fn new(setting: &BoardSetting) -> Self {
        let terms = 1 + setting.times.len() + setting.widths.len() * (1 + setting.times.len());
        Self { rounds: 0, needed: vec![0.0; terms], weights: vec![0.0; terms] }
    }

    /// Plays up to `rounds` rounds. Stops when the total need of the jobs exceeds `enough`, or when `clock` expires.
    /// Each round has a total need, as a fraction of the capacity. Returns the largest total need, and the costs in the
    /// round of this need. If this need is more than one, the deadline is refuted.
    pub(super) fn play(&mut self, board: &AllotmentBoard, rounds: u32, enough: f64, clock: &Clock) -> (f64, Costs) {
        let mut best = (0.0, Costs::default());
        let mut payoffs = vec![0.0; self.needed.len()];
        for round in 0..rounds {
            if round > 0 && clock.is_over() {
                break;
            }
            self.reprice();
            let costs = board.costs(&self.weights);
            let (needed, demand) = board.answer(&costs);
            // The need is divided by `costs.most()`, which is one or slightly less. Compute this divisor only if the
            // need is near the best need so far.
            if needed > 0.98 * best.0 {
                let value = needed / costs.most();
                if value > best.0 {
                    best = (value, costs);
                }
                if value > enough {
                    break;
                }
            }
            board.payoffs(&demand, &mut payoffs);
            self.rounds += 1;
            self.needed.iter_mut().zip(&payoffs).for_each(|(sum, payoff)| *sum += payoff);
            if board.choices.len() == board.ends.len() {
                // No job has a choice, so a single term is best: the term with the largest need.
                let top = (0..payoffs.len()).max_by(|&a, &b| payoffs[a].total_cmp(&payoffs[b]).then(b.cmp(&a)));
                self.weights.fill(0.0);
                top.into_iter().for_each(|top| self.weights[top] = 1.0);
                let costs = board.costs(&self.weights);
                return (board.answer(&costs).0 / costs.most(), costs);
            }
        }
        best
    }

    fn reprice(&mut self) {
        let rate = RATE / f64::from(self.rounds.max(1)).sqrt();
        let top = self.needed.iter().copied().fold(0.0, f64::max);
        for (weight, needed) in self.weights.iter_mut().zip(&self.needed) {
            *weight = (rate * (needed - top)).exp();
        }
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
    }
}

impl Costs {
    /// Returns an upper limit on the total payment of all jobs if all jobs end by the deadline.
    fn most(&self) -> f64 {
        let both: f64 = self.both.iter().map(|row| most(row)).sum();
        self.area + most(&self.times) + most(&self.widths) + both
    }
}

impl AllotmentBoard<'_> {
    fn classes(&self) -> (usize, usize) {
        (self.setting.widths.first().map_or(1, Vec::len), self.setting.times.first().map_or(1, Vec::len))
    }

    fn costs(&self, weights: &[f64]) -> Costs {
        let (wide, long) = self.classes();
        let mut costs = Costs { area: weights[0], times: vec![0.0; long], widths: vec![0.0; wide], both: Vec::new() };
        let (times, rest) = weights[1..].split_at(self.setting.times.len());
        let (widths, pairs) = rest.split_at(self.setting.widths.len());
        add_mixture(&mut costs.times, times, &self.setting.times);
        add_mixture(&mut costs.widths, widths, &self.setting.widths);
        for prices in pairs.chunks(self.setting.times.len()) {
            let mut row = vec![0.0; long];
            add_mixture(&mut row, prices, &self.setting.times);
            costs.both.push(row);
        }
        costs
    }

    /// Chooses the cheapest allotment of each job. Returns the total need of the jobs and the demand of the chosen
    /// allotments.
    fn answer(&self, costs: &Costs) -> (f64, Demand) {
        let (wide, long) = self.classes();
        let each = self.setting.each;
        let mut both = vec![0.0_f32; wide * long];
        for (function, row) in self.setting.widths.iter().zip(&costs.both) {
            for (sums, &value) in both.chunks_mut(long).zip(function) {
                sums.iter_mut().zip(row).for_each(|(sum, cost)| *sum += (each * value * cost) as f32);
            }
        }
        let single = |costs: &[f64]| costs.iter().map(|&cost| cost as f32).collect::<Vec<f32>>();
        let (area, times, widths) = (costs.area as f32, single(&costs.times), single(&costs.widths));
        let mut demand =
            Demand { work: 0.0, processors: vec![0.0; long], time: vec![0.0; wide], jobs: vec![0.0; wide * long] };
        let (mut needed, mut start) = (0.0, 0);
        for &end in &self.ends {
            let (mut least, mut chosen) = (f32::INFINITY, start);
            for (index, choice) in self.choices[start..end].iter().enumerate() {
                let (width, length) = (usize::from(choice.width), usize::from(choice.length));
                let cost = area * choice.work
                    + choice.processors * times[length]
                    + choice.time * widths[width]
                    + both[width * long + length];
                if cost < least {
                    (least, chosen) = (cost, start + index);
                }
            }
            needed += f64::from(least);
            let choice = self.choices[chosen];
            let (width, length) = (usize::from(choice.width), usize::from(choice.length));
            demand.work += f64::from(choice.work);
            demand.processors[length] += f64::from(choice.processors);
            demand.time[width] += f64::from(choice.time);
            demand.jobs[width * long + length] += each;
            start = end;
        }
        (needed, demand)
    }

    /// Computes, for each term, the need of the chosen allotments (`demand`) as a fraction of the capacity of the term.
    fn payoffs(&self, demand: &Demand, payoffs: &mut [f64]) {
        let (_, long) = self.classes();
        payoffs[0] = demand.work;
        let (times, rest) = payoffs[1..].split_at_mut(self.setting.times.len());
        times
            .iter_mut()
            .zip(&self.setting.times)
            .for_each(|(payoff, function)| *payoff = dot(&demand.processors, function));
        let (widths, pairs) = rest.split_at_mut(self.setting.widths.len());
        let rows = pairs.chunks_mut(self.setting.times.len());
        for ((function, payoff), pairs) in self.setting.widths.iter().zip(widths).zip(rows) {
            *payoff = dot(&demand.time, function);
            let mut row = vec![0.0; long];
            for (jobs, &value) in demand.jobs.chunks(long).zip(function).filter(|(_, value)| **value > 0.0) {
                row.iter_mut().zip(jobs).for_each(|(sum, jobs)| *sum += value * jobs);
            }
            pairs.iter_mut().zip(&self.setting.times).for_each(|(payoff, times)| *payoff = dot(&row, times));
        }
    }
}

fn add_mixture(sums: &mut [f64], prices: &[f64], functions: &[Vec<f64>]) {
    for (&price, function) in prices.iter().zip(functions).filter(|(price, _)| **price > 0.0) {
        sums.iter_mut().zip(function).for_each(|(sum, value)| *sum += price * value);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
