//! Mixed jobs and the model of Cirne and Berman: Figures 5 and 6.

use makespan_generate::Family;

use super::Claim;
use super::check::{Evidence, around, curve, grows_greatly, is_stable};
use crate::demt::Criterion::{Makespan, MinsumPrinted};
use crate::demt::Points;
use crate::demt::algorithm::{DEMT, GANG, LPTF, SAF, SEQUENTIAL, SHELF};

/// What the paper says of mixed jobs.
pub(super) fn mixed(points: &Points) -> Vec<Claim> {
    let of = |algorithm, criterion| curve(points, Family::Mixed, algorithm, criterion);
    let [mut two, mut saf, mut grow] = [(); 3].map(|()| Evidence::default());
    for (word, criterion) in [("makespan", Makespan), ("minsum", MinsumPrinted)] {
        let demt = of(DEMT, criterion);
        two.each(&format!("{word}, demt"), &demt, |ratio| around(ratio, 2.0));
        two.answer_if_known(is_stable(&demt));
        saf.show(&format!("{word}, saf"), &of(SAF, criterion));
        saf.show("demt", &demt);
        saf.below(&of(SAF, criterion), &demt);
    }
    for algorithm in [SHELF, LPTF] {
        let curve = of(algorithm, MinsumPrinted);
        grow.show(algorithm, &curve);
        grow.answer_if_known(grows_greatly(&curve));
    }
    vec![
        two.claim(
            "4.2 par. 5, sentence 2",
            "mixed: DEMT is stable (here: largest at most 1.25 times smallest) and around 2 (within 0.25) on both criteria",
        ),
        saf.claim("4.2 par. 5, sentence 2", "mixed: SAF is better than DEMT"),
        grow.claim(
            "4.2 par. 5, sentence 3",
            "mixed: the minsum ratios of the two other lists grow greatly with n (here: at least 1.5 times)",
        ),
    ]
}

/// What the paper says of Cirne and Berman's jobs.
pub(super) fn cirne(points: &Points) -> Vec<Claim> {
    let of = |algorithm| curve(points, Family::Cirne, algorithm, MinsumPrinted);
    let demt = of(DEMT);
    let [mut best, mut only] = [(); 2].map(|()| Evidence::default());
    best.show("demt", &demt);
    only.show("demt", &demt);
    only.answer_if_known(is_stable(&demt));
    for algorithm in [GANG, SEQUENTIAL, SHELF, LPTF, SAF] {
        let curve = of(algorithm);
        best.show(algorithm, &curve);
        best.below(&demt, &curve);
        only.show(algorithm, &curve);
        only.answer_if_known(is_stable(&curve).map(|stable| !stable));
    }
    vec![
        best.claim("4.2 par. 6, sentence 2", "cirne: DEMT outperforms the others on the minsum"),
        only.claim(
            "4.2 par. 6, sentence 2",
            "cirne: DEMT alone has a stable minsum ratio (here: largest at most 1.25 times smallest)",
        ),
    ]
}
