//! Tables and figures of the campaign.

use std::collections::BTreeMap;
use std::fmt::Display;

use makespan::spec_title;
use makespan_core::Objective;
use makespan_formats::plot::Figure;

use super::claims::promised;
use super::constructions::Drawing;
use super::guesses::Guesses;
use super::{Figures, Group, HierarchicalKey, HierarchicalOptions, Run};
use crate::LabError;
use crate::campaign::{self, File, aligned, cells, cores, figure, find, plot, record, rows, series, table, texts};

type Cell<'a> = campaign::GridCell<'a, Group, Run>;

/// Formats the whole report, with the most interesting parts first.
pub(super) fn text(
    options: &HierarchicalOptions,
    runs: &[Run],
    cells: &[Cell<'_>],
    guesses: &BTreeMap<u32, Guesses>,
    drawings: &[Drawing],
) -> String {
    let mut text = head(options);
    text += &ratios(cells);
    text += &refusals(runs);
    text += &attempts(guesses);
    text += "\nFigures of the paper's construction, from real plans (figures 1, 3, 4 and 10 show no plan)\n";
    for Drawing { caption, svg: (name, _) } in drawings {
        text += &wrapped(&format!("{name}: {caption}"));
    }
    text
}

/// Formats the description of the measurements.
fn head(options: &HierarchicalOptions) -> String {
    let list = |numbers: &[u32]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let per_node: Vec<String> = options.jobs_per_node.iter().map(ToString::to_string).collect();
    format!(
        "Moldable jobs in best placement on m = {} SMPs of k = {} processors, {} jobs for each SMP.\n\
         Instances for each point: {}; seed {}; {}.\n\
         A ratio is makespan / verified bound; all plans are validated. Times are planning times in seconds.\n",
        list(&options.nodes),
        list(&options.each),
        per_node.join(", "),
        options.runs,
        options.seed,
        cores(options.search.at_once)
    )
}

fn ratios(cells: &[Cell<'_>]) -> String {
    const WIDTHS: [i32; 7] = [-7, -53, 8, 8, 8, 8, 6];
    let mut text = String::new();
    for title in ["weak, high, mixed, cirne", "adversarial: linear, flat, steps, caps", "by family, every m and k"] {
        let of = |group: Group| match group {
            Group::Families(each) => ("weak, high, mixed, cirne", each.to_string()),
            Group::Shapes(each) => ("adversarial: linear, flat, steps, caps", each.to_string()),
            Group::Population(population) => ("by family, every m and k", population.to_string()),
            Group::All => ("", String::new()),
        };
        let mut rows = cells.iter().filter(|cell| of(cell.group).0 == title).peekable();
        if rows.peek().is_none() {
            continue;
        }
        let first = if title.starts_with("by") { "family" } else { "k" };
        let header = [first, "algorithm", "mean", "largest", "time", "longest", "plans"];
        text += &format!("\n{title}\n{}", aligned(&WIDTHS, header));
        for cell in rows {
            let Figures { plans, mean, max, seconds, longest, .. } = Figures::of(cell);
            if plans > 0 {
                let figures = [mean, max, seconds, longest].map(|figure| format!("{figure:.3}"));
                let head = [of(cell.group).1, cell.algorithm.to_owned()];
                text += &aligned(&WIDTHS, head.into_iter().chain(figures).chain([plans.to_string()]));
            }
        }
    }
    text
}

/// Formats, for each algorithm and reason, the number of instances that were skipped because the algorithm does not
/// support them.
fn refusals(runs: &[Run]) -> String {
    let mut refused: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (_, algorithm, outcome) in rows(runs) {
        if let Err(reason) = &outcome.makespan {
            *refused.entry((algorithm, reason)).or_default() += 1;
        }
    }
    let line = |((algorithm, reason), count): (&(&str, &str), &usize)| {
        wrapped(&format!("skipped on {count} instances: {algorithm}: {reason}"))
    };
    let lines: String = refused.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn attempts(guesses: &BTreeMap<u32, Guesses>) -> String {
    const WIDTHS: [i32; 8] = [-6, 10, 10, 10, 10, 11, 16, 10];
    let header = ["k", "attempted", "met", "missed", "refuted", "undecided", "longest / d", "promised"];
    let mut text = format!("\nguesses d\n{}", aligned(&WIDTHS, header));
    for (&each, Guesses { attempted, met, missed, refuted, undecided, longest }) in guesses {
        let (longest, promised) = (format!("{longest:.4}"), format!("{:.4}", promised(each)));
        let cells: [&dyn Display; 8] = [&each, attempted, met, missed, refuted, undecided, &longest, &promised];
        text += &aligned(&WIDTHS, cells);
    }
    text
}

/// Wraps text at 100 columns and indents continuation lines.
fn wrapped(line: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in line.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 100 {
            text += "\n  ";
            column = 2;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += width;
    }
    text.push('\n');
    text
}

/// Returns a table with a row for each plan. Makespans and bounds are exact, in seconds.
pub(super) fn results(runs: &[Run]) -> File {
    let header = "family,k,m,jobs,run,instance_seed,algorithm,makespan,bound,ratio,within_guarantee,refusal,seconds";
    let decimal = |ticks| Objective::Makespan.decimal(ticks);
    let row = |(run, algorithm, outcome): campaign::GridRow<'_, Run>| {
        let (bound, makespan) = (run.facts.bound, outcome.makespan.as_ref().ok());
        let within = outcome.within_guarantee.map_or_else(String::new, |within| within.to_string());
        let refusal = outcome.makespan.as_ref().err().cloned().unwrap_or_default();
        let value = makespan.map_or_else(String::new, |&makespan| decimal(makespan));
        let ratio = makespan.map(|&makespan| makespan as f64 / bound as f64);
        let plan = record(&[&run.key.run, &run.seed, &algorithm, &value, &decimal(bound)], [ratio]);
        [place(&run.key), plan, record(&[&within, &refusal], [outcome.seconds])].concat()
    };
    table("results.csv", header, rows(runs).map(row))
}

/// Returns a table with a row for each combination of family, platform, number of jobs and algorithm.
pub(super) fn summary(runs: &[Run]) -> File {
    let header = "family,k,m,jobs,algorithm,plans,refused,ratio_min,ratio_mean,ratio_max,seconds_mean,seconds_max";
    let row = |cell: &campaign::GridCell<'_, HierarchicalKey, Run>| {
        let Figures { plans, refused, min, mean, max, seconds, longest } = Figures::of(cell);
        let figures = record(&[&cell.algorithm, &plans, &refused], [min, mean, max, seconds, longest]);
        [place(&cell.group), figures].concat()
    };
    table("summary.csv", header, cells(runs, |run| vec![HierarchicalKey { run: 0, ..run.key }]).iter().map(row))
}

/// Returns a table with a row for each instance: the counts of its guesses.
pub(super) fn guesses(runs: &[Run]) -> File {
    let header = "family,k,m,jobs,run,instance_seed,attempted,met,missed,refuted,undecided,longest_over_guess";
    let row = |run: &Run| {
        let Guesses { attempted, met, missed, refuted, undecided, longest } = run.facts.guesses;
        let counts: [&dyn Display; 7] = [&run.key.run, &run.seed, &attempted, &met, &missed, &refuted, &undecided];
        [place(&run.key), record(&counts, [longest])].concat()
    };
    table("guesses.csv", header, runs.iter().map(row))
}

fn place(key: &HierarchicalKey) -> Vec<String> {
    texts(&[&key.population, &key.each, &key.nodes, &key.jobs])
}

/// Returns the figures that show ratios as functions of the number of processors of an SMP.
pub(super) fn figures(options: &HierarchicalOptions, cells: &[Cell<'_>]) -> Result<Vec<File>, LabError> {
    let families: fn(u32) -> Group = Group::Families;
    let both = [
        ("families", "weak, high, mixed, cirne", families),
        ("adversarial", "linear, flat, steps, caps", Group::Shapes),
    ];
    let is_there = |group: Group| cells.iter().any(|cell| cell.group == group);
    let drawn = both.into_iter().filter(|(.., group)| options.each.iter().any(|&each| is_there(group(each))));
    drawn.map(|(name, title, group)| figure(&format!("ratio-{name}"), &lines(options, cells, title, group))).collect()
}

/// Returns a figure with a curve for each algorithm, and a curve for the guarantee. The curve of an algorithm shows the
/// mean ratio of its plans, with the smallest and the largest ratio.
fn lines(options: &HierarchicalOptions, cells: &[Cell<'_>], title: &str, group: fn(u32) -> Group) -> Figure {
    let mut each = options.each.clone();
    each.sort_unstable();
    each.dedup();
    let curve = |name: String| {
        let point = |&each: &u32| {
            let figures = Figures::of(find(cells, &group(each), &name)?);
            (figures.plans > 0).then_some((f64::from(each), [figures.mean, figures.min, figures.max]))
        };
        series(spec_title(&name), each.iter().filter_map(point))
    };
    let mut lines = options.algorithms().into_iter().map(curve).collect::<Vec<_>>();
    lines.retain(|series| !series.points.is_empty());
    lines.push(series("guarantee of shelves", each.iter().map(|&each| (f64::from(each), [promised(each); 3]))));
    let y_label = "makespan / verified bound: mean, least and greatest";
    Figure { log_x: true, ..plot(format!("Best placement: {title}"), "processors of an SMP", y_label, lines) }
}
