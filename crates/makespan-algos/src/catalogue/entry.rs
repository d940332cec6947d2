//! Entries of the catalogue: the names that a spec can use, with their parameters.

use makespan_core::Objective;

use super::{Spec, SpecError};
use crate::plan::Scheduler;
use crate::scheduler::MappingScheduler;

/// A parameter of an algorithm, with the text that listings print for it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The key in specs.
    pub name: &'static str,
    /// The valid values, in words.
    pub values: &'static str,
    /// The value if the spec does not contain the parameter.
    pub default: &'static str,
}

/// An entry of a catalogue, with the text that listings print. The entry describes a scheduler ([`OfScheduler`]), a
/// policy ([`crate::policy::OfPolicy`]) or a heuristic for the nodes of a tree ([`crate::policy::tree::OfHeuristic`]).
#[derive(Clone, Copy, Debug)]
pub struct Entry<K = OfScheduler> {
    /// The name in specs.
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The kinds of instances that the algorithm supports.
    pub supports: &'static str,
    /// The publication that describes the algorithm.
    pub source: &'static str,
    /// The parameters.
    pub parameters: &'static [Parameter],
    /// The part of the entry that only one kind of algorithm has, such as [`OfScheduler`].
    pub kind: K,
}

/// The part of a catalogue entry that only schedulers have.
#[derive(Clone, Copy, Debug)]
pub struct OfScheduler {
    /// Objectives that the scheduler minimises. The entry of `optimise` lists all values of its parameter `objective`.
    pub minimises: &'static [Objective],
    /// The proven ratio to the optimum, in words.
    pub guarantee: &'static str,
    /// Specs with which the scheduler takes part in comparisons.
    pub compared: &'static [&'static str],
    /// Specs with which the property harness tests the scheduler. The harness plans thousands of small instances.
    pub representatives: &'static [&'static str],
    pub(crate) build: Build,
}

/// Constructor of a scheduler from its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Build {
    Scheduler(fn(&mut Spec) -> Result<Box<dyn Scheduler>, SpecError>),
    /// Constructor of a mapper. Policies also use mappers.
    Mapper(fn(&mut Spec) -> Result<MappingScheduler, SpecError>),
}

impl<K> Entry<K> {
    /// Parses a spec, and calls `build` with the named entry and the parameters. If the name is unknown, the error
    /// contains `what`, the kind of the name, such as `algorithm`.
    ///
    /// # Errors
    /// [`SpecError`] states the unknown or invalid part of the spec, and lists the valid values.
    pub(crate) fn made<T>(
        entries: &'static [Self],
        what: &'static str,
        spec: &str,
        build: impl FnOnce(&Self, &mut Spec) -> Result<T, SpecError>,
    ) -> Result<T, SpecError> {
        let mut parsed = Spec::parse(spec)?;
        let found = entries.iter().find(|entry| entry.name == parsed.name());
        let unknown = || SpecError::unknown(what, parsed.name(), entries.iter().map(|entry| entry.name));
        let entry = found.ok_or_else(unknown)?;
        let made = build(entry, &mut parsed)?;
        parsed.finish(entry.parameters.iter().map(|parameter| parameter.name))?;
        Ok(made)
    }
}
