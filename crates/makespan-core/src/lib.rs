//! The words and rules of Makespan: machines, jobs, plans, bounds, and the checks that hold them together.
//!
//! This crate does no input or output, starts no thread, calls no solver and keeps no global state.
//! An [`Instance`] is a [`Platform`], its [`Job`]s and the times when processors are unavailable. A [`Scheduler`]
//! turns it into a [`Plan`]; [`validate`] checks the plan without trusting who made it. A [`Bound`] carries a
//! certificate that [`Bound::verify`] checks in exact integers. A [`Policy`] decides one event at a time, for a
//! simulated or a real cluster alike, and the outcome of either is a [`Trace`].
//!
//! Three ideas hold it together:
//!
//! * *Integers.* A [`Time`] is a whole number of nanoseconds, a [`Weight`] one of millionths. Values and bounds are
//!   compared for equality; there are no tolerances. Floats are for display, and for speed-up laws, whose times are
//!   rounded up to a tick.
//! * *Checked once.* [`Instance::new`] refuses what cannot run and clips allotments to the platform and to walltimes, so
//!   that no algorithm has to. A [`Profile`] offers no allotment that is no faster than fewer processors.
//! * *Counts first, processors last.* A [`Timeline`] answers how many processors are free when; a [`ScheduleBuilder`]
//!   gives out their ids when all reservations are made, which counts alone make possible.

#![warn(missing_docs)]

mod actual;
pub mod availability;
pub mod bound;
mod builder;
pub mod certificate;
mod cluster;
mod compound_flow;
mod defect;
mod ended;
mod expansion;
mod failure;
mod graph;
mod instance;
mod job_set;
mod measures;
pub mod network;
mod objective;
mod plan;
mod platform;
mod policy;
mod precedence;
mod procset;
mod profile;
mod quantity;
mod route;
mod schedule;
mod scheduler;
mod stop;
mod strategy;
mod task_flow;
mod time;
mod timeline;
mod trace;
pub mod tree;
mod usage;
mod validate;
mod weight;
mod workload;

pub use actual::Actual;
pub use availability::{Availability, Unavailable};
pub use bound::Bound;
pub use builder::ScheduleBuilder;
pub use certificate::{Certificate, CertificateError};
pub use cluster::{Cluster, Outage, expected_repair};
pub use compound_flow::{CompoundMeasures, FlowMeasures, LoadBalance, WholeEnding, WholeMeasures};
pub use defect::Defect;
pub use ended::Ended;
pub use expansion::Expansion;
pub use failure::Failure;
pub use graph::{Edge, Graph, GraphError, Load, NamedTask};
pub use instance::{Instance, InstanceError, Note};
pub use job_set::JobSet;
pub use measures::{Distribution, Fairness, Measures};
pub use objective::{Apart, Metrics, Objective};
pub use plan::{Front, FrontPoint, Plan};
pub use platform::{Link, Node, Platform, PlatformError};
pub use policy::{Decision, Event, LogEntry, Logged, Policy, Running, Spot, View, believed_end};
pub use precedence::{Dependence, Precedence, Whole};
pub use procset::{ProcSet, ProcSetError};
pub use profile::{Profile, ProfileError, SpeedupLaw};
pub use quantity::{Quantity, QuantityError};
pub use route::Route;
pub use schedule::{Placement, Schedule};
pub use scheduler::{Context, Guarantee, ScheduleError, Scheduler, Unsupported};
pub use stop::Stop;
pub use strategy::{Strategy, Variant, busy, cost, task_cost, volume};
pub use task_flow::{Phase, PhaseStep, Phases, TaskFlowMeasures, release_area_bound};
pub use time::{Area, Time, TimeError};
pub use timeline::{Reservation, Timeline};
pub use trace::{Outcome, Run, Trace};
pub use usage::{Usage, UsageStep};
pub use validate::{Violation, validate};
pub use weight::{Weight, WeightError, WeightedTime};
pub use workload::{Job, JobId, Task};
