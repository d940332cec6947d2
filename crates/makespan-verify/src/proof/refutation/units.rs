//! The units of the relaxed problem: instants of the time grid, and resources that tasks return.

use makespan_core::{Instance, ResourceId, ResourceKind, Time};

/// Conversion of ticks to units of the grid.
#[derive(Clone, Copy)]
pub(super) struct Grid(pub(super) i64);

impl Grid {
    pub(super) fn down(self, time: Time) -> i64 {
        time.ticks().div_euclid(self.0)
    }

    pub(super) fn up(self, time: Time) -> i64 {
        -(-time.ticks()).div_euclid(self.0)
    }
}

/// Returns the resources that tasks return, in the order of the platform.
pub(super) fn renewable(instance: &Instance) -> impl Iterator<Item = ResourceId> + '_ {
    resources(instance, false)
}

/// Returns the resources that tasks use up, in the order of the platform.
pub(super) fn consumable(instance: &Instance) -> impl Iterator<Item = ResourceId> + '_ {
    resources(instance, true)
}

fn resources(instance: &Instance, are_used_up: bool) -> impl Iterator<Item = ResourceId> + '_ {
    let all = instance.platform().resources().iter().zip(0..);
    let kind = all.filter(move |(resource, _)| (resource.kind == ResourceKind::Consumable) == are_used_up);
    kind.map(|(_, number)| ResourceId(number))
}
