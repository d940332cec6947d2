//! Decides which job's output is printed next.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use makespan_core::TaskId;

use super::copy::{CopiedPart, CopyError, Stream, Style, copy, streams};
use crate::output::{complain, shown};

/// The names of the files with the output of a job.
pub struct Output {
    pub task: TaskId,
    /// Stem of the names of the files.
    pub stem: String,
    /// The files of the job's standard output and standard error.
    pub files: [PathBuf; 2],
    /// Text before each line.
    pub tag: Option<String>,
}

/// The printer of outputs.
pub struct Prints {
    streams: [Stream; 2],
    /// True if lines are printed while their job is running.
    lines: bool,
    /// The tasks whose outputs must still be printed. `None` if outputs are not printed in the order of the list.
    order: Option<BTreeSet<TaskId>>,
    /// The outputs of ended jobs that wait until the outputs of earlier jobs in the list are printed.
    ended: BTreeMap<TaskId, Output>,
    /// The outputs of running jobs. Empty unless lines are printed while their job is running.
    running: BTreeMap<TaskId, Output>,
    /// The printed parts of each task's standard output and standard error.
    printed: BTreeMap<TaskId, [CopiedPart; 2]>,
    /// Stems and sizes of the printed outputs that [`Prints::take_printed`] has not returned yet.
    done: Vec<(String, [u64; 2])>,
}

/// The reason why no more outputs are printed.
pub enum ClosedOutput {
    /// The reader of standard output has closed the pipe.
    ByReader,
    /// Standard output cannot be written.
    ByError(io::Error),
}

impl Prints {
    pub fn new(keep_order: bool, lines: bool) -> io::Result<Self> {
        let (ended, running, printed) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Ok(Self {
            streams: streams()?,
            lines,
            order: keep_order.then(BTreeSet::new),
            ended,
            running,
            printed,
            done: Vec::new(),
        })
    }

    /// Sets the tasks whose outputs must be printed. Does nothing unless outputs are printed in the order of the list.
    pub fn open(&mut self, tasks: Vec<TaskId>) {
        if let Some(order) = &mut self.order {
            order.extend(tasks);
        }
    }

    /// Registers the output of a started attempt. Does nothing unless lines are printed while their job is running.
    pub fn start(&mut self, output: Output) {
        if self.lines {
            if let Some(printed) = self.printed.get_mut(&output.task) {
                *printed = parts_of(&output, *printed);
            }
            self.running.insert(output.task, output);
        }
    }

    /// Prints the rest of the output of an attempt that a new attempt replaces. Does nothing if outputs of earlier
    /// jobs in the list must be printed first.
    pub fn replace(&mut self, output: &Output) -> Result<(), ClosedOutput> {
        let has_turn = self.order.as_ref().is_none_or(|order| order.first() == Some(&output.task));
        // The attempt may have failed before the message about its start arrives.
        self.running.remove(&output.task);
        if !has_turn {
            return Ok(());
        }
        // The printed lines may be lines of the new attempt, whose files have the names of the previous files.
        let known = self.printed.remove(&output.task).unwrap_or_default();
        self.printed.insert(output.task, parts_of(output, known));
        let printed = self.print(output, true);
        self.done.pop();
        self.printed.insert(output.task, known);
        printed
    }

    /// Prints the output of a job that has ended. If outputs of earlier jobs in the list must be printed first, stores
    /// the output.
    pub fn end(&mut self, output: Output) -> Result<(), ClosedOutput> {
        self.running.remove(&output.task);
        if self.order.is_none() {
            return self.print(&output, true);
        }
        self.ended.insert(output.task, output);
        self.advance()
    }

    /// Removes a job without output from the order, so that outputs of later jobs do not wait for this job.
    pub fn skip(&mut self, task: TaskId) -> Result<(), ClosedOutput> {
        self.running.remove(&task);
        if let Some(order) = &mut self.order {
            order.remove(&task);
        }
        self.advance()
    }

    /// Returns true if running jobs may have new lines to print. The caller must then call [`Prints::follow`]
    /// repeatedly.
    pub fn follows(&self) -> bool {
        !self.running.is_empty()
    }

    /// Prints the new lines of running jobs. If the order of the list is kept, prints only the lines of the first job
    /// whose output is not complete.
    pub fn follow(&mut self) -> Result<(), ClosedOutput> {
        let first = self.order.as_ref().map(|order| order.first().copied());
        let running = std::mem::take(&mut self.running);
        let mut followed = running.values().filter(|output| first.is_none_or(|first| first == Some(output.task)));
        let printed = followed.try_for_each(|output| self.print(output, false));
        self.running = running;
        printed
    }

    /// Returns the stems and sizes of the outputs that were printed since the last call.
    pub fn take_printed(&mut self) -> Vec<(String, [u64; 2])> {
        std::mem::take(&mut self.done)
    }

    /// Prints the outputs that still wait for outputs of earlier jobs in the list. If the run was stopped, prints a
    /// note instead. A later session then runs the missing jobs and prints all outputs in order.
    pub fn finish(&mut self, stopped: bool) -> Result<(), ClosedOutput> {
        self.follow()?;
        let ended = std::mem::take(&mut self.ended);
        if stopped && !ended.is_empty() {
            let text = "outputs wait for the outputs of jobs before them; --resume prints them in order";
            complain(&format!("note: {text}: {}", ended.len()));
            return Ok(());
        }
        ended.values().try_for_each(|output| self.print(output, true))
    }

    /// Ends an unfinished line on standard error before Makespan prints its own line there.
    pub fn end_line(&mut self) {
        // Errors are ignored, because standard error may be closed.
        let _ = self.streams[1].end_line(true);
    }

    /// Prints stored outputs in the order of the list, up to the first output that is missing.
    fn advance(&mut self) -> Result<(), ClosedOutput> {
        while let Some(order) = &mut self.order
            && let Some(first) = order.first().copied()
            && let Some(output) = self.ended.remove(&first)
        {
            order.remove(&first);
            self.print(&output, true)?;
        }
        Ok(())
    }

    fn print(&mut self, output: &Output, ended: bool) -> Result<(), ClosedOutput> {
        let mut printed = self.printed.remove(&output.task).unwrap_or_default();
        let style = Style { tag: output.tag.as_deref(), lines: self.lines, ended };
        for ((path, at), (index, stream)) in
            output.files.iter().zip(&mut printed).zip(self.streams.iter_mut().enumerate())
        {
            match copy(path, *at, style, stream) {
                Ok(next) => *at = next,
                Err(CopyError::Write(error)) if index == 0 => {
                    return Err(match error.kind() {
                        ErrorKind::BrokenPipe => ClosedOutput::ByReader,
                        _ => ClosedOutput::ByError(error),
                    });
                }
                // The reader of standard error has closed the pipe.
                Err(CopyError::Write(_)) => {}
                // A running job may not have output files yet.
                Err(CopyError::Read(_)) if !ended => {}
                Err(CopyError::Read(error)) => {
                    let name = path.display().to_string();
                    complain(&format!("note: cannot print {}: {error}", shown(&name)));
                }
            }
        }
        if ended {
            self.done.push((output.stem.clone(), printed.map(|part| part.bytes)));
        } else {
            self.printed.insert(output.task, printed);
        }
        Ok(())
    }
}

/// Returns the printed parts that belong to the files of an output. The other parts become empty.
fn parts_of(output: &Output, printed: [CopiedPart; 2]) -> [CopiedPart; 2] {
    let [out, err] = &output.files;
    [printed[0].of(out), printed[1].of(err)]
}
