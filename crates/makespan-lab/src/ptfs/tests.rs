use std::collections::BTreeMap;

use super::*;
use crate::campaign::{Silent, Verdict};

fn small(folder: &std::path::Path) -> Options {
    Options { tasks: 60, sizes: vec![5000], rates: vec![0.25, 1.0, 8.0], ..Options::paper(folder) }
}

#[test]
fn a_small_campaign_writes_everything_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let options = small(folder.path());
    let summary = reproduce(&options, &mut Silent).unwrap();
    assert_eq!((summary.runs, summary.reused), (3, 0));
    for name in ["results.csv", "report.txt", "figure10.svg", "figure12.svg", "figure12b.svg"] {
        assert!(folder.path().join(name).metadata().unwrap().len() > 100, "{name}");
    }
    let again = reproduce(&options, &mut Silent).unwrap();
    assert_eq!((again.runs, again.reused, again.points == summary.points), (3, 3, true));
    for (_, row) in summary.points.of_size(5000) {
        for point in row {
            assert!(point.gap >= 0.0 && (point.phases.iter().sum::<f64>() - 1.0).abs() < 1e-6);
            assert!(point.utilisation > 0.0 && point.utilisation <= 1.0);
        }
    }
    // What was not measured has no verdict.
    assert_eq!(summary.claims[0].verdict, Verdict::NotMeasured);
}

#[test]
fn threads_change_nothing() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let of = |at: usize| {
        let options = Options { threads: Some(1 + 2 * at), ..small(folders[at].path()) };
        reproduce(&options, &mut Silent).unwrap().points
    };
    assert_eq!(of(0), of(1));
}

#[test]
fn claims_follow_the_points() {
    let row = |ptfs: f64, others: f64| -> Vec<Point> {
        let point = |maxspan: f64| Point { maxspan, utilisation: 1.0 / maxspan, ..Point::default() };
        (0..SCHEDULERS.len()).map(|at| point(if at == 0 { ptfs } else { others })).collect()
    };
    let rows = [(125_000, 1.0, 1.0), (1_000_000, 1.0, 1.1), (8_000_000, 1.0, 1.01), (16_000_000, 1.0, 1.01)];
    let points = rows.map(|(rate, ptfs, others)| ((50_000, rate), row(ptfs, others)));
    let claims = claims::all(&Points::synthetic(BTreeMap::from(points)));
    let verdicts: Vec<Verdict> = claims
        .iter()
        .filter(|claim| ["Figure 9", "Figure 11"].contains(&claim.place))
        .map(|claim| claim.verdict)
        .collect();
    assert_eq!(verdicts, [Verdict::Holds; 5]);
    assert!(claims.iter().any(|claim| claim.measured.contains("10.00 % at 1")));
}

#[test]
fn refuses_what_cannot_be_run() {
    let paper = Options::paper("nowhere");
    for (options, part) in [
        (Options { sizes: vec![], ..paper.clone() }, "sizes"),
        (Options { rates: vec![0.0], ..paper.clone() }, "rates"),
        (Options { runs: 0, ..paper.clone() }, "runs"),
        (Options { threads: Some(0), ..paper }, "threads"),
    ] {
        assert!(reproduce(&options, &mut Silent).unwrap_err().to_string().contains(part));
    }
}
