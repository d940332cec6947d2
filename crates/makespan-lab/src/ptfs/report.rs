//! Figures and claims for people to read.

use std::fmt::Write as _;

use super::{Options, Points, Run, SCHEDULERS};
use crate::campaign::{Claim, claims_text, csv_table, text_table};

/// One row a flow and scheduler; times in seconds.
pub(super) fn results(runs: &[Run]) -> Vec<u8> {
    let header = "mean_size,rate,run,scheduler,maxspan,bound,utilisation,utilisation_by_speed,throughput,mean_flow_time,\
                  saturation,slide,starvation";
    let rows = runs.iter().flat_map(|run| run.outcomes.iter().zip(SCHEDULERS).map(move |pair| (run, pair)));
    csv_table(
        header,
        rows.map(|(run, (outcome, scheduler))| {
            let key = run.key;
            let mut row = vec![key.mean_size.to_string(), key.rate().to_string(), key.run.to_string()];
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
         The rate swings by half of its mean; tasks are 0.05 s on their way. The bound is proved: for each instant, what\n\
         arrives from then on over the sum of speeds, and the k largest of it over the k fastest nodes.\n",
        options.tasks, options.runs, options.seed
    );
    for size in points.sizes().into_iter().rev() {
        text += &table(points, size, "maxspan over its bound, %", |point| format!("{:.2}", 100.0 * point.gap));
        text += &table(points, size, "mean utilisation of the nodes, %", |point| {
            format!("{:.1}", 100.0 * point.utilisation)
        });
        text += &table(points, size, "utilisation by speed, %", |point| {
            format!("{:.1}", 100.0 * point.utilisation_by_speed)
        });
        text += &table(points, size, "mean flow time, s", |point| format!("{:.1}", point.flow_time));
        text += &table(points, size, "time in saturation / slide region / starvation, %", |point| {
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

/// A row a rate, a column a scheduler.
fn table(points: &Points, size: u32, title: &str, of: impl Fn(&super::Point) -> String) -> String {
    let mut text = format!("\nMean size {size}: {title}\n{:<8}", "rate");
    for scheduler in SCHEDULERS {
        let _infallible = write!(text, "{:>16}", scheduler.name);
    }
    for (rate, row) in points.of_size(size) {
        let _infallible = write!(text, "\n{rate:<8}");
        for point in row {
            let _infallible = write!(text, "{:>16}", of(point));
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
        let (_, row) = points.of_size(size).find(|row| (row.0 - rate).abs() < 1e-9)?;
        let regular = row[1..6].iter().map(|point| point.gap).fold(f64::INFINITY, f64::min);
        let ours = [row[0].gap, row[8].gap, row[7].gap, regular];
        let [ptfs, flow, immediate, regular] =
            [0, 1, 2, 3].map(|at| format!("{:.2}, prototype {:.2}", 100.0 * ours[at], theirs[at]));
        Some([size.to_string(), rate.to_string(), ptfs, flow, immediate, regular])
    });
    text_table(header, rows)
}
