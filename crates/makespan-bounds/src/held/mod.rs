//! Bounds from the paths of dependent tasks and from the amounts that tasks hold: processors of equal or unequal
//! speeds, memory and licences.

mod deduce;
mod energy;
mod flow;

use makespan_core::{Instance, Objective, ResourceId, ResourceKind, TaskId, Time};
use makespan_verify::proof::{Deductions, NodeKinds, NodeRun, Paths, ResourceWindow, Spans, TimeWindow};
use makespan_verify::{Bound, Proof};

use crate::Clock;
use energy::RefutedDeadline;

/// Maximum number of elementary steps for deductions during planning.
pub(crate) const WORK: u64 = 100_000_000;
/// Maximum number of elementary steps for deductions if the user requests only a bound, without a plan.
pub(crate) const THOROUGH: u64 = 10 * WORK;
/// The price of a processor of the fastest nodes, if the nodes differ in speed.
const SCALE: f64 = 4_294_967_296.0;

/// A commodity that tasks hold: a resource, or the processors. The prices of processors are in proportion to the speeds
/// of their nodes.
#[derive(Clone, Debug)]
enum Commodity {
    /// For each node, the price of one processor.
    Processors(Vec<u64>),
    Resource(ResourceId),
}

/// The tasks in flat arrays, and the amounts of one commodity that the tasks hold. Times are in ticks.
struct Holders {
    rows: Vec<Row>,
    /// The runs of all rows. Within each row, run times ascend and amounts descend.
    runs: Vec<Way>,
    /// The price of the whole capacity for one tick. The capacity includes all processors, even if some are unavailable
    /// at times.
    rate: i128,
}

/// A task, or all equal tasks of a bag.
struct Row {
    head: i64,
    tail: i64,
    count: u64,
    runs: std::ops::Range<usize>,
}

/// A run of a task: the run time, and the price of the held amount for one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    time: i64,
    rate: i64,
}

impl Commodity {
    fn processors(instance: &Instance) -> Self {
        let nodes = instance.platform().nodes();
        let fastest = instance.platform().speeds().1;
        let price = |speed: f64| if instance.platform().has_unit_speed() { 1.0 } else { speed / fastest * SCALE };
        let one = |node: &makespan_core::Node| price(node.speed).round().max(1.0) as u64;
        Self::Processors(nodes.iter().map(|node| if node.processors > 0 { one(node) } else { 0 }).collect())
    }

    /// Returns the processors, and every resource that some task holds and returns.
    fn all(instance: &Instance) -> Vec<Self> {
        let mut used = vec![false; instance.platform().resources().len()];
        for demand in instance.distinct_demands().flatten() {
            used[demand.resource.index()] |= demand.kind != ResourceKind::Consumable;
        }
        let ids = used.iter().enumerate().filter(|(_, used)| **used).map(|(at, _)| ResourceId(at as u16));
        let resources = ids.map(Self::Resource);
        [Self::processors(instance)].into_iter().chain(resources).collect()
    }

    /// Returns the price of the whole capacity for one tick.
    fn rate(&self, instance: &Instance) -> i128 {
        let platform = instance.platform();
        match self {
            Self::Processors(prices) => {
                let each = platform.nodes().iter().zip(prices);
                each.map(|(node, &price)| i128::from(node.processors) * i128::from(price)).sum()
            }
            Self::Resource(id) => i128::try_from(platform.total(*id)).unwrap_or(i128::MAX),
        }
    }

    fn rate_of(
        &self,
        instance: &Instance,
        places: &NodeKinds<'_>,
        by_kind: &[u64],
        task: TaskId,
        run: &NodeRun,
    ) -> i64 {
        let rate = match self {
            Self::Processors(prices) => places.price(run, prices, by_kind).saturating_mul(run.first.into()),
            Self::Resource(id) => run.holds(instance.demands(task), *id),
        };
        i64::try_from(rate).unwrap_or(i64::MAX)
    }
}

impl Holders {
    fn new(instance: &Instance, places: &NodeKinds<'_>, spans: &Spans, commodity: &Commodity) -> Self {
        let by_kind = match commodity {
            Commodity::Processors(prices) => places.least_prices(prices),
            Commodity::Resource(_) => Vec::new(),
        };
        let mut holders = Self {
            rows: Vec::with_capacity(instance.different_tasks()),
            runs: Vec::new(),
            rate: commodity.rate(instance),
        };
        let ticks = |time: i128| i64::try_from(time).unwrap_or(i64::MAX / 4);
        let mut ways: Vec<Way> = Vec::new();
        for job in instance.jobs() {
            for task in job.different_task_ids() {
                let span = spans.of(instance, task);
                ways.clear();
                places.each(task, |run| {
                    let rate = commodity.rate_of(instance, places, &by_kind, task, run);
                    ways.push(Way { time: ticks(run.time), rate });
                });
                ways.sort_unstable_by_key(|way| (way.time, way.rate));
                let from = holders.runs.len();
                for &way in &ways {
                    if holders.runs[from..].last().is_none_or(|last| way.rate < last.rate) {
                        holders.runs.push(way);
                    }
                }
                let (head, tail) = (ticks(span.head), ticks(span.tail));
                let runs = from..holders.runs.len();
                holders.rows.push(Row { head, tail, count: job.equal_tasks(), runs });
            }
        }
        holders
    }

    /// Returns true if some task has several runs. The longer one of two runs of a task holds less.
    fn has_choices(&self) -> bool {
        self.runs.len() > self.rows.len()
    }
}

/// Returns true if the bounds of this module may be better than the bounds of other modules. This is possible only if
/// the instance has dependences, resource demands, or tasks on several processors of unequal speeds.
pub(crate) fn are_meant(instance: &Instance) -> bool {
    instance.has_compound_jobs()
        || instance.has_edges_between_jobs()
        || instance.has_demands()
        || !instance.has_equal_processors() && !instance.is_sequential()
}

/// Returns the bound that follows from the longest path to the end of each job.
pub(crate) fn paths(instance: &Instance, objective: Objective) -> Option<Bound> {
    Bound::proved_by(objective, Proof::Paths(Paths::default()), instance).ok()
}

/// Returns bounds on the makespan from flows along paths of tasks, at most one for each commodity. Stops when `clock`
/// expires.
///
/// Complexity: each path takes O(r + e), where r is the number of runs of all tasks and e is the number of edges. There
/// are at most 300 paths, and fewer if there are many tasks. A path takes O(n^2) more if area arcs between n tasks are
/// tried.
pub(crate) fn flows(instance: &Instance, clock: &Clock) -> Vec<Bound> {
    let places = NodeKinds::new(instance);
    let spans = Spans::new(&places, instance);
    let mut bounds = Vec::new();
    for commodity in Commodity::all(instance) {
        if clock.is_over() {
            break;
        }
        let holders = Holders::new(instance, &places, &spans, &commodity);
        let found = flow::search(instance, &holders, &commodity, clock).map(Proof::PathFlow);
        bounds.extend(found.and_then(|proof| Bound::proved_by(Objective::Makespan, proof, instance).ok()));
    }
    bounds
}

/// Returns bounds on the makespan: from the longest path, from the amounts that tasks hold in windows, and from
/// deductions. Deductions begin at the bound `known`, which is already proved. For each commodity, there is at most one
/// bound from windows.
///
/// Complexity: each window takes O(r), where r is the number of runs of all tasks. There are at most 1024 windows, and
/// fewer if there are many tasks. The deductions take at most `work` steps.
///
/// The longest path and the first windows of each commodity are examined even if `clock` has expired. Deductions stop
/// when `clock` expires.
pub(crate) fn makespans(instance: &Instance, known: i128, work: u64, clock: &Clock) -> Vec<Bound> {
    let places = NodeKinds::new(instance);
    let spans = Spans::new(&places, instance);
    let mut bounds: Vec<Bound> = paths(instance, Objective::Makespan).into_iter().collect();
    let proved = |proof| Bound::proved_by(Objective::Makespan, proof, instance).ok();
    // Windows use only a part of the remaining time, so that time remains for deductions.
    let first = clock.part(0.4);
    for commodity in Commodity::all(instance) {
        let found = energy::latest(&Holders::new(instance, &places, &spans, &commodity), &first);
        bounds.extend(found.and_then(|found| proved(window(instance, &commodity, found))));
    }
    let known = bounds.iter().map(|bound| bound.value.integer()).max().unwrap_or(0).max(known);
    bounds.extend(
        deduce::latest(instance, &places, known, work, clock).and_then(|found| proved(Proof::Deductions(found))),
    );
    bounds
}

/// Returns deductions that refute a deadline of at least `known`, or `None` if none are found.
pub(crate) fn deduced(instance: &Instance, known: i128, work: u64, clock: &Clock) -> Option<Deductions> {
    deduce::latest(instance, &NodeKinds::new(instance), known, work, clock)
}

fn window(
    instance: &Instance,
    commodity: &Commodity,
    RefutedDeadline { deadline, from, until }: RefutedDeadline,
) -> Proof {
    let [deadline, from, until] = [deadline, from, until].map(Time::from_ticks);
    match commodity {
        Commodity::Processors(prices) => {
            Proof::TimeWindow(TimeWindow { deadline, from, until, prices: prices.clone() })
        }
        Commodity::Resource(id) => {
            let resource = instance.platform().resource_of(*id).name.to_string();
            Proof::ResourceWindow(ResourceWindow { deadline, from, until, resource })
        }
    }
}

#[cfg(test)]
mod tests;
