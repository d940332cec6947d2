//! Online policies: queues with and without backfilling, and policies that use an offline scheduler online.
//!
//! [`policy`] returns the policy that a spec such as `easy[order=sjf]` names. A policy is used for one instance, from
//! the first event to the last.

mod again;
mod ahead;
mod batch;
mod built;
mod catalogue;
mod conservative;
mod domains;
mod easy;
mod expected;
mod fcfs;
mod flow;
mod follow;
mod held;
mod improve;
mod job_flow;
mod jobs;
mod keeper;
mod moldable_easy;
mod nodes_now;
mod openings;
mod order;
mod play;
mod queue;
mod queue_state;
mod renewed;
mod replan;
mod slurm;
mod space;
#[cfg(test)]
mod tests;
pub mod tree;

pub use batch::Batch;
pub use built::OfPolicy;
pub use catalogue::{PolicyError, policies, policy, policy_for};
pub use conservative::Conservative;
pub use domains::{DomainError, DomainMeasures, DomainRules, DomainScene, Domains, UserJobMeasures};
pub use easy::{Easy, Passes};
pub use expected::{ExpectedStart, expected_starts, expected_starts_from};
pub use fcfs::Fcfs;
pub use flow::{Communication, LongestFirst, MAPPERS, MappingInstants, Rules, SchedulingTime, TaskFlow, mapper};
pub use follow::Follow;
pub use improve::{Improve, Improving};
pub use job_flow::{Clock, Goal, JobFlow, JobFlowRules, Late, Serve};
pub use keeper::Starts;
pub use moldable_easy::MoldableEasy;
pub use order::{QueueOrder, QueueReading, Queues, Request};
pub use renewed::RenewedPolicy;
pub use replan::{KeptStart, Replan};
pub use slurm::{IgnoredRules, PriorityRules, Slurm, SlurmRules, unheeded};
