use super::*;
use crate::campaign::tests::{played, refused};
use crate::campaign::{SearchLimit, SearchLimits, SearchOptions};

#[test]
fn the_example_is_served_in_time_in_both_ways() {
    let example = example().unwrap();
    let (one, both) = (&example.consecutive, &example.collective);
    assert_eq!((one.in_time, both.in_time), (2, 2));
    // Every job is released at 0, so only the policy delays the second job.
    for way in [one, both] {
        assert!(way.instance.jobs().iter().all(|job| job.release == makespan_core::Time::ZERO));
    }
    assert!(one.end() <= 250.0 && both.end() <= 140.0 && both.end() < one.end(), "{} {}", one.end(), both.end());
    assert!(one.second_starts() > both.second_starts());
}

#[test]
fn a_small_campaign_runs_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let search = SearchOptions { limits: SearchLimits(vec![SearchLimit::Steps(500)]), searches: 1, at_once: 2 };
    let makespans = makespans::MakespansOptions { graphs: 1, search, standard: None, seed: 0 };
    let options = CriticalJobsOptions { makespans, graphs: 1, flows: 1, jobs: 2, threads: Some(2), seed: 1 };
    let (first, _) = played(&options, folder.path());
    assert_eq!((first.runs, first.reused, first.claims.len()), (13, 0, 16));
    let (again, _) = played(&options, folder.path());
    assert_eq!((again.reused, again.text == first.text), (13, true));
    for name in ["results.csv", "makespans/results.csv", "report.txt", "figure2.svg", "figure3.svg"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    refused(&CriticalJobsOptions { graphs: 0, ..options }, folder.path(), "graphs is 0");
}
