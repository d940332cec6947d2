//! Schedules of moldable tasks on equal processors. An event list or serial insertion turns a list (an order of the
//! tasks, with an allotment for each) into a schedule. After a change of the list, only the part after the first
//! changed position is evaluated again.
//!
//! A [`MoldableProblem`] contains the data of an instance that do not depend on the list. A [`ListSchedule`] is a list
//! that changes, with its schedule. A [`Measure`] is the objective. [`average_times`] suggests initial allotments.

mod average;
mod evaluation;
mod events;
mod given;
mod insertion;
mod list;
mod measure;
mod placing;
mod problem;
mod tails;
#[cfg(test)]
mod tests;

pub use average::average_times;
pub use evaluation::{ListSchedule, ListScheme};
pub use list::List;
pub use measure::Measure;
pub use placing::schedule;
pub use problem::MoldableProblem;
