//! The queue as JSON.

use makespan_slurm::JobState;
use makespan_slurm::forecast::{ExpectedJob, PredictionSource};
use serde_json::{Value, json};

use super::detail::Sizes;
use super::{ForecastQueue, SelectedJobs};

pub fn document(seen: &ForecastQueue<'_>, chosen: &SelectedJobs<'_>, sizes: Option<Sizes<'_>>) -> Value {
    let remarks: Vec<&String> = seen.queue.remarks.iter().chain(&seen.forecast.remarks).collect();
    json!({
        "now": instant(seen, seen.queue.now),
        "version": seen.queue.config.version(),
        "nodes": seen.queue.nodes.len(),
        "nodes_away": seen.queue.nodes.iter().filter(|node| !node.state.takes_jobs()).count(),
        "ranges": seen.ranges,
        "more": chosen.more(),
        "more_running": chosen.more_running(),
        "waiting": chosen.shown().iter().map(|one| job(seen, one, sizes)).collect::<Vec<_>>(),
        "running": chosen.shown_running().iter().map(|&(job, end)| running(seen, job, end)).collect::<Vec<_>>(),
        "remarks": remarks,
    })
}

fn instant(seen: &ForecastQueue<'_>, seconds: i64) -> Value {
    json!({ "unix": seconds, "text": seen.clock.iso(seconds) })
}

fn job(seen: &ForecastQueue<'_>, one: &ExpectedJob, sizes: Option<Sizes<'_>>) -> Value {
    let of = &seen.queue.jobs[one.job];
    let at = |seconds: Option<i64>| seconds.map(|seconds| instant(seen, seconds));
    let mut value = json!({
        "job": of.shown,
        "id": of.id,
        "name": of.name,
        "user": of.user,
        "account": of.account,
        "qos": of.qos,
        "partitions": of.partitions,
        "priority": of.priority,
        "min_nodes": of.request.min_nodes,
        "max_nodes": of.request.max_nodes,
        "processors": of.request.cpus,
        "limit_seconds": of.limit,
        "least_seconds": of.request.min_time,
        "deadline": at(of.deadline),
        "submitted": at(of.submitted),
        "slurm_start": at(of.slurm_start),
        "slurm_reason": of.reason,
        "run_seconds": one.lasts,
        "run_time_from": run_time_from(one.known),
        "nodes": one.nodes.iter().map(|&(node, _)| &seen.queue.nodes[node].name).collect::<Vec<_>>(),
        "after": one.after.iter().map(|&job| &seen.queue.jobs[job].shown).collect::<Vec<_>>(),
    });
    let outlook = one.outlook.map(|&seconds| instant(seen, seconds));
    if let (Some(all), Ok(Value::Object(own))) = (value.as_object_mut(), serde_json::to_value(outlook)) {
        all.extend(own);
    }
    if let Some(sizes) = sizes {
        let sizes = sizes(one).into_iter().map(|size| json!({ "nodes": size.nodes, "start": at(size.start) }));
        value["sizes"] = sizes.collect::<Vec<_>>().into();
    }
    value
}

fn running(seen: &ForecastQueue<'_>, job: usize, end: i64) -> Value {
    let of = &seen.queue.jobs[job];
    let run = of.run.as_ref();
    let latest = run.and_then(|run| run.ends_by).map(|at| instant(seen, at));
    json!({
        "job": of.shown,
        "id": of.id,
        "name": of.name,
        "user": of.user,
        "partitions": of.partitions,
        "is_suspended": of.state == JobState::Suspended,
        "nodes": run.map_or(0, |run| run.holds.len()),
        "started": run.map(|run| instant(seen, run.started)),
        "end": instant(seen, end),
        "end_latest": latest,
    })
}

/// Returns the source of a run-time prediction, and the number of ended jobs that it is based on.
pub fn run_time_from(known: PredictionSource) -> Value {
    let (what, jobs) = match known {
        PredictionSource::Name(runs) => ("name", runs),
        PredictionSource::User(runs) => ("user", runs),
        PredictionSource::Anybody(runs) => ("all", runs),
        PredictionSource::Usual => ("usual", 0),
        PredictionSource::Limit => ("limit", 0),
    };
    json!({ "what": what, "jobs": jobs })
}
