//! Simulates bags of tasks on a tree of machines.

mod changes;
mod page;
mod report;

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use makespan::policy::tree::Heuristic;
use makespan::{EndCondition, NetworkOptions, TreeRun, TreeScene};
use makespan_core::Instance;
use makespan_core::tree::TreeProblem;
use miette::{Result, miette};

use crate::args::{EstimatesName, Format, SimulateOptions};
use crate::output::emit;

/// Default policy on a tree.
const RECOMMENDED: &str = "back-pressure";

/// Simulates the policies and prints a comparison.
pub fn simulate(options: &SimulateOptions, instance: &Instance, threads: usize) -> Result<ExitCode> {
    refuse_options_of_clusters(options)?;
    let specs = super::specs(options.policy.as_deref().unwrap_or(RECOMMENDED))?;
    let heuristic = |spec: &String| spec.parse::<Heuristic>().map_err(|error| miette!("--policy {spec}: {error}"));
    let heuristics: Vec<Heuristic> = specs.iter().map(heuristic).collect::<Result<_>>()?;
    let failed = |error: &dyn std::fmt::Display| miette!("{}: {error}", options.trace.display());
    let problem = TreeProblem::new(instance).map_err(|error| failed(&error))?;
    let rules = rules(options, instance, &problem)?;
    let scene = TreeScene::of(&problem).map_err(|error| failed(&error))?;
    let runs = play(&scene, &heuristics, &rules, threads)?;
    let page = report::TreeReportPage { instance, scene: &scene, rules: &rules, runs: &runs };
    if let Some(path) = &options.outputs.report {
        let title = options.title();
        page::write(path, &title, &problem, &page)?;
    }
    match options.format {
        Format::Json => emit(&format!("{:#}\n", page.json()))?,
        Format::Text => emit(&page.text())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns an error for options that apply only to jobs on a cluster.
fn refuse_options_of_clusters(options: &SimulateOptions) -> Result<()> {
    let given = [
        ("--estimates clairvoyant", options.estimates == EstimatesName::Clairvoyant),
        ("--estimates unknown", options.estimates == EstimatesName::Unknown),
        ("--learn", options.learn.is_some()),
        ("--deviation", options.deviation.is_some()),
        ("--speedup", options.speedup.is_some()),
        ("--kill-at-walltime", options.kill_at_walltime),
        ("--failures", options.breakdowns.failures.is_some()),
        ("--jobs", options.outputs.jobs.is_some()),
        ("--swf", options.outputs.swf.is_some()),
        ("--log", options.outputs.log.is_some()),
        ("--gantt", !options.outputs.gantt.is_empty()),
        ("--start-time-of", options.question.start_time_of.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(miette!(
            "{name} is only for jobs on a cluster, but this instance has bags of tasks on a tree; remove {name}"
        )),
        None => Ok(()),
    }
}

/// Returns an error for options that apply only to bags of tasks on a tree.
pub fn refuse_options_of_trees(options: &SimulateOptions) -> Result<()> {
    let tree = &options.tree;
    let given = [
        ("--buffer", tree.buffer.is_some()),
        ("--sends", tree.sends.is_some()),
        ("--slow-requests", tree.slow_requests),
        ("--change", !tree.change.is_empty()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(miette!(
            "{name} is only for bags of tasks on a tree, but nodes of this instance have no `parent`, or no job has a \
             `count`; remove {name}"
        )),
        None => Ok(()),
    }
}

fn rules(options: &SimulateOptions, instance: &Instance, problem: &TreeProblem) -> Result<NetworkOptions> {
    let usual = NetworkOptions::default();
    let (buffer, sends) = (options.tree.buffer.unwrap_or(usual.buffer), options.tree.sends.unwrap_or(usual.sends));
    for (name, value) in [("buffer", buffer), ("sends", sends)] {
        if value == 0 {
            return Err(miette!("--{name} is 0; it must be at least 1"));
        }
    }
    let changes = options.tree.change.iter().map(|text| changes::read(text, instance, problem));
    Ok(NetworkOptions {
        buffer,
        sends,
        slow_requests: options.tree.slow_requests,
        changes: changes.collect::<Result<_>>()?,
        until: EndCondition::AllDone,
        ..usual
    })
}

/// Simulates the heuristics, several at the same time. Returns the runs in the order of the heuristics.
fn play(scene: &TreeScene, heuristics: &[Heuristic], rules: &NetworkOptions, threads: usize) -> Result<Vec<TreeRun>> {
    let next = AtomicUsize::new(0);
    let played = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, heuristics.len()) {
            scope.spawn(|| {
                while let Some(&heuristic) = heuristics.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let run = scene.play(heuristic, rules);
                    played.lock().unwrap_or_else(PoisonError::into_inner).push((heuristic, run));
                }
            });
        }
    });
    let mut played = played.into_inner().unwrap_or_else(PoisonError::into_inner);
    played.sort_by_key(|(heuristic, _)| heuristics.iter().position(|other| other == heuristic));
    played.into_iter().map(|(heuristic, run)| run.map_err(|error| miette!("{heuristic}: {error}"))).collect()
}
