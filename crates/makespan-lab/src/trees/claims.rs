//! Verdicts on the claims of the paper, and on the targets of this project.

use makespan_generate::Unit;

use super::points::TreeGroup;
use super::statements::{Evidence, STATEMENTS, percent};
use super::{PaperReading, Setting};
use crate::campaign::Claim;

/// Returns the target for back-pressure: an upper limit on the geometric mean of LP / back-pressure (the throughput of
/// LP divided by the throughput of back-pressure).
fn target(reading: PaperReading) -> f64 {
    match reading.unit {
        Unit::Bits => 1.05,
        Unit::Bytes => 1.10,
    }
}

/// Returns all claims in the order of the paper, and then the targets.
pub(super) fn all(evidence: &Evidence<'_>) -> Vec<Claim> {
    let judged = STATEMENTS.iter().map(|one| Claim::one(one.place, one.text, (one.judge)(evidence)));
    let mut claims: Vec<Claim> = judged.collect();
    let roomy = evidence.deviation(Setting::Roomy).map(|mean| (percent(mean), mean <= 0.01));
    let text = "With buffers of 100 and ten times as many tasks, the deviation from theory nearly vanishes (paper: 0.334 %; here: at most 1 %)";
    claims.insert(1, Claim::one("Section 5.2.1", text, roomy));
    claims.extend(aims(evidence));
    claims
}

fn aims(evidence: &Evidence<'_>) -> Vec<Claim> {
    let own = evidence.mean(TreeGroup::All, "back-pressure");
    let others = ["data-centric", "cgbc", "fcfs"].into_iter().filter_map(|name| evidence.mean(TreeGroup::All, name));
    let least = others.fold(f64::INFINITY, f64::min);
    let beats = own.map(|own| (format!("{own:.3} against {least:.3}"), own < least));
    let near = evidence.of(TreeGroup::All, "back-pressure").and_then(|ratios| {
        let (mean, large) = (ratios.geometric_mean()?, evidence.mean(TreeGroup::Large, "back-pressure")?);
        Some((format!("{mean:.3}, large {large:.3}, largest {:.2}", ratios.max), mean <= target(evidence.reading)))
    });
    let lp = evidence.at(Setting::Long, TreeGroup::All, "lp").and_then(|ratios| {
        let mean = ratios.deviation()?;
        Some((percent(mean), mean <= 0.02))
    });
    vec![
        Claim::one(
            "-",
            "Target of this project, not in the paper: back-pressure beats every decentralised heuristic",
            beats,
        ),
        Claim::one(
            "-",
            "Target: the geometric mean of LP / back-pressure is at most 1.05 (bandwidths in bits) or 1.10 (bandwidths in bytes)",
            near,
        ),
        Claim::one("-", "Target: with ten times as many tasks and buffers of 10, LP is within 2 % of theory", lp),
    ]
}
