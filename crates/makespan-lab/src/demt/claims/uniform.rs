//! Weakly and highly parallel jobs: Figures 3 and 4.

use makespan_generate::Family;

use super::Claim;
use super::check::{Evidence, around, curve, growth, is_stable};
use crate::demt::Criterion::{Makespan, MinsumPrinted};
use crate::demt::Points;
use crate::demt::algorithm::{DEMT, GANG, LPTF, SAF, SEQUENTIAL, SHELF};

const OTHERS: [&str; 4] = [SEQUENTIAL, SHELF, LPTF, SAF];
const LISTS: [&str; 3] = [SHELF, LPTF, SAF];

/// What the paper says of weakly parallel jobs.
pub(super) fn weak(points: &Points) -> Vec<Claim> {
    let of = |algorithm, criterion| curve(points, Family::Weak, algorithm, criterion);
    let demt = of(DEMT, Makespan);
    let mut gang = Evidence::default();
    gang.each("gang", &of(GANG, Makespan), |ratio| ratio > 4.0);

    let mut two = Evidence::default();
    two.each("demt", &demt, |ratio| ratio <= 2.0);

    let [mut worse, mut half, mut minsum] = [(); 3].map(|()| Evidence::default());
    worse.show("demt", &demt);
    minsum.show("demt", &of(DEMT, MinsumPrinted));
    for algorithm in OTHERS {
        let (makespan, sum) = (of(algorithm, Makespan), of(algorithm, MinsumPrinted));
        worse.show(algorithm, &makespan);
        worse.below(&makespan, &demt);
        half.each(algorithm, &makespan, |ratio| around(ratio, 1.5));
        minsum.show(algorithm, &sum);
        minsum.below(&sum, &of(DEMT, MinsumPrinted));
    }
    worse.below(&demt, &of(GANG, Makespan));
    vec![
        gang.claim("4.2 par. 2, on Figure 3", "weak: Gang's makespan ratio is off the scale (here: over 4)"),
        worse.claim("4.2 par. 3, sentence 1", "weak: DEMT's makespan is worse than every algorithm's but Gang's"),
        two.claim("4.2 par. 3, sentence 2", "weak: DEMT's makespan ratio is at most 2"),
        half.claim(
            "4.2 par. 3, sentence 3",
            "weak: the others' makespan ratios, Gang's aside, are around 1.5 (here: within 0.25)",
        ),
        minsum.claim("4.2 par. 3, sentence 4", "weak: the same difference shows in the minsum"),
    ]
}

/// What the paper says of highly parallel jobs.
pub(super) fn high(points: &Points) -> Vec<Claim> {
    let of = |algorithm, criterion| curve(points, Family::High, algorithm, criterion);
    let demt = of(DEMT, MinsumPrinted);
    let [mut best, mut opposite, mut stable, mut below] = [(); 4].map(|()| Evidence::default());
    best.show("demt", &demt);
    for algorithm in [GANG, SEQUENTIAL, SHELF, LPTF, SAF] {
        best.show(algorithm, &of(algorithm, MinsumPrinted));
        best.below(&demt, &of(algorithm, MinsumPrinted));
    }
    for (word, criterion) in [("makespan", Makespan), ("minsum", MinsumPrinted)] {
        for (algorithm, rises) in [(GANG, true), (SEQUENTIAL, false)] {
            let curve = of(algorithm, criterion);
            opposite.show(&format!("{word}, {algorithm}"), &curve);
            opposite.answer_if_known(growth(&curve).map(|growth| (growth > 1.0) == rises));
        }
    }
    for algorithm in LISTS {
        let curve = of(algorithm, MinsumPrinted);
        stable.show(algorithm, &curve);
        stable.answer_if_known(is_stable(&curve));
        stable.below(&demt, &curve);
        // "Always": the worst run counts, not the average.
        let worst = points.curve(Family::High, algorithm).into_iter();
        let worst = worst.map(|point| (point.jobs, point.makespan.max)).collect();
        below.each(&format!("worst runs of {algorithm}"), &worst, |ratio| ratio < 2.0);
    }
    vec![
        best.claim("4.2 par. 4, sentence 2", "high: DEMT is the best on the minsum"),
        opposite.claim(
            "4.2 par. 4, sentence 3",
            "high: Gang is good with few jobs, Sequential with many (here: Gang's ratios rise, Sequential's fall)",
        ),
        stable.claim(
            "4.2 par. 4, sentence 4",
            "high: the lists' minsum is stable (here: largest at most 1.25 times smallest) but above DEMT's",
        ),
        below.claim("4.2 par. 4, sentence 5", "high: the lists' makespan ratios are always below 2"),
    ]
}
