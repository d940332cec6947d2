//! Moldable tasks with an order on equal processors. A schedule follows from an order and an allotment for each task, by an event
//! list or by serial insertion. It is evaluated again only from the first changed position on.
//!
//! A [`MoldableProblem`] contains the data of an instance that do not depend on the list. A [`ListSchedule`] is a list that
//! changes, with its schedule. A [`Measure`] is the objective. [`average_times`] suggests initial allotments.

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
