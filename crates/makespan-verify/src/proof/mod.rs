//! Proven bounds: lower bounds, upper bounds on a throughput, and the proofs from which these bounds follow by
//! arithmetic alone.
//!
//! A certificate is an objective and a [`Proof`]. The file of each kind of proof documents the objectives and
//! instances that the kind supports. Proofs are not trusted: [`Proof::proves`] recomputes their consequences in
//! integers or rationals.

mod alone;
mod bound;
mod capacity;
mod choices;
mod cost_prices;
mod deductions;
mod derived;
mod dual_feasible;
mod due_by;
mod end_limits;
mod error;
mod grid;
mod interval_prices;
mod job_prices;
mod job_spans;
mod job_windows;
mod kind;
mod last_job;
mod late_work;
mod machine_prices;
mod path_flow;
mod paths;
mod places;
mod position_prices;
mod prefix;
mod prices;
mod reach;
mod refutation;
mod rejection;
mod resource_window;
#[cfg(test)]
mod samples;
mod setup_sums;
mod soonest;
mod spans;
mod time_prices;
mod time_window;
mod tree_prices;
mod value;

use makespan_core::{Instance, Objective, Time};
use serde::{Deserialize, Serialize};

use kind::{Kind, Scope};

pub use alone::Alone;
pub use bound::Bound;
pub use cost_prices::CostPrices;
pub use deductions::{Deductions, LimitedAmount, Reason, Step};
pub use derived::Derived;
pub use dual_feasible::{DualFeasible, Scale, Term};
pub use due_by::DueBy;
pub use end_limits::{EndLimits, LimitConflict};
pub use error::CertificateError;
pub use grid::{time_grid, value_grid};
pub use interval_prices::IntervalPrices;
pub use job_prices::JobPrices;
pub use job_spans::{JobSpans, WorkBlock};
pub use job_windows::JobWindows;
pub use last_job::LastJob;
pub use late_work::LateWork;
pub use machine_prices::MachinePrices;
pub use makespan_core::tree::TreePrices;
pub use path_flow::{Areas, PathFlow};
pub use paths::Paths;
pub use places::{NodeKinds, NodeRun};
pub use position_prices::PositionPrices;
pub use reach::{JobReach, Reach};
pub use refutation::Refutation;
pub use rejection::{Rejection, Selection};
pub use resource_window::ResourceWindow;
pub use setup_sums::SetupSums;
pub use soonest::{earliest_completion, soonest_completion};
pub use spans::{Spans, TaskSpan};
pub use time_prices::{DeadlinePrices, MachineTimePrices, TimePrices, WidthPrices};
pub use time_window::TimeWindow;
pub use value::Value;

/// Data from which a bound on an objective follows by arithmetic alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Proof {
    /// The time of a single job that is alone on the empty platform.
    Alone(Alone),
    /// A deadline that is refuted by the work and the allotments of jobs.
    Rejection(Rejection),
    /// A deadline that is refuted by dual-feasible functions.
    DualFeasible(DualFeasible),
    /// Prices of processor time in intervals of time.
    IntervalPrices(IntervalPrices),
    /// Prices for processors in continuous time.
    TimePrices(TimePrices),
    /// Prices for time on machines that differ.
    MachinePrices(MachinePrices),
    /// A deadline that is refuted by prices for processors in continuous time.
    DeadlinePrices(DeadlinePrices),
    /// Prices in continuous time for machines that differ.
    MachineTimePrices(MachineTimePrices),
    /// Prices for positions on machines.
    PositionPrices(PositionPrices),
    /// Prices of processors for the work that is released at or after an instant.
    LateWork(LateWork),
    /// A deadline that is refuted by the work of tasks within a window of time.
    TimeWindow(TimeWindow),
    /// For each job, a deadline that the job cannot meet even if it is alone.
    JobWindows(JobWindows),
    /// Prices in continuous time that all tasks of a job pay. Each job chooses its end.
    JobPrices(JobPrices),
    /// A deadline that is refuted by the amounts of a resource that tasks hold within a window of time.
    ResourceWindow(ResourceWindow),
    /// The longest path of tasks before the end of each job.
    Paths(Paths),
    /// Paths of tasks combined with the available processors and resources.
    PathFlow(PathFlow),
    /// A deadline that is refuted by deductions, step by step.
    Deductions(Deductions),
    /// A value that is refuted by the nogoods of a complete search.
    Refutation(Refutation),
    /// A bound on tardiness from the jobs with early deadlines.
    DueBy(DueBy),
    /// The run times and the smallest setup times of all tasks on a machine.
    SetupSums(SetupSums),
    /// Limits on the ends of jobs that no schedule keeps together.
    EndLimits(EndLimits),
    /// A bound on a derived objective, such as the maximum lateness, from a bound on its base.
    Derived(Derived),
    /// A bound that follows from a bound on the makespan, because some job ends at the makespan.
    LastJob(LastJob),
    /// The minimum cost of every task. If the proof has a horizon, it also contains prices of processors and of the
    /// time between tasks.
    CostPrices(CostPrices),
    /// Prices of the tasks and of the ports of a tree.
    TreePrices(TreePrices),
}

impl Proof {
    /// Returns a description of the proof for users, which reports print after "proved by".
    pub fn words(&self) -> &'static str {
        self.parts().2
    }

    /// Returns the name of this kind of proof in files.
    pub fn name(&self) -> &'static str {
        self.parts().1
    }

    fn kind(&self) -> &dyn Kind {
        self.parts().0
    }

    /// Returns the content, the name and the description of the proof.
    fn parts(&self) -> (&dyn Kind, &'static str, &'static str) {
        match self {
            Self::Alone(proof) => (proof, "alone", "a job that takes this long even alone"),
            Self::Rejection(proof) => (proof, "rejection", "more work than the processors can do in a shorter time"),
            Self::DualFeasible(proof) => (proof, "dual_feasible", "jobs that cannot all end earlier"),
            Self::IntervalPrices(proof) => (proof, "interval_prices", "prices of the processors in intervals of time"),
            Self::TimePrices(proof) => (proof, "time_prices", "prices of the processors over time"),
            Self::MachinePrices(proof) => (proof, "machine_prices", "prices of the machines"),
            Self::DeadlinePrices(proof) => {
                (proof, "deadline_prices", "prices of the processors that rule out an earlier end")
            }
            Self::MachineTimePrices(proof) => (proof, "machine_time_prices", "prices of the machines over time"),
            Self::PositionPrices(proof) => (proof, "position_prices", "prices of the positions on each machine"),
            Self::LateWork(proof) => (proof, "late_work", "the work that is released late"),
            Self::TimeWindow(proof) => (proof, "time_window", "the work within a window of time"),
            Self::JobWindows(proof) => (proof, "job_windows", "a window of time for each job"),
            Self::JobPrices(proof) => {
                (proof, "job_prices", "prices of the processors over time, for all tasks of a job together")
            }
            Self::ResourceWindow(proof) => (proof, "resource_window", "the use of a resource within a window of time"),
            Self::Paths(proof) => (proof, "paths", "the longest chain of tasks"),
            Self::PathFlow(proof) => (proof, "path_flow", "chains of tasks and the amounts that tasks hold"),
            Self::Deductions(proof) => (proof, "deductions", "deductions that rule out an earlier end"),
            Self::Refutation(proof) => (proof, "refutation", "a complete search that found no smaller value"),
            Self::DueBy(proof) => (proof, "due_by", "the jobs with early deadlines"),
            Self::SetupSums(proof) => (proof, "setup_sums", "run times and the smallest setup times"),
            Self::EndLimits(proof) => (proof, "end_limits", "ends of jobs that no plan reaches together"),
            Self::Derived(proof) => {
                (proof, "derived", "a bound on another objective with changed due dates or weights")
            }
            Self::LastJob(proof) => {
                (proof, "last_job", "the last job, which cannot end before the bound on the makespan")
            }
            Self::CostPrices(proof) => (proof, "cost_prices", "the minimum cost of every task"),
            Self::TreePrices(proof) => (proof, "tree_prices", "prices of the nodes and links of the tree"),
        }
    }

    /// Returns the objectives that this kind of proof supports.
    pub fn objectives(&self) -> &'static [Objective] {
        self.kind().objectives()
    }

    /// Returns the largest makespan of the schedules to which the proof applies, or `None` if the proof applies to all
    /// schedules.
    pub fn horizon(&self) -> Option<Time> {
        self.kind().horizon()
    }

    /// Returns the strongest proven bound on the objective, for all schedules with makespan at most [`Proof::horizon`].
    /// The result is a lower bound or, for a throughput, an upper bound. In some schedule of minimum value, all starts
    /// and ends are multiples of [`time_grid`]. So a lower bound is rounded up to the next value that such a schedule
    /// can have.
    ///
    /// # Errors
    /// [`CertificateError`] if nothing is proved for this instance.
    pub fn proves(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        grid::rounded(objective, self.proves_unrounded(objective, instance)?, instance)
    }

    /// Returns the length of the grid of times ([`time_grid`]) if this length exceeds one tick and the result of
    /// [`Proof::proves`] was rounded up to the grid. Otherwise, returns `None`.
    pub fn rounding(&self, objective: Objective, instance: &Instance) -> Option<Time> {
        let (exact, proven) =
            (self.proves_unrounded(objective, instance).ok()?, self.proves(objective, instance).ok()?);
        let grid = Time::from_ticks(time_grid(instance));
        (exact < proven && grid > Time::TICK).then_some(grid)
    }

    fn proves_unrounded(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let kind = self.kind();
        if !kind.objectives().contains(&objective) {
            return Err(CertificateError::OtherObjective { objective });
        }
        kind.scope().check(instance)?;
        kind.value(objective, instance)
    }
}

/// Returns the sum of values. If a value is `None`, which represents an overflow, returns an error.
fn total(mut each: impl Iterator<Item = Option<i128>>) -> Result<i128, CertificateError> {
    each.try_fold(0_i128, |sum, one| sum.checked_add(one?)).ok_or(CertificateError::Overflow)
}
