//! A task graph under construction: tasks by name, dependencies, and the files that each task writes and reads.

use std::collections::BTreeMap;

use makespan_core::{Edge, Graph, NamedTask, Needs, Payload, Profile, Task};
use rustc_hash::{FxHashMap, FxHashSet};

use super::remarked;
use crate::odd::ImpossibleValues;
use crate::suggest::nearest;

/// Files that tasks read but no task writes.
#[derive(Default)]
pub(super) struct ExternalFiles {
    /// Tasks that read at least one of the files, in the order of the tasks. The second value is the number of bytes
    /// that the task reads.
    pub reads: Vec<(u32, u64)>,
    /// Number of files.
    pub files: usize,
    /// Total size of the files in bytes. Each file is counted once.
    pub bytes: u64,
    /// Name of the first file.
    pub first: String,
}

impl ExternalFiles {
    /// Returns the files that are read from outside. Each read consists of a task, a file and its size in bytes.
    fn of(mut reads: Vec<(u32, &str, u64)>) -> Self {
        let mut outside = Self::default();
        let mut seen = FxHashSet::default();
        for &(_, file, bytes) in &reads {
            if seen.insert(file) {
                outside.files += 1;
                outside.bytes = outside.bytes.saturating_add(bytes);
            }
        }
        outside.first = reads.first().map_or_else(String::new, |read| read.1.to_owned());
        reads.sort_by_key(|read| read.0);
        for (task, _, bytes) in reads {
            match outside.reads.last_mut() {
                Some((last, sum)) if *last == task => *sum = sum.saturating_add(bytes),
                _ => outside.reads.push((task, bytes)),
            }
        }
        outside
    }
}

/// Files of a task, under the names in the workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedFiles {
    /// Files that the task reads.
    pub reads: Vec<String>,
    /// Files that the task writes.
    pub writes: Vec<String>,
}

/// Tasks, dependencies and files, in file order.
#[derive(Default)]
pub(super) struct Draft {
    tasks: Vec<NamedTask>,
    numbers: FxHashMap<String, u32>,
    /// Dependencies that the workflow states.
    pairs: Vec<(u32, u32)>,
    stated: FxHashSet<(u32, u32)>,
    sizes: FxHashMap<String, u64>,
    /// Names of files with contradictory sizes. A name occurs once for each use that states a different size than the
    /// previous use of the file.
    differing: Vec<String>,
    /// Impossible values.
    pub(super) odd: ImpossibleValues,
    writers: FxHashMap<String, Vec<u32>>,
    /// Reads. Each read consists of a task, a file, and the size in bytes if the workflow states sizes for each read.
    reads: Vec<(u32, String, Option<u64>)>,
}

impl Draft {
    /// Adds a task and returns its number. `time` is the text of the run time in the file.
    pub(super) fn task(&mut self, name: &str, time: Option<&str>, command: Vec<String>) -> Result<u32, String> {
        let (time, estimate) = self.odd.run_time(time, || format!("task `{name}`"));
        let profile = Profile::rigid(1, time).map_err(|error| format!("task `{name}`: {error}"))?;
        let number = self.tasks.len() as u32;
        if self.numbers.insert(name.to_owned(), number).is_some() {
            return Err(format!("two tasks are named `{name}`; names must be unique"));
        }
        self.tasks.push(NamedTask { name: name.into(), task: Task { command, estimate, ..Task::new(profile) } });
        Ok(number)
    }

    /// Sets the allotment and the needs of a task. `processors` must be at least 1.
    pub(super) fn equip(&mut self, task: u32, processors: u32, needs: Needs) {
        let task = &mut self.tasks[task as usize].task;
        if let Ok(profile) = Profile::rigid(processors, task.profile.shortest()) {
            task.profile = profile;
        }
        task.needs = needs;
    }

    /// Returns the number of the task `name`. `of` describes the reference, for errors.
    pub(super) fn number(&self, name: &str, of: &str) -> Result<u32, String> {
        self.numbers.get(name).copied().ok_or_else(|| {
            let near = nearest(name, self.tasks.iter().map(|task| &*task.name));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("{of}: task `{name}` does not exist{hint}")
        })
    }

    /// Adds the dependency of `to` on `from`. Repeated dependencies are ignored.
    pub(super) fn wait(&mut self, from: u32, to: u32) {
        if self.stated.insert((from, to)) {
            self.pairs.push((from, to));
        }
    }

    /// Returns whether the workflow states the dependency of `to` on `from`.
    pub(super) fn waits(&self, from: u32, to: u32) -> bool {
        self.stated.contains(&(from, to))
    }

    /// Returns the size of a file, in bytes. `size` is the text in the workflow.
    pub(super) fn size(&mut self, file: &str, size: Option<&str>) -> u64 {
        let bytes = self.odd.bytes(size, || format!("file `{file}`"));
        if self.sizes.insert(file.to_owned(), bytes).is_some_and(|before| before != bytes) {
            self.differing.push(file.to_owned());
        }
        bytes
    }

    /// Returns whether the size of a file is stated.
    pub(super) fn knows(&self, file: &str) -> bool {
        self.sizes.contains_key(file)
    }

    pub(super) fn writes(&mut self, task: u32, file: &str) {
        let writers = self.writers.entry(file.to_owned()).or_default();
        if writers.last() != Some(&task) {
            writers.push(task);
        }
    }

    /// Adds a read. `bytes` is the size of the file, if the workflow states sizes for each read.
    pub(super) fn reads(&mut self, task: u32, file: &str, bytes: Option<u64>) {
        self.reads.push((task, file.to_owned(), bytes));
    }

    /// Returns the files that each task reads and writes, by task name. Each list is sorted and names a file once.
    pub(super) fn files(&self) -> BTreeMap<String, StatedFiles> {
        let mut files: Vec<StatedFiles> = vec![StatedFiles::default(); self.tasks.len()];
        for (task, file, _) in &self.reads {
            files[*task as usize].reads.push(file.clone());
        }
        for (file, writers) in &self.writers {
            writers.iter().for_each(|&writer| files[writer as usize].writes.push(file.clone()));
        }
        for names in files.iter_mut().flat_map(|files| [&mut files.reads, &mut files.writes]) {
            names.sort_unstable();
            names.dedup();
        }
        self.tasks.iter().map(|task| task.name.to_string()).zip(files).collect()
    }

    /// Returns the graph, and the files that no task writes. With `strict`, impossible values are errors. A dependency
    /// carries all files that its first task writes and its second task reads. A task that reads a file waits for the
    /// task that writes the file. A warning names such dependencies if the workflow does not state them.
    pub(super) fn graph(mut self, strict: bool, remarks: &mut Vec<String>) -> Result<(Graph, ExternalFiles), String> {
        self.odd.refuse(strict)?;
        let mut bytes: FxHashMap<(u32, u32), u64> = FxHashMap::default();
        let mut implied: Vec<(u32, u32)> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut outside = Vec::new();
        for (task, file, own) in &self.reads {
            if !seen.insert((*task, file.as_str())) {
                continue;
            }
            let size = own.or_else(|| self.sizes.get(file).copied()).unwrap_or(0);
            let Some(writers) = self.writers.get(file) else {
                outside.push((*task, file.as_str(), size));
                continue;
            };
            let others: Vec<u32> = writers.iter().copied().filter(|writer| writer != task).collect();
            let stated: Vec<u32> = others.iter().copied().filter(|&from| self.waits(from, *task)).collect();
            let sources = match (stated.as_slice(), others.as_slice()) {
                // The task itself updates the file, or reads the file before another task writes it.
                ([], []) => {
                    outside.push((*task, file.as_str(), size));
                    continue;
                }
                ([], [only]) => {
                    if writers.contains(task) {
                        outside.push((*task, file.as_str(), size));
                        continue;
                    }
                    implied.push((*only, *task));
                    vec![*only]
                }
                ([], _) => {
                    let name = |&task: &u32| &*self.tasks[task as usize].name;
                    let names: Vec<&str> = others.iter().take(3).map(name).collect();
                    return Err(format!(
                        "task `{}` reads file `{file}`, which several tasks write ({} ..), but waits for none of \
                         them; state for which of these tasks task `{}` waits",
                        name(task),
                        names.join(", "),
                        name(task)
                    ));
                }
                _ => stated,
            };
            for from in sources {
                let sum = bytes.entry((from, *task)).or_default();
                *sum = sum.saturating_add(size);
            }
        }
        let outside = ExternalFiles::of(outside);
        if let Some(file) = self.differing.first() {
            let count = self.differing.len();
            let differing = format!(
                "files with different sizes in different tasks: {count} (such as `{file}`); for each task that reads \
                 such a file, the size that this task states is used"
            );
            remarks.extend(remarked(Some(differing), strict)?);
        }
        remarks.extend(self.odd.remarks());
        if let Some(&(from, to)) = implied.first() {
            let (from, to) = (&self.tasks[from as usize].name, &self.tasks[to as usize].name);
            let count = implied.len();
            remarks.push(format!(
                "{count} files are read by tasks that do not state a dependency on the task that writes the file \
                 (such as `{to}`, which reads from `{from}`); these dependencies are added"
            ));
        }
        for (from, to) in implied {
            self.wait(from, to);
        }
        let edge = |&(from, to): &(u32, u32)| {
            let bytes = bytes.get(&(from, to)).copied().unwrap_or(0);
            Edge { from, to, payload: Payload::Bytes(bytes) }
        };
        let edges = self.pairs.iter().map(edge).collect();
        let graph = Graph::new(self.tasks, edges).map_err(|error| error.to_string())?;
        Ok((graph, outside))
    }
}
