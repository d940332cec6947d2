//! Mapping of independent sequential tasks to machines of different speeds: the choice of a machine for each task,
//! without start times.
//!
//! Terms: a *machine* is one processor. Its *ready time* is the instant at which it has finished its earlier tasks. The
//! *completion* of a task on a machine is the ready time plus the time of the task there. All times are in whole ticks.
//! A [`Mapper`] solves a [`MappingProblem`]. Unless a mapper states otherwise, it breaks ties in favour of the task,
//! and then the machine, with the smaller index.
//!
//! ```
//! use makespan_algos::kernel::mapping::{MachineId, Mapper, MinMin, MappingProblem, Times};
//! use makespan_core::Time;
//! use rand::SeedableRng;
//! use rand_chacha::ChaCha8Rng;
//!
//! // Two tasks on two machines, the second of which is busy until 3.
//! let times = Times::flat([4, 1, 2, 9].map(Time::from_ticks).to_vec(), 2);
//! let problem = MappingProblem::new(times, vec![0, 3]);
//! let mapping = MinMin.map(&problem, &mut ChaCha8Rng::seed_from_u64(1));
//! assert_eq!((mapping.as_slice(), problem.makespan(&mapping)), ([1, 0].map(MachineId).as_slice(), 4));
//! ```

mod braun;
mod descent;
mod ejections;
mod genetic;
mod immediate;
mod loads;
mod max_min;
mod members;
mod min_min;
mod problem;
mod smith;
mod sufferage;
#[cfg(test)]
mod tests;

pub use braun::BraunGenetic;
pub use descent::Descent;
pub use ejections::{Candidates, EjectionChains};
pub use genetic::{Fitness, Genetic};
pub use immediate::{MinimumCompletion, MinimumExecution, OpportunisticLoadBalancing};
pub use loads::Loads;
pub use max_min::MaxMin;
pub use min_min::{Duplex, MinMin};
pub use problem::{MachineId, MappingProblem, Times, task_time};
pub use smith::Smith;
pub use sufferage::Sufferage;

use rand_chacha::ChaCha8Rng;

/// Maps tasks to machines.
pub trait Mapper {
    /// Returns the machine of each task. The machine must be able to run the task.
    fn map(&self, problem: &MappingProblem<'_>, random: &mut ChaCha8Rng) -> Vec<MachineId>;
}
