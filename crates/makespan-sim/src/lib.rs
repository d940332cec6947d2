//! Virtual time: a [`Policy`](makespan_core::Policy) decides, and a simulated cluster answers.
//!
//! [`simulate`] releases the tasks of an instance one instant after the other, tells the policy what happens, does what
//! it wants and returns the [`Trace`](makespan_core::Trace). The policy sees estimates; how long tasks really run is in
//! an [`Actual`](makespan_core::Actual) that only the simulation reads.
//!
//! *Deterministic.* Of one instant, tasks end first; then unavailable periods end and begin, processors come up and go
//! down, and what runs there is interrupted; then tasks are released, and a wake-up that is due comes last. Within a
//! kind the smaller identifier comes first. The policy hears all of an instant in one call. Nothing is random but
//! failures, and real times by a [`Deviation`], that are drawn from a seed.
//!
//! *Unavailable periods* are known beforehand and are no events: a policy asks to be woken when one ends. Its view
//! always says what is free. A task that is expected to run into a period must not be started
//! ([`Defect::Closing`](makespan_core::Defect::Closing)); one that outlives its estimate is interrupted when it
//! begins.
//!
//! *Failures* come unannounced, from a list or drawn from a [`FailureModel`]. Tasks on the processors that went down
//! are interrupted, wait again and start anew.
//!
//! [`network`] is the other kind of platform: bags of tasks on a tree of machines, each node with a scheduler of its
//! own.
//!
//! This crate knows no algorithm; it never imports one.
//!
//! ```
//! use makespan_core::{Actual, Decision, Event, Instance, Job, Platform, Policy, Profile, Time, View};
//! use makespan_sim::{Silent, SimulationOptions, simulate};
//!
//! /// First come, first served.
//! struct InTurn;
//!
//! impl Policy for InTurn {
//!     fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
//!         let mut free = view.free.clone();
//!         for task in view.waiting.iter() {
//!             let wanted = view.instance.profile(task).min_processors();
//!             let Some(processors) = free.take(wanted) else { break };
//!             decisions.push(Decision::Start { task, processors });
//!         }
//!     }
//! }
//!
//! let rigid = |processors, minutes: i64| Profile::rigid(processors, Time::from_seconds(60 * minutes)).unwrap();
//! let estimates = [rigid(2, 60), rigid(4, 60), rigid(1, 60)];
//! let jobs = ["a", "b", "c"].into_iter().zip(estimates).map(|(name, profile)| Job::new(name, profile)).collect();
//! let instance = Instance::new(Platform::flat(4)?, jobs, vec![])?;
//! // The first job ends after a quarter of its estimate.
//! let actual = Actual::Profiles(vec![rigid(2, 15), rigid(4, 60), rigid(1, 60)]);
//! let simulation = simulate(&instance, &actual, &mut InTurn, &SimulationOptions::default(), &mut Silent)?;
//! let ends: Vec<_> = simulation.trace.runs.iter().map(|run| (run.task.0, run.end.to_string())).collect();
//! assert_eq!(ends, [(0, "900".into()), (1, "4500".into()), (2, "8100".into())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod deviation;
mod engine;
mod error;
mod failures;
pub mod network;
mod observer;
mod options;
mod simulate;
mod simulation;

pub use deviation::{Deviation, DeviationError};
pub use error::SimulationError;
pub use failures::{FailureModel, FailureModelError, FailureUnit, Lifetime};
pub use makespan_core::Failure;
pub use observer::{Observer, Silent};
pub use options::SimulationOptions;
pub use simulate::simulate;
pub use simulation::Simulation;
