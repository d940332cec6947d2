//! The claims of the paper about its figures, and the targets of this project. For flows, rates and the balance line,
//! see [`PtfsOptions`](super::PtfsOptions).

use super::SCHEDULERS;
use super::points::{Group, Points, Row};
use crate::campaign::{Claim, ClaimAnswer};
use crate::statistics::{confidence, mean};

/// Two makespans are treated as equal if their relative difference is at most this value. For example, makespans of
/// 4000 s and 4004 s are treated as equal.
const SAME: f64 = 1e-3;

/// A mean over the flows at one rate. `half` is half the width of its 95 % confidence interval, or `None` if there is
/// only one flow.
#[derive(Clone, Copy)]
struct At {
    rate: f64,
    mean: f64,
    half: Option<f64>,
    runs: usize,
}

impl At {
    fn of(rate: f64, sample: &[f64]) -> Self {
        Self { rate, mean: mean(sample).unwrap_or(0.0), half: confidence(sample), runs: sample.len() }
    }

    /// Returns the answer of `holds` for the mean. If `holds` has another answer at an end of the confidence interval,
    /// the result is undecided.
    fn answer(&self, holds: impl Fn(f64) -> bool) -> ClaimAnswer {
        let half = self.half.unwrap_or(0.0);
        let answer = holds(self.mean);
        let is_sure = holds(self.mean - half) == answer && holds(self.mean + half) == answer;
        if is_sure { answer.into() } else { ClaimAnswer::Undecided(self.runs) }
    }
}

pub(super) fn all(points: &Points) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (place, size) in [("Figure 9", 50_000), ("Figure 10", 5000)] {
        claims.push(claim(
            place,
            "At and above the balance line, PTFS has the least makespan of the six schedulers (here: an advantage above 0)",
            &saturated(points, size, |row| &row.advantages),
            |advantage| advantage > 0.0,
        ));
        let more = by_swing(points, size);
        claims.push(claim(
            place,
            "The advantage is more obvious at a swinging rate (in the paper: variant rate) than at a level rate (here: the difference of the advantages is above 0 at 1 to 4 times the balance line)",
            &more,
            |more| more > 0.0,
        ));
    }
    for (place, size) in [("Figure 11", 50_000), ("Figure 12", 5000)] {
        claims.extend(shape(place, &advantages(points, size)));
        claims.push(claim(
            place,
            "At and above the balance line, PTFS has the largest mean utilisation of the six schedulers (here: a difference above 0)",
            &saturated(points, size, |row| &row.more_used),
            |more| more > 0.0,
        ));
    }
    claims.extend(targets(points));
    claims
}

/// Among the groups with this mean size of tasks, returns the group with the largest swing. Its flows are most like the
/// flows of the paper.
fn variant(points: &Points, size: u32) -> Option<Group> {
    points.groups().into_iter().rfind(|group| group.mean_size == size)
}

fn advantages(points: &Points, size: u32) -> Vec<At> {
    let rows = variant(points, size).into_iter().flat_map(|group| points.of_group(group));
    rows.map(|(rate, row)| At::of(rate, &row.advantages)).collect()
}

/// Selects the rates at and above the balance line. For each of these rates, returns the mean of the values that `of`
/// returns.
fn saturated(points: &Points, size: u32, of: impl Fn(&Row) -> &Vec<f64>) -> Vec<At> {
    let rows = variant(points, size).into_iter().flat_map(|group| points.of_group(group));
    rows.filter(|row| row.0 >= 1.0).map(|(rate, row)| At::of(rate, of(row))).collect()
}

/// Returns the advantage on flows with a swinging rate minus the advantage on flows with a constant rate. Both flows
/// have equal tasks. The result has one element for each mean rate from 1 to 4 times the balance line.
fn by_swing(points: &Points, size: u32) -> Vec<At> {
    let Some(swinging) = variant(points, size).filter(|group| group.swing > 0.0) else { return Vec::new() };
    let level = points.of_group(Group { mean_size: size, swing: 0.0 });
    let pairs = level.filter(|(rate, _)| (1.0..=4.0).contains(rate)).filter_map(|(rate, level)| {
        let (_, row) = points.of_group(swinging).find(|row| (row.0 - rate).abs() < 1e-9)?;
        let more: Vec<f64> = row.advantages.iter().zip(&level.advantages).map(|(more, less)| more - less).collect();
        Some(At::of(rate, &more))
    });
    pairs.collect()
}

/// Returns three claims: about the rates at which the advantage is largest, about the rates at which it disappears, and
/// about the rates from which on it no longer changes.
fn shape(place: &'static str, rows: &[At]) -> Vec<Claim> {
    let peak = rows.iter().copied().max_by(|a, b| a.mean.total_cmp(&b.mean));
    let largest: Vec<At> = peak.into_iter().collect();
    let around = peak.filter(|_| rows.len() > 2).map(|at| (0.5..=4.0).contains(&at.rate));
    let low: Vec<At> = rows.iter().copied().filter(|row| row.rate < 0.5).collect();
    let high: Vec<At> = rows.iter().copied().filter(|row| row.rate >= 8.0).collect();
    let level = high.iter().map(|row| row.mean).fold(0.0, f64::max);
    vec![
        Claim::new(
            place,
            "The advantage is largest around the balance line and in moderate saturation (1/2 to 4 times the balance line)",
            listed(&largest),
            around.as_slice(),
        ),
        claim(place, "At low rates, the advantage disappears (here: less than 0.2 %)", &low, |advantage| {
            advantage.abs() < 2.0 * SAME
        }),
        claim(
            place,
            "At high rates, the advantage no longer changes (here: it changes by less than 0.5 %)",
            if high.len() > 1 { &high } else { &[] },
            |advantage| (level - advantage).abs() < 5.0 * SAME,
        ),
    ]
}

/// Returns the verdicts on the targets of this project.
fn targets(points: &Points) -> Vec<Claim> {
    let at = |name: &str| SCHEDULERS.iter().position(|scheduler| scheduler.name == name).unwrap_or(0);
    let (ptfs, flow) = (at("PTFS"), at("flow"));
    let rows = |of: &dyn Fn(&Row) -> f64| -> Vec<At> {
        let groups = points.groups().into_iter();
        let each = groups.flat_map(|group| points.of_group(group).collect::<Vec<_>>());
        each.map(|(rate, row)| At { rate, mean: of(row), half: None, runs: 1 }).collect()
    };
    let gaps = rows(&|row| row.points[flow].gap);
    let better = rows(&|row| row.points[ptfs].makespan / row.points[flow].makespan - 1.0);
    vec![
        claim("Target", "The makespan of `flow` is within 0.3 % of its bound at every rate", &gaps, |gap| gap <= 0.003),
        claim(
            "Target",
            "At every rate, the makespan of `flow` is at most 0.05 % longer than the makespan of PTFS",
            &better,
            |gain| gain > -SAME / 2.0,
        ),
    ]
}

fn claim(place: &'static str, statement: &'static str, rows: &[At], holds: impl Fn(f64) -> bool) -> Claim {
    let answers: Vec<ClaimAnswer> = rows.iter().map(|row| row.answer(&holds)).collect();
    Claim::new(place, statement, listed(rows), &answers)
}

/// Formats means as `0.12 +- 0.03 % at 1, 0.3 % at 2`.
fn listed(rows: &[At]) -> String {
    let one = |&At { rate, mean, half, .. }: &At| {
        let half = half.map_or(String::new(), |half| format!(" +- {:.2}", 100.0 * half));
        format!("{:.2}{half} % at {rate}", 100.0 * mean)
    };
    rows.iter().map(one).collect::<Vec<_>>().join(", ")
}
