use makespan_core::{JobId, ProcSet, TaskId, Time};

use super::*;
use crate::anomaly::Anomaly;
use crate::parse_replay;

/// Returns a record of 18 fields with these values: number, submit time, run time, processors, requested time, user.
fn record(fields: [i64; 6]) -> String {
    let [number, submit, run, processors, requested, user] = fields;
    format!("{number} {submit} -1 {run} {processors} -1 -1 -1 {requested} -1 1 {user} -1 -1 -1 -1 -1 -1\n")
}

fn log() -> String {
    let records = [
        record([1, 0, 100, 4, 120, 7]),
        record([2, 9, 50, 2, 10, 8]),
        "3 5 -1 0 -1 -1 -1 1 10 -1 5 8 -1 -1 -1 -1 -1 -1\n".to_owned(),
        "4 5 -1 -1 1 -1 -1 1 10 -1 5 8 -1 -1 -1 -1 -1 -1\n".to_owned(),
        record([5, 5, 30, 8, 0, -1]),
        record([5, 6, 30, 8, 60, 7]),
        record([6, 6, 30, 9, 60, 7]),
        "8 11 -1 20 3\n".to_owned(),
    ];
    format!("; MaxProcs: 8\n{}", records.concat())
}

fn read(text: &str, options: &ReplayOptions) -> Result<Replay, String> {
    parse_replay(text.as_bytes(), "a.swf", options).map_err(|error| error.to_string())
}

fn users(replay: &Replay) -> Vec<Option<u32>> {
    replay.instance.jobs().iter().map(|job| job.user).collect()
}

fn seconds(replay: &Replay, task: u64, processors: u32) -> (f64, f64) {
    let processors = ProcSet::first(processors);
    let told = replay.instance.time(TaskId(task), &processors);
    (told.seconds(), replay.actual.time(&replay.instance, TaskId(task), &processors).seconds())
}

#[test]
fn a_policy_is_told_requests_and_jobs_take_their_run_times() {
    let replay = read(&log(), &ReplayOptions::default()).unwrap();
    let names: Vec<&str> = replay.instance.jobs().iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["1", "5", "2", "8"], "by submit time");
    assert_eq!(users(&replay), [Some(7), None, Some(8), None]);
    assert_eq!(seconds(&replay, 0, 4), (120.0, 100.0));
    assert_eq!(seconds(&replay, 2, 2), (10.0, 50.0), "a job that outlives its request keeps both times");
    assert_eq!(seconds(&replay, 1, 8), (30.0, 30.0), "the run time stands in");
    let walltimes: Vec<Option<Time>> = replay.instance.jobs().iter().map(|job| job.walltime).collect();
    assert_eq!(walltimes, [Some(Time::from_seconds(120)), None, Some(Time::from_seconds(10)), None]);
}

#[test]
fn queues_of_a_log_become_priorities() {
    let queued = |number: i64, queue: i64| {
        let record = record([number, number, 100, 4, 120, 7]);
        record.replacen(" 7 -1 -1 -1 ", &format!(" 7 -1 -1 {queue} "), 1)
    };
    let log = format!("; MaxProcs: 8\n{}{}{}{}", queued(1, 5), queued(2, 0), queued(3, 9), queued(4, -1));
    let priorities = |queues: Vec<u32>| {
        let replay = read(&log, &ReplayOptions { queues, ..ReplayOptions::default() })?;
        Ok(replay.instance.jobs().iter().map(|job| job.priority).collect::<Vec<_>>())
    };
    assert_eq!(priorities(vec![]), Ok(vec![0; 4]));
    assert_eq!(priorities(vec![9, 5]), Ok(vec![1, 0, 2, 0]));
    assert_eq!(priorities(vec![0]), Ok(vec![0, 1, 0, 0]));
    let refused: String = priorities(vec![9, 4]).unwrap_err();
    assert!(refused.contains("no job is in queue 4; the log has jobs in these queues: 0, 5, 9"), "{refused}");
    let untold = read(&self::log(), &ReplayOptions { queues: vec![1], ..ReplayOptions::default() }).unwrap_err();
    assert!(untold.contains("no record names a queue"), "{untold}");
}

#[test]
fn what_is_odd_is_counted_and_named_once() {
    let replay = read(&log(), &ReplayOptions::default()).unwrap();
    let found: Vec<_> = replay.report.found.iter().map(|found| (found.anomaly, found.count, found.first)).collect();
    let expect = [
        (Anomaly::NoRunTime, 2, 4),
        (Anomaly::RepeatedNumber, 1, 7),
        (Anomaly::ShortRecord, 1, 9),
        (Anomaly::TooWide, 1, 8),
        (Anomaly::Overrun, 1, 3),
        (Anomaly::NoEstimate, 2, 6),
        (Anomaly::OutOfOrder, 1, 6),
    ];
    assert_eq!(found, expect);
    assert_eq!(replay.remarks.len(), expect.len());
    assert_eq!(replay.remarks[0], "2 records skipped: no run time (first at line 4)");
    assert_eq!(
        replay.remarks[5],
        "2 records: no requested run time; the actual run time is used as the expected run time (first at line 6)"
    );
}

#[test]
fn a_strict_reading_refuses_the_first_odd_record_but_no_overrun() {
    let strict = ReplayOptions { strict: true, ..ReplayOptions::default() };
    assert_eq!(read(&log(), &strict).unwrap_err(), "a.swf:4: --strict does not allow this record: no run time");
    let only = |records: &[String]| read(&format!("; MaxProcs: 8\n{}", records.concat()), &strict);
    assert!(only(&[record([1, 0, 100, 4, 50, 1])]).is_ok(), "an overrun is usual");
    let late = only(&[record([1, 9, 1, 4, 50, 1]), record([2, 0, 1, 4, 50, 1])]).unwrap_err();
    assert!(late.starts_with("a.swf:3: --strict does not allow this record: submitted before"), "{late}");
    let missing = only(&[record([1, 0, 1, 4, -1, 1])]).unwrap_err();
    assert!(missing.contains("no requested run time"), "{missing}");
    let clairvoyant = ReplayOptions { estimates: Estimates::Clairvoyant, ..strict.clone() };
    assert!(read(&format!("; MaxProcs: 8\n{}", record([1, 0, 1, 4, -1, 1])), &clairvoyant).is_ok());
}

/// Checks for all log formats that impossible fields are replaced and counted, and that a strict reading refuses them.
#[test]
fn fields_that_cannot_be_cost_no_record() {
    let record = "2 10 990 100 1 -1 -1 1 200 -1 1 1 1 -1 -1 -1 -1 -1";
    for (at, value, run, anomaly) in [
        (4, "0", 1e-9, Anomaly::ZeroRunTime),
        (4, "-1", 60.0, Anomaly::GuessedRunTime),
        (4, "1e11", 60.0, Anomaly::GuessedRunTime),
        (4, "x", 60.0, Anomaly::BrokenField),
        (9, "1e11", 100.0, Anomaly::BrokenLimit),
        (3, "1e11", 100.0, Anomaly::BrokenField),
        (6, "nan", 100.0, Anomaly::BrokenField),
        (17, "1", 100.0, Anomaly::Precedence),
        (18, "50", 100.0, Anomaly::Precedence),
    ] {
        let mut fields: Vec<&str> = record.split(' ').collect();
        fields[at - 1] = value;
        let text = format!("; MaxProcs: 4\n{}\n", fields.join(" "));
        let clairvoyant = ReplayOptions { estimates: Estimates::Clairvoyant, ..ReplayOptions::default() };
        let replay = read(&text, &clairvoyant).unwrap();
        assert_eq!(
            replay.instance.profile(TaskId(0)).shortest().seconds().to_bits(),
            f64::to_bits(run),
            "{at} {value}"
        );
        assert!(replay.report.found.iter().any(|found| found.anomaly == anomaly), "{at} {value}: {:?}", replay.report);
        assert_eq!(replay.instance.task(TaskId(0)).estimate.is_guess(), (run - 60.0).abs() < 1.0, "{at} {value}");
        let strict = ReplayOptions { strict: true, ..clairvoyant };
        assert!(read(&text, &strict).unwrap_err().contains("--strict does not allow this record"), "{at} {value}");
    }
}

#[test]
fn the_clairvoyant_are_told_what_happens() {
    let options = ReplayOptions { estimates: Estimates::Clairvoyant, ..ReplayOptions::default() };
    let replay = read(&log(), &options).unwrap();
    assert_eq!(replay.actual, Actual::AsEstimated);
    assert_eq!(seconds(&replay, 0, 4), (100.0, 100.0));
    assert_eq!(seconds(&replay, 2, 2), (50.0, 50.0));
    assert_eq!(replay.instance.job(JobId(0)).walltime, Some(Time::from_seconds(120)));
    assert_eq!(replay.instance.job(JobId(2)).walltime, None, "a request below the run time is no walltime");
}

#[test]
fn a_moldable_replay_bends_estimate_and_run_time_alike() {
    for estimates in [Estimates::User, Estimates::Clairvoyant] {
        let speedup = "amdahl:0.1".parse().ok();
        let options = ReplayOptions { estimates, speedup, ..ReplayOptions::default() };
        let replay = read(&log(), &options).unwrap();
        let (told, real) = seconds(&replay, 0, 4);
        assert_eq!((told, real), (if estimates == Estimates::User { 120.0 } else { 100.0 }, 100.0));
        for processors in 1..=8 {
            let (at, really) = seconds(&replay, 0, processors);
            assert!((at / really - told / real).abs() < 1e-8, "{processors}: {at} {really}");
        }
        assert_eq!(replay.instance.job(JobId(0)).walltime, None, "no one time fits all allotments");
        assert!(replay.remarks.last().unwrap().starts_with("moldable replay: "), "{:?}", replay.remarks);
    }
}

#[test]
fn the_platform_can_be_stated() {
    let platform = Platform::cluster(3, 4).unwrap().requiring_compact();
    let options = ReplayOptions { platform: Some(platform.clone()), ..ReplayOptions::default() };
    let replay = read(&log(), &options).unwrap();
    assert_eq!((replay.instance.platform(), replay.instance.jobs().len()), (&platform, 5));
    let headless = read(&record([1, 0, 1, 1, 1, 1]), &ReplayOptions::default()).unwrap_err();
    assert!(headless.contains("neither MaxProcs nor MaxNodes; state the processors"), "{headless}");
}

#[test]
fn a_native_instance_happens_as_estimated() {
    let text = r#"{"version": 1, "platform": {"processors": 2}, "jobs": [{"name": "a", "work": 1, "released": 3}]}"#;
    let replay = read(text, &ReplayOptions::default()).unwrap();
    assert_eq!((users(&replay), replay.report.jobs, replay.actual), (vec![None], 1, Actual::AsEstimated));
    let platform = ReplayOptions { platform: Platform::flat(9).ok(), ..ReplayOptions::default() };
    assert_eq!(read(text, &platform).unwrap().instance.processors(), 9, "as it is planned");
    let processors = ReplayOptions { processors: Some(9), ..ReplayOptions::default() };
    assert!(
        read(text, &processors)
            .unwrap_err()
            .contains("a number of processors is allowed only for files without machines")
    );
    let both = ReplayOptions { processors: Some(9), ..platform };
    assert!(read(&log(), &both).unwrap_err().contains("remove one"));
}

#[test]
fn run_times_that_add_up_to_centuries_are_refused() {
    let text = format!("; MaxProcs: 8\n{}", record([1, 0, 9_000_000_000, 1, 1, 1]));
    assert!(read(&text, &ReplayOptions::default()).unwrap_err().contains("146 years"));
}

#[test]
fn laws_are_fitted_to_jobs_that_tell_their_cpu_time() {
    let speedup = "fitted".parse().ok();
    let options = ReplayOptions { speedup, ..ReplayOptions::default() };
    let text = "; MaxProcs: 8\n1 0 -1 100 4 50 -1 4 120 -1 1 1 1 -1 -1 1 -1 -1\n2 0 -1 100 4 -1 -1 4 120 -1 1 1 1 -1 -1 1 -1 -1\n";
    let replay = read(text, &options).unwrap();
    // Half of the time is CPU time, so S(4) = 2, and one processor takes 200 s.
    assert_eq!(seconds(&replay, 0, 4), (120.0, 100.0));
    let (told, real) = seconds(&replay, 0, 1);
    assert!((told - 240.0).abs() < 1e-6 && (real - 200.0).abs() < 1e-6, "{told} {real}");
    assert!(replay.instance.profile(TaskId(1)).is_rigid());
    assert!(replay.remarks.last().unwrap().contains("1 of 2 jobs become moldable"), "{:?}", replay.remarks);
    assert!(read(&log(), &options).unwrap_err().contains("no speed-up can be fitted"));
}
