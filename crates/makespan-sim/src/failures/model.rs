//! The failure model: the units that fail, the times between the failures of a unit, and the repair times.

use makespan_core::{Platform, ProcSet, Time};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{FailureModelError, Lifetime};

/// Units of a platform that fail and are repaired independently, with equal distributions of times.
///
/// Policies expect that a repair takes the mean of `repair`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailureModel {
    /// Time from a repair, or from the first release of a job, to the next failure of the unit.
    pub up: Lifetime,
    /// Time from a failure to its repair.
    pub repair: Lifetime,
    /// The kind of unit: nodes, or groups of processors.
    pub unit: FailureUnit,
    /// Seed of all random numbers. Each unit has its own random numbers, so additional units do not change the
    /// failures of existing units.
    pub seed: u64,
}

/// A unit that fails as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureUnit {
    /// A node. A flat cluster is one node.
    Node,
    /// A group of this number of processors with consecutive ids. The first group begins at processor 0. The last
    /// group may have fewer processors.
    Processors(u32),
}

impl FailureModel {
    /// Parses a model such as `mtbf=30d,mttr=4h`. `mtbf` is the mean time from a repair to the next failure, and
    /// `mttr` is the mean time to repair. Three keys are optional. `shape=0.7` is the shape of the distribution of the
    /// time to failure, and `repair_shape=1` the shape of the distribution of the repair time. The default of both
    /// shapes is 1. With `processors=16`, a unit has 16 processors instead of being a node.
    ///
    /// # Errors
    /// [`FailureModelError`] describes the problem and a valid model.
    pub fn parse(text: &str, seed: u64) -> Result<Self, FailureModelError> {
        let (mut times, mut shapes, mut unit) = ([None; 2], [None; 2], None);
        for part in text.split(',') {
            let key = |problem: &str| FailureModelError::Key(format!("`{}` {problem}", part.trim()));
            let (name, value) = part.split_once('=').ok_or_else(|| key("is not a key with a value"))?;
            let (name, value) = (name.trim(), value.trim());
            let twice = match name {
                "mtbf" => times[0].replace(duration(name, value)?).is_some(),
                "mttr" => times[1].replace(duration(name, value)?).is_some(),
                "shape" => shapes[0].replace(number(name, value)?).is_some(),
                "repair_shape" => shapes[1].replace(number(name, value)?).is_some(),
                "processors" => unit.replace(number(name, value)?).is_some(),
                _ => return Err(key("is not known")),
            };
            if twice {
                return Err(key("is given twice"));
            }
        }
        let missing = |name: &str| FailureModelError::Key(format!("`{name}` is missing"));
        let [up, repair] = [times[0].ok_or_else(|| missing("mtbf"))?, times[1].ok_or_else(|| missing("mttr"))?];
        Ok(Self {
            up: Lifetime::weibull(up, shapes[0].unwrap_or(1.0))?,
            repair: Lifetime::weibull(repair, shapes[1].unwrap_or(1.0))?,
            unit: match unit {
                None => FailureUnit::Node,
                Some(0) => return Err(FailureModelError::EmptyUnit),
                Some(processors) => FailureUnit::Processors(processors),
            },
            seed,
        })
    }

    /// Returns the processors of each unit of the platform.
    pub(super) fn units(&self, platform: &Platform) -> Vec<ProcSet> {
        match self.unit {
            FailureUnit::Node => {
                let nodes = (0..platform.nodes().len()).map(|node| platform.processors_of(node));
                nodes.filter(|processors| !processors.is_empty()).collect()
            }
            FailureUnit::Processors(count) => {
                let all = platform.processors();
                let firsts = (0..all).step_by(count.max(1) as usize);
                firsts.map(|first| ProcSet::range(first, first.saturating_add(count.max(1) - 1).min(all - 1))).collect()
            }
        }
    }

    /// Returns the random number generator of a unit. The next number of the generator determines the length of the
    /// period with the index `draw`. A unit alternates between periods in which it is up and periods in which it is
    /// down.
    pub(super) fn random(&self, unit: u32, draw: u32) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(u64::from(unit));
        // Each duration uses one random float, which takes two words of the generator.
        random.set_word_pos(2 * u128::from(draw));
        random
    }
}

fn duration(key: &str, text: &str) -> Result<Time, FailureModelError> {
    Time::parse(text).map_err(|error| FailureModelError::Time { key: key.to_owned(), error })
}

fn number<N: std::str::FromStr>(key: &str, text: &str) -> Result<N, FailureModelError> {
    text.parse().map_err(|_| FailureModelError::Number { key: key.to_owned(), text: text.to_owned() })
}
