//! Reads an ETC matrix.

use std::io::{BufRead, Read};

use makespan_core::{Instance, Job, Platform, Profile, Time, counted};

use super::CANNOT;
use crate::error::{FilePlace, FormatError};
use crate::numbers::tokens;

/// Maximum length of a line in bytes, sufficient for the times of a task on the largest platform.
const LONGEST_LINE: u64 = 1 << 29;
/// Maximum capacity that is allocated from the size in the header, because this size may be wrong.
const FIRST_CAPACITY: usize = 4096;

/// Options for reading a matrix.
#[derive(Clone, Copy, Debug, Default)]
pub struct EtcReadOptions {
    /// Number of machines, for a matrix with a single column and without a header.
    pub machines: Option<u32>,
    /// True if a time of zero is an error, and false if zero is read as one tick.
    pub strict: bool,
}

/// Reads a decompressed matrix. Returns the instance, and remarks for the user. `file` is the file name for errors.
///
/// A first line of two or three whole numbers is a header: the number of tasks, the number of machines, and optionally
/// the class of the matrix. The class (0 consistent, 1 semi-consistent, 2 inconsistent) is ignored, because the
/// published sets of 512 tasks on 16 machines state 0 for all classes. After a header, the times follow task by task,
/// and line breaks have no meaning. Without a header, each line is a task. A single column without a header contains
/// the times task by task, for the number of machines in `options`.
///
/// # Errors
/// [`FormatError`] with the line of the error.
pub fn read_etc(
    file: &str,
    input: &mut dyn BufRead,
    options: &EtcReadOptions,
) -> Result<(Instance, Vec<String>), FormatError> {
    let EtcReadOptions { machines: stated, strict } = *options;
    let mut reader =
        Reader { file, line: 0, stated, strict, layout: None, jobs: Vec::new(), row: Vec::new(), zeros: Vec::new() };
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = input.take(LONGEST_LINE).read_until(b'\n', &mut bytes);
        if read.map_err(|source| FormatError::io(file, "read", source))? == 0 {
            return reader.finish();
        }
        reader.line += 1;
        if bytes.len() as u64 == LONGEST_LINE {
            return Err(reader.wrong(&format!("the line is longer than {LONGEST_LINE} bytes")));
        }
        let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        reader.take(content)?;
    }
}

/// Arrangement of the numbers in a matrix.
#[derive(Clone, Copy, Debug)]
struct Layout {
    machines: usize,
    /// Number of tasks, if a header states it.
    tasks: Option<usize>,
    /// True if each line is a task.
    by_line: bool,
}

struct Reader<'a> {
    file: &'a str,
    line: usize,
    /// Number of machines that the user states.
    stated: Option<u32>,
    strict: bool,
    layout: Option<Layout>,
    /// Tasks that are complete.
    jobs: Vec<Job>,
    /// Times of the current task so far.
    row: Vec<Time>,
    /// Numbers of the lines in which a time is printed as 0. The real time is too short for the printed digits.
    zeros: Vec<usize>,
}

impl Reader<'_> {
    fn take(&mut self, line: &[u8]) -> Result<(), FormatError> {
        let layout = match self.layout {
            Some(layout) => layout,
            None if tokens(line).next().is_none() => return Ok(()),
            None => {
                let (layout, is_header) = self.layout_of(line)?;
                self.layout = Some(layout);
                if is_header {
                    return Ok(());
                }
                layout
            }
        };
        let before = self.row.len();
        let mut count = 0;
        for token in tokens(line) {
            count += 1;
            let time = self.time(token)?;
            self.push(time, layout)?;
        }
        if layout.by_line && count != 0 && (count != layout.machines || before != 0) {
            let machines = layout.machines;
            return Err(self.wrong(&format!(
                "the line has {count} times, but the first line has {machines}; give each task one time for each \
                 machine"
            )));
        }
        Ok(())
    }

    /// Returns the layout that the first line indicates, and true if the first line is a header.
    fn layout_of(&self, line: &[u8]) -> Result<(Layout, bool), FormatError> {
        let machines = tokens(line).count();
        let whole: Vec<Option<usize>> = tokens(line).take(4).map(number).collect();
        let header = |tasks, machines| Ok((Layout { machines, tasks: Some(tasks), by_line: false }, true));
        match (whole.as_slice(), self.stated) {
            (&[_], Some(0)) => Err(self.wrong("--processors states 0 machines; state at least 1")),
            (&[_], Some(stated)) => {
                let machines = stated as usize;
                Ok((Layout { machines, tasks: None, by_line: false }, false))
            }
            (_, Some(_)) => Err(self.wrong(
                "--processors is allowed only for a matrix of a single column, but this matrix has a column for each \
                 machine; remove --processors",
            )),
            (&[_], None) => Err(self.wrong(
                "the matrix has only one column and no header; state the number of machines with --processors, or add \
                 a first line with the numbers of tasks and machines",
            )),
            (
                &([Some(0), Some(_)]
                | [Some(_), Some(0)]
                | [Some(0), Some(_), Some(0..=2)]
                | [Some(_), Some(0), Some(0..=2)]),
                None,
            ) => Err(self.wrong("the first line states 0 tasks or 0 machines; both must be at least 1")),
            (&[Some(tasks), Some(machines)] | &[Some(tasks), Some(machines), Some(0..=2)], None) => {
                header(tasks, machines)
            }
            (_, None) => Ok((Layout { machines, tasks: None, by_line: true }, false)),
        }
    }

    fn time(&mut self, token: &[u8]) -> Result<Time, FormatError> {
        let text = String::from_utf8_lossy(token);
        if text.eq_ignore_ascii_case(CANNOT) {
            return Ok(Profile::CANNOT_RUN);
        }
        let time = Time::parse(&text).map_err(|error| self.wrong(&error.to_string()))?;
        if time == Time::ZERO {
            if self.strict {
                return Err(self.wrong(&format!(
                    "the time is `{text}`, which --strict does not allow; without --strict, it is read as one \
                     nanosecond"
                )));
            }
            self.zeros.push(self.line);
        }
        if time < Profile::CANNOT_RUN {
            return Ok(time.max(Time::TICK));
        }
        Err(self.wrong(&format!(
            "the time `{text}` is above the maximum of 146 years; write `inf` for a machine that cannot run a task"
        )))
    }

    fn push(&mut self, time: Time, layout: Layout) -> Result<(), FormatError> {
        if let Some(tasks) = layout.tasks.filter(|&tasks| self.jobs.len() == tasks) {
            let machines = layout.machines;
            return Err(self.wrong(&format!(
                "the matrix has more times than the first line announces ({} on {})",
                counted(tasks, "task"),
                counted(machines, "machine")
            )));
        }
        if self.row.is_empty() {
            self.row.reserve(layout.machines.min(FIRST_CAPACITY));
        }
        self.row.push(time);
        if self.row.len() == layout.machines {
            let row = std::mem::take(&mut self.row);
            let job = self.job(row)?;
            self.jobs.push(job);
        }
        Ok(())
    }

    fn job(&self, row: Vec<Time>) -> Result<Job, FormatError> {
        let task = self.jobs.len();
        let profile = Profile::on_machines(row).map_err(|error| self.wrong(&format!("task {task}: {error}")))?;
        Ok(Job::new(format!("t{task}"), profile))
    }

    fn finish(self) -> Result<(Instance, Vec<String>), FormatError> {
        let missing = |problem: &str| Err(FormatError::content(self.file, FilePlace::default(), problem));
        let Some(layout) = self.layout else { return missing("the matrix is empty") };
        let machines = layout.machines;
        if !self.row.is_empty() || layout.tasks.is_some_and(|tasks| tasks != self.jobs.len()) {
            return missing(&few(layout, self.jobs.len() * machines + self.row.len()));
        }
        let remarks = self.zeros.first().map(|line| {
            let count = self.zeros.len();
            format!("times of 0: {count} (the first on line {line}); each is read as one nanosecond")
        });
        let wrong = |problem: &dyn std::fmt::Display| FormatError::content(self.file, FilePlace::default(), problem);
        let platform = Platform::cluster(u32::try_from(machines).unwrap_or(u32::MAX), 1).map_err(|e| wrong(&e))?;
        let instance = Instance::new(platform, self.jobs, Vec::new()).map_err(|error| wrong(&error))?;
        Ok((instance, remarks.into_iter().collect()))
    }

    fn wrong(&self, problem: &str) -> FormatError {
        FormatError::content(self.file, FilePlace::line(self.line), problem)
    }
}

/// Returns the error message for a matrix that has `have` times instead of the required number.
fn few(layout: Layout, have: usize) -> String {
    let machines = layout.machines;
    match layout.tasks {
        Some(tasks) => format!(
            "the first line announces {} on {}, but {have} times follow; give one time for each task and machine (if \
             this line is the first task, add a line with the numbers of tasks and machines before it)",
            counted(tasks, "task"),
            counted(machines, "machine")
        ),
        None => format!("the number of times, {have}, is not a multiple of the number of machines, {machines}"),
    }
}

/// Reads a whole number of a header.
fn number(token: &[u8]) -> Option<usize> {
    std::str::from_utf8(token).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}
