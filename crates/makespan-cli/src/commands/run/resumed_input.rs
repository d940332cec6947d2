//! Standard input of a resumed run. The input is compared with the jobs of the earlier sessions before any of these
//! jobs is ended or removed from the run.

use makespan_core::Platform;
use makespan_exec::journal::{RecordedRun, UnnamedTasks, grows, task_names};
use miette::{Result, miette};

use super::folder;
use super::record::reads_standard_input;
use super::source::{self, Source};
use super::stream::is_file;
use crate::args::RunOptions;
use crate::output::{complain, shown};

/// Maximum number of jobs that a message names.
const NAMED: usize = 5;

/// Reads the source of a run. Returns `None` if there is nothing to run.
///
/// If a resumed run reads its jobs from a pipe, waits until the input names all jobs of the earlier sessions.
///
/// # Errors
/// Returns an error if the pipe ends before it names all jobs that have not succeeded. An interrupted writer must not
/// end these jobs or remove them from the run.
pub fn read(options: &RunOptions, cluster: Option<&Platform>) -> Result<Option<Source>> {
    let earlier = options.failures.resume.then(|| folder::choose(options).ok()).flatten();
    let names = earlier.as_deref().map_or_else(Vec::new, task_names);
    let grew = earlier.as_deref().and_then(grows);
    let is_pipe = reads_standard_input(&options.source) && !is_file();
    let recorded = earlier.filter(|_| is_pipe).and_then(|folder| RecordedRun::read(&folder).ok());
    let mut begin = source::begin_of_stream(options, grew, &names)?;
    let mut is_told = false;
    loop {
        let text = recorded.as_ref().and(begin.as_ref()).map(|begin| begin.text().to_owned());
        let source = Source::read(&options.source, cluster, &names, begin, grew == Some(true))?;
        let Some(recorded) = &recorded else { return Ok(source) };
        let Some(source) = source else { return Ok(None) };
        let unnamed = recorded.unnamed(&source.loaded.instance);
        match (source.stream, text) {
            (Some(stream), Some(text)) if !unnamed.is_empty() => {
                if !is_told {
                    let jobs = named(unnamed.all());
                    complain(&format!(
                        "waiting until standard input names all jobs of this run; not named yet: {jobs}"
                    ));
                    is_told = true;
                }
                begin = Some(stream.more(text)?);
            }
            (None, _) if !unnamed.unsuccessful.is_empty() => return Err(cut_short(&unnamed)),
            (stream, _) => return Ok(Some(Source { stream, ..source })),
        }
    }
}

/// Returns the error for a pipe that ended before it named all jobs that have not succeeded.
fn cut_short(unnamed: &UnnamedTasks) -> miette::Report {
    let (count, jobs) = (unnamed.unsuccessful.len(), named(unnamed.unsuccessful.iter()));
    let jobs = if count == 1 {
        format!("a job of this run that has not succeeded: {jobs}")
    } else {
        format!("{count} jobs of this run that have not succeeded: {jobs}")
    };
    miette!(
        "standard input ended without {jobs}; no job was started or ended; provide the same input again; to remove jobs \
         from the run, write the list to a file: makespan run - --resume < FILE"
    )
}

/// Returns the first names, separated by commas.
fn named<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let mut names = names.map(|name| format!("`{}`", shown(name)));
    let first: Vec<String> = names.by_ref().take(NAMED).collect();
    first.join(", ") + if names.next().is_some() { " .." } else { "" }
}
