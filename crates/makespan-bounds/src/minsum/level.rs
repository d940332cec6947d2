//! The level method. It maximises a concave piecewise linear function of a few prices.
//!
//! Source: C. Lemaréchal, A. Nemirovskii, Y. Nesterov, "New variants of bundle methods", Math. Programming 69, 1995,
//! DOI 10.1007/BF01585555, section 2.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use super::programme::IntervalProgramme;

/// The result of the search.
pub(super) struct Maximum {
    /// The best cumulated prices, in the unit of the programme. They never increase from one interval to the next.
    pub(super) prices: Vec<f64>,
    /// The value of the dual function at `prices`.
    pub(super) value: f64,
}

/// The relative gap at which the search stops.
const GAP: f64 = 1e-4;
const MAX_STEPS: usize = 120;
/// The level of the next step, as a fraction of the distance from the best value so far to the maximum of the model.
const LEVEL: f64 = 0.5;

/// A linear function `constant + slope . x` that is an upper bound on the dual function.
struct Cut {
    slope: Vec<f64>,
    constant: f64,
}

/// A scale in which all cumulated prices are of similar size: `sigma_j = unit_j x_j`, with each `x_j` in [0, 1].
struct Space {
    units: Vec<f64>,
    /// The divisor of the values of the dual function. The quotients are near 1.
    magnitude: f64,
}

/// Maximises the dual function. Stops when the relative gap is at most `GAP`, or after `MAX_STEPS` steps.
pub(super) fn maximise(programme: &IntervalProgramme) -> Maximum {
    let count = programme.prices();
    let magnitude = programme.largest().max(1.0);
    // The dual function is at most `magnitude - sigma_j area_j`, and its maximum is not negative. So the best sigma_j
    // is at most `magnitude / area_j`.
    let units: Vec<f64> = programme.areas_until().iter().map(|area| magnitude / area.max(1.0)).collect();
    let space = Space { units, magnitude };
    let mut cuts = Vec::new();
    let mut best = (f64::NEG_INFINITY, vec![0.0; count]);
    let mut centre = vec![0.0; count];
    for _ in 0..MAX_STEPS {
        let (value, cut) = space.cut(programme, &centre);
        cuts.push(cut);
        if value > best.0 {
            best = (value, centre);
        }
        let Some(upper) = space.upper(&cuts) else { break };
        if upper - best.0 <= GAP * best.0.abs() {
            break;
        }
        let Some(next) = space.project(&cuts, &best.1, best.0 + LEVEL * (upper - best.0)) else { break };
        centre = space.repaired(next);
    }
    let prices = best.1.iter().zip(&space.units).map(|(x, unit)| x * unit).collect();
    Maximum { prices, value: best.0 * magnitude }
}

impl Space {
    fn cut(&self, programme: &IntervalProgramme, x: &[f64]) -> (f64, Cut) {
        let sigma: Vec<f64> = x.iter().zip(&self.units).map(|(x, unit)| x * unit).collect();
        let mut slope = vec![0.0; x.len()];
        let value = programme.evaluate(&sigma, &mut slope) / self.magnitude;
        slope.iter_mut().zip(&self.units).for_each(|(slope, unit)| *slope *= unit / self.magnitude);
        let constant = value - slope.iter().zip(x).map(|(slope, x)| slope * x).sum::<f64>();
        (value, Cut { slope, constant })
    }

    /// Repairs an inexact solution of the solver: afterwards, each `x_j` is in [0, 1], and the prices never increase.
    fn repaired(&self, mut x: Vec<f64>) -> Vec<f64> {
        let mut cap = f64::INFINITY;
        for (x, unit) in x.iter_mut().zip(&self.units) {
            let sigma = (x.clamp(0.0, 1.0) * unit).min(cap);
            cap = sigma;
            *x = sigma / unit;
        }
        x
    }

    /// Returns the maximum of the model: the optimum of the linear programme `maximise theta subject to theta <=
    /// cut(x)` for all cuts, with x in the domain.
    fn upper(&self, cuts: &[Cut]) -> Option<f64> {
        let count = self.units.len();
        let mut rows = Rows::new(count + 1);
        for cut in cuts {
            let entries = cut.slope.iter().map(|slope| -slope).enumerate().chain([(count, 1.0)]);
            rows.push(entries, cut.constant);
        }
        self.domain(&mut rows);
        let mut linear = vec![0.0; count + 1];
        linear[count] = -1.0;
        rows.minimise(&CscMatrix::zeros((count + 1, count + 1)), &linear).map(|x| x[count])
    }

    /// Returns the point nearest to `centre`, among the points at which all cuts are at least `level`.
    fn project(&self, cuts: &[Cut], centre: &[f64], level: f64) -> Option<Vec<f64>> {
        let mut rows = Rows::new(centre.len());
        for cut in cuts {
            rows.push(cut.slope.iter().map(|slope| -slope).enumerate(), cut.constant - level);
        }
        self.domain(&mut rows);
        let linear: Vec<f64> = centre.iter().map(|x| -x).collect();
        rows.minimise(&CscMatrix::identity(centre.len()), &linear)
    }

    /// Adds the inequalities of the domain: each `x_j <= 1`, each `sigma_(j+1) <= sigma_j`, and a last price of at
    /// least zero.
    fn domain(&self, rows: &mut Rows) {
        let count = self.units.len();
        for index in 0..count {
            rows.push([(index, 1.0)], 1.0);
        }
        for index in 1..count {
            rows.push([(index - 1, -1.0), (index, self.units[index] / self.units[index - 1])], 0.0);
        }
        rows.push([(count - 1, -1.0)], 0.0);
    }
}

/// Inequalities `a x <= b`. The coefficients are stored by column.
struct Rows {
    columns: Vec<Vec<(usize, f64)>>,
    right: Vec<f64>,
}

impl Rows {
    fn new(variables: usize) -> Self {
        Self { columns: vec![Vec::new(); variables], right: Vec::new() }
    }

    fn push(&mut self, entries: impl IntoIterator<Item = (usize, f64)>, right: f64) {
        let row = self.right.len();
        for (column, value) in entries {
            if value != 0.0 {
                self.columns[column].push((row, value));
            }
        }
        self.right.push(right);
    }

    /// Minimises `x P x / 2 + q x` under the inequalities by an interior point method.
    fn minimise(&self, quadratic: &CscMatrix<f64>, linear: &[f64]) -> Option<Vec<f64>> {
        let mut starts = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for column in &self.columns {
            indices.extend(column.iter().map(|entry| entry.0));
            values.extend(column.iter().map(|entry| entry.1));
            starts.push(indices.len());
        }
        let matrix = CscMatrix::new(self.right.len(), self.columns.len(), starts, indices, values);
        let cones = [SupportedConeT::NonnegativeConeT(self.right.len())];
        let settings = DefaultSettingsBuilder::default().verbose(false).max_iter(60).build().ok()?;
        let mut solver = DefaultSolver::new(quadratic, linear, &matrix, &self.right, &cones, settings).ok()?;
        solver.solve();
        let usable = matches!(
            solver.solution.status,
            SolverStatus::Solved
                | SolverStatus::AlmostSolved
                | SolverStatus::InsufficientProgress
                | SolverStatus::MaxIterations
        );
        (usable && solver.solution.x.iter().all(|x| x.is_finite())).then(|| solver.solution.x.clone())
    }
}
