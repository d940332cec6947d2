//! `makespan submit`

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use makespan_core::counted;
use makespan_formats::list::{ArgumentRules, Arguments, Template};
use makespan_service::client::Client;
use makespan_service::words::{BoundPicture, Content, JobNumber, Needs, OtherJobs, Receipt, Submission, WhatIf};
use miette::{Result, miette};
use serde_json::json;

use super::wait::wait_for;
use super::{add_amounts, connect, expected, fail, note, now, seconds, span, waits};
use crate::args::{Format, SOURCES, STANDARD_INPUT, SubmitOptions};
use crate::commands::run::{argument_sources, lines, operator};
use crate::difference::Difference;
use crate::input::standard_input;
use crate::makefile::is_makefile;
use crate::ninja::is_ninja;
use crate::outlook::{delays, line};
use crate::output::{complain, emit};
use crate::snakefile::is_snakefile;

/// Maximum size of a file, in bytes. The service refuses larger files.
const MAX_BYTES: u64 = 15 << 20;
/// Maximum number of new jobs that the text shows.
const SHOWN: usize = 8;
/// Maximum number of delayed jobs that the text names.
const NAMED: usize = 3;

pub fn submit(options: &SubmitOptions) -> Result<ExitCode> {
    let client = connect(&options.connection)?;
    let submission = submission(options, &client)?;
    if options.what_if {
        let what_if = client.what_if(&submission).map_err(fail)?;
        let text = match options.format {
            Format::Json => format!("{:#}\n", json!(what_if)),
            Format::Text => told(&what_if),
        };
        emit(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let receipt = client.submit(&submission).map_err(fail)?;
    receipt.remarks.iter().for_each(|remark| complain(&format!("note: {remark}")));
    match options.format {
        Format::Json => emit(&format!("{:#}\n", json!(receipt)))?,
        Format::Text => emit(&format!("{}\n", submitted(&receipt)))?,
    }
    if options.wait { wait_for(&client, &receipt.jobs) } else { Ok(ExitCode::SUCCESS) }
}

fn submitted(receipt: &Receipt) -> String {
    match &receipt.jobs[..] {
        [] => "there is nothing to do".into(),
        [job] => format!("job {job}"),
        [first, .., last] if last.0 - first.0 + 1 == receipt.jobs.len() as u64 => format!("jobs {first} to {last}"),
        jobs => {
            let numbers: Vec<String> = jobs.iter().map(JobNumber::to_string).collect();
            format!("jobs {}", numbers.join(", "))
        }
    }
}

fn submission(options: &SubmitOptions, client: &Client) -> Result<Submission> {
    let now = now();
    let after_now = |option: &str, text: &Option<String>| -> Result<Option<f64>> {
        text.as_ref().map(|text| Ok(now + seconds(option, text)?)).transpose()
    };
    Ok(Submission {
        content: content(options)?,
        name: options.name.clone(),
        directory: directory(options, client)?,
        environment: environment(&options.env)?,
        weight: options.weight,
        priority: options.priority,
        deadline: after_now("deadline", &options.deadline)?,
        begin: after_now("begin", &options.begin)?,
        hold: options.hold,
        after: options.after.iter().copied().map(JobNumber).collect(),
    })
}

fn content(options: &SubmitOptions) -> Result<Content> {
    if let Some(path) = &options.file {
        return read(path);
    }
    if options.command.iter().any(|word| SOURCES.contains(&word.as_str())) {
        return template(options);
    }
    let time = |option: &str, text: &Option<String>| text.as_ref().map(|text| seconds(option, text)).transpose();
    let mut resources = BTreeMap::new();
    resources.extend(options.memory.map(|amount| ("memory".to_owned(), amount)));
    resources.extend(options.gpus.map(|amount| ("gpus".to_owned(), amount)));
    add_amounts("--resource", &options.resource, &mut resources)?;
    let needs = Needs {
        processors: options.processors,
        time: time("time", &options.time)?,
        walltime: time("walltime", &options.walltime)?,
        resources,
    };
    operator(&options.command).iter().for_each(|remark| complain(&format!("note: {remark}")));
    let argv = match &options.command[..] {
        [line] => ["sh", "-c", line].map(str::to_owned).to_vec(),
        words => words.to_vec(),
    };
    Ok(Content::Command { argv, needs })
}

/// Returns the list of commands that a template and its arguments produce.
fn template(options: &SubmitOptions) -> Result<Content> {
    let needs = options.processors.is_some()
        || options.time.is_some()
        || options.walltime.is_some()
        || options.memory.is_some()
        || options.gpus.is_some()
        || !options.resource.is_empty();
    if needs {
        return Err(miette!(
            "needs cannot be stated for commands with :::; write a list with notes, such as: gzip a #: cores=2 time=90s"
        ));
    }
    let words = options.command.split(|word| SOURCES.contains(&word.as_str())).next().unwrap_or_default();
    operator(words).iter().for_each(|remark| complain(&format!("note: {remark}")));
    let sources = argument_sources(&options.command, &|file| lines(file, false))?;
    let arguments = Arguments::new(sources, ArgumentRules::default());
    let commands = Template::of_words(words).and_then(|template| template.lines(&arguments));
    let commands = commands.map_err(|error| miette!("{error}"))?;
    // Several words start a program, even if the shell has a command of this name.
    let exec = if words.len() > 1 { "exec " } else { "" };
    let lines: Vec<String> = commands.iter().map(|command| format!("{exec}{command}\n")).collect();
    Ok(Content::List { text: lines.concat() })
}

/// Reads a file. Returns its text and its name, from which the service detects the format as `run` does.
fn read(path: &Path) -> Result<Content> {
    let name = path.display().to_string();
    let kinds = [
        (is_makefile(path), "makefile", "make"),
        (is_ninja(path), "build of ninja", "ninja"),
        (is_snakefile(path), "Snakefile", "snakemake"),
    ];
    if let Some((_, kind, program)) = kinds.into_iter().find(|(is_kind, ..)| *is_kind) {
        return Err(miette!(
            "{name}: a service cannot run a {kind}; submit {program} as one job, such as: makespan submit -- {program}"
        ));
    }
    let bytes = if path.as_os_str() == STANDARD_INPUT {
        standard_input(MAX_BYTES)?
    } else {
        let metadata = path.metadata().map_err(|error| miette!("{name}: cannot open: {error}"))?;
        if metadata.len() > MAX_BYTES {
            return Err(miette!("{name}: the input has more than {MAX_BYTES} bytes; submit it in parts"));
        }
        std::fs::read(path).map_err(|error| miette!("{name}: cannot read: {error}"))?
    };
    let text = String::from_utf8(bytes).map_err(|_| {
        miette!("{name}: the text is not UTF-8; if the file is compressed, unpack it before you submit it")
    })?;
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Content::Instance { text, file: file.filter(|_| path.as_os_str() != STANDARD_INPUT) })
}

/// Returns the working directory of the commands. The default is the current folder if the service is on this machine.
fn directory(options: &SubmitOptions, client: &Client) -> Result<Option<String>> {
    let folder = match &options.directory {
        Some(folder) => {
            std::path::absolute(folder).map_err(|error| miette!("--directory {}: {error}", folder.display()))?
        }
        None if ["//127.", "//localhost", "//[::1]"].iter().any(|here| client.url().contains(here)) => {
            std::env::current_dir().map_err(|error| miette!("the current folder does not exist: {error}"))?
        }
        None => return Ok(None),
    };
    folder.into_os_string().into_string().map(Some).map_err(|folder| {
        miette!("{}: the name of the folder is not UTF-8; name another folder with --directory", folder.display())
    })
}

fn environment(stated: &[String]) -> Result<BTreeMap<String, String>> {
    let mut environment = BTreeMap::new();
    for pair in stated {
        let (name, value) = pair
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| miette!("--env {pair}: write the name and the value of a variable, such as LANG=C"))?;
        if environment.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(miette!("--env {pair}: `{name}` is stated twice; remove one of the two"));
        }
    }
    Ok(environment)
}

/// Formats the predicted effects of a submission as text.
fn told(what_if: &WhatIf) -> String {
    let now = now();
    let mut text = String::new();
    for job in what_if.waiting.iter().take(SHOWN) {
        text += &format!("job {}\n", job.job);
        text += &line(2, "starts", &expected(job.start, job.behind, now));
        text += &waits(2, job, &what_if.ranges, now);
        text += &line(2, "ends", &expected(job.end, job.behind, now));
    }
    if what_if.waiting.len() > SHOWN {
        text += &format!("{} more jobs (--format json prints all)\n", what_if.waiting.len() - SHOWN);
    }
    let OtherJobs { later, most_seconds, earlier, mean_wait, hidden, jobs } = &what_if.others;
    let named = jobs.iter().take(NAMED).map(|delay| format!("job {} +{:.0} s", delay.job, delay.seconds));
    let hidden = (*hidden > 0).then(|| format!("{} of other users", counted(*hidden, "job")));
    let wait = Difference { seconds: mean_wait.seconds, range: None };
    let others = delays(*later, *most_seconds, *earlier, &wait, named.chain(hidden));
    text += &line(2, "other jobs", &others);
    for after in &what_if.after {
        let before = what_if.before.iter().find(|before| before.objective == after.objective);
        let ratio = |bound: &BoundPicture| bound.ratio.map_or("-".into(), |ratio| format!("{ratio:.3}"));
        let (name, plan, best) = (after.objective.replace('_', " "), span(after.plan), ratio(after));
        text += &match before {
            Some(before) => format!(
                "{name}: {plan}, and {} without the new jobs; at most {best} times the best possible, and {} without the \
                 new jobs\n",
                span(before.plan),
                ratio(before),
            ),
            // Without the new jobs, no job waits.
            None => format!("{name}: {plan}; at most {best} times the best possible\n"),
        };
    }
    text + &note(&what_if.waiting, &what_if.ranges)
}
