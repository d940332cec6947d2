//! How the claims are to be read.

use super::Options;

/// What was run, and what a ratio is.
pub(super) fn text(options: &Options) -> String {
    let sizes: Vec<String> = options.instances.sizes.iter().map(ToString::to_string).collect();
    format!(
        "{} runs a point, {} jobs on {} processors, seed {}. Figures stand in this\n\
         order of the numbers of jobs. A ratio is the sum of the values over the sum of the references:\n\
         for the makespan the best proven bound; for the minsum the paper's linear programme as printed,\n\
         which is an estimate and no bound, so that the ratios compare with the paper's. Ratios to the\n\
         proven bound stand in summary.csv and figures 3c to 6c.\n",
        options.instances.runs,
        sizes.join(", "),
        options.instances.processors,
        options.instances.seed
    )
}
