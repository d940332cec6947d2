//! Reads Patterson's format, which consists of numbers. Line breaks have no meaning. The file contains the number of
//! activities, the number of resources, and the amount of each resource. The rest of the file describes each activity:
//! its duration, its need for each resource, the number of its successors, and the successors. Activities are numbered
//! from 1.

use super::project::{Activity, Mode, Project, ResourceAmount};
use super::{FileProblem, number};

/// Number of bytes at which a text may be truncated, because detection reads only the beginning of a file.
const CUT: usize = 1 << 16;

/// Returns whether a text that begins with a digit is a project in this format. The first line must have two whole
/// numbers. The text must have exactly the numbers that the format requires. All successors must be activities.
pub(super) fn begins(text: &[u8]) -> bool {
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let words = |text: &[u8]| text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    words(first) == 2 && consistent(text).unwrap_or(text.len() >= CUT)
}

/// Returns whether the numbers have the required form, or `None` if the text ends too early.
fn consistent(text: &[u8]) -> Option<bool> {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    // A word that is not a number is read as the largest `u64`.
    let mut next = || Some(std::str::from_utf8(words.next()?).ok()?.parse().unwrap_or(u64::MAX));
    let (activities, resources): (u64, u64) = (next()?, next()?);
    if activities == u64::MAX || resources == u64::MAX {
        return Some(false);
    }
    for _ in 0..resources {
        if next()? == u64::MAX {
            return Some(false);
        }
    }
    for _ in 0..activities {
        for _ in 0..=resources {
            if next()? == u64::MAX {
                return Some(false);
            }
        }
        let successors = next()?;
        if successors >= activities {
            return Some(false);
        }
        for _ in 0..successors {
            if !(1..=activities).contains(&next()?) {
                return Some(false);
            }
        }
    }
    Some(next().is_none())
}

/// Numbers of a text, each with its line.
struct Numbers<'a> {
    words: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> Numbers<'a> {
    fn of(text: &'a str) -> Self {
        let words =
            text.lines().enumerate().flat_map(|(at, line)| line.split_whitespace().map(move |word| (at + 1, word)));
        Self { words: Box::new(words), line: 1 }
    }

    /// Returns the next number. If the number is missing, the error describes it as `what`.
    fn next(&mut self, what: impl Fn() -> String) -> Result<u64, FileProblem> {
        let Some((line, word)) = self.words.next() else {
            return Err(FileProblem::at(self.line, format!("expected {}, but the text ends", what())));
        };
        self.line = line;
        number(line, word)
    }
}

pub(super) fn read(text: &str) -> Result<Project, FileProblem> {
    let mut numbers = Numbers::of(text);
    let activities = numbers.next(|| "the number of activities".into())?;
    let resources = numbers.next(|| "the number of resources".into())?;
    let mut stocks = Vec::new();
    for at in 1..=resources {
        let amount = numbers.next(|| format!("the amount of resource {at} of {resources}"))?;
        stocks.push(ResourceAmount { name: format!("R{at}"), amount, renewable: true });
    }
    let mut project = Project { stocks, ..Project::default() };
    for at in 1..=activities {
        let activity = activity(&mut numbers, at, activities, resources)?;
        project.activities.push(activity);
    }
    if let Some((line, word)) = numbers.words.next() {
        let problem = format!("unexpected `{word}` after the last of the {activities} activities; remove it");
        return Err(FileProblem::at(line, problem));
    }
    Ok(project)
}

fn activity(numbers: &mut Numbers<'_>, at: u64, activities: u64, resources: u64) -> Result<Activity, FileProblem> {
    let due = |what: &str| format!("{what} of activity {at} of {activities}");
    let duration = numbers.next(|| due("the duration"))?;
    let line = numbers.line;
    let mut needs = Vec::new();
    for resource in 1..=resources {
        needs.push(numbers.next(|| due(&format!("the need of resource {resource}")))?);
    }
    let count = numbers.next(|| due("the number of successors"))?;
    let mut successors = Vec::new();
    for _ in 0..count {
        successors.push(numbers.next(|| due("a successor"))?);
    }
    Ok(Activity { name: at.to_string(), line, modes: vec![Mode { line, duration, needs }], successors })
}
