//! An instance in flat arrays. Times are in units of [`Problem::unit`]. A *run* of a task is a choice of nodes and of
//! one or several successive allotments ([`NodeRun`]).

use makespan_core::{Instance, ProcSet, ResourceId, ResourceKind, TaskId, Time};
use makespan_verify::proof::{LimitedAmount, NodeKinds, NodeRun, time_grid};

/// The price of a processor of the fastest node, if nodes differ in speed.
const SCALE: f64 = 1024.0;
/// Maximum number of unavailable periods that the search examines. The check of the certificate includes all
/// unavailable periods.
const MAX_CLOSED: usize = 1024;
/// Upper limit for sums of amounts times time.
const MAX_AREA: i128 = 1 << 61;

/// A limited quantity, and the amounts of this quantity that tasks hold. The quantity is a resource, or the processors.
/// Each processor is counted with a price.
pub(super) struct CapacityResource {
    pub(super) held: LimitedAmount,
    pub(super) capacity: i64,
    /// The distinct tasks that may hold some of the quantity.
    pub(super) members: Vec<u32>,
    pub(super) is_member: Vec<bool>,
    /// The total number of runs of `members`.
    pub(super) runs: u64,
    /// For each run of the problem, the amount of the quantity that the run holds.
    pub(super) amounts: Vec<i64>,
    /// The unavailable periods: start, end and unavailable amount.
    pub(super) closed: Vec<(i64, i64, i64)>,
}

/// The distinct tasks, their edges, and the amounts that they hold. All equal tasks of a bag are one distinct task.
pub(super) struct Problem {
    /// The length of the unit of time, in ticks.
    pub(super) unit: i64,
    pub(super) releases: Vec<i64>,
    pub(super) counts: Vec<u64>,
    /// For each distinct task, true if it has only one run, so that its run time is fixed.
    pub(super) only: Vec<bool>,
    /// For each distinct task, the index of its first run. The last entry is the total number of runs.
    begins: Vec<usize>,
    /// The run time of each run, in units. If a run represents several allotments, this is the least of their times.
    pub(super) times: Vec<i64>,
    /// The least run time of each distinct task, in units.
    pub(super) fastest: Vec<i64>,
    pub(super) before: Vec<Vec<u32>>,
    pub(super) behind: Vec<Vec<u32>>,
    /// The tasks in a topological order.
    pub(super) order: Vec<u32>,
    pub(super) things: Vec<CapacityResource>,
    /// For each distinct task, the other distinct tasks that cannot run at the same time as this task.
    pub(super) excluded: Vec<Vec<u32>>,
}

impl Problem {
    /// Builds the arrays. Returns `None` if some number is too large for the search.
    pub(super) fn new(instance: &Instance, places: &NodeKinds<'_>) -> Option<Self> {
        // Transfers may delay tasks to instants that are not multiples of the time grid. Rounding these instants down
        // would make deductions weaker.
        let unit = if instance.has_transfers() { 1 } else { time_grid(instance) };
        let rows = instance.different_tasks();
        let mut problem = Self {
            unit,
            releases: Vec::with_capacity(rows),
            counts: Vec::with_capacity(rows),
            only: Vec::with_capacity(rows),
            begins: vec![0],
            times: Vec::new(),
            fastest: Vec::with_capacity(rows),
            before: vec![Vec::new(); rows],
            behind: vec![Vec::new(); rows],
            order: instance.in_order().map(|task| instance.different(task) as u32).collect(),
            things: Vec::new(),
            excluded: vec![Vec::new(); rows],
        };
        let mut runs: Vec<NodeRun> = Vec::new();
        let mut tasks: Vec<TaskId> = Vec::with_capacity(rows);
        for job in instance.jobs() {
            for task in job.different_task_ids() {
                let first = runs.len();
                places.each(task, |run| runs.push(run.clone()));
                problem.only.push(runs.len() == first + 1 && runs[first].first == runs[first].last);
                problem.begins.push(runs.len());
                problem.releases.push(job.release.ticks() / unit);
                problem.counts.push(job.equal_tasks());
                tasks.push(task);
            }
        }
        for run in &runs {
            problem.times.push(i64::try_from(run.time).ok()? / unit);
        }
        for edge in instance.edges() {
            let (from, to) = (instance.different(edge.from), instance.different(edge.to));
            problem.behind[from].push(to as u32);
            problem.before[to].push(from as u32);
        }
        for row in 0..rows {
            problem.fastest.push(problem.times[problem.runs(row)].iter().copied().min()?);
        }
        problem.add_things(instance, places, &tasks, &runs);
        problem.find_excluded(instance.platform().processors(), &runs);
        Some(problem)
    }

    pub(super) fn rows(&self) -> usize {
        self.releases.len()
    }

    /// Returns the indices of the runs of a task.
    pub(super) fn runs(&self, row: usize) -> std::ops::Range<usize> {
        self.begins[row]..self.begins[row + 1]
    }

    fn add_things(&mut self, instance: &Instance, places: &NodeKinds<'_>, tasks: &[TaskId], runs: &[NodeRun]) {
        let (platform, one_speed) = (instance.platform(), instance.platform().has_unit_speed());
        let fastest = platform.speeds().1;
        let price = |node: &makespan_core::Node| match node.processors {
            0 => 0,
            _ if one_speed => 1,
            _ => ((node.speed / fastest * SCALE).round() as u64).max(1),
        };
        let prices: Vec<u64> = platform.nodes().iter().map(price).collect();
        let mut all = vec![prices];
        if !one_speed && runs.iter().any(|run| run.first > 1) {
            // At prices in proportion to speeds, a task on processors of several speeds pays only the least of their
            // prices for each processor. So also add the processors at the price 1. At this price, every task pays for
            // exactly the processors that it holds.
            all.push(platform.nodes().iter().map(|node| u64::from(node.processors > 0)).collect());
        }
        for prices in all {
            let by_kind = places.least_prices(&prices);
            let of = |_: usize, run: &NodeRun| places.price(run, &prices, &by_kind).saturating_mul(run.first.into());
            let there = platform.nodes().iter().zip(&prices);
            let there = there.map(|(node, &price)| u128::from(node.processors) * u128::from(price)).sum();
            let closed = self.closed(instance, &prices);
            self.add(LimitedAmount::Processors(prices.clone()), there, closed, runs, of);
        }
        for (at, resource) in platform.resources().iter().enumerate() {
            if resource.kind == ResourceKind::Consumable {
                continue;
            }
            let id = ResourceId(at as u16);
            let of = |row: usize, run: &NodeRun| run.holds(instance.demands(tasks[row]), id);
            self.add(LimitedAmount::Resource(resource.name.to_string()), platform.total(id), Vec::new(), runs, of);
        }
    }

    /// Adds a limited quantity with the capacity `there`. `of` returns the amount that a run of a task holds. Has no
    /// effect if the capacity always suffices, or if numbers are too large.
    fn add(
        &mut self,
        held: LimitedAmount,
        there: u128,
        closed: Vec<(i64, i64, i64)>,
        runs: &[NodeRun],
        of: impl Fn(usize, &NodeRun) -> u64,
    ) {
        let mut amounts = Vec::with_capacity(runs.len());
        let (mut members, mut all, mut area, mut longest) = (Vec::new(), 0_i128, 0_i128, 0_i128);
        for row in 0..self.rows() {
            let (first, mut most, mut time) = (amounts.len(), 0_u64, 0);
            for at in self.runs(row) {
                let amount = of(row, &runs[at]);
                (most, time) = (most.max(amount), time.max(self.times[at]));
                amounts.push(i64::try_from(amount).unwrap_or(i64::MAX));
            }
            if amounts[first..].iter().any(|&amount| amount > 0) {
                members.push(row as u32);
            }
            let count = i128::from(self.counts[row]);
            all = all.saturating_add(i128::from(most).saturating_mul(count));
            area = area.saturating_add(i128::from(most).saturating_mul(count).saturating_mul(i128::from(time)));
            longest =
                longest.saturating_add(count.saturating_mul(time.into())).saturating_add(self.releases[row].into());
        }
        let there = i128::try_from(there).unwrap_or(i128::MAX);
        let end = closed.iter().map(|&(_, end, _)| i128::from(end)).max().unwrap_or(0).saturating_add(longest);
        let fits = area < MAX_AREA && there.saturating_mul(end.saturating_mul(2)) < MAX_AREA;
        if fits && (all > there || !closed.is_empty()) {
            let capacity = there as i64;
            let runs = members.iter().map(|&row| self.runs(row as usize).len() as u64).sum();
            let mut is_member = vec![false; self.rows()];
            members.iter().for_each(|&row| is_member[row as usize] = true);
            self.things.push(CapacityResource { held, capacity, members, is_member, runs, amounts, closed });
        }
    }

    /// Returns the unavailable periods: for each of them, the start, the end, and the price of the unavailable
    /// processors.
    fn closed(&self, instance: &Instance, prices: &[u64]) -> Vec<(i64, i64, i64)> {
        let platform = instance.platform();
        let mut all = Vec::new();
        for class in instance.availability().classes().iter().filter(|class| !class.closed.is_empty()) {
            let own = |node: usize| platform.processors_of(node).intersection(&class.processors);
            let of = |(node, &price): (usize, &u64)| i64::from(ProcSet::len(&own(node))).saturating_mul(price as i64);
            let amount = prices.iter().enumerate().map(of).fold(0, i64::saturating_add);
            for &(start, end) in &class.closed {
                if all.len() < MAX_CLOSED {
                    let up = |time: Time| time.ticks().div_euclid(self.unit) + i64::from(time.ticks() % self.unit != 0);
                    all.push((up(start), end.ticks() / self.unit, amount));
                }
            }
        }
        all.retain(|&(start, end, amount)| start < end && amount > 0);
        all
    }

    /// Finds the pairs of tasks that cannot run at the same time, because together they hold too many processors or too
    /// much of a resource. Ignores bags. For n tasks, takes O(n^2) for each limited quantity.
    fn find_excluded(&mut self, processors: u32, runs: &[NodeRun]) {
        for thing in &self.things {
            let (capacity, of): (i64, &dyn Fn(usize) -> i64) = match thing.held {
                LimitedAmount::Processors(_) => (processors.into(), &|at| runs[at].first.into()),
                _ => (thing.capacity, &|at| thing.amounts[at]),
            };
            let least = |row: usize| self.runs(row).map(of).min().unwrap_or(0);
            let large = |&&row: &&u32| 2 * least(row as usize) > capacity;
            let any_large = thing.members.iter().filter(large).count() > 0;
            let mut members: Vec<(i64, u32)> = thing.members.iter().map(|&row| (least(row as usize), row)).collect();
            members.retain(|&(_, row)| any_large && self.counts[row as usize] == 1);
            members.sort_unstable();
            for (at, &(amount, row)) in members.iter().enumerate() {
                for &(other_amount, other) in members[at + 1..].iter().rev() {
                    if amount + other_amount <= capacity {
                        break;
                    }
                    self.excluded[row as usize].push(other);
                    self.excluded[other as usize].push(row);
                }
            }
        }
        for others in &mut self.excluded {
            others.sort_unstable();
            others.dedup();
        }
    }
}
