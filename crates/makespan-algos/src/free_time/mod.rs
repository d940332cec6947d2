//! Data structures for free processors over time. Most of them implement core's [`FreeTime`](makespan_core::FreeTime).
//!
//! | | representation | used for |
//! |---|---|---|
//! | core's [`Timeline`](makespan_core::Timeline) | a balanced tree for each class of equally available processors | schedules of any size |
//! | [`Skyline`] | one flat array, with best placement if the platform requires it | searches that build and copy thousands of schedules a second |
//! | `Strips` | strips of an array, for a single class of processors, from the current instant on | policies with millions of queries and changes |
//! | `Rows` | one row of several amounts for each step, in a flat array | nodes with cells and resources, and resources that belong to no node |
//! | [`Calendar`] | the busy periods of one processor | tasks of graphs, because their data reach each processor at a different instant |

mod calendar;
mod period;
mod rows;
mod skyline;
mod strips;
#[cfg(test)]
mod tests;

pub use calendar::Calendar;
pub use period::Period;
pub(crate) use rows::Rows;
pub use skyline::Skyline;
pub(crate) use strips::Strips;
