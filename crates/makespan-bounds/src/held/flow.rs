//! A flow along paths and a price for what is held that prove most together.

mod ancestry;
mod hull;
mod longest;

use std::collections::BTreeMap;

use makespan_core::Instance;
use makespan_core::proof::{Areas, PathFlow};

use super::{Commodity, Holders};
use crate::Clock;
use hull::Hulls;
use longest::{Before, Path, Paths};

/// Paths that are added, at most.
const PATHS: u64 = 300;
/// The first paths go over no area arcs.
const WITHOUT: u64 = 40;
/// However large the instance is, so many paths are added.
const MIN_PATHS: u64 = 3;
/// Single steps of the search in all, about.
const STEPS_IN_ALL: usize = 1 << 27;
/// Steps of the golden section for the share of the paths.
const STEPS: usize = 14;
/// The same where the share is known to be near that of the path before, from this path on.
const STEPS_NEAR: usize = 6;
const FAR: u64 = 16;
/// About so many steps are what a task chooses.
const ROW: usize = 8;
/// What flows in all, about.
const FLOW: f64 = 68_719_476_736.0;
const GOLDEN: f64 = 0.618_033_988_749_894_8;

/// The flow, as a sum of paths of which the later ones count more.
#[derive(Clone, Debug)]
struct Flow {
    /// By different task.
    through: Vec<u64>,
    along: Vec<u64>,
    /// By the places of the tasks at both ends.
    arcs: BTreeMap<(Option<usize>, Option<usize>), u64>,
    /// For each different task what flows along the arcs that it lies on.
    over: Vec<u64>,
    all: u64,
    /// What begins at a release, times that release.
    released: f64,
}

struct Search<'a> {
    instance: &'a Instance,
    holders: &'a Holders,
    hulls: Hulls,
    paths: Paths<'a>,
    /// The first release of all.
    first: f64,
    rate: f64,
    flow: Flow,
    /// The time and the area over what there is that each task chooses, in the order of the paths; the area of all tasks of a bag.
    times: Vec<f64>,
    areas: Vec<f64>,
    /// For each different task its place in this order.
    place: Vec<usize>,
}

/// Flow and price that nearly maximise what they prove, by the longest path again and again: at the times that the tasks would choose
/// between the path and the price of what they hold, the longest path is added to the flow, and the price is found anew. The paths go
/// over area arcs, too, where there are not too many tasks.
///
/// `None` where everything holds nothing, and where tasks have no choices and the longest path goes over no area arc. Complexity: for each of
/// at most 200 paths O(r + e) for r ways to run tasks and e edges and, with area arcs, what [`Paths::longest`] takes; fewer paths where
/// that is much.
pub(super) fn search(instance: &Instance, holders: &Holders, commodity: &Commodity, clock: &Clock) -> Option<PathFlow> {
    let rate = holders.rate as f64;
    if holders.rows.is_empty() || rate <= 0.0 {
        return None;
    }
    let mut search = Search::new(instance, holders, rate);
    if !holders.has_choices() {
        // Each path by itself is as good as any mixture.
        search.add_longest_path(1, true);
        let is_new = !search.flow.arcs.is_empty();
        return is_new.then(|| search.certificate(commodity, 1.0, &search.flow));
    }
    let each = (STEPS + 3) * ROW * holders.rows.len();
    let mut best: Option<(f64, f64, Flow)> = None;
    let mut share = 0.5;
    let (mut wait, mut next) = (1, 0);
    for weight in 1..=PATHS {
        let steps = search.paths.steps() + weight as usize * each;
        if (weight > MIN_PATHS && steps > STEPS_IN_ALL) || (weight > 1 && clock.is_over()) {
            break;
        }
        // Where all tasks are at their fastest the areas are large, and a path over them is a bad one.
        let with_areas = weight >= next && (weight > WITHOUT || steps > STEPS_IN_ALL / 4);
        let has_areas = search.add_longest_path(weight, with_areas);
        if with_areas {
            // Where they lengthen no path they are looked at less often.
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
    /// Everything begins at its fastest.
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
        Self { instance, holders, hulls, paths, first, rate, flow, times, areas, place }
    }

    /// Adds the longest path at the present times and areas to the flow; tells whether it goes over area arcs.
    fn add_longest_path(&mut self, weight: u64, with_areas: bool) -> bool {
        let Some(Path { is_open, last }) = self.paths.longest(&self.times, &self.areas, with_areas) else {
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
                Before::Edge(number) => {
                    self.flow.along[number as usize] += weight;
                    task = self.paths.from(number);
                }
                Before::Area(Some(after)) => {
                    has_areas = true;
                    self.add_arc(Some(after), Some(task), weight);
                    task = after;
                }
                Before::Area(None) => {
                    has_areas = true;
                    self.add_arc(None, Some(task), weight);
                    break;
                }
                Before::Release => break,
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

    /// The different task at a place of the order.
    fn row(&self, task: usize) -> usize {
        self.instance.different(self.paths.order[task])
    }

    /// What is proved with this share of paths, the rest being the price of what is held; `choose` keeps what tasks choose.
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
                (self.times[task], self.areas[task]) = (chosen.time, chosen.area * of.count as f64);
            }
        }
        sum
    }

    /// The share of paths with which most is proved, near that of one path less: what is proved is a concave function of it.
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

    /// The flow and the price in integers.
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
