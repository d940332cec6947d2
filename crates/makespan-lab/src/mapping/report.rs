//! The report as text, with tables of gaps and makespans.

use std::fmt::Write as _;

use makespan_core::Time;

use super::{Cell, FILES, GROUPS, MappingKey, MappingOptions, Run, gap, seconds};
use crate::campaign::{cores, find, shown, text_table, texts};

/// Formats the report: a description of the measurements, a table of gaps, and the makespans for the files.
pub(super) fn text(options: &MappingOptions, runs: &[Run], cells: &[Cell<'_>]) -> String {
    let mut text = head(options);
    text += "\nmean gap over the verified bound, per cent, and mean time\n";
    let header = ["algorithm", "files", "largest", "drawn c", "drawn s", "drawn i", "drawn", "seconds"];
    text += &text_table(&header, options.algorithms().iter().map(|algorithm| row(algorithm, cells)));
    if runs.iter().any(|run| matches!(run.key, MappingKey::File(_))) {
        text += "\n\nthe files: makespans in seconds\n";
        let header = ["file", "verified bound", "published bound", "best found", "best published", "by"];
        text += &text_table(&header, runs.iter().filter_map(file));
    }
    text + "\n"
}

fn head(options: &MappingOptions) -> String {
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

fn row(algorithm: &str, cells: &[Cell<'_>]) -> Vec<String> {
    let of = |group| find(cells, &group, algorithm);
    let [files, consistent, semi, inconsistent, drawn] = GROUPS.map(|group| of(group).map(|cell| cell.mean(gap)));
    let largest = of(GROUPS[0]).map(|cell| cell.range(gap).1);
    let time = of(GROUPS[0]).or(of(GROUPS[4])).map(|cell| cell.mean(seconds));
    let figures = [files, largest, consistent, semi, inconsistent, drawn, time];
    std::iter::once(algorithm.to_owned()).chain(figures.map(|figure| shown(figure, 3))).collect()
}

fn file(run: &Run) -> Option<Vec<String>> {
    let MappingKey::File(file) = run.key else { return None };
    let published = FILES[file];
    let (by, best) = run.outcomes.iter().min_by_key(|(_, plan)| plan.value)?;
    let seconds = |ticks: i128| ticks as f64 / Time::TICKS_PER_SECOND as f64;
    let figures = [seconds(run.bound()), published.bound, seconds(best.value?), published.best];
    let [bound, published_bound, found, published_best] = figures.map(|figure| format!("{figure:.1}"));
    Some(texts(&[&published.file, &bound, &published_bound, &found, &published_best, by]))
}
