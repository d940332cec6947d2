//! Reads and writes compound jobs in XML, with all their data dependencies. The metascheduler of V. Toporkov and A.
//! Tselishchev ("Critical works", 2009) exchanges jobs in XML. Their paper contains no schema, so the schema of this
//! module is our own.
//!
//! ```xml
//! <compound-jobs version="1">
//!   <job name="j" release="0" deadline="110" weight="2">
//!     <task name="a" volume="12.5"><command><word>./a</word></command></task>
//!     <task name="b" volume="7"/>
//!     <transfer from="a" to="b" data="5000000"/>
//!   </job>
//! </compound-jobs>
//! ```
//!
//! A volume is in seconds on a processor of speed 1. A transfer states either `data` in bytes or `time` in seconds.

use std::io::{self, Write};

use makespan_core::{Edge, Graph, Instance, Job, JobId, NamedTask, Payload, Profile, Task, Time, Weight};
use roxmltree::Node;
use rustc_hash::FxHashMap;

use super::xml::{attribute, elements, parse, prepared, time, wrong};
use super::{FileProblem, ReadJobs};
use crate::odd::ImpossibleValues;

/// Reads jobs. With `strict`, impossible values are errors.
pub(super) fn read(text: &str, strict: bool) -> Result<ReadJobs, FileProblem> {
    let text = prepared(text);
    let document = parse(&text)?;
    let root = document.root_element();
    if root.tag_name().name() != "compound-jobs" {
        return Err(wrong(root, "the supported elements are <adag> (DAX) and <compound-jobs>"));
    }
    if attribute(root, "version")? != "1" {
        return Err(wrong(root, "this version is not supported; write version=\"1\""));
    }
    only(root, &["version"])?;
    let mut odd = ImpossibleValues::default();
    let jobs = elements(root).map(|node| job(node, &mut odd)).collect::<Result<Vec<_>, FileProblem>>()?;
    if jobs.is_empty() {
        return Err(wrong(root, "there are no jobs; give at least one"));
    }
    odd.refuse(strict)?;
    Ok(ReadJobs::of(jobs, odd.remarks().collect()))
}

/// Returns an error if an element has an unknown attribute.
fn only(node: Node<'_, '_>, known: &[&str]) -> Result<(), FileProblem> {
    match node.attributes().find(|attribute| !known.contains(&attribute.name())) {
        Some(other) => {
            let known =
                if known.is_empty() { "none is known".to_owned() } else { format!("known are {}", known.join(", ")) };
            Err(wrong(node, format!("unknown attribute `{}`; {known}", other.name())))
        }
        None => Ok(()),
    }
}

/// Returns an error if this element contains other elements.
fn childless(node: Node<'_, '_>) -> Result<(), FileProblem> {
    match elements(node).next() {
        Some(other) => Err(wrong(other, format!("<{}> must not contain elements", node.tag_name().name()))),
        None => Ok(()),
    }
}

fn named<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> Result<Node<'a, 'i>, FileProblem> {
    if node.tag_name().name() == tag { Ok(node) } else { Err(wrong(node, format!("expected <{tag}> here"))) }
}

fn job(node: Node<'_, '_>, odd: &mut ImpossibleValues) -> Result<Job, FileProblem> {
    only(named(node, "job")?, &["name", "release", "deadline", "walltime", "weight", "priority"])?;
    let (transfers, tasks): (Vec<_>, Vec<_>) = elements(node).partition(|node| node.tag_name().name() == "transfer");
    let tasks = tasks.into_iter().map(|node| task(node, odd)).collect::<Result<Vec<NamedTask>, FileProblem>>()?;
    let numbers: FxHashMap<&str, u32> = (0..).zip(&tasks).map(|(number, task)| (&*task.name, number)).collect();
    let edges =
        transfers.into_iter().map(|node| transfer(node, &numbers, odd)).collect::<Result<Vec<Edge>, FileProblem>>()?;
    let graph = Graph::new(tasks.clone(), edges).map_err(|error| wrong(node, error))?;
    let mut job = Job::compound(attribute(node, "name")?, graph);
    if node.has_attribute("release") {
        job.release = time(node, "release")?;
    }
    job.deadline = match (node.has_attribute("deadline"), node.has_attribute("walltime")) {
        (true, true) => return Err(wrong(node, "the job has both `deadline` and `walltime`; remove one of them")),
        (true, false) => Some(time(node, "deadline")?),
        // Older files state `walltime` instead of `deadline`: the time from the release date to the deadline.
        (false, true) => Some(job.release + time(node, "walltime")?),
        (false, false) => None,
    };
    if let Some(priority) = node.attribute("priority") {
        job.priority =
            priority.parse().map_err(|_| wrong(node, format!("priority: `{priority}` is not a whole number")))?;
    }
    if let Some(weight) = node.attribute("weight") {
        job.weight = Weight::parse(weight).map_err(|error| wrong(node, format!("weight: {error}")))?;
    }
    Ok(job)
}

fn task(node: Node<'_, '_>, odd: &mut ImpossibleValues) -> Result<NamedTask, FileProblem> {
    only(named(node, "task")?, &["name", "volume"])?;
    let name = attribute(node, "name")?;
    let (time, estimate) = odd.run_time(node.attribute("volume"), || format!("task `{name}`"));
    let profile = Profile::rigid(1, time).map_err(|error| wrong(node, error))?;
    let mut words = Vec::new();
    for command in elements(node) {
        only(named(command, "command")?, &[])?;
        for word in elements(command) {
            only(named(word, "word")?, &[])?;
            childless(word)?;
            words.push(word.text().unwrap_or_default().to_owned());
        }
    }
    Ok(NamedTask { name: name.into(), task: Task { command: words, estimate, ..Task::new(profile) } })
}

fn transfer(
    node: Node<'_, '_>,
    numbers: &FxHashMap<&str, u32>,
    odd: &mut ImpossibleValues,
) -> Result<Edge, FileProblem> {
    only(node, &["from", "to", "data", "time"])?;
    childless(node)?;
    let number = |key: &str| {
        let name = attribute(node, key)?;
        numbers.get(name).copied().ok_or_else(|| wrong(node, format!("{key}: the job has no task `{name}`")))
    };
    let owner = || {
        let end = |key: &str| node.attribute(key).unwrap_or_default();
        format!("transfer `{}` -> `{}`", end("from"), end("to"))
    };
    let payload = match (node.attribute("data"), node.attribute("time")) {
        (Some(_), Some(_)) => return Err(wrong(node, "the edge has both `data` and `time`; remove one of them")),
        (Some(text), None) => Payload::Bytes(odd.bytes(Some(text), owner)),
        (None, Some(text)) => Payload::Fixed(odd.transfer(text, owner)),
        (None, None) => Payload::Bytes(0),
    };
    Ok(Edge { from: number("from")?, to: number("to")?, payload })
}

/// Writes the jobs of an instance, without its machines. A job with one task is written as a graph with one task.
///
/// # Errors
/// Errors of the writer. [`io::ErrorKind::InvalidInput`] for data that this format cannot express. These are bags,
/// walltimes, tasks that may use several processors, needs for other resources, dependencies on other jobs, and run
/// times that differ between machines.
pub fn write_compound_xml(instance: &Instance, writer: &mut dyn Write) -> io::Result<()> {
    writeln!(writer, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<compound-jobs version=\"1\">")?;
    for id in instance.ids() {
        let job = instance.job(id);
        let refused = |what: &str| {
            let problem = format!("job `{}`: the XML form cannot store {what}", job.name);
            Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
        };
        if job.is_bag() {
            return refused("bags of tasks");
        }
        if instance.has_setups() {
            return refused("setup times");
        }
        if job.must_end_by.is_some() {
            return refused("deadlines that must be kept");
        }
        if job.walltime.is_some() {
            return refused("walltimes");
        }
        let profiles: Vec<&Profile> = job.task_ids().map(|task| instance.profile(task)).collect();
        if profiles.iter().any(|profile| profile.machine_times().is_some()) {
            return refused("run times that differ between machines");
        }
        if profiles.iter().any(|profile| profile.max_processors() > 1) {
            return refused("tasks on several processors");
        }
        if job.task_ids().any(|task| !instance.task(task).needs.is_empty()) {
            return refused("needs besides processors");
        }
        if !job.after.is_empty() {
            return refused("a dependency on other jobs");
        }
        write_job(instance, id, writer)?;
    }
    writeln!(writer, "</compound-jobs>")
}

fn write_job(instance: &Instance, id: JobId, writer: &mut dyn Write) -> io::Result<()> {
    let job = instance.job(id);
    write!(writer, "  <job name=\"{}\"", escaped(&job.name)?)?;
    if job.release != Time::ZERO {
        write!(writer, " release=\"{}\"", job.release)?;
    }
    if let Some(deadline) = job.deadline {
        write!(writer, " deadline=\"{deadline}\"")?;
    }
    if job.priority != 0 {
        write!(writer, " priority=\"{}\"", job.priority)?;
    }
    if job.weight != Weight::ONE {
        write!(writer, " weight=\"{}\"", job.weight)?;
    }
    writeln!(writer, ">")?;
    for task in job.task_ids() {
        let name = if job.is_compound() { instance.short_name(task) } else { instance.name(task) };
        write_task(&name, instance.task(task), writer)?;
    }
    for edge in instance.edges_of(id) {
        let (from, to) = (escaped(&instance.short_name(edge.from))?, escaped(&instance.short_name(edge.to))?);
        let payload = match edge.payload {
            Payload::Bytes(bytes) => format!("data=\"{bytes}\""),
            Payload::Fixed(time) => format!("time=\"{time}\""),
        };
        writeln!(writer, "    <transfer from=\"{from}\" to=\"{to}\" {payload}/>")?;
    }
    writeln!(writer, "  </job>")
}

fn write_task(name: &str, task: &Task, writer: &mut dyn Write) -> io::Result<()> {
    write!(writer, "    <task name=\"{}\" volume=\"{}\"", escaped(name)?, task.profile.shortest())?;
    if task.command.is_empty() {
        return writeln!(writer, "/>");
    }
    write!(writer, "><command>")?;
    for word in &task.command {
        write!(writer, "<word>{}</word>", escaped(word)?)?;
    }
    writeln!(writer, "</command></task>")
}

/// Escapes text for XML.
fn escaped(text: &str) -> io::Result<String> {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", c as u32)),
            c if (c as u32) < 0x20 || matches!(c as u32, 0xfffe | 0xffff) => {
                let problem = format!("XML cannot contain the character {}", c.escape_default());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
            }
            c => out.push(c),
        }
    }
    Ok(out)
}
