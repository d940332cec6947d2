//! Tables, and the paper's figures redrawn with our own measurements.

use makespan_formats::plot::{Figure, Series};

use super::points::{Group, Point, Points, Row};
use super::{PtfsOptions, Run, SCHEDULERS, Scheduler};
use crate::LabError;
use crate::campaign::{self, File, aligned, figure, plot, record, rows, series, table};
use crate::statistics::{confidence, mean};

/// Upper end of the axis for makespans divided by their bounds.
const LARGEST: f64 = 1.2;

/// Returns a table with a row for each flow and scheduler. Times are in seconds.
pub(super) fn results(runs: &[Run]) -> File {
    let header = "mean_size,swing,rate,run,scheduler,makespan,bound,utilisation,utilisation_by_speed,throughput,mean_flow_time,\
                  saturation,slide,starvation";
    let row = |(run, scheduler, outcome): campaign::GridRow<'_, Run>| {
        let key = run.key;
        let figures = [outcome.utilisation, outcome.utilisation_by_speed, outcome.throughput, outcome.flow_time];
        let (flow, ends) = ([key.swing(), key.rate()], [outcome.makespan, run.facts]);
        record(
            &[&key.mean_size, &flow[0], &flow[1], &key.run, &scheduler, &ends[0], &ends[1]],
            figures.into_iter().chain(outcome.phases),
        )
    };
    table("results.csv", header, rows(runs).map(row))
}

/// Formats the report: a description of the measurement, and tables with all schedulers.
pub(super) fn text(options: &PtfsOptions, points: &Points) -> String {
    let mut text = format!(
        "Flows of {} tasks on ten nodes of speeds 1000, 2000 .. 10000; {} at each point; seed {}.\n\
         The rate is a multiple of the balance line and swings by a part of its mean; a task takes\n\
         0.05 s to reach its node. +- is the 95 % confidence interval over the flows. The bound is\n\
         proved. It is the maximum, over all instants r and numbers k, of r + (size of all tasks that\n\
         arrive from r on) / (speed of all nodes) and r + (size of the k largest of these tasks) /\n\
         (speed of the k fastest nodes).\n",
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

/// Formats a table with a row for each scheduler and a column for each rate. With eight rates, a line has 96
/// characters.
fn by_rate(points: &Points, group: Group, title: &str, of: impl Fn(&Point) -> String) -> String {
    let line = |name: &str, cells: Vec<String>| aligned(&[-16, 10], std::iter::once(name.to_owned()).chain(cells));
    let mut text = format!("\nMean size {}, swing {}: {title}\n", group.mean_size, group.swing);
    text += &line("rate", points.of_group(group).map(|(rate, _)| rate.to_string()).collect());
    for (at, scheduler) in SCHEDULERS.iter().enumerate() {
        text += &line(scheduler.name, points.of_group(group).map(|(_, row)| of(&row.points[at])).collect());
    }
    text
}

/// Returns figures 9 to 12, for each swing. Figures 9 and 10 show the makespan of every scheduler divided by its bound.
/// Figures 11 and 12 show the advantage of PTFS over the best other scheduler of Table 2, with 95 % confidence
/// intervals. (In the paper, figures 9 and 10 show only a high rate and a swinging rate.) For each mean size, an
/// additional figure compares the advantages at all swings.
pub(super) fn figures(points: &Points) -> Result<Vec<File>, LabError> {
    let mut figures = Vec::new();
    for (number, size) in [(9, 50_000), (10, 5000)] {
        let groups: Vec<Group> = points.groups().into_iter().filter(|group| group.mean_size == size).collect();
        for (at, &group) in groups.iter().rev().enumerate() {
            // The flows with the largest swing are most like the paper's flows, so the names of their figures have no
            // suffix.
            let suffix = if at == 0 { String::new() } else { format!("-swing-{}", group.swing) };
            figures.push(figure(&format!("figure{number}{suffix}"), &makespans(points, group))?);
            figures.push(figure(&format!("figure{}{suffix}", number + 2), &differences(points, group))?);
            figures.push(figure(&format!("figure{}b{suffix}", number + 2), &utilisations(points, group))?);
        }
        if groups.len() > 1 {
            figures.push(figure(&format!("figure{number}-by-swing"), &by_swing(points, &groups))?);
        }
    }
    Ok(figures)
}

/// Returns a figure with the rate of arrival on the horizontal axis.
fn against_rate(title: String, y_label: &str, lines: Vec<Series>) -> Figure {
    Figure { log_x: true, ..plot(title, "mean rate of arrival / balance line", y_label, lines) }
}

/// Returns a curve of means with their confidence intervals, in per cent.
fn intervals(name: impl Into<String>, points: &Points, group: Group, of: impl Fn(&Row) -> &Vec<f64>) -> Series {
    let mark = |(rate, row): (f64, &Row)| {
        let sample = of(row);
        let (mean, half) = (100.0 * mean(sample).unwrap_or(0.0), 100.0 * confidence(sample).unwrap_or(0.0));
        (rate, [mean, mean - half, mean + half])
    };
    series(name, points.of_group(group).map(mark))
}

/// Returns a figure that shows the advantage of PTFS, with one curve for each swing.
fn by_swing(points: &Points, groups: &[Group]) -> Figure {
    let line = |&group: &Group| intervals(format!("swing {}", group.swing), points, group, |row| &row.advantages);
    let title = format!(
        "Makespan saved by PTFS, compared with the best other scheduler of Table 2, mean size {}",
        groups[0].mean_size
    );
    against_rate(title, "percent", groups.iter().map(line).collect())
}

fn each(points: &Points, group: Group, of: impl Fn(&Point) -> f64) -> Vec<Series> {
    let line = |(at, scheduler): (usize, &Scheduler)| {
        series(scheduler.name, points.of_group(group).map(|(rate, row)| (rate, [of(&row.points[at]); 3])))
    };
    SCHEDULERS.iter().enumerate().map(line).collect()
}

fn makespans(points: &Points, group: Group) -> Figure {
    let title = format!("Makespan divided by its bound, mean size {}, swing {}", group.mean_size, group.swing);
    let figure = against_rate(title, "makespan / bound", each(points, group, |point| 1.0 + point.gap));
    Figure { y_most: Some(LARGEST), ..figure }
}

fn utilisations(points: &Points, group: Group) -> Figure {
    let title = format!("Mean utilisation of the nodes, mean size {}, swing {}", group.mean_size, group.swing);
    against_rate(title, "mean over nodes", each(points, group, |point| point.utilisation))
}

fn differences(points: &Points, group: Group) -> Figure {
    let Group { mean_size, swing } = group;
    let title = format!("PTFS against the best other scheduler of Table 2, mean size {mean_size}, swing {swing}");
    let makespan = intervals("makespan saved", points, group, |row| &row.advantages);
    let used = intervals("utilisation gained", points, group, |row| &row.more_used);
    against_rate(title, "percent", vec![makespan, used])
}
