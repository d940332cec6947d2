//! The model and the rules of Makespan: platforms, jobs, plans, bounds, and independent checks of plans and bounds.
//!
//! This crate does no input or output, starts no thread, calls no solver and keeps no global state.
//! An [`Instance`] is a [`Platform`], its [`Job`]s and the times when processors are unavailable. A [`Scheduler`] turns
//! an instance into a [`Plan`]. [`validate`] checks a plan independently of the scheduler. A [`Bound`] carries a
//! certificate that [`Bound::verify`] checks in exact integers. A [`Policy`] decides one event at a time, for a
//! simulated or a real cluster. The outcome of both is a [`Trace`].
//!
//! Three principles apply everywhere:
//!
//! * *Integers.* A [`Time`] is a whole number of nanoseconds, a [`Weight`] a whole number of millionths. Values and
//!   bounds are compared for equality, without tolerances. Floats are used only for display and for speed-up laws,
//!   whose times are rounded up to a tick.
//! * *Check once.* [`Instance::new`] rejects jobs that cannot run and removes allotments that exceed the platform or
//!   the walltime, so algorithms need no such checks. A [`Profile`] offers no allotment that is not faster than every
//!   smaller one.
//! * *Counts first, processors last.* A [`Timeline`] stores only the number of free processors over time. After all
//!   reservations are made, a [`ScheduleBuilder`] assigns processor ids. The counts guarantee that this assignment
//!   exists.

#![warn(missing_docs)]

mod measure;
mod model;
mod online;
mod plan;
pub mod proof;
mod schedule;
mod text;
pub mod tree;

pub use measure::*;
pub use model::*;
pub use online::*;
pub use plan::*;
pub use proof::{Bound, CertificateError, Proof, Value, release_area_bound};
pub use schedule::*;
pub use text::{byte_of, bytes_of_text, counted, text_of_bytes};
pub use tree::network;
