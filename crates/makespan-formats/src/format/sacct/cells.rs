//! Splits lines into cells, and reads the names of jobs and array tasks.

use super::columns::SacctColumns;
use super::values::{count, instant};
use crate::anomaly::Anomaly;
use makespan_verify::native::hosts::numbers;

/// Maximum number of array tasks in one record.
const MAX_PARTS: usize = 100_000;

/// Returns the cells of a line, one for each column. If the line has too many cells, the extra `|` must belong to a
/// column of free text. Returns `None` if no column or more than one column can contain the extra `|`.
pub(super) fn cells<'a>(columns: &SacctColumns, line: &'a str) -> Option<Vec<&'a str>> {
    let mut cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let is_ended = cells.len() > columns.count && cells.last() == Some(&"");
    if is_ended && (columns.is_ended || columns.free.is_empty()) {
        cells.pop();
    }
    if cells.len() <= columns.count {
        return Some(cells);
    }
    let excess = cells.len() - columns.count;
    // Each cell is a slice of `line`, so pointers give the offset of a cell.
    let begin = |cell: &str| cell.as_ptr() as usize - line.as_ptr() as usize;
    let merged = |&free: &usize| {
        let (before, behind) = (&cells[..free], &cells[free + excess + 1..]);
        let last = cells[free + excess];
        let text = &line[begin(cells[free])..begin(last) + last.len()];
        let all: Vec<&str> = before.iter().chain([&text]).chain(behind).copied().collect();
        makes_sense(columns, &all).then_some(all)
    };
    let mut readings = columns.free.iter().filter_map(merged);
    let first = readings.next()?;
    let used = |cells: &[&str]| {
        let is_used = |at: usize| !columns.free.contains(&at) || columns.constraints == Some(at);
        let kept = cells.iter().enumerate().filter(|&(at, _)| is_used(at));
        kept.map(|(_, cell)| (*cell).to_owned()).collect::<Vec<String>>()
    };
    readings.all(|other| used(&other) == used(&first)).then_some(first)
}

/// Returns whether the job number, instants, processors and state have valid forms.
fn makes_sense(columns: &SacctColumns, cells: &[&str]) -> bool {
    let has_number = cells[columns.job].starts_with(|first: char| first.is_ascii_digit());
    let instants = [Some(columns.submit), columns.start, columns.end];
    has_number
        && instants.into_iter().flatten().all(|column| instant(cells[column]).is_ok())
        && columns.processors.iter().all(|&column| count(cells[column]).is_ok())
        && columns.state.is_none_or(|column| cells[column].starts_with(|first: char| first.is_ascii_uppercase()))
}

/// Returns whether a name is the name of a job step, such as `100.batch`, `101_4.0` or `104+1.0`. In such a name, a
/// dot follows the job number.
pub(super) fn is_step(name: &str) -> bool {
    let digits = |text: &str| text.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
    let mut rest = digits(name);
    if let Some(part) = rest.strip_prefix('_') {
        rest = match part.strip_prefix('[') {
            Some(list) => list.split_once(']').map_or(String::new(), |(_, rest)| rest.to_owned()),
            None => digits(part),
        };
    }
    if let Some(component) = rest.strip_prefix('+') {
        rest = digits(component);
    }
    rest.starts_with('.')
}

/// The jobs that one record describes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RecordJobs<'a> {
    /// Names of the jobs.
    pub names: Vec<String>,
    /// Number of the array, and the maximum number of its tasks that run at the same time. The maximum is `None` if
    /// the name states none.
    pub array: Option<(&'a str, Option<u32>)>,
    /// The reason why array tasks are missing, if some are missing.
    pub missing: Option<Anomaly>,
}

/// Returns the array tasks that a name such as `7_[2-9%3]` describes. For any other name, returns only this name. If
/// Slurm has truncated the list, as in `7_[1,3,4...%5]`, the last number is ignored, because digits may be missing.
pub(super) fn parts(name: &str) -> RecordJobs<'_> {
    let own = |array, missing| RecordJobs { names: vec![name.to_owned()], array, missing };
    let Some((array, rest)) = name.split_once('_') else { return own(None, None) };
    let Some(list) = rest.strip_prefix('[') else { return own(Some((array, None)), None) };
    let (list, is_closed) = list.strip_suffix(']').map_or((list, false), |list| (list, true));
    let (list, most) = list.split_once('%').map_or((list, None), |(list, most)| (list, most.parse().ok()));
    let (list, is_cut) = match list.strip_suffix("...") {
        Some(list) => (list, true),
        None => (list, !is_closed),
    };
    let named = |number: &String| format!("{array}_{number}");
    let array = Some((array, most));
    if is_cut {
        let (known, last) = list.rsplit_once(',').unwrap_or(("", list));
        let mut numbers = numbers(known, MAX_PARTS).unwrap_or_default();
        // In a list that is truncated within a range, the first number of this range is complete.
        numbers.extend(last.split_once('-').map(|(first, _)| first.to_owned()).filter(|first| !first.is_empty()));
        let names = if numbers.is_empty() { vec![name.to_owned()] } else { numbers.iter().map(named).collect() };
        return RecordJobs { names, array, missing: Some(Anomaly::CutArray) };
    }
    let expanded = numbers(list, MAX_PARTS).filter(|numbers| numbers.len() <= MAX_PARTS);
    match expanded {
        Some(numbers) => RecordJobs { names: numbers.iter().map(named).collect(), array, missing: None },
        None => own(array, Some(Anomaly::UnreadArray)),
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_step_has_a_dot_behind_the_number_of_its_job() {
        for step in ["100.batch", "100.0", "101_4.extern", "104+1.0", "105_[1-3].0", "105_[1,4...%5].0"] {
            assert!(is_step(step), "{step}");
        }
        for job in ["100", "101_4", "104+1", "105_[1-3%2]", "204_[1,3,4...%5]", "204_[1,3,4...", ""] {
            assert!(!is_step(job), "{job}");
        }
    }

    #[test]
    fn the_known_tasks_of_a_list_that_is_cut_are_expanded() {
        for (name, expect, most, is_cut) in [
            ("7_[1,3,4...%5]", "7_1 7_3", Some(5), true),
            ("7_[0-2,5-1...]", "7_0 7_1 7_2 7_5", None, true),
            ("7_[1-100000...%2]", "7_1", Some(2), true),
            ("7_[12...]", "7_[12...]", None, true),
            ("7_[1,3,4", "7_1 7_3", None, true),
            ("7_[1,3]", "7_1 7_3", None, false),
        ] {
            let parts = parts(name);
            let missing = is_cut.then_some(Anomaly::CutArray);
            assert_eq!((parts.names.join(" ").as_str(), parts.missing), (expect, missing), "{name}");
            assert_eq!(parts.array, Some(("7", most)), "{name}");
        }
        for name in ["7_[0-999999]", "7_[a-b]"] {
            let parts = parts(name);
            assert_eq!((parts.names.join(" ").as_str(), parts.missing), (name, Some(Anomaly::UnreadArray)));
        }
    }
}
