//! Free processors over time, each kept for the needs of some: what they have in common is core's
//! [`FreeTime`](makespan_core::FreeTime).
//!
//! | | kept as | for |
//! |---|---|---|
//! | core's [`Timeline`](makespan_core::Timeline) | a balanced tree for each class of equally available processors | schedules of any size |
//! | [`Skyline`] | one flat array, with best placement where it is required | searches that build thousands of schedules a second, and copy them |
//! | `Strips` | strips of an array, one class, from now on | policies that ask and change a million times |
//! | `Rows` | one flat row of several amounts for each step | nodes with cells and resources, and resources that belong to no node |
//! | [`Calendar`] | busy periods of one processor | tasks of graphs, with data that reach each processor at another instant |

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
