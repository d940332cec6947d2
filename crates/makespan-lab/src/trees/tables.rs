//! The results as CSV.

use super::{Group, Points, Reading, Run};
use crate::campaign::table;

/// One row a play: throughputs in tasks a second.
pub(super) fn results(runs: &[Run]) -> (String, Vec<u8>) {
    let header = "applications,unit,latency,data,nodes,degree,tree,largest_ratio,instance_seed,bound,heuristic,setting,fair,theory";
    let rows = runs.iter().flat_map(|run| run.outcomes.iter().map(move |outcome| (run, outcome)));
    table(
        "results.csv",
        header,
        rows.map(|(run, outcome)| {
            let key = run.key;
            let mut row = reading(key.reading);
            row.extend([key.nodes.to_string(), key.degree.to_string()]);
            row.extend([key.tree.to_string(), (f64::from(key.ratio) / 1e6).to_string(), run.instance_seed.to_string()]);
            row.extend([format!("{:e}", run.bound), outcome.heuristic.clone(), setting(outcome.setting)]);
            row.push(format!("{:e}", outcome.fair));
            row.push(outcome.theory.map_or_else(String::new, |theory| format!("{theory:e}")));
            row
        }),
    )
}

/// One row a group and heuristic.
pub(super) fn summary(points: &Points) -> (String, Vec<u8>) {
    let header = "applications,unit,latency,data,setting,group,heuristic,compared,near_zero,lp_zero,geometric_mean,min,max,mean_deviation";
    table(
        "summary.csv",
        header,
        points.iter().map(|((read, at, group, heuristic), ratios)| {
            let figure = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
            let mut row = reading(*read);
            row.extend([setting(*at), self::group(*group), heuristic.clone()]);
            row.extend([ratios.compared, ratios.near_zero, ratios.without].map(|count| count.to_string()));
            row.extend([ratios.geometric_mean(), Some(ratios.min), Some(ratios.max), ratios.deviation()].map(figure));
            row
        }),
    )
}

/// `all`, `large`, `small` or the largest ratio.
pub(super) fn group(group: Group) -> String {
    match group {
        Group::All => "all".into(),
        Group::Large => "large".into(),
        Group::Small => "small".into(),
        Group::Ratio(ratio) => format!("ratio {}", f64::from(ratio) / 1e6),
    }
}

fn reading(reading: Reading) -> Vec<String> {
    let Reading { applications, unit, latency, data } = reading;
    vec![applications.to_string(), unit.to_string(), latency.to_string(), data.to_string()]
}

fn setting(setting: super::Setting) -> String {
    format!("{setting:?}").to_lowercase()
}
