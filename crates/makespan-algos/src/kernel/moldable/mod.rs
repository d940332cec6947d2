//! Moldable tasks that wait for each other, on equal processors: schedules of an order and an allotment for each task, by an event
//! list or by serial insertion, evaluated again from where the order or an allotment has changed.
//!
//! What an instance is, whatever the list, is a [`MoldableProblem`]. A [`ListSchedule`] is a list that changes, with its schedule;
//! what it is worth says a [`Measure`]. [`average_times`] tells which allotments to begin with.

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
pub use evaluation::{ListSchedule, Scheme};
pub use list::List;
pub use measure::Measure;
pub use placing::schedule;
pub use problem::MoldableProblem;
