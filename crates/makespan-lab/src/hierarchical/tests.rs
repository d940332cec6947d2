use std::collections::BTreeSet;
use std::path::Path;

use makespan_algos::kernel::hierarchical::{Cluster, Last, Part, Placed};
use makespan_core::ProcSet;
use makespan_generate::Family;

use super::*;
use crate::campaign::tests::refused;
use crate::campaign::{Limit, Limits, Search, Silent, Verdict, reproduce};

fn small() -> Options {
    Options {
        populations: vec![Population::Family(Family::Mixed), Population::Shape(Shape::Steps)],
        each: vec![2, 4],
        nodes: vec![2, 4],
        jobs_per_node: vec![0.5, 2.0],
        runs: 1,
        search: Search { limits: Limits(vec![Limit::Steps(20)]), searches: 1, at_once: 1 },
        seed: 1,
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
    let options = small();
    let summary = reproduce(&options, folder.path(), &mut Silent).unwrap();
    assert_eq!((summary.runs, summary.reused), (16, 0));
    let first = results(folder.path());
    assert_eq!(first.lines().count(), 1 + 16 * options.algorithms().len());
    for (&each, guesses) in &summary.points.guesses {
        assert_eq!((guesses.attempted, guesses.missed, guesses.undecided), (8 * 22, 0, 0), "k = {each}");
        assert!(guesses.met >= 8 * 17 && guesses.refuted >= 8, "k = {each}: {guesses:?}");
        assert!(1.0 < guesses.longest && guesses.longest <= claims::promised(each), "k = {each}: {guesses:?}");
    }
    assert!(summary.claims[..4].iter().all(|claim| claim.verdict != Verdict::DoesNotHold), "{:#?}", summary.claims);
    for ((group, at), figures) in &summary.points.points {
        assert!(figures.plans == 0 || (1.0 <= figures.min && figures.min <= figures.mean), "{group:?} {at}");
        assert!(figures.mean <= figures.max * (1.0 + 1e-12), "{group:?} {at}: {figures:?}");
    }
    for name in ["summary.csv", "guesses.csv", "report.txt", "ratio-families.svg", "ratio-adversarial.svg"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    assert!(summary.text.lines().all(|line| line.chars().count() <= 100), "{}", summary.text);
    let again = reproduce(&options, folder.path(), &mut Silent).unwrap();
    assert_eq!((again.runs, again.reused, again.points), (16, 16, summary.points));
    let [one, many] = [1, 3].map(|at_once| {
        let folder = tempfile::tempdir().unwrap();
        let search = Search { at_once, ..small().search };
        reproduce(&Options { search, ..small() }, folder.path(), &mut Silent).unwrap();
        results(folder.path())
    });
    assert_eq!((&one, &many), (&first, &first), "the same seed gives the same results");
}

#[test]
fn every_figure_is_found_in_a_plan() {
    let drawings = constructions::all().unwrap();
    assert_eq!(constructions::SHOWN.each_ref().map(|shown| shown.figure), [2, 5, 6, 7, 8, 9]);
    for (shown, Drawing { caption, svg: (name, svg) }) in constructions::SHOWN.iter().zip(drawings) {
        let figure = shown.figure;
        assert_eq!(name, format!("figure{figure}.svg"));
        let svg = String::from_utf8(svg).unwrap();
        let named: &[&str] = match figure {
            5 | 8 => &["P_full"],
            6 => &["P_full", "P_1"],
            7 => &["P_2", "idle in its box"],
            _ => &["P_full", "P_1", "P_2"],
        };
        assert!(named.iter().all(|part| svg.contains(&format!(">{part}<"))), "figure {figure}: {caption}");
        let plan = constructions::Plan::of(shown).unwrap();
        let (each, last) = (plan.cluster.each, plan.construction.last);
        let of = |part: Part| plan.in_part(part).collect::<Vec<&Placed>>();
        let (full, first, second) = (of(Part::Full), of(Part::First), of(Part::Second));
        let widths = || full.iter().map(|placed| placed.processors.len());
        let used = full.iter().chain(&first).fold(ProcSet::new(), |used, placed| used.union(&placed.processors)).len();
        let shows = match figure {
            2 => [&full, &first, &second, &of(Part::Small)].iter().all(|part| part.len() >= 2),
            5 => {
                let remainders: BTreeSet<u32> = widths().map(|width| width % each).filter(|&rest| rest > 0).collect();
                last == Last::Nothing && widths().any(|width| width >= each) && remainders.len() >= 2
            }
            6 => last == Last::Nothing && full.len() >= 2 && first.len() >= 2 && used < plan.cluster.processors(),
            7 => last == Last::Nothing && second.len() >= 2 && plan.boxes().iter().any(|(_, idle)| !idle.is_empty()),
            8 => matches!(last, Last::Beside | Last::Stacked),
            _ => last == Last::Both && !full.is_empty() && first.len() > 1,
        };
        assert!(shows, "figure {figure} does not show what its caption says: {caption}");
    }
}

#[test]
fn adversarial_jobs_are_monotone_and_nearly_fill_the_platform() {
    for population in Population::ALL.into_iter().filter(|population| matches!(population, Population::Shape(_))) {
        let instance = population.draw(Cluster { nodes: 4, each: 4 }, 8, 7).unwrap();
        assert!(instance.simple_jobs().all(|job| job.profile().is_monotone()), "{population}");
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
    let base = small();
    let refused = |options: Options, part: &str| refused(&options, folder.path(), part);
    refused(Options { populations: vec![], ..base.clone() }, "families is empty");
    refused(Options { each: vec![3], ..base.clone() }, "powers of two");
    refused(Options { nodes: vec![0], ..base.clone() }, "nodes is [0]");
    refused(Options { jobs_per_node: vec![f64::NAN], ..base.clone() }, "jobs a node");
    refused(Options { runs: 0, ..base.clone() }, "runs is 0");
    let with = |search: Search, part: &str| refused(Options { search, ..base.clone() }, part);
    with(Search { limits: Limits(vec![Limit::Steps(1), Limit::Steps(1)]), ..base.search.clone() }, "only once");
    with(Search { searches: 0, ..base.search.clone() }, "searches is 0");
    with(Search { at_once: 0, ..base.search.clone() }, "at once is 0");
}
