use std::path::Path;

use super::*;
use crate::campaign::{Silent, Verdict};
use crate::generate::Family;
use crate::optimiser::Limit;

fn small(folder: &Path) -> Options {
    Options {
        populations: vec![Population::Family(Family::Mixed), Population::Shape(Shape::Steps)],
        each: vec![2, 4],
        nodes: vec![2, 4],
        jobs_per_node: vec![0.5, 2.0],
        runs: 1,
        limits: vec![Limit::Steps(20)],
        searches: 1,
        ..Options::record(folder)
    }
}

/// The results without their last column, the times.
fn results(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("results.csv")).unwrap();
    text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n").collect()
}

#[test]
fn a_campaign_checks_the_guarantee_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let options = small(folder.path());
    let summary = reproduce(&options, &mut Silent).unwrap();
    assert_eq!((summary.runs, summary.reused), (16, 0));
    let first = results(folder.path());
    assert_eq!(first.lines().count(), 1 + 16 * options.algorithms().len());
    for (&each, guesses) in &summary.guesses {
        assert_eq!((guesses.attempted, guesses.missed, guesses.undecided), (8 * 22, 0, 0), "k = {each}");
        assert!(guesses.met >= 8 * 17 && guesses.refuted >= 8, "k = {each}: {guesses:?}");
        assert!(1.0 < guesses.longest && guesses.longest <= claims::promised(each), "k = {each}: {guesses:?}");
    }
    assert!(summary.claims[..4].iter().all(|claim| claim.verdict != Verdict::DoesNotHold), "{:#?}", summary.claims);
    for ((group, at), figures) in &summary.points {
        assert!(figures.plans == 0 || (1.0 <= figures.min && figures.min <= figures.mean), "{group:?} {at}");
        assert!(figures.mean <= figures.max * (1.0 + 1e-12), "{group:?} {at}: {figures:?}");
    }
    for name in ["summary.csv", "guesses.csv", "report.txt", "ratio-families.svg", "ratio-adversarial.svg"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    assert!(summary.text.lines().all(|line| line.chars().count() <= 100), "{}", summary.text);
    let again = reproduce(&options, &mut Silent).unwrap();
    assert_eq!((again.runs, again.reused, again.points), (16, 16, summary.points));
    let [one, many] = [1, 3].map(|at_once| {
        let folder = tempfile::tempdir().unwrap();
        reproduce(&Options { at_once, ..small(folder.path()) }, &mut Silent).unwrap();
        results(folder.path())
    });
    assert_eq!((&one, &many), (&first, &first), "the same seed gives the same results");
}

#[test]
fn every_figure_is_found_in_a_plan() {
    let drawings = constructions::all().unwrap();
    assert_eq!(drawings.iter().map(|drawing| drawing.figure).collect::<Vec<_>>(), [2, 5, 6, 7, 8, 9]);
    for Drawing { figure, caption, svg } in drawings {
        let svg = String::from_utf8(svg.unwrap_or_else(|| panic!("figure {figure}: {caption}"))).unwrap();
        let shown: &[&str] = match figure {
            5 | 8 => &["P_full"],
            6 => &["P_full", "P_1"],
            7 => &["P_2", "idle in its box"],
            _ => &["P_full", "P_1", "P_2"],
        };
        assert!(shown.iter().all(|part| svg.contains(&format!(">{part}<"))), "figure {figure}: {caption}");
    }
}

#[test]
fn adversarial_jobs_are_monotone_and_nearly_fill_the_platform() {
    for population in Population::ALL.into_iter().filter(|population| matches!(population, Population::Shape(_))) {
        let instance = population.draw((4, 4), 8, 7).unwrap();
        assert!(instance.jobs().iter().all(|job| job.profile().is_monotone()), "{population}");
        let bound = makespan_bounds::makespan(&instance).value.integer();
        assert!((4_000_000_000..40_000_000_000).contains(&bound), "{population}: {bound}");
    }
}

#[test]
fn populations_are_read_as_they_are_written() {
    for population in Population::ALL {
        assert_eq!(population.to_string().parse::<Population>().unwrap(), population);
    }
    let error = "wek".parse::<Population>().unwrap_err().to_string();
    assert!(error.contains("`wek`") && error.contains("weak, high"), "{error}");
}

#[test]
fn unusable_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let base = small(folder.path());
    let refused = |options: Options, part: &str| {
        let error = reproduce(&options, &mut Silent).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused(Options { populations: vec![], ..base.clone() }, "families is empty");
    refused(Options { each: vec![3], ..base.clone() }, "powers of two");
    refused(Options { nodes: vec![0], ..base.clone() }, "nodes is [0]");
    refused(Options { jobs_per_node: vec![f64::NAN], ..base.clone() }, "jobs a node");
    refused(Options { limits: vec![Limit::Steps(1), Limit::Steps(1)], ..base.clone() }, "only once");
    refused(Options { runs: 0, ..base.clone() }, "runs is 0");
    refused(Options { searches: 0, ..base.clone() }, "searches is 0");
    refused(Options { at_once: 0, ..base }, "at once is 0");
}
