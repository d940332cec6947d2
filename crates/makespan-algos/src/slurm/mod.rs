//! Slurm's scheduler at the level of nodes: the free resources of nodes, reservations, limits, and the two cycles.
//!
//! The scheduler decides for the forecast of a queue (crate `makespan-slurm`) and for the policy `slurm`. Each of them
//! converts its data to a [`ClusterModel`], reports arrivals and ends of jobs to a [`SlurmScheduler`], and receives
//! the starts.

mod best_fit;
mod bits;
mod counter;
mod counts;
mod cycle;
mod ends;
mod limits;
mod model;
mod node_request;
mod plan_events;
mod planned;
mod request;
mod room;
mod scheduler;
mod soonest;
mod usage;
mod world;

pub use bits::NodeBits;
pub use counter::{LimitCounter, LimitUse, ReservedAmount};
pub use counts::ProcessorCell;
pub use model::{ClusterModel, JobCandidate, ModelJob, ModelNode, NodeConditions, ReservedPeriod};
pub use request::{Memory, PartitionRequest};
pub use scheduler::{JobStart, LimitDelay, SlurmScheduler};
pub use usage::{Gap, Hold, NodeReservation, RunningUsage};
pub use world::World;
