//! The claims of the paper and our targets, with the measured values.

use std::collections::BTreeMap;

use makespan_algos::kernel::hierarchical::Cluster;

use super::{Figures, Group, Guesses, HierarchicalKey, HierarchicalOptions, Run, SHELVES};
use crate::campaign::{Claim, GridCell, find, rows};

/// The paper claims a "low complexity". Here, this means that planning up to 800 tasks on 1,024 processors takes at
/// most this number of seconds.
const SECONDS: f64 = 0.3;
/// The number of tasks and the number of processors for this claim.
const LARGE: (usize, u32) = (800, 1024);
/// Targets for local search within one second: upper limits on the mean and on the maximum of makespan / bound.
const TARGETS: (f64, f64) = (1.03, 1.10);

/// Returns the guarantee of the paper's algorithm for SMPs (nodes) of `each` processors: the maximum length of the
/// schedule divided by the guessed makespan.
pub(super) fn promised(each: u32) -> f64 {
    let (over, under) = Cluster { nodes: 1, each }.ratio();
    f64::from(over) / f64::from(under)
}

/// Returns every claim in the order of the paper.
pub(super) fn all(
    options: &HierarchicalOptions,
    runs: &[Run],
    cells: &[GridCell<'_, Group, Run>],
    guesses: &BTreeMap<u32, Guesses>,
) -> Vec<Claim> {
    let is_two = |each: &u32| *each == 2;
    vec![
        kept(
            "Theorem, section 9",
            "If k = 2, the schedule of each accepted guess takes at most 3/2 times the guess",
            guesses.iter().filter(|(each, _)| is_two(each)),
        ),
        kept(
            "Theorem, section 6",
            "If k = 4, 8, 16 .., the schedule of each accepted guess takes at most 2 - 2/k times the guess",
            guesses.iter().filter(|(each, _)| !is_two(each)),
        ),
        decided(guesses),
        within(runs),
        fast(runs),
        aim(options, cells),
    ]
}

fn kept<'a>(
    place: &'static str,
    statement: &'static str,
    guesses: impl Iterator<Item = (&'a u32, &'a Guesses)>,
) -> Claim {
    let (mut figures, mut answers) = (Vec::new(), Vec::new());
    for (&each, Guesses { met, missed, longest, .. }) in guesses {
        figures.push(format!("k = {each}: {met} met, {missed} missed, longest {longest:.4} of {:.4}", promised(each)));
        answers.extend((met + missed > 0).then_some(*missed == 0));
    }
    Claim::new(place, statement, figures.join("; "), &answers)
}

fn decided(guesses: &BTreeMap<u32, Guesses>) -> Claim {
    let all = guesses.values().fold(Guesses::default(), Guesses::and);
    let Guesses { attempted, refuted, undecided, .. } = all;
    let measured =
        format!("{attempted} guesses attempted, {refuted} refuted with verified certificates, {undecided} undecided");
    let answers: Vec<bool> = (attempted > 0).then_some(undecided == 0).into_iter().collect();
    let statement = "Each guess that is not accepted is refuted with proof: no schedule, with any placement, is as short as the guess";
    Claim::new("Section 3.1", statement, measured, &answers)
}

fn within(runs: &[Run]) -> Claim {
    let outcomes = rows(runs).filter(|row| row.1 == SHELVES);
    let answers: Vec<bool> = outcomes.filter_map(|(.., outcome)| outcome.within_guarantee).collect();
    let kept = answers.iter().filter(|&&kept| kept).count();
    let measured = format!("{kept} of {} plans take at most the verified bound times the guarantee", answers.len());
    Claim::new(
        "Section 2",
        "The dual search has the approximation ratio of the theorems in sections 6 and 9",
        measured,
        &answers,
    )
}

fn fast(runs: &[Run]) -> Claim {
    let shelves = rows(runs).filter(|(_, algorithm, outcome)| *algorithm == SHELVES && outcome.makespan.is_ok());
    let shelves = shelves.map(|(run, _, outcome)| (run.key, outcome));
    let size = |key: &HierarchicalKey| (key.jobs, key.nodes * key.each);
    let longest = shelves.max_by(|a, b| size(&a.0).cmp(&size(&b.0)).then(a.1.seconds.total_cmp(&b.1.seconds)));
    let measured = longest.as_ref().map_or_else(String::new, |(key, outcome)| {
        format!(
            "at most {:.3} s for {} jobs on {} processors (the largest instances)",
            outcome.seconds,
            key.jobs,
            key.nodes * key.each
        )
    });
    // Only instances of at least this size can decide the claim.
    let large = longest.iter().filter(|(key, _)| key.jobs >= LARGE.0 && key.nodes * key.each >= LARGE.1);
    let answers: Vec<bool> = large.map(|(_, outcome)| outcome.seconds <= SECONDS).collect();
    Claim::new(
        "Section 8",
        "The complexity O(nmk) is low (here: at most 0.3 s for up to 800 tasks on 1024 processors)",
        measured,
        &answers,
    )
}

fn aim(options: &HierarchicalOptions, cells: &[GridCell<'_, Group, Run>]) -> Claim {
    let (mut figures, mut answers) = (Vec::new(), Vec::new());
    for (limit, spec) in options.search.limits.0.iter().zip(options.search.specs()) {
        let Figures { plans, mean, max, .. } = find(cells, &Group::All, &spec).map(Figures::of).unwrap_or_default();
        if plans == 0 {
            figures.push(format!("{limit}: no plans, because `optimise` does not accept these platforms"));
            continue;
        }
        figures.push(format!("{limit}: mean {mean:.4}, largest {max:.4}"));
        answers.extend([mean <= TARGETS.0, max <= TARGETS.1]);
    }
    let statement = "Target of this project, not in the paper: on the four families, the makespans of `optimise` divided by the \
                     bound have a mean of at most 1.03 and a maximum of at most 1.10";
    Claim::new("-", statement, figures.join("; "), &answers)
}
