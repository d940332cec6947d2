//! Gaps and verdicts for people to read.

use std::fmt::Write as _;

use super::points::find;
use super::{FILES, Group, Key, Options, Point, Run};
use crate::campaign::{cores, text_table};
use makespan_core::Objective;

/// How it was measured, the gaps, the files.
pub(super) fn text(options: &Options, runs: &[Run], points: &[Point]) -> String {
    let mut text = head(options);
    text += "\nmean gap over the verified bound, per cent, and mean time\n";
    let header = ["algorithm", "files", "largest", "drawn c", "drawn s", "drawn i", "drawn", "seconds"];
    text += &text_table(header, options.algorithms().iter().map(|algorithm| row(algorithm, points)));
    if runs.iter().any(|run| matches!(run.key, Key::File(_))) {
        text += "\n\nthe files: makespans in seconds\n";
        let header = ["file", "verified bound", "published bound", "best found", "best published", "by"];
        text += &text_table(header, runs.iter().filter_map(file));
    }
    text + "\n"
}

fn head(options: &Options) -> String {
    let mut text = format!(
        "Independent tasks on unrelated machines. Drawn matrices: {} of {} x {}, seed {}.\n\
         Searches of optimise: {}; {}.\n",
        options.classes().len() * options.seeds as usize,
        options.tasks,
        options.machines,
        options.seed,
        options.search.searches,
        cores(options.search.at_once),
    );
    let missing: Vec<&str> =
        (0..FILES.len()).filter(|&file| options.path(file).is_none()).map(|file| FILES[file].file).collect();
    if !missing.is_empty() {
        let place = match options.folder() {
            Some(folder) => format!("not in {}", folder.display()),
            None => "no folder of files (--data)".to_owned(),
        };
        let _infallible = writeln!(text, "Skipped files of the benchmark: {} ({place}).", missing.join(", "));
    }
    text
}

fn row(algorithm: &str, points: &[Point]) -> [String; 8] {
    let show = |group, figure: fn(&Point) -> f64| {
        find(points, group, algorithm).map_or_else(|| "-".to_owned(), |point| format!("{:.3}", figure(point)))
    };
    let [files, consistent, semi, inconsistent, drawn] = Group::ALL.map(|group| show(group, |point| point.mean));
    let group = if find(points, Group::Files, algorithm).is_some() { Group::Files } else { Group::AllDrawn };
    let largest = show(Group::Files, |point| point.max);
    [algorithm.to_owned(), files, largest, consistent, semi, inconsistent, drawn, show(group, |point| point.seconds)]
}

fn file(run: &Run) -> Option<[String; 6]> {
    let Key::File(file) = run.key else { return None };
    let published = FILES[file];
    let best = run.outcomes.iter().min_by_key(|outcome| outcome.makespan)?;
    let figure = |ticks| format!("{:.1}", Objective::Makespan.decimal(ticks).parse::<f64>().unwrap_or(f64::NAN));
    Some([
        published.file.to_owned(),
        figure(run.bound),
        format!("{:.1}", published.bound),
        figure(best.makespan),
        format!("{:.1}", published.best),
        best.algorithm.clone(),
    ])
}
