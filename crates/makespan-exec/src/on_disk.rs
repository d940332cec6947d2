//! Checks that the format of runs on disk does not change, so that runs of earlier versions can be resumed.

use makespan_core::{
    Edge, Graph, Instance, Job, JobId, NamedTask, Payload, Platform, ProcSet, Profile, TaskId, Time, Weight,
    fingerprint,
};

use crate::files::Files;
use crate::journal::JournalRecord;
use crate::status::AttemptClaim;

fn rigid(processors: u32, seconds: i64) -> Profile {
    Profile::rigid(processors, Time::from_seconds(seconds)).unwrap()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// Creates a compound job of three tasks. One task has the name `odd`.
fn compound(name: &str, odd: &str) -> Job {
    let named = |name: &str, seconds| {
        let mut named = NamedTask::new(name, rigid(1, seconds));
        named.task.command = words(&["t", "{task}", name]);
        named
    };
    let edge = |(from, to)| Edge { from, to, payload: Payload::Bytes(7) };
    let edges = [(1, 0), (2, 0), (2, 1)].map(edge).to_vec();
    Job::compound(name, Graph::new(vec![named("a", 1), named(odd, 2), named("7", 3)], edges).unwrap())
}

/// Creates simple jobs, best-effort and competing bags, and compound jobs. Some names are safe as file names, others are not.
fn instance() -> Instance {
    let seconds = Time::from_seconds;
    let plain = Job::new("plain", rigid(2, 9)).with_walltime(seconds(20)).with_release(seconds(3));
    let table = Profile::table(vec![seconds(8), seconds(5)]).unwrap();
    let bag = Job::new("bag", table).with_count(3.try_into().unwrap()).with_walltime(seconds(30));
    let rest = Job::new("re st", rigid(1, 2)).with_count(2.try_into().unwrap()).with_weight(Weight::ZERO);
    let flow = compound("flow", "b").with_deadline(seconds(100));
    let jobs = vec![
        plain.with_command(words(&["sh", "-c", "true"])),
        bag.with_command(words(&["run", "{task}"])),
        rest.with_command(words(&["rest", "{task}", "{processors}"])),
        flow.with_weight(Weight::from_millionths(2_000_000).unwrap()),
        compound("od/d", "b b"),
        compound("half", "b b"),
        Job::new("la st", rigid(1, 1)).with_command(words(&["x"])),
    ];
    Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap()
}

#[test]
fn fingerprints_are_those_of_earlier_versions() {
    let instance = instance();
    let all = "bb447a1334bb3fca9daef4dfa6973b1acac5ac314bbae595f90eec366e85bca2";
    assert_eq!(fingerprint(&instance), all);
    let simple = instance.with_jobs([0, 6].map(|job| instance.submitted(JobId(job))).to_vec());
    assert_eq!(fingerprint(&simple), "64ff13193f511fa883093b90c73083df1228734d0207313a41a0304fc032ebad");
}

#[test]
fn files_are_called_as_in_earlier_versions() {
    let instance = instance();
    let files = Files::at("/run".into(), &instance);
    let names: Vec<String> = instance.task_ids().map(|task| files.status_name(task, 1)).collect();
    let due = "plain bag~0 bag~1 bag~2 _re_st_0~4 _re_st_1~5 flow~a flow~b flow~7 _od_d_a~9 _od_d_b_b~10 _od_d_7~11 \
               half~a _half_b_b~13 half~7 _la_st~15";
    assert_eq!(names, due.split(' ').map(|name| format!("{name}.1")).collect::<Vec<_>>());
}

#[test]
fn records_are_written_as_in_earlier_versions() {
    let (task, at) = (TaskId(3), Time::from_ticks(5));
    let same = |record: &JournalRecord, line: &str| {
        assert_eq!(serde_json::to_string(record).unwrap(), line);
        assert_eq!(&serde_json::from_str::<JournalRecord>(line).unwrap(), record);
    };
    same(&JournalRecord::Cancelled { task, at }, r#"{"cancelled":{"job":3,"at":5}}"#);
    let entry =
        makespan_core::LogEntry { time: at, task, what: makespan_core::LoggedDecision::PlannedAgain { finish: at } };
    same(
        &JournalRecord::Told { entry },
        r#"{"told":{"entry":{"time":5,"job":3,"what":{"planned_again":{"finish":5}}}}}"#,
    );
    let claim = AttemptClaim { run: 1, instance: "f".into(), task, attempt: 2, at, processors: ProcSet::first(2) };
    let line = r#"{"run":1,"instance":"f","job":3,"attempt":2,"at":5,"processors":"0-1"}"#;
    assert_eq!(serde_json::to_string(&claim).unwrap(), line);
    assert_eq!(serde_json::from_str::<AttemptClaim>(line).unwrap(), claim);
}

/// Checks that docs/formats.md states the version of the journal and every field of each record.
#[test]
fn the_documentation_describes_every_record() {
    use crate::journal::{Cause, EqualTimes, RecordedTimes, TaskList, VERSION};
    let text = include_str!("../../../docs/formats.md");
    let versions = format!("`journal.jsonl` has version {VERSION}.");
    let (_, text) = text.split_once(&versions).expect("the paragraph of the journal");
    let instance = instance();
    let (task, at, processors) = (TaskId(3), Time::from_ticks(5), ProcSet::first(2));
    let accounting = Some(makespan_core::Accounting { cpu: at, peak_memory: 1, ..Default::default() });
    let list = TaskList::of(&instance);
    let estimated = EqualTimes { jobs: vec![(task, task)], times: RecordedTimes::Longest(at), learned: Some((1, 0.5)) };
    let entry =
        makespan_core::LogEntry { time: at, task, what: makespan_core::LoggedDecision::PlannedAgain { finish: at } };
    let outcome = makespan_core::Outcome::Succeeded;
    let records = [
        JournalRecord::Header { version: VERSION, fingerprint: "f".into(), origin: 1, grows: true },
        JournalRecord::Session { at, boot: "b".into(), group: Some("g".into()) },
        JournalRecord::Tasks { list: list.clone() },
        JournalRecord::Grown { list },
        JournalRecord::Started {
            task,
            attempt: 1,
            at,
            processors: processors.clone(),
            pid: 1,
            pid_start: 1,
            gpus: Some(vec![0]),
        },
        JournalRecord::Begun { task, at, processors: processors.clone() },
        JournalRecord::Ending { task, cause: Cause::Cancel },
        JournalRecord::Ended { task, start: at, at, processors, outcome, accounting },
        JournalRecord::Interrupted { task, at },
        JournalRecord::Cancelled { task, at },
        JournalRecord::Told { entry },
        JournalRecord::Estimated { at, times: vec![estimated] },
        JournalRecord::Stopped { at },
        JournalRecord::Finished { at },
    ];
    for record in records {
        let value = serde_json::to_value(&record).unwrap();
        let (name, fields) = value.as_object().unwrap().iter().next().unwrap();
        let row = text
            .lines()
            .find(|line| line.starts_with("| `") && line.split('|').nth(1).unwrap().contains(&format!("`{name}`")));
        let row = row.unwrap_or_else(|| panic!("the record `{name}` has no row"));
        for field in fields.as_object().unwrap().keys() {
            assert!(row.contains(&format!("`{field}`")), "`{field}` of `{name}` is not in {row}");
        }
    }
}
