use super::*;
use crate::{Format, ReadOptions, ReplayOptions, parse_instance, parse_replay};

/// Jobs and profiles as both versions of the format write them.
fn workload(profiles: &str, jobs: &str) -> String {
    format!(r#"{{"description": "x", "jobs": [{jobs}], "nb_res": 4, "profiles": {{{profiles}}}}}"#)
}

const OLD: &str = r#""d": {"type": "delay", "delay": 20.25}, "h": {"type": "parallel_homogeneous", "cpu": 1e10, "com": 1e6},
    "t": {"type": "parallel_homogeneous_total", "cpu": 1e10, "com": 0}, "p": {"type": "parallel", "cpu": [5e6, 0], "com": [1, 2]},
    "s": {"type": "composed", "repeat": 4, "seq": ["d", "h"]}, "z": {"type": "parallel_homogeneous", "cpu": 0, "com": 0}"#;

const NEW: &str = r#""d": {"type": "DelayProfile", "delay": 20.25},
    "h": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e10, "com": 1e6},
    "t": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e10, "generation_strategy": "DefinedAmountsSpreadUniformly"}"#;

/// As the workload files of version 5 are written.
const FIVE: &str = r#""d": {"type": "delay", "delay": 20.25},
    "h": {"type": "ptask_homogeneous", "cpu": 1e10, "com": 1e6, "generation_strategy": "defined_amount_used_for_each_value"},
    "t": {"type": "ptask_homogeneous", "cpu": 1e10, "com": 0, "generation_strategy": "defined_amount_spread_uniformly"}"#;

const JOBS: &str = r#"{"id": 1, "subtime": 3, "walltime": 30, "res": 1, "profile": "d"},
    {"id": "two", "subtime": 1.5, "walltime": -1, "res": 4, "profile": "h", "user": "x"},
    {"id": "w0!3", "subtime": 4, "res": 2, "profile": "t", "extra_data": {"a": [1]}}"#;

fn read(text: &str, options: &ReplayOptions) -> Result<crate::Replay, String> {
    parse_replay(text.as_bytes(), "w.json", options).map_err(|error| error.to_string())
}

#[test]
fn both_versions_say_the_same() {
    for profiles in [OLD, NEW, FIVE] {
        let replay = read(&workload(profiles, JOBS), &ReplayOptions::default()).unwrap();
        assert_eq!((replay.format, replay.instance.processors()), (Format::Batsim, 4));
        let told: Vec<(&str, f64, u32, f64)> = replay
            .instance
            .ids()
            .map(|id| {
                let (job, profile) = (replay.instance.job(id), replay.instance.profile_of(id));
                let seconds = profile.time(profile.min_processors()).seconds();
                (job.name.as_str(), job.release.seconds(), profile.min_processors(), seconds)
            })
            .collect();
        assert_eq!(told, [("two", 1.5, 4, 10.0), ("1", 3.0, 1, 30.0), ("w0!3", 4.0, 2, 5.0)]);
        let makespan_core::Actual::Profiles(real) = &replay.actual else { panic!("there are requests") };
        let real: Vec<f64> = real.iter().map(|profile| profile.shortest().seconds()).collect();
        assert_eq!(real, [10.0, 20.25, 5.0]);
        let found: Vec<_> = replay.report.found.iter().map(|found| (found.anomaly, found.count, found.first)).collect();
        let expect = [(Anomaly::Communication, 1, 1), (Anomaly::NoEstimate, 2, 1), (Anomaly::OutOfOrder, 1, 1)];
        assert_eq!(found, expect);
        assert!(replay.remarks[0].ends_with("(first at jobs[1])"), "{:?}", replay.remarks);
    }
}

#[test]
fn the_speed_of_a_processor_can_be_stated() {
    let options = ReplayOptions { flops: 2e9, ..ReplayOptions::default() };
    let replay = read(&workload(OLD, JOBS), &options).unwrap();
    assert_eq!(replay.instance.profile(makespan_core::TaskId(0)).shortest(), Time::from_seconds(5));
    let still = ReplayOptions { flops: 0.0, ..options };
    assert!(read(&workload(OLD, JOBS), &still).unwrap_err().contains("a speed of 0 is out of range"));
}

#[test]
fn a_workload_can_be_planned_too() {
    let read = parse_instance(workload(OLD, JOBS).as_bytes(), "w.json", &ReadOptions::default()).unwrap();
    let shortest = read.instance.profile(makespan_core::TaskId(0)).shortest();
    assert_eq!((read.format, shortest), (Format::Batsim, Time::from_ticks(20_250_000_000)));
}

#[test]
fn errors_name_the_job_and_the_profile() {
    let check = |jobs: &str, expect: &str| {
        let error = read(&workload(OLD, jobs), &ReplayOptions::default()).unwrap_err();
        assert!(error.contains(expect), "{error}");
    };
    let job = |id: &str, res: &str, profile: &str| {
        format!(r#"{{"id": {id}, "subtime": 0, "res": {res}, "profile": "{profile}"}}"#)
    };
    check(&job("7", "1", "p"), "w.json: jobs[0]: job `7`: profile `p` is of type `parallel`");
    check(&job("7", "1", "s"), "profile `s` is of type `composed`");
    check(&job("7", "1", "dd"), "the profile `dd` is not among `profiles`; did you mean `d`?");
    check(&job("7", "-1", "d"), "jobs[0].res");
    let twice = r#"{"jobs": [], "nb_res": 1, "profiles": {"d": {"type": "delay", "delay": 1}, "d": {"type": "delay", "delay": 2}}}"#;
    let refused = read(twice, &ReplayOptions::default()).unwrap_err();
    assert!(refused.contains("profiles") && refused.contains("a profile of this name stands above"), "{refused}");
    let less = r#"{"jobs": [], "nb_res": 1, "profiles": {"d": {"type": "parallel_homogeneous", "cpu": -1}}}"#;
    assert!(read(less, &ReplayOptions::default()).unwrap_err().contains("an amount of -1 is out of range"));
    check(&job("7", "1", "z"), "no record can be a job (1 record skipped: run time 0 (first at jobs[0]))");
    check(&job("7", "9", "d"), "more processors than the platform has");
    check("", "no record can be a job");
    check(r#"{"id": 1, "subtime": 0, "res": 1}"#, "the key `profile` is missing");
    check(r#"{"id": 1, "subtime": "x", "res": 1, "profile": "d"}"#, "jobs[0].subtime");
    let strict = ReplayOptions { strict: true, ..ReplayOptions::default() };
    let error = read(&workload(OLD, JOBS), &strict).unwrap_err();
    assert!(error.starts_with("w.json: jobs[1]: a record is refused"), "{error}");
    let sizeless = workload(OLD, JOBS).replace("\"nb_res\": 4,", "");
    assert!(read(&sizeless, &ReplayOptions::default()).unwrap_err().contains("no `nb_res`; state the processors"));
}
