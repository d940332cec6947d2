//! The comparison of algorithms on one instance.

use makespan_core::{Instance, Metrics, Objective};
use makespan_verify::{Bound, Value};
use serde_json::json;

use super::Row;
use crate::output::table;
use crate::summary;

/// The figures of one algorithm.
pub struct AlgorithmFigures {
    pub algorithm: String,
    pub seconds: f64,
    /// One figure for each bound of the comparison.
    pub figures: Vec<ObjectiveFigure>,
    metrics: Option<Metrics>,
}

/// The value of one objective.
pub struct ObjectiveFigure {
    pub value: Option<Value>,
    pub ratio: Option<f64>,
    /// True if the algorithm minimises the objective; `None` if this is unknown.
    pub is_minimised: Option<bool>,
}

impl ObjectiveFigure {
    /// Returns the mark of a value: [`NO_AIM`] if the algorithm does not minimise the objective and the value is not
    /// proved optimal.
    fn mark(&self) -> &'static str {
        if self.is_minimised == Some(false) && self.ratio != Some(1.0) { NO_AIM } else { " " }
    }
}

/// Mark after a value if the algorithm does not minimise the objective.
pub const NO_AIM: &str = "~";
/// Explanation of [`NO_AIM`], printed as a line below a table.
pub const NO_AIM_LINE: &str = "~ the algorithm does not minimise this objective\n";

/// Returns true if the algorithm minimises the objective, or `None` if this is unknown.
pub fn minimises(algorithm: &str, objective: Objective) -> Option<bool> {
    let minimised = makespan::minimised(algorithm);
    (!minimised.is_empty() && !objective.is_maximised()).then(|| minimised.contains(&objective))
}

/// The results of all algorithms on one instance.
pub struct Comparison {
    /// Name of the instance file.
    pub name: String,
    pub jobs: usize,
    pub processors: u32,
    pub bounds: Vec<(Objective, Value)>,
    pub rows: Vec<AlgorithmFigures>,
    /// Specs of the algorithms that made no plan, with the reason.
    pub left_out: Vec<(String, String)>,
    pub remarks: Vec<String>,
    condition: &'static str,
    has_guesses: bool,
    summary: String,
    /// True if the table shows the cost instead of other metrics. Costs can differ only if jobs are compound or
    /// processors differ.
    has_cost: bool,
}

/// Data of a comparison other than its figures.
pub struct ComparisonContext {
    pub name: String,
    pub left_out: Vec<(String, String)>,
    pub remarks: Vec<String>,
}

impl Comparison {
    pub fn new(instance: &Instance, bounds: &[Bound], rows: Vec<Row>, beside: ComparisonContext) -> Self {
        let measured = |row: Row| AlgorithmFigures {
            figures: bounds
                .iter()
                .map(|bound| ObjectiveFigure {
                    value: row.plan.value(bound.objective, instance),
                    ratio: makespan::plan_ratio(instance, &row.plan, bound),
                    is_minimised: minimises(&row.algorithm, bound.objective),
                })
                .collect(),
            metrics: row.plan.schedule().map(|schedule| Metrics::of(instance, schedule)),
            algorithm: row.algorithm,
            seconds: row.seconds,
        };
        Self {
            name: beside.name,
            jobs: instance.jobs().len(),
            processors: instance.processors(),
            bounds: bounds.iter().map(|bound| (bound.objective, bound.value.clone())).collect(),
            rows: rows.into_iter().map(measured).collect(),
            left_out: beside.left_out,
            remarks: beside.remarks,
            condition: instance.condition(),
            has_guesses: instance.has_guesses(),
            summary: summary::instance(instance),
            has_cost: instance.has_compound_jobs() || !instance.has_equal_processors(),
        }
    }

    /// Returns the figure of an algorithm for an objective.
    pub fn figure(&self, algorithm: &str, objective: Objective) -> Option<&ObjectiveFigure> {
        let at = self.bounds.iter().position(|(known, _)| *known == objective)?;
        self.rows.iter().find(|row| row.algorithm == algorithm).map(|row| &row.figures[at])
    }

    /// Returns true if no algorithm has a better value for this objective.
    pub fn is_best(&self, figure: &ObjectiveFigure, objective: Objective) -> bool {
        let others = self.rows.iter().filter_map(|row| self.figure(&row.algorithm, objective)?.value.as_ref());
        let best = if objective.is_maximised() { others.max() } else { others.min() };
        figure.value.is_some() && figure.value.as_ref() == best
    }

    /// Formats the comparison as text: the bounds, a row for each algorithm, and the algorithms that made no plan.
    pub fn text(&self) -> String {
        format!(
            "{}\n{}{}\n{}{}",
            self.summary,
            summary::remarks(&self.remarks),
            self.bounds_line(),
            self.text_rows(),
            folded(&self.left_out, "such an instance")
        )
    }

    fn bounds_line(&self) -> String {
        let part = |(objective, value): &(Objective, Value)| {
            let sign = if objective.is_maximised() { "<=" } else { ">=" };
            format!("{objective} {sign} {}", summary::value(*objective, value.clone()))
        };
        format!("proven{}: {}\n", self.condition, self.bounds.iter().map(part).collect::<Vec<_>>().join(", "))
    }

    /// Returns a row for each algorithm, with its value and ratio for each objective. A star marks the best value of an
    /// objective. A tilde marks any other value if the algorithm does not minimise the objective.
    fn text_rows(&self) -> String {
        let shown = |objective: Objective| self.has_cost || objective != Objective::Cost;
        let objectives: Vec<Objective> =
            self.bounds.iter().map(|(objective, _)| *objective).filter(|&o| shown(o)).collect();
        let has_room = objectives.len() < 3;
        let text = self.rows.iter().map(|row| {
            let mut cells = vec![row.algorithm.clone()];
            for &objective in &objectives {
                let figure = self.figure(&row.algorithm, objective);
                let is_best = figure.is_some_and(|figure| self.is_best(figure, objective));
                let mark = if is_best { "*" } else { figure.map_or(" ", ObjectiveFigure::mark) };
                let value = figure.and_then(|figure| figure.value.clone());
                let ratio = figure.and_then(|figure| figure.ratio);
                cells.push(value.map_or("-".into(), |value| summary::value(objective, value)));
                cells.push(ratio.map_or("-".into(), |ratio| format!("{ratio:.4}")) + mark);
            }
            if has_room {
                cells.push(row.metrics.map_or("-".into(), |metrics| format!("{:.1} %", 100.0 * metrics.utilisation)));
                cells.push(row.metrics.map_or("-".into(), |metrics| summary::figure(metrics.mean_flow)));
            }
            cells.push(duration(row.seconds));
            cells
        });
        let columns = objectives.iter().flat_map(|&objective| [objective.heading(), "ratio "]);
        let metrics = ["used", "mean flow"].into_iter().filter(|_| has_room);
        let heading: Vec<&str> = ["algorithm"].into_iter().chain(columns).chain(metrics).chain(["time"]).collect();
        let text = table(&heading, 1, text);
        let legend = if text.contains(NO_AIM) { NO_AIM_LINE } else { "" };
        text + legend
    }

    /// Returns the comparison as JSON.
    pub fn json(&self) -> serde_json::Value {
        let reasons = self.left_out.iter().map(|(_, reason)| reason);
        json!({
            "jobs": self.jobs,
            "processors": self.processors,
            "algorithms": self.rows.iter().map(|row| self.json_row(row)).collect::<Vec<_>>(),
            "rests_on_guesses": self.has_guesses,
            "remarks": self.remarks.iter().chain(reasons).collect::<Vec<_>>(),
        })
    }

    fn json_row(&self, row: &AlgorithmFigures) -> serde_json::Value {
        let mut object = json!({"algorithm": row.algorithm, "seconds": row.seconds, "metrics": row.metrics});
        for ((objective, bound), figure) in self.bounds.iter().zip(&row.figures) {
            object[objective.name()] = json!({
                "value": figure.value.as_ref().map(|value| exact(value.reached(*objective))),
                "bound": exact(bound.decimal(*objective)),
                "ratio": figure.ratio,
                "minimised": figure.is_minimised,
            });
        }
        object
    }
}

/// Lists all algorithms that made no plan on one line.
pub fn folded(left_out: &[(String, String)], what: &str) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let names = left_out.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let text = format!("{names}. --algorithms NAME prints the reason");
    format!("\n{}", crate::output::wrapped(&format!("{} cannot plan {what}: ", left_out.len()), 2, &text))
}

pub fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.2} ms", 1e3 * seconds) } else { format!("{seconds:.2} s") }
}

fn exact(decimal: String) -> serde_json::Number {
    serde_json::Number::from_string_unchecked(decimal)
}
