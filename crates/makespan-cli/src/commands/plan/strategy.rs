//! The variants of a strategy, in text and in a report.

use makespan_core::{Objective, Strategy, Variant};
use makespan_formats::plot::{Figure, Line, Point, Series};
use makespan_formats::report::Section;

use crate::output::table;
use crate::summary;

const HEADINGS: [&str; 4] = ["", "finish (s)", "cost", "busy (s)"];

/// The variants as text.
pub fn text(strategy: &Strategy) -> String {
    format!(
        "\nthe strategy, of which no variant beats another in finish, cost and busy time:\n{}",
        table(&HEADINGS, 1, rows(strategy))
    )
}

/// The variants as a table and a figure.
pub fn section(strategy: &Strategy) -> Section {
    let point = |variant: &Variant| {
        let y = variant.cost as f64 / 1e3;
        Point { x: variant.finish.seconds(), y, low: y, high: y }
    };
    let points: Vec<Point> = strategy.variants().iter().map(point).collect();
    let chosen = points[strategy.chosen()];
    let series = |name: &str, points: Vec<Point>| Series { name: name.into(), points, line: Line::Apart };
    let figure = Figure {
        title: "Finish against cost".into(),
        x_label: "finish (s)".into(),
        y_label: "cost".into(),
        series: vec![series("variant", points), series("chosen", vec![chosen])],
        ..Figure::default()
    };
    Section {
        title: "Strategy".into(),
        text: "A choice of schedules. Each is better than every other one in something: it ends sooner, costs less, or keeps \
               the processors busier. Cost is the sum over tasks of volume over time; busy is the time of all processors."
            .into(),
        columns: HEADINGS.map(str::to_owned).to_vec(),
        rows: rows(strategy),
        figure: (strategy.variants().len() > 1).then_some(figure),
        ..Section::default()
    }
}

fn rows(strategy: &Strategy) -> Vec<Vec<String>> {
    let row = |(index, variant): (usize, &Variant)| {
        vec![
            if index == strategy.chosen() { "chosen" } else { "" }.into(),
            summary::value(Objective::Makespan, i128::from(variant.finish.ticks())),
            summary::value(Objective::Cost, variant.cost),
            summary::value(Objective::Makespan, variant.busy),
        ]
    };
    strategy.variants().iter().enumerate().map(row).collect()
}
