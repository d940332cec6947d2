//! The paper's figures, drawn anew.

use makespan_formats::plot::{Figure, Point as Mark, Series};

use super::{Group, Point, Points, Row, SCHEDULERS};
use crate::LabError;
use crate::campaign::{File, figure};
use crate::statistics::{confidence, mean};

/// The axis of makespans over their bound ends here at the latest.
const LARGEST: f64 = 1.2;

/// Names and contents. Figures 9 and 10: makespan over its bound, for every scheduler; 11 and 12: by how much PTFS is better than
/// the best other scheduler of Table 2, with 95 % confidence intervals. The paper's 9 and 10 are at a high rate and a swinging one alone: here
/// there is a figure for each swing, and one of how the advantage depends on it.
pub(super) fn all(points: &Points) -> Result<Vec<File>, LabError> {
    let mut figures = Vec::new();
    for (number, size) in [(9, 50_000), (10, 5000)] {
        let groups: Vec<Group> = points.groups().into_iter().filter(|group| group.mean_size == size).collect();
        for (at, &group) in groups.iter().rev().enumerate() {
            // The flows that swing most are the paper's; the others have their swing in the name.
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

const X: &str = "mean rate of arrival / balance line";

fn curve(points: &Points, group: Group, of: impl Fn(&Row) -> f64) -> Vec<Mark> {
    let mark = |(x, row): (f64, &Row)| {
        let y = of(row);
        Mark { x, y, low: y, high: y }
    };
    points.of_group(group).map(mark).collect()
}

/// Means in per cent with their confidence intervals.
fn intervals(points: &Points, group: Group, of: impl Fn(&Row) -> &Vec<f64>) -> Vec<Mark> {
    let mark = |(x, row): (f64, &Row)| {
        let sample = of(row);
        let (y, half) = (100.0 * mean(sample).unwrap_or(0.0), 100.0 * confidence(sample).unwrap_or(0.0));
        Mark { x, y, low: y - half, high: y + half }
    };
    points.of_group(group).map(mark).collect()
}

/// How the advantage of PTFS depends on the swing.
fn by_swing(points: &Points, groups: &[Group]) -> Figure {
    let series = |&group: &Group| Series {
        name: format!("swing {}", group.swing),
        points: intervals(points, group, |row| &row.advantages),
        ..Series::default()
    };
    Figure {
        title: format!("Maxspan saved by PTFS beside the best other of Table 2, mean size {}", groups[0].mean_size),
        x_label: X.into(),
        y_label: "percent".into(),
        series: groups.iter().map(series).collect(),
        log_x: true,
        ..Figure::default()
    }
}

fn each(points: &Points, group: Group, of: impl Fn(&Point) -> f64) -> Vec<Series> {
    let series = |(at, scheduler): (usize, &super::Scheduler)| Series {
        name: scheduler.name.into(),
        points: curve(points, group, |row| of(&row.points[at])),
        ..Series::default()
    };
    SCHEDULERS.iter().enumerate().map(series).collect()
}

fn makespans(points: &Points, group: Group) -> Figure {
    Figure {
        title: format!("Maxspan over its bound, mean size {}, swing {}", group.mean_size, group.swing),
        x_label: X.into(),
        y_label: "makespan / bound".into(),
        series: each(points, group, |point| 1.0 + point.gap),
        y_most: Some(LARGEST),
        log_x: true,
        ..Figure::default()
    }
}

fn utilisations(points: &Points, group: Group) -> Figure {
    Figure {
        title: format!("Mean utilisation of the nodes, mean size {}, swing {}", group.mean_size, group.swing),
        x_label: X.into(),
        y_label: "mean over nodes".into(),
        series: each(points, group, |point| point.utilisation),
        log_x: true,
        ..Figure::default()
    }
}

fn differences(points: &Points, group: Group) -> Figure {
    let makespan = intervals(points, group, |row| &row.advantages);
    let used = intervals(points, group, |row| &row.more_used);
    Figure {
        title: format!(
            "PTFS beside the best other scheduler of Table 2, mean size {}, swing {}",
            group.mean_size, group.swing
        ),
        x_label: X.into(),
        y_label: "percent".into(),
        series: vec![
            Series { name: "makespan saved".into(), points: makespan, ..Series::default() },
            Series { name: "utilisation gained".into(), points: used, ..Series::default() },
        ],
        log_x: true,
        ..Figure::default()
    }
}
