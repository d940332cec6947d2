use super::points::{TreeGroup, points};
use super::*;
use crate::campaign::tests::{played, refused};

fn options(threads: usize) -> TreeCampaignOptions {
    TreeCampaignOptions { trees: 1, tasks: 20, alone: true, threads: Some(threads), ..TreeCampaignOptions::usual() }
}

#[test]
fn a_short_campaign_has_every_figure_whatever_the_threads() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (summary, runs) = played(&options(1), folders[0].path());
    assert_eq!((summary.runs, summary.reused), (90, 0));
    let (again, _) = played(&options(3), folders[1].path());
    assert_eq!(again.text, summary.text);
    for name in ["results.csv", "summary.csv", "report.txt", "figure2-10.svg", "figure3-fcfs.svg"] {
        let read = |folder: &tempfile::TempDir| std::fs::read(folder.path().join(name)).unwrap();
        assert!(read(&folders[0]) == read(&folders[1]), "{name}");
    }
    assert_eq!(played(&options(1), folders[0].path()).0.reused, 90);
    // Even with few tasks, the throughput of back-pressure is near the throughput of LP.
    let key = (PaperReading::DEFAULT, Setting::Long, TreeGroup::All, "back-pressure".to_owned());
    let ratio = points(&runs)[&key].geometric_mean().unwrap();
    assert!((0.9..1.3).contains(&ratio), "{ratio}");
}

#[test]
fn options_that_measure_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let good = options(1);
    for bad in [
        TreeCampaignOptions { trees: 0, ..good.clone() },
        TreeCampaignOptions { tasks: 1, ..good.clone() },
        TreeCampaignOptions { reading: PaperReading { applications: 0, ..PaperReading::DEFAULT }, ..good.clone() },
        TreeCampaignOptions { threads: Some(0), ..good },
    ] {
        refused(&bad, folder.path(), " is ");
    }
}
