//! Gaps for people to read.

use makespan::spec_title;

use super::{Options, Point, Run};
use crate::campaign::{cores, text_table};

/// Makespans of the table that are said to be false, at most, by name.
const NAMED: usize = 5;

/// How it was measured, what is false in the table of best known values, and a table a set.
pub(super) fn text(options: &Options, runs: &[Run], points: &[Point], refuted: &[String]) -> String {
    let from = match &options.instances {
        Some(folder) => format!("files of {}", folder.display()),
        None => format!("drawn, seed {}", options.seed),
    };
    let mut text = format!(
        "Projects with scarce resources: {} ({from}).\nSearches of optimise: {}; {}.\n\
         Gaps are means in per cent; a dash where no best makespan is known (--best).\n",
        runs.len(),
        options.search.searches,
        cores(options.search.at_once),
    );
    if !refuted.is_empty() {
        let (count, more) = (refuted.len(), refuted.len().saturating_sub(NAMED));
        let named = refuted[..count - more].join("\n  ");
        text += &format!("\nMakespans of the table (--best) that are false and left out: {count}\n  {named}\n");
        if more > 0 {
            text += &format!("  and {more} more\n");
        }
    }
    for set in points.chunk_by(|a, b| a.set == b.set) {
        text += &format!("\n{}: {} projects\n", set[0].set, set[0].projects);
        let header = [
            "algorithm",
            "planned",
            "over path",
            "over best",
            "as best",
            "over bound",
            "optimal",
            "bound below",
            "seconds",
        ];
        text += &text_table(header, set.iter().map(row));
        text += "\n";
    }
    text
}

fn row(point: &Point) -> [String; 9] {
    let percent = |figure: f64| format!("{figure:.2}");
    let optional = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.3}"));
    [
        spec_title(&point.algorithm),
        point.planned.to_string(),
        percent(point.over_path),
        optional(point.over_best),
        point.as_best.map_or_else(|| "-".to_owned(), percent),
        percent(point.over_bound),
        percent(point.optimal),
        optional(point.bound_below),
        format!("{:.3}", point.seconds),
    ]
}
