//! Sums up the results of algorithms over several instances.

use std::collections::BTreeSet;

use clap::ValueEnum;
use makespan::spec_title;
use makespan_core::{Objective, counted};
use makespan_formats::performance_profile::{PerformanceProfile, performance_profiles};
use miette::{Result, miette};
use serde_json::json;

use super::comparison::{Comparison, NO_AIM, NO_AIM_LINE, duration, minimises};
use crate::args::ObjectiveName;
use crate::output::{table, wrapped};
use crate::summary;

/// Maximum number of notes on instance files that are printed. If there are more, only the first note and the number
/// of notes are printed.
const MAX_REMARKS: usize = 3;

/// The results of one algorithm for one objective.
pub struct Sum {
    /// Geometric mean of the ratios to the proven bounds.
    pub mean: f64,
    /// Largest ratio to a proven bound.
    pub largest: f64,
    /// Number of instances on which no algorithm was better.
    pub best: usize,
    /// True if the algorithm minimises the objective; `None` if this is unknown.
    pub is_minimised: Option<bool>,
}

impl Sum {
    /// Returns the mean ratio, the largest ratio and the number of best results as text. A mark follows the mean if the
    /// algorithm does not minimise the objective.
    pub fn cells(&self) -> [String; 3] {
        let mark = if self.is_minimised == Some(false) && self.largest > 1.0 { NO_AIM } else { "" };
        [format!("{:.4}{mark}", self.mean), format!("{:.4}", self.largest), self.best.to_string()]
    }
}

/// The results of one algorithm over all instances.
pub struct AlgorithmTotal {
    pub algorithm: String,
    /// Number of instances that the algorithm planned.
    pub planned: usize,
    /// One entry for each objective; `None` if the algorithm has no value for it.
    pub sums: Vec<Option<Sum>>,
    /// Mean time to compute a plan, in seconds.
    pub seconds: f64,
}

/// The results of all algorithms over all instances.
pub struct Totals {
    pub instances: usize,
    pub objectives: Vec<Objective>,
    pub rows: Vec<AlgorithmTotal>,
    /// Algorithms that planned no instance, with the reason on the first instance.
    pub left_out: Vec<(String, String)>,
}

impl Totals {
    pub fn of(comparisons: &[Comparison]) -> Self {
        let mut objectives: Vec<Objective> = Vec::new();
        for (objective, _) in comparisons.iter().flat_map(|comparison| &comparison.bounds) {
            if !objectives.contains(objective) {
                objectives.push(*objective);
            }
        }
        let algorithms = algorithms(comparisons);
        let total = |algorithm: &String| {
            let rows = comparisons.iter().filter_map(|one| one.rows.iter().find(|row| row.algorithm == *algorithm));
            let seconds: Vec<f64> = rows.map(|row| row.seconds).collect();
            AlgorithmTotal {
                algorithm: algorithm.clone(),
                planned: seconds.len(),
                sums: objectives.iter().map(|&objective| sum(comparisons, algorithm, objective)).collect(),
                seconds: seconds.iter().sum::<f64>() / seconds.len().max(1) as f64,
            }
        };
        let mut left_out: Vec<(String, String)> = Vec::new();
        for (name, reason) in comparisons.iter().flat_map(|comparison| &comparison.left_out) {
            if !algorithms.contains(name) && left_out.iter().all(|(known, _)| known != name) {
                left_out.push((name.clone(), reason.clone()));
            }
        }
        Self { instances: comparisons.len(), rows: algorithms.iter().map(total).collect(), objectives, left_out }
    }

    /// Formats the totals as text.
    pub fn text(&self) -> String {
        let heading = self.objectives.iter().flat_map(|&objective| [objective.heading(), "max", "best"]);
        let heading: Vec<&str> = ["algorithm", "planned"].into_iter().chain(heading).chain(["time"]).collect();
        let rows = self.rows.iter().map(|total| {
            let mut cells = vec![total.algorithm.clone(), format!("{} of {}", total.planned, self.instances)];
            for sum in &total.sums {
                cells.extend(sum.as_ref().map_or_else(|| ["-", "-", "-"].map(str::to_owned), Sum::cells));
            }
            cells.push(duration(total.seconds));
            cells
        });
        let partial = self.partial().map_or_else(String::new, |note| format!("\n{}", wrapped("note: ", 6, &note)));
        let rows = table(&heading, 1, rows);
        let legend = if rows.contains(NO_AIM) { NO_AIM_LINE } else { "" };
        format!(
            "for each objective: the geometric mean and the maximum of the ratio value / proven bound, and the\n  number of instances on which no other algorithm was better; then the mean planning time\n\n{rows}{legend}{partial}"
        )
    }

    /// Returns a note that lists the algorithms that planned only some instances. Returns `None` if every algorithm
    /// planned all instances.
    pub fn partial(&self) -> Option<String> {
        let fewer: Vec<String> = self
            .rows
            .iter()
            .filter(|total| total.planned < self.instances)
            .map(|total| format!("{} over {}", spec_title(&total.algorithm), total.planned))
            .collect();
        (!fewer.is_empty()).then(|| {
            format!(
                "some algorithms did not plan all {} instances; the means of these algorithms are only over the \
                 instances that they planned, which may be easier or harder than the other instances: {}",
                self.instances,
                fewer.join(", ")
            )
        })
    }

    /// Returns the totals as JSON.
    pub fn json(&self) -> serde_json::Value {
        let row = |total: &AlgorithmTotal| {
            let mut object = json!({"algorithm": total.algorithm, "planned": total.planned, "seconds": total.seconds});
            for (objective, sum) in self.objectives.iter().zip(&total.sums) {
                object[objective.name()] = sum.as_ref().map_or(serde_json::Value::Null, |sum| {
                    json!({
                        "geometric_mean_ratio": sum.mean,
                        "largest_ratio": sum.largest,
                        "best": sum.best,
                        "minimised": sum.is_minimised,
                    })
                });
            }
            object
        };
        self.rows.iter().map(row).collect()
    }
}

/// Returns the algorithms that planned at least one instance, in the order of their first plan.
fn algorithms(comparisons: &[Comparison]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let rows = comparisons.iter().flat_map(|comparison| &comparison.rows);
    rows.map(|row| row.algorithm.clone()).filter(|name| seen.insert(name.clone())).collect()
}

fn sum(comparisons: &[Comparison], algorithm: &str, objective: Objective) -> Option<Sum> {
    let found: Vec<_> = comparisons.iter().filter_map(|one| Some((one, one.figure(algorithm, objective)?))).collect();
    let ratios: Vec<f64> = found.iter().filter_map(|(_, figure)| figure.ratio).collect();
    let largest = ratios.iter().copied().reduce(f64::max)?;
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let is_minimised = minimises(algorithm, objective);
    Some(Sum {
        mean,
        largest,
        is_minimised,
        best: found.iter().filter(|(one, figure)| one.is_best(figure, objective)).count(),
    })
}

/// Describes the instances, such as `12 instances, 20 to 400 jobs, 16 processors`.
pub fn heading(comparisons: &[Comparison]) -> String {
    let range = |values: &mut dyn Iterator<Item = usize>, what: &str| {
        let values: Vec<usize> = values.collect();
        let (low, high) = (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0));
        let high_counted = counted(high, what);
        if low == high { high_counted } else { format!("{low} to {high_counted}") }
    };
    let jobs = range(&mut comparisons.iter().map(|one| one.jobs), "job");
    let processors = range(&mut comparisons.iter().map(|one| one.processors as usize), "processor");
    format!("{} instances, {jobs}, {processors}", comparisons.len())
}

/// Formats the notes on the files. If there are more than [`MAX_REMARKS`] notes, prints only their number and the
/// first note.
pub fn remarks(comparisons: &[Comparison]) -> String {
    let of = |one: &Comparison| one.remarks.iter().map(|remark| format!("{}: {remark}", one.name)).collect::<Vec<_>>();
    let all: Vec<String> = comparisons.iter().flat_map(of).collect();
    if all.len() <= MAX_REMARKS {
        return summary::remarks(&all);
    }
    summary::remarks(&[format!("{} notes on these files, such as {}; --format json prints all", all.len(), all[0])])
}

/// Returns the names of the algorithms and their performance profiles for an objective.
pub fn profiles(comparisons: &[Comparison], objective: Objective) -> (Vec<String>, Vec<PerformanceProfile>) {
    let algorithms = algorithms(comparisons);
    let values = |one: &Comparison| {
        let value = |algorithm: &String| {
            let value = one.figure(algorithm, objective)?.value.as_ref()?.as_f64();
            // The value of a maximised objective is inverted, because in profiles smaller values are better.
            Some(if objective.is_maximised() { 1.0 / value } else { value })
        };
        algorithms.iter().map(value).collect()
    };
    let values: Vec<Vec<Option<f64>>> = comparisons.iter().map(values).collect();
    (algorithms, performance_profiles(&values))
}

/// Returns the objective of a profile: the requested objective, or the first that was measured.
pub fn objective(comparisons: &[Comparison], asked: Option<ObjectiveName>) -> Result<Objective> {
    let measured = || comparisons.iter().flat_map(|one| &one.bounds).map(|(objective, _)| *objective);
    let Some(asked) = asked else {
        return measured().next().ok_or_else(|| miette!("no algorithm has planned any of the instances"));
    };
    let named = |objective: &Objective| {
        asked.to_possible_value().is_some_and(|value| value.matches(&objective.name().replace('_', "-"), false))
    };
    let Some(objective) = Objective::OF_SCHEDULES.into_iter().find(named) else {
        return Err(miette!(
            "--objective pareto: a profile compares the values of one objective; name one objective, such as --objective makespan"
        ));
    };
    if measured().any(|one| one == objective) {
        return Ok(objective);
    }
    let known: BTreeSet<&str> = measured().map(Objective::name).collect();
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    Err(miette!("--objective: {objective} is not measured on these instances; the measured objectives are {known}"))
}
