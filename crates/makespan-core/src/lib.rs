//! The words and rules of Makespan: machines, jobs, plans, bounds, and the checks that hold them together.
//!
//! This crate does no input or output, starts no thread, calls no solver and keeps no global state.
//! An [`Instance`] is a [`Platform`], its [`Job`]s and the times when processors are unavailable. A [`Scheduler`]
//! turns it into a [`Plan`]; [`validate`] checks the plan without trusting who made it. A [`Bound`] carries a
//! certificate that [`Bound::verify`] checks in exact integers. A [`Policy`] decides one event at a time, for a
//! simulated or a real cluster alike, and the outcome of either is a [`Trace`].
//!
//! Three ideas hold it together:
//!
//! * *Integers.* A [`Time`] is a whole number of nanoseconds, a [`Weight`] one of millionths. Values and bounds are
//!   compared for equality; there are no tolerances. Floats are for display, and for speed-up laws, whose times are
//!   rounded up to a tick.
//! * *Checked once.* [`Instance::new`] refuses what cannot run and clips allotments to the platform and to walltimes, so
//!   that no algorithm has to. A [`Profile`] offers no allotment that is no faster than fewer processors.
//! * *Counts first, processors last.* A [`Timeline`] answers how many processors are free when; a [`ScheduleBuilder`]
//!   gives out their ids when all reservations are made, which counts alone make possible.

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
