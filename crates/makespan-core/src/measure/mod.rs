//! Measures of a trace, for tables and statistics.

mod compound_flow;
mod measures;
mod outlook;
mod range;
mod task_flow;
mod usage;

pub use compound_flow::{CompoundMeasures, FlowMeasures, JobEnding, JobMeasures, LoadBalance};
pub use measures::{Distribution, Fairness, Measures, ended_jobs};
pub use outlook::{Outlook, WaitKind, WaitReason};
pub use range::range_around;
pub use task_flow::{Phase, PhaseStep, Phases, TaskFlowMeasures};
pub use usage::{Usage, UsageStep};
