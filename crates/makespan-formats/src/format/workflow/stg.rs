//! The Standard Task Graph Set of T. Tobita and H. Kasahara ("A standard task graph set for fair evaluation of
//! multiprocessor scheduling algorithms", J. Scheduling 5(5), 2002, DOI 10.1002/jos.116).
//!
//! The first line is the number of tasks, not counting the two dummies. Each further line describes a task: its
//! number, its processing time, the number of its predecessors, and their task numbers. Text after `#` is a comment.
//! The two dummies are an entry before all tasks and an exit after all tasks. The dummies take no time, and the reader
//! ignores them.

use super::draft::Draft;
use makespan_core::counted;

use super::{FileProblem, ReadJobs};
use crate::error::FilePlace;
use crate::odd::{ValueProblem, run_time};

/// Returns whether a text begins like a graph of the set: a line with one number, then a line with at least three
/// numbers.
pub(super) fn begins(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let mut words = || {
        let line = std::str::from_utf8(lines.next()?).ok()?;
        line.split_whitespace().map(|word| word.parse::<u64>().ok()).collect::<Option<Vec<u64>>>()
    };
    let (Some(first), Some(second)) = (words(), words()) else { return false };
    first.len() == 1 && second.len() >= 3 && second.len() as u64 == second[2].saturating_add(3)
}

struct Row<'a> {
    line: usize,
    number: u64,
    /// Processing time as written in the file.
    time: &'a str,
    before: Vec<u64>,
}

/// Reads a graph. With `strict`, impossible times are errors.
pub(super) fn read(text: &str, name: &str, strict: bool) -> Result<ReadJobs, FileProblem> {
    let content = |line| str::split(line, '#').next().unwrap_or_default().trim();
    let mut lines =
        text.lines().enumerate().map(|(at, line)| (at + 1, content(line))).filter(|line| !line.1.is_empty());
    let Some((line, first)) = lines.next() else { return Err("there is no number of tasks".to_owned().into()) };
    let stated: u64 = number(line, first)?;
    let rows = lines.map(|(line, text)| row(line, text)).collect::<Result<Vec<Row<'_>>, FileProblem>>()?;
    for (at, row) in rows.iter().enumerate() {
        if row.number != at as u64 {
            let problem = format!("expected task {at}, found task {}; tasks are numbered from 0 in order", row.number);
            return Err(FileProblem::at(FilePlace::line(row.line), problem));
        }
    }
    let count = rows.len() as u64;
    if count != stated && count != stated.saturating_add(2) {
        let problem = format!("the first line announces {stated} tasks and two dummies, but {count} tasks follow");
        return Err(FileProblem::at(FilePlace::line(line), problem));
    }
    let last = rows.len().saturating_sub(1);
    let is_zero = |row: &Row<'_>| run_time(Some(row.time)) == Err(ValueProblem::ZeroTime);
    // The last task is the exit dummy only if no other task waits for it.
    let is_exit = |at: usize| at == last && rows.iter().all(|row| !row.before.contains(&(last as u64)));
    let is_dummy = |at: usize| is_zero(&rows[at]) && (rows[at].before.is_empty() || is_exit(at));
    let mut draft = Draft::default();
    let mut numbers = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let wrong = |problem| FileProblem::at(FilePlace::line(row.line), problem);
        let task = if is_dummy(at) {
            None
        } else {
            Some(draft.task(&at.to_string(), Some(row.time), Vec::new()).map_err(wrong)?)
        };
        numbers.push(task);
    }
    for (at, row) in rows.iter().enumerate() {
        for &before in &row.before {
            let Some(from) = usize::try_from(before).ok().and_then(|before| numbers.get(before)) else {
                let problem =
                    format!("task {at} waits for task {before}, which does not exist; the last task is {last}");
                return Err(FileProblem::at(FilePlace::line(row.line), problem));
            };
            if let (Some(from), Some(to)) = (*from, numbers[at]) {
                draft.wait(from, to);
            }
        }
    }
    let mut remarks = Vec::new();
    let (graph, _) = draft.graph(strict, &mut remarks)?;
    Ok(ReadJobs::of(vec![makespan_core::Job::compound(name, graph)], remarks))
}

fn row(line: usize, text: &str) -> Result<Row<'_>, FileProblem> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [own, time, count, before @ ..] = words.as_slice() else {
        let problem = "expected the number of a task, its time, its number of predecessors, and the predecessors";
        return Err(FileProblem::at(FilePlace::line(line), problem));
    };
    let before = before.iter().map(|word| number(line, word)).collect::<Result<Vec<u64>, FileProblem>>()?;
    let count: u64 = number(line, count)?;
    if before.len() as u64 != count {
        let problem = format!("the line announces {} but lists {}", counted(count, "predecessor"), before.len());
        return Err(FileProblem::at(FilePlace::line(line), problem));
    }
    Ok(Row { line, number: number(line, own)?, time, before })
}

fn number(line: usize, text: &str) -> Result<u64, FileProblem> {
    text.parse().map_err(|_| FileProblem::at(FilePlace::line(line), format!("`{text}` is not a whole number")))
}
