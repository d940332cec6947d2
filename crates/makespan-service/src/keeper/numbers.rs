//! Metrics for a monitoring system.

use std::collections::BTreeMap;

use nix::unistd::{Uid, User};

use crate::words::{Metric, Picture, State};

/// Returns the name of the system user who runs the commands.
pub(super) fn user_of_this_process() -> String {
    let uid = Uid::effective();
    User::from_uid(uid).ok().flatten().map_or_else(|| format!("user {uid}"), |user| user.name)
}

/// Returns the metrics of the service.
pub(super) fn metrics(counts: &BTreeMap<State, u64>, picture: &Picture, happenings: u64, accepts: bool) -> Vec<Metric> {
    let gauge = |name, help, value: f64| Metric { name, help, is_counter: false, values: vec![(Vec::new(), value)] };
    let jobs = State::ALL.iter().map(|state| {
        let count = counts.get(state).copied().unwrap_or(0);
        (vec![("state", state.name().to_owned())], count as f64)
    });
    let gaps =
        picture.bounds.iter().filter_map(|bound| Some((vec![("objective", bound.objective.clone())], bound.ratio?)));
    vec![
        Metric { name: "makespan_jobs", help: "Jobs by state.", is_counter: false, values: jobs.collect() },
        Metric {
            name: "makespan_happenings_total",
            help: "Events of jobs.",
            is_counter: true,
            values: vec![(Vec::new(), happenings as f64)],
        },
        gauge("makespan_processors", "Number of processors.", f64::from(picture.processors)),
        gauge("makespan_planning_seconds", "Duration of the last planning.", picture.planning),
        gauge("makespan_accepts", "1 if submissions are accepted, otherwise 0.", f64::from(u8::from(accepts))),
        Metric {
            name: "makespan_plan_ratio",
            help: "Value of the plan divided by its proven bound.",
            is_counter: false,
            values: gaps.collect(),
        },
    ]
}
