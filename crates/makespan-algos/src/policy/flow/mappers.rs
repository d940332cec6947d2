//! The mappers by name.

use crate::catalogue::{Spec, SpecError};
use crate::kernel::mapping::{
    BraunGenetic, Descent, Duplex, Fitness, Genetic, Mapper, MaxMin, MinMin, MinimumCompletion, MinimumExecution,
    OpportunisticLoadBalancing, Sufferage,
};

use super::LongestFirst;

/// What specs may say.
pub const MAPPERS: &str = "fast, mct, met, olb, min-min, max-min, duplex, sufferage, sufferage[mode=greedy], descent, ga, ga[fitness=makespan] or braun-ga";

const NAMES: [&str; 11] =
    ["fast", "mct", "met", "olb", "min-min", "max-min", "duplex", "sufferage", "descent", "ga", "braun-ga"];

/// The mapper that a spec names, for policies that send tasks to machines.
///
/// # Errors
/// [`SpecError`] names what is unknown and what would be right.
pub fn mapper(spec: &str) -> Result<Box<dyn Mapper>, SpecError> {
    let mut parsed = Spec::parse(spec)?;
    let mut known: &[&'static str] = &[];
    let mapper: Box<dyn Mapper> = match parsed.name() {
        "fast" => Box::new(LongestFirst),
        "mct" => Box::new(MinimumCompletion),
        "met" => Box::new(MinimumExecution),
        "olb" => Box::new(OpportunisticLoadBalancing),
        "min-min" => Box::new(MinMin),
        "max-min" => Box::new(MaxMin),
        "duplex" => Box::new(Duplex),
        "descent" => Box::new(Descent),
        "braun-ga" => Box::new(BraunGenetic::default()),
        "sufferage" => {
            known = &["mode"];
            let greedy = parsed.take("mode", false, |text| match text {
                "passes" => Ok(false),
                "greedy" => Ok(true),
                _ => Err("passes or greedy".to_owned()),
            })?;
            Box::new(Sufferage { greedy })
        }
        "ga" => {
            known = &["fitness"];
            let fitness = parsed.take("fitness", Fitness::Balance, |text| match text {
                "printed" => Ok(Fitness::Balance),
                "makespan" => Ok(Fitness::Makespan),
                _ => Err("printed or makespan".to_owned()),
            })?;
            Box::new(Genetic { fitness, ..Genetic::default() })
        }
        name => return Err(SpecError::unknown("mapper", name, NAMES.into_iter())),
    };
    parsed.finish(known.iter().copied())?;
    Ok(mapper)
}
