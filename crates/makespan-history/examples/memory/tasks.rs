//! Tasks of workflows, drawn from distributions that papers publish.
//!
//! The papers group the tasks of nf-core workflows by the relation between the size of the input and the peak: no
//! relation with nearly constant peaks, a rising line, and peaks that vary without a relation (Ponder,
//! arXiv:2408.00047; Sizey, arXiv:2407.16353). Stated amounts are the labels of nf-core
//! (6, 12, 36 and 72 GB), which all tasks of one kind share.

use crate::random::Random;

pub const GIB: f64 = (1_u64 << 30) as f64;

/// Number of kinds of tasks in a workflow.
pub const KINDS: usize = 24;

/// Stated amounts in GiB.
const LABELS: [f64; 6] = [6.0, 12.0, 36.0, 72.0, 144.0, 200.0];

/// A task of a workflow. Sizes are in bytes.
pub struct Task {
    pub kind: usize,
    pub inputs: u64,
    pub peak: u64,
    pub stated: u64,
    pub seconds: f64,
}

/// The relation between input and peak.
enum Relation {
    /// Relative deviation of the peaks.
    Constant(f64),
    /// The part of the peak that grows with the input, and the deviation from the line.
    Rising(f64, f64),
    /// Deviation of the logarithms of the peaks.
    Varying(f64),
    /// Factor by which the peaks of some tasks are larger than the peaks of other tasks.
    TwoLevels(f64),
}

impl Relation {
    fn draw(random: &mut Random) -> Self {
        match random.uniform() {
            class if class < 0.4 => Self::Constant(0.015),
            class if class < 0.72 => Self::Rising(0.2 + 0.7 * random.uniform(), 0.02 + 0.1 * random.uniform()),
            class if class < 0.88 => Self::Varying(0.25 + 0.25 * random.uniform()),
            _ => Self::TwoLevels(2.5),
        }
    }

    /// Returns a peak relative to the typical peak. `size` is the size of the input relative to the typical size.
    fn peak(&self, size: f64, random: &mut Random) -> f64 {
        match *self {
            Self::Constant(deviation) | Self::Varying(deviation) => random.log_normal(1.0, deviation),
            Self::Rising(share, deviation) => (1.0 - share + share * size) * random.log_normal(1.0, deviation),
            Self::TwoLevels(factor) => {
                (if random.uniform() < 0.15 { factor } else { 1.0 }) * random.log_normal(1.0, 0.05)
            }
        }
    }
}

/// Returns the tasks of a workflow in the order in which they end.
pub fn workflow(seed: u64) -> Vec<Task> {
    let mut random = Random::new(seed);
    let mut tasks: Vec<(f64, Task)> = (0..KINDS).flat_map(|kind| of_kind(kind, &mut random)).collect();
    tasks.sort_by(|a, b| a.0.total_cmp(&b.0));
    tasks.into_iter().map(|(_, task)| task).collect()
}

/// Returns the tasks of a kind, each with a random position in the workflow.
fn of_kind(kind: usize, random: &mut Random) -> Vec<(f64, Task)> {
    let count = 15 + (random.uniform() * 85.0) as usize;
    let typical = random.log_normal(1.5, 1.3).clamp(0.03, 40.0) * GIB;
    let (size, deviation) = (random.log_normal(2.0, 1.0) * GIB, 0.3 + 0.6 * random.uniform());
    let (relation, seconds) = (Relation::draw(random), random.log_normal(400.0, 1.0));
    let mut tasks = Vec::with_capacity(count);
    for _ in 0..count {
        let relative = random.log_normal(1.0, deviation);
        let peak = typical * relation.peak(relative, random);
        let seconds = seconds * relative.powf(0.8) * random.log_normal(1.0, 0.15);
        let position = random.uniform();
        let (inputs, peak) = ((relative * size) as u64, peak as u64);
        tasks.push((position, Task { kind, inputs, peak, stated: 0, seconds }));
    }
    // Most users state far more than the largest peak, and a few state a little less.
    let largest = tasks.iter().map(|(_, task)| task.peak).max().unwrap_or(0) as f64 / GIB;
    let wanted = largest * (0.95 + random.log_normal(0.6, 0.8));
    let label = LABELS.into_iter().find(|label| *label >= wanted).unwrap_or(LABELS[LABELS.len() - 1]);
    tasks.iter_mut().for_each(|(_, task)| task.stated = (label * GIB) as u64);
    tasks
}
