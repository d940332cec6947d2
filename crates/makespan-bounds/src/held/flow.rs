//! A flow along paths and a price for what is held that prove most together.

use makespan_core::proof::PathFlow;
use makespan_core::{Instance, TaskId};

use super::{Commodity, Holders};

/// Paths that are added, at most.
const PATHS: u64 = 200;
/// Ways to run tasks that are looked at in all.
const LOOKED_AT: usize = 1 << 26;
/// Steps of the golden section for the share of the paths.
const STEPS: usize = 14;
/// What flows in all, about.
const FLOW: f64 = 68_719_476_736.0;
const GOLDEN: f64 = 0.618_033_988_749_894_8;

/// The flow, as a sum of paths of which the later ones count more.
#[derive(Clone, Debug)]
struct Flow {
    through: Vec<u64>,
    along: Vec<u64>,
    all: u64,
    /// What begins at a task, times its release.
    released: f64,
}

/// What an edge or a release begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Release,
    Edge(u32),
}

struct Search<'a> {
    instance: &'a Instance,
    holders: &'a Holders,
    order: Vec<TaskId>,
    /// For each row its release.
    releases: Vec<f64>,
    first: f64,
    rate: f64,
    flow: Flow,
    times: Vec<f64>,
}

/// Flow and price that nearly maximise what they prove, by the longest path again and again: at the times that the tasks would choose
/// between the path and the price of what they hold, the longest path is added to the flow, and the price is found anew.
///
/// `None` where everything holds nothing. Complexity: O(r + e) for r ways to run tasks and e edges, for each of at most 200 paths, and
/// at most some 10^8 ways in all.
pub(super) fn search(instance: &Instance, holders: &Holders, commodity: &Commodity) -> Option<PathFlow> {
    let rows = holders.rows.len();
    let flow = Flow { through: vec![0; rows], along: vec![0; instance.edges().len()], all: 0, released: 0.0 };
    let release = |task: TaskId| (instance.different(task), instance.release(task).ticks() as f64);
    let order: Vec<TaskId> = instance.in_order().collect();
    let mut releases = vec![0.0; rows];
    order.iter().map(|&task| release(task)).for_each(|(row, release)| releases[row] = release);
    let (first, rate) = (instance.first_release().ticks() as f64, holders.rate as f64);
    if rows == 0 || rate <= 0.0 {
        return None;
    }
    let fastest = holders.rows.iter().map(|row| holders.runs.get(row.runs.start).map_or(0.0, |way| way.time as f64));
    let times = fastest.collect();
    let mut search = Search { instance, holders, order, releases, first, rate, flow, times };
    let paths = ((LOOKED_AT / (STEPS + 3) / holders.runs.len()) as u64).clamp(3, PATHS);
    let mut best: Option<(f64, f64, Flow)> = None;
    for weight in 1..=paths {
        search.add_longest_path(weight);
        let share = search.best_share();
        let value = search.value(share, true);
        if best.as_ref().is_none_or(|best| value > best.0) {
            best = Some((value, share, search.flow.clone()));
        }
    }
    let (_, share, flow) = best?;
    Some(certificate(instance, holders, commodity, share, &flow))
}

impl Search<'_> {
    /// Adds the longest path at the present times to the flow.
    fn add_longest_path(&mut self, weight: u64) {
        let instance = self.instance;
        let mut ends = vec![0.0_f64; self.times.len()];
        let mut before = vec![Before::Release; self.times.len()];
        for &task in &self.order {
            let row = instance.different(task);
            let mut start = self.releases[row];
            for &number in instance.incoming_edges(task) {
                let end = ends[instance.different(instance.edges()[number as usize].from)];
                if end > start {
                    (start, before[row]) = (end, Before::Edge(number));
                }
            }
            ends[row] = start + self.times[row];
        }
        let last = (0..ends.len()).max_by(|&a, &b| ends[a].total_cmp(&ends[b]));
        let Some(mut row) = last else { return };
        self.flow.all += weight;
        loop {
            self.flow.through[row] += weight;
            match before[row] {
                Before::Release => break,
                Before::Edge(number) => {
                    self.flow.along[number as usize] += weight;
                    row = instance.different(instance.edges()[number as usize].from);
                }
            }
        }
        self.flow.released += weight as f64 * self.releases[row];
    }

    /// What is proved with this share of paths, the rest being the price of what is held; `choose` keeps the times that tasks choose.
    fn value(&mut self, share: f64, choose: bool) -> f64 {
        let (path, area) = (share / self.flow.all as f64, (1.0 - share) / self.rate);
        let mut sum = path * self.flow.released + (1.0 - share) * self.first;
        for (row, of) in self.holders.rows.iter().enumerate() {
            let through = self.flow.through[row] as f64 * path;
            let (mut least, mut time, mut alone) = (f64::INFINITY, 0.0, f64::INFINITY);
            for way in &self.holders.runs[of.runs.clone()] {
                let held = way.rate as f64 * area * way.time as f64;
                let paid = through * way.time as f64 + held;
                if paid < least {
                    (least, time) = (paid, way.time as f64);
                }
                alone = alone.min(held);
            }
            if least.is_finite() {
                sum += least + (of.count - 1) as f64 * alone;
                if choose {
                    self.times[row] = time;
                }
            }
        }
        sum
    }

    /// The share of paths with which most is proved: what is proved is a concave function of it.
    fn best_share(&mut self) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        let mut middle = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
        let mut values = middle.map(|share| self.value(share, false));
        for _ in 0..STEPS {
            if values[0] >= values[1] {
                high = middle[1];
                middle = [high - GOLDEN * (high - low), middle[0]];
                values = [self.value(middle[0], false), values[0]];
            } else {
                low = middle[0];
                middle = [middle[1], low + GOLDEN * (high - low)];
                values = [values[1], self.value(middle[1], false)];
            }
        }
        if values[0] >= values[1] { middle[0] } else { middle[1] }
    }
}

/// The flow and the price in integers.
fn certificate(instance: &Instance, holders: &Holders, commodity: &Commodity, share: f64, flow: &Flow) -> PathFlow {
    let factor = (FLOW / flow.all as f64).max(1.0) as u64;
    let pairs = |flows: &[u64]| {
        let each = flows.iter().zip(0..).filter(|(flow, _)| **flow > 0);
        each.map(|(&flow, at)| (at, flow * factor)).collect::<Vec<(u32, u64)>>()
    };
    let all = (flow.all * factor) as f64 * (1.0 - share) / share.max(1e-9);
    let price = |rate: u64| (all * rate as f64 / holders.rate as f64).round() as u64;
    let (prices, resources) = match commodity {
        Commodity::Processors(prices) => (prices.iter().map(|&rate| price(rate)).collect(), Vec::new()),
        Commodity::Resource(id) => {
            (Vec::new(), vec![(instance.platform().resource_of(*id).name.to_string(), price(1))])
        }
    };
    PathFlow { tasks: pairs(&flow.through), edges: pairs(&flow.along), prices, resources }
}
