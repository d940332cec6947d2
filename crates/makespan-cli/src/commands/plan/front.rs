//! The section of a report about a front.

use makespan::{Front, FrontPoint};
use makespan_core::{Instance, Objective};
use makespan_formats::plot::{Figure, Line, Point, Series};
use makespan_formats::report::Section;
use makespan_verify::Bound;

use crate::summary;

/// Returns a section with a table and a figure of the schedules of a front and their bounds.
pub fn section(instance: &Instance, front: &Front, bounds: &[Bound]) -> Section {
    let objective = front.points().iter().find_map(|point| point.bound.as_ref()).map(|bound| bound.objective);
    let objective = objective.unwrap_or(Objective::WeightedCompletion);
    let (columns, rows) = summary::front_rows(instance, front, bounds);
    let makespan = |point: &FrontPoint| point.schedule.makespan().seconds();
    let unit = 10_f64.powi(objective.places() as i32);
    let at = |x: f64, value: i128| {
        let y = value as f64 / unit;
        Point { x, y, low: y, high: y }
    };
    let reached = front.points().iter().map(|point| at(makespan(point), objective.value(instance, &point.schedule)));
    let proved = front.points().iter().filter_map(|point| {
        let bound = point.bound.as_ref()?;
        Some(at(bound.makespan_at_most.map_or(makespan(point), makespan_core::Time::seconds), bound.value.integer()))
    });
    let series = |name: &str, points: Vec<Point>, line| Series { name: name.into(), points, line };
    let figure = Figure {
        title: format!("{} against makespan", summary::capital(&objective.to_string())),
        x_label: "makespan (s)".into(),
        y_label: match objective {
            _ if objective.is_weighted() => format!("{objective} (weight \u{D7} s)"),
            Objective::Cost => objective.to_string(),
            _ => format!("{objective} (s)"),
        },
        series: vec![
            series("schedule", reached.collect(), Line::Keeps),
            series("proved: none below", proved.collect(), Line::Takes),
        ],
        ..Figure::default()
    };
    Section {
        title: "Front".into(),
        text: format!(
            "No schedule of the front both ends earlier and has a lower {objective} than another one. Each bound applies to schedules with \
             a makespan of at most the value under \u{201c}within\u{201d}."
        ),
        columns,
        rows: summary::grouped_rows(rows),
        figure: (front.points().len() > 1).then_some(figure),
        ..Section::default()
    }
}
