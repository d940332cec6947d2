use super::*;
use crate::campaign::tests::{played, refused};
use crate::campaign::{SearchLimit, SearchLimits, Verdict};

fn options(standard: Option<PathBuf>) -> MakespansOptions {
    let search = SearchOptions { limits: SearchLimits(vec![SearchLimit::Steps(2000)]), searches: 1, at_once: 2 };
    MakespansOptions { graphs: 1, search, standard, seed: 1 }
}

#[test]
fn a_small_part_runs_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let (first, _) = played(&options(None), folder.path());
    assert_eq!((first.runs, first.reused, first.claims.len()), (6, 0, 3));
    // The targets are for searches with a time limit of one second. The test runs no such search, so the targets are
    // not measured.
    assert_eq!(first.claims[0].verdict, Verdict::NotMeasured);
    assert!(first.text.contains("Skipped the standard task graphs"));
    let (again, _) = played(&options(None), folder.path());
    assert_eq!((again.reused, again.text == first.text), (6, true));
    let table = std::fs::read_to_string(folder.path().join("results.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 6 * 6);
    refused(&MakespansOptions { graphs: 0, ..options(None) }, folder.path(), "graphs is 0");
    refused(&options(Some("/nowhere".into())), folder.path(), "name a folder");
}

#[test]
fn sizes_are_from_20_to_100_with_a_mean_near_51() {
    let tasks = (0..16).map(|run| instance(1, &[], MakespansKey::Drawn(0, run, 16)).unwrap().0.tasks() as usize);
    let tasks: Vec<usize> = tasks.collect();
    assert_eq!((tasks[0], tasks[15]), (20, 100));
    let mean = tasks.iter().sum::<usize>() as f64 / 16.0;
    assert!((49.0..=53.0).contains(&mean), "{mean}");
}
