//! Online scheduling: policies, the cluster that they see, and the resulting trace.

mod accounting;
mod actual;
mod cluster;

mod defect;
mod ended;
mod estimator;
mod failure;
mod fair_shares;
mod left;
mod policy;
mod residual;
mod slurm_cycles;
mod stop;
mod task_set;
mod trace;

pub use accounting::{Accounting, MemoryKill};
pub use actual::Actual;
pub use cluster::{Cluster, Outage, expected_repair};

pub use defect::Defect;
pub use ended::EndedTasks;
pub use estimator::{Estimation, Estimator};
pub use failure::Failure;
pub use fair_shares::FairShares;
pub use left::FreeAmounts;
pub(crate) use policy::quarter;
pub use policy::{Decision, Event, LogEntry, LoggedDecision, Policy, Running, View, believed_end, remaining_after};
pub use slurm_cycles::{Cycle, CyclePair, CycleQueue, CycleRules, SlurmCycles};
pub use stop::Stop;
pub use task_set::TaskSet;
pub use trace::{Outcome, Run, Trace};
