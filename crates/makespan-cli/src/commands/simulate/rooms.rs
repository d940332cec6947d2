//! The free processors and resources in a simulation as step functions of time, for the platform and for each node.

use makespan::Simulated;
use makespan_core::{Instance, ResourceKind, Run, TaskId, Time};

/// Free amounts of a node, of the platform, or of the licences. The first amount is the number of processors, followed
/// by the amount of each resource.
pub struct AmountPlace {
    begins: Vec<Time>,
    /// Free amounts from each instant in `begins` until the next one.
    free: Vec<Vec<i64>>,
}

impl AmountPlace {
    fn new(all: Vec<i64>, mut changes: Vec<(Time, usize, i64)>) -> Self {
        changes.sort_unstable();
        let (mut begins, mut free) = (vec![Time::ZERO], vec![all]);
        for (at, lane, change) in changes {
            let mut row = free.last().cloned().unwrap_or_default();
            row[lane] += change;
            if begins.last() == Some(&at) {
                free.pop();
            } else {
                begins.push(at);
            }
            free.push(row);
        }
        Self { begins, free }
    }

    /// Returns the number of free processors of the platform over time.
    pub fn of_processors(instance: &Instance, simulated: &Simulated) -> Self {
        let runs = simulated.simulation.trace.runs.iter().filter(|run| run.end > run.start);
        let runs = runs.map(|run| (&run.processors, run.start, run.end));
        let down = simulated.simulation.down.iter().map(|down| (&down.processors, down.start, down.end));
        let changes = runs.chain(down).flat_map(|(processors, start, end)| {
            let width = i64::from(processors.len());
            [(start, 0, -width), (end, 0, width)]
        });
        Self::new(vec![instance.processors().into()], changes.collect())
    }

    fn step_at(&self, at: Time) -> usize {
        self.begins.partition_point(|&begin| begin <= at).max(1) - 1
    }

    /// Returns the first instant later than `after` at which a free amount changes.
    pub fn next_step(&self, after: Time) -> Option<Time> {
        self.begins.get(self.begins.partition_point(|&begin| begin <= after)).copied()
    }

    /// Returns the first instant in a period from which `size` processors are free for the duration `time`. The
    /// processors of the run `own` (its size, start and end) are treated as free.
    pub fn first_fit(
        &self,
        size: u32,
        time: Time,
        (from, until): (Time, Time),
        own: (u32, Time, Time),
    ) -> Option<Time> {
        let (mut start, mut at) = (from, self.step_at(from));
        while start < until {
            let begin = self.begins[at].max(start);
            let end = self.begins.get(at + 1).copied().unwrap_or(Time::MAX);
            let back = if begin >= own.1 && begin < own.2 { i64::from(own.0) } else { 0 };
            if self.free[at][0] + back < i64::from(size) {
                if end == Time::MAX {
                    return None;
                }
                start = end;
            } else if end >= start + time {
                return Some(start);
            }
            at += 1;
        }
        None
    }

    /// Returns the minimum free amount of each resource in a period. From `start` to `end`, the amounts in `back` are
    /// treated as free.
    fn least(&self, (from, until): (Time, Time), back: &[i64], (start, end): (Time, Time)) -> Vec<i64> {
        let first = self.step_at(from);
        let mut least = vec![i64::MAX; back.len()];
        for (begin, row) in self.begins.iter().zip(&self.free).skip(first).take_while(|step| *step.0 < until) {
            let own = *begin.max(&from) >= start && *begin.max(&from) < end;
            for ((least, free), back) in least.iter_mut().zip(row).zip(back) {
                *least = (*least).min(free + if own { *back } else { 0 });
            }
        }
        least
    }
}

/// The free amounts of all nodes over time.
pub struct NodeAmounts<'a> {
    instance: &'a Instance,
    nodes: Vec<AmountPlace>,
    /// Free amounts of licences, which belong to no node.
    common: AmountPlace,
}

/// Returns the amounts that a task holds on these processors, each with its node number and resource number. For a
/// licence, which belongs to no node, the node number is the number of nodes.
fn held(instance: &Instance, task: TaskId, parts: &[(usize, u32)]) -> Vec<(usize, usize, i64)> {
    let common = instance.platform().node_count();
    let width = parts.iter().map(|part| part.1).sum();
    let mut held: Vec<_> = parts.iter().map(|&(node, here)| (node, 0, i64::from(here))).collect();
    for demand in instance.demands(task) {
        let lane = 1 + demand.resource.index();
        let amounts = demand.amounts(parts, width);
        held.extend(amounts.map(|(node, amount)| (node.unwrap_or(common), lane, to_signed(amount))));
    }
    held
}

fn to_signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

impl<'a> NodeAmounts<'a> {
    /// Returns the free amounts during a simulation. Returns `None` if jobs need only processors.
    pub fn of(instance: &'a Instance, simulated: &Simulated) -> Option<Self> {
        if !instance.has_demands() {
            return None;
        }
        let platform = instance.platform();
        let count = platform.node_count();
        let mut changes = vec![Vec::new(); count + 1];
        let mut change = |place: usize, lane: usize, amount: i64, (start, end): (Time, Time)| {
            changes[place].extend([(start, lane, -amount), (end, lane, amount)]);
        };
        for run in simulated.simulation.trace.runs.iter().filter(|run| run.end > run.start) {
            let parts = platform.parts(&run.processors);
            for (place, lane, amount) in held(instance, run.task, &parts) {
                change(place, lane, amount, (run.start, run.end));
            }
        }
        for down in &simulated.simulation.down {
            for (node, here) in platform.parts(&down.processors) {
                change(node, 0, here.into(), (down.start, down.end));
            }
        }
        let resources = platform.resources();
        let ids = || resources.iter().filter_map(|resource| platform.resource(&resource.name));
        let mut changes = changes.into_iter();
        let nodes = (0..count).zip(&mut changes).map(|(node, changes)| {
            let processors = i64::from(platform.nodes()[node].processors);
            let all = [processors].into_iter().chain(ids().map(|id| to_signed(platform.amount(node, id))));
            AmountPlace::new(all.collect(), changes)
        });
        let nodes = nodes.collect();
        let total = |id| i64::try_from(platform.total(id)).unwrap_or(i64::MAX);
        let all = [0].into_iter().chain(ids().map(total));
        Some(Self { instance, nodes, common: AmountPlace::new(all.collect(), changes.next().unwrap_or_default()) })
    }

    /// Returns true if a job could have run on `size` processors in a period. The amounts of its actual run `own` are
    /// treated as free.
    pub fn fit(&self, size: u32, period: (Time, Time), own: &Run) -> bool {
        let demands = self.instance.demands(own.task);
        let common = self.nodes.len();
        let mut back = vec![vec![0; 1 + self.instance.platform().resources().len()]; common + 1];
        let parts = self.instance.platform().parts(&own.processors);
        for (place, lane, amount) in held(self.instance, own.task, &parts) {
            back[place][lane] += amount;
        }
        let ran = (own.start, own.end);
        let free = self.common.least(period, &back[common], ran);
        let mut licences = demands.iter().filter(|demand| demand.kind != ResourceKind::OfNodes);
        if licences.any(|demand| to_signed(demand.need.total(size)) > free[1 + demand.resource.index()]) {
            return false;
        }
        let room = |(place, back): (&AmountPlace, &Vec<i64>)| {
            let free = place.least(period, back, ran);
            let most = u32::try_from(free[0].max(0)).unwrap_or(u32::MAX).min(size);
            let of_nodes = demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes);
            let room = of_nodes.fold(most, |most, demand| {
                let left = u64::try_from(free[1 + demand.resource.index()]).unwrap_or(0);
                if most == 0 { 0 } else { demand.need.fitting(left, most, size) }
            });
            u64::from(room)
        };
        self.nodes.iter().zip(&back).map(room).sum::<u64>() >= size.into()
    }
}
