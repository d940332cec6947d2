//! Random certificates of every kind. Tests improve these certificates by small changes.

mod refutations;
mod steps;

use makespan_core::{Instance, JobId, Objective, ResourceKind, Time};
use makespan_verify::proof::{
    Alone, Areas, CostPrices, DeadlinePrices, DualFeasible, DueBy, IntervalPrices, JobPrices, JobWindows, LastJob,
    LateWork, MachinePrices, MachineTimePrices, PathFlow, Paths, PositionPrices, Rejection, ResourceWindow, Scale,
    Selection, Term, TimePrices, TimeWindow, WidthPrices,
};
use makespan_verify::{CertificateError, Proof};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::certificates::instances::Extent;

/// Number of kinds of certificates that [`Figures::certificate`] can construct.
pub const KINDS: usize = 42;
const LENGTH: usize = 64;

/// The random numbers from which certificates are constructed.
#[derive(Clone, Debug)]
pub struct Figures(Vec<u32>);

/// A reader that consumes the numbers one after the other.
struct Reader<'a> {
    figures: std::slice::Iter<'a, u32>,
    /// The unit of time of the instance, in ticks.
    unit: i64,
    /// True if some values are at the limits of their types.
    wild: bool,
}

/// If extreme values are enabled, one of `WILD` values is extreme on average.
const WILD: u32 = 24;

impl Reader<'_> {
    fn below(&mut self, limit: i64) -> i64 {
        i64::from(*self.figures.next().unwrap_or(&0)) % limit.max(1)
    }

    /// Returns a value like [`Reader::below`], but sometimes a value that is not below `limit`.
    fn any(&mut self, limit: i64) -> i64 {
        let figure = self.figures.clone().next().copied().unwrap_or(0);
        let value = self.below(limit);
        match figure >> 8 {
            _ if !self.wild || !(figure >> 12).is_multiple_of(WILD) => value,
            high if high % 8 == 0 => -value,
            high if high % 8 == 1 => i64::MIN,
            high if high % 8 == 2 => i64::MAX / 2,
            high if high % 8 == 3 => i64::MAX / 2 - 1,
            high if high % 8 == 4 => i64::from(u32::MAX),
            _ => i64::MAX,
        }
    }

    fn time(&mut self, from: i64, until: i64) -> Time {
        let value = self.any(until - from);
        let near = if self.unit > 1 { self.below(3) - 1 } else { 0 };
        Time::from_ticks(value.saturating_add(from).saturating_mul(self.unit).saturating_add(near))
    }

    /// Returns instants, which are usually ascending.
    fn times(&mut self, first: i64, count: i64) -> Vec<Time> {
        let mut times: Vec<Time> = (0..count).map(|_| self.time(first, 14)).collect();
        if self.below(20) > 0 {
            times.sort_unstable();
            times.dedup();
        }
        times
    }

    fn prices(&mut self, count: usize, limit: i64) -> Vec<i64> {
        (0..count).map(|_| if self.below(3) == 0 { 0 } else { self.any(limit) }).collect()
    }

    fn places(&mut self) -> u32 {
        let most = if self.wild { 8 } else { 4 };
        [0, 0, 1, 3, 40, 64, 65, u32::MAX][self.below(most) as usize]
    }

    fn scale(&mut self) -> Scale {
        let steps = self.below(4);
        if steps == 0 {
            return Scale::Whole;
        }
        let (mut size, mut value) = (0, 0);
        Scale::Steps(
            (0..steps)
                .map(|_| {
                    size += (1 + self.below(4)) * self.unit;
                    value += 1 + self.below(4) as u32;
                    (size, value)
                })
                .collect(),
        )
    }

    fn window(&mut self, nodes: usize, deadline: Time) -> TimeWindow {
        let from = self.time(0, 8);
        let until = from + self.time(0, 10);
        let none = self.below(12) == 0;
        let prices = self.prices(if none { 0 } else { nodes }, 6).into_iter().map(i64::cast_unsigned).collect();
        TimeWindow { deadline, from, until, prices }
    }

    fn time_prices(&mut self, limit: i64) -> TimePrices {
        let count = 1 + self.below(5);
        let instants = self.times(0, count);
        let prices = self.prices(instants.len() - 1, limit);
        let scale = self.places();
        let horizon = (self.below(3) == 0).then(|| self.time(1, 16));
        let widths = self.widths(instants.len() - 1, limit);
        TimePrices { instants, prices, scale, horizon, widths }
    }

    /// Returns price functions of the width of a job, with `count` prices each. In half of the cases, the list is
    /// empty.
    fn widths(&mut self, count: usize, limit: i64) -> Vec<WidthPrices> {
        let functions = [0, 0, 1, 2][self.below(4) as usize];
        let unit = std::mem::replace(&mut self.unit, 1);
        let function = |_| WidthPrices { widths: self.scale(), prices: self.prices(count, limit) };
        let widths = (0..functions).map(function).collect();
        self.unit = unit;
        widths
    }

    fn deadline_prices(&mut self, deadline: Time) -> DeadlinePrices {
        let count = 2 + self.below(4);
        let instants = self.times(0, count);
        let prices = self.prices(instants.len() - 1, 6);
        let widths = self.widths(instants.len() - 1, 6);
        DeadlinePrices { deadline, instants, prices, widths }
    }

    fn machine_time_prices(&mut self, nodes: usize, limit: i64, deadline: Option<Time>) -> MachineTimePrices {
        let count = 1 + self.below(5);
        let instants = self.times(0, count);
        let prices = (0..nodes).map(|_| self.prices(instants.len() - 1, limit)).collect();
        MachineTimePrices { instants, prices, scale: self.places(), deadline }
    }

    fn job_prices(&mut self, nodes: usize, limit: i64) -> JobPrices {
        let count = 1 + self.below(5);
        let instants = self.times(0, count);
        let prices = self.prices(instants.len() - 1, limit);
        let equal = self.below(3) == 0;
        let shares = self.prices(if equal { 0 } else { nodes }, 4).into_iter().map(i64::cast_unsigned).collect();
        JobPrices { instants, prices, shares, scale: self.places() }
    }

    fn interval_prices(&mut self) -> IntervalPrices {
        let count = self.below(5);
        let ends = self.times(1, count);
        let prices = self.prices(ends.len(), 12);
        IntervalPrices { ends, prices, scale: self.places() }
    }

    fn dual_feasible(&mut self, deadline: Time) -> DualFeasible {
        let from = [Time::ZERO, Time::ZERO, self.time(0, 6)][self.below(3) as usize];
        let count = 1 + self.below(2);
        let term = |_| Term { price: self.any(6), widths: self.scale(), times: self.scale() };
        DualFeasible { deadline, from, terms: (0..count).map(term).collect() }
    }

    fn position_prices(&mut self, instance: &Instance) -> PositionPrices {
        let prices = |_| {
            let count = self.below(4);
            self.times(0, count).iter().rev().map(|price| price.ticks()).collect()
        };
        PositionPrices { prices: (0..instance.processors()).map(prices).collect() }
    }

    fn resource_window(&mut self, deadline: Time) -> ResourceWindow {
        let resource = ["memory", "memory", "solver", "budget"][self.below(4) as usize].to_owned();
        let from = self.time(0, 6);
        ResourceWindow { deadline, from, until: from + self.time(0, 12), resource }
    }

    /// Returns a flow that is built from some paths, which are traced backwards from the end. Usually, the flow along
    /// edges and area arcs equals the flow through the tasks.
    fn path_flow(&mut self, instance: &Instance) -> PathFlow {
        let (mut tasks, mut edges, mut arcs) = (Vec::new(), Vec::new(), Vec::new());
        let rows = instance.different_tasks() as i64;
        for _ in 0..self.below(4) {
            let weight = self.any(7).cast_unsigned();
            let mut row = self.below(rows) as usize;
            if self.below(4) == 0 {
                arcs.push((Some(row as u32), None, weight));
            }
            for _ in 0..8 {
                tasks.push((row as u32, weight));
                if self.below(3) == 0 {
                    let after = Some(self.below(rows) as u32).filter(|_| self.below(3) > 0);
                    arcs.push((after, Some(row as u32), weight));
                    let Some(after) = after else { break };
                    row = after as usize;
                    continue;
                }
                let into = instance.edges().iter().zip(0..).filter(|(edge, _)| instance.different(edge.to) == row);
                let into: Vec<_> = into.collect();
                let Some(&(edge, number)) = into.get(self.below(into.len() as i64 + 1) as usize) else { break };
                edges.push((number, weight));
                row = instance.different(edge.from);
            }
        }
        if self.below(20) == 0 {
            edges.push((self.below(4) as u32, 1));
        }
        if self.below(8) == 0 {
            arcs.push((None, None, self.any(7).cast_unsigned()));
        }
        let (prices, resources) = self.prices_of_all(instance);
        let mut areas = Vec::new();
        if !arcs.is_empty() {
            let (prices, resources) = self.prices_of_all(instance);
            areas.push(Areas { prices, resources, arcs });
        }
        PathFlow { tasks, edges, prices, resources, areas }
    }

    /// Returns prices of processors and of resources that tasks hold.
    fn prices_of_all(&mut self, instance: &Instance) -> (Vec<u64>, Vec<(String, u64)>) {
        let nodes = if self.below(3) == 0 { 0 } else { instance.platform().nodes().len() };
        let prices = self.prices(nodes, 7).into_iter().map(i64::cast_unsigned).collect();
        let held = |kind| kind != ResourceKind::Consumable || self.wild;
        let all = instance.platform().resources().iter().filter(|resource| held(resource.kind));
        let names: Vec<String> = all.map(|resource| resource.name.to_string()).collect();
        let some: Vec<String> = names.into_iter().filter(|_| self.below(2) == 0).collect();
        (prices, some.into_iter().map(|name| (name, self.any(6).cast_unsigned())).collect())
    }

    fn cost_prices(&mut self, instance: &Instance) -> CostPrices {
        let edges = instance.edges().len();
        let nodes = instance.platform().nodes().len();
        if self.below(10) == 0 {
            return CostPrices::default();
        }
        let horizon = Some(self.time(1, 16));
        let count = self.below(5);
        let instants = self.times(0, count);
        let prices = match instants.len().checked_sub(1) {
            Some(count) => (0..nodes).map(|_| self.prices(count, 1500)).collect(),
            None => Vec::new(),
        };
        let edges = if self.below(3) == 0 { Vec::new() } else { self.prices(edges, 1500) };
        CostPrices { horizon, instants, prices, edges, scale: self.places() }
    }
}

impl Figures {
    pub fn draw(rng: &mut ChaCha8Rng) -> Self {
        Self((0..LENGTH).map(|_| rng.random_range(0..1 << 20)).collect())
    }

    /// Returns a copy of these numbers in which one or two numbers are changed.
    pub fn changed(&self, rng: &mut ChaCha8Rng) -> Self {
        let mut figures = self.0.clone();
        for _ in 0..rng.random_range(1..=2) {
            let figure = &mut figures[rng.random_range(0..LENGTH)];
            *figure = match rng.random_range(0..4) {
                0 => figure.saturating_add(1),
                1 => figure.saturating_sub(1),
                _ => rng.random_range(0..1 << 20),
            };
        }
        Self(figures)
    }

    /// Returns a certificate of one kind. A certificate with a deadline usually makes the false claim that no schedule
    /// ends by the `optimum`, because the check must reject such claims.
    pub fn certificate(&self, kind: usize, instance: &Instance, optimum: i64, extent: Extent) -> (Objective, Proof) {
        let mut figures = Reader { figures: self.0.iter(), unit: extent.unit, wild: extent.wild };
        let nodes = instance.platform().nodes().len();
        let deadline = Time::from_ticks(optimum + [0, 0, 0, 0, -1, 1][figures.below(6) as usize]);
        let windows = |figures: &mut Reader| {
            let window = |_| {
                let deadline = figures.time(0, 8);
                figures.window(nodes, deadline)
            };
            (0..instance.jobs().len()).map(window).collect()
        };
        let objective = OBJECTIVES[kind];
        let proof = match kind {
            0 => Proof::Alone(Alone { job: JobId(figures.below(5) as u32) }),
            1 => Proof::Rejection(Rejection {
                deadline,
                from: figures.time(-1, 6),
                at: figures.time(-1, deadline.ticks() / extent.unit + 1),
                selection: if figures.below(2) == 0 { Selection::Knapsack } else { Selection::Price(figures.any(9)) },
            }),
            2 => Proof::DualFeasible(figures.dual_feasible(deadline)),
            3 => Proof::IntervalPrices(figures.interval_prices()),
            4 => Proof::TimePrices(figures.time_prices(12)),
            5 => Proof::TimePrices(figures.time_prices(2_000_000)),
            6..=8 => Proof::MachinePrices(MachinePrices { prices: figures.prices(nodes, 7) }),
            9 => Proof::LateWork(LateWork {
                from: figures.time(-1, 7),
                tasks: (figures.below(3) > 0).then(|| figures.any(6).cast_unsigned()),
                prices: figures.prices(nodes, 7),
            }),
            10 => Proof::TimeWindow(figures.window(nodes, deadline)),
            11 | 12 | 26 => Proof::JobWindows(JobWindows { windows: windows(&mut figures) }),
            13 | 14 => Proof::PositionPrices(figures.position_prices(instance)),
            15 => Proof::CostPrices(figures.cost_prices(instance)),
            16 => Proof::DeadlinePrices(figures.deadline_prices(deadline)),
            17 => Proof::MachineTimePrices(figures.machine_time_prices(nodes, 12, None)),
            18 => Proof::MachineTimePrices(figures.machine_time_prices(nodes, 2_000_000, None)),
            19 => Proof::MachineTimePrices(figures.machine_time_prices(nodes, 6, Some(deadline))),
            20 => Proof::ResourceWindow(figures.resource_window(deadline)),
            21 => Proof::PathFlow(figures.path_flow(instance)),
            22..=25 => Proof::Paths(Paths::default()),
            30 | 32 => Proof::JobPrices(figures.job_prices(nodes, 12)),
            31 => Proof::JobPrices(figures.job_prices(nodes, 3)),
            38..=41 => Proof::Refutation(figures.refutation(instance)),
            33 => Proof::Deductions(figures.deductions(instance, deadline)),
            34..=37 => {
                let proof = match figures.below(3) {
                    0 => Proof::Deductions(figures.deductions(instance, deadline)),
                    1 => Proof::ResourceWindow(figures.resource_window(deadline)),
                    _ => Proof::TimeWindow(figures.window(nodes, deadline)),
                };
                Proof::LastJob(LastJob { proof: Box::new(proof) })
            }
            _ => {
                let due = figures.time(0, 12);
                let part = DueBy::part(instance, due, objective);
                let deadline = figures.time(0, 16);
                let proof = match (kind, figures.below(3)) {
                    (27, 0) => Proof::TimeWindow(figures.window(nodes, deadline)),
                    (27, 1) => Proof::ResourceWindow(figures.resource_window(deadline)),
                    (27, _) => Proof::PathFlow(figures.path_flow(&part)),
                    (28, _) => Proof::Paths(Paths::default()),
                    (_, 0) => Proof::IntervalPrices(figures.interval_prices()),
                    _ => Proof::TimePrices(figures.time_prices(12)),
                };
                Proof::DueBy(DueBy { due, proof: Box::new(proof) })
            }
        };
        (objective, proof)
    }
}

/// For each kind of certificate, the objective of its bound.
const OBJECTIVES: [Objective; KINDS] = [
    Objective::Makespan,
    Objective::Makespan,
    Objective::Makespan,
    Objective::WeightedCompletion,
    Objective::WeightedCompletion,
    Objective::MeanFlow,
    Objective::Makespan,
    Objective::WeightedCompletion,
    Objective::MeanFlow,
    Objective::Makespan,
    Objective::Makespan,
    Objective::WeightedCompletion,
    Objective::MeanFlow,
    Objective::WeightedCompletion,
    Objective::MeanFlow,
    Objective::Cost,
    Objective::Makespan,
    Objective::WeightedCompletion,
    Objective::MeanFlow,
    Objective::Makespan,
    Objective::Makespan,
    Objective::Makespan,
    Objective::Makespan,
    Objective::WeightedCompletion,
    Objective::MeanFlow,
    Objective::WeightedTardiness,
    Objective::MaxTardiness,
    Objective::MaxTardiness,
    Objective::WeightedTardiness,
    Objective::WeightedTardiness,
    Objective::WeightedCompletion,
    Objective::MeanFlow,
    Objective::WeightedTardiness,
    Objective::Makespan,
    Objective::WeightedCompletion,
    Objective::MeanFlow,
    Objective::MaxTardiness,
    Objective::WeightedTardiness,
    Objective::Makespan,
    Objective::WeightedCompletion,
    Objective::MeanFlow,
    Objective::MaxTardiness,
];

/// Returns the rank of a certificate. A higher rank is closer to a false claim: a certificate that proves a value has a
/// higher rank than other certificates, and a larger value has a higher rank. Among certificates that do not refute
/// their deadline, the rank is higher if the needed amount is closer to the available amount.
pub fn rank(proven: &Result<i128, CertificateError>) -> (u8, i128) {
    match proven {
        Ok(value) => (2, *value),
        Err(CertificateError::NotRefuted { needed, available, .. }) => (1, needed - available),
        Err(CertificateError::InvalidStep { reason, .. }) => rank(&Err((**reason).clone())),
        Err(_) => (0, 0),
    }
}
