//! Tables and claims about flows.

use super::super::{CriticalJobsKey, CriticalJobsOutcome, GAPS, Run, Served};
use super::{BUFFER, HANDOVER, ONE_BY_ONE, POLICIES, REPLAN, UTILISATION};
use crate::campaign::{AnyRun, Claim, aligned, shown};
use crate::statistics::mean;

/// A function that returns one of the measured values of an outcome.
type Figure = fn(&CriticalJobsOutcome) -> Option<f64>;

/// A comparison of two means. Returns true if the means agree with the claim.
type Compared = fn(f64, f64) -> bool;

/// For each gap between jobs, returns the mean of `figure` over the flows with this gap, or `None` if there are no such
/// flows.
fn at_gaps(runs: &[Run], policy: &str, figure: Figure) -> [Option<f64>; GAPS.len()] {
    means(runs, |run| figure(run.of(policy)?))
}

fn means(runs: &[Run], figure: impl Fn(&Run) -> Option<f64>) -> [Option<f64>; GAPS.len()] {
    GAPS.map(|gap| {
        let own = runs.iter().filter(|run| matches!(run.key, CriticalJobsKey::Flow(own, _) if own == gap));
        mean(&own.filter_map(&figure).collect::<Vec<f64>>())
    })
}

const IN_TIME: Figure = |outcome| Some(outcome.on_time as f64);

fn of(outcome: &CriticalJobsOutcome, figure: fn(&Served) -> f64) -> Option<f64> {
    outcome.served.as_ref().map(figure)
}

const FIGURES: [(&str, Figure); 8] = [
    ("jobs in time", IN_TIME),
    ("jobs in time by the policy's clock", |outcome| of(outcome, |served| served.as_told as f64)),
    ("cost", |outcome| Some(outcome.cost)),
    ("last end, s", |outcome| Some(outcome.makespan)),
    ("utilisation", |outcome| of(outcome, |served| served.utilisation)),
    ("load balance, mean / largest", |outcome| of(outcome, |served| served.balance)),
    ("collisions", |outcome| of(outcome, |served| served.collisions as f64)),
    ("jobs planned by a list", |outcome| Some(outcome.fallbacks as f64)),
];

/// Formats one table for each measured value (`FIGURES`). Each table has a row for each policy.
pub(in super::super) fn text(runs: &[Run], jobs: usize) -> String {
    let mut text = format!(
        "Simulated flows of {jobs} jobs. The deadline of each job is twice HEFT's makespan for this job alone.\n\
         Columns: mean seconds between two jobs (0: all at once)\n"
    );
    let line = |name: &str, cells: [String; 4]| aligned(&[-44, 10], std::iter::once(name.to_owned()).chain(cells));
    let figures = |values: [Option<f64>; 4]| values.map(|value| shown(value, 3));
    for (name, figure) in FIGURES {
        text += &format!("\n{}", line(name, GAPS.map(|gap| gap.to_string())));
        for policy in POLICIES {
            text += &line(policy, figures(at_gaps(runs, policy, figure)));
        }
        if name == "jobs in time" {
            let most = means(runs, |run| run.facts.at_most.map(|most| most as f64));
            text += &line("  upper bound for any schedule", figures(most));
        }
    }
    text
}

/// Returns the claims about flows. Each claim compares two policies, at some or all of the gaps between jobs.
pub(in super::super) fn claims(runs: &[Run]) -> Vec<Claim> {
    let utilisation: Figure = |outcome| of(outcome, |served| served.utilisation);
    let balance: Figure = |outcome| of(outcome, |served| served.balance);
    let as_told: Figure = |outcome| of(outcome, |served| served.as_told as f64);
    let compared = |better: &str, worse: &str, figure: Figure, gaps: &[u32], holds: Compared| {
        let pairs = at_gaps(runs, better, figure).into_iter().zip(at_gaps(runs, worse, figure));
        let asked = GAPS.iter().zip(pairs).filter(|(gap, _)| gaps.contains(gap));
        let known = asked.filter_map(|(_, (better, worse))| Some((better?, worse?)));
        known.map(|(a, b)| (format!("{a:.3} against {b:.3}"), holds(a, b))).collect::<Vec<_>>()
    };
    let (place, comparison, all) = ("Section 4, flows", "comparison", &GAPS[..]);
    let no_less = |better: f64, worse: f64| better >= worse;
    let more = |better: f64, worse: f64| better > worse;
    let replanned =
        "At every gap between jobs, at least as many jobs end in time with replanning as with planning one by one";
    let at_once =
        "If all jobs arrive together, at least as many jobs end in time with a buffer as with planning one by one";
    let apart =
        "If jobs arrive 40 or 20 s apart, fewer jobs end in time with a buffer of 20 s than with planning one by one";
    let beside = "At every gap between jobs, at least as many jobs end in time with replanning as with a buffer";
    let clock = "At every gap between jobs, more jobs meet a deadline that counts from their hand-over by the buffer than a deadline that counts from their arrival";
    let loads = "At every gap between jobs, the utilisation is at least as high if plans are chosen for utilisation as with planning one by one";
    let balanced = "At every gap between jobs, the load balance is at least as high if plans are chosen for utilisation as with planning one by one";
    let claims = [
        (place, replanned, compared(REPLAN, ONE_BY_ONE, IN_TIME, all, no_less)),
        (comparison, at_once, compared(BUFFER, ONE_BY_ONE, IN_TIME, &[0], no_less)),
        (comparison, apart, compared(ONE_BY_ONE, BUFFER, IN_TIME, &[40, 20], more)),
        (comparison, beside, compared(REPLAN, BUFFER, IN_TIME, all, no_less)),
        ("clock", clock, compared(HANDOVER, BUFFER, as_told, all, more)),
        (place, loads, compared(UTILISATION, ONE_BY_ONE, utilisation, all, no_less)),
        (place, balanced, compared(UTILISATION, ONE_BY_ONE, balance, all, no_less)),
    ];
    claims.into_iter().map(|(place, statement, evidence)| Claim::each(place, statement, ", ", evidence)).collect()
}
