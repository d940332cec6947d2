//! Describes the variants of a strategy in text and in a report.

use makespan_core::{Objective, Strategy, Variant};
use makespan_formats::plot::{Figure, Line, Point, Series};
use makespan_formats::report::Section;

use crate::output::table;
use crate::summary;

const HEADINGS: [&str; 5] = ["", "end (s)", "cost", "busy (s)", "possible until (s)"];

/// Returns a table of the variants as text.
pub fn text(strategy: &Strategy) -> String {
    format!(
        "\nthe strategy (each variant is better than every other variant in at least one figure):\n{}",
        table(&HEADINGS, 1, rows(strategy))
    )
}

/// Returns a section of a report with a table and a figure of the variants.
pub fn section(strategy: &Strategy) -> Section {
    let point = |variant: &Variant| {
        let y = variant.cost as f64 / 1e3;
        Point { x: variant.finish.seconds(), y, low: y, high: y }
    };
    let points: Vec<Point> = strategy.variants().iter().map(point).collect();
    let chosen = points[strategy.chosen()];
    let series = |name: &str, points: Vec<Point>| Series { name: name.into(), points, line: Line::Apart };
    let figure = Figure {
        title: "Cost and end of each variant".into(),
        x_label: "end (s)".into(),
        y_label: "cost".into(),
        series: vec![series("variant", points), series("chosen", vec![chosen])],
        ..Figure::default()
    };
    Section {
        title: "Strategy".into(),
        text: "Several schedules to choose from. Compared with any other of them, each schedule ends earlier, costs less or keeps \
               the processors busier. The busy time is the time in which processors run tasks, summed over all processors. The cost is \
               the sum over all tasks of volume divided by run time. A schedule is possible until an instant if all jobs meet their \
               deadlines when the first task starts at this instant and all other tasks are delayed equally."
            .into(),
        columns: HEADINGS.map(str::to_owned).to_vec(),
        rows: summary::grouped_rows(rows(strategy)),
        figure: (strategy.variants().len() > 1).then_some(figure),
        ..Section::default()
    }
}

fn rows(strategy: &Strategy) -> Vec<Vec<String>> {
    let variants = strategy.variants();
    let column = |of: &dyn Fn(&Variant) -> f64| summary::column(&variants.iter().map(of).collect::<Vec<f64>>());
    let finish = column(&|variant| variant.finish.seconds());
    let cost = column(&|variant| summary::amount(Objective::Cost, variant.cost));
    let busy = column(&|variant| summary::amount(Objective::Makespan, variant.busy));
    let row = |at: usize| {
        let chosen = if at == strategy.chosen() { "chosen" } else { "" };
        let until = variants[at].until.map_or_else(|| "-".to_owned(), |until| summary::figure(until.seconds()));
        vec![chosen.into(), finish[at].clone(), cost[at].clone(), busy[at].clone(), until]
    };
    (0..variants.len()).map(row).collect()
}
