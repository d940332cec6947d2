//! What there is: machines, jobs, tasks, and when processors are closed.
//!
//! The lowest room: it imports no other.

pub mod availability;
mod expansion;
mod graph;
mod instance;
mod platform;
mod precedence;
mod procset;
mod profile;
mod quantity;
mod route;
mod time;
mod weight;
mod workload;

pub use availability::{Availability, Unavailable};
pub use expansion::Expansion;
pub use graph::{Edge, Graph, GraphError, Load, NamedTask};
pub use instance::{Instance, InstanceError, Note, Residual};
pub use platform::{Link, Node, Platform, PlatformError};
pub use precedence::{Dependence, Precedence, Whole};
pub use procset::{ProcSet, ProcSetError};
pub use profile::{Profile, ProfileError, SpeedupLaw};
pub use quantity::{Quantity, QuantityError};
pub use route::Route;
pub use time::{Area, Time, TimeError};
pub use weight::{Weight, WeightError, WeightedTime};
pub use workload::{Job, JobId, Task};
