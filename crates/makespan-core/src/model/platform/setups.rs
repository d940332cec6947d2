//! Setup times between consecutive tasks on one machine.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Platform, PlatformError};
use crate::model::Time;

/// A setup time. A machine needs this time between the end of a task of the family `from` and the start of the next task
/// on this machine, if the next task is of the family `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The machine: the name of a node, for each of its processors, or of a licence with the amount 1. `None` for all
    /// processors of nodes for which no setup with these families is stated.
    pub on: Option<Arc<str>>,
    /// Family of the task that ends.
    pub from: Arc<str>,
    /// Family of the task that starts. It may be the same family.
    pub to: Arc<str>,
    /// The setup time.
    pub time: Time,
}

/// The setup times of a platform.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Setups {
    stated: Vec<Setup>,
    /// The numbers of the families, in the order in which they are stated.
    families: FxHashMap<Arc<str>, u32>,
    /// The times by machine and families.
    times: FxHashMap<(SetupMachine, u32, u32), Time>,
}

/// A machine with setup times of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SetupMachine {
    /// The processors of all nodes without setup times of their own.
    Processors,
    /// The processors of a node, as an index into the nodes of the platform.
    Node(usize),
    /// A licence, as its [`crate::ResourceId`].
    Licence(u16),
}

impl Platform {
    /// Sets the setup times.
    ///
    /// # Errors
    /// [`PlatformError::Setup`] names a setup time on an unknown machine, one that is stated twice, or a negative one.
    ///
    /// ```
    /// use makespan_core::{Platform, Setup, SetupMachine, Time};
    ///
    /// let setup = Setup { on: None, from: "red".into(), to: "blue".into(), time: Time::from_seconds(5) };
    /// let platform = Platform::flat(2)?.with_setups(vec![setup])?;
    /// assert_eq!(platform.setup(SetupMachine::Processors, Some("red"), Some("blue")), Time::from_seconds(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_setups(self, stated: Vec<Setup>) -> Result<Self, PlatformError> {
        let mut setups = Setups::default();
        for (at, setup) in stated.iter().enumerate() {
            let wrong = |problem: String| PlatformError::Setup { at, problem };
            let machine = self.setup_machine(setup.on.as_deref()).map_err(wrong)?;
            if setup.time < Time::ZERO {
                return Err(wrong(format!("its time, {} s, is negative", setup.time)));
            }
            let mut number = |name: &Arc<str>| {
                let next = setups.families.len() as u32;
                *setups.families.entry(Arc::clone(name)).or_insert(next)
            };
            let pair = (number(&setup.from), number(&setup.to));
            if setups.times.insert((machine, pair.0, pair.1), setup.time).is_some() {
                let machine = setup.on.as_deref().unwrap_or("all processors");
                return Err(wrong(format!(
                    "the setup from `{}` to `{}` on `{machine}` is stated twice; remove one of the two",
                    setup.from, setup.to
                )));
            }
        }
        setups.stated = stated;
        let setups = (!setups.stated.is_empty()).then(|| Arc::new(setups));
        Ok(Self { setups, ..self })
    }

    /// Returns the machine with this name, or a problem.
    fn setup_machine(&self, name: Option<&str>) -> Result<SetupMachine, String> {
        let Some(name) = name else { return Ok(SetupMachine::Processors) };
        if let Some(node) = self.position_of(name) {
            return Ok(SetupMachine::Node(node));
        }
        if self.licences().amount(name) == 1
            && let Some(id) = self.resource(name)
        {
            return Ok(SetupMachine::Licence(id.0));
        }
        Err(format!("`{name}` is neither a node nor a licence with the amount 1; correct the key `on`, or remove it"))
    }

    /// Returns the stated setup times.
    pub fn setups(&self) -> &[Setup] {
        self.setups.as_ref().map_or(&[], |setups| &setups.stated)
    }

    /// Returns the setup time on a machine between two consecutive tasks of these families, or zero if none is stated.
    /// On the processors of a node, a time for the node has priority over a time for all processors.
    pub fn setup(&self, on: SetupMachine, from: Option<&str>, to: Option<&str>) -> Time {
        let (Some(setups), Some(from), Some(to)) = (&self.setups, from, to) else { return Time::ZERO };
        let (Some(&from), Some(&to)) = (setups.families.get(from), setups.families.get(to)) else { return Time::ZERO };
        let own = setups.times.get(&(on, from, to));
        let general = || match on {
            SetupMachine::Node(_) => setups.times.get(&(SetupMachine::Processors, from, to)),
            SetupMachine::Processors | SetupMachine::Licence(_) => None,
        };
        own.or_else(general).copied().unwrap_or(Time::ZERO)
    }
}
