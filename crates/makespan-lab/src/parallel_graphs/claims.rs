//! Targets for `optimise`, and claims that compare algorithms from the literature.

use super::{Cell, GraphGroup, ParallelGraphsOptions, geometric_ratio, over_baselines, ratio};
use crate::campaign::{Claim, find};

/// Returns the verdicts on all claims. A mean is the arithmetic mean, except in claims that state "geometric mean". The
/// arithmetic mean is stricter, because it is never smaller than the geometric mean.
pub(super) fn all(options: &ParallelGraphsOptions, cells: &[Cell<'_>]) -> Vec<Claim> {
    let of = |milliseconds| options.search.known(milliseconds).and_then(|spec| find(cells, &GraphGroup::All, &spec));
    let at_most = |figure: f64, most: f64| (format!("{figure:.4}"), figure <= most);
    let mean = |milliseconds, most| of(milliseconds).map(|cell| at_most(cell.mean(ratio), most));
    let over = of(1000).map(|cell| at_most(cell.mean(over_baselines), 0.9));
    let ordered = |better: &str, worse: &str| {
        let of = |algorithm| find(cells, &GraphGroup::All, algorithm).map(geometric_ratio);
        let (better, worse) = (of(better)?, of(worse)?);
        Some((format!("{better:.4} and {worse:.4}"), better < worse))
    };
    vec![
        Claim::one("Target, 1 s", "The mean of makespan / verified bound is at most 1.03", mean(1000, 1.03)),
        Claim::one("Target, 10 s", "The mean of makespan / verified bound is at most 1.02", mean(10_000, 1.02)),
        Claim::one(
            "Target, 1 s",
            "The mean of makespan / best makespan of CPA, MCPA and LP rounding (CPA and MCPA also with list placement) is at most 0.90",
            over,
        ),
        Claim::one("Bansal et al. 2006", "MCPA is better than CPA in the geometric mean", ordered("mcpa", "cpa")),
        Claim::one(
            "N'Takpé et al. 2007",
            "M-HEFT has a better geometric mean if each task may use at most half of a cluster",
            ordered("mheft[share=50]", "mheft"),
        ),
    ]
}
