//! Scheduling algorithms, and the catalogue that names them.
//!
//! * [`kernel`] contains the building blocks that algorithms share: lists, shelves, knapsacks, doubling batches,
//!   compaction and the batch rule.
//! * [`mod@free_time`] contains data structures for free processors over time.
//! * [`mod@scheduler`] contains one offline algorithm in each file, with its source, assumptions, guarantee and
//!   deviations from the source.
//! * [`mod@catalogue`] names the algorithms by specs such as `demt[shuffles=50]`.
//! * [`mod@search`] contains the code that all searches share.
//! * [`mod@policy`] contains online policies: queues with backfilling, and policies that use any scheduler online.
//! * [`mod@estimate`] learns run times during execution.
//!
//! A [`Scheduler`] turns an instance into a [`Plan`].
//!
//! Most offline algorithms begin with the dual approximation: `makespan_bounds::dual` finds the smallest makespan that
//! it does not prove impossible (the guess), and an allotment of every job for this guess. The algorithm then only
//! chooses an order and the placements.
//!
//! ```
//! use makespan_algos::Context;
//! use makespan_core::{Instance, Job, Platform, Profile, Time, validate};
//!
//! let times = [10, 6, 4].map(Time::from_seconds).to_vec();
//! let jobs = ["a", "b"].map(|name| Job::new(name, Profile::table(times.clone()).unwrap())).to_vec();
//! let instance = Instance::new(Platform::flat(4)?, jobs, vec![])?;
//! let scheduler = makespan_algos::scheduler("list[order=saf]")?;
//! scheduler.supports(&instance)?;
//! let schedule = scheduler.schedule(&instance, &mut Context::with_seed(1))?.into_schedule().unwrap();
//! assert_eq!(validate(&instance, &schedule), Ok(()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
mod named;

pub mod catalogue;
pub mod estimate;
pub mod free_time;
pub mod kernel;
mod plan;
pub mod policy;
pub mod scheduler;
pub mod search;
pub mod slurm;
mod speeds;

pub use catalogue::{Entry, SpecError, catalogue, scheduler};
pub use plan::{
    Context, ForHardDeadlines, Front, FrontPoint, Guarantee, Incumbent, IncumbentState, Plan, ScheduleError, Scheduler,
};
