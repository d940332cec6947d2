//! Traces in the Pajé format, for `ViTE` and `pj_dump`.
//!
//! B. de Oliveira Stein, J. Chassin de Kergommeaux and G. Mounié, "Pajé trace file format" (2002); the field names are
//! those that `PajeNG` requires. A file defines its events, the types of what it shows, and then lists events by time.

use std::fmt::Write as _;
use std::io::{self, Write};

use makespan_core::{Instance, Outcome, Run, Trace};

/// The events that are used, with their fields; the number stands for the event in the list.
const EVENTS: [(&str, &[&str]); 8] = [
    ("DefineContainerType", &["Alias string", "Type string", "Name string"]),
    ("DefineStateType", &["Alias string", "Type string", "Name string"]),
    ("DefineVariableType", &["Alias string", "Type string", "Name string", "Color color"]),
    ("CreateContainer", &["Time date", "Alias string", "Type string", "Container string", "Name string"]),
    ("DestroyContainer", &["Time date", "Type string", "Name string"]),
    ("PushState", &["Time date", "Type string", "Container string", "Value string"]),
    ("PopState", &["Time date", "Type string", "Container string"]),
    ("SetVariable", &["Time date", "Type string", "Container string", "Value double"]),
];

const DEFINE_CONTAINER: usize = 0;
const DEFINE_STATE: usize = 1;
const DEFINE_VARIABLE: usize = 2;
const CREATE: usize = 3;
const DESTROY: usize = 4;
const PUSH: usize = 5;
const POP: usize = 6;
const SET: usize = 7;

/// What changes at an instant, in the order in which it is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Ended(usize),
    Submitted(usize),
    Started(usize),
}

/// Writes what happened: a container for the cluster and one for each processor. While a task runs on a processor it is its
/// state, called like the task; the variables `waiting` (tasks) and `held` (processors) belong to the cluster. Times are
/// seconds.
///
/// # Errors
/// Those of the writer.
pub fn write_paje(instance: &Instance, trace: &Trace, writer: &mut dyn Write) -> io::Result<()> {
    for (number, (name, fields)) in EVENTS.iter().enumerate() {
        writeln!(writer, "%EventDef Paje{name} {number}")?;
        for field in *fields {
            writeln!(writer, "% {field}")?;
        }
        writeln!(writer, "%EndEventDef")?;
    }
    writeln!(writer, "{DEFINE_CONTAINER} C 0 \"Cluster\"\n{DEFINE_CONTAINER} P C \"Processor\"")?;
    writeln!(writer, "{DEFINE_STATE} J P \"Job\"")?;
    writeln!(writer, "{DEFINE_VARIABLE} W C \"waiting\" \"0.8 0.3 0.1\"")?;
    writeln!(writer, "{DEFINE_VARIABLE} H C \"held\" \"0.1 0.4 0.8\"")?;
    writeln!(writer, "{CREATE} 0 c C 0 \"cluster\"")?;
    for processor in 0..instance.processors() {
        writeln!(writer, "{CREATE} 0 p{processor} P c \"{processor}\"")?;
    }
    writeln!(writer, "{SET} 0 W c 0\n{SET} 0 H c 0")?;
    changes(instance, trace, writer)?;
    let end = trace.runs.iter().map(|run| run.end).max().unwrap_or_default();
    for processor in 0..instance.processors() {
        writeln!(writer, "{DESTROY} {end} P p{processor}")?;
    }
    writeln!(writer, "{DESTROY} {end} C c")
}

fn changes(instance: &Instance, trace: &Trace, writer: &mut dyn Write) -> io::Result<()> {
    let runs: Vec<&Run> = trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted).collect();
    let mut changes: Vec<_> =
        instance.task_ids().map(|task| (instance.release(task), Change::Submitted(task.index()))).collect();
    // Tasks that never started wait from their submission to no end, and would only hide the others.
    let mut starts = vec![false; instance.tasks() as usize];
    for (index, run) in runs.iter().enumerate() {
        changes.push((run.start, Change::Started(index)));
        changes.push((run.end, Change::Ended(index)));
        starts[run.task.index()] = true;
    }
    changes.retain(|&(_, change)| !matches!(change, Change::Submitted(task) if !starts[task]));
    changes.sort_unstable();
    let (mut waiting, mut held, mut text) = (0_u64, 0_u64, String::new());
    for (at, change) in changes {
        match change {
            Change::Submitted(_) => waiting += 1,
            Change::Started(index) => {
                let run = runs[index];
                waiting = waiting.saturating_sub(1);
                held += u64::from(run.processors.len());
                let name = quoted(&instance.name(run.task), &mut text);
                for processor in run.processors.iter() {
                    writeln!(writer, "{PUSH} {at} J p{processor} {name}")?;
                }
            }
            Change::Ended(index) => {
                let run = runs[index];
                held = held.saturating_sub(u64::from(run.processors.len()));
                // One that lost its processors waits again.
                waiting += u64::from(run.outcome == Outcome::Interrupted);
                for processor in run.processors.iter() {
                    writeln!(writer, "{POP} {at} J p{processor}")?;
                }
            }
        }
        writeln!(writer, "{SET} {at} W c {waiting}")?;
        if !matches!(change, Change::Submitted(_)) {
            writeln!(writer, "{SET} {at} H c {held}")?;
        }
    }
    Ok(())
}

/// The name between quotation marks; the format has no escapes, so that what would end it early is replaced.
fn quoted<'a>(name: &str, text: &'a mut String) -> &'a str {
    text.clear();
    let shown = name.chars().map(|c| if c == '"' || c.is_control() { '_' } else { c });
    write!(text, "\"{}\"", shown.collect::<String>()).expect("a text is writable");
    text
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, Profile, TaskId, Time};

    use super::*;

    fn instance() -> Instance {
        let job = |name: &str, release| {
            let profile = Profile::rigid(2, Time::from_seconds(4)).unwrap();
            Job::new(name, profile).with_release(Time::from_seconds(release))
        };
        Instance::new(Platform::flat(3).unwrap(), vec![job("a\"b", 0), job("c", 1), job("d", 1)], vec![]).unwrap()
    }

    fn run(task: u64, start: i64, end: i64, processors: &str, outcome: Outcome) -> Run {
        let (start, end) = (Time::from_seconds(start), Time::from_seconds(end));
        Run { task: TaskId(task), start, end, processors: processors.parse().unwrap(), outcome, accounting: None }
    }

    #[test]
    fn every_push_is_popped_and_ends_come_before_starts() {
        let runs = vec![
            run(0, 0, 4, "0-1", Outcome::Interrupted),
            run(1, 4, 8, "1-2", Outcome::Succeeded),
            run(0, 8, 12, "0-1", Outcome::Succeeded),
            run(2, 9, 9, "", Outcome::NotStarted),
        ];
        let mut bytes = Vec::new();
        write_paje(&instance(), &Trace { runs }, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let mut state: Vec<Option<String>> = vec![None; 3];
        let (mut last, mut starts) = (0.0, 0);
        let body = text.lines().filter(|line| line.starts_with(['5', '6', '7']));
        for line in body {
            let words: Vec<&str> = line.splitn(5, ' ').collect();
            let at: f64 = words[1].parse().unwrap();
            assert!(at >= last, "{line}");
            last = at;
            match words[0] {
                "5" => {
                    let processor: usize = words[3][1..].parse().unwrap();
                    assert!(state[processor].replace(words[4].to_owned()).is_none(), "{line}");
                    starts += 1;
                }
                "6" => assert!(state[words[3][1..].parse::<usize>().unwrap()].take().is_some(), "{line}"),
                _ => {}
            }
        }
        assert_eq!((state, starts), (vec![None, None, None], 6));
        assert!(text.contains("5 0 J p0 \"a_b\"\n") && text.contains("7 12 H c 0\n"), "{text}");
        assert_eq!(text.lines().rev().find(|line| line.contains(" W c ")), Some("7 12 W c 0"));
    }
}
