//! Times of moldable tasks for which the longest path and the area are balanced.

use super::MoldableProblem;

/// Maximum number of paths.
const PATHS: usize = 200;
/// Approximate maximum number of tasks that are visited for all paths together.
const LOOKED_AT: usize = 300_000;
/// Maximum number of steps of the search for the share of the paths in the combined bound.
const STEPS: usize = 14;
/// Precision of the share of the paths in the combined bound.
const NEAR: f64 = 1e-4;

/// Returns, for each task, a time between the times of its allotments, in ticks.
///
/// The price of a task states how much area a tick of its time is worth. The cost of an allotment is its area plus its
/// time multiplied by this price. The time of the allotment with the lowest cost is a compromise between the longest
/// path and the area. The result is the average of these times over a sequence of prices. The prices follow from the
/// longest paths found so far.
///
/// The prices approximately maximise the dual of the linear programme of R. Lepère, D. Trystram and G. Woeginger (Int.
/// J. Found. Comput. Sci. 13, 2002, DOI 10.1142/S0129054102001308), as stated in [`makespan_verify::proof::PathFlow`].
/// The averages of the times that are optimal at these prices converge to a solution of the programme (T. Larsson, M.
/// Patriksson, A.-B. Strömberg, Mathematical Programming 86, 1999, DOI 10.1007/s101070050090). Complexity: O(n log c +
/// edges) for each of at most 200 paths, for n tasks with c allotments each.
pub fn average_times(problem: &MoldableProblem<'_>) -> Vec<f64> {
    let tasks = problem.tasks();
    let hulls: Vec<Hull> = (0..tasks as u32).map(|task| Hull::new(problem, task)).collect();
    let mut prices = Prices { through: vec![0.0; tasks], all: 0.0, share: 0.5 };
    let mut times: Vec<f64> = hulls.iter().map(|hull| hull.corners[hull.corners.len() - 1].time).collect();
    let mut average = vec![0.0; tasks];
    let paths = (LOOKED_AT / tasks.max(1)).clamp(5, PATHS);
    for weight in 1..=paths {
        let weight = weight as f64;
        prices.add(problem, &times, weight);
        prices.balance(problem, &hulls);
        for ((hull, time), through) in hulls.iter().zip(&mut times).zip(&prices.through) {
            *time = hull.choice(through * prices.of_time(problem)).time;
        }
        // Give later times more weight, because their prices are better.
        let step = weight / prices.all;
        average.iter_mut().zip(&times).for_each(|(average, time)| *average += step * (time - *average));
    }
    average
}

/// The allotments of a task that are optimal for some price. These are the corners of the lower convex hull of area as
/// a function of time, by decreasing time.
#[derive(Clone, Debug)]
struct Hull {
    corners: Vec<Corner>,
}

#[derive(Clone, Copy, Debug)]
struct Corner {
    time: f64,
    area: f64,
    /// The price of a tick, in area, up to which this corner is at least as good as all faster corners.
    until: f64,
}

impl Hull {
    fn new(problem: &MoldableProblem<'_>, task: u32) -> Self {
        let mut corners: Vec<Corner> = Vec::new();
        let slope = |from: &Corner, to: &Corner| (to.area - from.area) / (from.time - to.time);
        for choice in problem.all_choices_of(task) {
            let time = choice.time as f64;
            let corner = Corner { time, area: time * f64::from(choice.processors), until: f64::INFINITY };
            while corners.last().is_some_and(|last| last.area >= corner.area) {
                corners.pop();
            }
            while let [.., before, last] = &corners[..]
                && slope(last, &corner) <= slope(before, last)
            {
                corners.pop();
            }
            corners.push(corner);
        }
        for at in 1..corners.len() {
            corners[at - 1].until = slope(&corners[at - 1], &corners[at]);
        }
        Self { corners }
    }

    /// Returns the best corner if a tick costs the area `price`.
    fn choice(&self, price: f64) -> Corner {
        let at = if price == 0.0 { 0 } else { self.corners.partition_point(|corner| corner.until < price) };
        self.corners[at]
    }
}

/// The prices of the time of each task, relative to the area.
struct Prices {
    /// For each task, the total weight of the paths that contain the task.
    through: Vec<f64>,
    /// The total weight of all paths.
    all: f64,
    /// The share of the paths in the combined bound, from 0 to 1. The area has the remaining share.
    share: f64,
}

impl Prices {
    /// Returns the price of one tick of a task, in area, if the paths through the task have a total weight of 1.
    fn of_time(&self, problem: &MoldableProblem<'_>) -> f64 {
        let processors = f64::from(problem.instance().processors());
        self.share / (1.0 - self.share) * processors / self.all
    }

    /// Adds the longest path for `times`, with a weight.
    fn add(&mut self, problem: &MoldableProblem<'_>, times: &[f64], weight: f64) {
        let mut ends = vec![0.0; times.len()];
        let mut before: Vec<Option<u32>> = vec![None; times.len()];
        for &task in problem.order() {
            let mut start = (problem.release(task) - problem.origin()) as f64;
            for &other in problem.before(task) {
                if ends[other as usize] > start {
                    start = ends[other as usize];
                    before[task as usize] = Some(other);
                }
            }
            ends[task as usize] = start + times[task as usize];
        }
        self.all += weight;
        let mut at = (0..times.len() as u32).max_by(|&a, &b| ends[a as usize].total_cmp(&ends[b as usize]));
        while let Some(task) = at {
            self.through[task as usize] += weight;
            at = before[task as usize];
        }
    }

    /// Finds the share for which the mean path is as long as the area divided by the number of processors. For this
    /// share, the bound is best. The search begins at the previous share, with growing steps.
    fn balance(&mut self, problem: &MoldableProblem<'_>, hulls: &[Hull]) {
        let (mut low, mut high) = (1e-6, 1.0 - 1e-9);
        let mut step = 0.02;
        let mut first = None;
        for _ in 0..STEPS {
            let more = self.is_path_longer(problem, hulls);
            if more {
                low = self.share
            } else {
                high = self.share
            }
            if high - low < NEAR {
                break;
            }
            let middle = 0.5 * (low + high);
            if first.is_none_or(|first| first == more) && high - low > 4.0 * step {
                self.share = if more { (self.share + step).min(middle) } else { (self.share - step).max(middle) };
                first = Some(more);
                step *= 2.0;
            } else {
                first = Some(!more);
                self.share = middle;
            }
        }
        self.share = 0.5 * (low + high);
    }

    fn is_path_longer(&self, problem: &MoldableProblem<'_>, hulls: &[Hull]) -> bool {
        let price = self.of_time(problem);
        let (mut path, mut area) = (0.0, 0.0);
        for (hull, through) in hulls.iter().zip(&self.through) {
            let corner = hull.choice(through * price);
            path += through * corner.time;
            area += corner.area;
        }
        path / self.all > area / f64::from(problem.instance().processors())
    }
}
