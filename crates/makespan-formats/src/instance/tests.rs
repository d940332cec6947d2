use makespan_core::{Instance, Time};

use super::*;

fn json(text: &str) -> Result<Instance, String> {
    read_json("a.json", text.as_bytes()).map_err(|error| error.to_string())
}

fn toml(text: &str) -> Result<Instance, String> {
    read_toml("a.toml", text).map_err(|error| error.to_string())
}

/// A JSON file of one job is refused with these words.
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
    let profile = |at: usize| instance.jobs()[at].profile();
    assert_eq!(profile(0).time(2), Time::from_ticks(6_100_000_000));
    assert_eq!(profile(2).max_processors(), 64);
    assert_eq!(profile(3).time(1), Time::from_ticks(7_200_123_456_789));
    assert_eq!(profile(5).work(8), 960_000_000_000);
    assert_eq!(instance.jobs()[6].release, Time::from_ticks(90_071_992_547_409_931));
    assert_eq!((profile(7).min_processors(), profile(7).max_processors()), (2, 4));
    assert_eq!(instance.unavailable()[0].end, Time::from_seconds(200));
}
