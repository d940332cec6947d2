//! The results as CSV.

use std::collections::BTreeMap;

use super::Run;
use super::points::Figures;
use crate::campaign::table;

/// One row a plan: makespan and bound in seconds, exact.
pub(super) fn results(runs: &[Run]) -> (String, Vec<u8>) {
    let header = "family,k,m,jobs,run,instance_seed,algorithm,makespan,bound,ratio,within_guarantee,refusal,seconds";
    let decimal = |ticks| makespan_core::Objective::Makespan.decimal(ticks);
    let rows = runs.iter().flat_map(|run| run.outcomes.iter().map(move |outcome| (run, outcome)));
    table(
        "results.csv",
        header,
        rows.map(|(run, outcome)| {
            let mut row = place(run);
            row.extend([
                run.key.run.to_string(),
                run.instance_seed.to_string(),
                outcome.algorithm.clone(),
                outcome.makespan.as_ref().map_or_else(|_| String::new(), |&makespan| decimal(makespan)),
                decimal(run.bound),
                run.ratio(outcome).map_or_else(String::new, |ratio| format!("{ratio:.6}")),
                outcome.within_guarantee.map_or_else(String::new, |within| within.to_string()),
                outcome.makespan.as_ref().err().cloned().unwrap_or_default(),
                format!("{:.6}", outcome.seconds),
            ]);
            row
        }),
    )
}

/// One row an algorithm and point.
pub(super) fn summary(runs: &[Run]) -> (String, Vec<u8>) {
    let header = "family,k,m,jobs,algorithm,plans,refused,ratio_min,ratio_mean,ratio_max,seconds_mean,seconds_max";
    let mut points: BTreeMap<_, Figures> = BTreeMap::new();
    for run in runs {
        let key = super::Key { run: 0, ..run.key };
        for (at, outcome) in run.outcomes.iter().enumerate() {
            points.entry((key, at)).or_default().add(run.ratio(outcome), outcome.seconds);
        }
    }
    let spec = |at: usize| runs[0].outcomes[at].algorithm.clone();
    table(
        "summary.csv",
        header,
        points.into_iter().map(|((key, at), figures)| {
            let Figures { plans, refused, min, mean, max, seconds, longest } = figures;
            let mut row = vec![key.population.to_string()];
            row.extend([key.each, key.nodes].map(|number| number.to_string()));
            row.extend([key.jobs.to_string(), spec(at), plans.to_string(), refused.to_string()]);
            row.extend([min, mean, max, seconds, longest].map(|figure| format!("{figure:.6}")));
            row
        }),
    )
}

/// One row an instance: what became of its guesses.
pub(super) fn guesses(runs: &[Run]) -> (String, Vec<u8>) {
    let header = "family,k,m,jobs,run,instance_seed,attempted,met,missed,refuted,undecided,longest_over_guess";
    table(
        "guesses.csv",
        header,
        runs.iter().map(|run| {
            let guesses = run.guesses;
            let mut row = place(run);
            row.extend([run.key.run.to_string(), run.instance_seed.to_string()]);
            let counts = [guesses.attempted, guesses.met, guesses.missed, guesses.refuted, guesses.undecided];
            row.extend(counts.map(|count| count.to_string()));
            row.push(format!("{:.6}", guesses.longest));
            row
        }),
    )
}

fn place(run: &Run) -> Vec<String> {
    let key = run.key;
    vec![key.population.to_string(), key.each.to_string(), key.nodes.to_string(), key.jobs.to_string()]
}
