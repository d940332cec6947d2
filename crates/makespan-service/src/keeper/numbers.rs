//! Metrics for a monitoring system.

use std::collections::BTreeMap;

use nix::unistd::{Uid, User};

use crate::words::{Metric, MetricKind, Picture, State};

/// Returns the name of the system user who runs the commands.
pub(super) fn user_of_this_process() -> String {
    let uid = Uid::effective();
    User::from_uid(uid).ok().flatten().map_or_else(|| format!("user {uid}"), |user| user.name)
}

/// Values that the metrics show.
pub(super) struct Measured<'a> {
    /// The number of jobs in each state.
    pub counts: &'a BTreeMap<State, u64>,
    pub picture: &'a Picture,
    /// The number of the latest event.
    pub happenings: u64,
    /// Whether submissions are accepted.
    pub accepts: bool,
    /// The number of processors of running tasks.
    pub in_use: u64,
    /// Size of the database and its write-ahead log, in bytes.
    pub store: u64,
    /// Free space on the disk of the store, in bytes, if known.
    pub free: Option<u64>,
}

/// Returns the metrics of the service.
pub(super) fn metrics(measured: &Measured<'_>) -> Vec<Metric> {
    let Measured { counts, picture, .. } = measured;
    let gauge = |name, help, value: f64| Metric { name, help, kind: MetricKind::Gauge, values: vec![(vec![], value)] };
    let jobs = State::ALL.iter().map(|state| {
        let count = counts.get(state).copied().unwrap_or(0);
        (vec![("state", state.name().to_owned())], count as f64)
    });
    let gaps =
        picture.bounds.iter().filter_map(|bound| Some((vec![("objective", bound.objective.clone())], bound.ratio?)));
    let version = vec![(vec![("version", env!("CARGO_PKG_VERSION").to_owned())], 1.0)];
    let mut all = vec![
        Metric {
            name: "makespan_build_info",
            help: "The version of makespan.",
            kind: MetricKind::Gauge,
            values: version,
        },
        Metric { name: "makespan_jobs", help: "Jobs by state.", kind: MetricKind::Gauge, values: jobs.collect() },
        Metric {
            name: "makespan_happenings_total",
            help: "Events of jobs.",
            kind: MetricKind::Counter,
            values: vec![(Vec::new(), measured.happenings as f64)],
        },
        gauge("makespan_processors", "Number of processors.", f64::from(picture.processors)),
        gauge("makespan_processors_in_use", "Processors of running tasks.", measured.in_use as f64),
        gauge("makespan_planning_seconds", "Duration of the last planning.", picture.planning),
        gauge("makespan_accepts", "1 if submissions are accepted, otherwise 0.", f64::from(u8::from(measured.accepts))),
        gauge("makespan_store_bytes", "Size of the database of the store.", measured.store as f64),
        Metric {
            name: "makespan_plan_ratio",
            help: "Value of the plan divided by its proven bound.",
            kind: MetricKind::Gauge,
            values: gaps.collect(),
        },
    ];
    let free = measured.free.map(|free| free as f64);
    all.extend(free.map(|free| gauge("makespan_store_free_bytes", "Free space on the disk of the store.", free)));
    all
}
