//! Construction of a problem from a packing in which every resource is one pool.

use makespan_core::{ResourceId, ResourceKind};

use super::CumulativeProblem;
use super::problem::{Adjacency, Mode, RowData};
use super::word::Fields;
use crate::kernel::packing::{Packing, Row};

/// Maximum instant that may occur in the schedule of a list, in ticks.
const LONGEST: i128 = (i64::MAX / 4) as i128;

/// The processors, or a renewable resource: its capacity over time, and the demand of each allotment.
struct Renewable {
    /// The capacity from each instant on. Instants are in ticks after the first release.
    capacity: Vec<(i64, u64)>,
    demands: Vec<u64>,
}

/// An allotment of a task in a packing, with the amounts of consumables that the task then uses up. The draft becomes a
/// mode of the task, unless another allotment is better.
struct Draft {
    row: Row,
    choice: u32,
    time: i64,
    used_up: Vec<u64>,
}

impl<'a> CumulativeProblem<'a> {
    /// Returns the problem of a packing. Returns `None` if the amounts do not fit into 128 bits, or if a resource is
    /// not one pool. Returns `None` in these cases, too:
    ///
    /// * Processors differ in speed or are restricted to nodes, tasks have different times on different machines, or
    ///   transfers between nodes take time.
    /// * Processors close at different times. (If processors open one after another and then stay open, they form one
    ///   pool.)
    /// * A task needs a resource of nodes, such as memory, and there are several nodes.
    /// * Work outside the instance holds an amount of a consumable at the beginning and returns it later.
    /// * A task has no allotment for which the consumables suffice, even if all other tasks use up their minimum.
    ///
    /// Omits resources that are sufficient for all tasks at the same time. Omits a mode if another mode of the task is
    /// at least as fast and needs at most as much of every resource.
    pub fn new(packing: &Packing<'a>) -> Option<Self> {
        let origin = packing.instance().first_release().ticks();
        if !are_pools(packing, origin) {
            return None;
        }
        let mut drafts = drafts(packing);
        let stocks = stocks(packing);
        drop_too_costly(packing, &mut drafts, &stocks)?;
        let renewables = scarce(packing, &drafts, renewables(packing, &drafts, origin));
        let instead = undominated(&drafts, &renewables);
        let choices: Vec<u32> = drafts.iter().map(|draft| draft.choice).collect();
        let drafts: Vec<(usize, Draft)> =
            drafts.into_iter().enumerate().filter(|(at, _)| instead[*at] == Some(*at)).collect();
        let consumables = scarce_stocks(packing, &drafts, &stocks);
        let mut problem = Self::of(packing, origin, &drafts, &renewables, &consumables, &stocks)?;
        problem.mode_of = vec![None; packing.rows().next_back().map_or(0, |row| packing.choices_of(row).end as usize)];
        for (&choice, &instead) in choices.iter().zip(&instead) {
            let mode = instead.and_then(|at| drafts.binary_search_by_key(&at, |draft| draft.0).ok());
            problem.mode_of[choice as usize] = mode.map(|mode| mode as u32);
        }
        Some(problem)
    }

    fn of(
        packing: &Packing<'a>,
        origin: i64,
        drafts: &[(usize, Draft)],
        renewables: &[Renewable],
        consumables: &[usize],
        stocks: &[u64],
    ) -> Option<Self> {
        let instance = packing.instance();
        let (fields, base, divisors) = packed(drafts, renewables)?;
        let release = |row: Row| packing.release_of(row) - origin;
        let instants = base.iter().map(|step| step.0).chain(packing.rows().map(release));
        let lags = instance.task_ids().filter(|_| instance.has_lags()).flat_map(|task| instance.lags_to(task));
        let instants = instants.chain(lags.map(|(_, least)| least.ticks()));
        let unit = drafts.iter().map(|(_, draft)| draft.time).chain(instants).fold(0, gcd).max(1);
        let mut problem = Self {
            instance,
            unit,
            origin,
            base: base.into_iter().map(|(from, free)| (from / unit, fields.pack(&free))).collect(),
            row_of: Vec::with_capacity(instance.tasks() as usize),
            rows: Vec::with_capacity(packing.rows().len()),
            mode_begins: vec![0],
            modes: Vec::with_capacity(drafts.len()),
            mode_of: Vec::new(),
            used_up: Vec::with_capacity(drafts.len() * consumables.len()),
            stocks: consumables.iter().map(|&at| stocks[at]).collect(),
            before: Adjacency::default(),
            behind: Adjacency::default(),
            order: packing.order().to_vec(),
            tails: Vec::new(),
            horizon: 0,
            fields,
        };
        for row in packing.rows() {
            let (first, count) = (packing.first_of(row).0 as u32, packing.count_of(row));
            problem.row_of.extend(std::iter::repeat_n(row, count as usize));
            problem.rows.push(RowData { first, count, release: release(row) / unit });
        }
        for (at, draft) in drafts {
            let amounts: Vec<u64> =
                renewables.iter().zip(&divisors).map(|(renewable, divisor)| renewable.demands[*at] / divisor).collect();
            problem.modes.push(Mode {
                processors: packing.choice(draft.choice).processors,
                time: draft.time / unit,
                demand: problem.fields.pack(&amounts),
                choice: draft.choice,
            });
            problem.used_up.extend(consumables.iter().map(|&at| draft.used_up[at]));
        }
        for row in packing.rows() {
            let end = drafts.partition_point(|(_, draft)| draft.row <= row) as u32;
            if end == problem.mode_begins[row.index()] {
                return None;
            }
            problem.mode_begins.push(end);
        }
        problem.connect(packing);
        problem.measure().then_some(problem)
    }

    fn connect(&mut self, packing: &Packing<'a>) {
        let instance = self.instance;
        let adjacency = |of: &dyn Fn(Row) -> Vec<Row>| {
            let mut adjacency = Adjacency { begins: vec![0], rows: Vec::new() };
            for row in packing.rows() {
                let mut rows = of(row);
                rows.sort_unstable();
                rows.dedup();
                adjacency.rows.extend(rows);
                adjacency.begins.push(adjacency.rows.len() as u32);
            }
            adjacency
        };
        self.before =
            adjacency(&|row| instance.incoming(packing.first_of(row)).map(|edge| packing.row_of(edge.from)).collect());
        self.behind =
            adjacency(&|row| instance.outgoing(packing.first_of(row)).map(|edge| packing.row_of(edge.to)).collect());
    }

    /// Computes the tails (minimum times after each task) and the horizon. Returns whether all times are at most
    /// `LONGEST`.
    fn measure(&mut self) -> bool {
        let times = |row: Row| self.modes_of(row).map(|mode| self.mode(mode).time);
        let mut tails = vec![0_i64; self.rows.len()];
        for &row in self.order.iter().rev() {
            let behind = self.behind(row).iter();
            let tail = behind.map(|&row| times(row).min().unwrap_or(0).saturating_add(tails[row.index()])).max();
            tails[row.index()] = tail.unwrap_or(0);
        }
        let longest = |row: Row| i128::from(times(row).max().unwrap_or(0)) * self.tasks_of(row).len() as i128;
        let work: i128 = self.rows().map(longest).sum();
        let latest = self.rows.iter().map(|row| row.release).chain(self.base.iter().map(|step| step.0)).max();
        let horizon = work + i128::from(latest.unwrap_or(0));
        if i128::from(self.origin) + horizon * i128::from(self.unit) > LONGEST {
            return false;
        }
        (self.tails, self.horizon) = (tails, horizon as i64);
        true
    }
}

/// Returns whether every resource is one pool.
fn are_pools(packing: &Packing<'_>, origin: i64) -> bool {
    let (instance, machines) = (packing.instance(), packing.machines());
    let alike = machines.classes.len() == 1 && !machines.compact && !instance.has_machine_times();
    let consumable = |resource: ResourceId| instance.platform().resource_of(resource).kind == ResourceKind::Consumable;
    let given_back = machines.held.iter().any(|held| held.0 < i64::MAX && consumable(held.2));
    let few = machines.resources == 0 || machines.nodes.len() == 1 || !holds_of_nodes(packing);
    alike && !packing.has_transfers() && !given_back && few && are_interchangeable(packing, origin)
}

fn holds_of_nodes(packing: &Packing<'_>) -> bool {
    packing.rows().any(|row| packing.demands_of(row).iter().any(|demand| demand.kind == ResourceKind::OfNodes))
}

/// Returns whether only the number of open processors matters. This is so if all processors close at the same times,
/// or if they open one after another and then stay open.
fn are_interchangeable(packing: &Packing<'_>, origin: i64) -> bool {
    let classes = packing.instance().availability().classes();
    let opens_once = |class: &makespan_core::availability::Class| {
        let mut later = class.closed.iter().filter(|closed| closed.1.ticks() > origin);
        later.next().is_none_or(|closed| closed.0.ticks() <= origin) && later.next().is_none()
    };
    classes.len() == 1 || classes.iter().all(opens_once)
}

/// Returns all allotments, ordered by row. A row stands for a task or for the equal tasks of a bag.
fn drafts(packing: &Packing<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let consumables: Vec<ResourceId> = packing.consumables().collect();
    for row in packing.rows() {
        for choice in packing.choices_of(row) {
            let processors = packing.choice(choice).processors;
            let used_up = consumables.iter().map(|&resource| amount(packing, row, resource, processors)).collect();
            drafts.push(Draft { row, choice, time: packing.fastest(choice), used_up });
        }
    }
    drafts
}

fn amount(packing: &Packing<'_>, row: Row, resource: ResourceId, processors: u32) -> u64 {
    let demand = packing.demands_of(row).iter().find(|demand| demand.resource == resource);
    demand.map_or(0, |demand| demand.need.total(processors))
}

/// Returns the available amount of each consumable.
fn stocks(packing: &Packing<'_>) -> Vec<u64> {
    packing.consumables().map(|resource| packing.machines().ever_left(resource)).collect()
}

/// Removes each allotment for which a consumable is insufficient even if all other tasks use up their minimum. Repeats
/// this until no such allotment remains. Returns `None` if a task has no allotment left.
fn drop_too_costly(packing: &Packing<'_>, drafts: &mut Vec<Draft>, stocks: &[u64]) -> Option<()> {
    loop {
        let mut least = vec![vec![u64::MAX; stocks.len()]; packing.rows().len()];
        for draft in &*drafts {
            least[draft.row.index()]
                .iter_mut()
                .zip(&draft.used_up)
                .for_each(|(least, used)| *least = (*used).min(*least));
        }
        let sum = |at: usize| -> u128 {
            let of = |row: Row| u128::from(least[row.index()][at]) * u128::from(packing.count_of(row));
            packing.rows().map(of).sum()
        };
        let sums: Vec<u128> = (0..stocks.len()).map(sum).collect();
        let before = drafts.len();
        drafts.retain(|draft| {
            let own = draft.used_up.iter().zip(&least[draft.row.index()]);
            own.zip(&sums)
                .zip(stocks)
                .all(|(((used, least), sum), stock)| sum - u128::from(*least) + u128::from(*used) <= u128::from(*stock))
        });
        if drafts.len() == before {
            return Some(());
        }
        let mut has = vec![false; packing.rows().len()];
        drafts.iter().for_each(|draft| has[draft.row.index()] = true);
        if has.contains(&false) {
            return None;
        }
    }
}

/// Returns the processors and the renewable resources.
fn renewables(packing: &Packing<'_>, drafts: &[Draft], origin: i64) -> Vec<Renewable> {
    let (instance, machines) = (packing.instance(), packing.machines());
    let availability = instance.availability();
    let closed = availability.classes().iter().flat_map(|class| &class.closed);
    let mut instants: Vec<i64> = closed.flat_map(|&(from, until)| [from.ticks(), until.ticks()]).collect();
    instants.push(origin);
    instants.retain(|&at| at >= origin);
    instants.sort_unstable();
    instants.dedup();
    let open = |at: i64| (at - origin, u64::from(availability.open_at(makespan_core::Time::from_ticks(at))));
    let demands = drafts.iter().map(|draft| u64::from(packing.choice(draft.choice).processors)).collect();
    let mut found = vec![Renewable { capacity: instants.into_iter().map(open).collect(), demands }];
    for (at, resource) in instance.platform().resources().iter().enumerate() {
        let id = ResourceId(at as u16);
        let there = match resource.kind {
            ResourceKind::Consumable => continue,
            ResourceKind::OfNodes => machines.amounts.get(at).copied().unwrap_or(0),
            ResourceKind::Licence => machines.common[at - machines.resources],
        };
        let node = if resource.kind == ResourceKind::OfNodes { Some(0) } else { None };
        let held: Vec<(i64, u64)> =
            machines.held.iter().filter(|held| (held.1, held.2) == (node, id)).map(|held| (held.0, held.3)).collect();
        let mut instants: Vec<i64> = held
            .iter()
            .map(|held| held.0)
            .filter(|&until| until > origin && until < i64::MAX)
            .chain([origin])
            .collect();
        instants.sort_unstable();
        instants.dedup();
        let left = |at: i64| {
            let now = held.iter().filter(|held| held.0 > at);
            (at - origin, now.fold(there, |left, held| left.saturating_sub(held.1)))
        };
        let demand = |draft: &Draft| amount(packing, draft.row, id, packing.choice(draft.choice).processors);
        let demands = drafts.iter().map(demand).collect();
        found.push(Renewable { capacity: instants.into_iter().map(left).collect(), demands });
    }
    found
}

/// Returns the resources that do not suffice if all tasks run at the same time.
fn scarce(packing: &Packing<'_>, drafts: &[Draft], renewables: Vec<Renewable>) -> Vec<Renewable> {
    let is_scarce = |renewable: &Renewable| {
        let mut most = vec![0_u64; packing.rows().len()];
        for (draft, &demand) in drafts.iter().zip(&renewable.demands) {
            most[draft.row.index()] = most[draft.row.index()].max(demand);
        }
        let all: u128 =
            packing.rows().map(|row| u128::from(most[row.index()]) * u128::from(packing.count_of(row))).sum();
        renewable.capacity.iter().any(|step| all > u128::from(step.1))
    };
    renewables.into_iter().filter(is_scarce).collect()
}

/// Returns the consumables that do not suffice if each task uses up its maximum.
fn scarce_stocks(packing: &Packing<'_>, drafts: &[(usize, Draft)], stocks: &[u64]) -> Vec<usize> {
    let is_scarce = |at: &usize| {
        let mut most = vec![0_u64; packing.rows().len()];
        for (_, draft) in drafts {
            most[draft.row.index()] = most[draft.row.index()].max(draft.used_up[*at]);
        }
        let all: u128 =
            packing.rows().map(|row| u128::from(most[row.index()]) * u128::from(packing.count_of(row))).sum();
        all > u128::from(stocks[*at])
    };
    (0..stocks.len()).filter(is_scarce).collect()
}

/// Returns a replacement for each allotment. The replacement is an allotment of the same row of equal tasks that is at
/// least as fast and needs at most as much of every resource. If no other allotment is better, the allotment replaces
/// itself. Equal allotments are all replaced by the first of them. Returns `None` for an allotment that never fits.
fn undominated(drafts: &[Draft], renewables: &[Renewable]) -> Vec<Option<usize>> {
    let fits = |at: usize| renewables.iter().all(|one| one.demands[at] <= one.capacity[one.capacity.len() - 1].1);
    let mut instead: Vec<Option<usize>> = (0..drafts.len()).map(|at| fits(at).then_some(at)).collect();
    let no_more = |a: usize, b: usize| {
        let held = renewables.iter().all(|one| one.demands[a] <= one.demands[b]);
        held && drafts[a].time <= drafts[b].time
            && drafts[a].used_up.iter().zip(&drafts[b].used_up).all(|(a, b)| a <= b)
    };
    let mut begin = 0;
    for row in drafts.chunk_by(|a, b| a.row == b.row) {
        let range = begin..begin + row.len();
        begin += row.len();
        // Handle the usual case first: each allotment of a row of equal tasks is faster than the previous one, and
        // needs more of some resource. No allotment is then replaced.
        let rising = |one: &Renewable| one.demands[range.clone()].is_sorted_by(|a, b| a < b);
        if row.is_sorted_by(|a, b| a.time > b.time) && renewables.iter().any(rising) {
            continue;
        }
        let better = |other: usize, at: usize| no_more(other, at) && (other < at || !no_more(at, other));
        for at in range.clone().filter(|&at| fits(at)) {
            // Use a better allotment that is not replaced itself. Such an allotment always exists.
            let is_best =
                |other: usize| !range.clone().any(|third| third != other && fits(third) && better(third, other));
            let mut others = range.clone().filter(|&other| other != at && fits(other) && better(other, at));
            instead[at] = Some(others.find(|&other| is_best(other)).unwrap_or(at));
        }
    }
    instead
}

/// Returns the fields of the words, the free amounts over time, and a divisor for the amounts of each resource.
#[expect(clippy::type_complexity, reason = "the caller destructures the tuple immediately")]
fn packed(drafts: &[(usize, Draft)], renewables: &[Renewable]) -> Option<(Fields, Vec<(i64, Vec<u64>)>, Vec<u64>)> {
    let divisor = |one: &Renewable| drafts.iter().fold(0, |all, (at, _)| gcd_of(all, one.demands[*at])).max(1);
    let divisors: Vec<u64> = renewables.iter().map(divisor).collect();
    let most = |one: &Renewable| one.capacity.iter().map(|step| step.1).max().unwrap_or(0);
    let capacities: Vec<u64> = renewables.iter().zip(&divisors).map(|(one, divisor)| most(one) / divisor).collect();
    let mut instants: Vec<i64> = renewables.iter().flat_map(|one| one.capacity.iter().map(|step| step.0)).collect();
    instants.push(0);
    instants.sort_unstable();
    instants.dedup();
    let at = |instant: i64| {
        let free = |(one, divisor): (&Renewable, &u64)| {
            let step = one.capacity.partition_point(|step| step.0 <= instant);
            one.capacity[step.saturating_sub(1)].1 / divisor
        };
        (instant, renewables.iter().zip(&divisors).map(free).collect())
    };
    Some((Fields::new(&capacities)?, instants.into_iter().map(at).collect(), divisors))
}

fn gcd(a: i64, b: i64) -> i64 {
    gcd_of(a.unsigned_abs(), b.unsigned_abs()) as i64
}

fn gcd_of(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
