use std::path::Path;

use makespan_core::Schedule;
use makespan_generate::Family;

use super::*;
use crate::campaign::tests::{played, refused};
use crate::campaign::{Instances, Progress, Silent, reproduce};

/// Counts the progress calls of a campaign.
#[derive(Default)]
struct Count {
    started: Vec<(usize, usize)>,
    finished: usize,
}

impl Progress for Count {
    fn started(&mut self, total: usize, reused: usize) {
        self.started.push((total, reused));
    }

    fn finished(&mut self, done: usize, total: usize) {
        assert!(done <= total);
        self.finished += 1;
    }
}

fn small() -> DemtOptions {
    let usual = DemtOptions::usual();
    let families = vec![Family::High, Family::Cirne];
    with(&usual, Instances { families, sizes: vec![5, 8], processors: 10, runs: 3, ..usual.instances.clone() })
}

/// Returns `options` with other instances.
fn with(options: &DemtOptions, instances: Instances) -> DemtOptions {
    DemtOptions { instances, ..options.clone() }
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_any_number_of_threads() {
    let folders = [1, 3].map(|threads| {
        let folder = tempfile::tempdir().unwrap();
        let (summary, _) = played(&DemtOptions { threads: Some(threads), ..small() }, folder.path());
        assert_eq!((summary.runs, summary.reused), (12, 0));
        folder
    });
    for name in ["results.csv", "summary.csv"] {
        assert_eq!(read(folders[0].path(), name), read(folders[1].path(), name), "{name}");
    }
    let results = read(folders[0].path(), "results.csv");
    assert_eq!(results.lines().count(), 1 + 12 * algorithm::ALL.len());
    for name in ["figure2.svg", "figure4a.svg", "figure4b.svg", "figure4c.svg", "figure6a.svg", "figure7.svg"] {
        assert!(read(folders[0].path(), name).contains("<svg"), "{name}");
    }
    assert!(!folders[0].path().join("figure3a.svg").exists(), "no figure is drawn of a family that was not run");
    let other = tempfile::tempdir().unwrap();
    let options = small();
    let seeded = with(&options, Instances { seed: 2, ..options.instances.clone() });
    played(&seeded, other.path());
    assert_ne!(results, read(other.path(), "results.csv"));
}

#[test]
fn an_interrupted_campaign_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    played(&small(), folder.path());
    let (results, journal) = (read(folder.path(), "results.csv"), read(folder.path(), "journal.jsonl"));
    // A journal as `kill -9` may leave it: five complete lines and one incomplete line.
    let lines: Vec<&str> = journal.lines().collect();
    let torn = format!("{}\n{}", lines[..5].join("\n"), &lines[5][..lines[5].len() / 2]);
    std::fs::write(folder.path().join("journal.jsonl"), torn).unwrap();
    let mut count = Count::default();
    let (summary, _) = reproduce(&small(), folder.path(), &mut count).unwrap();
    assert_eq!((summary.runs, summary.reused, count.finished), (12, 5, 7));
    assert_eq!(count.started, [(12, 5)]);
    assert_eq!(read(folder.path(), "results.csv"), results);
    let mut count = Count::default();
    reproduce(&small(), folder.path(), &mut count).unwrap();
    assert_eq!(count.finished, 0, "a finished campaign has nothing left to run");
}

#[test]
fn runs_of_other_options_are_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    let options = small();
    played(&options, folder.path());
    let other = with(&options, Instances { seed: 2, ..options.instances.clone() });
    let (summary, _) = played(&other, folder.path());
    assert_eq!(summary.reused, 0);
    let fewer = Instances { runs: 1, families: vec![Family::High], ..options.instances.clone() };
    let fewer = with(&options, fewer);
    let (summary, _) = played(&fewer, folder.path());
    assert_eq!((summary.runs, summary.reused), (2, 2));
}

#[test]
fn a_spoilt_journal_and_a_busy_folder_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    std::fs::write(&path, "\n{\"options\": 3}\n").unwrap();
    refused(&small(), folder.path(), "journal.jsonl, line 2");
    let other = std::fs::File::open(&path).unwrap();
    other.lock().unwrap();
    assert!(matches!(reproduce(&small(), folder.path(), &mut Silent), Err(LabError::Busy(_))));
}

#[test]
fn a_schedule_below_a_bound_or_invalid_stops_the_campaign() {
    let folder = tempfile::tempdir().unwrap();
    let solved = |solve: Solve| DemtOptions { solve, ..small() };
    refused(&solved(|_, _, _| Ok(Schedule::default())), folder.path(), "its schedule is invalid");
    let refusing = solved(|_, _, _| Err("out of ideas".into()));
    refused(&refusing, folder.path(), "out of ideas");
    refused(&refusing, folder.path(), "demt failed on family");
}

#[test]
fn unusable_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let base = small();
    let refused = |options: DemtOptions, part: &str| refused(&options, folder.path(), part);
    let drawn = &base.instances;
    refused(with(&base, Instances { runs: 0, ..drawn.clone() }), "runs is 0");
    refused(with(&base, Instances { sizes: vec![5, 0], ..drawn.clone() }), "sizes");
    refused(with(&base, Instances { families: vec![], ..drawn.clone() }), "families");
    refused(with(&base, Instances { processors: 0, ..drawn.clone() }), "processors");
    refused(DemtOptions { threads: Some(0), ..base.clone() }, "threads");
    refused(DemtOptions { algorithms: Some("demt,demt".into()), ..base.clone() }, "only once");
    refused(DemtOptions { algorithms: Some("dement".into()), ..base }, "demt");
}

#[test]
fn shuffling_batches_gains_on_cirne_instances() {
    use makespan_algos::Context;
    use makespan_core::Objective;

    use makespan_generate::{MoldableOptions, generate};
    let mut gains = 0;
    for seed in 1..=5 {
        let options = MoldableOptions { family: Family::Cirne, jobs: 100, processors: 200, seed, arrival_rate: None };
        let instance = generate(&options).unwrap();
        let minsum = |spec| {
            let scheduler = makespan_algos::scheduler(spec).unwrap();
            let plan = scheduler.schedule(&instance, &mut Context::with_seed(seed)).unwrap();
            Objective::WeightedCompletion.value(&instance, &plan.into_schedule().unwrap())
        };
        let (before, after) = (minsum(algorithm::UNSHUFFLED), minsum(algorithm::DEMT));
        assert!(after <= before, "{after} {before}");
        gains += usize::from(after < before);
    }
    assert!(gains >= 4, "the weighted completion of {gains} of 5 falls");
}
