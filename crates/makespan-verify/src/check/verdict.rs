//! The text that reports whether a plan file is valid.

use makespan_core::tree::decimal_text;
use makespan_core::{Instance, shown};

use super::words::{bound_word, gap, value};
use crate::native::PlanFile;
use crate::native::schedule::ScheduleFile;

/// Maximum number of problems to print. If there are more, only the number of the remaining problems is printed.
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
                objectives(instance, file)
            )
        }
        PlanFile::Periodic(file) => {
            let (value, bound) = (decimal_text(&file.fair_throughput), file.bound.value.decimal(file.bound.objective));
            format!(
                "valid: no processor and no port does more than it can, and the stated values and the bound are \
                 proved{condition}\nfair throughput {value}, at most {bound} in any steady state\n"
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

/// Returns a table of the values and their bounds.
fn objectives(instance: &Instance, file: &ScheduleFile) -> String {
    let condition = instance.condition();
    let heading = ["objective".into(), "value (s)".into(), bound_word(condition), "ratio".into(), String::new()];
    let rows = file.bounds.iter().map(|bound| {
        let objective = bound.objective;
        let ratio = bound.ratio_of(instance, &file.schedule);
        [
            objective.to_string(),
            value(objective, objective.value(instance, &file.schedule)),
            value(objective, bound.value.clone()),
            ratio.map_or("-".into(), |ratio| format!("{ratio:.4}")),
            gap(ratio) + if ratio.is_some_and(|ratio| ratio >= 1.0) { condition } else { "" },
        ]
    });
    let rows: Vec<[String; 5]> = std::iter::once(heading).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let [first, second, third, fourth] = [width(0), width(1), width(2), width(3)];
    let line = |[objective, value, bound, ratio, gap]: &[String; 5]| {
        let line = format!("{objective:first$}  {value:>second$}  {bound:>third$}  {ratio:>fourth$}  {gap}");
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
