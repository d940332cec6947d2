//! The last lines of the output of a job.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use makespan_core::{Instance, TaskId};
use makespan_exec::OutputFiles;

use crate::output::shown;

/// Maximum number of lines.
const LINES: usize = 6;
/// Maximum width of a line, in columns.
const COLUMNS: usize = 76;
/// Number of bytes at the end of the file that are read.
const BYTES: u64 = 8192;

/// The last lines of a job's standard error, or of its standard output if its standard error is empty.
pub struct OutputTail(Vec<String>);

/// Returns the last lines of the output of a task, or `None` if there is no output.
pub fn of(outputs: &OutputFiles, instance: &Instance, task: TaskId) -> Option<OutputTail> {
    let [out, err] = outputs.of(instance, task);
    [err, out].iter().filter_map(|path| last_lines(path)).find(|lines| !lines.is_empty()).map(OutputTail)
}

fn last_lines(path: &Path) -> Option<Vec<String>> {
    // A job may have replaced the file by a link or a pipe. Neither is read.
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // A progress bar overwrites its line repeatedly, so the text after the last carriage return is the visible text.
    let seen = |line: &str| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default().trim_end().to_owned();
    let lines: Vec<String> = text.lines().map(seen).filter(|line| !line.is_empty()).collect();
    Some(lines[lines.len().saturating_sub(LINES)..].to_vec())
}

impl OutputTail {
    /// Returns the lines with control characters escaped, and cut to the maximum width.
    pub fn shown(self) -> Vec<String> {
        let cut = |line: String| {
            let line: String = shown(&line).into_owned();
            if line.chars().count() > COLUMNS {
                line.chars().take(COLUMNS - 2).collect::<String>() + ".."
            } else {
                line
            }
        };
        self.0.into_iter().map(cut).collect()
    }

    /// Returns the last line with control characters escaped, and cut to the maximum width.
    pub fn last(self) -> Option<String> {
        self.shown().pop()
    }

    /// Returns the text of all lines, joined into one line.
    pub fn text(self) -> String {
        self.shown().join(" \u{23CE} ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown_without_what_moves_a_cursor() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.err");
        let many: String = (0..5000).map(|line| format!("line {line}\n")).collect();
        std::fs::write(&path, many + "10 %\r20 %\r30 %\n\n\u{1b}[31mred\u{1b}[0m\nend").unwrap();
        let shown = OutputTail(last_lines(&path).unwrap()).shown();
        assert_eq!(shown, ["line 4997", "line 4998", "line 4999", "30 %", "\\u{1b}[31mred\\u{1b}[0m", "end"]);
        std::fs::write(&path, "x".repeat(500)).unwrap();
        assert_eq!(OutputTail(last_lines(&path).unwrap()).shown()[0].chars().count(), COLUMNS);
        assert!(last_lines(folder.path()).is_none() && last_lines(&folder.path().join("none")).is_none());
    }
}
