use std::collections::BTreeSet;

use makespan_algos::kernel::hierarchical::{Cluster, ConstructionPart, FinalStep, PlacedTask};
use makespan_core::ProcSet;
use makespan_generate::Family;

use super::constructions::Drawing;
use super::population::Shape;
use super::*;
use crate::campaign::tests::{played, refused, without_times};
use crate::campaign::{SearchLimit, SearchLimits, Verdict};

fn small() -> HierarchicalOptions {
    HierarchicalOptions {
        populations: vec![Population::Family(Family::Mixed), Population::Shape(Shape::Steps)],
        each: vec![2, 4],
        nodes: vec![2, 4],
        jobs_per_node: vec![0.5, 2.0],
        runs: 1,
        search: SearchOptions { limits: SearchLimits(vec![SearchLimit::Steps(20)]), searches: 1, at_once: 1 },
        seed: 1,
    }
}

#[test]
fn a_campaign_checks_the_guarantee_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let options = small();
    let (summary, runs) = played(&options, folder.path());
    assert_eq!((summary.runs, summary.reused), (16, 0));
    let first = without_times(folder.path(), "results.csv");
    assert_eq!(first.lines().count(), 1 + 16 * options.algorithms().len());
    for (each, guesses) in guesses(&runs) {
        assert_eq!((guesses.attempted, guesses.missed, guesses.undecided), (8 * 22, 0, 0), "k = {each}");
        assert!(guesses.met >= 8 * 17 && guesses.refuted >= 8, "k = {each}: {guesses:?}");
        assert!(1.0 < guesses.longest && guesses.longest <= claims::promised(each), "k = {each}: {guesses:?}");
    }
    assert!(summary.claims[..4].iter().all(|claim| claim.verdict != Verdict::DoesNotHold), "{:#?}", summary.claims);
    for cell in cells(&runs, groups) {
        let (figures, name) = (Figures::of(&cell), cell.algorithm);
        assert!(figures.plans == 0 || (1.0 <= figures.min && figures.min <= figures.mean), "{:?} {name}", cell.group);
        assert!(figures.mean <= figures.max * (1.0 + 1e-12), "{:?} {name}: {figures:?}", cell.group);
    }
    for name in ["summary.csv", "guesses.csv", "report.txt", "ratio-families.svg", "ratio-adversarial.svg"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    assert!(summary.text.lines().all(|line| line.chars().count() <= 100), "{}", summary.text);
    let (again, reused) = played(&options, folder.path());
    assert_eq!((again.runs, again.reused, reused), (16, 16, runs));
    let [one, many] = [1, 3].map(|at_once| {
        let folder = tempfile::tempdir().unwrap();
        let search = SearchOptions { at_once, ..small().search };
        played(&HierarchicalOptions { search, ..small() }, folder.path());
        without_times(folder.path(), "results.csv")
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
        let plan = constructions::FigurePlan::of(shown).unwrap();
        let (each, last) = (plan.cluster.each, plan.construction.last);
        let of = |part: ConstructionPart| plan.in_part(part).collect::<Vec<&PlacedTask>>();
        let (full, first, second) =
            (of(ConstructionPart::Full), of(ConstructionPart::First), of(ConstructionPart::Second));
        let widths = || full.iter().map(|placed| placed.processors.len());
        let used = full.iter().chain(&first).fold(ProcSet::new(), |used, placed| used.union(&placed.processors)).len();
        let shows = match figure {
            2 => [&full, &first, &second, &of(ConstructionPart::Small)].iter().all(|part| part.len() >= 2),
            5 => {
                let remainders: BTreeSet<u32> = widths().map(|width| width % each).filter(|&rest| rest > 0).collect();
                last == FinalStep::Nothing && widths().any(|width| width >= each) && remainders.len() >= 2
            }
            6 => last == FinalStep::Nothing && full.len() >= 2 && first.len() >= 2 && used < plan.cluster.processors(),
            7 => {
                last == FinalStep::Nothing && second.len() >= 2 && plan.boxes().iter().any(|(_, idle)| !idle.is_empty())
            }
            8 => matches!(last, FinalStep::Beside | FinalStep::Stacked),
            _ => last == FinalStep::Both && !full.is_empty() && first.len() > 1,
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
    let refused = |options: HierarchicalOptions, part: &str| refused(&options, folder.path(), part);
    refused(HierarchicalOptions { populations: vec![], ..base.clone() }, "families is empty");
    refused(HierarchicalOptions { each: vec![3], ..base.clone() }, "powers of two");
    refused(HierarchicalOptions { nodes: vec![0], ..base.clone() }, "nodes is [0]");
    refused(HierarchicalOptions { jobs_per_node: vec![f64::NAN], ..base.clone() }, "jobs per node");
    refused(HierarchicalOptions { runs: 0, ..base.clone() }, "runs is 0");
    refused(
        HierarchicalOptions { search: SearchOptions { searches: 0, ..base.search.clone() }, ..base.clone() },
        "searches is 0",
    );
}
