//! `makespan compare`

mod sharded;

pub use sharded::work;

use std::process::ExitCode;
use std::time::Instant;

use makespan::{Planned, Planner};
use makespan_core::{Bound, Instance, Metrics, Objective, Plan};
use makespan_lab::campaign::split;
use miette::{Result, miette};
use serde_json::json;

use crate::args::{CompareOptions, Format};
use crate::input::{Loaded, load};
use crate::output::{INTERRUPTED, emit, table};
use crate::progress::bar;
use crate::summary;

/// One algorithm's outcome.
struct Row {
    algorithm: String,
    plan: Plan,
    seconds: f64,
    /// Whether the plan was made for its cost.
    for_cost: bool,
}

/// A row, or why there is none.
type Outcome = std::result::Result<Row, String>;

pub fn compare(options: &CompareOptions) -> Result<ExitCode> {
    let Loaded { instance, mut remarks, .. } = load(&options.input)?;
    let specs = specs(options, &instance);
    let outcomes = if options.shards.are_asked() {
        match sharded::outcomes(options, &instance, &specs)? {
            Some(outcomes) => outcomes,
            None => return Ok(ExitCode::from(INTERRUPTED as u8)),
        }
    } else if options.folder.is_some() {
        return Err(miette!("--folder is that of shards; write --on slurm or --shards N as well, or leave it out"));
    } else {
        let progress = bar(specs.len() as u64, "comparing");
        let outcome = |spec: &String| {
            let outcome = outcome(options, &instance, spec);
            progress.inc(1);
            outcome
        };
        specs.iter().map(outcome).collect::<Result<_>>()?
    };
    let mut rows = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(row) => rows.push(row),
            Err(reason) => remarks.push(reason),
        }
    }
    let progress = bar(1, "proving");
    let plans = rows.iter().map(|row| &row.plan);
    let mut bounds = makespan::bounds_for(&instance, &plans).map_err(|error| miette!("{error}"))?;
    progress.finish_and_clear();
    // The cost is of interest where some plan was made for it. Each may end when it likes, so each task counts with its least.
    if rows.iter().any(|row| row.for_cost) {
        bounds.push(makespan::cheapest(&instance));
    }
    match options.format {
        Format::Json => {
            let rows: Vec<_> = rows.iter().map(|row| json_row(&instance, &bounds, row)).collect();
            emit(&format!(
                "{:#}\n",
                json!({
                    "jobs": instance.jobs().len(),
                    "processors": instance.processors(),
                    "algorithms": rows,
                    "rests_on_guesses": instance.has_guesses(),
                    "remarks": remarks,
                })
            ))?;
        }
        Format::Text => emit(&format!(
            "{}\n{}{}\n{}",
            summary::instance(&instance),
            summary::remarks(&remarks),
            bounds_line(&instance, &bounds),
            text_rows(&instance, &bounds, &rows)
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The algorithms that are compared.
fn specs(options: &CompareOptions, instance: &Instance) -> Vec<String> {
    options.algorithms.as_deref().map_or_else(|| makespan::compared(instance), split)
}

/// What an algorithm makes of the instance. Only what the user did not ask for by name may be left out.
fn outcome(options: &CompareOptions, instance: &Instance, spec: &str) -> Result<Outcome> {
    let begin = Instant::now();
    match Planner::new().algorithm(spec).seed(options.seed).plan_unproved(instance) {
        Ok(Planned { algorithm, plan, bounds, .. }) => {
            let for_cost = bounds.iter().any(|bound| bound.objective == Objective::Cost);
            Ok(Ok(Row { algorithm, plan, seconds: begin.elapsed().as_secs_f64(), for_cost }))
        }
        Err(error @ makespan::PlanError::Schedule(_)) if options.algorithms.is_none() => Ok(Err(error.to_string())),
        Err(error) => Err(miette!("{error}")),
    }
}

fn bounds_line(instance: &Instance, bounds: &[Bound]) -> String {
    let part = |bound: &Bound| {
        let sign = if bound.objective.is_maximised() { "<=" } else { ">=" };
        format!("{} {sign} {}", bound.objective, summary::value(bound.objective, bound.value.clone()))
    };
    format!("proven{}: {}\n", instance.condition(), bounds.iter().map(part).collect::<Vec<_>>().join(", "))
}

/// Value and ratio of one objective; stars mark the best.
fn text_rows(instance: &Instance, bounds: &[Bound], rows: &[Row]) -> String {
    let value = |objective: Objective, row: &Row| row.plan.value(objective, instance);
    // Cost tells plans apart where machines differ or jobs are graphs; then it takes the room of the metrics.
    let has_cost = instance.has_compound_jobs() || !instance.has_equal_processors();
    let bounds: Vec<&Bound> = bounds.iter().filter(|bound| has_cost || bound.objective != Objective::Cost).collect();
    let has_room = bounds.len() < 3;
    let best = |objective: Objective| {
        let values = rows.iter().filter_map(|row| value(objective, row));
        if objective.is_maximised() { values.max() } else { values.min() }
    };
    let text = rows.iter().map(|row| {
        let mut cells = vec![row.algorithm.clone()];
        for bound in &bounds {
            let objective = bound.objective;
            let value = value(objective, row);
            let mark = if value.is_some() && value == best(objective) { "*" } else { " " };
            let ratio = makespan::plan_ratio(instance, &row.plan, bound);
            cells.push(value.map_or("-".into(), |value| summary::value(objective, value)));
            cells.push(ratio.map_or("-".into(), |ratio| format!("{ratio:.4}")) + mark);
        }
        if has_room {
            let metrics = row.plan.schedule().map(|schedule| Metrics::of(instance, schedule));
            cells.push(metrics.map_or("-".into(), |metrics| format!("{:.1} %", 100.0 * metrics.utilisation)));
            cells.push(metrics.map_or("-".into(), |metrics| summary::figure(metrics.mean_flow)));
        }
        cells.push(duration(row.seconds));
        cells
    });
    let name = |objective: Objective| match objective {
        Objective::WeightedCompletion => "w. compl.",
        Objective::MaxLateness => "max. late",
        Objective::WeightedLateness => "w. late",
        Objective::Throughput => "fair throughput",
        other => other.name(),
    };
    let columns = bounds.iter().flat_map(|bound| [name(bound.objective), "ratio "]);
    let metrics = ["used", "mean flow"].into_iter().filter(|_| has_room);
    let heading: Vec<&str> = ["algorithm"].into_iter().chain(columns).chain(metrics).chain(["time"]).collect();
    table(&heading, 1, text)
}

fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.2} ms", 1e3 * seconds) } else { format!("{seconds:.2} s") }
}

fn json_row(instance: &Instance, bounds: &[Bound], row: &Row) -> serde_json::Value {
    let mut object = json!({
        "algorithm": row.algorithm,
        "seconds": row.seconds,
        "metrics": row.plan.schedule().map(|schedule| Metrics::of(instance, schedule)),
    });
    for bound in bounds {
        object[bound.objective.name()] = json!({
            "value": row.plan.value(bound.objective, instance).map(|value| exact(value.reached(bound.objective))),
            "bound": exact(bound.value.decimal(bound.objective)),
            "ratio": makespan::plan_ratio(instance, &row.plan, bound),
        });
    }
    object
}

fn exact(decimal: String) -> serde_json::Number {
    serde_json::Number::from_string_unchecked(decimal)
}
