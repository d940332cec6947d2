//! A comparison that is split into shards. Each shard computes the plans of some algorithms. The folder holds the
//! instance and a file for each algorithm.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use makespan::{Front, Plan};
use makespan_core::tree::TreeProblem;
use makespan_core::{Instance, fingerprint};
use makespan_formats::schedule::ScheduleFile;
use makespan_formats::{Language, ReadOptions, read_instance, write_instance};
use miette::{Result, miette};
use serde_json::{Value, json};

use super::{Outcome, Row, outcome, specs};
use crate::args::{Arguments, Command, CompareOptions, ShardCommand};
use crate::commands::shards::{self, SHARDS, Shard, ShardPlan, ShardWork, build};
use crate::output::{shown, write_file};

/// Name of the file with the instance. The options of the command line are already applied to this instance.
const INSTANCE: &str = "instance.json";

/// Name of this program on its command line.
const PROGRAM: &str = "makespan";

/// JSON key of the identity of a comparison. The identity is a text with all inputs that determine the results.
const IDENTITY: &str = "identity";

/// Computes the outcomes of all algorithms in shards. Returns `None` if the user stopped the shards.
pub fn outcomes(options: &CompareOptions, instance: &Instance, specs: &[String]) -> Result<Option<Vec<Outcome>>> {
    if TreeProblem::is_meant(instance) {
        return Err(miette!("bags of tasks on a tree can be compared only on this machine; remove --on and --shards"));
    }
    if let Some(wrong) = specs.iter().find_map(|spec| makespan::scheduler(spec).err()) {
        return Err(miette!("{wrong}"));
    }
    let folder = options.folder.clone().unwrap_or_else(|| usual(options.input.path()));
    if folder.exists() && !folder.is_dir() {
        return Err(miette!("{} is a file; name a folder with --folder", shown(&folder.display().to_string())));
    }
    let identity = identity(options, instance, specs)?;
    let parts: Vec<PathBuf> = (0..specs.len()).map(|index| part(&folder, index)).collect();
    let work = ShardWork {
        folder: &folder,
        identity: identity.clone(),
        parts: specs.len(),
        processors: 1,
        option: "--folder",
    };
    shards::refuse_other(&work)?;
    if !parts.iter().all(|part| is_done(part, &identity)) {
        keep(instance, &folder)?;
        if !shards::carry_out(&work, &options.shards)? {
            return Ok(None);
        }
    }
    parts.iter().map(|part| read(part, instance)).collect::<Result<_>>().map(Some)
}

/// Computes one shard of a comparison (`makespan shard`).
pub fn shard(options: &ShardCommand) -> Result<ExitCode> {
    let folder = &options.folder;
    shards::shard(options, |plan, shard| {
        let words = std::iter::once(PROGRAM).chain(plan.words.iter().map(String::as_str));
        match Arguments::try_parse_from(words).map(|arguments| arguments.command) {
            Ok(Command::Compare(options)) => work(&options, plan, folder, shard),
            _ => Err(shards::not_split(folder)),
        }
    })
}

/// Computes the plans of a shard's algorithms that have no result yet.
fn work(options: &CompareOptions, plan: &ShardPlan, folder: &Path, shard: Shard) -> Result<()> {
    let instance = kept(folder)?;
    let specs = specs(options, &instance);
    let identity = identity(options, &instance, &specs)?;
    plan.is_of(&identity, folder)?;
    for (index, spec) in specs.iter().enumerate().skip(shard.index).step_by(shard.count) {
        let path = part(folder, index);
        if !is_done(&path, &identity) {
            let mut file = match outcome(options, &instance, spec)? {
                Ok(row) => written(&row, &instance)?,
                Err(reason) => json!({"left_out": reason}),
            };
            file[IDENTITY] = identity.clone().into();
            write_file(&path, |out| writeln!(out, "{file}"))?;
        }
    }
    Ok(())
}

fn usual(instance: &Path) -> PathBuf {
    let stem = instance.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    format!("compare-{}", stem.filter(|stem| stem != "-").unwrap_or_else(|| "stdin".into())).into()
}

fn identity(options: &CompareOptions, instance: &Instance, specs: &[String]) -> Result<String> {
    let build = build().map_err(|error| miette!("the running program: {error}"))?;
    let named = if options.algorithms.is_some() { "named" } else { "all" };
    Ok(format!(
        "compare; build {build:016x}; seed {}; {named}: {}; instance {}",
        options.seed,
        specs.join(" "),
        fingerprint(instance)
    ))
}

/// Returns the file for the outcome of an algorithm.
fn part(folder: &Path, index: usize) -> PathBuf {
    folder.join(SHARDS).join(format!("{index:04}.json"))
}

/// Returns true if the file contains the outcome of an algorithm for this comparison.
fn is_done(path: &Path, identity: &str) -> bool {
    let file = fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    file.is_some_and(|file| file[IDENTITY] == identity)
}

/// Writes the instance for the shards, unless the file exists. Checks that reading the file gives the same instance.
fn keep(instance: &Instance, folder: &Path) -> Result<()> {
    let path = folder.join(SHARDS).join(INSTANCE);
    let is_same = || kept(folder).is_ok_and(|kept| fingerprint(&kept) == fingerprint(instance));
    if path.exists() && is_same() {
        return Ok(());
    }
    fs::create_dir_all(folder.join(SHARDS))
        .map_err(|error| miette!("{}: cannot make the folder: {error}", shown(&folder.display().to_string())))?;
    write_file(&path, |out| write_instance(instance, Language::Json, out))?;
    if is_same() {
        return Ok(());
    }
    Err(miette!("{}: the instance differs when it is read again, which is a defect of Makespan", path.display()))
}

fn kept(folder: &Path) -> Result<Instance> {
    let read = read_instance(&folder.join(SHARDS).join(INSTANCE), &ReadOptions::default());
    read.map(|read| read.instance).map_err(|error| miette!("{error}"))
}

fn written(row: &Row, instance: &Instance) -> Result<Value> {
    let mut plan = Vec::new();
    if let Some(schedule) = row.plan.schedule() {
        let file = ScheduleFile::new(instance, row.algorithm.clone(), schedule.clone());
        file.write(instance, &mut plan).map_err(|error| miette!("{error}"))?;
    }
    Ok(json!({
        "algorithm": row.algorithm,
        "seconds": row.seconds,
        "for_cost": row.for_cost,
        "plan": String::from_utf8_lossy(&plan),
    }))
}

fn read(path: &Path, instance: &Instance) -> Result<Outcome> {
    let name = path.display().to_string();
    let wrong = || miette!("{}: this file is not a part of a comparison; remove it", shown(&name));
    let bytes = fs::read(path).map_err(|error| miette!("{}: {error}", shown(&name)))?;
    let file: Value = serde_json::from_slice(&bytes).map_err(|_| wrong())?;
    if let Some(reason) = file["left_out"].as_str() {
        return Ok(Err(reason.to_owned()));
    }
    let text = |name: &str| file[name].as_str().ok_or_else(wrong);
    let plan = text("plan")?;
    let schedule = if plan.is_empty() {
        // A front without points is a plan without a schedule.
        Plan::from(Front::new(instance, Vec::new()))
    } else {
        ScheduleFile::read(&name, plan.as_bytes(), instance).map_err(|error| miette!("{error}"))?.schedule.into()
    };
    Ok(Ok(Row {
        algorithm: text("algorithm")?.to_owned(),
        plan: schedule,
        seconds: file["seconds"].as_f64().ok_or_else(wrong)?,
        for_cost: file["for_cost"].as_bool().ok_or_else(wrong)?,
    }))
}
