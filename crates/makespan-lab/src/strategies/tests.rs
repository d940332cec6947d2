use super::*;
use crate::campaign::tests::{played, refused};

#[test]
fn a_small_campaign_counts_jobs_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let options = StrategiesOptions { runs: 1, gaps: vec![20], jobs: 3, tasks: 6, ..StrategiesOptions::usual() };
    let (first, runs) = played(&options, folder.path());
    assert_eq!((first.runs, first.reused, first.claims.len()), (2, 0, 4));
    assert!(runs.iter().all(|run| run.outcomes.len() == 5 && run.outcomes.iter().all(|one| one.1.in_time <= 3)));
    let (again, _) = played(&options, folder.path());
    assert_eq!((again.reused, again.text == first.text), (2, true));
    refused(&StrategiesOptions { runs: 0, ..options }, folder.path(), "runs");
}
