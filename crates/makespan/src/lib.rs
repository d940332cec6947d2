//! Makespan as a library: it reads instances, plans them, proves and verifies bounds, simulates policies and draws
//! charts.
//!
//! ```
//! use makespan::{Instance, Job, Objective, Platform, Profile, Time};
//!
//! let times = [10, 6, 4].map(Time::from_seconds).to_vec();
//! let jobs = ["a", "b", "c"].map(|name| Job::new(name, Profile::table(times.clone()).unwrap())).to_vec();
//! let instance = Instance::new(Platform::flat(4)?, jobs, vec![])?;
//! let planned = makespan::plan(&instance)?;
//! for bound in &planned.bounds {
//!     bound.verify(&instance)?;
//! }
//! assert!(planned.ratio(&instance, Objective::Makespan).unwrap() < 2.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Planner`] accepts another algorithm, a seed and a request to stop. The example programs in `examples/` use only
//! this crate. They plan moldable jobs, a graph of tasks on machines that differ in speed, a flow of tasks, and bags on
//! a tree of machines.

mod choice;
mod circumstances;
mod complete;
mod moment;
mod network;
mod planning;
mod simulation;
mod unknown;
mod wishes;

pub use makespan_algos::catalogue::{resolved, spec_title, split_specs};
pub use makespan_algos::{
    Context, Front, FrontPoint, Guarantee, Incumbent, IncumbentState, Plan, ScheduleError, Scheduler,
};
pub use makespan_algos::{Entry, SpecError, catalogue, estimate, policy};
pub use makespan_bounds::tree::{NodePart, Upgrade, upgrades};
pub use makespan_core::tree::{self, SteadyState};
pub use makespan_core::{
    Actual, Decision, Edge, Estimation, Estimator, Event, Graph, Instance, InstanceError, Job, JobId, Link, Measures,
    Metrics, NamedTask, Node, Objective, Payload, Placement, Platform, Policy, ProcSet, Profile, Schedule,
    SeparateEnds, SpeedupLaw, Stop, Strategy, Task, TaskId, Time, Trace, Unavailable, Unsupported, Variant, View,
    Violation, Weight, WeightedTime, Work, validate,
};
pub use makespan_verify::check;
pub use makespan_verify::{Bound, CertificateError, Proof, Value};

pub use choice::{
    STEADY_STATE, algorithm_of_run, algorithm_of_steps, algorithm_within, compared, default_algorithm, minimised,
    objective_of_run, policy_of_plan, policy_of_run, scheduler,
};
pub use circumstances::{CircumstanceError, Circumstances};
pub use makespan_sim::network::{EndCondition, NetworkChange, NetworkOptions, NetworkRun, NodeChange};
pub use makespan_sim::{Deviation, FailureModel, Observer, Silent, Simulation, SimulationError, SimulationOptions};
pub use moment::{ClusterState, expected_at};
pub use network::{TreeRun, TreeRunError, TreeScene};
pub use planning::{PlanError, Planned, Planner, bound, bounds_for, cheapest, plan, plan_ratio, thorough_bound};
pub use simulation::{SimulateError, Simulated, SimulationInput, simulate, simulate_policy};
pub use unknown::unknown;

/// Reads and writes files: instances, logs, plans, Gantt charts and reports ([`makespan_formats`]).
pub mod formats {
    pub use makespan_formats::*;
}
pub use wishes::{PlanWishes, WishError};
