use super::*;
use crate::{Format, ReadOptions, ReplayOptions, parse_instance, parse_replay};

/// Returns a workload with these profiles and jobs, in a form that both versions of the format use.
fn workload(profiles: &str, jobs: &str) -> String {
    format!(r#"{{"description": "x", "jobs": [{jobs}], "nb_res": 4, "profiles": {{{profiles}}}}}"#)
}

const OLD: &str = r#""d": {"type": "delay", "delay": 20.25}, "h": {"type": "parallel_homogeneous", "cpu": 1e10, "com": 1e6},
    "t": {"type": "parallel_homogeneous_total", "cpu": 1e10, "com": 0}, "p": {"type": "parallel", "cpu": [5e6, 0], "com": [1, 2]},
    "s": {"type": "composed", "repeat": 4, "seq": ["d", "h"]}, "z": {"type": "parallel_homogeneous", "cpu": 0, "com": 0}"#;

const NEW: &str = r#""d": {"type": "DelayProfile", "delay": 20.25},
    "h": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e10, "com": 1e6},
    "t": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e10, "generation_strategy": "DefinedAmountsSpreadUniformly"}"#;

/// Profiles in the form that workload files of version 5 use.
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
    check(&job("7", "1", "dd"), "`profiles` contains no profile `dd`; did you mean `d`?");
    check(
        &job("7", "-1", "d"),
        "no record can be read as a job (1 record skipped: the number of processors is missing or not positive",
    );
    let twice = r#"{"jobs": [], "nb_res": 1, "profiles": {"d": {"type": "delay", "delay": 1}, "d": {"type": "delay", "delay": 2}}}"#;
    let refused = read(twice, &ReplayOptions::default()).unwrap_err();
    assert!(refused.contains("profiles") && refused.contains("an earlier profile has this name"), "{refused}");
    check(&job("7", "9", "d"), "needs more processors than the platform has");
    check("", "no record can be read as a job");
    check(r#"{"id": 1, "subtime": 0, "res": 1}"#, "the key `profile` is missing");
    check(r#"{"id": 1, "subtime": "x", "res": 1, "profile": "d"}"#, "no readable submit time (first at jobs[0])");
    let strict = ReplayOptions { strict: true, ..ReplayOptions::default() };
    let error = read(&workload(OLD, JOBS), &strict).unwrap_err();
    assert!(error.starts_with("w.json: jobs[1]: --strict does not allow this record"), "{error}");
    let sizeless = workload(OLD, JOBS).replace("\"nb_res\": 4,", "");
    assert!(read(&sizeless, &ReplayOptions::default()).unwrap_err().contains("(`nb_res`); state the processors"));
}

#[test]
fn times_of_profiles_are_known_or_guesses() {
    let profiles = r#""d": {"type": "delay", "delay": 5}, "p": {"type": "parallel", "cpu": [1e9, 5e9], "com": [0, 0, 0, 0]},
        "m": {"type": "ParallelTaskProfile", "cpu": [1e9, 2e9], "com": [0, 1, 0, 0]}, "s": {"type": "SequentialCompositionProfile", "repeat": 2, "seq": ["d", "p"]},
        "n": {"type": "composed", "seq": ["s", "d"]}, "z": {"type": "delay", "delay": 0}, "w": {"type": "delay", "delay": -1}, "e": {"type": "smpi", "trace": "x"},
        "l": {"type": "parallel_homogeneous", "cpu": -1, "com": 0}, "y": {"type": "delay", "delay": 1e12}, "q": {"type": "composed", "seq": ["d", "e"]}"#;
    for (profile, walltime, seconds, odd) in [
        ("d", "1e12", 5.0, Some(Anomaly::BrokenLimit)),
        ("p", "100", 5.0, None),
        ("m", "100", 2.0, Some(Anomaly::Communication)),
        ("s", "100", 20.0, None),
        ("n", "-1", 25.0, None),
        ("z", "100", 1e-9, Some(Anomaly::ZeroRunTime)),
        ("w", "-1", 60.0, Some(Anomaly::GuessedRunTime)),
        ("w", "20", 20.0, Some(Anomaly::GuessedRunTime)),
        ("e", "100", 60.0, Some(Anomaly::GuessedRunTime)),
        ("l", "100", 60.0, Some(Anomaly::GuessedRunTime)),
        ("y", "100", 60.0, Some(Anomaly::GuessedRunTime)),
        ("q", "100", 60.0, Some(Anomaly::GuessedRunTime)),
    ] {
        let job = format!(r#"{{"id": "a", "subtime": 0, "res": 2, "profile": "{profile}", "walltime": {walltime}}}"#);
        let text = workload(profiles, &job);
        let planned = parse_instance(text.as_bytes(), "w.json", &ReadOptions::default()).unwrap();
        let task = planned.instance.task(makespan_core::TaskId(0));
        assert_eq!(task.profile.shortest().seconds().to_bits(), f64::to_bits(seconds), "{profile}");
        assert_eq!(task.estimate.is_guess(), odd == Some(Anomaly::GuessedRunTime), "{profile}");
        let clairvoyant = ReplayOptions { estimates: crate::Estimates::Clairvoyant, ..ReplayOptions::default() };
        let replay = read(&text, &clairvoyant).unwrap();
        let found: Vec<Anomaly> = replay.report.found.iter().map(|found| found.anomaly).collect();
        assert_eq!(found, odd.into_iter().collect::<Vec<_>>(), "{profile}");
        let strict = ReplayOptions { strict: true, ..clairvoyant };
        assert_eq!(read(&text, &strict).is_err(), odd.is_some(), "{profile}");
    }
    let own = r#""a": {"type": "composed", "seq": ["a"]}"#;
    let error =
        read(&workload(own, r#"{"id": "a", "subtime": 0, "res": 2, "profile": "a"}"#), &ReplayOptions::default());
    assert!(error.unwrap_err().contains("contains itself"));
}

/// Checks a workload on a `SimGrid` platform: the speed of the host changes the run time of computations, but not the
/// length of a delay.
#[test]
fn a_workload_runs_on_a_platform_of_simgrid() {
    let xml = "<platform version='4.1'><zone id='z'><host id='a' speed='100Mf'/><host id='b' speed='100Mf'/></zone></platform>";
    let platform = crate::simgrid::read_simgrid("p.xml", xml).unwrap().platform;
    let profiles = r#""d": {"type": "delay", "delay": 5}, "h": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}"#;
    let jobs =
        r#"{"id": "a", "subtime": 0, "res": 1, "profile": "d"}, {"id": "b", "subtime": 0, "res": 1, "profile": "h"}"#;
    let text = workload(profiles, jobs);
    let options = ReplayOptions { platform: Some(platform.clone()), unit_flops: Some(1e6), ..ReplayOptions::default() };
    let replay = read(&text, &options).unwrap();
    let options = ReadOptions { platform: Some(platform), unit_flops: Some(1e6), ..ReadOptions::default() };
    let planned = parse_instance(text.as_bytes(), "w.json", &options).unwrap();
    for instance in [&replay.instance, &planned.instance] {
        let one = makespan_core::ProcSet::first(1);
        let times = [0, 1].map(|task| instance.time(makespan_core::TaskId(task), &one));
        assert_eq!(times, [Time::from_seconds(5), Time::from_seconds(10)]);
    }
}
