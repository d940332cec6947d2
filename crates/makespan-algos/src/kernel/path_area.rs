//! A linear programme for a graph of moldable tasks, in which each task may use a mixture of allotments. The programme
//! minimises the larger of two quantities: the longest path, and the area divided by the number of processors. An
//! iteration solves the programme approximately, and computes a lower bound.

use super::packing::{Packing, Row};

/// Maximum number of rounds of the iteration.
const ROUNDS: usize = 1000;
/// Approximate maximum number of rows of equal tasks that all rounds visit together.
const LOOKED_AT: usize = 10_000_000;
/// Minimum number of rounds, even if the instance has many rows of equal tasks.
const LEAST_ROUNDS: usize = 30;
/// The iteration ends when the value is at most this multiple of the bound.
const CLOSE: f64 = 1.001;
/// Number of steps of the golden section search for the share `s` that gives the best bound.
const STEPS: usize = 16;
const GOLDEN: f64 = 0.618_033_988_749_894_8;

/// A nearly optimal solution of the programme.
#[derive(Clone, Debug)]
pub struct MixedSolution {
    /// The time of each row, as a mixture of two allotments. A row stands for a task or for the equal tasks of a bag.
    pub rows: Vec<Mixture>,
    /// The larger of two quantities at the times of `rows`: the longest path, and the area divided by the number of
    /// processors.
    pub value: f64,
    /// A lower bound on the value of every solution, and on the makespan of every schedule.
    pub bound: f64,
}

/// A time as a mixture of two allotments. Consider the largest convex function of the time that is nowhere above the
/// area of an allotment. The two allotments are neighbouring corners of this function. If an allotment takes exactly
/// this time, both allotments of the mixture may be equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    /// The allotment with the longer time.
    pub slow: u32,
    /// The allotment with the shorter time.
    pub fast: u32,
    /// The share of the slow allotment, from 0 to 1. The share of the fast allotment is one minus `part`.
    pub part: f64,
}

/// A corner of the convex function: an allotment that is optimal for some dual prices.
#[derive(Clone, Copy, Debug)]
struct Corner {
    choice: u32,
    time: f64,
    /// The area, divided by the number of processors.
    area: f64,
}

/// Computes times `x_i` of all rows, each between its shortest and its longest time, that nearly minimise `C`:
///
/// ```text
/// minimise    C
/// subject to  sum of x_i along every path <= C
///             sum_i n_i w_i(x_i)          <= C
/// ```
///
/// where `n_i` is the number of equal tasks of row `i`. `w_i` is the largest convex function below the areas of the
/// allotments, divided by the number of processors.
///
/// This is the programme of Lepère, Trystram and Woeginger (DOI 10.1142/S0129054102001308) and of Jansen and Zhang (DOI
/// 10.1145/1159892.1159899). Their `w_i` is nowhere larger than the function here, so the feasible set is smaller here.
///
/// By duality, `C` is at least `sum_i min_x ((1 - s) n_i w_i(x) + s y_i x)` for every share `s` from 0 to 1 and every
/// mixture of paths. Here, `y_i` is the part of the mixture that goes through row `i`. The minimum of `C` is the value
/// of a game of two players. The first player chooses the times, and the second player chooses the paths and `s`. In
/// each round, each player chooses the best answer to the mean of the other player's previous answers ("fictitious
/// play", J. Robinson, Annals of Mathematics 54, 1951, DOI 10.2307/1969530).
///
/// In each round, the longest path at the mean times is added to the mixture, and a golden section search finds the
/// best share. The best times for a slightly smaller and a slightly larger share are mixed so that the paths of the
/// mixture are as long as the area. These mixed times are added to the mean times, with more weight in later rounds.
/// Releases, transfers and closed processors are ignored. Each round takes O(e + n log m) for n rows of m allotments
/// with e edges.
pub fn solve(packing: &Packing<'_>) -> MixedSolution {
    let mut play = FictitiousPlay::new(packing);
    let rows = packing.rows().len();
    let rounds = (LOOKED_AT / rows.max(1)).clamp(LEAST_ROUNDS, ROUNDS);
    let mut best = MixedSolution { rows: Vec::new(), value: f64::INFINITY, bound: 0.0 };
    let mut times = play.times.clone();
    for round in 1..=rounds {
        // Weight the rounds 1 to r in proportion to their numbers. The numbers sum to r (r + 1) / 2, so the weight of
        // round r is 2 / (r + 1).
        let step = 2.0 / (round + 1) as f64;
        let length = play.add_longest_path(step);
        let value = length.max(play.area());
        if value < best.value {
            best.value = value;
            times.copy_from_slice(&play.times);
        }
        let (around, bound) = play.best_share();
        best.bound = best.bound.max(bound);
        if best.value <= CLOSE * best.bound {
            break;
        }
        play.answer(around, step);
    }
    best.rows = times.iter().enumerate().map(|(row, &time)| play.mixture(row, time)).collect();
    best
}

struct FictitiousPlay<'p, 'a> {
    packing: &'p Packing<'a>,
    corners: Vec<Corner>,
    /// For each corner except the last corner of its row of equal tasks: the increase of the area to the next corner,
    /// divided by the decrease of the time. These quotients increase within a row.
    slopes: Vec<f64>,
    /// The index of the first corner of each row of equal tasks, and finally the number of corners.
    begins: Vec<usize>,
    counts: Vec<f64>,
    /// For each row of equal tasks, the total share of the paths that go through the row. The shares of all paths sum
    /// to 1.
    through: Vec<f64>,
    /// The weighted mean of the times of all rounds.
    times: Vec<f64>,
    ends: Vec<f64>,
    before: Vec<Option<Row>>,
}

impl<'p, 'a> FictitiousPlay<'p, 'a> {
    fn new(packing: &'p Packing<'a>) -> Self {
        let rows = packing.rows().len();
        let mut play = Self {
            packing,
            corners: Vec::new(),
            slopes: Vec::new(),
            begins: vec![0],
            counts: packing.rows().map(|row| f64::from(packing.count_of(row))).collect(),
            through: vec![0.0; rows],
            times: Vec::with_capacity(rows),
            ends: vec![0.0; rows],
            before: vec![None; rows],
        };
        for row in packing.rows() {
            let time = |choice| packing.fastest(choice) as f64;
            let corner = |choice| Corner { choice, time: time(choice), area: packing.area(choice) };
            play.add_corners(packing.choices_of(row).map(corner).collect());
            play.times.push(play.corners.last().map_or(0.0, |corner| corner.time));
        }
        play
    }

    /// Adds the corners of the largest convex function below `points`, the slowest first. Also adds the slopes between
    /// the corners.
    fn add_corners(&mut self, mut points: Vec<Corner>) {
        points.sort_by(|a, b| a.area.total_cmp(&b.area).then(a.time.total_cmp(&b.time)));
        let begin = self.corners.len();
        let slope = |a: Corner, b: Corner| (b.area - a.area) / (a.time - b.time);
        for point in points {
            if self.corners[begin..].last().is_some_and(|last| last.time <= point.time) {
                continue;
            }
            while let [.., a, b] = self.corners[begin..] {
                if slope(a, b) < slope(b, point) {
                    break;
                }
                self.corners.pop();
            }
            self.corners.push(point);
        }
        let of_row = &self.corners[begin..];
        self.slopes.extend(of_row.windows(2).map(|pair| slope(pair[0], pair[1])));
        // Add a slope for the last corner, so that there are as many slopes as corners.
        self.slopes.push(f64::INFINITY);
        self.begins.push(self.corners.len());
    }

    /// Returns the best corner of a row of equal tasks if saving a unit of time is worth the area `worth`.
    fn corner_at(&self, row: usize, worth: f64) -> Corner {
        let (begin, end) = (self.begins[row], self.begins[row + 1]);
        let before = self.slopes[begin..end - 1].partition_point(|&slope| slope < worth);
        self.corners[begin + before]
    }

    /// Returns the area that is worth as much as a unit of time of a row of equal tasks, if the share of the paths is
    /// `share`.
    fn worth(&self, row: usize, share: f64) -> f64 {
        share * self.through[row] / ((1.0 - share) * self.counts[row])
    }

    /// Returns the lower bound that follows from the mixture of paths if its share is `share`.
    fn proved(&self, share: f64) -> f64 {
        let of_row = |row: usize| {
            let Corner { time, area, .. } = self.corner_at(row, self.worth(row, share));
            (1.0 - share) * self.counts[row] * area + share * self.through[row] * time
        };
        (0..self.through.len()).map(of_row).sum()
    }

    /// Returns an interval that contains the best share of the paths, and the best bound that was found. A golden
    /// section search finds both, because the bound is a concave function of the share.
    fn best_share(&self) -> ([f64; 2], f64) {
        let (mut low, mut high) = (0.0, 1.0);
        let mut middle = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
        let mut values = middle.map(|share| self.proved(share));
        for _ in 0..STEPS {
            if values[0] >= values[1] {
                high = middle[1];
                middle = [high - GOLDEN * (high - low), middle[0]];
                values = [self.proved(middle[0]), values[0]];
            } else {
                low = middle[0];
                middle = [middle[1], low + GOLDEN * (high - low)];
                values = [values[1], self.proved(middle[1])];
            }
        }
        ([low, high], values[0].max(values[1]))
    }

    /// Returns the length of the mixed paths minus the area, at the best times for `share`. This difference is the
    /// slope of the bound.
    fn slope(&self, share: f64) -> f64 {
        let of_row = |row: usize| {
            let Corner { time, area, .. } = self.corner_at(row, self.worth(row, share));
            self.through[row] * time - self.counts[row] * area
        };
        (0..self.through.len()).map(of_row).sum()
    }

    /// Adds an answer to the mean times. The answer mixes the best times at the two shares `around` such that the
    /// mixed paths are as long as the area.
    fn answer(&mut self, around: [f64; 2], step: f64) {
        let [below, above] = around.map(|share| self.slope(share));
        // If the slope has the same sign at both shares, the best share is at an end of the interval.
        let part = if below > above { (below / (below - above)).clamp(0.0, 1.0) } else { 0.5 };
        for row in 0..self.times.len() {
            let [slow, fast] = around.map(|share| self.corner_at(row, self.worth(row, share)).time);
            self.times[row] += step * (slow + part * (fast - slow) - self.times[row]);
        }
    }

    /// Adds the longest path at the mean times to the mixture. Returns the length of this path.
    fn add_longest_path(&mut self, step: f64) -> f64 {
        let Self { packing, times, ends, before, through, .. } = self;
        let instance = packing.instance();
        for &row in packing.order() {
            let mut start = 0.0;
            before[row.index()] = None;
            for edge in instance.incoming(packing.first_of(row)) {
                let from = packing.row_of(edge.from);
                if ends[from.index()] > start {
                    start = ends[from.index()];
                    before[row.index()] = Some(from);
                }
            }
            ends[row.index()] = start + times[row.index()];
        }
        through.iter_mut().for_each(|flow| *flow *= 1.0 - step);
        let mut at = packing.rows().max_by(|a, b| ends[a.index()].total_cmp(&ends[b.index()]));
        let length = at.map_or(0.0, |last| ends[last.index()]);
        while let Some(row) = at {
            through[row.index()] += step;
            at = before[row.index()];
        }
        length
    }

    /// Returns the two neighbouring corners of a row of equal tasks, with `time` between their times, and the share of
    /// the slower corner.
    fn around(&self, row: usize, time: f64) -> (Corner, Corner, f64) {
        let corners = &self.corners[self.begins[row]..self.begins[row + 1]];
        let slower = corners.partition_point(|corner| corner.time > time);
        let (slow, fast) = (corners[slower.saturating_sub(1)], corners[slower.min(corners.len() - 1)]);
        let part = if slow.time > fast.time { (time - fast.time) / (slow.time - fast.time) } else { 1.0 };
        (slow, fast, part.clamp(0.0, 1.0))
    }

    fn mixture(&self, row: usize, time: f64) -> Mixture {
        let (slow, fast, part) = self.around(row, time);
        Mixture { slow: slow.choice, fast: fast.choice, part }
    }

    /// Returns the area at the mean times, divided by the number of processors.
    fn area(&self) -> f64 {
        let of_row = |(row, &time): (usize, &f64)| {
            let (slow, fast, part) = self.around(row, time);
            self.counts[row] * (fast.area + part * (slow.area - fast.area))
        };
        self.times.iter().enumerate().map(of_row).sum()
    }
}
