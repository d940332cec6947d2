//! The list of tasks in a journal, which identifies the tasks after an edit of the instance.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use makespan_core::{Instance, Job, Rows, TaskId, task_digests};
use serde::{Deserialize, Serialize};

use crate::stem::file_stem;

/// Tasks of an instance in order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskList(Vec<Entry>);

/// A task, or all tasks of a bag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    job: String,
    /// Name within a compound job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    /// Number of tasks of a bag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bag: Option<u64>,
    /// Hash of everything that can affect the result of the task.
    does: String,
    /// Hash of everything that is stated about the task.
    states: String,
    /// Stems of the names of output files, one for each task. Empty if the stems are derived from the names of the
    /// tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
}

/// Maps the tasks of an instance to the tasks of the edited instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// For each old task, the new task with the same command and inputs. The value is true if all other stated data
    /// are also unchanged.
    pub same: BTreeMap<TaskId, (TaskId, bool)>,
    /// New tasks with the name of an old task, but with a different command or different inputs.
    pub edited: Vec<TaskId>,
    pub new: Vec<TaskId>,
    /// Old tasks that are not in the edited instance.
    pub removed: Vec<TaskId>,
}

impl TaskList {
    pub(crate) fn of(instance: &Instance) -> Self {
        Self::default().more(instance)
    }

    /// Returns the entries of the tasks that were added to a growing instance.
    pub(crate) fn more(&self, instance: &Instance) -> Self {
        let count = self.0.len();
        let digests = task_digests(instance, count, |number| &self.0[number].does);
        let new = instance.different_task_ids_from(count).map(|task| (instance.job_of(task), task));
        let entry = |((does, states), (job, task)): ((String, String), (&Job<Rows>, TaskId))| Entry {
            job: job.name.clone(),
            task: job.is_compound().then(|| instance.short_name(task).into_owned()),
            bag: job.is_bag().then(|| job.tasks()),
            does,
            states,
            files: Vec::new(),
        };
        Self(digests.into_iter().zip(new).map(entry).collect())
    }

    /// Appends tasks.
    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Returns whether this list begins with the `others`. Ignores the names of output files.
    pub(crate) fn begins_with(&self, others: &Self) -> bool {
        let task = |entry: &Entry| Entry { files: Vec::new(), ..entry.clone() };
        let is_same = |(own, other): (&Entry, &Entry)| task(own) == task(other);
        self.0.len() >= others.0.len() && self.0.iter().zip(&others.0).all(is_same)
    }

    /// Returns whether the list is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of tasks.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|entry| entry.bag.unwrap_or(1)).sum()
    }

    /// Returns each task with its entry and its number in its bag.
    fn tasks(&self) -> impl Iterator<Item = (TaskId, &Entry, u64)> {
        let each = self.0.iter().flat_map(|entry| (0..entry.bag.unwrap_or(1)).map(move |number| (entry, number)));
        (0..).zip(each).map(|(task, (entry, number))| (TaskId(task), entry, number))
    }

    /// Returns the names of the tasks, by number.
    pub(crate) fn names(&self) -> Vec<String> {
        self.tasks().map(|(_, entry, number)| entry.name(number).into_owned()).collect()
    }

    /// Returns the stems of the names of output files, by task.
    pub(crate) fn stems(&self) -> Vec<String> {
        let stem = |(id, entry, number): (TaskId, &Entry, u64)| match entry.files.get(number as usize) {
            Some(stem) => stem.clone(),
            None => entry.own_stem(id, number),
        };
        self.tasks().map(stem).collect()
    }

    /// Lets the tasks of this list keep the output files that they have in the `old` list, before the edit. A new task
    /// gets a stem that is neither in the old list nor in `used`. However, if a removed task had the same name, the
    /// new task may get the stem of the removed task.
    pub(crate) fn keep_files(&mut self, old: &Self, mapping: &Mapping, used: &BTreeSet<String>) {
        let old_stems = old.stems();
        let own: Vec<String> = self.tasks().map(|(id, entry, number)| entry.own_stem(id, number)).collect();
        let mut stems: Vec<Option<String>> = vec![None; own.len()];
        for (old, (new, _)) in &mapping.same {
            stems[new.index()] = Some(old_stems[old.index()].clone());
        }
        let by_name: BTreeMap<Cow<'_, str>, TaskId> =
            old.tasks().map(|(id, entry, number)| (entry.name(number), id)).collect();
        let edited: BTreeSet<TaskId> = mapping.edited.iter().copied().collect();
        for (id, entry, number) in self.tasks().filter(|(id, ..)| edited.contains(id)) {
            stems[id.index()] = by_name.get(&entry.name(number)).map(|old| old_stems[old.index()].clone());
        }
        let mut taken: BTreeSet<String> = old_stems.iter().chain(used).cloned().collect();
        let removed: BTreeSet<TaskId> = mapping.removed.iter().copied().collect();
        for (id, entry, number) in self.tasks() {
            let replaced = by_name.get(&entry.name(number)).filter(|gone| removed.contains(gone));
            if replaced.is_some_and(|gone| old_stems[gone.index()] == own[id.index()]) {
                taken.remove(&own[id.index()]);
            }
        }
        let stated: BTreeSet<&str> = own.iter().map(String::as_str).collect();
        for (stem, own) in stems.iter_mut().zip(&own).filter(|(stem, _)| stem.is_none()) {
            let others = (2..).map(|number| format!("{own}-{number}")).filter(|name| !stated.contains(name.as_str()));
            let name = std::iter::once(own.clone()).chain(others).find(|name| !taken.contains(name));
            taken.extend(name.clone());
            *stem = name;
        }
        let mut stems = stems.into_iter().zip(own);
        for entry in &mut self.0 {
            let count = entry.bag.unwrap_or(1) as usize;
            let (files, own): (Vec<_>, Vec<_>) =
                stems.by_ref().take(count).map(|(stem, own)| (stem.unwrap_or_else(|| own.clone()), own)).unzip();
            entry.files = if files == own { Vec::new() } else { files };
        }
    }

    /// Returns whether a task of this list corresponds to one of the `others`, by its name or by its command and
    /// inputs.
    pub(crate) fn has_any_of(&self, others: &Self) -> bool {
        let names: BTreeSet<Cow<'_, str>> = others.tasks().map(|(_, entry, number)| entry.name(number)).collect();
        let does: BTreeSet<&str> = others.0.iter().map(|entry| entry.does.as_str()).collect();
        self.tasks().any(|(_, entry, number)| does.contains(entry.does.as_str()) || names.contains(&entry.name(number)))
    }

    /// Maps these tasks to the tasks of the `new` list. Tasks correspond if they have the same name, command and
    /// inputs. If names are generated (`made_up`), names are ignored. Each new task corresponds to at most one old
    /// task: first to an old task with the same name, then to an old task that `is_done` accepts, then to another old
    /// task.
    pub(crate) fn mapped(&self, new: &Self, made_up: bool, is_done: impl Fn(TaskId) -> bool) -> Mapping {
        let old_names: BTreeMap<Cow<'_, str>, (TaskId, &Entry)> =
            self.tasks().map(|(id, entry, number)| (entry.name(number), (id, entry))).collect();
        let mut mapping = Mapping::default();
        let mut rest = Vec::new();
        for (id, entry, number) in new.tasks() {
            match old_names.get(&entry.name(number)) {
                Some((old, was)) if was.does == entry.does => {
                    mapping.same.insert(*old, (id, was.states == entry.states));
                }
                Some(_) if !made_up => mapping.edited.push(id),
                _ => rest.push((id, entry, number)),
            }
        }
        let left =
            |mapping: &Mapping| self.tasks().filter(|(id, ..)| !mapping.same.contains_key(id)).collect::<Vec<_>>();
        if made_up {
            let mut others: BTreeMap<(&str, u64), VecDeque<(TaskId, &Entry)>> = BTreeMap::new();
            let mut there = left(&mapping);
            there.sort_by_key(|&(id, ..)| (!is_done(id), id));
            for (id, entry, number) in there {
                others.entry((&entry.does, number)).or_default().push_back((id, entry));
            }
            rest.retain(|(id, entry, number)| {
                let other = others.get_mut(&(entry.does.as_str(), *number)).and_then(VecDeque::pop_front);
                other.is_none_or(|(old, was)| {
                    mapping.same.insert(old, (*id, was.states == entry.states));
                    false
                })
            });
        }
        mapping.new = rest.into_iter().map(|(id, ..)| id).collect();
        let new_names: BTreeSet<_> = new.tasks().map(|(_, entry, number)| entry.name(number)).collect();
        let gone = left(&mapping)
            .into_iter()
            .filter(|(_, entry, number)| made_up || !new_names.contains(&entry.name(*number)));
        mapping.removed = gone.map(|(id, ..)| id).collect();
        mapping
    }
}

impl Entry {
    /// Returns the stem of the output files that is derived from the name of a task.
    fn own_stem(&self, id: TaskId, number: u64) -> String {
        file_stem(&self.job, self.task.as_deref(), &self.name(number), id.index())
    }

    fn name(&self, number: u64) -> Cow<'_, str> {
        match (&self.task, self.bag) {
            (Some(task), _) => Cow::Owned(format!("{}/{task}", self.job)),
            (None, Some(_)) => Cow::Owned(format!("{}/{number}", self.job)),
            (None, None) => Cow::Borrowed(&self.job),
        }
    }
}

impl Mapping {
    /// Describes the edits in a sentence. `done` is the number of finished tasks, and `old` and `new` are the names of the tasks.
    pub fn describe(&self, done: usize, old: &[String], new: &[String]) -> String {
        const NAMED: usize = 5;
        let named = |tasks: &[TaskId], names: &[String]| {
            let first: Vec<String> =
                tasks.iter().take(NAMED).map(|task| format!("`{}`", names[task.index()])).collect();
            let more = if tasks.len() > NAMED { " .." } else { "" };
            format!("{}{more}", first.join(", "))
        };
        let mut parts = vec![match done {
            1 => "1 job has ended and is not run again".to_owned(),
            _ => format!("{done} jobs have ended and are not run again"),
        }];
        let kinds = [
            (
                &self.edited,
                "was changed, or waits for a changed job, and is run",
                "were changed, or wait for a changed job, and are run",
                new,
            ),
            (&self.new, "is new", "are new", new),
            (&self.removed, "was removed", "were removed", old),
        ];
        for (tasks, one, many, names) in kinds.into_iter().filter(|(tasks, ..)| !tasks.is_empty()) {
            let what = if tasks.len() == 1 { one } else { many };
            parts.push(format!("{} {what}: {}", tasks.len(), named(tasks, names)));
        }
        format!("the instance was edited since the run began: {}", parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use makespan_core::{Need, Needs, Platform, Profile, Resources, Time, Weight};

    fn job(name: &str, command: &str) -> Job {
        sized(name, command, (1, 1))
    }

    /// Creates a job with this number of processors and this run time in seconds.
    fn sized(name: &str, command: &str, (processors, seconds): (u32, i64)) -> Job {
        let profile = Profile::rigid(processors, Time::from_seconds(seconds)).unwrap();
        Job::new(name, profile).with_command(command.split(' ').map(str::to_owned).collect())
    }

    fn after(mut job: Job, others: &[&str]) -> Job {
        job.after = others.iter().map(|&name| name.into()).collect();
        job
    }

    fn list(jobs: Vec<Job>) -> TaskList {
        let amounts = Resources::new([("memory", 64), ("gpus", 4)]).unwrap();
        let platform = Platform::flat(4).unwrap().with_node_resources(&amounts).unwrap();
        TaskList::of(&Instance::new(platform, jobs, vec![]).unwrap())
    }

    /// Returns the number of tasks that are unchanged, that have the same command and inputs, that were edited, that
    /// are new, and that were removed.
    fn counts(old: &TaskList, new: &TaskList, made_up: bool) -> [usize; 5] {
        let Mapping { same, edited, new, removed } = old.mapped(new, made_up, |_| false);
        let all = same.values().filter(|(_, all)| *all).count();
        [all, same.len() - all, edited.len(), new.len(), removed.len()]
    }

    #[test]
    fn what_a_task_does_is_its_command_its_gpus_and_what_it_waits_for() {
        let old = || list(vec![job("a", "x {processors}"), after(job("b", "y"), &["a"]), job("c", "z")]);
        assert_eq!(counts(&old(), &old(), false), [3, 0, 0, 0, 0]);
        let with = |second: Job| list(vec![job("a", "x {processors}"), after(second, &["a"]), job("c", "z")]);
        // The time and the processors of a job, and its weight, do not change its result.
        let heavy = sized("b", "y", (2, 77))
            .with_weight(Weight::from_millionths(7).unwrap())
            .with_walltime(Time::from_seconds(99));
        let needs = |name: &str| Needs::new([(name, Need::whole(2))]).unwrap();
        assert_eq!(counts(&old(), &with(heavy.with_needs(needs("memory"))), false), [2, 1, 0, 0, 0]);
        assert_eq!(counts(&old(), &with(job("b", "y").with_needs(needs("gpus"))), false), [2, 0, 1, 0, 0]);
        assert_eq!(counts(&old(), &with(job("b", "y z")), false), [2, 0, 1, 0, 0]);
        assert_eq!(counts(&old(), &with(job("d", "y")), false), [2, 0, 0, 1, 1]);
        // A task that waits for an edited job has different inputs. If a command contains the processors, different
        // processors change the command.
        let edited = |first: Job| list(vec![first, after(job("b", "y"), &["a"]), job("c", "z")]);
        assert_eq!(counts(&old(), &edited(job("a", "w {processors}")), false), [1, 0, 2, 0, 0]);
        let wide = sized("a", "x {processors}", (2, 1));
        assert_eq!(counts(&old(), &edited(wide), false), [1, 0, 2, 0, 0]);
    }

    #[test]
    fn made_up_names_tell_nothing_and_equal_tasks_count() {
        let numbered = |commands: &[&str]| {
            list(commands.iter().enumerate().map(|(line, command)| job(&format!("{line}"), command)).collect())
        };
        let old = numbered(&["x", "y", "x"]);
        assert_eq!(counts(&old, &numbered(&["new", "x", "y", "x"]), true), [3, 0, 0, 1, 0]);
        assert_eq!(counts(&old, &numbered(&["x", "x", "x", "x"]), true), [2, 0, 0, 2, 1]);
        let last_is_done = |task: TaskId| task.0 == 2;
        let mapping = old.mapped(&numbered(&["y", "x"]), true, last_is_done);
        assert_eq!(mapping.same.into_keys().collect::<Vec<_>>(), [TaskId(1), TaskId(2)]);
        assert_eq!(mapping.removed, [TaskId(0)]);
    }

    /// Checks that output files keep their names when lines of a list are inserted, moved and removed, and that no two
    /// tasks share a name.
    #[test]
    fn output_files_keep_their_names() {
        let numbered = |commands: &[&str]| {
            list(commands.iter().enumerate().map(|(line, command)| job(&format!("{line}-echo"), command)).collect())
        };
        let edited = |old: &TaskList, commands: &[&str], used: &[&str]| {
            let mut new = numbered(commands);
            let mapping = old.mapped(&new, true, |_| true);
            new.keep_files(old, &mapping, &used.iter().map(|stem| (*stem).to_owned()).collect());
            new
        };
        let first = numbered(&["a", "b", "c"]);
        let second = edited(&first, &["new", "a", "b", "c"], &[]);
        assert_eq!(second.stems(), ["0-echo-2", "0-echo", "1-echo", "2-echo"]);
        let third = edited(&second, &["c", "newer", "newest", "a", "last"], &["4-echo"]);
        assert_eq!(third.stems(), ["2-echo", "1-echo-2", "2-echo-2", "0-echo", "4-echo-2"]);
        let read: TaskList = serde_json::from_str(&serde_json::to_string(&third).unwrap()).unwrap();
        assert_eq!((read.stems(), edited(&third, &["c"], &[]).stems()), (third.stems(), vec!["2-echo".to_owned()]));
        // In a list of commands, a job that replaces a job with the same name gets the files of the old job.
        assert_eq!(edited(&first, &["a", "other", "c"], &["1-echo"]).stems(), ["0-echo", "1-echo", "2-echo"]);
        // An edited job keeps its name and its files, even if the name of the file contains a number.
        let (old, mut new) = (list(vec![job("a b", "x")]), list(vec![job("first", "y"), job("a b", "z")]));
        let mapping = old.mapped(&new, false, |_| true);
        new.keep_files(&old, &mapping, &BTreeSet::new());
        assert_eq!(new.stems(), ["first", "_a_b~0"]);
    }

    #[test]
    fn a_bag_that_grows_keeps_what_it_had() {
        let bag = |count: u64| list(vec![job("a", "x"), job("bag", "t {task}").with_count(count.try_into().unwrap())]);
        assert_eq!(counts(&bag(2), &bag(4), false), [1, 2, 0, 2, 0]);
        assert_eq!(bag(3).names(), ["a", "bag/0", "bag/1", "bag/2"]);
        assert_eq!((bag(3).count(), bag(2).stems()), (4, vec!["a".into(), "bag~0".into(), "bag~1".into()]));
    }
}
