//! Tests of jobs and tasks without stated run times.

use makespan_core::{Estimate, Instance, Job, JobId, Profile, SpeedupLaw, TaskId, Time};
use proptest::prelude::*;

use super::tests::{assert_equal, json, round_trip, toml};
use crate::guess::{GUESS, GUESSED_LAW, guessed};
use crate::instance::{Language, write_instance};

fn on_8(jobs: &str) -> Result<Instance, String> {
    json(&format!("{{\"version\": 2, \"platform\": {{\"processors\": 8}}, \"jobs\": [{jobs}]}}"))
}

fn on_8_with_memory(jobs: &str) -> Result<Instance, String> {
    let platform = r#""nodes": [{"name": "n", "processors": 8, "resources": {"memory": 9}}]"#;
    json(&format!("{{\"version\": 2, \"platform\": {{{platform}}}, \"jobs\": [{jobs}]}}"))
}

fn refused(job: &str, parts: &[&str]) {
    let error = on_8(job).unwrap_err();
    parts.iter().for_each(|part| assert!(error.contains(part), "{error}\nlacks {part}"));
}

#[test]
fn a_job_without_a_time_has_a_guess() {
    let instance = on_8(
        r#"{"name": "a"}, {"name": "b", "processors": 4}, {"name": "c", "processors": {"min": 2, "max": 6}},
           {"name": "d", "speedup": {"linear": {}}}, {"name": "e", "walltime": 10, "processors": {"max": 4}},
           {"name": "f", "time": 5}, {"name": "g", "count": 9, "data": 100},
           {"name": "h", "walltime": "20s", "tasks": [{"name": "x"}, {"name": "y", "time": 3}], "edges": [{"from": "x", "to": "y"}]}"#,
    )
    .unwrap();
    let profile = |job: u32| instance.profile_of(JobId(job));
    let on = |job: u32, processors: u32| profile(job).time(processors);
    let second = Time::from_seconds;
    assert_eq!((on(0, 1), profile(0).max_processors()), (GUESS, 1));
    assert_eq!((on(1, 4), profile(1).min_processors()), (GUESS, 4));
    assert_eq!((on(2, 2), profile(2).min_processors(), profile(2).max_processors()), (GUESS, 2, 6));
    assert_eq!(profile(2).speedup().unwrap().1, GUESSED_LAW);
    assert_eq!((on(3, 1), on(3, 8)), (GUESS, Time::from_ticks(7_500_000_000)));
    assert_eq!((on(4, 1), on(5, 1), on(6, 1)), (second(10), second(5), GUESS), "no longer than the walltime");
    let last = instance.job(JobId(7));
    assert_eq!(instance.profile(last.task(0)).time(1), second(20));
    assert_eq!((instance.guesses(), instance.different_tasks()), (7, 9));
    let guess = |task: TaskId| instance.task(task).estimate.is_guess();
    assert!(guess(last.task(0)) && !guess(last.task(1)) && !guess(instance.job(JobId(5)).first()));
    let said = instance.notes()[0].describe(&instance);
    assert!(said.starts_with("7 of 9 run times are guesses; "), "{said}");
    round_trip(&instance);
}

/// Checks that guessed run times are not written to JSON or TOML.
#[test]
fn a_default_is_not_written() {
    let instance = on_8(r#"{"name": "a"}, {"name": "b", "processors": {"min": 1, "max": 3}}, {"name": "c", "speedup": {"power": {"exponent": 0.5}}}"#)
        .unwrap();
    for language in [Language::Json, Language::Toml] {
        let mut bytes = Vec::new();
        write_instance(&instance, language, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        for word in ["time", "work", "estimate", "amdahl"] {
            assert!(!text.contains(word), "{text}");
        }
        assert!(text.contains("power"), "{text}");
    }
}

#[test]
fn the_source_of_memory_is_kept() {
    let instance = on_8_with_memory(
        r#"{"name": "a", "time": 5, "needs": {"memory": 7}, "memory_estimate": {"runs": 3, "spread": 0.25}},
           {"name": "b", "time": 5, "needs": {"memory": 7}, "memory_estimate": "guessed"}, {"name": "c", "time": 5},
           {"name": "d", "tasks": [{"name": "x", "time": 1, "needs": {"memory": 1}, "memory_estimate": "guessed"}]}"#,
    )
    .unwrap();
    let source = |job: u32| instance.task(instance.job(JobId(job)).first()).memory_estimate;
    assert_eq!(source(0), Estimate::Learned { runs: 3, spread: 0.25 });
    assert_eq!([source(1), source(2), source(3)], [Estimate::Guessed, Estimate::Stated, Estimate::Guessed]);
    round_trip(&instance);
    let refused = |job: &str, part: &str| {
        let error = on_8_with_memory(job).unwrap_err();
        assert!(error.contains(part), "{error}\nlacks {part}");
    };
    let lacks = "`memory_estimate` states the source of the memory in `needs`, but `needs` states no memory";
    refused(r#"{"name": "a", "time": 1, "memory_estimate": "guessed"}"#, lacks);
    refused(r#"{"name": "a", "tasks": [{"name": "x", "time": 1, "memory_estimate": "guessed"}]}"#, lacks);
    refused(r#"{"name": "a", "tasks": [{"name": "x"}], "memory_estimate": "guessed"}"#, "remove `memory_estimate`");
    refused(r#"{"name": "a", "needs": {"memory": 1}, "memory_estimate": {"runs": 0}}"#, "`runs` is 0");
}

#[test]
fn an_estimate_says_how_a_time_is_known() {
    let estimate = |instance: &Instance, job: u32| instance.task(instance.job(JobId(job)).first()).estimate;
    let instance = on_8(
        r#"{"name": "a", "time": 5, "estimate": "guessed"}, {"name": "b", "time": 5, "estimate": {"runs": 3, "spread": 0.25}},
           {"name": "c", "time": 5, "estimate": "stated"}, {"name": "d", "estimate": "guessed"}"#,
    )
    .unwrap();
    assert_eq!(estimate(&instance, 0), Estimate::Guessed);
    assert_eq!(estimate(&instance, 1), Estimate::Learned { runs: 3, spread: 0.25 });
    assert_eq!((estimate(&instance, 2), estimate(&instance, 3)), (Estimate::Stated, Estimate::Guessed));
    round_trip(&instance);
    refused(r#"{"name": "a", "estimate": "stated"}"#, &["job `a`", "there is no run time", "write `time`"]);
    refused(r#"{"name": "a", "time": 1, "estimate": "gessed"}"#, &["jobs[0].estimate", "did you mean `guessed`?"]);
    refused(r#"{"name": "a", "time": 1, "estimate": {"runs": 0}}"#, &["`runs` is 0"]);
    refused(r#"{"name": "a", "time": 1, "estimate": {"runs": 2, "spread": -1}}"#, &["`spread` is negative"]);
    refused(r#"{"name": "a", "time": 1, "estimate": {"spread": 1}}"#, &["`runs` is missing"]);
    refused(r#"{"name": "a", "time": 1, "estimate": 3}"#, &["jobs[0].estimate", "\"guessed\""]);
    refused(r#"{"name": "a", "processors": {"min": 3, "max": 2}}"#, &["job `a`", "invalid range of processors"]);
    refused(r#"{"name": "a", "speedup": {"amdahl": {"serial": 2}}}"#, &["job `a`", "serial"]);
}

#[test]
fn a_command_may_be_a_text_for_the_shell() {
    let head = "version = 2\n[platform]\nprocessors = 8\n[[jobs]]\nname = \"a\"\ncommand = ";
    let instance = toml(&format!("{head}\"echo 'a b' | wc\"")).unwrap();
    assert_eq!(&*instance.command(TaskId(0)), ["sh", "-c", "echo 'a b' | wc"]);
    round_trip(&instance);
    let mut bytes = Vec::new();
    write_instance(&instance, Language::Toml, &mut bytes).unwrap();
    assert!(String::from_utf8(bytes).unwrap().contains("command = \"echo 'a b' | wc\""));
    round_trip(&toml(&format!("{head}[\"echo\", \"a\"]")).unwrap());
    for (bad, part) in [("\" \"", "is empty"), ("3", "expected a program"), ("\"a\\u0000\"", "NUL"), ("[3]", "")] {
        let error = toml(&format!("{head}{bad}")).unwrap_err();
        assert!(error.contains("jobs[0].command") && error.contains(part), "{error}");
    }
}

proptest! {
    /// Checks that guesses are read back unchanged, for any platform, walltime and data from earlier runs.
    #[test]
    fn guesses_survive_a_round_trip(
        min in 1_u32..9, more in 0_u32..12, walltime in proptest::option::of(1_i64..200_000), kind in 0_usize..4,
        ticks in 1_i64..1_000_000_000_000, runs in 1_u32..50, spread in 0.0_f64..3.0,
    ) {
        let law = [None, Some(SpeedupLaw::Linear {}), Some(SpeedupLaw::Power { exponent: 0.3 }), None][kind];
        let walltime = walltime.map(|thousandths| Time::from_ticks(thousandths * 1_000_000));
        let profile = guessed(min, min + more, law, walltime).unwrap();
        let mut jobs = vec![
            Job::new("default", profile.clone()).with_estimate(Estimate::Guessed),
            Job::new("learned", profile).with_estimate(Estimate::Learned { runs, spread }),
        ];
        jobs.iter_mut().for_each(|job| job.walltime = walltime);
        // A run time learned from other jobs is also a guess.
        jobs.push(Job::new("other", Profile::rigid(min, Time::from_ticks(ticks)).unwrap()).with_estimate(Estimate::Guessed));
        let platform = makespan_core::Platform::flat(8).unwrap();
        let instance = Instance::new(platform, jobs, vec![]).unwrap();
        round_trip(&instance);
        prop_assert_eq!(instance.guesses(), 2);
        let mut bytes = Vec::new();
        write_instance(&instance, Language::Json, &mut bytes).unwrap();
        let again = json(std::str::from_utf8(&bytes).unwrap()).unwrap();
        assert_equal(&instance, &again);
    }
}
