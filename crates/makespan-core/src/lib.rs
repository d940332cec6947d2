//! The model and the rules of Makespan: platforms, jobs, schedules, an independent check of schedules, and policies.
//!
//! This crate does no input or output, starts no thread, calls no solver and keeps no global state. An [`Instance`] is
//! a [`Platform`], its [`Job`]s and the times when processors are unavailable. [`validate`] checks a [`Schedule`]
//! independently of the scheduler that made it. A [`Policy`] makes decisions at each event of a simulated or a real
//! cluster. The execution of an instance under a policy gives a [`Trace`]. Bounds are in the crate `makespan-verify`,
//! and schedulers are in the crate `makespan-algos`.
//!
//! Three principles apply everywhere:
//!
//! * *Integers.* A [`Time`] is a whole number of nanoseconds, a [`Weight`] a whole number of millionths. So the value
//!   of a schedule can be compared exactly with a bound, without a tolerance. Floats are used only for display and for
//!   speed-up laws. The times of a law are rounded up to a tick.
//! * *Check once.* [`Instance::new`] rejects jobs that cannot run. [`Instance::new`] also removes allotments that have
//!   more processors than the platform or exceed the walltime. So algorithms need not check jobs again.
//!   [`Profile::allotments`] contains only allotments that are faster than every smaller allotment.
//! * *Counts first, processors last.* A [`Timeline`] stores only the number of free processors over time. After all
//!   reservations are made, a [`ScheduleBuilder`] assigns processor ids. If the counts are correct, such an assignment
//!   always exists.

#![warn(missing_docs)]

mod measure;
mod model;
mod online;
mod schedule;
mod text;
pub mod tree;

pub use measure::*;
pub use model::*;
pub use online::*;
pub use schedule::*;
pub use text::{
    byte_of, bytes_of_text, counted, harmless, is_control, is_shell, literal_word, replaced_placeholders, shell_line,
    shown, text_of_bytes,
};
pub use tree::network;
