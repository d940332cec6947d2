//! `makespan reproduce`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::ProgressBar;
use makespan_lab::campaign::{Instances, Progress};
use makespan_lab::trees::Reading;
use makespan_lab::{LabError, critical_jobs, demt, hierarchical, mapping, optimiser, ptfs, trees};
use miette::{Result, miette};

use crate::args::{
    CriticalJobsOptions, DemtOptions, HierarchicalOptions, LimitOrNone, MappingOptions, OptimiserOptions, Paper,
    PtfsOptions, ReproduceOptions, TreesOptions,
};
use crate::commands::compare::split;
use crate::output::emit;
use crate::progress::bar;

/// Where the files of the mapping benchmark are looked for.
const BENCHMARK: &str = "../shared/data/etc";
/// Where the standard task graphs are looked for.
const STANDARD: &str = "../shared/data/stg";

pub fn reproduce(options: &ReproduceOptions) -> Result<ExitCode> {
    match options.paper {
        Paper::Demt(ref options) => reproduce_demt(options)?,
        Paper::Optimiser(ref options) => reproduce_optimiser(options)?,
        Paper::Hierarchical(ref options) => reproduce_hierarchical(options)?,
        Paper::Trees(ref options) => reproduce_trees(options)?,
        Paper::Mapping(ref options) => reproduce_mapping(options)?,
        Paper::Ptfs(ref options) => reproduce_ptfs(options)?,
        Paper::CriticalJobs(ref options) => reproduce_critical_jobs(options)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn reproduce_demt(options: &DemtOptions) -> Result<()> {
    let DemtOptions { output, runs, families, jobs, processors, algorithms, seed, threads } = options;
    let instances = Instances {
        seed: *seed,
        families: families.clone(),
        sizes: jobs.clone(),
        processors: *processors,
        runs: *runs,
    };
    let paper = demt::Options::paper(output);
    let algorithms = algorithms.as_ref().map_or(paper.algorithms, |list| split(list));
    let campaign = demt::Options { instances, algorithms, threads: *threads, output: output.clone() };
    told("instances", output, |bar| {
        let summary = demt::reproduce(&campaign, bar)?;
        Ok((summary.text, summary.runs, summary.reused))
    })
}

fn reproduce_optimiser(options: &OptimiserOptions) -> Result<()> {
    let OptimiserOptions { output, runs, families, jobs, limits, searches, at_once, seed } = options;
    let instances =
        Instances { seed: *seed, families: families.clone(), sizes: jobs.clone(), ..Instances::paper(*runs) };
    let campaign = optimiser::Options {
        output: output.clone(),
        instances,
        limits: limits.clone(),
        searches: *searches,
        at_once: *at_once,
    };
    told("plans", output, |bar| {
        let summary = optimiser::reproduce(&campaign, bar)?;
        Ok((summary.text, summary.runs, summary.reused))
    })
}

fn reproduce_hierarchical(options: &HierarchicalOptions) -> Result<()> {
    let HierarchicalOptions { output, runs, processors_per_node, nodes, searches, at_once, seed, .. } = options;
    let campaign = hierarchical::Options {
        output: output.clone(),
        seed: *seed,
        populations: options.families.clone(),
        each: processors_per_node.clone(),
        nodes: nodes.clone(),
        jobs_per_node: options.jobs_per_node.clone(),
        runs: *runs,
        limits: options.limits.iter().filter_map(|&LimitOrNone(limit)| limit).collect(),
        searches: *searches,
        at_once: *at_once,
    };
    told("instances", output, |bar| {
        let summary = hierarchical::reproduce(&campaign, bar)?;
        Ok((summary.text, summary.runs, summary.reused))
    })
}

fn reproduce_trees(options: &TreesOptions) -> Result<()> {
    let TreesOptions { output, trees: each, tasks, applications, unit, latency, data, alone, threads, seed } = options;
    let campaign = trees::Options {
        output: output.clone(),
        seed: *seed,
        trees: *each,
        tasks: *tasks,
        reading: Reading { applications: *applications, unit: *unit, latency: *latency, data: *data },
        alone: *alone,
        threads: *threads,
    };
    told("instances", output, |bar| {
        let summary = trees::reproduce(&campaign, bar)?;
        Ok((summary.text, summary.runs, summary.reused))
    })
}

fn reproduce_ptfs(options: &PtfsOptions) -> Result<()> {
    let PtfsOptions { output, tasks, sizes, rates, swings, runs, threads, seed } = options;
    let campaign = ptfs::Options {
        output: output.clone(),
        seed: *seed,
        tasks: *tasks,
        sizes: sizes.clone(),
        rates: rates.clone(),
        swings: swings.clone(),
        runs: *runs,
        threads: *threads,
    };
    told("flows", output, |bar| {
        let summary = ptfs::reproduce(&campaign, bar)?;
        Ok((summary.text, summary.runs, summary.reused))
    })
}

fn reproduce_critical_jobs(options: &CriticalJobsOptions) -> Result<()> {
    let CriticalJobsOptions { output, graphs, flows, jobs, threads, seed, .. } = options;
    let makespans = critical_jobs::makespans::Options {
        graphs: options.makespan_graphs,
        limits: options.time.iter().filter_map(|&LimitOrNone(limit)| limit).collect(),
        searches: options.searches,
        at_once: options.at_once,
        standard: options.data.clone().or_else(|| present(STANDARD)),
    };
    let campaign = critical_jobs::Options {
        output: output.clone(),
        graphs: *graphs,
        flows: *flows,
        jobs: *jobs,
        threads: *threads,
        seed: *seed,
        makespans,
    };
    told("instances", output, |bar| {
        let summary = critical_jobs::reproduce(&campaign, bar)?;
        Ok((summary.text, summary.runs, summary.reused))
    })
}

fn reproduce_mapping(options: &MappingOptions) -> Result<()> {
    let MappingOptions { output, data, classes, seeds, tasks, machines, searches, at_once, seed, .. } = options;
    let campaign = mapping::Options {
        output: output.clone(),
        data: data.clone().or_else(|| present(BENCHMARK)),
        seed: *seed,
        classes: if classes.is_empty() { mapping::Class::all() } else { classes.clone() },
        seeds: *seeds,
        tasks: *tasks,
        machines: *machines,
        limits: options.time.iter().filter_map(|&LimitOrNone(limit)| limit).collect(),
        searches: *searches,
        at_once: *at_once,
    };
    told("matrices", output, |bar| {
        let summary = mapping::reproduce(&campaign, bar)?;
        Ok((summary.text, summary.runs, summary.reused))
    })
}

/// A folder, if it is there.
fn present(folder: &str) -> Option<PathBuf> {
    Some(Path::new(folder)).filter(|folder| folder.is_dir()).map(Path::to_owned)
}

/// Runs a campaign with a progress bar, and prints its text, how many runs it has and how many of them it found done.
fn told(
    unit: &'static str,
    output: &Path,
    campaign: impl FnOnce(&mut Bar) -> std::result::Result<(String, usize, usize), LabError>,
) -> Result<()> {
    let mut progress = Bar(bar(0, unit));
    let (text, runs, reused) = campaign(&mut progress).map_err(|error| miette!("{error}"))?;
    progress.0.finish_and_clear();
    let (text, output) = (text.trim_end(), output.display());
    emit(&format!("{text}\n\n{runs} {unit} ({reused} from an earlier campaign); the results are in {output}\n"))
}

struct Bar(ProgressBar);

impl Progress for Bar {
    fn started(&mut self, total: usize, reused: usize) {
        self.0.set_length(total as u64);
        self.0.set_position(reused as u64);
    }

    fn finished(&mut self, done: usize, _total: usize) {
        self.0.set_position(done as u64);
    }
}
