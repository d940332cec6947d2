//! Measures of flows of compound jobs, and the logs of their policies.

use makespan::Simulated;
use makespan_core::{FlowMeasures, Instance, JobMeasures, Time};
use makespan_formats::LogRow;
use serde_json::{Value, json};

use super::row::MeasureRow;
use crate::output::wrapped;
use crate::summary::figure;

/// Maximum number of entries of each log that are printed.
const PRINTED: usize = 10;

/// A function that formats a measure as text.
type Shown = fn(&FlowMeasures) -> String;

/// Returns the rows for compound jobs, or none if the instance has no compound jobs.
pub fn rows(simulated: &[Simulated]) -> Vec<MeasureRow> {
    let flow_of = |one: &Simulated| one.compound.as_ref().map(|compound| compound.flow.clone());
    let Some(flows) = simulated.iter().map(flow_of).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let mut rows = Vec::new();
    let mut add = |wanted: bool, label: &str, of: &dyn Fn(&FlowMeasures) -> String| {
        if wanted {
            rows.push((label.to_owned(), flows.iter().map(of).collect()));
        }
    };
    let any = |of: &dyn Fn(&FlowMeasures) -> bool| flows.iter().any(of);
    let percent = |part: f64| format!("{:.2} %", 100.0 * part);
    add(any(&|flow| flow.with_deadline > 0), "jobs in time", &|flow| match flow.with_deadline {
        0 => "-".into(),
        all => format!("{} of {all}", flow.in_time),
    });
    // Some policies count the time to a deadline from an instant other than the release of the job. By the clock of
    // such a policy, a different number of jobs may be in time.
    let differs = any(&|flow| flow.as_told > 0 && flow.as_told != flow.in_time);
    add(differs, "jobs in time by the policy's clock", &|flow| flow.as_told.to_string());
    add(true, "cost of the flow", &|flow| figure(flow.cost as f64 / 1e3));
    add(true, "span of the flow", &|flow| figure(flow.span().seconds()));
    add(true, "load of processors, mean", &|flow| percent(flow.load.mean));
    add(true, "load, min", &|flow| percent(flow.load.least));
    add(true, "load, max", &|flow| percent(flow.load.most));
    add(true, "load, standard deviation", &|flow| percent(flow.load.deviation));
    add(true, "load balance, mean / largest", &|flow| format!("{:.3}", flow.load.balance));
    let collisions = any(&|flow| flow.collisions > 0);
    let told: [(bool, &str, Shown); 4] = [
        (collisions, "collisions", |flow| flow.collisions.to_string()),
        (collisions, "penalty of collisions", |flow| flow.penalty.to_string()),
        (any(&|flow| flow.fallbacks > 0), "jobs planned by a list", |flow| flow.fallbacks.to_string()),
        (any(&|flow| flow.changes > 0), "plans changed", |flow| flow.changes.to_string()),
    ];
    // Without a log of the policy, these counts are unknown.
    let known = |one: &Simulated, flow, of: Shown| if one.log.is_empty() { "-".into() } else { of(flow) };
    for (_, label, of) in told.into_iter().filter(|(wanted, ..)| *wanted) {
        let cells = simulated.iter().zip(&flows).map(|(one, flow)| known(one, flow, of));
        rows.push((label.to_owned(), cells.collect()));
    }
    rows
}

/// Returns the first entries of each log, or an empty text if no policy wrote a log.
pub fn text(instance: &Instance, simulated: &[Simulated]) -> String {
    let told = simulated.iter().filter(|one| !one.log.is_empty());
    told.map(|one| {
        let entries = if one.log.len() == 1 { "entry" } else { "entries" };
        let mut text = format!("\nlog of {}: {} {entries}\n", one.policy, one.log.len());
        for entry in one.log.iter().take(PRINTED) {
            let line = format!("`{}` {}", entry.name(instance), entry.sentence());
            text += &wrapped(&format!("  {} s: ", figure(entry.time.seconds())), 4, &line);
        }
        if one.log.len() > PRINTED {
            text += &format!("  and {} more; --log FILE.csv lists all\n", one.log.len() - PRINTED);
        }
        text
    })
    .collect()
}

/// Adds `log` to the JSON object of a policy if there is a log. If jobs are compound, also adds `jobs_in_time`, `flow`
/// and `compound_jobs`.
pub fn add_json(object: &mut Value, instance: &Instance, one: &Simulated) {
    if let Some(compound) = &one.compound {
        object["jobs_in_time"] = compound.flow.in_time.into();
        object["flow"] = flow_json(&compound.flow);
        let jobs = instance.jobs().iter().zip(&compound.jobs);
        object["compound_jobs"] = jobs.map(|(job, measures)| job_json(&job.name, measures)).collect();
    }
    if one.compound.is_some() || !one.log.is_empty() {
        object["log"] = LogRow::all(instance, &one.log).iter().map(LogRow::json).collect();
    }
}

fn flow_json(flow: &FlowMeasures) -> Value {
    let load = flow.load;
    json!({
        "jobs_with_deadline": flow.with_deadline,
        "jobs_in_time_as_told": flow.as_told,
        "failed": flow.failed,
        "given_up": flow.given_up,
        "cost": flow.cost as f64 / 1e3,
        "from": flow.from.seconds(),
        "to": flow.to.seconds(),
        "load": {
            "mean": load.mean,
            "least": load.least,
            "most": load.most,
            "deviation": load.deviation,
            "balance": load.balance,
        },
        "collisions": flow.collisions,
        "penalty": flow.penalty as f64,
        "fallbacks": flow.fallbacks,
        "changes": flow.changes,
    })
}

fn job_json(name: &str, job: &JobMeasures) -> Value {
    let seconds = |time: Option<Time>| time.map(Time::seconds);
    json!({
        "job": name,
        "outcome": job.ending.name(),
        "released": job.release.seconds(),
        "start": seconds(job.start),
        "end": seconds(job.end),
        "deadline": seconds(job.deadline()),
        "in_time": job.is_in_time(),
        "cost": job.cost as f64 / 1e3,
        "busy": job.busy as f64 / Time::TICKS_PER_SECOND as f64,
    })
}

#[cfg(test)]
mod tests {
    use makespan::{Silent, SimulationInput, SimulationOptions, simulate};
    use makespan_core::{Actual, CompoundMeasures, Edge, Graph, Job, LogEntry, LoggedDecision, Payload};
    use makespan_core::{NamedTask, Platform, Profile, StartPlace, TaskId};

    use super::*;

    /// Returns a job of two tasks of 3 s with a deadline at 7 s, simulated with the plan of `heft`, and a log with this
    /// number of collisions.
    fn told(collisions: usize) -> (Instance, Simulated) {
        let task = |name| NamedTask::new(name, Profile::rigid(1, Time::from_seconds(3)).unwrap());
        let edge = Edge { from: 0, to: 1, payload: Payload::Fixed(Time::ZERO) };
        let mut job = Job::compound("pair", Graph::new(vec![task("a"), task("b")], vec![edge]).unwrap());
        job.deadline = Some(Time::from_seconds(7));
        let instance = Instance::new(Platform::flat(2).unwrap(), vec![job], vec![]).unwrap();
        let options = SimulationOptions::default();
        let scene = SimulationInput { instance: &instance, actual: &Actual::AsEstimated, options: &options, seed: 1 };
        let mut simulated = simulate(&scene, "follow", &mut Silent).unwrap();
        let spot = |processor, start| StartPlace { processor, start: Time::from_seconds(start) };
        let what = LoggedDecision::Collision { planned: spot(0, 1), resolved: spot(1, 2), penalty: 3 };
        simulated.log = vec![LogEntry { time: Time::ZERO, task: TaskId(1), what }; collisions];
        simulated.compound = CompoundMeasures::of(&instance, &simulated.simulation.trace, &simulated.log);
        (instance, simulated)
    }

    #[test]
    fn logs_are_printed_in_short_and_given_in_full() {
        let (instance, simulated) = told(1_000);
        let printed = text(&instance, std::slice::from_ref(&simulated));
        assert!(
            printed.starts_with("\nlog of follow: 1000 entries\n  0.000 s: `pair/b` collided on processor 0 at 1 s")
        );
        assert!(
            printed.ends_with("  and 990 more; --log FILE.csv lists all\n") && printed.lines().count() < 25,
            "{printed}"
        );
        let mut object = json!({});
        add_json(&mut object, &instance, &simulated);
        assert_eq!((object["jobs_in_time"].as_u64(), object["log"].as_array().map(Vec::len)), (Some(1), Some(1_000)));
        let collision = json!({"time": 0.0, "job": "pair/b", "kind": "collision", "from_processor": 0, "from_start": 1.0,
            "to_processor": 1, "to_start": 2.0, "penalty": 3, "text": object["log"][0]["text"]});
        assert_eq!(object["log"][999], collision);
        assert_eq!(object["flow"]["load"]["balance"], json!(0.5), "one of two processors does all");
        let whole = json!({"job": "pair", "outcome": "succeeded", "released": 0.0, "start": 0.0, "end": 6.0, "deadline": 7.0,
            "in_time": true, "cost": 2.0, "busy": 6.0});
        assert_eq!(object["compound_jobs"], json!([whole]));
        assert_eq!(text(&instance, &[told(0).1]), "");
    }

    #[test]
    fn what_a_policy_does_not_tell_is_not_known() {
        let rows = rows(&[told(3).1, told(0).1]);
        let row = |label: &str| rows.iter().find(|row| row.0 == label).map(|row| row.1.join(" "));
        assert_eq!(row("collisions").as_deref(), Some("3 -"));
        assert_eq!(row("penalty of collisions").as_deref(), Some("9 -"));
        assert_eq!((row("jobs in time").as_deref(), row("plans changed")), (Some("1 of 1 1 of 1"), None));
    }

    #[test]
    fn tables_and_marks_have_what_was_told() {
        use crate::decisions::{decisions, jobs, marks};

        let (instance, simulated) = told(1_000);
        let table = decisions("Decisions", &LogRow::all(&instance, &simulated.log), "a file").unwrap();
        assert!(
            table.rows.len() == 500
                && table.text.ends_with("The first 500 of 1000 entries are shown; a file lists all.")
        );
        let cells =
            ["0.000", "pair/b", "collision", "processor 0 at 1.000 s \u{2192} processor 1 at 2.000 s, penalty 3"];
        assert_eq!(table.rows[0], cells);
        assert_eq!(decisions("Decisions", &[], "a file"), None);
        let measures = simulated.compound.as_ref().unwrap();
        let table = jobs("Jobs", &instance, measures, "a file").unwrap();
        assert_eq!(table.rows, [["pair", "succeeded", "0.000", "0.000", "6.000", "7.000", "yes", "2.000"]]);
        let marks = marks(&instance, &LogRow::all(&instance, &simulated.log[..2]), Some(measures));
        assert_eq!(marks.tasks.values().next().map(|text| text.lines().count()), Some(1));
        assert_eq!((marks.deadlines.len(), marks.deadlines[0].missed), (1, false));
    }
}
