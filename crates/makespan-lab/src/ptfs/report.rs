//! Figures for people to read.

use std::fmt::Write as _;

use super::{Group, Options, Points, Run, SCHEDULERS};
use crate::campaign::table;

/// One row a flow and scheduler; times in seconds.
pub(super) fn results(runs: &[Run]) -> (String, Vec<u8>) {
    let header = "mean_size,swing,rate,run,scheduler,makespan,bound,utilisation,utilisation_by_speed,throughput,mean_flow_time,\
                  saturation,slide,starvation";
    let rows = runs.iter().flat_map(|run| run.outcomes.iter().zip(SCHEDULERS).map(move |pair| (run, pair)));
    table(
        "results.csv",
        header,
        rows.map(|(run, (outcome, scheduler))| {
            let key = run.key;
            let mut row = vec![key.mean_size.to_string(), key.swing().to_string(), key.rate().to_string()];
            row.push(key.run.to_string());
            row.extend([scheduler.name.to_owned(), outcome.makespan.to_string(), run.bound.to_string()]);
            let figures = [outcome.utilisation, outcome.utilisation_by_speed, outcome.throughput, outcome.flow_time];
            row.extend(figures.into_iter().chain(outcome.phases).map(|figure| format!("{figure:.6}")));
            row
        }),
    )
}

pub(super) fn text(options: &Options, points: &Points) -> String {
    let mut text = format!(
        "Flows of {} tasks on ten nodes of speeds 1000, 2000 .. 10000; {} at each point; seed {}.\n\
         The rate is a multiple of the balance line and swings by a part of its mean; tasks are 0.05 s on\n\
         their way. +- is the 95 % confidence interval over the flows. The bound is proved: for each\n\
         instant r, r + all that arrives from r on over the sum of speeds, and r + the k largest of it\n\
         over the k fastest nodes.\n",
        options.tasks, options.runs, options.seed
    );
    for group in points.groups().into_iter().rev() {
        text += &by_rate(points, group, "makespan over its bound, %", |point| format!("{:.2}", 100.0 * point.gap));
        text += &by_rate(points, group, "mean utilisation of the nodes, %", |point| {
            format!("{:.1}", 100.0 * point.utilisation)
        });
        text += &by_rate(points, group, "utilisation by speed, %", |point| {
            format!("{:.1}", 100.0 * point.utilisation_by_speed)
        });
        text += &by_rate(points, group, "mean flow time, s", |point| format!("{:.1}", point.flow_time));
        text += &by_rate(points, group, "time in saturation / slide region / starvation, %", |point| {
            point.phases.map(|part| format!("{:.0}", 100.0 * part)).join("/")
        });
    }
    text
}

/// A row a scheduler, a column a rate: eight rates take 96 columns.
fn by_rate(points: &Points, group: Group, title: &str, of: impl Fn(&super::Point) -> String) -> String {
    let mut text = format!("\nMean size {}, swing {}: {title}\n{:<16}", group.mean_size, group.swing, "rate");
    for (rate, _) in points.of_group(group) {
        let _infallible = write!(text, "{rate:>10}");
    }
    for (at, scheduler) in SCHEDULERS.iter().enumerate() {
        let _infallible = write!(text, "\n{:<16}", scheduler.name);
        for (_, row) in points.of_group(group) {
            let _infallible = write!(text, "{:>10}", of(&row.points[at]));
        }
    }
    text.push('\n');
    text
}
