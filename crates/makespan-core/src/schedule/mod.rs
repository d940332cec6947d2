//! Schedules, the reservations that they are built from, their objectives, and the rules that validate them.

mod builder;
mod chains;
mod derived;
mod free_time;
mod objective;
mod pareto;
mod placement;
mod punctuality;
mod shape;
mod strategy;
mod timeline;
mod validate;

pub use builder::ScheduleBuilder;
pub use chains::{ChainReport, CriticalChain, ResolvedCollision, StartPlace, TaskWindow};
pub use derived::DerivedObjective;
pub use free_time::FreeTime;
pub(crate) use objective::utilisation;
pub use objective::{Metrics, Objective, SeparateEnds};
pub use pareto::undominated;
pub use placement::{Placement, Schedule};
pub use punctuality::Punctuality;
pub use shape::{EndCost, Origin, Shape, Unit, mean};
pub use strategy::{Strategy, Variant, busy, cost, task_cost, volume};
pub use timeline::{Reservation, Timeline};
pub use validate::{Violation, validate};
