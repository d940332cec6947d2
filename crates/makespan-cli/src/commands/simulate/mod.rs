//! `makespan simulate`

mod comparison;
mod compound;
mod outputs;
mod page;
mod play;
mod question;
mod row;
mod scene;
mod tree;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::thread::available_parallelism;

use makespan::policy::policy_for;
use makespan::{Scene, Simulated};
use makespan_core::tree::TreeProblem;
use miette::{Result, miette};
use serde_json::json;

use crate::args::{Format, SimulateOptions};
use crate::output::{csv_names, emit};
use crate::summary;
use question::{Answer, Question};
use scene::Log;

pub fn simulate(options: &SimulateOptions) -> Result<ExitCode> {
    let specs = specs(options.policy.as_deref().unwrap_or("easy"))?;
    let threads = match options.threads {
        Some(0) => return Err(miette!("--threads is 0; it must be at least 1")),
        Some(threads) => threads,
        None => available_parallelism().map_or(1, usize::from),
    };
    let targets = outputs::targets(&options.trace, &options.outputs, &specs)?;
    let log = scene::read(options)?;
    if TreeProblem::is_meant(&log.instance) {
        return tree::simulate(options, &log.instance, threads);
    }
    tree::refuse_options_of_trees(options)?;
    let log = scene::forgotten(options, scene::deviated(options, scene::checked(options, log)?)?)?;
    cluster(options, &specs, threads, &targets, &log)
}

/// Simulates jobs on a cluster.
fn cluster(
    options: &SimulateOptions,
    specs: &[String],
    threads: usize,
    targets: &[outputs::Target],
    log: &Log,
) -> Result<ExitCode> {
    let rules = scene::rules(options, &log.instance)?;
    let scene = Scene { instance: &log.instance, actual: &log.actual, options: &rules, seed: options.seed };
    // What is wrong with a question or a policy is said before the work.
    let question = Question::new(&options.question, &scene)?;
    for spec in specs {
        policy_for(spec, &log.instance, options.seed).map_err(|error| miette!("{error}"))?;
    }
    let simulated = play::play(&scene, specs, threads)?;
    let answer = |one: &Simulated| question.as_ref().map(|question| question.answer(&scene, one)).transpose();
    let answers: Vec<Option<Answer>> = simulated.iter().map(answer).collect::<Result<_>>()?;
    let title = options.trace.file_name().map_or("simulation".into(), |name| name.to_string_lossy());
    outputs::write(log, &title, targets, &simulated, csv_names(options.outputs.raw_names))?;
    if let Some(path) = &options.outputs.report {
        page::write(path, &title, &scene, log, &simulated)?;
    }
    match options.format {
        Format::Json => {
            let answered = |(index, answer): (usize, &Option<Answer>)| {
                Some((index, question.as_ref()?.json(&scene, answer.as_ref()?)))
            };
            let answers: BTreeMap<_, _> = answers.iter().enumerate().filter_map(answered).collect();
            let object = json!({
                "jobs": log.instance.tasks(),
                "processors": log.instance.processors(),
                "seed": options.seed,
                "remarks": log.remarks,
                "policies": comparison::json(&log.instance, &simulated, answers),
            });
            emit(&format!("{object:#}\n"))?;
        }
        Format::Text => {
            let mut text =
                summary::instance(&log.instance) + "; times in seconds\n" + &summary::remarks(&log.remarks) + "\n";
            text += &comparison::text(&simulated);
            if let Some(question) = &question {
                text += &format!("\n{}", question.text(&scene));
                for (one, answer) in simulated.iter().zip(answers.iter().flatten()) {
                    text += &question.describe(&scene, &one.policy, answer);
                }
            }
            text += &compound::text(&log.instance, &simulated);
            emit(&text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The policies, each once.
fn specs(list: &str) -> Result<Vec<String>> {
    let specs = makespan_lab::campaign::split(list);
    for (index, spec) in specs.iter().enumerate() {
        if specs[..index].contains(spec) {
            return Err(miette!("--policy names `{spec}` twice; name each policy once"));
        }
    }
    Ok(specs)
}
