//! Figures and claims for people to read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::claims::promised;
use super::points::{Figures, Gathered, Sums};
use super::{Drawing, Guesses, Options, Run};
use crate::campaign::cores;

/// Everything, in the order of the interest in it.
pub(super) fn text(options: &Options, runs: &[Run], sums: &Sums, drawings: &[Drawing]) -> String {
    let mut text = head(options);
    text += &ratios(options, sums);
    text += &refusals(runs);
    text += &guesses(&sums.guesses);
    text += "\nFigures of the paper's construction, from real plans (1, 3, 4 and 10 show none)\n";
    for Drawing { caption, svg: (name, _) } in drawings {
        text += &wrapped(&format!("{name}: {caption}"));
    }
    text
}

/// How it was measured.
fn head(options: &Options) -> String {
    let list = |numbers: &[u32]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let per_node: Vec<String> = options.jobs_per_node.iter().map(ToString::to_string).collect();
    format!(
        "Moldable jobs in best placement on m = {} SMPs of k = {} processors, {} jobs for each SMP.\n\
         Instances a point: {}; seed {}; {}.\n\
         A ratio is makespan over verified bound; all plans are validated. Times are of planning, in seconds.\n",
        list(&options.nodes),
        list(&options.each),
        per_node.join(", "),
        options.runs,
        options.seed,
        cores(options.search.at_once)
    )
}

fn ratios(options: &Options, sums: &Sums) -> String {
    let algorithms = options.algorithms();
    let mut text = String::new();
    for title in ["weak, high, mixed, cirne", "adversarial: linear, flat, steps, caps", "by family, every m and k"] {
        let of = |group: &Gathered| match group {
            Gathered::Families { each } => ("weak, high, mixed, cirne", each.to_string()),
            Gathered::Shapes { each } => ("adversarial: linear, flat, steps, caps", each.to_string()),
            Gathered::Population(population) => ("by family, every m and k", population.to_string()),
            Gathered::All => ("", String::new()),
        };
        let rows: Vec<_> = sums.points.iter().filter(|((group, _), _)| of(group).0 == title).collect();
        if rows.is_empty() {
            continue;
        }
        let first = if title.starts_with("by") { "family" } else { "k" };
        let _infallible = writeln!(
            text,
            "\n{title}\n{first:<7}{:<53}{:>8}{:>8}{:>8}{:>8}{:>6}",
            "algorithm", "mean", "largest", "time", "longest", "plans"
        );
        for ((group, at), figures) in rows {
            let Figures { plans, mean, max, seconds, longest, .. } = figures;
            if *plans > 0 {
                let (group, algorithm) = (of(group).1, &algorithms[*at]);
                let _infallible = writeln!(
                    text,
                    "{group:<7}{algorithm:<53}{mean:>8.3}{max:>8.3}{seconds:>8.3}{longest:>8.3}{plans:>6}"
                );
            }
        }
    }
    text
}

/// What was skipped, and why.
fn refusals(runs: &[Run]) -> String {
    let mut refused: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for outcome in runs.iter().flat_map(|run| &run.outcomes) {
        if let Err(reason) = &outcome.makespan {
            *refused.entry((&outcome.algorithm, reason)).or_default() += 1;
        }
    }
    let line = |((algorithm, reason), count): (&(&str, &str), &usize)| {
        wrapped(&format!("skipped on {count} instances: {algorithm}: {reason}"))
    };
    let lines: String = refused.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn guesses(guesses: &BTreeMap<u32, Guesses>) -> String {
    let mut text = format!(
        "\nguesses d\n{:<6}{:>10}{:>10}{:>10}{:>10}{:>11}{:>16}{:>10}\n",
        "k", "attempted", "met", "missed", "refuted", "undecided", "longest / d", "promised"
    );
    for (&each, Guesses { attempted, met, missed, refuted, undecided, longest }) in guesses {
        let promised = promised(each);
        let _infallible = writeln!(
            text,
            "{each:<6}{attempted:>10}{met:>10}{missed:>10}{refuted:>10}{undecided:>11}{longest:>16.4}{promised:>10.4}"
        );
    }
    text
}

/// Lines of at most 100 columns, the later ones indented.
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
