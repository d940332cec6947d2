//! Reads an ETC matrix.

use std::io::{BufRead, Read};

use makespan_core::{Instance, Job, Platform, Profile, Time};

use super::{CANNOT, tokens};
use crate::error::{FormatError, Place};

/// No line is longer: one task on the largest platform.
const LONGEST_LINE: u64 = 1 << 29;
/// The matrix is not believed about its size before it is there.
const FIRST_CAPACITY: usize = 4096;

/// Reads a decompressed matrix; `file` names it in errors.
///
/// A first line of two or three whole numbers is a header: `tasks machines`, and 0 when the numbers follow task by task,
/// as they do without it, or 1 when they follow machine by machine; line ends mean nothing then. Without a header each
/// line is a task. A single column without a header is read task by task, for as many `machines` as are stated.
///
/// # Errors
/// [`FormatError`] with the line.
pub fn read_etc(file: &str, input: &mut dyn BufRead, machines: Option<u32>) -> Result<Instance, FormatError> {
    let mut reader = Reader { file, line: 0, stated: machines, layout: None, jobs: Vec::new(), rows: Vec::new() };
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

/// How the numbers are arranged.
#[derive(Clone, Copy, Debug)]
struct Layout {
    machines: usize,
    /// Where a header says so.
    tasks: Option<usize>,
    machine_major: bool,
    /// Every line is a task.
    by_line: bool,
}

struct Reader<'a> {
    file: &'a str,
    line: usize,
    /// The machines of a column, stated by the user.
    stated: Option<u32>,
    layout: Option<Layout>,
    /// The finished tasks.
    jobs: Vec<Job>,
    /// The tasks that are not finished: one, or all where the order is machine by machine.
    rows: Vec<Vec<Time>>,
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
        let before = self.rows.last().map_or(0, Vec::len);
        let mut count = 0;
        for token in tokens(line) {
            count += 1;
            let time = self.time(token)?;
            self.push(time, layout)?;
        }
        if layout.by_line && count != 0 && (count != layout.machines || before != 0) {
            let machines = layout.machines;
            return Err(self.wrong(&format!(
                "the line has {count} times and the first one has {machines}; every task has one on each machine"
            )));
        }
        Ok(())
    }

    /// What the first line says, and whether it is a header.
    fn layout_of(&self, line: &[u8]) -> Result<(Layout, bool), FormatError> {
        let machines = tokens(line).count();
        let whole: Vec<Option<usize>> = tokens(line).take(4).map(number).collect();
        let header = |tasks, machines, machine_major| {
            Ok((Layout { machines, tasks: Some(tasks), machine_major, by_line: false }, true))
        };
        match (whole.as_slice(), self.stated) {
            (&[_], Some(0)) => Err(self.wrong("0 machines are stated (--processors); there must be at least 1")),
            (&[_], Some(stated)) => {
                let machines = stated as usize;
                Ok((Layout { machines, tasks: None, machine_major: false, by_line: false }, false))
            }
            (_, Some(_)) => Err(self.wrong(
                "a number of processors is stated for SWF logs and single columns only, and this matrix has its own",
            )),
            (&[_], None) => Err(self.wrong(
                "the matrix is one column and has no header; state its machines (--processors), or begin it with a line \
                 `tasks machines`",
            )),
            (&[Some(0), Some(_)] | &[Some(_), Some(0)], None) => {
                Err(self.wrong("the first line states no tasks or no machines; both must be at least 1"))
            }
            (&[Some(tasks), Some(machines)], None) => header(tasks, machines, false),
            (&[Some(tasks), Some(machines), Some(order @ (0 | 1))], None) => header(tasks, machines, order == 1),
            (_, None) => Ok((Layout { machines, tasks: None, machine_major: false, by_line: true }, false)),
        }
    }

    fn time(&self, token: &[u8]) -> Result<Time, FormatError> {
        let text = String::from_utf8_lossy(token);
        if text.eq_ignore_ascii_case(CANNOT) {
            return Ok(Profile::CANNOT_RUN);
        }
        let time = Time::parse(&text).map_err(|error| self.wrong(&error.to_string()))?;
        if time > Time::ZERO && time < Profile::CANNOT_RUN {
            return Ok(time);
        }
        Err(self.wrong(&format!(
            "the time `{text}` must be positive and below 146 years; write `inf` for a machine that cannot run a task"
        )))
    }

    fn push(&mut self, time: Time, layout: Layout) -> Result<(), FormatError> {
        if layout.machine_major {
            return self.push_machine_major(time, layout);
        }
        if let Some(tasks) = layout.tasks.filter(|&tasks| self.jobs.len() == tasks) {
            let machines = layout.machines;
            return Err(self.wrong(&format!(
                "there are more times than the {tasks} tasks on {machines} machines of the first line have"
            )));
        }
        if self.rows.is_empty() {
            self.rows.push(Vec::with_capacity(layout.machines.min(FIRST_CAPACITY)));
        }
        let row = &mut self.rows[0];
        row.push(time);
        if row.len() == layout.machines {
            let row = self.rows.swap_remove(0);
            let job = self.job(row)?;
            self.jobs.push(job);
        }
        Ok(())
    }

    /// Every row grows by one time at each machine.
    fn push_machine_major(&mut self, time: Time, layout: Layout) -> Result<(), FormatError> {
        let tasks = layout.tasks.unwrap_or_default();
        if self.rows.len() < tasks {
            self.rows.push(Vec::with_capacity(layout.machines.min(FIRST_CAPACITY)));
            let last = self.rows.len() - 1;
            self.rows[last].push(time);
            return Ok(());
        }
        // The rows before the present task are one longer than the others.
        let present = self.rows.partition_point(|row| row.len() > self.rows[tasks - 1].len());
        let present = if present == tasks { 0 } else { present };
        if self.rows[present].len() == layout.machines {
            let machines = layout.machines;
            return Err(self.wrong(&format!(
                "there are more times than the {tasks} tasks on {machines} machines of the first line have"
            )));
        }
        self.rows[present].push(time);
        Ok(())
    }

    fn job(&self, row: Vec<Time>) -> Result<Job, FormatError> {
        let task = self.jobs.len();
        let profile = Profile::on_machines(row).map_err(|error| self.wrong(&format!("task {task}: {error}")))?;
        Ok(Job::new(format!("t{task}"), profile))
    }

    fn finish(mut self) -> Result<Instance, FormatError> {
        let missing = |problem: &str| Err(FormatError::content(self.file, Place::default(), problem));
        let Some(layout) = self.layout else { return missing("the matrix is empty") };
        let machines = layout.machines;
        if layout.machine_major {
            let rows = std::mem::take(&mut self.rows);
            let whole = rows.iter().all(|row| row.len() == machines) && Some(rows.len()) == layout.tasks;
            if !whole {
                let have: usize = rows.iter().map(Vec::len).sum();
                return missing(&few(layout, have));
            }
            for row in rows {
                let job = self.job(row)?;
                self.jobs.push(job);
            }
        } else if !self.rows.is_empty() || layout.tasks.is_some_and(|tasks| tasks != self.jobs.len()) {
            let have = self.jobs.len() * machines + self.rows.first().map_or(0, Vec::len);
            return missing(&few(layout, have));
        }
        let wrong = |problem: &dyn std::fmt::Display| FormatError::content(self.file, Place::default(), problem);
        let platform = Platform::cluster(u32::try_from(machines).unwrap_or(u32::MAX), 1).map_err(|e| wrong(&e))?;
        Instance::new(platform, self.jobs, Vec::new()).map_err(|error| wrong(&error))
    }

    fn wrong(&self, problem: &str) -> FormatError {
        FormatError::content(self.file, Place::line(self.line), problem)
    }
}

/// What is wrong with a matrix that ends after so many times.
fn few(layout: Layout, have: usize) -> String {
    let machines = layout.machines;
    match layout.tasks {
        Some(tasks) => format!(
            "the first line states {tasks} tasks on {machines} machines, and {have} times follow; give one for each pair \
             (a matrix of two or three machines needs such a line before it)"
        ),
        None => format!("there are {have} times, which is no multiple of the {machines} machines"),
    }
}

/// A whole number, such as a header has.
fn number(token: &[u8]) -> Option<usize> {
    std::str::from_utf8(token).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}
