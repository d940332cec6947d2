//! What runs where and when: schedules, the reservations that they are built from, what they cost, and the rules that
//! they are checked by.

mod builder;
mod free_time;
mod objective;
mod pareto;
mod placement;
mod punctuality;
mod strategy;
mod timeline;
mod validate;

pub use builder::ScheduleBuilder;
pub use free_time::FreeTime;
pub(crate) use objective::mean;
pub use objective::{Apart, Metrics, Objective};
pub use pareto::undominated;
pub use placement::{Placement, Schedule};
pub use punctuality::Punctuality;
pub use strategy::{Strategy, Variant, busy, cost, task_cost, volume};
pub use timeline::{Reservation, Timeline};
pub use validate::{Violation, validate};
