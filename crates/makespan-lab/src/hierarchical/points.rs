//! Runs summed up.

use std::collections::BTreeMap;

use super::{Guesses, Population, Run};

/// Ratios and times of some plans of one algorithm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// How many plans.
    pub plans: usize,
    /// Instances that the algorithm refused.
    pub refused: usize,
    /// Makespan over bound: the smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// The largest.
    pub max: f64,
    /// Mean time in seconds.
    pub seconds: f64,
    /// The longest time in seconds.
    pub longest: f64,
}

/// How instances are gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gathered {
    /// Those of the four families, by k.
    Families {
        /// Processors of an SMP.
        each: u32,
    },
    /// Those of the adversarial shapes, by k.
    Shapes {
        /// Processors of an SMP.
        each: u32,
    },
    /// By family or shape, over all platforms.
    Population(Population),
    /// All of the four families.
    All,
}

/// The runs summed up.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    /// Ratios and times by group of instances and position of the algorithm in [`super::Options::algorithms`].
    pub points: Points,
    /// What became of the guesses, by k.
    pub guesses: BTreeMap<u32, Guesses>,
}

/// Figures by group and position of the algorithm in the options.
pub type Points = BTreeMap<(Gathered, usize), Figures>;

/// Every way to gather the runs.
pub(super) fn points(runs: &[Run]) -> Points {
    let mut points = Points::new();
    for run in runs {
        let (each, population) = (run.key.each, run.key.population);
        let is_family = matches!(population, Population::Family(_));
        let by_each = if is_family { Gathered::Families { each } } else { Gathered::Shapes { each } };
        let all = is_family.then_some(Gathered::All);
        for group in [Some(by_each), Some(Gathered::Population(population)), all].into_iter().flatten() {
            for (at, outcome) in run.outcomes.iter().enumerate() {
                points.entry((group, at)).or_default().add(run.ratio(outcome), outcome.seconds);
            }
        }
    }
    points
}

impl Figures {
    /// One more plan, or one more refusal.
    pub(super) fn add(&mut self, ratio: Option<f64>, seconds: f64) {
        let Some(ratio) = ratio else {
            self.refused += 1;
            return;
        };
        self.min = if self.plans == 0 { ratio } else { self.min.min(ratio) };
        self.plans += 1;
        self.mean += (ratio - self.mean) / self.plans as f64;
        self.seconds += (seconds - self.seconds) / self.plans as f64;
        self.max = self.max.max(ratio);
        self.longest = self.longest.max(seconds);
    }
}

/// Guesses by k.
pub(super) fn guesses(runs: &[Run]) -> BTreeMap<u32, Guesses> {
    let mut guesses: BTreeMap<u32, Guesses> = BTreeMap::new();
    for run in runs {
        let sum = guesses.entry(run.key.each).or_default();
        *sum = sum.and(&run.guesses);
    }
    guesses
}
