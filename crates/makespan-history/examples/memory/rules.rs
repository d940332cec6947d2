//! The rules that are compared: the reservation of a task, and the reservation after a kill.

use makespan_history::memory::{ExcessRule, MemoryBasis, MemoryModel, MemoryRun};

use crate::tasks::Task;

/// Number of latest runs that our rule uses.
const RECENT: usize = 50;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The stated amount.
    Stated,
    /// The largest peak of earlier runs.
    LargestPeak,
    /// The rules of F. Lehmann et al., "Ponder: Online Prediction of Task Memory Requirements for Scientific Workflows",
    /// 2024, arXiv:2408.00047.
    Ponder,
    /// The model of this crate.
    Learned,
}

impl Rule {
    pub const ALL: [Self; 4] = [Self::Stated, Self::LargestPeak, Self::Ponder, Self::Learned];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated amounts",
            Self::LargestPeak => "largest earlier peak",
            Self::Ponder => "Ponder",
            Self::Learned => "Makespan",
        }
    }

    /// Returns the reservation of the first attempt in bytes. `runs` are the earlier runs of tasks of this kind.
    pub fn reserve(self, runs: &[MemoryRun], task: &Task) -> f64 {
        let stated = task.stated as f64;
        match self {
            Self::Stated => stated,
            Self::LargestPeak => runs.iter().map(|run| run.peak as f64).reduce(f64::max).unwrap_or(stated),
            Self::Ponder => {
                let points: Vec<(f64, f64)> =
                    runs.iter().map(|run| (run.inputs.unwrap_or(0) as f64, run.peak as f64)).collect();
                ponder(&points, task.inputs as f64, stated)
            }
            Self::Learned => {
                let recent = &runs[runs.len().saturating_sub(RECENT)..];
                let model = MemoryModel::of(recent, MemoryBasis::LikeCommands, ExcessRule::Kill);
                model.map_or(stated, |model| model.predict(Some(task.inputs)) as f64)
            }
        }
    }

    /// Returns the reservation of the attempt after a kill. Ponder returns to the stated amount.
    pub fn raise(self, reserved: f64, task: &Task) -> f64 {
        let stated = task.stated as f64;
        if self == Self::Ponder && reserved < stated { stated } else { 2.0 * reserved }
    }
}

/// Returns the reservation that Ponder makes for an input of this size. `points` are the sizes and peaks of earlier
/// tasks.
fn ponder(points: &[(f64, f64)], size: f64, stated: f64) -> f64 {
    const FIRST: usize = 5;
    const CORRELATED: f64 = 0.3;
    const MIB: f64 = (1_u64 << 20) as f64;
    const OFFSET: f64 = 128.0 * MIB;
    let limited = |bytes: f64| if bytes > stated { stated } else { (bytes / MIB).ceil() * MIB };
    let extreme = |of: fn(f64, f64) -> f64, start: f64| points.iter().fold(start, |most, point| of(most, point.1));
    let (most, least) = (extreme(f64::max, 0.0), extreme(f64::min, f64::INFINITY));
    let largest = points.iter().fold(0.0, |most, point| f64::max(most, point.0));
    if points.len() < FIRST {
        return if largest > size { limited(most + OFFSET) } else { stated };
    }
    let line = fit(points, |_| 1.0);
    if !line.is_some_and(|line| line.correlation > CORRELATED) {
        return limited(most + OFFSET);
    }
    let Some(Line { intercept, slope, .. }) = asymmetric(points) else { return limited(most + OFFSET) };
    let at = |size: f64| intercept + slope * size;
    let predicted = match at(size) {
        low if low < least => least,
        high if (high > most && size < largest) || (high < most && size >= largest) => most,
        predicted => predicted,
    };
    // Residuals of inputs of nearly this size have larger weights.
    let farthest = points.iter().fold(0.0, |most, point| f64::max(most, (point.0 - size).abs()));
    let more = (1.0 - points.len() as f64 / 10.0).max(0.0) / 100.0;
    let weight = |x: f64| if farthest == 0.0 { 1.0 } else { 1.0 - (x - size).abs() / farthest + more };
    let weights: f64 = points.iter().map(|point| weight(point.0)).sum();
    let squares: f64 = points.iter().map(|point| weight(point.0).powi(2)).sum();
    let mean = points.iter().map(|&(x, y)| weight(x) * (y - at(x))).sum::<f64>() / weights;
    let variance = points.iter().map(|&(x, y)| weight(x) * (y - at(x) - mean).powi(2)).sum::<f64>();
    limited(predicted + OFFSET.max(2.0 * (variance / (weights - squares / weights)).sqrt()))
}

struct Line {
    intercept: f64,
    slope: f64,
    correlation: f64,
}

/// Returns the line of least weighted squares, or `None` if all sizes are equal.
fn fit(points: &[(f64, f64)], weight: impl Fn(&(f64, f64)) -> f64) -> Option<Line> {
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(|point| weight(point) * of(point)).sum::<f64>();
    let all = sum(&|_| 1.0);
    let (x, y) = (sum(&|point| point.0) / all, sum(&|point| point.1) / all);
    let (xx, yy) = (sum(&|point| (point.0 - x).powi(2)), sum(&|point| (point.1 - y).powi(2)));
    let xy = sum(&|point| (point.0 - x) * (point.1 - y));
    let slope = xy / xx;
    slope.is_finite().then(|| Line { intercept: y - slope * x, slope, correlation: xy / (xx * yy).sqrt() })
}

/// Returns the line of least squares in which a prediction that is too large has a tenth of the weight. The loss is
/// convex, so reweighting converges.
fn asymmetric(points: &[(f64, f64)]) -> Option<Line> {
    const STEPS: usize = 100;
    let mut line = fit(points, |_| 1.0)?;
    let mut above = Vec::new();
    for _ in 0..STEPS {
        let now: Vec<bool> = points.iter().map(|&(x, y)| y > line.intercept + line.slope * x).collect();
        if now == above {
            break;
        }
        line = fit(points, |&(x, y)| if y > line.intercept + line.slope * x { 1.0 } else { 0.1 })?;
        above = now;
    }
    Some(line)
}
