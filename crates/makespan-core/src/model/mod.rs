//! The model: platforms, jobs, tasks, and unavailable periods.
//!
//! This is the lowest module of the crate: it imports no other module.

pub mod availability;
mod emptied;
mod estimate;
mod features;
mod fingerprint;
mod graph;
mod instance;
mod job;
mod penalty;
mod platform;
mod procset;
mod profile;
mod quantity;
mod resource;
mod route;
mod site;
mod table;
mod task;
mod time;
mod unsupported;
mod weight;

pub use availability::{Availability, Unavailable};
pub use emptied::emptied;
pub use estimate::Estimate;
pub use features::{FeatureChoice, Features, put_counted_first};
pub use fingerprint::{fingerprint, instance_hash, task_digests};
pub use graph::{Edge, Graph, GraphError, Lag, NamedTask, Payload};
pub use instance::{HeldAmount, Instance, InstanceError, NewTimes, NoRoom, NodeClasses, Note, SimpleJob, SubInstance};
pub use job::{Job, JobId, Rows, Work};
pub use penalty::{EndPenalty, PenaltyError, PenaltyForm};
pub use platform::{Link, Node, Platform, PlatformError, Setup, SetupMachine};
pub use procset::{ProcSet, ProcSetError};
pub use profile::{Profile, ProfileError, SpeedupLaw};
pub use quantity::{Quantity, QuantityError};
pub(crate) use resource::amount_of;
pub use resource::{Demand, Need, Needs, Resource, ResourceError, ResourceId, ResourceKind, Resources, Shortage};
pub use route::Route;
pub use site::{Association, Limits, NodePlace, Partition, Qos, Site, SiteError, SiteReservation, Submission};
pub use table::Dependence;
pub use task::{Task, TaskId};
pub use time::{Area, Time, TimeError};
pub use unsupported::Unsupported;
pub use weight::{Weight, WeightError, WeightedTime};
