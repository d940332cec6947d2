//! Writes a figure of made-up measurements: `cargo run -p makespan-formats --example demo_figure -- FILE.svg`.

use std::fs::File;

use makespan_formats::plot::{Figure, Point, Series, write_figure};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: demo_figure FILE.svg")?;
    let names = ["demt", "gang", "sequential", "list[order=shelf]", "list[order=weight]", "list[order=saf]"];
    let series = names.iter().enumerate().map(|(index, name)| {
        let points = [25.0, 50.0, 100.0, 200.0, 400.0].map(|x: f64| {
            let y = 1.1 + 0.16 * index as f64 + 3.0 / x.sqrt() * (0.4 + 0.1 * index as f64);
            Point { x, y, low: y * 0.96, high: y * 1.07 }
        });
        Series { name: (*name).to_owned(), points: points.to_vec() }
    });
    let figure = Figure {
        title: "Weighted completion, family \u{201C}cirne\u{201D}".to_owned(),
        x_label: "jobs".to_owned(),
        y_label: "ratio to the bound".to_owned(),
        series: series.collect(),
        y_range: Some((1.0, 3.0)),
        log_x: std::env::args().nth(2).is_some(),
    };
    write_figure(&mut File::create(path)?, &figure)?;
    Ok(())
}
