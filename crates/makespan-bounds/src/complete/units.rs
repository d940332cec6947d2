//! The times and the amounts of an instance as the 64-bit numbers of the relaxed problem.

use makespan_core::{Instance, ResourceId, ResourceKind, Time};

use super::unproved::Unproved;

/// Returns a time in units of the grid, rounded down.
pub(super) fn down(time: Time, grid: i64) -> i64 {
    time.ticks().div_euclid(grid)
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

/// Converts the amount of a resource to 64 bits. Returns an error if the amount is too large.
pub(super) fn amount(amount: impl TryInto<i64>) -> Result<i64, Unproved> {
    amount.try_into().map_err(|_| Unproved::feature("amounts of resources of 2^63 or more"))
}
