//! The instants at which data arrive and closed processors open.

use makespan_core::{Dependence, Instance, ProcSet, Time, Unavailable, View};

/// Returns the instant at which the data of an edge have arrived, or are expected to arrive, on the processors `on`.
/// `from` contains the expected end and the processors of the source task, or is `None` if they are unknown.
pub(super) fn expected_arrival(
    view: &View<'_>,
    edge: &Dependence,
    on: &ProcSet,
    from: Option<(Time, &ProcSet)>,
) -> Option<Time> {
    let expected = || {
        let (end, from) = from?;
        Some(end + view.instance.platform().transfer_between(from, on, edge.payload))
    };
    view.ended.arrival(view.instance, edge, on).or_else(expected)
}

/// Returns the unavailable periods that have not ended, and the failures.
pub(super) fn closed<'a>(view: &View<'a>) -> impl Iterator<Item = Unavailable> + use<'a> {
    let (now, instance): (Time, &'a Instance) = (view.now, view.instance);
    let given = instance.unavailable().iter().filter(move |period| period.end > now);
    given.chain(view.down).cloned()
}

/// Returns the first instant from `start` on at which all the processors are open and stay open for `length`.
pub(super) fn first_open(closed: &[Unavailable], processors: &ProcSet, mut start: Time, length: Time) -> Time {
    let meets = |period: &&Unavailable, start: Time| {
        period.start < start + length && start < period.end && !period.processors.is_disjoint(processors)
    };
    while let Some(period) = closed.iter().find(|period| meets(period, start)) {
        start = period.end;
    }
    start
}
