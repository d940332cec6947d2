//! Bounds that combine a flow along paths of tasks with a price for the amounts that tasks hold. Paths may also use
//! area arcs. A task lies between two tasks if it waits for the first and the second waits for it. The length of an
//! area arc between two tasks is the area of all tasks between them, divided by the capacity.

mod ancestry;
mod hull;
mod longest;

use std::collections::BTreeMap;

use makespan_core::Instance;
use makespan_verify::proof::{Areas, PathFlow};

use super::{Commodity, Holders};
use crate::Clock;
use hull::Hulls;
use longest::{LongestPath, PathStep, Paths};

/// Maximum number of paths that are added to the flow if there is no time limit.
const PATHS: u64 = 300;
/// Maximum number of paths that are added to the flow if there is a time limit.
const TIMED_PATHS: u64 = 3000;
/// The number that determines how fast the mean times and areas follow the choices of the tasks ([`Search::recency`]).
const RECENT: f64 = 4.0;
/// Maximum number of paths that are added before the search tries area arcs.
const WITHOUT: u64 = 40;
/// Number of paths that are added to the flow even if the instance is very large.
const MIN_PATHS: u64 = 3;
/// Approximate maximum number of elementary steps of the whole search if there is no time limit.
const STEPS_IN_ALL: usize = 1 << 27;
/// Number of steps of the golden section search for the share of the paths in the bound.
const STEPS: usize = 14;
/// Number of steps of the golden section search after the first `FAR` paths. Then each new path changes the best share
/// only a little.
const STEPS_NEAR: usize = 6;
/// Number of paths after which the golden section search takes only `STEPS_NEAR` steps.
const FAR: u64 = 16;
/// Approximate number of elementary steps in which one task chooses its run.
const ROW: usize = 8;
/// Approximate sum of the weights of all paths in a certificate.
const FLOW: f64 = 68_719_476_736.0;
const GOLDEN: f64 = 0.618_033_988_749_894_8;

/// The flow: a sum of weighted paths. Later paths have larger weights.
#[derive(Clone, Debug)]
struct Flow {
    /// The flow through each distinct task.
    through: Vec<u64>,
    /// The flow along each edge.
    along: Vec<u64>,
    /// The flow along each area arc. The key contains the positions of the tasks at both ends of the arc. `None` stands
    /// for the beginning or the end of the schedule.
    arcs: BTreeMap<(Option<usize>, Option<usize>), u64>,
    /// For each distinct task, the total flow along the area arcs that have this task strictly between their ends.
    over: Vec<u64>,
    /// The sum of the weights of all paths.
    all: u64,
    /// The sum, over all paths, of a product: the weight of the path times the instant at which the path begins.
    released: f64,
}

struct Search<'a> {
    instance: &'a Instance,
    holders: &'a Holders,
    hulls: Hulls,
    paths: Paths<'a>,
    /// The first release date of the instance.
    first: f64,
    rate: f64,
    flow: Flow,
    /// For each task, in topological order, the weighted mean of the run times that it has chosen. After each new path,
    /// each task chooses a run time again. Recent choices have larger weights.
    times: Vec<f64>,
    /// For each task, the mean area of its chosen runs, divided by the capacity. Tasks are in topological order. The entry
    /// of a bag is the area of all its tasks.
    areas: Vec<f64>,
    /// The weight of the next choices in `times` and `areas`. All earlier choices together have the remaining weight.
    recency: f64,
    /// For each distinct task, its position in the topological order.
    place: Vec<usize>,
}

/// Returns a flow and a price that nearly maximise the bound.
///
/// The search repeats these steps. First, each task chooses the run with the least cost: the flow through the task
/// times the time of the run, plus the price times the area of the run. Then the search adds the longest path to the
/// flow. The length of a path is the sum of the mean times of the runs that its tasks have chosen so far (fictitious
/// play, G. W. Brown 1951). Finally, the search optimises the price again. Paths may also use area arcs, unless there are
/// too many tasks.
///
/// Returns `None` if no task holds any amount. Also returns `None` if every task has only one run and the longest path
/// uses no area arc.
///
/// Complexity: O(r + e) for each path, where r is the number of runs and e is the number of edges. If a path may use
/// area arcs, the path also takes the time of [`Paths::longest`]. Without a time limit, the search adds at most 300 paths,
/// and ends earlier if it has used `STEPS_IN_ALL` elementary steps. With a time limit, it adds at most 3000 paths.
pub(super) fn search(instance: &Instance, holders: &Holders, commodity: &Commodity, clock: &Clock) -> Option<PathFlow> {
    let rate = holders.rate as f64;
    if holders.rows.is_empty() || rate <= 0.0 {
        return None;
    }
    let mut search = Search::new(instance, holders, rate);
    if !holders.has_choices() {
        // If every task has only one run, no flow proves more than the longest path.
        search.add_longest_path(1, true);
        let is_new = !search.flow.arcs.is_empty();
        return is_new.then(|| search.certificate(commodity, 1.0, &search.flow));
    }
    let each = (STEPS + 3) * ROW * holders.rows.len();
    let mut best: Option<(f64, f64, Flow)> = None;
    let mut share = 0.5;
    let (mut wait, mut next) = (1, 0);
    let is_timed = clock.left().is_some();
    for weight in 1..=if is_timed { TIMED_PATHS } else { PATHS } {
        search.recency = RECENT / (weight as f64 - 1.0 + RECENT);
        let steps = search.paths.steps() + weight as usize * each;
        if (weight > MIN_PATHS && !is_timed && steps > STEPS_IN_ALL) || (weight > 1 && clock.is_over()) {
            break;
        }
        // Do not use area arcs for the first paths. Each task begins with its fastest run, which has a large area. So
        // area arcs would be longer than for the runs that the tasks choose later.
        let with_areas = weight >= next && (weight > WITHOUT || steps > STEPS_IN_ALL / 4);
        let has_areas = search.add_longest_path(weight, with_areas);
        if with_areas {
            // If the path uses no area arc, double the number of paths before the next attempt with area arcs.
            wait = if has_areas { 1 } else { 2 * wait };
            next = weight + wait;
        }
        share = search.best_share(share, weight);
        let value = search.value(share, true);
        if best.as_ref().is_none_or(|best| value > best.0) {
            best = Some((value, share, search.flow.clone()));
        }
    }
    let (_, share, flow) = best?;
    Some(search.certificate(commodity, share, &flow))
}

impl<'a> Search<'a> {
    /// Returns a search in which each task uses its fastest run.
    fn new(instance: &'a Instance, holders: &'a Holders, rate: f64) -> Self {
        let rows = holders.rows.len();
        let paths = Paths::new(instance);
        let mut place = vec![0; rows];
        paths.order.iter().enumerate().for_each(|(at, &task)| place[instance.different(task)] = at);
        let flow = Flow {
            through: vec![0; rows],
            along: vec![0; instance.edges().len()],
            arcs: BTreeMap::new(),
            over: vec![0; rows],
            all: 0,
            released: 0.0,
        };
        let first = instance.first_release().ticks() as f64;
        let hulls = Hulls::new(holders);
        let (mut times, mut areas) = (vec![0.0; rows], vec![0.0; rows]);
        for (row, of) in holders.rows.iter().enumerate() {
            if let Some(chosen) = hulls.choose(row, 1.0, 0.0) {
                (times[place[row]], areas[place[row]]) = (chosen.time, chosen.area * of.count as f64);
            }
        }
        Self { instance, holders, hulls, paths, first, rate, flow, times, areas, recency: 1.0, place }
    }

    /// Adds the longest path at the current run times and areas to the flow, with the weight `weight`. Returns true if
    /// the path uses area arcs.
    fn add_longest_path(&mut self, weight: u64, with_areas: bool) -> bool {
        let Some(LongestPath { is_open, last }) = self.paths.longest(&self.times, &self.areas, with_areas) else {
            return false;
        };
        let mut has_areas = is_open;
        self.flow.all += weight;
        if is_open {
            self.add_arc(Some(last), None, weight);
        }
        let mut task = last;
        loop {
            let row = self.row(task);
            self.flow.through[row] += weight;
            match self.paths.reached(task) {
                PathStep::Edge(number) => {
                    self.flow.along[number as usize] += weight;
                    task = self.paths.from(number);
                }
                PathStep::Area(Some(after)) => {
                    has_areas = true;
                    self.add_arc(Some(after), Some(task), weight);
                    task = after;
                }
                PathStep::Area(None) => {
                    has_areas = true;
                    self.add_arc(None, Some(task), weight);
                    break;
                }
                PathStep::Release => break,
            }
        }
        self.flow.released += weight as f64 * self.paths.begins(task);
        has_areas
    }

    fn add_arc(&mut self, after: Option<usize>, before: Option<usize>, weight: u64) {
        *self.flow.arcs.entry((after, before)).or_default() += weight;
        for task in self.paths.on(after, before) {
            let row = self.row(task);
            self.flow.over[row] += weight;
        }
    }

    /// Returns the index of the distinct task at position `task` in the topological order.
    fn row(&self, task: usize) -> usize {
        self.instance.different(self.paths.order[task])
    }

    /// Returns the bound that follows from a combination of two inequalities: `share` times the inequality of the
    /// paths, plus `1 - share` times the inequality of the held amounts. If `choose` is set, stores the run that each
    /// task chooses.
    fn value(&mut self, share: f64, choose: bool) -> f64 {
        let path = share / self.flow.all as f64;
        let mut sum = path * self.flow.released + (1.0 - share) * self.first;
        for (row, of) in self.holders.rows.iter().enumerate() {
            let through = self.flow.through[row] as f64 * path;
            let price = 1.0 - share + self.flow.over[row] as f64 * path;
            let Some(chosen) = self.hulls.choose(row, through, price) else { continue };
            let others = (of.count - 1) as f64 * price * self.hulls.least_area(row);
            sum += through * chosen.time + price * chosen.area + others;
            if choose {
                let task = self.place[row];
                self.times[task] += self.recency * (chosen.time - self.times[task]);
                self.areas[task] += self.recency * (chosen.area * of.count as f64 - self.areas[task]);
            }
        }
        sum
    }

    /// Returns the share of the paths at which the bound is highest. The bound is a concave function of this share.
    /// Searches near `last`, the best share before the last path was added. `paths` is the number of paths.
    fn best_share(&mut self, last: f64, paths: u64) -> f64 {
        let (near, steps) = if paths <= FAR { (1.0, STEPS) } else { (8.0 / paths as f64, STEPS_NEAR) };
        let (mut low, mut high) = ((last - near).max(0.0), (last + near).min(1.0));
        let mut middle = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
        let mut values = middle.map(|share| self.value(share, false));
        for _ in 0..steps {
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
        let best = usize::from(values[0] < values[1]);
        if high >= 1.0 && self.value(1.0, false) > values[best] { 1.0 } else { middle[best] }
    }

    /// Converts the flow and the price to integers.
    fn certificate(&self, commodity: &Commodity, share: f64, flow: &Flow) -> PathFlow {
        let factor = (FLOW / flow.all as f64).max(1.0) as u64;
        let pairs = |flows: &[u64]| {
            let each = flows.iter().zip(0..).filter(|(flow, _)| **flow > 0);
            each.map(|(&flow, at)| (at, flow * factor)).collect::<Vec<(u32, u64)>>()
        };
        let all = (flow.all * factor) as f64 * (1.0 - share) / share.max(1e-9);
        let scaled = |rate: u64| (all * rate as f64 / self.rate).round() as u64;
        let priced = |price: &dyn Fn(u64) -> u64| match commodity {
            Commodity::Processors(prices) => (prices.iter().map(|&rate| price(rate)).collect(), Vec::new()),
            Commodity::Resource(id) => {
                let name = self.instance.platform().resource_of(*id).name.to_string();
                (Vec::new(), vec![(name, price(1))])
            }
        };
        let (prices, resources) = if share < 1.0 { priced(&scaled) } else { (Vec::new(), Vec::new()) };
        let name = |task: Option<usize>| task.map(|task| self.row(task) as u32);
        let arcs = flow.arcs.iter().map(|(&(after, before), &flow)| (name(after), name(before), flow * factor));
        let arcs: Vec<_> = arcs.collect();
        let mut areas = Vec::new();
        if !arcs.is_empty() {
            let (prices, resources) = priced(&|rate| rate);
            areas.push(Areas { prices, resources, arcs });
        }
        PathFlow { tasks: pairs(&flow.through), edges: pairs(&flow.along), prices, resources, areas }
    }
}
