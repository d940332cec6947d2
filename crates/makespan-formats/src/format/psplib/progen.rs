//! Reads the output of `ProGen`. The output consists of lines of the form `key : value`, followed by sections. A
//! section has a heading, a line of column names, and a row for each activity or mode. Lines of asterisks or dashes
//! have no meaning.

use makespan_core::counted;

use super::project::{Activity, Mode, Project, ResourceAmount};
use super::{FileProblem, number, numbers};

/// Lines of the text, numbered from 1, without empty lines and without lines of asterisks or dashes.
struct Lines<'a> {
    lines: std::iter::Peekable<Box<dyn Iterator<Item = (usize, &'a str)> + 'a>>,
    last: usize,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let told = lines.filter(|(_, line)| line.bytes().any(|byte| byte != b'*' && byte != b'-'));
        let lines: Box<dyn Iterator<Item = (usize, &'a str)> + 'a> = Box::new(told);
        Self { lines: lines.peekable(), last: 1 }
    }

    fn next(&mut self, what: &str) -> Result<(usize, &'a str), FileProblem> {
        let next = self
            .lines
            .next()
            .ok_or_else(|| FileProblem::at(self.last, format!("expected {what}, but the text ends")))?;
        self.last = next.0;
        Ok(next)
    }

    /// Returns the next line if it begins with a digit.
    fn row(&mut self) -> Option<(usize, &'a str)> {
        let row = self.lines.next_if(|(_, line)| line.starts_with(|first: char| first.is_ascii_digit()))?;
        self.last = row.0;
        Some(row)
    }

    /// Skips the next line, which must begin with this heading.
    fn heading(&mut self, heading: &str) -> Result<(), FileProblem> {
        let (line, text) = self.next(&format!("the section `{heading}`"))?;
        if begins(text, heading) {
            return Ok(());
        }
        Err(FileProblem::at(line, format!("expected the section `{heading}`, found `{text}`")))
    }
}

fn begins(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
}

const INFORMATION: &str = "PROJECT INFORMATION";
const PRECEDENCE: &str = "PRECEDENCE RELATIONS";
const REQUESTS: &str = "REQUESTS/DURATIONS";
const AVAILABILITIES: &str = "RESOURCEAVAILABILITIES";

/// Returns whether a text begins like the output of `ProGen`: one of the first lines is a heading that only projects
/// have.
pub(super) fn is_project(text: &[u8]) -> bool {
    const HEADINGS: [&str; 5] =
        ["file with basedata", "projects", "jobs (incl", "project information", "precedence relations"];
    let head = String::from_utf8_lossy(&text[..text.len().min(4096)]).to_ascii_lowercase();
    head.lines().any(|line| HEADINGS.iter().any(|heading| line.trim_start().starts_with(heading)))
}

pub(super) fn read(text: &str) -> Result<Project, FileProblem> {
    let mut lines = Lines::of(text);
    let stated = head(&mut lines)?;
    let mut project = Project::default();
    information(&mut lines, &mut project)?;
    let announced = precedence(&mut lines, &mut project, stated.jobs)?;
    let columns = requests(&mut lines, &mut project)?;
    count_modes(&project, &announced)?;
    stated.agrees(&columns)?;
    project.stocks = availabilities(&mut lines, &columns)?;
    match lines.lines.next() {
        Some((line, text)) => {
            Err(FileProblem::at(line, format!("unexpected `{text}` after the last section; remove it")))
        }
        None => Ok(project),
    }
}

/// Numbers that the lines before the first section state, each with its line.
#[derive(Default)]
struct StatedNumbers {
    jobs: Option<(usize, u64)>,
    renewable: Option<(usize, u64)>,
    nonrenewable: Option<(usize, u64)>,
}

impl StatedNumbers {
    /// Checks that the stated number of resources of each kind is equal to the number of columns.
    fn agrees(&self, columns: &[String]) -> Result<(), FileProblem> {
        let kinds = [("renewable", 'R', self.renewable), ("nonrenewable", 'N', self.nonrenewable)];
        for (kind, letter, stated) in kinds {
            let found = columns.iter().filter(|name| name.starts_with(letter)).count() as u64;
            if let Some((line, stated)) = stated.filter(|&(_, stated)| stated != found) {
                let problem =
                    format!("the file announces {stated} {kind} resources, but lists {found} under `{REQUESTS}`");
                return Err(FileProblem::at(line, problem));
            }
        }
        Ok(())
    }
}

/// Reads the lines before the first section.
fn head(lines: &mut Lines<'_>) -> Result<StatedNumbers, FileProblem> {
    let mut stated = StatedNumbers::default();
    while let Some(&(line, text)) = lines.lines.peek() {
        if [INFORMATION, PRECEDENCE].iter().any(|heading| begins(text, heading)) {
            break;
        }
        lines.next("a section")?;
        let Some((key, value)) = text.split_once(':') else { continue };
        let (key, value) = (key.trim(), value.split_whitespace().next().unwrap_or_default());
        if begins(key, "jobs") {
            stated.jobs = Some((line, number(line, value)?));
        } else if begins(key, "- renewable") {
            stated.renewable = Some((line, number(line, value)?));
        } else if begins(key, "- nonrenewable") {
            stated.nonrenewable = Some((line, number(line, value)?));
        } else if begins(key, "projects") && number(line, value)? != 1 {
            let problem = format!(
                "the file has {value} projects, but only one is supported; write each project to a separate file"
            );
            return Err(FileProblem::at(line, problem));
        } else if begins(key, "- doubly constrained") && number(line, value)? > 0 {
            return Err(FileProblem::at(line, DOUBLY));
        }
    }
    Ok(stated)
}

/// Error message for doubly constrained resources.
const DOUBLY: &str = "doubly constrained resources are not supported; write each as a renewable and a nonrenewable \
                      resource";

/// Reads the release date and the due date. The section of these dates may be missing.
fn information(lines: &mut Lines<'_>, project: &mut Project) -> Result<(), FileProblem> {
    if lines.lines.peek().is_none_or(|(_, text)| !begins(text, INFORMATION)) {
        return Ok(());
    }
    lines.heading(INFORMATION)?;
    lines.next("a line with the names of the columns")?;
    let Some((line, text)) = lines.row() else { return Ok(()) };
    let &[_, _, release, due, cost, ..] = numbers(line, text)?.as_slice() else {
        let problem = "expected five numbers: the number of the project, the number of its activities, its release date, its due date and its cost of tardiness";
        return Err(FileProblem::at(line, problem));
    };
    if let Some((line, _)) = lines.row() {
        return Err(FileProblem::at(
            line,
            "this is a second project, but only one is supported; write each project to a separate file",
        ));
    }
    project.release = release;
    if due > 0 && due < release {
        return Err(FileProblem::at(
            line,
            format!("the due date is {due}, before the release date {release}; state a later due date"),
        ));
    }
    if due > 0 {
        project.due = Some(due);
        project.remarks.push(format!(
            "the due date of the project, {due}, is used as the deadline of the job; the cost of tardiness, {cost} for each period, is ignored"
        ));
    }
    Ok(())
}

/// Reads the successors of each activity. Returns the number of modes that this section states for each activity.
fn precedence(
    lines: &mut Lines<'_>,
    project: &mut Project,
    stated: Option<(usize, u64)>,
) -> Result<Vec<u64>, FileProblem> {
    let mut announced = Vec::new();
    lines.heading(PRECEDENCE)?;
    lines.next("a line with the names of the columns")?;
    while let Some((line, text)) = lines.row() {
        let row = numbers(line, text)?;
        let [own, modes, count, successors @ ..] = row.as_slice() else {
            let problem =
                "expected the number of an activity, its number of modes, its number of successors, and the successors";
            return Err(FileProblem::at(line, problem));
        };
        let due = project.activities.len() as u64 + 1;
        if *own != due {
            let problem =
                format!("expected activity {due}, found activity {own}; activities are numbered from 1 in order");
            return Err(FileProblem::at(line, problem));
        }
        if successors.len() as u64 != *count {
            return Err(FileProblem::at(
                line,
                format!("the line announces {count} successors but lists {}", successors.len()),
            ));
        }
        announced.push(*modes);
        project.activities.push(Activity {
            name: own.to_string(),
            line,
            modes: Vec::new(),
            successors: successors.to_vec(),
        });
    }
    let found = project.activities.len() as u64;
    match stated {
        Some((line, stated)) if stated != found => Err(FileProblem::at(
            line,
            format!("the file announces {stated} activities, but lists {found} under `{PRECEDENCE}`"),
        )),
        _ => Ok(announced),
    }
}

/// Refuses an activity if its number of modes differs from the number in the section of successors.
fn count_modes(project: &Project, announced: &[u64]) -> Result<(), FileProblem> {
    let differs = |(activity, stated): &(&Activity, &u64)| activity.modes.len() as u64 != **stated;
    match project.activities.iter().zip(announced).find(differs) {
        Some((Activity { name, line, modes, .. }, stated)) => {
            let problem = format!("activity `{name}` states {}, but {} follow", counted(*stated, "mode"), modes.len());
            Err(FileProblem::at(*line, problem))
        }
        None => Ok(()),
    }
}

/// Reads the modes of all activities. Returns the names of the resources.
fn requests(lines: &mut Lines<'_>, project: &mut Project) -> Result<Vec<String>, FileProblem> {
    lines.heading(REQUESTS)?;
    let (line, header) = lines.next("a line with the names of the columns")?;
    let at = header.to_ascii_lowercase().find("duration").map(|at| at + "duration".len());
    let columns = names(line, header.get(at.unwrap_or(header.len())..).unwrap_or_default())?;
    let mut own = 0;
    while let Some((line, text)) = lines.row() {
        let row = numbers(line, text)?;
        let mode = match row.len().checked_sub(columns.len()) {
            Some(3) => {
                own += 1;
                if row[0] != own {
                    return Err(FileProblem::at(
                        line,
                        format!("expected the modes of activity {own}, found modes of activity {}", row[0]),
                    ));
                }
                &row[1..]
            }
            Some(2) if own > 0 => &row[..],
            _ => {
                let problem = format!(
                    "expected the number of the activity (only in its first mode), the number of the mode, its \
                     duration and {} needs, one for each resource",
                    columns.len()
                );
                return Err(FileProblem::at(line, problem));
            }
        };
        let count = project.activities.len();
        let Some(activity) = usize::try_from(own - 1).ok().and_then(|at| project.activities.get_mut(at)) else {
            return Err(FileProblem::at(line, format!("activity {own} does not exist; the last activity is {count}")));
        };
        let due = activity.modes.len() as u64 + 1;
        if mode[0] != due {
            return Err(FileProblem::at(
                line,
                format!("expected mode {due}, found mode {}; modes are numbered from 1", mode[0]),
            ));
        }
        activity.modes.push(Mode { line, duration: mode[1], needs: mode[2..].to_vec() });
    }
    let without = project.activities.iter().find(|activity| activity.modes.is_empty());
    match without {
        Some(Activity { name, line, .. }) => {
            Err(FileProblem::at(*line, format!("activity `{name}` has no mode under `{REQUESTS}`; add a mode")))
        }
        None => Ok(columns),
    }
}

/// Returns the names of the resources in a line such as `R 1  R 2  N 1`.
fn names(line: usize, text: &str) -> Result<Vec<String>, FileProblem> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while let Some(kind) = rest.chars().next() {
        let digits = rest[kind.len_utf8()..].trim_start();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        match kind.to_ascii_uppercase() {
            'D' => return Err(FileProblem::at(line, DOUBLY)),
            'R' | 'N' if end > 0 => names.push(format!("{}{}", kind.to_ascii_uppercase(), &digits[..end])),
            _ => {
                let problem = format!("`{rest}` is not a list of resources; write R 1, R 2 .. and N 1, N 2 ..");
                return Err(FileProblem::at(line, problem));
            }
        }
        rest = digits[end..].trim_start();
    }
    Ok(names)
}

/// Reads the amount of each resource, in the order of the columns.
fn availabilities(lines: &mut Lines<'_>, columns: &[String]) -> Result<Vec<ResourceAmount>, FileProblem> {
    lines.heading(AVAILABILITIES)?;
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let (line, text) = lines.next("the names of the resources")?;
    let own = names(line, text)?;
    if own != columns {
        let problem = format!(
            "the resources are {} here, but {} above; write the same resources",
            own.join(", "),
            columns.join(", ")
        );
        return Err(FileProblem::at(line, problem));
    }
    let (line, text) = lines.next("the amounts of the resources")?;
    let amounts = numbers(line, text)?;
    if amounts.len() != columns.len() {
        return Err(FileProblem::at(
            line,
            format!("there are {} amounts for {} resources", amounts.len(), columns.len()),
        ));
    }
    let stock = |(name, amount): (&String, u64)| ResourceAmount {
        name: name.clone(),
        amount,
        renewable: name.starts_with('R'),
    };
    Ok(columns.iter().zip(amounts).map(stock).collect())
}
