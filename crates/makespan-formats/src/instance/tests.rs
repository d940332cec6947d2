use makespan_core::{Instance, Job, JobId, Platform, Profile, SpeedupLaw, TaskId, Time, Weight};
use proptest::prelude::*;

use super::*;
use crate::submitted::submitted;

pub(super) fn json(text: &str) -> Result<Instance, String> {
    read_json("a.json", text.as_bytes(), None).map_err(|error| error.to_string())
}

pub(super) fn toml(text: &str) -> Result<Instance, String> {
    read_toml("a.toml", text, None).map_err(|error| error.to_string())
}

/// Checks that a JSON file with one job is refused, with an error that contains these texts.
fn refused(job: &str, expect: &[&str]) {
    let error = json(&format!("{{\"version\": 1, \"platform\": {{\"processors\": 4}},\n \"jobs\": [{job}]}}"))
        .expect_err("this job must be refused");
    for part in expect {
        assert!(error.contains(part), "{error}\nlacks {part}");
    }
}

const FULL: &str = r#"{"version": 1, "platform": {"processors": 64},
 "jobs": [{"name": "a", "weight": 3.5, "released": 0, "walltime": "2h", "time": [10.0, 6.1, 4.9], "command": ["./solve", "--threads", "{processors}"]},
  {"name": "b", "work": 7200, "speedup": {"amdahl": {"serial": 0.05}}, "processors": {"min": 1, "max": 64}},
  {"name": "c", "work": 7200, "speedup": {"downey": {"parallelism": 20, "sigma": 0.7}}},
  {"name": "d", "work": 7200.123456789, "speedup": {"power": {"exponent": 0.8}}},
  {"name": "e", "work": 72, "speedup": {"linear": {}}},
  {"name": "f", "processors": 8, "time": 120},
  {"name": "g", "work": "0.1", "released": 90071992.547409931},
  {"name": "h", "time": [5, 4, 3, 2, 2, 1], "processors": {"min": 2, "max": 4}}],
 "unavailable": [{"processors": "0-3", "start": 100, "end": "200s"}]}"#;

#[test]
fn reads_every_kind_of_job() {
    let instance = json(FULL).unwrap();
    let profile = |at: u32| instance.profile_of(JobId(at));
    assert_eq!(profile(0).time(2), Time::from_ticks(6_100_000_000));
    assert_eq!(profile(2).max_processors(), 64);
    assert_eq!(profile(3).time(1), Time::from_ticks(7_200_123_456_789));
    assert_eq!(profile(5).work(8), 960_000_000_000);
    assert_eq!(instance.jobs()[6].release, Time::from_ticks(90_071_992_547_409_931));
    assert_eq!((profile(7).min_processors(), profile(7).max_processors()), (2, 4));
    assert_eq!(instance.unavailable()[0].end, Time::from_seconds(200));
}

/// Checks that two instances are equal in all data that a caller can read.
pub(super) fn assert_equal(a: &Instance, b: &Instance) {
    assert_eq!(a.platform(), b.platform());
    assert_eq!(submitted(a), submitted(b));
    assert_eq!(a.unavailable(), b.unavailable());
}

/// Checks that an instance is unchanged after writing and reading it, in JSON and in TOML.
pub(super) fn round_trip(instance: &Instance) {
    for language in [Language::Json, Language::Toml] {
        let mut bytes = Vec::new();
        write_instance(instance, language, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let again = match language {
            Language::Json => json(&text),
            Language::Toml => toml(&text),
        };
        assert_equal(instance, &again.unwrap_or_else(|error| panic!("{error}\n{text}")));
    }
}

#[test]
fn what_is_written_is_read_back() {
    round_trip(&json(FULL).unwrap());
    let bags = r#"{"version": 1, "platform": {"processors": 8}, "jobs": [{"name": "a", "count": 200, "work": 3},
        {"name": "b", "count": 1, "time": 2, "processors": 8}, {"name": "c", "count": 2, "weight": 1, "time": [2, 1]},
        {"name": "d", "count": 9, "weight": 0, "work": 3, "speedup": {"linear": {}}}, {"name": "e", "weight": 0, "work": 1}]}"#;
    let instance = json(bags).unwrap();
    round_trip(&instance);
    let kinds: Vec<_> = instance.jobs().iter().map(|job| (job.tasks(), job.is_bag(), job.is_best_effort())).collect();
    let expected = [(200, true, true), (1, true, true), (2, true, false), (9, true, true), (1, false, false)];
    assert_eq!(kinds, expected);
    let jobs = r#""jobs": [{"name": "a", "time": [2, 1]}]}"#;
    for platform in [
        r#"{"processors": 1}"#,
        r#"{"nodes": 3, "processors_per_node": 2}"#,
        r#"{"nodes": 3, "processors_per_node": 2, "placement": "compact"}"#,
        r#"{"placement": "compact", "nodes": [{"name": "a", "processors": 2}, {"name": "b", "processors": 3}]}"#,
        r#"{"nodes": [{"name": "s", "processors": 0},
            {"name": "a", "processors": 2, "speed": 1.5, "parent": "s", "bandwidth": "7Mbit/s", "latency": "1ms"},
            {"name": "b", "processors": 1, "speed": 0.1, "parent": "s"}]}"#,
    ] {
        round_trip(&json(&format!(r#"{{"version": 1, "platform": {platform}, {jobs}"#)).unwrap());
    }
}

#[test]
fn best_placement_is_a_rule_of_the_platform() {
    let read = |rule: &str| {
        let platform = format!(r#"{{"nodes": 3, "processors_per_node": 2{rule}}}"#);
        let text = format!(r#"{{"version": 1, "platform": {platform}, "jobs": [{{"name": "a", "time": [2, 1]}}]}}"#);
        json(&text).unwrap().platform().clone()
    };
    assert!(read(r#", "placement": "compact""#).is_compact());
    assert!(!read(r#", "placement": "any""#).is_compact());
    assert!(!read("").is_compact());
}

#[test]
fn toml_means_the_same() {
    let text = "version = 1\nplatform = { processors = 64 }\n\n[[jobs]]\nname = 'a'\nweight = 0.1\n\
                time = [10, 6.1, '4.9s']\n[[jobs]]\nname = 'b'\nwork = 7200\n\
                speedup.amdahl.serial = 0.05\nprocessors = { min = 1, max = 64 }\n";
    let same = r#"{"version": 1, "platform": {"processors": 64}, "jobs": [
        {"name": "a", "weight": 0.1, "time": [10, 6.1, 4.9]},
        {"name": "b", "work": 7200, "speedup": {"amdahl": {"serial": 0.05}}, "processors": {"min": 1, "max": 64}}]}"#;
    assert_equal(&toml(text).unwrap(), &json(same).unwrap());
}

/// Checks that an error in a list names the faulty entry, even if the file is too large to be read a second time for
/// the field name.
#[test]
fn an_error_in_a_list_has_the_place_of_its_entry() {
    let many = " ".repeat(5 << 20);
    for (list, place, entry) in [
        ("[-3, 4]", "2:38", "[0]"),
        ("[1, -3, 4]", "2:41", "[1]"),
        ("[1,\n 2,\n  -3,\n 4\n]  ", "5:1", "[2]"),
        ("[1,\r\n \"soon\",\n 4]", "4:1", "[1]"),
        ("[[1], 2]", "2:39", "[0]"),
    ] {
        for (large, field) in [("", format!("jobs[0].time{entry}: ")), (many.as_str(), String::new())] {
            for rest in [", \"weight\": 1}", "}"] {
                let job = format!(r#"{{"name": "a", "time":   {list}{rest}"#);
                let text =
                    format!("{{\"version\": 1, \"platform\": {{\"processors\": 4}},{large}\n \"jobs\":[{job}]}}");
                let error = json(&text).unwrap_err();
                assert!(error.contains(&format!(":{place}: {field}")), "{list}{rest}: {error}");
                assert!(!error.contains("private"), "{error}");
            }
        }
    }
}

#[test]
fn bad_jobs_are_refused_with_their_place() {
    refused(r#"{"name": "a", "wieght": 1, "work": 1}"#, &["a.json:2:", "jobs[0]", "did you mean `weight`?"]);
    refused(r#"{"name": "a", "time": [1, -2]}"#, &["a.json:2:", "jobs[0].time[1]", "`-2` is negative"]);
    refused(r#"{"name": "a", "time": [1, 1e300]}"#, &["jobs[0].time[1]", "too long"]);
    refused(r#"{"name": "a", "time": ["NaN"]}"#, &["jobs[0].time[0]", "`NaN` is not a time"]);
    refused(r#"{"name": "a", "time": [NaN]}"#, &["a.json:2:", "expected value"]);
    refused(r#"{"name": "a", "time": []}"#, &["job `a`", "no allotment"]);
    refused(r#"{"name": "a", "time": [3, 0]}"#, &["job `a`", "must be positive"]);
    refused(r#"{"name": "a", "time": {"x": 1}}"#, &["jobs[0].time", "expected a time"]);
    refused(r#"{"name": "a", "time": [3, 2], "processors": {"min": 3}}"#, &["at least 3", "at most 2"]);
    refused(
        r#"{"name": "a", "time": 3, "processors": {"min": 3}}"#,
        &["`time` is one time, but `processors` is a range"],
    );
    refused(r#"{"name": "a", "time": 3, "processors": 0}"#, &["job `a`", "invalid range"]);
    refused(r#"{"name": "a", "time": 3, "processors": 1.5}"#, &["jobs[0].processors", "`1.5` is not a count"]);
    refused(r#"{"name": "a", "time": 3, "processors": 9}"#, &["needs at least 9 processors"]);
    refused(r#"{"name": "a", "time": 3, "processors": {"mn": 3}}"#, &["did you mean `min`?"]);
    refused(r#"{"name": "a", "work": 3, "processors": 2}"#, &["needs a `speedup`"]);
    refused(r#"{"name": "a", "work": 3, "time": 3}"#, &["both `time` and `work`"]);
    refused(r#"{"work": 3}"#, &["jobs[0]", "the key `name` is missing"]);
    refused(r#"{"name": "", "work": 3}"#, &["the name of a job is empty"]);
    refused(r#"{"name": "a", "work": 3, "speedup": {"amdal": {"serial": 0}}}"#, &["did you mean `amdahl`?"]);
    refused(r#"{"name": "a", "work": 3, "speedup": {"amdahl": {"serial": 2}}}"#, &["serial is 2", "from 0 to 1"]);
    refused(r#"{"name": "a", "work": 3, "speedup": {"amdahl": {"serial": 0, "x": 1}}}"#, &["unknown key `x`"]);
    refused(r#"{"name": "a", "work": 3, "weight": -1}"#, &["jobs[0].weight", "`-1` is not a weight"]);
    refused(r#"{"name": "a", "work": 3}, {"name": "a", "work": 3}"#, &["two jobs are named `a`"]);
    for count in ["0", "-1", "1.5", "\"3\"", "1e3", "99999999999999999999", "null, \"x\": 1"] {
        refused(&format!(r#"{{"name": "a", "work": 3, "count": {count}}}"#), &["a.json:2:", "jobs[0]"]);
    }
    refused(r#"{"name": "a", "work": 3, "count": 0}"#, &["jobs[0].count", "`0` is not a number of tasks", "from 1"]);
    refused(r#"{"name": "a", "work": 3, "count": 1000000000000000000}"#, &["more than 146 years"]);
    refused(r#"{"name": "a", "count": 3, "tasks": [{"name": "t", "work": 1}]}"#, &["both `tasks` and `count`"]);
    refused("", &["there are no jobs"]);
    refused(r#"{"name": "a", "#, &["a.json:2:"]);
}

#[test]
fn bad_documents_are_refused_with_their_place() {
    let check = |text: &str, expect: &str| {
        let error = json(text).unwrap_err();
        assert!(error.contains(expect), "{error}");
    };
    check(r#"{"version": 1, "platform": {"processors": 4"#, "the text ends too early");
    check(r#"{"version": 3, "platform": {"processors": 4}, "jobs": []}"#, "version 3 is not supported");
    check(r#"{"platform": {"processors": 4}, "jobs": []}"#, "the key `version` is missing");
    check(r#"{"version": 1, "platform": {"processors": 0}, "jobs": []}"#, "no processors");
    check(r#"{"version": 1, "platform": {"processors": -4}, "jobs": []}"#, "`-4` is not a count");
    check(r#"{"version": 1, "platform": {"nodes": 4}, "jobs": []}"#, "processors_per_node");
    check(r#"{"version": 1, "platform": {"processors": 4}, "jobs": []} x"#, "a.json:1:");
    let rule =
        |platform: &str| format!(r#"{{"version": 1, "platform": {{{platform}, "placement": "compact"}}, "jobs": []}}"#);
    check(&rule(r#""processors": 4"#), "the platform states no nodes within which jobs can be kept; state `nodes`");
    let other = rule(r#""nodes": 2, "processors_per_node": 4"#).replace("compact", "compct");
    check(&other, "`placement` is `compct`; write \"any\", the default, or \"compact\"");
    let check = |text: &str, expect: &str| {
        let error = toml(text).unwrap_err();
        assert!(error.contains(expect), "{error}");
    };
    let start = "version = 1\nplatform.processors = 4\n[[jobs]]\nname = 'a'\n";
    check(&format!("{start}time = [nan]\n"), "a.toml:5:");
    check(&format!("{start}time = [nan]\n"), "jobs[0].time[0]: `NaN` is not a time");
    check(&format!("{start}work = inf\n"), "`inf` is not a time");
    check(&format!("{start}work = 1e300\n"), "too long");
    check(&format!("{start}wrk = 1\n"), "a.toml:5:1: jobs[0]");
    check(&format!("{start}work ="), "a.toml:5:");
    check(
        "version = 1\nplatform.nodes = [{ name = 'x', processors = 1, parent = 'xy' }]\njobs = []",
        "did you mean `x`?",
    );
}

fn profiles() -> impl Strategy<Value = Profile> {
    let ticks = || (1_i64..4_000_000_000_000_000).prop_map(Time::from_ticks);
    let table = (proptest::collection::vec(ticks(), 1..6), 1_u32..6)
        .prop_filter_map("an allotment remains", |(times, min)| Profile::table(times).unwrap().at_least(min));
    let law = (ticks(), 0.0_f64..=1.0, 1.0_f64..50.0, 1_u32..8, 0_u32..60, 0..4).prop_filter_map(
        "the law is defined",
        |(sequential, share, parallelism, min, more, kind)| {
            let law = match kind {
                0 => SpeedupLaw::Linear {},
                1 => SpeedupLaw::Amdahl { serial: share },
                2 => SpeedupLaw::Power { exponent: share },
                _ => SpeedupLaw::Downey { parallelism, sigma: 2.0 * share },
            };
            Profile::law(sequential, law, min, min + more).ok()
        },
    );
    let rigid = (1_u32..8, ticks()).prop_map(|(processors, time)| Profile::rigid(processors, time).unwrap());
    prop_oneof![table, law, rigid]
}

#[test]
fn times_on_machines_are_read_by_name_and_written_back() {
    let text = |jobs: &str| {
        format!(
            r#"{{"version": 1, "platform": {{"nodes": [{{"name": "n0", "processors": 1}}, {{"name": "s", "processors": 0}},
            {{"name": "n1", "processors": 2, "speed": 4}}]}}, "jobs": [{jobs}]}}"#
        )
    };
    let read = |jobs: &str| read_json("a.json", text(jobs).as_bytes(), None).map_err(|error| error.to_string());
    let instance =
        read(r#"{"name": "a", "time_on": {"n1": 31.5, "n0": "12s"}}, {"name": "b", "time_on": {"n1": 0.1}}"#);
    let instance = instance.unwrap();
    let on = |task, node| instance.time_on(TaskId(task), node).map(|time| time.to_string());
    assert_eq!([on(0, 0), on(0, 1), on(0, 2)], [Some("12".into()), None, Some("31.5".into())]);
    assert_eq!([on(1, 0), on(1, 2)], [None, Some("0.1".into())]);
    round_trip(&instance);
    let refused = |job: &str, part: &str| {
        let error = read(job).unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    refused(r#"{"name": "a", "time_on": {"n3": 1}}"#, "jobs[0].time_on: job `a`: `time_on` states a time for `n3`");
    refused(r#"{"name": "a", "time_on": {"n0": 1, "n0": 2}}"#, "`n0` occurs twice");
    refused(r#"{"name": "a", "time_on": {"n0": 0}}"#, "must be positive");
    refused(r#"{"name": "a", "time_on": {}}"#, "no machine can run the task");
    refused(r#"{"name": "a", "time_on": {"s": 1}}"#, "on any node with processors");
    refused(r#"{"name": "a", "time_on": 3}"#, "a table of times by the names of nodes");
    refused(r#"{"name": "a", "time_on": {"n0": 1}, "time": 3}"#, "remove these keys");
    refused(r#"{"name": "a", "time_on": {"n0": 1}, "processors": 2}"#, "remove `processors`");
}

proptest! {
    #[test]
    fn any_instance_survives_writing_and_reading(
        jobs in proptest::collection::vec((profiles(), ".*", 0_u64..5_000_000, 0_i64..1_000_000_000_000), 1..8),
    ) {
        let job = |(at, (profile, name, weight, release)): (usize, (Profile, String, u64, i64))| {
            let longest = profile.longest();
            let job = Job::new(format!("{at}{name}"), profile).with_release(Time::from_ticks(release));
            let job = job.with_command(vec![name]);
            let mut job = job.with_weight(Weight::from_millionths(weight).unwrap());
            job.walltime = (release % 2 == 0).then_some(longest);
            job.priority = (weight % 7) as i32 - 3;
            match std::num::NonZeroU64::new(weight % 4) {
                Some(count) => job.with_count(count),
                None => job,
            }
        };
        let jobs = jobs.into_iter().enumerate().map(job).collect();
        round_trip(&Instance::new(Platform::flat(16).unwrap(), jobs, vec![]).unwrap());
    }
}

const TREE: &str = r#"{"version": 1, "platform": {"nodes": [{"name": "r", "processors": 1, "speed": 22.5},
  {"name": "a", "processors": 2, "parent": "r", "bandwidth": "7Mbit/s", "latency": "6ms"}]},
 "jobs": [{"name": "x", "count": 200, "work": 1e6, "data": 5e5}, {"name": "y", "count": 20, "work": 1, "data": 0, "weight": 3}]}"#;

#[test]
fn a_bag_with_data_is_an_application() {
    let instance = json(TREE).unwrap();
    let problem = makespan_core::tree::TreeProblem::new(&instance).unwrap();
    assert_eq!(problem.applications()[0].ratio().to_string(), "1/2");
    assert_eq!(instance.jobs().iter().map(|job| job.weight.millionths()).collect::<Vec<_>>(), [1_000_000, 3_000_000]);
    assert_eq!(
        instance.jobs().iter().map(|job| instance.task(job.first()).data).collect::<Vec<_>>(),
        [Some(500_000), Some(0)]
    );
    round_trip(&instance);
    refused(r#"{"name": "x", "time": 1, "data": 5}"#, &["`data`", "`count`"]);
    refused(r#"{"name": "x", "count": 2, "time": 1, "data": 0.5}"#, &["`0.5` is not a number of bytes"]);
    refused(r#"{"name": "x", "count": 2, "time": 1, "data": -5}"#, &["`-5` is not a number of bytes"]);
}

#[test]
fn a_file_may_be_read_for_its_platform_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("machines");
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        read_platform(&path)
    };
    let toml = "version = 1\nplatform = { nodes = 2, processors_per_node = 4 }\n";
    let machines = read(toml).unwrap();
    assert_eq!((machines.processors(), machines.jobs().len()), (8, 0));
    let json = r#"{"version": 1, "platform": {"processors": 4},
        "jobs": [{"name": "a", "time": 1}], "unavailable": [{"processors": "1", "start": 3, "end": 5}]}"#;
    let machines = read(json).unwrap();
    assert_eq!((machines.unavailable().len(), machines.jobs().len()), (1, 0));
    for (text, part) in
        [("version = 3\nplatform = { processors = 4 }", "version 3"), ("1 2 3", "machines:1"), ("", "version")]
    {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("machines"), "{error}");
    }
}
