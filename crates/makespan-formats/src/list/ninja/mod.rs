//! Finds the jobs that `ninja` would run, from the output of a dry run and of `ninja -t graph`.
//!
//! Ninja decides which edges are out of date. Each of these edges becomes a job. The words of the job state the
//! command and the bindings of the edge.

mod build_log;
mod depfile;
mod deps_log;
mod dry;
mod graph;
mod manifest;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use makespan_core::{Estimate, Instance, Job, Need, Needs, Platform, Profile, Resources, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{FilePlace, FormatError};
use crate::guess::guessed;
pub use build_log::{BuildLog, BuildLogEntry, BuildLogVersion};
pub use depfile::depfile_inputs;
pub use deps_log::DepsLog;
use dry::{DirtyEdge, dirty_edges};
pub use dry::{dirty_depfiles, dirty_outputs};
use graph::BuildGraph;
pub use manifest::ManifestCopy;

/// Maximum length of a word of a command in bytes. Linux allows 128 KiB.
const MAX_WORD: usize = 100_000;

/// Maximum length of a command in bytes. Linux allows 2 MiB with the usual limit of the stack.
const MAX_COMMAND: usize = 1 << 20;

/// Output of ninja, and the logs that ninja reads.
#[derive(Clone, Copy, Debug)]
pub struct NinjaOutput<'a> {
    /// The manifest, for messages.
    pub file: &'a str,
    /// Output of a dry run of a [`ManifestCopy`].
    pub dry: &'a str,
    /// Output of `ninja -t graph` for all targets.
    pub graph: &'a str,
    /// Depth of each pool.
    pub pools: &'a FxHashMap<String, u64>,
    /// Text of `.ninja_log`.
    pub log: &'a str,
    /// Content of `.ninja_deps`.
    pub deps: &'a DepsLog<'a>,
    /// First words of the command of each job. They name the folder and the logs of the build.
    pub words: &'a [String],
}

/// Files of a build, relative to the folder in which ninja runs.
pub trait BuildFiles {
    /// Returns the content of a file, or `None` if it cannot be read.
    fn read(&self, file: &str) -> Option<Vec<u8>>;
    /// Returns the modification time of a file in nanoseconds since 1970, or 0 if the file does not exist.
    fn mtime(&self, file: &str) -> i64;
}

/// Returns the edges that ninja would run, each as a job that waits for other jobs. Returns `None` if nothing is out of
/// date.
///
/// # Errors
/// [`FormatError`] if the output of ninja is not as expected, if an edge needs a part of ninja that is not supported, or if
/// the edges are not a valid instance.
pub fn read_ninja(
    asked: NinjaOutput<'_>,
    platform: &Platform,
    files: &dyn BuildFiles,
) -> Result<Option<Instance>, FormatError> {
    let wrong = |problem: String| FormatError::content(asked.file, FilePlace::default(), problem);
    let dirty = dirty_edges(asked.dry).ok_or_else(|| {
        wrong("an edge has no explicit output, or ninja printed an incomplete edge; run `ninja` instead".into())
    })?;
    if dirty.is_empty() {
        return Ok(None);
    }
    let graph = BuildGraph::read(asked.graph)
        .ok_or_else(|| wrong("the graph that ninja printed is incomplete; run `ninja` instead".into()))?;
    let numbers: FxHashMap<usize, usize> =
        (0..).zip(&dirty).filter_map(|(job, edge)| Some((graph.producer(&edge.output)?, job))).collect();
    if numbers.len() != dirty.len() {
        return Err(wrong("the graph that ninja printed does not contain all edges; run `ninja` instead".into()));
    }
    let (log, mut before) =
        (BuildLog::read(asked.log), JobsBefore { graph: &graph, numbers: &numbers, of: FxHashMap::default() });
    let mut jobs = Vec::with_capacity(dirty.len());
    for edge in &dirty {
        let number = graph.producer(&edge.output).unwrap_or_default();
        let outputs = &graph.edges[number].outputs;
        let mut waits: FxHashSet<usize> = FxHashSet::default();
        for &input in &graph.edges[number].inputs {
            waits.extend(before.of_file(input).iter());
        }
        for input in recorded(edge, outputs, asked.deps, files) {
            waits.extend(before.of_file(&input).iter());
        }
        let mut waits: Vec<usize> = waits.into_iter().filter(|&job| dirty[job].output != edge.output).collect();
        waits.sort_unstable();
        let command =
            command(edge, outputs, asked.words).map_err(|problem| wrong(format!("`{}`: {problem}", edge.output)))?;
        let (profile, estimate) = match log.milliseconds(&edge.output) {
            Some(milliseconds) => {
                let time = Time::from_seconds_f64(milliseconds.max(1) as f64 / 1000.0).unwrap_or(Time::ZERO);
                (Profile::rigid(1, time), Estimate::Learned { runs: 1, spread: 0.0 })
            }
            None => (guessed(1, 1, None, None), Estimate::Guessed),
        };
        let profile = profile.map_err(|error| wrong(error.to_string()))?;
        let job = Job::new(edge.output.as_str(), profile).with_estimate(estimate).with_assumed_core();
        if !edge.pool.is_empty() && !asked.pools.contains_key(edge.pool) {
            return Err(wrong(format!("`{}`: unknown pool name `{}`; declare the pool", edge.output, edge.pool)));
        }
        let needs = pool_of(edge, asked.pools).map(|(name, _)| (name, Need::whole(1)));
        let needs = Needs::new(needs.into_iter().collect::<Vec<_>>()).map_err(|error| wrong(error.to_string()))?;
        let names = waits.into_iter().map(|job| dirty[job].output.as_str());
        jobs.push(job.with_needs(needs).with_literal_command(&command).with_after(names));
    }
    let platform = with_pools(&super::with_needed(platform, |_| false), &dirty, asked.pools);
    let instance =
        platform.and_then(|platform| Instance::new(platform, jobs, Vec::new()).map_err(|error| error.to_string()));
    instance.map(Some).map_err(wrong)
}

/// Finds the jobs that must end before a file is up to date.
struct JobsBefore<'a> {
    graph: &'a BuildGraph<'a>,
    /// For each edge that is out of date, the number of its job.
    numbers: &'a FxHashMap<usize, usize>,
    /// For each visited edge, the jobs that must end before the outputs of the edge are up to date.
    of: FxHashMap<usize, Rc<Vec<usize>>>,
}

impl JobsBefore<'_> {
    fn of_file(&mut self, file: &str) -> Rc<Vec<usize>> {
        let Some(edge) = self.graph.producer(file) else { return Rc::default() };
        // Edges without a job, such as phony edges, can form long chains. Therefore, a stack replaces recursion.
        let (mut open, mut expanded) = (vec![edge], FxHashSet::default());
        while let Some(&edge) = open.last() {
            if self.of.contains_key(&edge) {
                open.pop();
                continue;
            }
            if let Some(&job) = self.numbers.get(&edge) {
                self.of.insert(edge, Rc::new(vec![job]));
                continue;
            }
            let inputs = self.graph.edges[edge].inputs.iter();
            let producers: Vec<usize> = inputs.filter_map(|input| self.graph.producer(input)).collect();
            if expanded.insert(edge) {
                open.extend(producers.iter().filter(|one| !self.of.contains_key(one)));
                continue;
            }
            let known = producers.iter().filter_map(|one| self.of.get(one));
            let mut all: Vec<usize> = known.flat_map(|jobs| jobs.iter().copied()).collect();
            all.sort_unstable();
            all.dedup();
            self.of.insert(edge, Rc::new(all));
        }
        self.of.get(&edge).cloned().unwrap_or_default()
    }
}

/// Returns the files on which an edge depends according to its last run, under the rules of ninja.
fn recorded(edge: &DirtyEdge<'_>, outputs: &[&str], deps: &DepsLog<'_>, files: &dyn BuildFiles) -> Vec<String> {
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    if edge.deps.is_empty() {
        let content = Some(&edge.depfile).filter(|depfile| !depfile.is_empty()).and_then(|depfile| files.read(depfile));
        let inputs = content.and_then(|content| depfile_inputs(&content).ok()).unwrap_or_default();
        return inputs.iter().map(|path| text(path)).collect();
    }
    let Some(output) = outputs.first() else { return Vec::new() };
    match deps.inputs(output) {
        Some((mtime, inputs)) if mtime >= files.mtime(output) => inputs.map(text).collect(),
        _ => Vec::new(),
    }
}

/// Returns the name of the licence for the pool of an edge, and the depth of the pool. A pool with depth 0 has no limit.
fn pool_of(edge: &DirtyEdge<'_>, pools: &FxHashMap<String, u64>) -> Option<(String, u64)> {
    let depth = pools.get(edge.pool).copied().filter(|depth| *depth > 0)?;
    Some((format!("pool {}", edge.pool), depth))
}

/// Adds one licence for each pool that an edge uses.
fn with_pools(
    platform: &Platform,
    dirty: &[DirtyEdge<'_>],
    pools: &FxHashMap<String, u64>,
) -> Result<Platform, String> {
    let used: FxHashMap<String, u64> = dirty.iter().filter_map(|edge| pool_of(edge, pools)).collect();
    let stated = platform.licences().iter().map(|(name, amount)| (name.to_owned(), amount));
    let licences = Resources::new(stated.chain(used).collect::<Vec<_>>()).map_err(|error| error.to_string())?;
    platform.clone().with_licences(licences).map_err(|error| error.to_string())
}

/// Returns the command of the job of an edge.
fn command(edge: &DirtyEdge<'_>, outputs: &[&str], words: &[String]) -> Result<Vec<String>, String> {
    if !matches!(edge.deps, "" | "gcc") {
        return Err(format!("dependencies of the kind `{}` are not supported; run `ninja` instead", edge.deps));
    }
    let mut words = words.to_vec();
    let mut option = |name: &str, value: &str| {
        if !value.is_empty() {
            words.extend([name.to_owned(), value.to_owned()]);
        }
    };
    outputs.iter().for_each(|output| option("--output", output));
    option("--depfile", &edge.depfile);
    option("--rspfile", &edge.rspfile);
    let mut rest = edge.rspfile_content;
    while !rest.is_empty() {
        let end = (0..=rest.len().min(MAX_WORD)).rev().find(|&end| rest.is_char_boundary(end)).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        option("--rspfile-content", part);
        rest = behind;
    }
    let flags = [(!edge.deps.is_empty(), "--deps"), (edge.restat, "--restat"), (edge.generator, "--generator")];
    words.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_owned()));
    words.extend(["--".to_owned(), edge.command.to_owned()]);
    let length: usize = words.iter().map(|word| word.len() + 1).sum();
    if length > MAX_COMMAND {
        return Err(format!(
            "the command and its response file have more than {MAX_COMMAND} bytes; run `ninja` instead"
        ));
    }
    Ok(words)
}
