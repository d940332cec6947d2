//! Scheduling algorithms by technique, and the catalogue that names them.
//!
//! [`kernel`] holds the mathematics that algorithms share: lists, shelves, knapsacks, doubling batches, compaction, the
//! batch rule. [`mod@free_time`] says when so many processors are free for so long. [`mod@scheduler`] composes kernels
//! into offline algorithms, one a file, each with its source, assumptions, guarantee and deviations. [`mod@catalogue`]
//! names them by specs such as `demt[shuffles=50]`. [`mod@search`] has what all searches share. [`mod@policy`] has online
//! policies: queues with backfilling, and any scheduler made to work online. [`mod@estimate`] learns times while they go on.
//!
//! Most of them begin with the dual approximation: `makespan_bounds::dual` finds the smallest guess of the makespan that
//! is not refuted, and with it an allotment for every job. What is left is an order and a place.
//!
//! ```
//! use makespan_core::{Context, Instance, Job, Platform, Profile, Time, validate};
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
pub mod policy;
pub mod scheduler;
pub mod search;
mod speeds;

pub use catalogue::{Entry, SpecError, catalogue, scheduler};
