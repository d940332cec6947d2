//! Tables and figures. They show means over the projects of a set, for each algorithm.

use makespan::spec_title;
use makespan_core::Objective;
use makespan_formats::plot::Figure;

use super::{KnownValues, RcpspOptions, Run};
use crate::LabError;
use crate::campaign::{
    self, AnyRun, File, cells, cores, distribution, figure, plot, record, rows, shown, table, text_table, texts,
};
use crate::statistics::mean;

/// The heuristics that the figures show, in addition to `optimise`.
const SHOWN: [&str; 3] =
    ["priority[rule=lft]", "priority[rule=lft,scheme=parallel]", "priority[rule=wcs,scheme=parallel]"];
/// The report lists at most this number of false best known makespans.
const NAMED: usize = 5;

/// The results of an algorithm on the projects of a set. Gaps are means over projects, in per cent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub set: String,
    pub algorithm: String,
    pub projects: usize,
    /// The number of projects with a plan.
    pub planned: usize,
    /// The gap of the makespan over the critical path. The mean includes the projects with a plan.
    pub over_path: f64,
    pub over_bound: f64,
    /// The gap of the makespan over the best known makespan. The mean includes the projects that have a plan and a best
    /// known makespan.
    pub over_best: Option<f64>,
    /// The number of projects with a best known makespan.
    pub known: usize,
    /// The number of projects with a best known makespan but no plan.
    pub missed: usize,
    /// The percentage of plans with a makespan of at most the best known makespan.
    pub as_best: Option<f64>,
    /// The percentage of projects with a plan that is proved optimal.
    pub optimal: f64,
    /// The gap of the verified bound below the best known makespan.
    pub bound_below: Option<f64>,
    pub seconds: f64,
}

/// Returns the gap of a makespan over a value, in per cent of the value.
fn over(makespan: i128, value: i128) -> f64 {
    (makespan as f64 / value as f64 - 1.0) * 100.0
}

/// Returns the best known makespan of a project, in ticks.
fn best(run: &Run, known: &KnownValues) -> Option<i128> {
    known.of(&run.facts.set, &run.facts.name).map(super::known::BestKnown::ticks)
}

/// Returns a point for each set and algorithm. If an algorithm has no plan in a set, there is no point.
pub(super) fn points(runs: &[Run], known: &KnownValues) -> Vec<Point> {
    cells(runs, |run| vec![run.facts.set.as_str()]).iter().filter_map(|cell| point(cell, known)).collect()
}

/// Returns the point of a set and an algorithm.
pub(super) fn find<'a>(points: &'a [Point], set: &str, algorithm: &str) -> Option<&'a Point> {
    points.iter().find(|point| point.set == set && point.algorithm == algorithm)
}

fn point(cell: &campaign::GridCell<'_, &str, Run>, known: &KnownValues) -> Option<Point> {
    let best = |run: &Run| best(run, known);
    let share = |is: bool| if is { 100.0 } else { 0.0 };
    Some(Point {
        set: cell.group.to_owned(),
        algorithm: cell.algorithm.to_owned(),
        projects: cell.rows.len(),
        planned: cell.sample(|(.., plan)| plan.value.map(|_| 0.0)).len(),
        over_path: mean(&cell.sample(|(run, _, plan)| Some(over(plan.value?, run.facts.critical_path))))?,
        over_bound: mean(&cell.sample(|(.., plan)| Some(over(plan.value?, plan.bound))))?,
        over_best: mean(&cell.sample(|(run, _, plan)| Some(over(plan.value?, best(run)?)))),
        known: cell.sample(|(run, ..)| best(run).map(|_| 0.0)).len(),
        missed: cell.rows.iter().filter(|(run, _, plan)| best(run).is_some() && plan.value.is_none()).count(),
        as_best: mean(&cell.sample(|(run, _, plan)| Some(share(plan.value? <= best(run)?)))),
        optimal: cell.mean(|(.., plan)| share(plan.value == Some(plan.bound))),
        bound_below: mean(&cell.sample(|(run, _, plan)| Some((1.0 - plan.bound as f64 / best(run)? as f64) * 100.0))),
        seconds: cell.mean(|(.., plan)| plan.seconds),
    })
}

/// Formats the report: a description of the measurement, the false best known makespans, and a table for each set.
pub(super) fn text(options: &RcpspOptions, runs: &[Run], points: &[Point], refuted: &[String]) -> String {
    let from = match &options.instances {
        Some(folder) => format!("files of {}", folder.display()),
        None => format!("drawn, seed {}", options.seed),
    };
    let mut text = format!(
        "Projects with scarce resources: {} ({from}).\nSearches of optimise: {}; {}.\n\
         Gaps are means in per cent. A dash means that no best makespan is known (--best).\n",
        runs.len(),
        options.search.searches,
        cores(options.search.at_once),
    );
    if !refuted.is_empty() {
        let (count, more) = (refuted.len(), refuted.len().saturating_sub(NAMED));
        let named = refuted[..count - more].join("\n  ");
        text += &format!("\nFalse makespans of the table (--best), which are ignored: {count}\n  {named}\n");
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
        text += &text_table(&header, set.iter().map(row));
        text += "\n";
    }
    text
}

fn row(point: &Point) -> Vec<String> {
    let Point { planned, over_path, over_best, as_best, over_bound, optimal, bound_below, seconds, .. } = point;
    let (over_path, over_bound, optimal) = (shown(*over_path, 2), shown(*over_bound, 2), shown(*optimal, 2));
    let (over_best, as_best, below) = (shown(*over_best, 3), shown(*as_best, 2), shown(*bound_below, 3));
    let head = texts(&[&spec_title(&point.algorithm), planned, &over_path, &over_best, &as_best, &over_bound]);
    [head, texts(&[&optimal, &below, &shown(*seconds, 3)])].concat()
}

/// Returns a table with a row for each plan. Makespans and bounds are exact.
pub(super) fn results(runs: &[Run], known: &KnownValues) -> File {
    let decimal = |value| Objective::Makespan.decimal(value);
    let header =
        "set,project,algorithm,makespan,bound,critical_path,best_known_makespan,best_known_lower_bound,seconds";
    let row = |(run, algorithm, plan): campaign::GridRow<'_, Run>| {
        let facts = &run.facts;
        let known = known.of(&facts.set, &facts.name);
        let whole = |value: Option<i64>| value.map_or_else(String::new, |value| value.to_string());
        let [makespan, bound] = [known.map(|known| known.makespan), known.and_then(|known| known.bound)].map(whole);
        let (path, proved) = (decimal(facts.critical_path), decimal(plan.bound));
        let names = texts(&[&facts.set, &facts.name, &algorithm, &plan.decimal()]);
        [names, record(&[&proved, &path, &makespan, &bound], [plan.seconds])].concat()
    };
    table("results.csv", header, rows(runs).map(row))
}

/// Returns a table with a row for each point.
pub(super) fn summary(points: &[Point]) -> File {
    let row = |point: &Point| {
        let Point { set, algorithm, projects, planned, over_path, known, missed, over_best, .. } = point;
        let head = record(&[set, algorithm, projects, planned], [*over_path]);
        let figures = [*over_best, point.as_best, Some(point.over_bound), Some(point.optimal), point.bound_below];
        [head, record(&[known, missed], figures.into_iter().chain([Some(point.seconds)]))].concat()
    };
    let header = "set,algorithm,projects,planned,over_path_percent,known,missed,over_best_percent,as_best_percent,\
                  over_bound_percent,optimal_percent,bound_below_percent,seconds_mean";
    table("summary.csv", header, points.iter().map(row))
}

/// Returns a figure for each set. The figure shows how the gaps are distributed over the projects of the set.
pub(super) fn figures(options: &RcpspOptions, runs: &[Run], known: &KnownValues) -> Result<Vec<File>, LabError> {
    let sets = runs.chunk_by(|a, b| a.facts.set == b.facts.set);
    sets.map(|set| figure(&format!("gaps-{}", set[0].facts.set.replace(' ', "-")), &gaps(options, set, known)))
        .collect()
}

/// Returns the figure of a set. If every project of the set has a best known makespan, the figure shows the gaps over
/// these makespans. Otherwise, it shows the gaps over the verified bounds.
fn gaps(options: &RcpspOptions, runs: &[Run], known: &KnownValues) -> Figure {
    let is_known = runs.iter().all(|run| best(run, known).is_some());
    let line = |algorithm: String| {
        let gap = |run: &Run| {
            let plan = run.of(&algorithm)?;
            Some(over(plan.value?, best(run, known).filter(|_| is_known).unwrap_or(plan.bound)))
        };
        distribution(spec_title(&algorithm), &runs.iter().filter_map(gap).collect::<Vec<f64>>(), 25)
    };
    let reference = if is_known { "the best known makespan" } else { "the verified bound" };
    let algorithms = SHOWN.into_iter().map(str::to_owned).chain(options.search.specs());
    let y_label = format!("makespan over {reference}, %, at most");
    plot(&runs[0].facts.set, "share of the projects, %", &y_label, algorithms.map(line).collect())
}
