//! Claims about single families of jobs (Figures 3 to 6).

use makespan_generate::Family;

use super::check::{Evidence, around, curve, growth, is_stable};
use crate::campaign::Claim;
use crate::demt::algorithm::{DEMT, GANG, LPTF, SAF, SEQUENTIAL, SHELF};
use crate::demt::points::Criterion::{Makespan, MinsumPrinted};
use crate::demt::points::Points;

const OTHERS: [&str; 4] = [SEQUENTIAL, SHELF, LPTF, SAF];
const ALL: [&str; 5] = [GANG, SEQUENTIAL, SHELF, LPTF, SAF];
/// If the paper states that a curve "greatly increases", the minimum of its last ratio divided by its first ratio.
const GREATLY: f64 = 1.5;

/// Returns the claims about weakly parallel jobs.
pub(super) fn weak(points: &Points) -> Vec<Claim> {
    let of = |algorithm, criterion| curve(points, Family::Weak, algorithm, criterion);
    let (demt, sum, none) = (of(DEMT, Makespan), of(DEMT, MinsumPrinted), Evidence::default);
    let worse = none().show("demt", &demt).over(OTHERS, |all, other| {
        let curve = of(other, Makespan);
        all.show(other, &curve).below(&curve, &demt)
    });
    let half = none().over(OTHERS, |all, other| all.each(other, &of(other, Makespan), |ratio| around(ratio, 1.5)));
    let minsum = none().show("demt", &sum).over(OTHERS, |all, other| {
        let curve = of(other, MinsumPrinted);
        all.show(other, &curve).below(&curve, &sum)
    });
    vec![
        none()
            .each("gang", &of(GANG, Makespan), |ratio| ratio > 4.0)
            .claim("4.2 par. 2, on Figure 3", "family weak: Gang's makespan ratio is off the scale (here: over 4)"),
        worse
            .below(&demt, &of(GANG, Makespan))
            .claim("4.2 par. 3, sentence 1", "family weak: DEMT's makespan is worse than the makespan of every other algorithm except Gang"),
        none()
            .each("demt", &demt, |ratio| ratio <= 2.0)
            .claim("4.2 par. 3, sentence 2", "family weak: DEMT's makespan ratio is at most 2"),
        half.claim(
            "4.2 par. 3, sentence 3",
            "family weak: the makespan ratios of all algorithms except DEMT and Gang are around 1.5 (here: within 0.25)",
        ),
        minsum.claim(
            "4.2 par. 3, sentence 4",
            "family weak: DEMT's weighted completion is also worse than the weighted completion of every other algorithm except Gang",
        ),
    ]
}

/// Returns the claims about highly parallel jobs.
pub(super) fn high(points: &Points) -> Vec<Claim> {
    let of = |algorithm, criterion| curve(points, Family::High, algorithm, criterion);
    let sum = |algorithm| of(algorithm, MinsumPrinted);
    let (demt, none) = (sum(DEMT), Evidence::default);
    let best = none().show("demt", &demt);
    let best = best.over(ALL, |all, other| all.show(other, &sum(other)).below(&demt, &sum(other)));
    let both = [("makespan", Makespan), ("weighted completion", MinsumPrinted)];
    let both = both.into_iter().flat_map(|one| [(one, GANG, true), (one, SEQUENTIAL, false)]);
    let opposite = none().over(both, |all, ((word, criterion), algorithm, rises)| {
        let curve = of(algorithm, criterion);
        let answer = growth(&curve).map(|growth| (growth > 1.0) == rises);
        all.show(&format!("{word}, {algorithm}"), &curve).answer(answer)
    });
    let lists = [SHELF, LPTF, SAF];
    let stable = none().over(lists, |all, list| {
        let curve = sum(list);
        all.show(list, &curve).answer(is_stable(&curve)).below(&demt, &curve)
    });
    let below = none().over(lists, |all, list| {
        // The paper writes "always", so use the largest ratio of a run instead of the average ratio.
        let worst = points.curve(Family::High, list).into_iter().map(|point| (point.jobs, point.makespan.max));
        all.each(&format!("worst runs of {list}"), &worst.collect(), |ratio| ratio < 2.0)
    });
    vec![
        best.claim("4.2 par. 4, sentence 2", "family high: DEMT has the least weighted completion"),
        opposite.claim(
            "4.2 par. 4, sentence 3",
            "family high: Gang is good with few jobs, Sequential with many (here: with more jobs, Gang's ratios rise and Sequential's ratios fall)",
        ),
        stable.claim(
            "4.2 par. 4, sentence 4",
            "family high: the lists' ratio of weighted completion is stable (here: largest at most 1.25 times smallest) but above DEMT's",
        ),
        below.claim("4.2 par. 4, sentence 5", "family high: the lists' makespan ratios are always below 2"),
    ]
}

/// Returns the claims about mixed jobs.
pub(super) fn mixed(points: &Points) -> Vec<Claim> {
    let of = |algorithm, criterion| curve(points, Family::Mixed, algorithm, criterion);
    let (both, none) = ([("makespan", Makespan), ("weighted completion", MinsumPrinted)], Evidence::default);
    let two = none().over(both, |all, (word, criterion)| {
        let demt = of(DEMT, criterion);
        all.each(&format!("{word}, demt"), &demt, |ratio| around(ratio, 2.0)).answer(is_stable(&demt))
    });
    let saf = none().over(both, |all, (word, criterion)| {
        let (saf, demt) = (of(SAF, criterion), of(DEMT, criterion));
        all.show(&format!("{word}, saf"), &saf).show("demt", &demt).below(&saf, &demt)
    });
    let grow = none().over([SHELF, LPTF], |all, algorithm| {
        let curve = of(algorithm, MinsumPrinted);
        all.show(algorithm, &curve).answer(growth(&curve).map(|growth| growth >= GREATLY))
    });
    vec![
        two.claim(
            "4.2 par. 5, sentence 2",
            "family mixed: DEMT is stable (here: largest at most 1.25 times smallest) and around 2 (within 0.25) on both criteria",
        ),
        saf.claim("4.2 par. 5, sentence 2", "family mixed: SAF is better than DEMT"),
        grow.claim(
            "4.2 par. 5, sentence 3",
            "family mixed: the ratios of weighted completion of the two other lists grow greatly with the number of jobs (here: at least to 1.5 times)",
        ),
    ]
}

/// Returns the claims about the jobs of Cirne and Berman's model.
pub(super) fn cirne(points: &Points) -> Vec<Claim> {
    let of = |algorithm| curve(points, Family::Cirne, algorithm, MinsumPrinted);
    let demt = of(DEMT);
    let shown = || Evidence::default().show("demt", &demt);
    let best = shown().over(ALL, |all, other| all.show(other, &of(other)).below(&demt, &of(other)));
    let only = shown().answer(is_stable(&demt)).over(ALL, |all, other| {
        let curve = of(other);
        all.show(other, &curve).answer(is_stable(&curve).map(|stable| !stable))
    });
    vec![
        best.claim("4.2 par. 6, sentence 2", "family cirne: DEMT has a lower weighted completion than the others"),
        only.claim(
            "4.2 par. 6, sentence 2",
            "family cirne: only DEMT has a stable ratio of weighted completion (here: largest at most 1.25 times smallest)",
        ),
    ]
}
