//! Schedules of moldable tasks on equal processors. A list is an order of the tasks, with an allotment for each task. A
//! scheme, `events` or `insertion`, turns a list into a schedule. After a change of the list, evaluation begins at the
//! first changed position.
//!
//! A [`MoldableProblem`] contains the data of an instance that do not depend on the list. A [`ListSchedule`] is a list
//! that can be changed, with its schedule. A [`Measure`] is the objective. [`average_times`] suggests initial
//! allotments.

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
