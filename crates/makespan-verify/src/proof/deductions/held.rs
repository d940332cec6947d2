//! Capacities that deductions refer to: the processors, a resource, or a group of tasks of which only one can run at a
//! time.

use serde::{Deserialize, Serialize};

use super::runs::Runs;
use super::windows::{TaskWindow, Windows};
use makespan_core::{Instance, ResourceId, ResourceKind, TaskId};

use crate::proof::capacity::{open_amount, open_cost};
use crate::proof::error::{malformed, unproved};
use crate::proof::{CertificateError, NodeRun};

/// A limited amount that tasks hold while they run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedAmount {
    /// Processors. The field contains a price for each node. Each processor is counted with the price of its node.
    Processors(Vec<u64>),
    /// The name of a resource that tasks return when they end.
    Resource(String),
    /// A group of tasks, no two of which can run at the same time. They share one unit, which each of them holds while
    /// it runs.
    OneAtATime(Vec<u32>),
}

/// Maximum number of lists of prices. Each list needs memory for all choices of all tasks, so this number limits the
/// memory of the check.
const MAX_PRICES: usize = 16;

enum Kind<'a> {
    Processors(&'a [u64], Members),
    Resource(ResourceId),
    One(&'a [u32]),
}

/// The distinct tasks that hold some of a limited amount, and the amount that each of them holds in each of its choices
/// ([`NodeRun`](crate::proof::NodeRun)).
#[derive(Default)]
struct Members {
    rows: Vec<u32>,
    amounts: Vec<i128>,
}

/// The minimum amounts that a task holds while it runs, over all choices of the task.
struct Least {
    processors: i128,
    resources: Box<[(ResourceId, i128)]>,
}

/// All limited amounts that a certificate names. The memory is O(names + choices of all tasks), with at most 17 entries
/// for each choice.
pub(super) struct All<'a> {
    instance: &'a Instance,
    runs: &'a Runs<'a>,
    kinds: Vec<Kind<'a>>,
    /// For each resource of the platform, the tasks that hold it; empty for resources that the certificate does not
    /// name.
    of_resources: Vec<Members>,
    /// The minimum amounts of each distinct task.
    least: Vec<Least>,
}

impl<'a> All<'a> {
    pub(super) fn new(
        instance: &'a Instance,
        runs: &'a Runs<'a>,
        held: &'a [LimitedAmount],
    ) -> Result<Self, CertificateError> {
        let resources = instance.platform().resources().len();
        let least = (0..runs.tasks.len()).map(|row| Least::of(instance, runs, row)).collect();
        let of_resources = (0..resources).map(|_| Members::default()).collect();
        let mut all = Self { instance, runs, kinds: Vec::with_capacity(held.len()), of_resources, least };
        let mut named = vec![false; resources];
        let mut prices = 0;
        for held in held {
            let kind = all.kind(held)?;
            match kind {
                Kind::Processors(..) => prices += 1,
                Kind::Resource(id) => named[id.index()] = true,
                Kind::One(_) => {}
            }
            if prices > MAX_PRICES {
                return malformed(format!("there are more than {MAX_PRICES} lists of processor prices"));
            }
            all.kinds.push(kind);
        }
        for (row, &task) in runs.tasks.iter().enumerate() {
            let demands = instance.demands(task);
            for id in demands.iter().map(|demand| demand.resource).filter(|id| named[id.index()]) {
                let amounts = runs.of(row).iter().map(|run| i128::from(run.holds(demands, id)));
                all.of_resources[id.index()].add(row, amounts);
            }
        }
        Ok(all)
    }

    fn kind(&self, held: &'a LimitedAmount) -> Result<Kind<'a>, CertificateError> {
        let (runs, platform) = (self.runs, self.instance.platform());
        match held {
            LimitedAmount::Processors(prices) => {
                let nodes = platform.nodes().len();
                if prices.len() != nodes {
                    return malformed(format!("there are {} prices for {nodes} nodes", prices.len()));
                }
                let by_kind = runs.places.least_prices(prices);
                let price = |run: &NodeRun| i128::from(runs.places.price(run, prices, &by_kind));
                let mut members = Members::default();
                for row in 0..runs.tasks.len() {
                    let of = runs.of(row).iter();
                    members.add(row, of.map(|run| price(run).saturating_mul(run.first.into())));
                }
                Ok(Kind::Processors(prices, members))
            }
            LimitedAmount::Resource(name) => {
                let comes_back = |id: &ResourceId| platform.resource_of(*id).kind != ResourceKind::Consumable;
                match platform.resource(name).filter(comes_back) {
                    Some(id) => Ok(Kind::Resource(id)),
                    None => malformed(format!("the platform has no resource `{name}` that tasks hold and return")),
                }
            }
            LimitedAmount::OneAtATime(tasks) => {
                self.check_one_at_a_time(tasks)?;
                Ok(Kind::One(tasks))
            }
        }
    }

    /// Checks that no two of these k tasks can run at the same time. Takes O(k (n + e) + k^2 r) for an instance with n
    /// tasks, e edges and r resources.
    fn check_one_at_a_time(&self, tasks: &[u32]) -> Result<(), CertificateError> {
        if let Some(task) = tasks.iter().find(|&&task| self.runs.counts.get(task as usize) != Some(&1)) {
            return malformed(format!(
                "`one_at_a_time` contains {task}, which is a bag, or is not a task of the instance"
            ));
        }
        let mut sorted = tasks.to_vec();
        sorted.sort_unstable();
        if sorted.windows(2).any(|two| two[0] == two[1]) {
            return malformed("`one_at_a_time` contains a task twice");
        }
        let order: Vec<_> = self.instance.in_order().collect();
        for (at, &task) in tasks.iter().enumerate() {
            let may = |other: &&u32| !self.exclude(task as usize, **other as usize);
            let together: Vec<u32> = tasks[at + 1..].iter().filter(may).copied().collect();
            if together.is_empty() {
                continue;
            }
            // Two tasks exclude each other because of the amounts that they hold, or because one of them waits for the
            // other. If the amounts already exclude all pairs with this task, the check skips the paths.
            let (before, behind) =
                (self.related(task, order.iter().rev(), false), self.related(task, order.iter(), true));
            if together.iter().any(|&other| !before[other as usize] && !behind[other as usize]) {
                return unproved("two tasks of `one_at_a_time` can run at the same time");
            }
        }
        Ok(())
    }

    /// Returns one flag for each distinct task t. If `behind` is true, the flag is true if t waits for `task`,
    /// directly or indirectly. Otherwise, the flag is true if `task` waits for t.
    fn related<'t>(&self, task: u32, order: impl Iterator<Item = &'t TaskId>, behind: bool) -> Vec<bool> {
        let mut related = vec![false; self.runs.tasks.len()];
        for &other in order {
            let row = |task| self.instance.different(task);
            let is = |row: usize| related[row] || row == task as usize;
            related[row(other)] = if behind {
                self.instance.incoming(other).any(|edge| is(row(edge.from)))
            } else {
                self.instance.outgoing(other).any(|edge| is(row(edge.to)))
            };
        }
        related
    }

    /// Returns true if two tasks cannot run at the same time, because together they would hold more of a resource or
    /// more processors than the platform has.
    pub(super) fn exclude(&self, one: usize, other: usize) -> bool {
        let (one, other, platform) = (&self.least[one], &self.least[other], self.instance.platform());
        let too_much = |&(id, amount): &(ResourceId, i128)| {
            let also = other.resources.iter().find(|(also, _)| *also == id);
            // The sum cannot overflow, because both amounts are below 2^64.
            also.is_some_and(|(_, also)| (amount + also) as u128 > platform.total(id))
        };
        one.processors + other.processors > platform.processors().into() || one.resources.iter().any(too_much)
    }

    /// Returns the minimum amount that tasks must hold in a period, and the available amount. Both are summed over the
    /// ticks of the period. `special` replaces the window of one task, which may belong to a bag.
    pub(super) fn within(
        &self,
        held: usize,
        from: i128,
        until: i128,
        windows: &Windows<'_>,
        special: Option<(usize, TaskWindow)>,
    ) -> Result<(i128, i128), CertificateError> {
        let Some(kind) = self.kinds.get(held) else {
            return malformed("a step refers to a limited amount that the certificate does not contain");
        };
        if until < from {
            return malformed("the window of a step begins after its end");
        }
        let own = |row: usize| special.filter(|&(special, _)| special == row).map(|(_, window)| window);
        let window = |row: usize| own(row).unwrap_or_else(|| windows.of(row));
        // Returns the minimum amount that a task holds between `from` and `until`, summed over the ticks of this
        // period. The run of the task lies in `window`, takes at least `time`, and holds `amount`.
        let held = |window: TaskWindow, time, amount| Some(window.within(time, from, until)?.saturating_mul(amount));
        let of_members = |members: &Members| {
            let mut first = 0;
            members.rows.iter().fold(0_i128, |sum, &row| {
                let row = row as usize;
                let runs = self.runs.of(row);
                let amounts = &members.amounts[first..first + runs.len()];
                first += runs.len();
                let least = |window| {
                    let each = runs.iter().zip(amounts);
                    each.filter_map(|(run, &amount)| held(window, run.time, amount)).min().unwrap_or(0)
                };
                let of_own = own(row).map(least);
                let others = self.runs.counts[row] - u64::from(of_own.is_some());
                let of_others = if others > 0 { least(windows.of(row)).saturating_mul(others.into()) } else { 0 };
                sum.saturating_add(of_own.unwrap_or(0)).saturating_add(of_others)
            })
        };
        let (needed, available) = match kind {
            Kind::Processors(prices, members) => (of_members(members), open_cost(self.instance, prices, from, until)),
            Kind::Resource(id) => {
                (of_members(&self.of_resources[id.index()]), open_amount(self.instance, *id, from, until))
            }
            Kind::One(tasks) => {
                let least = |&task: &u32| {
                    let runs = self.runs.of(task as usize).iter();
                    runs.filter_map(|run| held(window(task as usize), run.time, 1)).min().unwrap_or(0)
                };
                (tasks.iter().map(least).fold(0, i128::saturating_add), Some(until - from))
            }
        };
        Ok((needed, available.ok_or(CertificateError::Overflow)?))
    }
}

impl Members {
    /// Adds a task with its amount for each of its choices, unless all these amounts are zero.
    fn add(&mut self, row: usize, amounts: impl Iterator<Item = i128>) {
        let first = self.amounts.len();
        self.amounts.extend(amounts);
        if self.amounts[first..].iter().all(|&amount| amount == 0) {
            self.amounts.truncate(first);
        } else {
            self.rows.push(row as u32);
        }
    }
}

impl Least {
    fn of(instance: &Instance, runs: &Runs<'_>, row: usize) -> Self {
        let (demands, runs) = (instance.demands(runs.tasks[row]), runs.of(row).iter());
        let processors = runs.clone().map(|run| run.first).min().unwrap_or(0).into();
        let comes_back = demands.iter().filter(|demand| demand.kind != ResourceKind::Consumable);
        let least = |id| runs.clone().map(|run| run.holds(demands, id)).min().unwrap_or(0).into();
        Self { processors, resources: comes_back.map(|demand| (demand.resource, least(demand.resource))).collect() }
    }
}
