//! Claims and comparisons for people to read.

use std::fmt::Write as _;

use super::{Claim, Comparison, Criterion, Options};
use crate::campaign::{claims_markdown, claims_text, markdown_table, text_table};

const COMPARISON_HEADER: [&str; 5] = ["Family", "Ratio", "Prototype", "Measured", "Largest difference"];

/// Both as text tables.
pub(super) fn text(claims: &[Claim], comparisons: &[Comparison]) -> String {
    let mut text = claims_text(claims);
    text.push_str("\n\nDEMT beside an independent prototype (average ratios over the numbers of jobs):\n");
    text.push_str(&text_table(COMPARISON_HEADER, comparisons.iter().map(comparison_row)));
    text.push('\n');
    text
}

/// Both as a Markdown page that says how they were made.
pub(super) fn markdown(options: &Options, claims: &[Claim], comparisons: &[Comparison]) -> String {
    let sizes: Vec<String> = options.instances.sizes.iter().map(ToString::to_string).collect();
    let mut page = String::from("# The claims of the paper beside what was measured\n\n");
    let _infallible = writeln!(
        page,
        "P.-F. Dutot, L. Eyraud, G. Mounié and D. Trystram, SPAA 2004, DOI 10.1145/1007912.1007932.\n\n\
         {} runs a point, {} jobs on {} processors, seed {}. Figures stand in this order of the numbers of jobs. A ratio is\n\
         the sum of the values over the sum of the references: for the makespan the best proven bound, which is the dual\n\
         approximation's or a dual-feasible function's; for the minsum the paper's linear programme as printed, which is an estimate and not a bound,\n\
         so that the ratios compare with the paper's. Gang runs one job after the other on all processors. Ratios to the proven bound stand in summary.csv and figures 3c to 6c.\n\
         The claims are in our words; a verdict is \"partly\" when some of its answers agree.\n",
        options.instances.runs,
        sizes.join(", "),
        options.instances.processors,
        options.instances.seed
    );
    page.push_str(&claims_markdown(claims));
    page.push_str("\n## DEMT beside an independent prototype\n\n");
    page.push_str(&markdown_table(COMPARISON_HEADER, comparisons.iter().map(comparison_row)));
    page
}

fn comparison_row(comparison: &Comparison) -> [String; 5] {
    let range = |(low, high): (f64, f64)| format!("{low:.2} to {high:.2}");
    let ratio = match comparison.criterion {
        Criterion::Makespan => "makespan over bound",
        Criterion::MinsumPrinted => "minsum over printed programme",
        Criterion::Minsum => "minsum over bound",
    };
    [
        comparison.family.to_string(),
        ratio.into(),
        range(comparison.prototype),
        range(comparison.measured),
        format!("{:+.2} at n = {}", comparison.difference, comparison.at),
    ]
}
