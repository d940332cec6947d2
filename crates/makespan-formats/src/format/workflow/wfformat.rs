//! `WfFormat`, the JSON of `WfCommons`, versions 1.3 to 1.6 (<https://github.com/wfcommons/WfFormat>).
//!
//! Up to version 1.4, a task contains its run time and its files. From version 1.5 on, `specification` states the
//! dependencies and the files, and `execution` states the run time of each task. Unknown keys are ignored, because the
//! format allows any keys.

use std::collections::BTreeMap;
use std::fmt::Display;

use makespan_core::{Job, Need, Resource};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::draft::{Draft, StatedFiles};
use super::machines::{Machine, machines};
use super::{ReadJobs, remarked};
use crate::document::{Unique, UniquelyNamed, from_json};
use crate::error::{FilePlace, FormatError};
use crate::figure::Figure;
use crate::needs::{Pool, bytes};
use crate::odd::{ValueProblem, finite};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    name: Option<String>,
    schema_version: Option<String>,
    workflow: Workflow,
}

#[derive(Deserialize)]
struct Workflow {
    specification: Option<Specification>,
    execution: Option<Execution>,
    #[serde(alias = "jobs")]
    tasks: Option<Unique<OldTask>>,
    /// Machines of versions 1.3 and 1.4. The reader uses only the number of machines, for a remark.
    #[serde(default)]
    machines: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct Specification {
    tasks: Unique<SpecifiedTask>,
    #[serde(default)]
    files: Vec<SizedFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecifiedTask {
    id: String,
    #[serde(default)]
    parents: Vec<String>,
    #[serde(default)]
    children: Vec<String>,
    #[serde(default)]
    input_files: Vec<String>,
    #[serde(default)]
    output_files: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SizedFile {
    id: String,
    #[serde(default)]
    size_in_bytes: Figure,
}

#[derive(Default, Deserialize)]
struct Execution {
    #[serde(default)]
    tasks: Unique<ExecutedTask>,
    #[serde(default)]
    machines: Vec<Machine>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecutedTask {
    id: String,
    #[serde(default)]
    runtime_in_seconds: Figure,
    command: Option<Command>,
    #[serde(default)]
    core_count: Figure,
    #[serde(default)]
    memory_in_bytes: Figure,
}

/// Command of a task: a program with arguments, or a shell command.
#[derive(Deserialize)]
#[serde(untagged)]
enum Command {
    Program {
        program: Option<String>,
        #[serde(default)]
        arguments: Vec<String>,
    },
    Line(String),
}

/// Task of a file of version 1.3 or 1.4.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldTask {
    name: String,
    id: Option<String>,
    #[serde(alias = "runtime", default)]
    runtime_in_seconds: Figure,
    #[serde(default)]
    parents: Vec<String>,
    #[serde(default)]
    children: Vec<String>,
    #[serde(default)]
    files: Vec<OldFile>,
    command: Option<Command>,
    #[serde(alias = "cores", default)]
    core_count: Figure,
    #[serde(alias = "memory", default)]
    memory_in_bytes: Figure,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldFile {
    link: String,
    #[serde(alias = "id")]
    name: String,
    #[serde(alias = "size", default)]
    size_in_bytes: Figure,
}

impl UniquelyNamed for SpecifiedTask {
    const KIND: &'static str = "task";

    fn name(&self) -> &str {
        &self.id
    }
}

impl UniquelyNamed for ExecutedTask {
    const KIND: &'static str = "task";

    fn name(&self) -> &str {
        &self.id
    }
}

/// If the tasks have ids, names may repeat but ids must be unique.
impl UniquelyNamed for OldTask {
    const KIND: &'static str = "task";

    fn name(&self) -> &str {
        self.id.as_ref().unwrap_or(&self.name)
    }
}

/// Data about tasks for remarks.
#[derive(Default)]
struct TaskRemarks {
    wide: Vec<String>,
    /// Impossible numbers of cores or bytes of memory.
    odd: Vec<String>,
    /// Tasks that `execution` names but `specification` does not.
    unspecified: Vec<String>,
    needs: Pool,
}

/// Returns the format version of a document. If `schemaVersion` is missing, the form of the tasks determines the
/// version.
fn version<'a>(stated: Option<&'a str>, workflow: &Workflow, remarks: &mut Vec<String>) -> &'a str {
    let shown = match workflow {
        Workflow { specification: Some(_), .. } => "1.5",
        Workflow { tasks: Some(_), .. } => "1.3",
        _ => "none",
    };
    if stated.is_none() {
        remarks.push(format!("the file states no `schemaVersion`; it is read as version {shown}"));
    }
    stated.unwrap_or(shown)
}

/// Reads a document. With `strict`, impossible values, a missing version, and tasks that are only in `execution` are
/// errors.
pub(super) fn read(file: &str, text: &str, strict: bool) -> Result<ReadJobs, FormatError> {
    let Document { name, schema_version, workflow } = from_json(file, text.as_bytes())?;
    let wrong = |field: &str, problem: &dyn Display| FormatError::content(file, FilePlace::field(field), problem);
    let mut seen = TaskRemarks::default();
    let mut remarks = Vec::new();
    let version = version(schema_version.as_deref(), &workflow, &mut remarks);
    if strict && schema_version.is_none() {
        return Err(wrong(
            "schemaVersion",
            &"the field is missing, which --strict does not allow; state a supported version (1.3 to 1.6)",
        ));
    }
    let mut platform = Ok(None);
    let draft = match (version, workflow) {
        ("1.5" | "1.6", Workflow { specification: Some(specification), execution, .. }) => {
            let execution = execution.unwrap_or_default();
            platform = machines(&execution.machines, &mut remarks);
            apart(&specification, execution, &mut seen).map_err(|problem| wrong("workflow", &problem))?
        }
        ("1.3" | "1.4", Workflow { tasks: Some(tasks), machines, .. }) => {
            if !machines.is_empty() {
                let count = machines.len();
                remarks.push(format!(
                    "{count} machines of the file are ignored: files of versions 1.3 and 1.4 state the number of cores in different ways"
                ));
            }
            together(tasks.0, &mut seen).map_err(|problem| wrong("workflow.tasks", &problem))?
        }
        ("1.5" | "1.6", _) => {
            return Err(wrong("workflow.specification", &"the field is missing, but versions 1.5 and 1.6 require it"));
        }
        ("1.3" | "1.4", _) => {
            return Err(wrong("workflow.tasks", &"the field is missing, but versions 1.3 and 1.4 require it"));
        }
        ("none", _) => {
            let problem = "the workflow has neither `specification` (versions 1.5 and 1.6) nor `tasks` (versions 1.3 \
                           and 1.4)";
            return Err(wrong("workflow", &problem));
        }
        (other, _) => {
            let problem = format!("version {other} of WfFormat is not supported; use a file of version 1.3 to 1.6");
            return Err(wrong("schemaVersion", &problem));
        }
    };
    let [wide, odd, unspecified] = seen.remarks();
    let odd = remarked(odd, strict).map_err(|problem| wrong("workflow", &problem))?;
    let unspecified = remarked(unspecified, strict).map_err(|problem| wrong("workflow", &problem))?;
    remarks.extend(wide.into_iter().chain(odd).chain(unspecified));
    let (graph, outside) = draft.graph(strict, &mut remarks).map_err(|problem| wrong("workflow", &problem))?;
    let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| super::job_name(file));
    Ok(ReadJobs { platform, outside, ..ReadJobs::of(vec![Job::compound(name, graph)], remarks) })
}

/// Returns the files that each task reads and writes, by task name. [`read`] must accept the document.
pub(super) fn files(file: &str, text: &str) -> Result<BTreeMap<String, StatedFiles>, FormatError> {
    let Document { workflow, .. } = from_json(file, text.as_bytes())?;
    let mut seen = TaskRemarks::default();
    let draft = match workflow {
        Workflow { specification: Some(specification), execution, .. } => {
            apart(&specification, execution.unwrap_or_default(), &mut seen)
        }
        Workflow { tasks: Some(tasks), .. } => together(tasks.0, &mut seen),
        _ => return Ok(BTreeMap::new()),
    };
    let draft = draft.map_err(|problem| FormatError::content(file, FilePlace::field("workflow"), problem))?;
    Ok(draft.files())
}

impl TaskRemarks {
    /// Sets the processors and the memory of a task to the amounts that the task used in the recorded run.
    fn equip(&mut self, draft: &mut Draft, task: u32, name: &str, stated: [&Figure; 2]) {
        let owner = || format!("task `{name}`");
        let [cores, memory] = stated.map(Figure::text);
        let cores = draft.odd.read(ValueProblem::BrokenCores, cores, finite, owner);
        let memory = draft.odd.read(ValueProblem::BrokenAmount, memory, finite, owner);
        let odd = |figure: Option<f64>, least: f64| figure.filter(|&figure| figure < least);
        let figures = [("cores", odd(cores, f64::MIN_POSITIVE)), ("bytes of memory", odd(memory, 0.0))];
        let figures = figures.into_iter().filter_map(|(unit, figure)| Some((unit, figure?)));
        self.odd.extend(figures.map(|(unit, figure)| format!("{figure} {unit} of `{name}`")));
        let cores = cores.unwrap_or(1.0);
        if cores > 1.0 {
            self.wide.push(name.to_owned());
        }
        let memory = memory.and_then(bytes).map(|bytes| (Resource::MEMORY, Need::whole(bytes)));
        // The cast converts too large floats to the largest integer.
        draft.equip(task, (cores.ceil() as u32).max(1), self.needs.of(memory));
    }

    fn remarks(self) -> [Option<String>; 3] {
        let wide = self.wide.first().map(|task| {
            let count = self.wide.len();
            format!(
                "tasks that ran on several cores: {count} (such as `{task}`); each is planned on the same number of \
                 cores, rounded up"
            )
        });
        let odd = self.odd.first().map(|figure| {
            format!("impossible numbers of cores or bytes of memory are ignored: {} (such as {figure})", self.odd.len())
        });
        let unspecified = self.unspecified.first().map(|task| {
            let count = self.unspecified.len();
            format!("tasks that ran, but are not in the specification, are ignored: {count} (such as `{task}`)")
        });
        [wide, odd, unspecified]
    }
}

fn command(command: Option<Command>) -> Vec<String> {
    match command {
        Some(Command::Program { program: Some(program), arguments }) => {
            std::iter::once(program).chain(arguments).collect()
        }
        Some(Command::Line(line)) => ["sh".to_owned(), "-c".to_owned(), line].to_vec(),
        Some(Command::Program { program: None, .. }) | None => Vec::new(),
    }
}

/// Reads the tasks of versions 1.5 and 1.6.
fn apart(specification: &Specification, execution: Execution, seen: &mut TaskRemarks) -> Result<Draft, String> {
    let mut executed: FxHashMap<String, ExecutedTask> = FxHashMap::default();
    for task in execution.tasks.0 {
        executed.insert(task.id.clone(), task);
    }
    let mut draft = Draft::default();
    for file in &specification.files {
        draft.size(&file.id, file.size_in_bytes.text());
    }
    for task in &specification.tasks.0 {
        let mut ran = executed.remove(&task.id).unwrap_or_default();
        let number = draft.task(&task.id, ran.runtime_in_seconds.text(), command(ran.command.take()))?;
        seen.equip(&mut draft, number, &task.id, [&ran.core_count, &ran.memory_in_bytes]);
        for file in task.input_files.iter().chain(&task.output_files) {
            if !draft.knows(file) {
                draft.size(file, None);
            }
        }
        task.input_files.iter().for_each(|file| draft.reads(number, file, None));
        task.output_files.iter().for_each(|file| draft.writes(number, file));
    }
    seen.unspecified = executed.into_keys().collect();
    seen.unspecified.sort_unstable();
    for (number, task) in (0..).zip(&specification.tasks.0) {
        for parent in &task.parents {
            let from = draft.number(parent, &format!("parents of task `{}`", task.id))?;
            draft.wait(from, number);
        }
    }
    for (number, task) in (0..).zip(&specification.tasks.0) {
        for child in &task.children {
            let to = draft.number(child, &format!("children of task `{}`", task.id))?;
            draft.wait(number, to);
        }
    }
    Ok(draft)
}

/// Reads the tasks of versions 1.3 and 1.4. The key of a task is its `name` if the name is unique, or else its `id`.
/// References may use the name or the id.
fn together(tasks: Vec<OldTask>, seen: &mut TaskRemarks) -> Result<Draft, String> {
    let mut count: FxHashMap<&str, usize> = FxHashMap::default();
    for task in &tasks {
        *count.entry(&task.name).or_default() += 1;
    }
    let unique = count.values().all(|&count| count == 1);
    let key = |task: &OldTask| match (&task.id, unique) {
        (Some(id), false) => id.clone(),
        _ => task.name.clone(),
    };
    let keys: Vec<String> = tasks.iter().map(key).collect();
    let by_id = ids(&tasks, &keys)?;
    let mut draft = Draft::default();
    let mut links = Vec::with_capacity(tasks.len());
    for (task, key) in tasks.into_iter().zip(&keys) {
        let number = draft.task(key, task.runtime_in_seconds.text(), command(task.command))?;
        seen.equip(&mut draft, number, key, [&task.core_count, &task.memory_in_bytes]);
        for file in task.files {
            let size = draft.size(&file.name, file.size_in_bytes.text());
            match file.link.as_str() {
                "input" => draft.reads(number, &file.name, Some(size)),
                "output" => draft.writes(number, &file.name),
                other => return Err(format!("task `{key}`: link is `{other}`; write input or output")),
            }
        }
        links.push((task.parents, task.children));
    }
    let named = |name: &String| by_id.get(name).unwrap_or(name).clone();
    for (number, ((parents, _), key)) in (0..).zip(links.iter().zip(&keys)) {
        for parent in parents {
            let from = draft.number(&named(parent), &format!("parents of task `{key}`"))?;
            draft.wait(from, number);
        }
    }
    for (number, ((_, children), key)) in (0..).zip(links.iter().zip(&keys)) {
        for child in children {
            let to = draft.number(&named(child), &format!("children of task `{key}`"))?;
            draft.wait(number, to);
        }
    }
    Ok(draft)
}

/// Returns a map from ids to keys of tasks. References use ids or keys, so no id may be the key of a different task.
fn ids(tasks: &[OldTask], keys: &[String]) -> Result<FxHashMap<String, String>, String> {
    let mut by_id: FxHashMap<String, String> = FxHashMap::default();
    for (task, key) in tasks.iter().zip(keys) {
        let Some(id) = &task.id else { continue };
        if let Some(other) = by_id.insert(id.clone(), key.clone()) {
            return Err(format!("the tasks `{other}` and `{key}` have the same id, `{id}`; ids must be unique"));
        }
    }
    let other = keys.iter().find(|&key| by_id.get(key).is_some_and(|named| named != key));
    match other {
        Some(key) => Err(format!("`{key}` is the name of one task and the id of another, `{}`", by_id[key])),
        None => Ok(by_id),
    }
}
