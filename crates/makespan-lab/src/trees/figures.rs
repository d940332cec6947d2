//! The paper's figures redrawn with our own measurements.

use makespan_formats::plot::{Histogram, write_histogram};

use super::points::{NEAR_ZERO, logarithm};
use super::{Run, Setting, TreeCampaignOptions, outcome};
use crate::LabError;
use crate::campaign::{File, in_memory};

/// The heuristics that figure 3 compares with LP. The figure shows the logarithm of LP's throughput divided by the
/// throughput of the heuristic.
const COMPARED: [&str; 5] = ["data-centric", "fcfs", "pbc", "cgbc", "back-pressure"];
/// The heuristics for which the paper states a theoretical throughput. Figure 2 shows the deviation of the measured
/// throughput from the theoretical throughput.
const WITH_THEORY: [&str; 3] = ["lp", "data-centric", "cgbc"];

/// Returns the figures for the interpretation of the paper that is simulated in every setting (see
/// [`PaperReading`](super::PaperReading)). Figure 2 has one version for each of two buffer sizes, and figure 3 has one
/// version for each heuristic.
pub(super) fn all(options: &TreeCampaignOptions, runs: &[Run]) -> Result<Vec<File>, LabError> {
    let runs: Vec<&Run> = runs.iter().filter(|run| run.key.reading == options.reading).collect();
    let mut figures = Vec::new();
    for (setting, buffers) in [(Setting::Short, 10), (Setting::Roomy, 100)] {
        let drawn = Histogram {
            title: format!("Deviation from theory, buffers of {buffers}: LP, DATA-CENTRIC, CGBC"),
            x_label: "1 - measured / theoretical fair throughput".into(),
            values: deviations(&runs, setting),
            range: (0.0, 1.0),
            bins: 50,
        };
        figures.push(in_memory(&format!("figure2-{buffers}.svg"), |svg| write_histogram(svg, &drawn))?);
    }
    for name in COMPARED {
        let drawn = Histogram {
            title: format!("LP against {name}; a logarithm above 8 is shown as 8"),
            x_label: format!("ln (fair throughput of LP / of {name})"),
            values: logarithms(&runs, name),
            range: (-2.0, NEAR_ZERO + 0.1),
            bins: 101,
        };
        figures.push(in_memory(&format!("figure3-{name}.svg"), |svg| write_histogram(svg, &drawn))?);
    }
    Ok(figures)
}

fn deviations(runs: &[&Run], setting: Setting) -> Vec<f64> {
    let outcomes = runs.iter().flat_map(|run| WITH_THEORY.iter().filter_map(move |name| outcome(run, name, setting)));
    outcomes.filter_map(super::TreeOutcome::deviation).collect()
}

fn logarithms(runs: &[&Run], name: &str) -> Vec<f64> {
    let pair = |run: &&Run| Some((outcome(run, "lp", Setting::Short)?.fair, outcome(run, name, Setting::Short)?.fair));
    runs.iter().filter_map(pair).filter_map(|(lp, fair)| logarithm(lp, fair)).collect()
}
