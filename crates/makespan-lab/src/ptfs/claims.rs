//! What the paper claims of its figures, and what is aimed at.

use super::{Point, Points, SCHEDULERS};
use crate::campaign::{Claim, Verdict};

/// Relative differences below this are none: two maxspans of 3640 s within 4 s.
const SAME: f64 = 1e-3;

/// By how much the maxspan of the best other scheduler of Table 2 exceeds that of PTFS, relatively.
pub(super) fn advantage(points: &[Point]) -> f64 {
    let others = points[1..].iter().zip(&SCHEDULERS[1..]).filter(|(_, scheduler)| scheduler.printed);
    let best = others.map(|(point, _)| point.maxspan).fold(f64::INFINITY, f64::min);
    best / points[0].maxspan - 1.0
}

/// The same of the utilisation: how much lower the best other one is, absolutely.
pub(super) fn more_used(points: &[Point]) -> f64 {
    let others = points[1..].iter().zip(&SCHEDULERS[1..]).filter(|(_, scheduler)| scheduler.printed);
    points[0].utilisation - others.map(|(point, _)| point.utilisation).fold(0.0, f64::max)
}

pub(super) fn all(points: &Points) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (place, size) in [("Figure 9", 50_000), ("Figure 10", 5000)] {
        let rows: Vec<(f64, f64)> =
            points.of_size(size).filter(|row| row.0 >= 1.0).map(|(rate, row)| (rate, advantage(row))).collect();
        claims.push(claim(
            place,
            "From the balance line on, PTFS has the least maxspan of the six schedulers",
            &rows,
            |advantage| advantage > 0.0,
        ));
    }
    for (place, size) in [("Figure 11", 50_000), ("Figure 12", 5000)] {
        let rows: Vec<(f64, f64)> = points.of_size(size).map(|(rate, row)| (rate, advantage(row))).collect();
        claims.extend(shape(place, &rows));
        let used: Vec<(f64, f64)> =
            points.of_size(size).filter(|row| row.0 >= 1.0).map(|(rate, row)| (rate, more_used(row))).collect();
        claims.push(claim(
            place,
            "From the balance line on, PTFS has the largest mean utilisation of the six",
            &used,
            |more| more > 0.0,
        ));
    }
    claims.extend(targets(points));
    claims
}

/// Where the advantage is large, and where it is none.
fn shape(place: &'static str, rows: &[(f64, f64)]) -> Vec<Claim> {
    let peak = rows.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    let largest: Vec<(f64, f64)> = peak.into_iter().collect();
    let around = rows.len() > 2;
    let low: Vec<(f64, f64)> = rows.iter().copied().filter(|row| row.0 < 0.5).collect();
    let high: Vec<(f64, f64)> = rows.iter().copied().filter(|row| row.0 >= 8.0).collect();
    let level = high.iter().map(|row| row.1).fold(0.0, f64::max);
    vec![
        Claim {
            place,
            statement: "The largest differences are around the balance line and in moderate saturation (1/2 to 4 times)",
            measured: listed(&largest),
            verdict: match peak {
                Some((rate, _)) if around => Verdict::of(&[(0.5..=4.0).contains(&rate)]),
                _ => Verdict::NotMeasured,
            },
        },
        claim(place, "At low rates the differences disappear", &low, |advantage| advantage.abs() < 2.0 * SAME),
        claim(
            place,
            "At high rates the differences change no more",
            if high.len() > 1 { &high } else { &[] },
            |advantage| (level - advantage).abs() < 5.0 * SAME,
        ),
    ]
}

/// Ours.
fn targets(points: &Points) -> Vec<Claim> {
    let at = |name: &str| SCHEDULERS.iter().position(|scheduler| scheduler.name == name).unwrap_or(0);
    let (ptfs, flow) = (at("PTFS"), at("flow"));
    let rows = |of: &dyn Fn(&[Point]) -> f64| {
        let sizes = points.sizes().into_iter();
        sizes.flat_map(|size| points.of_size(size).map(|(rate, row)| (rate, of(row))).collect::<Vec<_>>()).collect()
    };
    let gaps: Vec<(f64, f64)> = rows(&|row| row[flow].gap);
    let better: Vec<(f64, f64)> = rows(&|row| row[ptfs].maxspan / row[flow].maxspan - 1.0);
    vec![
        claim("Target", "The maxspan of flow is within 0.3 % of its bound at every rate", &gaps, |gap| gap <= 0.003),
        claim("Target", "The maxspan of flow is at most that of PTFS at every rate", &better, |gain| {
            gain > -SAME / 2.0
        }),
    ]
}

fn claim(place: &'static str, statement: &'static str, rows: &[(f64, f64)], holds: impl Fn(f64) -> bool) -> Claim {
    let answers: Vec<bool> = rows.iter().map(|row| holds(row.1)).collect();
    Claim { place, statement, measured: listed(rows), verdict: Verdict::of(&answers) }
}

/// `0.12 % at 1, 0.3 % at 2`.
fn listed(rows: &[(f64, f64)]) -> String {
    rows.iter().map(|(rate, part)| format!("{:.2} % at {rate}", 100.0 * part)).collect::<Vec<_>>().join(", ")
}
