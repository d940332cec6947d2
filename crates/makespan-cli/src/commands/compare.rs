//! `makespan compare`

mod comparison;
mod files;
mod many;
mod sharded;

pub use sharded::shard;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use makespan::Plan;
use makespan::{Planned, Planner, split_specs};
use makespan_core::{Instance, Objective};
use makespan_formats::Lists;
use miette::{Result, miette};
use serde_json::json;

use comparison::{Comparison, ComparisonContext, folded};
use many::Totals;

use crate::args::{CompareOptions, Format, STANDARD_INPUT};
use crate::input::load_file;
use crate::loaded::LoadedInstance;
use crate::output::{INTERRUPTED, check_kind, check_targets, emit};
use crate::progress::bar;

/// The plan of one algorithm.
struct Row {
    algorithm: String,
    plan: Plan,
    seconds: f64,
    /// True if the algorithm minimised the cost.
    for_cost: bool,
}

/// The row of an algorithm, or the reason why the algorithm made no plan.
type Outcome = std::result::Result<Row, String>;

pub fn compare(options: &CompareOptions) -> Result<ExitCode> {
    let more = options.more.iter().map(PathBuf::as_path);
    let paths: Vec<&Path> = std::iter::once(options.input.path()).chain(more).collect();
    check(options, &paths)?;
    let mut comparisons = Vec::new();
    for path in paths {
        match compared(options, path)? {
            Some(comparison) => comparisons.push(comparison),
            None => return Ok(ExitCode::from(INTERRUPTED as u8)),
        }
    }
    let profiled = if options.profile.is_empty() && options.objective.is_none() {
        None
    } else {
        let by = many::objective(&comparisons, options.objective)?;
        Some((by, many::profiles(&comparisons, by)))
    };
    options.table.iter().try_for_each(|path| files::write_table(path, &comparisons))?;
    for path in &options.profile {
        profiled.iter().try_for_each(|(by, profiles)| files::write_profile(path, profiles, *by))?;
    }
    match (options.format, comparisons.as_slice()) {
        (Format::Json, [one]) => emit(&format!("{:#}\n", one.json()))?,
        (Format::Text, [one]) => emit(&one.text())?,
        (Format::Json, all) => emit(&format!("{:#}\n", several(all)))?,
        (Format::Text, all) => {
            let totals = Totals::of(all);
            let left_out = folded(&totals.left_out, "any of these instances");
            emit(&format!("{}\n{}{}{left_out}", many::heading(all), many::remarks(all), totals.text()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns an error if options contradict each other. Called before all planning.
fn check(options: &CompareOptions, paths: &[&Path]) -> Result<()> {
    if options.shards.are_asked() && paths.len() > 1 {
        return Err(miette!(
            "with --on or --shards, a comparison is split by algorithms, and must have one instance; name only one \
             instance"
        ));
    }
    if !options.profile.is_empty() && paths.len() < 2 {
        return Err(miette!("--profile: a performance profile needs several instances; name at least two"));
    }
    if paths.len() > 1 && paths.iter().any(|path| path.as_os_str() == STANDARD_INPUT) {
        return Err(miette!("standard input is a single instance; to compare several instances, name their files"));
    }
    for (index, path) in paths.iter().enumerate() {
        if paths[..index].contains(path) {
            return Err(miette!("{}: the instance is named twice; name it once", path.display()));
        }
    }
    options.table.iter().try_for_each(|path| check_kind("--table", Some(path), &files::TABLES))?;
    options.profile.iter().try_for_each(|path| check_kind("--profile", Some(path), &files::PROFILES))?;
    let targets: Vec<&Path> = options.table.iter().chain(&options.profile).map(PathBuf::as_path).collect();
    paths.iter().try_for_each(|path| check_targets(path, &targets))
}

/// Compares all algorithms on the instance in a file. Returns `None` if the user stopped the shards.
fn compared(options: &CompareOptions, path: &Path) -> Result<Option<Comparison>> {
    let LoadedInstance { instance, remarks, .. } = load_file(&options.input, path, Lists::Detected)?;
    let specs = specs(options, &instance);
    let outcomes = if options.shards.are_asked() {
        match sharded::outcomes(options, &instance, &specs)? {
            Some(outcomes) => outcomes,
            None => return Ok(None),
        }
    } else if options.folder.is_some() {
        return Err(miette!("--folder is used only with shards; remove --folder, or add --on slurm or --shards N"));
    } else {
        let progress = bar(specs.len() as u64, "comparing");
        let outcome = |spec: &String| {
            let outcome = outcome(options, &instance, spec);
            progress.inc(1);
            outcome
        };
        specs.iter().map(outcome).collect::<Result<_>>()?
    };
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for (spec, outcome) in specs.into_iter().zip(outcomes) {
        match outcome {
            Ok(row) => rows.push(row),
            Err(reason) => left_out.push((spec, reason)),
        }
    }
    let progress = bar(1, "proving");
    let plans = rows.iter().map(|row| &row.plan);
    let mut bounds = makespan::bounds_for(&instance, &plans).map_err(|error| miette!("{error}"))?;
    progress.finish_and_clear();
    // The cost is compared only if some algorithm minimised the cost. Tasks may end at any time, so the bound on the
    // cost is the sum of the least costs of all tasks.
    if rows.iter().any(|row| row.for_cost) {
        bounds.push(makespan::cheapest(&instance));
    }
    let beside = ComparisonContext { name: path.display().to_string(), left_out, remarks };
    Ok(Some(Comparison::new(&instance, &bounds, rows, beside)))
}

/// Returns several comparisons as JSON.
fn several(comparisons: &[Comparison]) -> serde_json::Value {
    let named = comparisons.iter().map(|one| {
        let mut object = one.json();
        object["instance"] = one.name.as_str().into();
        object
    });
    json!({"instances": named.collect::<Vec<_>>(), "algorithms": Totals::of(comparisons).json()})
}

/// Returns the algorithms to compare.
fn specs(options: &CompareOptions, instance: &Instance) -> Vec<String> {
    options.algorithms.as_deref().map_or_else(|| makespan::compared(instance), split_specs)
}

/// Plans an instance with an algorithm. If the algorithm fails, returns the reason as the outcome. If there is one
/// instance and the user named the algorithm, the failure is an error instead.
fn outcome(options: &CompareOptions, instance: &Instance, spec: &str) -> Result<Outcome> {
    let begin = Instant::now();
    match Planner::new().algorithm(spec).seed(options.seed).plan_unproved(instance) {
        Ok(Planned { algorithm, plan, bounds, .. }) => {
            let for_cost = bounds.iter().any(|bound| bound.objective == Objective::Cost);
            Ok(Ok(Row { algorithm, plan, seconds: begin.elapsed().as_secs_f64(), for_cost }))
        }
        Err(error @ makespan::PlanError::Schedule(_)) if options.algorithms.is_none() || !options.more.is_empty() => {
            Ok(Err(error.to_string()))
        }
        Err(error) => Err(miette!("{error}")),
    }
}
