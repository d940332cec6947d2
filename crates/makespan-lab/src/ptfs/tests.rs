use super::points::{Group, Point, Row};
use super::*;
use crate::campaign::Verdict;
use crate::campaign::tests::{played, refused};

fn small() -> PtfsOptions {
    PtfsOptions {
        tasks: 60,
        sizes: vec![5000],
        rates: vec![0.25, 1.0, 8.0],
        swings: vec![0.0, 1.0],
        runs: 2,
        ..PtfsOptions::usual()
    }
}

#[test]
fn a_small_campaign_writes_everything_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let options = small();
    let (summary, runs) = played(&options, folder.path());
    assert_eq!((summary.runs, summary.reused), (12, 0));
    for name in [
        "results.csv",
        "report.txt",
        "figure10.svg",
        "figure10-swing-0.svg",
        "figure10-by-swing.svg",
        "figure12.svg",
        "figure12b.svg",
    ] {
        assert!(folder.path().join(name).metadata().unwrap().len() > 100, "{name}");
    }
    let (again, reused) = played(&options, folder.path());
    assert_eq!((again.runs, again.reused, reused == runs), (12, 12, true));
    for (_, row) in Points::of(&runs).of_group(Group { mean_size: 5000, swing: 1.0 }) {
        assert_eq!(row.advantages.len(), 2);
        for point in &row.points {
            assert!(point.gap >= 0.0 && (point.phases.iter().sum::<f64>() - 1.0).abs() < 1e-6);
            assert!(point.utilisation > 0.0 && point.utilisation <= 1.0);
        }
    }
    // The first claim is about another mean size of tasks.
    assert_eq!(summary.claims[0].verdict, Verdict::NotMeasured);
}

#[test]
fn threads_change_nothing() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let of = |at: usize| {
        let options = PtfsOptions { threads: Some(1 + 2 * at), ..small() };
        played(&options, folders[at].path()).1
    };
    assert_eq!(of(0), of(1));
}

#[test]
fn claims_follow_the_points() {
    let row = |ptfs: f64, others: f64| {
        let point = |makespan: f64| Point { makespan, utilisation: 1.0 / makespan, ..Point::default() };
        let points = (0..SCHEDULERS.len()).map(|at| point(if at == 0 { ptfs } else { others })).collect();
        // A row has two flows. The advantages of PTFS on these flows differ slightly.
        let (more, used) = (others / ptfs - 1.0, 1.0 / ptfs - 1.0 / others);
        Row { points, advantages: vec![more - 1e-4, more + 1e-4], more_used: vec![used, used] }
    };
    let rows = [(125_000, 1.0, 1.0), (1_000_000, 1.0, 1.1), (8_000_000, 1.0, 1.01), (16_000_000, 1.0, 1.01)];
    let swinging = rows.map(|(rate, ptfs, others)| ((50_000, 500_000, rate), row(ptfs, others)));
    let level = rows.map(|(rate, ptfs, _)| ((50_000, 0, rate), row(ptfs, 1.005)));
    let verdicts = |rows: Vec<((u32, u32, u64), Row)>| -> Vec<Verdict> {
        let claims = claims::all(&Points(rows.into_iter().collect()));
        assert!(claims.iter().any(|claim| claim.measured.contains("10.00 +- 0.13 % at 1")), "{claims:?}");
        claims
            .iter()
            .filter(|claim| ["Figure 9", "Figure 11"].contains(&claim.place.as_str()))
            .map(|claim| claim.verdict)
            .collect()
    };
    assert_eq!(verdicts([swinging.to_vec(), level.to_vec()].concat()), [Verdict::Holds; 6]);
    // The claim is that the advantage is larger at a swinging rate than at a constant rate. Without flows at a constant
    // rate, the claim is not measured. If the advantage is larger at a constant rate, the claim does not hold.
    assert_eq!(verdicts(swinging.to_vec())[1], Verdict::NotMeasured);
    let larger = rows.map(|(rate, ptfs, _)| ((50_000, 0, rate), row(ptfs, 1.2)));
    assert_eq!(verdicts([swinging.to_vec(), larger.to_vec()].concat())[1], Verdict::DoesNotHold);
}

#[test]
fn refuses_what_cannot_be_run() {
    let paper = PtfsOptions::usual();
    for (options, part) in [
        (PtfsOptions { sizes: vec![], ..paper.clone() }, "sizes"),
        (PtfsOptions { rates: vec![0.0], ..paper.clone() }, "rates"),
        (PtfsOptions { swings: vec![1.5], ..paper.clone() }, "swings"),
        (PtfsOptions { runs: 0, ..paper.clone() }, "runs"),
        (PtfsOptions { threads: Some(0), ..paper }, "threads"),
    ] {
        refused(&options, "nowhere".as_ref(), part);
    }
}

#[test]
fn tables_of_eight_rates_are_at_most_100_columns_wide() {
    let points = vec![
        Point { gap: 9.99, flow_time: 123_456.0, phases: [0.331, 0.331, 0.338], ..Point::default() };
        SCHEDULERS.len()
    ];
    let row = Row { points, ..Row::default() };
    let options = PtfsOptions::usual();
    let points = options.keys().iter().map(|key| ((key.mean_size, key.swing, key.rate), row.clone())).collect();
    let text = report::text(&options, &Points(points));
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.is_empty() && text.contains("immediate MCT"), "{wide:?}");
}
