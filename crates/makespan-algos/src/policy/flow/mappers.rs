//! The catalogue of mappers for policies.

use std::sync::LazyLock;

use makespan_core::Objective;

use super::LongestFirst;
use crate::catalogue::{Build, Entry, OfScheduler, SpecError, mapping};
use crate::kernel::mapping::Mapper;
use crate::scheduler::MappingScheduler;

/// The valid values of the parameter `mapper`.
pub const MAPPERS: &str = "fast, or one of the schedulers with their parameters: mct, met, olb, min-min, max-min, \
                           duplex, sufferage, descent, ga or braun-ga";

/// The mapper `fast`. This mapper is not in the catalogue of schedulers, because it is meant for machines that are busy
/// at the beginning.
const FAST: Entry = Entry {
    name: "fast",
    summary: "the longest task first, on the machine on which it ends first, then moves and swaps if there are few tasks",
    supports: "sequential jobs on machines of any kind",
    source: "Graham, SIAM J. Appl. Math. 17(2), 1969, doi:10.1137/0117039",
    parameters: &[],
    kind: OfScheduler {
        minimises: &[Objective::Makespan],
        guarantee: "none",
        compared: &[],
        representatives: &[],
        build: Build::Mapper(|_| Ok(MappingScheduler::new("fast", LongestFirst))),
    },
};

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| [&[FAST], mapping::ENTRIES].concat());

/// Returns the mapper that a spec names, for policies that send tasks to machines.
///
/// # Errors
/// [`SpecError`] states the unknown or invalid part of the spec, and lists the valid values.
pub fn mapper(spec: &str) -> Result<Box<dyn Mapper>, SpecError> {
    Entry::made(&ENTRIES, "mapper", spec, |entry, spec| match entry.kind.build {
        Build::Mapper(build) => Ok(build(spec)?.into_mapper()),
        Build::Scheduler(_) => unreachable!("mapping entries are mappers"),
    })
}
