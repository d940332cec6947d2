//! Tables and claims about domains.

use super::{CASES, DomainsOptions, DomainsOutcome, Run};
use crate::campaign::{self, AnyRun, Claim, aligned, rows, shown, table, texts};
use crate::statistics::mean;

/// A function that returns one of the measured values of an outcome.
type Figure = fn(&DomainsOutcome) -> Option<f64>;

const ALONE: &str = CASES[0].0;
const LOCAL: &str = CASES[1].0;
const METASCHEDULER: &str = CASES[2].0;

const FIGURES: [(&str, Figure); 10] = [
    ("mean wait of owners, first domain (s)", |outcome| Some(outcome.owners_wait[0])),
    ("mean wait of owners, second domain (s)", |outcome| Some(outcome.owners_wait[1])),
    ("mean wait of users (s)", |outcome| outcome.users_wait),
    ("mean time to the end of users' jobs (s)", |outcome| outcome.users_response),
    ("users' jobs in time", |outcome| Some(outcome.in_time as f64)),
    ("users' jobs cancelled", |outcome| Some(outcome.cancelled as f64)),
    ("users' jobs over their budget", |outcome| Some(outcome.over_budget as f64)),
    ("charges of users' jobs", |outcome| outcome.users_wait.map(|_| outcome.charges)),
    ("switches and new plans", |outcome| Some(outcome.changes as f64)),
    ("users' jobs in both domains", |outcome| Some(outcome.divided as f64)),
];

/// Returns the mean of a figure over the runs with or without failures.
fn figure(runs: &[Run], failures: bool, case: &str, of: Figure) -> Option<f64> {
    let own = runs.iter().filter(|run| run.key.failures == failures);
    mean(&own.filter_map(|run| of(run.of(case)?)).collect::<Vec<f64>>())
}

/// Formats a table of the means, without and with failures.
pub(super) fn text(options: &DomainsOptions, runs: &[Run]) -> String {
    let logs: Vec<String> = options.logs.iter().map(|log| log.display().to_string()).collect();
    let mut text = format!(
        "Two domains with {} jobs of owners each ({}), policies {}. {} compound jobs of users with deadlines and budgets.\n",
        options.owners,
        if logs.is_empty() { "random logs".to_owned() } else { logs.join(", ") },
        options.policies.join(", "),
        options.users,
    );
    for failures in [false, true] {
        text += if failures { "\nthree times, a domain is down for two hours" } else { "\nwithout failures" };
        text += "\n";
        let line = |name: &str, cells: Vec<String>| aligned(&[-42, 16], std::iter::once(name.to_owned()).chain(cells));
        text += &line("means", CASES.iter().map(|(name, _)| (*name).to_owned()).collect());
        for (name, of) in FIGURES {
            let cells = CASES.iter().map(|(case, _)| shown(figure(runs, failures, case, of), 1));
            text += &line(name, cells.collect());
        }
    }
    text
}

/// Returns the claims about the waits, the deadlines and the budgets.
pub(super) fn claims(runs: &[Run]) -> Vec<Claim> {
    let compared = |of: Figure, holds: fn(f64, f64) -> bool, other: &str| {
        let pair = |failures: bool| {
            let (own, other) = (figure(runs, failures, METASCHEDULER, of)?, figure(runs, failures, other, of)?);
            Some((format!("{own:.1} against {other:.1}"), holds(own, other)))
        };
        [false, true].into_iter().filter_map(pair).collect::<Vec<_>>()
    };
    let owners: Figure = |outcome| Some(outcome.owners_wait[0] + outcome.owners_wait[1]);
    let in_time: Figure = |outcome| Some(outcome.in_time as f64);
    let over: Figure = |outcome| Some(outcome.over_budget as f64);
    let claims = [
        (
            "Section 1, resource owners",
            "With the metascheduler, owners wait at most 10 % longer than without users (sum of the means of both domains)",
            compared(owners, |own, alone| own <= 1.1 * alone, ALONE),
        ),
        (
            "Section 1, resource owners",
            "Owners wait less with the metascheduler than if users submit to the local queues",
            compared(owners, |own, local| own <= local, LOCAL),
        ),
        (
            "Section 1, users",
            "Users' jobs end sooner with the metascheduler than in the local queues",
            compared(|outcome| outcome.users_response, |own, local| own <= local, LOCAL),
        ),
        (
            "Section 1, users",
            "At least as many users' jobs end in time with the metascheduler as in the local queues",
            compared(in_time, |own, local| own >= local, LOCAL),
        ),
        (
            "Section 1, economical principles",
            "With the metascheduler, no job exceeds its budget",
            compared(over, |own, _| own < 0.5, LOCAL),
        ),
    ];
    claims.into_iter().map(|(place, statement, evidence)| Claim::each(place, statement, ", ", evidence)).collect()
}

/// Returns a row for each case of each run.
pub(super) fn results(runs: &[Run]) -> campaign::File {
    let header = "failures,run,case,owners_wait_first,owners_wait_second,users_wait,users_response,in_time,cancelled,\
                  over_budget,charges,changes,divided,users";
    let row = |(run, case, outcome): campaign::GridRow<'_, Run>| {
        let head = texts(&[&run.key.failures, &run.key.run, &case]);
        let figures = FIGURES.map(|(_, of)| of(outcome).map_or_else(String::new, |value| format!("{value:.6}")));
        [head, figures.to_vec(), texts(&[&run.facts])].concat()
    };
    table("results.csv", header, rows(runs).map(row))
}
