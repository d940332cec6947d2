//! Figures and claims for people to read.

use std::fmt::Write as _;

use super::{Options, Points, Run, SCHEDULERS};
use crate::campaign::{Claim, claims_text, csv_table, text_table};

/// One row a flow and scheduler; times in seconds.
pub(super) fn results(runs: &[Run]) -> Vec<u8> {
    let header = "mean_size,swing,rate,run,scheduler,maxspan,bound,utilisation,utilisation_by_speed,throughput,mean_flow_time,\
                  saturation,slide,starvation";
    let rows = runs.iter().flat_map(|run| run.outcomes.iter().zip(SCHEDULERS).map(move |pair| (run, pair)));
    csv_table(
        header,
        rows.map(|(run, (outcome, scheduler))| {
            let key = run.key;
            let mut row = vec![key.mean_size.to_string(), key.swing().to_string(), key.rate().to_string()];
            row.push(key.run.to_string());
            row.extend([scheduler.name.to_owned(), outcome.maxspan.to_string(), run.bound.to_string()]);
            let figures = [outcome.utilisation, outcome.utilisation_by_speed, outcome.throughput, outcome.flow_time];
            row.extend(figures.into_iter().chain(outcome.phases).map(|figure| format!("{figure:.6}")));
            row
        }),
    )
}

pub(super) fn text(options: &Options, points: &Points, claims: &[Claim]) -> String {
    let mut text = format!(
        "Flows of {} tasks on ten nodes of speeds 1000, 2000 .. 10000; {} at each point; seed {}.\n\
         The rate is a multiple of the balance line and swings by a part of its mean; tasks are 0.05 s on\n\
         their way. +- is the 95 % confidence interval over the flows. The bound is proved: for each\n\
         instant r, r + all that arrives from r on over the sum of speeds, and r + the k largest of it\n\
         over the k fastest nodes.\n",
        options.tasks, options.runs, options.seed
    );
    for group in points.groups().into_iter().rev() {
        text += &table(points, group, "maxspan over its bound, %", |point| format!("{:.2}", 100.0 * point.gap));
        text += &table(points, group, "mean utilisation of the nodes, %", |point| {
            format!("{:.1}", 100.0 * point.utilisation)
        });
        text += &table(points, group, "utilisation by speed, %", |point| {
            format!("{:.1}", 100.0 * point.utilisation_by_speed)
        });
        text += &table(points, group, "mean flow time, s", |point| format!("{:.1}", point.flow_time));
        text += &table(points, group, "time in saturation / slide region / starvation, %", |point| {
            point.phases.map(|part| format!("{:.0}", 100.0 * part)).join("/")
        });
    }
    text += "\nClaims\n";
    text += &claims_text(claims);
    text += "\n\nBeside an independent prototype: maxspan over its bound, %\n";
    text += &prototype(points);
    text.push('\n');
    text
}

/// A row a scheduler, a column a rate: eight rates take 96 columns.
fn table(points: &Points, group: (u32, f64), title: &str, of: impl Fn(&super::Point) -> String) -> String {
    let mut text = format!("\nMean size {}, swing {}: {title}\n{:<16}", group.0, group.1, "rate");
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

/// What an independent prototype measured: mean size, rate, then PTFS, flow, immediate MCT and the best regular interval.
const PROTOTYPE: [(u32, f64, [f64; 4]); 6] = [
    (50_000, 0.5, [0.02, 0.03, 0.01, 0.20]),
    (50_000, 1.0, [0.30, 0.23, 0.29, 0.52]),
    (50_000, 8.0, [0.08, 0.01, 0.14, 0.59]),
    (5000, 1.0, [2.1, 0.17, 0.27, 5.4]),
    (5000, 2.0, [1.9, 0.07, 0.21, 5.5]),
    (5000, 8.0, [16.0, 0.04, 0.20, 5.5]),
];

fn prototype(points: &Points) -> String {
    let header = ["mean size", "rate", "PTFS", "flow", "immediate MCT", "best regular"];
    let rows = PROTOTYPE.iter().filter_map(|&(size, rate, theirs)| {
        // The prototype's rates swung by half.
        let (_, row) = points.of_group((size, 0.5)).find(|row| (row.0 - rate).abs() < 1e-9)?;
        let row = &row.points;
        let regular = row[1..6].iter().map(|point| point.gap).fold(f64::INFINITY, f64::min);
        let ours = [row[0].gap, row[8].gap, row[7].gap, regular];
        let [ptfs, flow, immediate, regular] =
            [0, 1, 2, 3].map(|at| format!("{:.2}, prototype {:.2}", 100.0 * ours[at], theirs[at]));
        Some([size.to_string(), rate.to_string(), ptfs, flow, immediate, regular])
    });
    text_table(header, rows)
}
