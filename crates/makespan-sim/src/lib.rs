//! Simulation in virtual time: a [`Policy`](makespan_core::Policy) decides, and a simulated cluster carries out the
//! decisions.
//!
//! [`simulate`] advances from instant to instant. It releases the tasks of an instance, passes the events to the
//! policy, carries out the policy's decisions, and returns the [`Trace`](makespan_core::Trace). The policy sees
//! estimates. The real run times are in an [`Actual`](makespan_core::Actual) that only the simulation reads.
//!
//! *Deterministic.* At each instant, tasks end first. Then unavailable periods end and begin, processors come up and go
//! down, and the tasks on lost processors are interrupted. Then tasks are released. A wake-up that was requested for
//! this instant comes last. Events of one kind are ordered by identifier, the smallest first. The policy receives all
//! events of an instant in one call. Only failures, and real times of a [`Deviation`], are random. They are drawn from
//! random numbers with a seed.
//!
//! *Unavailable periods* are known in advance and are not events: a policy that waits for the end of a period requests
//! a wake-up. The policy's view always contains the free processors. A policy must not start a task that is expected to
//! run into a period ([`Defect::Closing`](makespan_core::Defect::Closing)). A task that runs longer than its estimate
//! is interrupted when the period begins.
//!
//! *Failures* are not known in advance. They come from a list or are drawn from a [`FailureModel`]. Tasks on the failed
//! processors are interrupted, and with a task also all running tasks of its gang. They wait again, and their work is
//! repeated from the beginning.
//!
//! [`network`] simulates another kind of problem: bags of tasks on a tree of machines, where each node has its own
//! scheduler.
//!
//! This crate contains no scheduling algorithm and imports none.
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
//! // The first job really takes a quarter of its estimate.
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
