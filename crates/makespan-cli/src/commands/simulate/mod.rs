//! `makespan simulate`

mod comparison;
mod compound;
pub mod domains;
mod live;
mod log;
mod logged;
mod outputs;
mod page;
pub mod play;
mod question;
mod rooms;
mod row;
mod rules;
mod scenario;
mod scene;
mod sizes;
mod tree;
mod words;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::thread::available_parallelism;

use makespan::policy::policy_for;
use makespan::{Simulated, SimulationInput};
use makespan_core::tree::TreeProblem;
use miette::{Result, miette};
use serde_json::json;

use crate::args::{Format, SimulateOptions};
use crate::output::{csv_names, emit};
use crate::summary;
use domains::DomainSetup;
use log::Log;
use question::{PolicyAnswer, Question};
use sizes::Sizes;

/// Maximum width of a table, in columns of text.
const WIDTH: usize = 100;
/// Default policy.
const USUAL: &str = "easy";

pub fn simulate(options: &SimulateOptions) -> Result<ExitCode> {
    let mut stated = options.policy.as_deref().map(specs).transpose()?;
    let threads = match options.threads {
        Some(0) => return Err(miette!("--threads is 0; it must be at least 1")),
        Some(threads) => threads,
        None => available_parallelism().map_or(1, usize::from),
    };
    let scenarios = scenario::scenarios(options, stated.as_deref().unwrap_or_default())?;
    let names: Vec<String> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    if stated.is_none() && options.domains.is_some() {
        stated = Some(vec![domains::USUAL.to_owned()]);
    }
    let several = if names.is_empty() { stated.clone().unwrap_or_else(|| vec![USUAL.to_owned()]) } else { names };
    let targets = outputs::targets(&options.trace, &options.outputs, &several)?;
    let log = scene::read(options)?;
    let usual = || vec![log.usual.clone().unwrap_or_else(|| USUAL.to_owned())];
    // On the queue of a cluster, `slurm` has the parameters of the cluster, as in scenarios.
    let of_cluster = |spec: String| log.live.as_ref().and_then(|live| live.policy(&spec)).unwrap_or(spec);
    let specs: Vec<String> = stated.unwrap_or_else(usual).into_iter().map(of_cluster).collect();
    if TreeProblem::is_meant(&log.instance) {
        if !scenarios.is_empty() || options.sizes || options.domains.is_some() {
            return Err(miette!(
                "--scenario, --sizes and --domains are only for jobs on a cluster, but this instance has bags of tasks on a tree; \
                 remove these options"
            ));
        }
        return tree::simulate(options, &log.instance, threads);
    }
    tree::refuse_options_of_trees(options)?;
    let own = stated_policies(&specs, &scenarios);
    let log = scene::freely_placed(options, &own, log)?;
    let log = scene::deviated(options, scene::checked(options, log)?)?;
    let (log, domains) = match &options.domains {
        Some(path) => domains::join(path, options, log).map(|(log, domains)| (log, Some(domains)))?,
        None => (log, None),
    };
    let log = scene::forgotten(options, log)?;
    if !scenarios.is_empty() {
        scenario::simulate(options, &scenarios, &specs[0], threads, &targets, &log)?;
        return Ok(ExitCode::SUCCESS);
    }
    let log = rules::kept(&specs, log).map_err(|problem| miette!("{}: {problem}", options.trace.display()))?;
    cluster(options, &specs, threads, &targets, &log, domains.as_ref())
}

/// Simulates jobs on a cluster.
fn cluster(
    options: &SimulateOptions,
    specs: &[String],
    threads: usize,
    targets: &[outputs::OutputTarget],
    log: &Log,
    domains: Option<&DomainSetup>,
) -> Result<ExitCode> {
    let rules = scene::rules(options, log)?;
    let scene = SimulationInput { instance: &log.instance, actual: &log.actual, options: &rules, seed: options.seed };
    // An error in a question or a policy is reported before the simulation starts.
    let question = Question::new(&options.question, &scene, &log.past)?;
    if options.sizes {
        sizes::check(&log.instance)?;
    }
    for spec in specs {
        match domains {
            Some(domains) => drop(domains.policy(spec, &log.instance, options.seed)?),
            None => drop(policy_for(spec, &log.instance, options.seed).map_err(|error| miette!("{error}"))?),
        }
    }
    let scenes: Vec<(SimulationInput<'_>, &str)> = specs.iter().map(|spec| (scene, spec.as_str())).collect();
    let simulated = match domains {
        Some(domains) => {
            play::play_with(&scenes, threads, &|scene, spec, observer| domains.simulate(scene, spec, observer))?
        }
        None => play::play(&scenes, threads)?,
    };
    let answer = |one: &Simulated| question.as_ref().map(|question| question.answer(&scene, one)).transpose();
    let answers: Vec<Option<PolicyAnswer>> = simulated.iter().map(answer).collect::<Result<_>>()?;
    let title = options.title();
    let sizes = simulated.iter().filter(|_| options.sizes).map(|one| Sizes::of(&log.instance, one));
    let sizes: Vec<Sizes> = sizes.collect::<Result<_>>()?;
    outputs::write(
        &vec![&log.instance; specs.len()],
        &title,
        targets,
        &simulated,
        csv_names(options.outputs.raw_names),
    )?;
    if !options.outputs.gantt.is_empty() {
        page::draw_gantt(&options.outputs.gantt, &title, &scene, &simulated)?;
    }
    if let Some(path) = &options.outputs.report {
        page::write(path, &title, &scene, log, &simulated, domains)?;
    }
    match options.format {
        Format::Json => {
            let answered = |(index, answer): (usize, &Option<PolicyAnswer>)| {
                Some((index, question.as_ref()?.json(&scene, answer.as_ref()?)))
            };
            let answers: BTreeMap<_, _> = answers.iter().enumerate().filter_map(answered).collect();
            let mut object = json!({
                "jobs": log.instance.tasks(),
                "processors": log.instance.processors(),
                "seed": options.seed,
                "remarks": log.remarks,
                "policies": comparison::json(&log.instance, &simulated, answers),
            });
            if let Some(domains) = domains {
                for (one, simulated) in object["policies"].as_array_mut().into_iter().flatten().zip(&simulated) {
                    one["domains"] = domains.json(&log.instance, simulated);
                }
            }
            if options.sizes {
                object["sizes"] = sizes.iter().map(|one| one.json(&log.instance)).collect();
            }
            emit(&format!("{object:#}\n"))?;
        }
        Format::Text => {
            let mut text =
                summary::instance(&log.instance) + "; times in seconds\n" + &summary::remarks(&log.remarks) + "\n";
            text += &comparison::text(&simulated, WIDTH);
            text += &domains.map(|domains| domains.text(&log.instance, &simulated, WIDTH)).unwrap_or_default();
            if let Some(question) = &question {
                text += &format!("\n{}", question.text(&scene));
                for (one, answer) in simulated.iter().zip(answers.iter().flatten()) {
                    text += &question.describe(&scene, &one.policy, answer);
                }
            }
            sizes.iter().for_each(|one| text += &one.text(&log.instance));
            text += &compound::text(&log.instance, &simulated);
            emit(&text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns all policies in the options and in the scenarios.
fn stated_policies<'a>(specs: &'a [String], scenarios: &'a [scenario::Scenario]) -> Vec<&'a str> {
    specs.iter().map(String::as_str).chain(scenarios.iter().filter_map(scenario::Scenario::policy)).collect()
}

/// Splits a list of policies. A repeated policy is an error.
fn specs(list: &str) -> Result<Vec<String>> {
    let specs = makespan::split_specs(list);
    for (index, spec) in specs.iter().enumerate() {
        if specs[..index].contains(spec) {
            return Err(miette!("--policy names `{spec}` twice; name each policy once"));
        }
    }
    Ok(specs)
}
