use std::fs;
use std::path::Path;

use super::report::{Point, points};
use super::*;
use crate::campaign::tests::{played, refused};
use crate::campaign::{SearchLimit, SearchLimits, SearchOptions, Verdict};

fn small() -> RcpspOptions {
    let search = SearchOptions { limits: SearchLimits(vec![SearchLimit::Steps(50)]), searches: 1, at_once: 2 };
    RcpspOptions { projects: 2, search, ..RcpspOptions::usual() }
}

/// A project of three activities on one resource of capacity 2. Two activities of 2 time units can run at the same
/// time. One activity of 3 time units starts after both.
const PROJECT: &str = "5 1\n2\n0 0 2 2 3\n2 1 1 4\n2 1 1 4\n3 2 1 5\n0 0 0\n";

fn write_project(folder: &Path, set: &str, name: &str) {
    fs::create_dir_all(folder.join(set)).unwrap();
    fs::write(folder.join(set).join(name), PROJECT).unwrap();
}

#[test]
fn drawn_projects_are_measured_over_their_own_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let options = small();
    let (first, runs) = played(&options, folder.path());
    let points = points(&runs, &KnownValues::default());
    assert_eq!((first.runs, first.reused, points.len()), (10, 0, 5 * (ALGORITHMS.len() + 1)));
    for point in &points {
        assert!(point.over_bound >= 0.0 && point.over_path >= point.over_bound, "{point:?}");
        assert_eq!((point.over_best, point.bound_below, point.known, point.missed), (None, None, 0, 0));
        assert!(point.planned == 2 || point.set.ends_with("mm"), "{point:?}");
    }
    assert!(first.claims.iter().all(|claim| claim.verdict == Verdict::NotMeasured));
    let svg = fs::read_to_string(folder.path().join("gaps-drawn-30.svg")).unwrap();
    assert!(svg.contains("priority, lft, parallel") && svg.contains("verified bound"));
    let (again, reused) = played(&options, folder.path());
    assert_eq!((again.runs, again.reused, reused), (10, 10, runs));
}

#[test]
fn files_stand_beside_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    write_project(folder.path(), "x", "j30_1_1.rcp");
    write_project(folder.path(), "x", "j302_1.rcp");
    write_project(folder.path(), "mine", "a.rcp");
    let best = folder.path().join("best.csv");
    fs::write(&best, "instance,best_known_makespan\nj30_1_1,5\nj30_2_1,4\n").unwrap();
    let options = RcpspOptions { instances: Some(folder.path().to_owned()), best: Some(best), ..small() };
    let names: Vec<String> = options.files().iter().map(File::to_string).collect();
    assert_eq!(names, ["mine/a", "j30/j30_1_1", "j30/j302_1"]);
    let (_, runs) = played(&options, &folder.path().join("results"));
    let points = points(&runs, &options.known().unwrap().checked(&runs).0);
    let point = points.iter().find(|point| point.set == "j30").unwrap();
    // The table states 4 as the best known makespan of the second project. The campaign proves that no plan is so
    // short, and ignores this value.
    assert_eq!((point.projects, point.planned, point.known), (2, 2, 1));
    assert_eq!((point.over_path, point.over_best, point.as_best), (0.0, Some(0.0), Some(100.0)));
    assert_eq!((point.optimal, point.bound_below), (100.0, Some(0.0)));
    let report = fs::read_to_string(folder.path().join("results/report.txt")).unwrap();
    assert!(report.contains(
        "False makespans of the table (--best), which are ignored: 1\n  j302_1 cannot end by 4: 5 is proved"
    ));
    let own = RcpspOptions { sets: Some(vec!["mine".into()]), found: std::sync::OnceLock::new(), ..options };
    assert_eq!(own.files().len(), 1);
}

fn point(set: &str, algorithm: String, over_path: f64, over_best: f64) -> Point {
    Point {
        set: set.into(),
        algorithm,
        projects: 480,
        planned: 480,
        over_path,
        over_bound: 1.0,
        over_best: Some(over_best),
        known: 480,
        missed: 0,
        as_best: None,
        optimal: 0.0,
        bound_below: Some(3.0),
        seconds: 1.0,
    }
}

#[test]
fn verdicts_follow_from_the_targets_and_from_whole_sets() {
    let search = SearchOptions { limits: "1s".parse().unwrap(), searches: 2, at_once: 1 };
    let spec = search.specs().next().unwrap();
    let options = RcpspOptions { search, ..small() };
    let points = [point("j30", spec.clone(), 13.0, 0.031), point("j60", spec.clone(), 10.6, 0.1)];
    let of = |points: &[Point], place: &str| {
        claims::all(&options, points).into_iter().find(|claim| claim.place == place).unwrap().verdict
    };
    assert_eq!(of(&points, "j30, 1 s"), Verdict::DoesNotHold);
    assert_eq!(of(&points, "j60, 1 s"), Verdict::Holds);
    assert_eq!(of(&points, "j30, 10 s"), Verdict::NotMeasured);
    let part = |change: fn(&mut Point)| {
        let mut points = points.clone();
        points.iter_mut().for_each(change);
        points
    };
    assert_eq!(of(&part(|point| point.projects = 240), "j60, 1 s"), Verdict::NotMeasured);
    assert_eq!(of(&part(|point| point.planned = 479), "j60, 1 s"), Verdict::DoesNotHold);
    assert_eq!(of(&part(|point| point.over_best = Some(0.02)), "j30, 1 s"), Verdict::Holds);
    // Projects without a best known makespan may be harder than other projects.
    let fewer = part(|point| (point.over_best, point.known) = (Some(0.02), 200));
    assert_eq!(of(&fewer, "j30, 1 s"), Verdict::Partly);
    let missed = part(|point| (point.over_best, point.missed) = (Some(0.02), 1));
    assert_eq!(of(&missed, "j30, 1 s"), Verdict::DoesNotHold);
}

#[test]
fn what_measures_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let none = Some(folder.path().join("nowhere"));
    refused(&RcpspOptions { instances: none, ..small() }, folder.path(), "nowhere");
    refused(&RcpspOptions { instances: Some(folder.path().to_owned()), ..small() }, folder.path(), "without projects");
    refused(&RcpspOptions { best: Some("best.csv".into()), ..small() }, folder.path(), "without --instances");
    let sets = Some(vec!["j999".to_owned()]);
    refused(
        &RcpspOptions { sets, ..small() },
        folder.path(),
        "no project belongs to the sets j999; the available sets are drawn",
    );
    refused(&RcpspOptions { projects: 0, ..small() }, folder.path(), "projects");
    // A broken file is reported before the other projects are planned.
    let files = tempfile::tempdir().unwrap();
    fs::write(files.path().join("a.rcp"), "3 1\n4\n0 0 1 2\n2 1 1 3\n0 0 0\n").unwrap();
    fs::write(files.path().join("b.rcp"), "3 1\n4\n0 0 1 2\n2 5 1 3\n0 0 0\n").unwrap();
    let output = tempfile::tempdir().unwrap();
    refused(
        &RcpspOptions { instances: Some(files.path().to_owned()), ..small() },
        output.path(),
        "b.rcp:4: activity `2` needs 5",
    );
    assert_eq!(fs::read_dir(output.path()).unwrap().count(), 0);
}
