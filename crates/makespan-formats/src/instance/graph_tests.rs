use makespan_core::{Instance, JobId, Payload, Placement, ProcSet, Schedule, TaskId, Time};

use super::{Language, read_json, read_toml, write_instance};
use crate::ScheduleFile;
use crate::submitted::submitted;

const PLATFORM: &str =
    r#""version": 1, "platform": {"nodes": 3, "processors_per_node": 1, "bandwidth": "1MB/s", "latency": "1ms"}"#;

fn json(job: &str) -> Result<Instance, String> {
    read_json("a.json", format!("{{{PLATFORM},\n \"jobs\": [{job}]}}").as_bytes(), None)
        .map_err(|error| error.to_string())
}

const DIAMOND: &str = r#"{"name": "j", "released": 2, "walltime": "1h", "tasks": [{"name": "a", "work": 4},
 {"name": "b", "time": 2.5, "command": ["./b"], "gang": "g"}, {"name": "c", "work": 1, "gang": "g"}, {"name": "d", "time": [6, 4]}],
 "edges": [{"from": "a", "to": "b", "data": 1e6}, {"from": "a", "to": "c", "transfer": "3s"},
 {"from": "b", "to": "d", "data": 0}, {"from": "c", "to": "d"}],
 "lags": [{"from": "a", "to": "d", "min": 12.5, "max": "1h"}, {"from": "c", "to": "b", "max": 0}]}, {"name": "k", "work": 3}"#;

#[test]
fn a_graph_survives_both_languages() {
    let instance = json(DIAMOND).unwrap();
    let job = &instance.jobs()[0];
    // In version 1, the `walltime` of a job with tasks is the time from the release date to the deadline.
    assert_eq!(
        (job.release, job.deadline, job.walltime),
        (Time::from_seconds(2), Some(Time::from_seconds(3602)), None)
    );
    let payloads: Vec<Payload> = instance.edges_of(JobId(0)).iter().map(|edge| edge.payload).collect();
    let fixed = Payload::Fixed(Time::from_seconds(3));
    assert_eq!(payloads, [Payload::Bytes(1_000_000), fixed, Payload::Bytes(0), Payload::Bytes(0)]);
    assert_eq!(instance.task(TaskId(1)).command, ["./b"]);
    assert_eq!((instance.gang_mates(TaskId(1)), instance.gang_mates(TaskId(3))), (vec![TaskId(2)], vec![]));
    let lags = |task| instance.lags_to(TaskId(task)).collect::<Vec<_>>();
    let seconds = |seconds: i64| Time::from_seconds(seconds);
    assert_eq!([lags(0), lags(1)], [vec![(TaskId(3), seconds(-3600))], vec![]]);
    assert_eq!([lags(2), lags(3)], [vec![(TaskId(1), Time::ZERO)], vec![(TaskId(0), Time::parse("12.5").unwrap())]]);
    assert_eq!(instance.platform().transfer(0, 2, 1_000_000), Time::parse("1.001").unwrap());
    assert_eq!((instance.tasks(), instance.name(TaskId(3))), (5, "j/d".into()));
    for language in [Language::Json, Language::Toml] {
        let mut bytes = Vec::new();
        write_instance(&instance, language, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let again = match language {
            Language::Json => read_json("b", text.as_bytes(), None),
            Language::Toml => read_toml("b", &text, None),
        };
        let again = again.unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!((submitted(&again), again.platform()), (submitted(&instance), instance.platform()), "{text}");
    }
}

#[test]
fn a_walltime_is_of_each_task_from_version_2_on() {
    let both = r#"{"name": "j", "released": 2, "deadline": 60, "walltime": 5, "tasks": [{"name": "a", "work": 4}]}"#;
    refused(both, "`deadline` and `walltime` are both stated");
    let text = format!("{{{},\n \"jobs\": [{both}]}}", PLATFORM.replace("1,", "2,"));
    let instance = read_json("a.json", text.as_bytes(), None).unwrap();
    let job = &instance.jobs()[0];
    assert_eq!((job.deadline, job.walltime), (Some(Time::from_seconds(60)), Some(Time::from_seconds(5))));
    let short = read_json("a.json", text.replace("\"walltime\": 5", "\"walltime\": 3").as_bytes(), None).unwrap_err();
    assert!(short.to_string().contains("job `j/a` takes at least 4 s, but its time limit is 3 s"), "{short}");
}

fn refused(job: &str, expect: &str) {
    let error = json(job).unwrap_err();
    assert!(error.contains(expect), "{error}");
    assert!(error.contains("job `j`"), "{error}");
}

#[test]
fn what_is_no_graph_is_refused() {
    let with = |edges: &str| {
        format!(
            r#"{{"name": "j", "tasks": [{{"name": "first", "work": 1}}, {{"name": "b", "work": 1}}], "edges": [{edges}]}}"#
        )
    };
    refused(&with(r#"{"from": "frst", "to": "b"}"#), "edges[0].from: there is no task `frst`; did you mean `first`?");
    refused(&with(r#"{"from": "first", "to": "x"}"#), "edges[0].to: there is no task `x`");
    refused(&with(r#"{"from": "first", "to": "b", "data": 1, "transfer": 1}"#), "both `data` and `transfer`");
    let cycle = with(r#"{"from": "first", "to": "b"}, {"from": "b", "to": "first"}"#);
    refused(&cycle, "in a cycle: first -> b -> first");
    refused(&with(r#"{"from": "first", "to": "b"}, {"from": "first", "to": "b"}"#), "two edges lead from `first`");
    refused(r#"{"name": "j", "tasks": []}"#, "there are no tasks");
    let gang = with(r#"{"from": "first", "to": "b"}"#).replace("\"work\": 1", "\"work\": 1, \"gang\": \"g\"");
    refused(&gang, "tasks of the gang `g` wait for each other");
    refused(r#"{"name": "j", "work": 1, "edges": []}"#, "`edges`, but no `tasks`");
    let lag = |lag: &str| {
        format!(
            r#"{{"name": "j", "tasks": [{{"name": "a", "work": 1}}, {{"name": "b", "work": 1}}], "lags": [{lag}]}}"#
        )
    };
    refused(&lag(r#"{"from": "a", "to": "c", "min": 1}"#), "lags[0].to: there is no task `c`");
    refused(&lag(r#"{"from": "a", "to": "a", "min": 1}"#), "lags[0] is from task `a` to itself");
    refused(&lag(r#"{"from": "a", "to": "b"}"#), "lags[0] has no limit; add `min` or `max`");
    refused(&lag(r#"{"from": "a", "to": "b", "min": 3, "max": 2}"#), "lags[0]: `min` is 3 s, but `max` is only 2 s");
    refused(&lag(r#"{"from": "a", "to": "b", "min": 3}, {"from": "a", "to": "b", "max": 2}"#), "the tasks a -> b -> a");
    refused(r#"{"name": "j", "work": 1, "tasks": [{"name": "a", "work": 1}]}"#, "both `tasks` and `work`");
    let twice = json(r#"{"name": "j", "tasks": [{"name": "a", "work": 1}, {"name": "a", "work": 1}]}"#).unwrap_err();
    assert!(twice.contains("jobs[0].tasks: two tasks are named `a`; names must be unique"), "{twice}");
    let error = json(r#"{"name": "j", "tasks": [{"name": "a", "time": 1, "processors": 9}]}"#).unwrap_err();
    assert!(error.contains("job `j/a` needs at least 9 processors, but the platform has 3"), "{error}");
    let error = json(r#"{"name": "j", "tasks": [{"name": "a", "work": 0}]}"#).unwrap_err();
    assert!(error.contains("jobs[0].tasks[0]: task `a`") && error.contains("must be positive"), "{error}");
    let error = json(&with(r#"{"from": "first", "to": "b", "data": 0.5}"#)).unwrap_err();
    assert!(error.contains("jobs[0].edges[0].data: `0.5` is not a number of bytes"), "{error}");
}

#[test]
fn a_schedule_names_the_tasks_of_a_graph() {
    let instance = json(DIAMOND).unwrap();
    let place = |task: u64| Placement {
        task: TaskId(task),
        start: Time::from_ticks(task as i64 % 4),
        end: Time::from_seconds(9),
        processors: ProcSet::first(1),
    };
    let schedule = Schedule::new([0, 1, 3, 4].map(place).to_vec());
    let file = ScheduleFile::new(&instance, "heft", schedule.clone());
    let mut bytes = Vec::new();
    file.write(&instance, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(r#"{"job": "j", "task": "d", "start""#), "{text}");
    let read = |text: &str| ScheduleFile::read("s", text.as_bytes(), &instance).map_err(|error| error.to_string());
    assert_eq!(read(&text).unwrap().schedule, schedule);
    let check = |from: &str, to: &str, expect: &str| {
        let error = read(&text.replace(from, to)).unwrap_err();
        assert!(error.contains(expect), "{error}");
    };
    check("\"task\": \"d\"", "\"task\": \"dd\"", "job `j` has no task `dd`");
    check("\"task\": \"d\", ", "", "job `j` is a graph of tasks; state the name of the task in `task`");
    check("\"k\"", "\"k\", \"task\": 0", "is not a bag");
}

#[test]
fn milestones_are_removed_and_their_arcs_joined() {
    let jobs = r#"{"name": "a", "time": 3}, {"name": "b", "time": 4}, {"name": "gate", "time": 0, "after": ["a", "b"]},
     {"name": "later", "time": "0s", "after": ["gate"]}, {"name": "c", "time": 5, "after": ["later", "a"]},
     {"name": "g", "tasks": [{"name": "source", "time": 0}, {"name": "x", "time": 2}, {"name": "mid", "time": [0, 0]},
      {"name": "y", "time": 3}, {"name": "sink", "time": 0}], "edges": [{"from": "source", "to": "x"},
      {"from": "x", "to": "mid"}, {"from": "mid", "to": "y"}, {"from": "x", "to": "y", "data": 7}, {"from": "y", "to": "sink"}]},
     {"name": "empty", "tasks": [{"name": "z", "time": 0}], "after": ["c"]}"#;
    let instance = json(jobs).unwrap();
    let names: Vec<String> = instance.task_ids().map(|task| instance.name(task).into_owned()).collect();
    assert_eq!(names, ["a", "b", "c", "g/x", "g/y"]);
    let edges: Vec<_> = instance.edges().iter().map(|edge| (edge.from.0, edge.to.0, edge.payload)).collect();
    assert!(edges.contains(&(3, 4, Payload::Bytes(7))), "the stated edge is kept: {edges:?}");
    let waits = &instance.jobs()[2].after;
    assert_eq!(waits.iter().map(|name| &**name).collect::<Vec<_>>(), ["a", "b"]);
    let refused = |job: &str, part: &str| {
        let error = json(job).unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    refused(r#"{"name": "a", "time": 0, "deadline": 3}"#, "removed as a milestone, but it states `deadline`");
    refused(r#"{"name": "a", "time": 0, "command": "x"}"#, "it states `command`; remove `command`");
    refused(r#"{"name": "a", "time": 0}"#, "no job takes any time");
    refused(r#"{"name": "a", "time": 0, "after": ["b"]}, {"name": "b", "time": 1, "after": ["a"]}"#, "cycle");
    refused(r#"{"name": "a", "time": 0, "after": ["b"]}, {"name": "c", "time": 1}"#, "`b`");
    let tasks = r#"{"name": "j", "tasks": [{"name": "a", "time": 0}, {"name": "b", "time": 1}],
        "edges": [{"from": "a", "to": "b", "data": 1}]}"#;
    refused(tasks, "edges[0]: a task without duration is removed as a milestone, but this edge transfers data");
}

#[test]
fn setups_and_hard_deadlines_survive_both_languages() {
    let text = r#"{"version": 2, "platform": {"processors": 2, "licences": {"press": 1}, "setups": [
        {"from": "red", "to": "blue", "time": 1.5}, {"from": "blue", "to": "red", "time": "2s", "on": "press"}]},
      "jobs": [{"name": "a", "time": 3, "family": "red", "must_end_by": 9, "needs": {"press": 1}},
        {"name": "j", "tasks": [{"name": "b", "time": 2, "family": "blue"}]}]}"#;
    let instance = read_json("a.json", text.as_bytes(), None).unwrap();
    assert!(instance.has_setups() && instance.has_hard_deadlines());
    for language in [Language::Json, Language::Toml] {
        let mut written = Vec::new();
        write_instance(&instance, language, &mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        let again = match language {
            Language::Json => read_json("b.json", written.as_bytes(), None),
            Language::Toml => read_toml("b.toml", &written, None),
        };
        let again = again.unwrap();
        assert_eq!(again.platform(), instance.platform(), "{written}");
        assert_eq!(again.all_submitted(), instance.all_submitted(), "{written}");
        assert_eq!(makespan_core::instance_hash(&again), makespan_core::instance_hash(&instance));
    }
    let refused = |from: &str, to: &str, part: &str| {
        let error = read_json("a.json", text.replace(from, to).as_bytes(), None).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused("\"press\": 1}, \"setups", "\"press\": 2}, \"setups", "setups[1]: `press` is neither a node nor a licence");
    refused(
        "\"blue\", \"to\": \"red\", \"time\": \"2s\", \"on\": \"press\"",
        "\"red\", \"to\": \"blue\", \"time\": 2",
        "twice",
    );
    refused("\"must_end_by\": 9", "\"must_end_by\": 9, \"released\": 9", "must end by 9 s, but is released at 9 s");
}
