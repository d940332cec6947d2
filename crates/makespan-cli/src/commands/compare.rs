//! `makespan compare`

use std::process::ExitCode;
use std::time::Instant;

use makespan_core::{Bound, Context, Instance, Metrics, Objective, Schedule};
use makespan_lab::campaign::split;
use miette::{Result, miette};
use serde_json::json;

use crate::args::{CompareOptions, Format};
use crate::input::{Loaded, load};
use crate::output::{emit, table};
use crate::progress::bar;
use crate::summary;

/// One algorithm's outcome.
struct Row {
    algorithm: String,
    schedule: Schedule,
    seconds: f64,
}

pub fn compare(options: &CompareOptions) -> Result<ExitCode> {
    let Loaded { instance, mut remarks } = load(&options.input)?;
    let specs = match &options.algorithms {
        Some(list) => split(list),
        None => makespan::catalogue().iter().flat_map(|entry| entry.compared).map(ToString::to_string).collect(),
    };
    let progress = bar(specs.len() as u64 + 1, "comparing");
    let mut bounds = makespan::bound(&instance).map_err(|error| miette!("{error}"))?;
    progress.inc(1);
    let (mut rows, mut costs) = (Vec::new(), false);
    for spec in &specs {
        let begin = Instant::now();
        let mut context = Context::with_seed(options.seed);
        match makespan::schedule_in(&instance, spec, &mut context) {
            Ok((algorithm, schedule)) => {
                costs |= context.bounds.iter().any(|bound| bound.objective == Objective::Cost);
                rows.push(Row { algorithm, schedule, seconds: begin.elapsed().as_secs_f64() });
            }
            // Only what the user did not ask for by name may be left out.
            Err(error @ makespan::PlanError::Schedule(_)) if options.algorithms.is_none() => {
                remarks.push(error.to_string())
            }
            Err(error) => return Err(miette!("{error}")),
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    // The cost is of interest where some plan was made for it. Each may end when it likes, so each task counts with its least.
    if costs {
        bounds.push(makespan::cheapest(&instance));
    }
    match options.format {
        Format::Json => {
            let rows: Vec<_> = rows.iter().map(|row| json_row(&instance, &bounds, row)).collect();
            emit(&format!(
                "{:#}\n",
                json!({ "jobs": instance.jobs().len(), "processors": instance.processors(), "algorithms": rows })
            ))?;
        }
        Format::Text => emit(&format!(
            "{}\n{}{}\n{}",
            summary::instance(&instance),
            summary::remarks(&remarks),
            bounds_line(&bounds),
            text_rows(&instance, &bounds, &rows)
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn bounds_line(bounds: &[Bound]) -> String {
    let part = |bound: &Bound| format!("{} >= {}", bound.objective, summary::value(bound.objective, bound.value));
    format!("proven: {}\n", bounds.iter().map(part).collect::<Vec<_>>().join(", "))
}

/// Value and ratio of one objective; stars mark the best.
fn text_rows(instance: &Instance, bounds: &[Bound], rows: &[Row]) -> String {
    let value = |objective: Objective, row: &Row| objective.value(instance, &row.schedule);
    // Cost tells plans apart where machines differ or jobs are graphs; then it takes the room of the metrics.
    let has_cost = instance.has_compound_jobs() || !instance.has_equal_processors();
    let bounds: Vec<&Bound> = bounds.iter().filter(|bound| has_cost || bound.objective != Objective::Cost).collect();
    let has_room = bounds.len() < 3;
    let best = |objective: Objective| rows.iter().map(|row| value(objective, row)).min();
    let text = rows.iter().map(|row| {
        let mut cells = vec![row.algorithm.clone()];
        for bound in &bounds {
            let objective = bound.objective;
            let mark = if Some(value(objective, row)) == best(objective) { "*" } else { " " };
            let ratio = makespan::ratio(instance, &row.schedule, bound);
            cells.push(summary::value(objective, value(objective, row)));
            cells.push(ratio.map_or("-".into(), |ratio| format!("{ratio:.4}")) + mark);
        }
        let metrics = Metrics::of(instance, &row.schedule);
        if has_room {
            cells.push(format!("{:.1} %", 100.0 * metrics.utilisation));
            cells.push(summary::figure(metrics.mean_flow));
        }
        cells.push(duration(row.seconds));
        cells
    });
    let name = |objective: Objective| match objective {
        Objective::WeightedCompletion => "w. compl.",
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
        "metrics": Metrics::of(instance, &row.schedule),
    });
    for bound in bounds {
        object[bound.objective.name()] = json!({
            "value": exact(bound.objective, bound.objective.value(instance, &row.schedule)),
            "bound": exact(bound.objective, bound.value),
            "ratio": makespan::ratio(instance, &row.schedule, bound),
        });
    }
    object
}

fn exact(objective: Objective, value: i128) -> serde_json::Number {
    serde_json::Number::from_string_unchecked(objective.decimal(value))
}
