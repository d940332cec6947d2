//! The option `--scratch`: each task runs in its own folder on the disk of its node.

use makespan_core::Instance;
use makespan_exec::Scratch;
use makespan_formats::read_task_files;
use miette::{Result, miette};

use super::source;
use crate::args::{RunOptions, STANDARD_INPUT};

/// Returns the files of each task to copy to its node and back. Returns `None` without the option `--scratch`.
pub fn scratch(options: &RunOptions, instance: &Instance) -> Result<Option<Scratch>> {
    let Some(folder) = &options.scratch else { return Ok(None) };
    let name = options.source.name();
    let refused = |why: &str| {
        miette!(
            "{name}: {why}, so --scratch would copy no files; write the workflow as WfFormat, with inputFiles and \
             outputFiles for each task, or remove --scratch"
        )
    };
    if source::is_asked(&options.source) {
        return Err(refused("make, ninja and Snakemake use the files in their own folder to decide which jobs run"));
    }
    let Some(path) = options.source.instance.as_ref() else {
        return Err(refused("a single command states no input and output files"));
    };
    if path.as_os_str() == STANDARD_INPUT {
        return Err(miette!("--scratch: a workflow on standard input cannot be read twice; name its file"));
    }
    let files = read_task_files(path).map_err(|error| miette!("{error}"))?;
    let files = files.filter(|files| files.values().any(|files| !files.reads.is_empty() || !files.writes.is_empty()));
    let Some(mut files) = files else {
        return Err(refused("the workflow names no files that its tasks read or write"));
    };
    let of = |task| files.remove(&*instance.short_name(task)).map(|files| (task, (files.reads, files.writes)));
    let files = instance.task_ids().filter_map(of).collect();
    let home = std::env::current_dir().map_err(|error| miette!("cannot find the current folder: {error}"))?;
    let home = home.into_os_string().into_string();
    let home =
        home.map_err(|home| miette!("{}: the name of this file is not UTF-8; rename the file", home.display()))?;
    Scratch::new(folder.clone(), home, files).map(Some).map_err(|problem| miette!("--scratch: {problem}"))
}
