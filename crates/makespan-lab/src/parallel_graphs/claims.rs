//! The targets, and how the algorithms of the literature stand to each other.

use super::points::find;
use super::{Group, Options, Point};
use crate::campaign::Claim;

/// Verdicts on all of them. Means are arithmetic, which are no less than geometric ones.
pub(super) fn all(options: &Options, points: &[Point]) -> Vec<Claim> {
    let of = |milliseconds| options.search.known(milliseconds).and_then(|spec| find(points, Group::All, &spec));
    let mean = |milliseconds, most: f64| {
        let point = of(milliseconds)?;
        Some((format!("{:.4}", point.mean), point.mean <= most))
    };
    let over = of(1000).map(|point| (format!("{:.4}", point.over_baselines), point.over_baselines <= 0.9));
    let ordered = |better: &str, worse: &str| {
        let (better, worse) = (find(points, Group::All, better)?, find(points, Group::All, worse)?);
        Some((format!("{:.4} and {:.4}", better.geometric, worse.geometric), better.geometric < worse.geometric))
    };
    vec![
        Claim::one("Target, 1 s", "The mean of makespan over verified bound is at most 1.03", mean(1000, 1.03)),
        Claim::one("Target, 10 s", "The mean of makespan over verified bound is at most 1.02", mean(10_000, 1.02)),
        Claim::one(
            "Target, 1 s",
            "The mean of makespan over the best of CPA, MCPA and LP rounding, each also with a list, is at most 0.90",
            over,
        ),
        Claim::one("Bansal et al. 2006", "MCPA is better than CPA in the geometric mean", ordered("mcpa", "cpa")),
        Claim::one(
            "N'Takpé et al. 2007",
            "M-HEFT is better in the geometric mean when a task takes no more than half of a cluster",
            ordered("mheft[share=50]", "mheft"),
        ),
    ]
}
