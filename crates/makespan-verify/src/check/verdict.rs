//! The text that reports whether a plan file is valid.

use std::fmt::Write;

use makespan_core::tree::{decimal_text, float_of};
use makespan_core::{Instance, Metrics, Objective, Punctuality, Schedule, SeparateEnds, shown};

use super::words::{bound_word, figure, gap, value};
use crate::Bound;
use crate::native::PlanFile;

/// Maximum number of problems to print. For the further problems, the text states only their number.
const LISTED: usize = 20;

/// Describes the result of a check for users. `name` is the name of the plan file, and `problems` are all problems that
/// [`super::problems`] found in `file`. The text of a valid plan contains the values and the bounds.
pub fn verdict(name: &str, instance: &Instance, file: &PlanFile, problems: &[String]) -> String {
    if !problems.is_empty() {
        return rejected(name, problems);
    }
    let condition = instance.condition();
    match file {
        PlanFile::Schedule(file) => {
            let what = if instance.has_bags() || instance.has_compound_jobs() { "task of every job" } else { "job" };
            format!(
                "valid: every {what} is placed once, and the stated values and bounds are proved{condition}\n{}",
                objectives(instance, &file.schedule, &file.bounds, &[])
            )
        }
        PlanFile::Periodic(file) => {
            let (value, bound) = (decimal_text(&file.fair_throughput), file.bound.value.decimal(file.bound.objective));
            let fair = file.fairness.as_ref().map_or_else(String::new, |stated| {
                let (alpha, excess) = (stated.fairness.alpha, float_of(&stated.excess));
                format!("alpha-fair with alpha {alpha}, proved within {excess:.1e}\n")
            });
            format!(
                "valid: no processor and no port exceeds its capacity, and the stated values and the bound are \
                 proved{condition}\nfair throughput {value}, at most {bound} in any steady state\n{fair}"
            )
        }
    }
}

fn rejected(name: &str, problems: &[String]) -> String {
    let listed = problems.iter().take(LISTED).map(|problem| format!("  {}\n", shown(problem)));
    let mut text = format!("{} is rejected:\n{}", shown(name), listed.collect::<String>());
    if problems.len() > LISTED {
        text += &format!("  and {} more\n", problems.len() - LISTED);
    }
    text
}

/// Returns a table of the values of a schedule and their bounds, and the lines of [`other_metrics`]. The last column
/// states the distance to the optimum. If `minimised` is not empty, the column states `not minimised` for each
/// objective that is neither in `minimised` nor proved optimal.
pub fn objectives(instance: &Instance, schedule: &Schedule, bounds: &[Bound], minimised: &[Objective]) -> String {
    let condition = instance.condition();
    let heading = ["objective".into(), "value (s)".into(), bound_word(condition), "ratio".into(), String::new()];
    let rows = bounds.iter().map(|bound| {
        let objective = bound.objective;
        let ratio = bound.ratio_of(instance, schedule);
        [
            objective.to_string(),
            value(objective, objective.value(instance, schedule)),
            value(objective, bound.value.clone()),
            ratio.map_or("-".into(), |ratio| format!("{ratio:.4}")),
            if minimised.is_empty() || minimised.contains(&objective) || ratio == Some(1.0) {
                gap(ratio) + if ratio.is_some_and(|ratio| ratio >= 1.0) { condition } else { "" }
            } else {
                "not minimised".into()
            },
        ]
    });
    let rows: Vec<[String; 5]> = std::iter::once(heading).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let [first, second, third, fourth] = [width(0), width(1), width(2), width(3)];
    let line = |[objective, value, bound, ratio, gap]: &[String; 5]| {
        let line = format!("{objective:first$}  {value:>second$}  {bound:>third$}  {ratio:>fourth$}  {gap}");
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect::<String>() + &other_metrics(instance, schedule)
}

/// Returns lines for the metrics that have no bounds.
pub fn other_metrics(instance: &Instance, schedule: &Schedule) -> String {
    let mut text = String::new();
    let metrics = Metrics::of(instance, schedule);
    let _ = writeln!(
        text,
        "mean flow {} s, mean bounded slowdown {}, utilisation {:.1} %",
        figure(metrics.mean_flow),
        figure(metrics.mean_bounded_slowdown),
        100.0 * metrics.utilisation
    );
    if let Some(Punctuality { in_time, with_deadline }) = Punctuality::of(instance, schedule) {
        let _ = writeln!(text, "jobs in time: {in_time} of {with_deadline} with a deadline");
    }
    if let Some(SeparateEnds { others, best_effort }) = SeparateEnds::of(instance, schedule) {
        let (others, best_effort) = (figure(others.seconds()), figure(best_effort.seconds()));
        let _ = writeln!(text, "best-effort bags end at {best_effort} s, all other jobs at {others} s");
    }
    text
}
