//! Slurm's text formats: records of `KEY=value`, lists of hosts, times, sizes and generic resources.

mod gres;
mod hostlist;
mod record;
mod value;

pub use gres::Gres;
pub use hostlist::{HostlistError, compress, expand};
pub use record::{Kind, Record, records};
pub use value::{OptionalLimit, bytes, count, date, duration, moment, present, range, requested_time};
