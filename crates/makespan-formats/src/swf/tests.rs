use makespan_core::{Placement, ProcSet, Schedule, TaskId, Time};

use super::*;
use crate::anomaly::{Anomaly, AnomalyRecords, Unit};
use crate::submitted::submitted;

fn read(text: &str, options: &SwfLogOptions) -> Result<Log, String> {
    read_swf("a.swf", &mut text.as_bytes(), options).map_err(|error| error.to_string())
}

/// Returns a record of 18 fields that begins with these fields.
fn record(fields: &str) -> String {
    let missing = 18 - fields.split_whitespace().count();
    format!("{fields}{}\n", " -1".repeat(missing))
}

const HEADER: &str = "; Version: 2.2\n; MaxJobs: 10000000\n; MaxNodes: 4\n; MaxProcs: 8\n";

fn log() -> String {
    let records = [
        "1 0 -1 100 4 -1 -1 4 120",
        "2 5.5 -1 50 -1 -1 -1 2 10",
        "3 6 -1 -1 4 -1 -1 -1 -1 -1 5",
        "4 6 -1 10 -1 -1 -1 0",
        "2 7 -1 10 1",
        "5 8 -1 10 9",
        "6 8 -1 0 -1 -1 -1 1 -1 -1 5",
        "7 9 -1 10 8",
    ];
    HEADER.to_owned() + &records.map(record).concat()
}

#[test]
fn records_become_rigid_jobs_and_the_others_are_counted() {
    let Log { instance, report, .. } = read(&log(), &SwfLogOptions::default()).unwrap();
    assert_eq!(instance.processors(), 8);
    let names: Vec<&str> = instance.jobs().iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["1", "2", "7"]);
    assert_eq!(instance.jobs()[0].walltime, Some(Time::from_seconds(120)));
    assert_eq!(instance.jobs()[1].walltime, None, "a request below the run time is no walltime");
    assert_eq!(instance.jobs()[1].release, Time::from_ticks(5_500_000_000));
    assert_eq!(instance.profile(TaskId(1)).min_processors(), 2, "requested stands in for allocated");
    let found = |anomaly, count, first| AnomalyRecords { anomaly, count, first, unit: Unit::Line };
    let expect = [
        found(Anomaly::NoRunTime, 2, 7),
        found(Anomaly::NoProcessors, 1, 8),
        found(Anomaly::RepeatedNumber, 1, 9),
        found(Anomaly::TooWide, 1, 10),
    ];
    assert_eq!(report.found, expect);
    assert_eq!(report.found[0].to_string(), "2 records skipped: no run time (first at line 7)");
    assert_eq!((report.skipped(), report.jobs), (5, 3));
}

#[test]
fn options_override_the_platform_and_refuse_skips() {
    let wide = read(&log(), &SwfLogOptions { processors: Some(16), ..SwfLogOptions::default() }).unwrap();
    assert_eq!(wide.report.jobs, 4);
    let error = read(&log(), &SwfLogOptions { strict: true, ..SwfLogOptions::default() }).unwrap_err();
    assert_eq!(error, "a.swf:7: --strict does not allow this record: no run time");
}

#[test]
fn errors_name_line_and_field() {
    let check = |text: &str, expect: &str| {
        let error = read(text, &SwfLogOptions::default()).unwrap_err();
        assert!(error.contains(expect), "{error}");
    };
    check(&format!("{HEADER}1 2 3\n"), "a.swf:5: the record has 3 fields; it must have 18");
    check(
        &(HEADER.to_owned() + &record("x 0 -1 5 4")),
        "no record can be read as a job (1 record skipped: no job number",
    );
    check(
        &(HEADER.to_owned() + &record("1 1e30 -1 5 4")),
        "1 record skipped: no readable submit time (first at line 5)",
    );
    check(&record("1 0 -1 5 4"), "neither MaxProcs nor MaxNodes");
    check(HEADER, "no record can be read as a job");
    check("; MaxProcs: 99999999\n1", "1 fields");
    check(&("; MaxProcs: 99999999\n".to_owned() + &record("1 0 -1 5 4")), "at most 16777216");
    check(&format!("; MaxProcs: 8\n{}", "1 ".repeat(100_000)), "a.swf:2: the line is longer");
}

#[test]
fn speedups_keep_the_logged_time() {
    for spec in ["downey:3,0.5", "amdahl:0.1", "power:0.7", "linear", "downey:random"] {
        let options = SwfLogOptions { speedup: Some(spec.parse().unwrap()), seed: 7, ..SwfLogOptions::default() };
        let instance = read(&log(), &options).unwrap().instance;
        assert_eq!(instance.profile(TaskId(0)).time(4), Time::from_seconds(100), "{spec}");
        assert_eq!(instance.profile(TaskId(2)).time(8), Time::from_seconds(10), "{spec}");
        assert_eq!(instance.profile(TaskId(1)).max_processors(), 8);
        assert_eq!(submitted(&read(&log(), &options).unwrap().instance), submitted(&instance), "the seed decides");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let instance = read(&log(), &SwfLogOptions::default()).unwrap().instance;
    let mut bytes = Vec::new();
    write_swf(&instance, None, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let again = read(&text, &SwfLogOptions { strict: true, ..SwfLogOptions::default() }).unwrap().instance;
    assert_eq!(submitted(&again), submitted(&instance));
    let placement = |task, start: i64, end: i64, width| Placement {
        task: TaskId(task),
        start: Time::from_seconds(start),
        end: Time::from_seconds(end),
        processors: ProcSet::first(width),
    };
    let schedule = Schedule::new(vec![placement(0, 10, 110, 4), placement(1, 110, 160, 2), placement(2, 160, 170, 8)]);
    let mut bytes = Vec::new();
    write_swf(&instance, Some(&schedule), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("\n1 0 10 100 4 -1 -1 4 120 -1 1 "), "{text}");
    assert!(text.contains("\n2 5.5 104.5 50 2 "), "{text}");
}

#[test]
fn a_bag_is_written_as_a_record_a_task() {
    use makespan_core::{Instance, Job, Platform, Profile};
    let job = |name: &str, count| {
        let job = Job::new(name, Profile::rigid(1, Time::from_seconds(4)).unwrap());
        std::num::NonZeroU64::new(count).map_or(job.clone(), |count| job.with_count(count))
    };
    let instance =
        |count| Instance::new(Platform::flat(8).unwrap(), vec![job("7", 0), job("bag", count)], vec![]).unwrap();
    let mut bytes = Vec::new();
    write_swf(&instance(3), None, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("MaxJobs: 4\n") && text.contains("without bags of tasks (each task has a record)"), "{text}");
    let numbers = text.lines().filter(|line| !line.starts_with(';')).map(|line| line.split(' ').next().unwrap());
    assert_eq!(numbers.collect::<Vec<_>>(), ["1", "2", "3", "4"]);
    assert_eq!(
        read(&text, &SwfLogOptions { strict: true, ..SwfLogOptions::default() }).unwrap().instance.jobs().len(),
        4
    );
    let place = |task, start| Placement {
        task: TaskId(task),
        start: Time::from_seconds(start),
        end: Time::from_seconds(start + 4),
        processors: ProcSet::first(1),
    };
    let schedule = Schedule::new(vec![place(0, 0), place(1, 4), place(3, 8), place(2, 12)]);
    let mut bytes = Vec::new();
    write_swf(&instance(3), Some(&schedule), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("\n3 0 12 4 1 ") && text.contains("\n4 0 8 4 1 "), "{text}");
    let refused = write_swf(&instance(20_000_000), None, &mut Vec::new()).unwrap_err().to_string();
    assert!(
        refused.contains("one record for each task") && refused.contains("make fewer and longer tasks"),
        "{refused}"
    );
}

#[test]
fn a_trace_is_written_and_read_back_for_replay() {
    use makespan_core::{Outcome, Run, Trace};

    let text = HEADER.to_owned()
        + &["1 0 -1 100 4 -1 -1 4 120 -1 1 7", "2 5 -1 50 2 -1 -1 2 40 -1 1 8", "9 6 -1 5 1 -1 -1 1 60"]
            .map(record)
            .concat();
    let options = crate::ReplayOptions::default();
    let replay = crate::parse_replay(text.as_bytes(), "a.swf", &options).unwrap();
    let run = |task, start: i64, end: i64, width, outcome| Run {
        task: TaskId(task),
        start: Time::from_seconds(start),
        end: Time::from_seconds(end),
        processors: ProcSet::first(width),
        outcome,
        accounting: None,
    };
    let runs = vec![
        run(0, 0, 30, 4, Outcome::Interrupted),
        run(1, 30, 80, 2, Outcome::TimedOut),
        run(0, 80, 180, 4, Outcome::Succeeded),
    ];
    let mut bytes = Vec::new();
    write_swf_trace(&replay.instance, &Trace { runs }, &mut bytes).unwrap();
    let written = String::from_utf8(bytes.clone()).unwrap();
    assert!(written.contains("; Note: 1 interrupted runs are omitted"), "{written}");
    assert!(written.contains("\n1 0 80 100 4 -1 -1 4 120 -1 1 7 "), "{written}");
    assert!(written.contains("\n2 5 25 50 2 -1 -1 2 40 -1 0 8 "), "{written}");
    assert!(written.contains("\n9 6 -1 -1 -1 -1 -1 1 60 -1 5 -1 "), "{written}");
    let again = crate::parse_replay(&bytes, "b.swf", &options).unwrap();
    let jobs = submitted(&replay.instance);
    assert_eq!(submitted(&again.instance), &jobs[..2], "the third job was cancelled");
    assert_eq!(jobs.iter().map(|job| job.user).collect::<Vec<_>>(), [Some(7), Some(8), None]);
    let (makespan_core::Actual::Profiles(before), makespan_core::Actual::Profiles(after)) =
        (&replay.actual, &again.actual)
    else {
        panic!("both have requests")
    };
    assert_eq!(after, &before[..2]);
    let mut bytes = Vec::new();
    write_swf_log(&replay.instance, &replay.actual, &mut bytes).unwrap();
    let again = crate::parse_replay(&bytes, "c.swf", &options).unwrap();
    assert_eq!((submitted(&again.instance), &again.actual), (jobs, &replay.actual));
}

/// Checks that a record with a number of processors that is not whole is skipped, and that a number that is too large
/// makes the job too wide. In both cases, the requested number must not be used instead.
#[test]
fn processors_are_whole_numbers() {
    for (processors, anomaly) in [
        ("2.5", Anomaly::BrokenProcessors),
        ("1e-3", Anomaly::BrokenProcessors),
        ("1e9", Anomaly::TooWide),
        ("99999999999999999999", Anomaly::TooWide),
    ] {
        let records = record(&format!("1 0 -1 10 {processors} -1 -1 4")) + &record("2 0 -1 10 2e0 -1 -1 4 -1 -1 -1 7");
        let Log { instance, report, .. } = read(&(HEADER.to_owned() + &records), &SwfLogOptions::default()).unwrap();
        assert_eq!((instance.jobs().len(), instance.profile(TaskId(0)).min_processors()), (1, 2), "{processors}");
        assert_eq!(report.found, [AnomalyRecords { anomaly, count: 1, first: 5, unit: Unit::Line }], "{processors}");
    }
    let user = HEADER.to_owned() + &record("1 0 -1 10 1 -1 -1 1 -1 -1 -1 2.5");
    assert_eq!(read(&user, &SwfLogOptions::default()).unwrap().report.found[0].anomaly, Anomaly::BrokenUser);
}

#[test]
fn memory_is_needed_for_each_processor() {
    let text = HEADER.to_owned()
        + &[
            "1 0 -1 9 4 -1 77 4 -1 1024",
            "2 0 -1 9 2 -1 1000.5 2",
            "3 0 -1 9 1 -1 -1 1 -1 9e9",
            "4 0 -1 9 1 -1 0 1 -1 0",
        ]
        .map(record)
        .concat();
    let memory = |bytes: u64| {
        let resources = makespan_core::Resources::new([("memory", bytes)]).unwrap();
        let platform = makespan_core::Platform::cluster(2, 4).unwrap();
        Some(platform.with_node_resources(&resources).unwrap())
    };
    let read = |platform| {
        let options = crate::ReadOptions { platform, ..crate::ReadOptions::default() };
        crate::parse_instance(text.as_bytes(), "a.swf", &options).map_err(|error| error.to_string()).unwrap()
    };
    let found = read(memory(8 << 30));
    let needs = |task| found.instance.task(TaskId(task)).needs.of("memory").map(|need| need.total(1));
    assert_eq!([0, 1, 2].map(needs), [Some(1 << 20), Some(1_024_512), None]);
    let remarks = found.remarks.join("; ");
    assert!(
        remarks.contains("1 record skipped: needs more of a resource than the platform has (first at line 7)"),
        "{remarks}"
    );
    assert!(remarks.contains("1 job (the first at line 6) did not request memory"), "{remarks}");
    assert_eq!(read(memory(1 << 50)).instance.jobs().len(), 4);
    // If the machines do not state memory, no job is skipped.
    let bare = read(None);
    assert!(bare.instance.task_ids().all(|task| bare.instance.task(task).needs.is_empty()));
    assert_eq!(bare.instance.jobs().len(), 4);
    let remarks = bare.remarks.join("; ");
    assert!(
        remarks.contains(
            "`memory` is needed by 3 jobs (largest need: 9.22 TB, of job `3`); the machines state no such resource"
        ),
        "{remarks}"
    );
    assert!(!remarks.contains("did not request memory"), "{remarks}");
}

#[test]
fn memory_is_written_and_what_else_is_needed_is_noted() {
    use makespan_core::{Instance, Job, Need, Needs, Platform, Profile, Resources};
    let resources = Resources::new([("memory", 1 << 30), ("gpus", 2)]).unwrap();
    let platform = Platform::cluster(2, 4).unwrap().with_node_resources(&resources).unwrap();
    let job = |name: &str, needs: Vec<(&str, Need)>| {
        Job::new(name, Profile::rigid(2, Time::from_seconds(9)).unwrap()).with_needs(Needs::new(needs).unwrap())
    };
    let memory = Need::Linear { whole: 1000, per_processor: 2048 };
    let jobs = vec![job("1", vec![("memory", memory), ("gpus", Need::whole(1))]), job("2", vec![]).with_after(["1"])];
    let instance = Instance::new(platform, jobs, vec![]).unwrap();
    let mut logs = [Vec::new(), Vec::new()];
    write_swf(&instance, None, &mut logs[0]).unwrap();
    write_swf_log(&instance, &makespan_core::Actual::AsEstimated, &mut logs[1]).unwrap();
    for log in logs {
        let text = String::from_utf8(log).unwrap();
        let fields: Vec<&str> =
            text.lines().filter(|line| !line.starts_with(';')).filter_map(|line| line.split(' ').nth(9)).collect();
        assert_eq!(fields, ["3", "-1"], "500 bytes and 2 KiB for each processor, rounded up");
        assert!(
            text.contains("without dependencies between jobs, needs other than memory (in KiB per processor)"),
            "{text}"
        );
    }
}
