//! Figures and claims of flows for people to read.

use std::fmt::Write as _;

use super::super::outcome::{Key, Outcome, Served};
use super::super::run::{GAPS, Run};
use super::{BUFFER, HANDOVER, ONE_BY_ONE, POLICIES, REPLAN, UTILISATION};
use crate::campaign::Claim;
use crate::statistics::mean;

/// A figure of an outcome.
type Figure = fn(&Outcome) -> Option<f64>;

/// Whether the first of two means is as claimed beside the second.
type Compared = fn(f64, f64) -> bool;

/// The mean of a figure over the flows at each gap; `None` at gaps without any.
fn at_gaps(runs: &[Run], policy: &str, figure: Figure) -> [Option<f64>; GAPS.len()] {
    means(runs, |run| figure(run.of(policy)?))
}

fn means(runs: &[Run], figure: impl Fn(&Run) -> Option<f64>) -> [Option<f64>; GAPS.len()] {
    GAPS.map(|gap| {
        let own = runs.iter().filter(|run| matches!(run.key, Key::Flow(own, _) if own == gap));
        mean(&own.filter_map(&figure).collect::<Vec<f64>>())
    })
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.3}"))
}

const IN_TIME: Figure = |outcome| Some(outcome.on_time as f64);

fn of(outcome: &Outcome, figure: fn(&Served) -> f64) -> Option<f64> {
    outcome.served.as_ref().map(figure)
}

const FIGURES: [(&str, Figure); 8] = [
    ("jobs in time", IN_TIME),
    ("jobs in time by the policy's clock", |outcome| of(outcome, |served| served.as_told as f64)),
    ("cost", |outcome| Some(outcome.cost)),
    ("last end, s", |outcome| Some(outcome.makespan)),
    ("utilisation", |outcome| of(outcome, |served| served.utilisation)),
    ("load balance, mean over most", |outcome| of(outcome, |served| served.balance)),
    ("collisions", |outcome| of(outcome, |served| served.collisions as f64)),
    ("jobs planned by a list", |outcome| Some(outcome.fallbacks as f64)),
];

/// Tables of all policies, a figure each.
pub(in super::super) fn text(runs: &[Run], jobs: usize) -> String {
    let mut text = format!(
        "Flows of {jobs} jobs served in virtual time, deadlines twice HEFT's makespan for each alone; means by mean \
         seconds\nbetween two jobs (0: all at once)\n"
    );
    for (name, figure) in FIGURES {
        let _infallible = write!(text, "\n{name:<44}");
        for gap in GAPS {
            let _infallible = write!(text, "{gap:>10}");
        }
        for policy in POLICIES {
            let _infallible = write!(text, "\n{policy:<44}");
            for value in at_gaps(runs, policy, figure) {
                let _infallible = write!(text, "{:>10}", shown(value));
            }
        }
        text.push('\n');
        if name == "jobs in time" {
            let _infallible = write!(text, "{:<44}", "  no schedule has more than");
            means(runs, |run| run.at_most.map(|most| most as f64))
                .into_iter()
                .for_each(|value| text.push_str(&format!("{:>10}", shown(value))));
            text.push('\n');
        }
    }
    text
}

/// Each compares a policy with another at every gap, or at some.
pub(in super::super) fn claims(runs: &[Run]) -> Vec<Claim> {
    let utilisation: Figure = |outcome| of(outcome, |served| served.utilisation);
    let balance: Figure = |outcome| of(outcome, |served| served.balance);
    let as_told: Figure = |outcome| of(outcome, |served| served.as_told as f64);
    let all = &GAPS[..];
    let no_less = |better: f64, worse: f64| better >= worse;
    let more = |better: f64, worse: f64| better > worse;
    let claim = |(place, statement), (better, worse): (&str, &str), figure: Figure, gaps: &[u32], holds: Compared| {
        let pairs = at_gaps(runs, better, figure).into_iter().zip(at_gaps(runs, worse, figure));
        let asked = GAPS.iter().zip(pairs).filter(|(gap, _)| gaps.contains(gap));
        let known: Vec<(f64, f64)> = asked.filter_map(|(_, (better, worse))| Some((better?, worse?))).collect();
        let shown = known.iter().map(|(better, worse)| format!("{better:.3} against {worse:.3}"));
        let answers: Vec<bool> = known.iter().map(|&(better, worse)| holds(better, worse)).collect();
        Claim::new(place, statement, shown.collect::<Vec<_>>().join(", "), &answers)
    };
    let place = "Section 4, flows";
    vec![
        claim(
            (place, "Replanning serves at least as many jobs in time as one by one, at every gap"),
            (REPLAN, ONE_BY_ONE),
            IN_TIME,
            all,
            no_less,
        ),
        claim(
            ("comparison", "Where all jobs come at once a buffer serves at least as many in time as one by one"),
            (BUFFER, ONE_BY_ONE),
            IN_TIME,
            &[0],
            no_less,
        ),
        claim(
            ("comparison", "Where jobs come 40 or 20 s apart a buffer of 20 s serves fewer in time than one by one"),
            (ONE_BY_ONE, BUFFER),
            IN_TIME,
            &[40, 20],
            more,
        ),
        claim(
            ("comparison", "Replanning serves at least as many jobs in time as a buffer, at every gap"),
            (REPLAN, BUFFER),
            IN_TIME,
            all,
            no_less,
        ),
        claim(
            (
                "clock",
                "By its own clock a buffer that counts the time to deadlines from the hand-over has more jobs in time, at every gap",
            ),
            (HANDOVER, BUFFER),
            as_told,
            all,
            more,
        ),
        claim(
            (
                place,
                "Planning flows by their utilisation loads processors at least as much as one by one, at every gap",
            ),
            (UTILISATION, ONE_BY_ONE),
            utilisation,
            all,
            no_less,
        ),
        claim(
            (place, "Replanning for utilisation balances their loads at least as well as one by one, at every gap"),
            (UTILISATION, ONE_BY_ONE),
            balance,
            all,
            no_less,
        ),
    ]
}
