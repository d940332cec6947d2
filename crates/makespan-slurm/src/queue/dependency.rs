//! Dependencies of jobs, such as `afterok:69(unfulfilled),afterany:70`.

use std::collections::HashMap;

use super::Queue;

/// The required state of the other job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The other job started at least this number of seconds ago.
    Started(i64),
    /// The other job has ended, with or without success.
    Ended,
    /// The other job has ended with success.
    Succeeded,
    /// The other job has ended without success.
    Failed,
    /// The task with the same number in the other array has ended with success.
    SameTask,
    /// All earlier jobs of the user with the same name have ended.
    Singleton,
}

/// A dependency of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The required state of the other job.
    pub condition: Condition,
    /// The id of the other job, or of an array. An array means all its tasks. 0 for [`Condition::Singleton`].
    pub job: u64,
    /// The number of the array task. `None` means all tasks.
    pub task: Option<u64>,
    /// True if Slurm reports that the dependency can never be satisfied.
    pub has_failed: bool,
    /// True if the job needs only one of its dependencies. If false, it needs all of them.
    pub any: bool,
}

impl Dependency {
    /// Parses a list of dependencies. Also returns the parts that cannot be parsed.
    pub fn list(text: &str) -> (Vec<Self>, Vec<String>) {
        let (mut found, mut strange) = (Vec::new(), Vec::new());
        let any = text.contains('?');
        let mut condition = None;
        for part in text.split([',', '?']).map(str::trim).filter(|part| !part.is_empty()) {
            // If a job after a comma has no condition, the condition of the previous job is used.
            let mut words = part.split(':');
            let first = words.next().unwrap_or_default();
            let named = named(first.split_once('(').map_or(first, |(word, _)| word));
            let jobs: Vec<&str> = if named.is_some() { words.collect() } else { part.split(':').collect() };
            condition = named.or(condition);
            match condition {
                Some(Condition::Singleton) if jobs.is_empty() => {
                    found.push(Self { condition: Condition::Singleton, job: 0, task: None, has_failed: false, any });
                }
                Some(condition) if !jobs.is_empty() => {
                    for job in jobs {
                        match Self::one(condition, job, any) {
                            Some(one) => found.push(one),
                            None => strange.push(part.to_owned()),
                        }
                    }
                }
                _ => strange.push(part.to_owned()),
            }
        }
        (found, strange)
    }

    /// Parses a job such as `65_3+5(unfulfilled)`.
    fn one(condition: Condition, text: &str, any: bool) -> Option<Self> {
        let (text, note) = text.split_once('(').unwrap_or((text, ""));
        let (text, minutes) = match text.split_once('+') {
            Some((text, minutes)) => (text, minutes.parse::<u32>().ok()?),
            None => (text, 0),
        };
        let (job, task) = match text.split_once('_') {
            Some((job, "*")) => (job, None),
            Some((job, task)) => (job, Some(task.parse().ok()?)),
            None => (text, None),
        };
        let condition = match condition {
            Condition::Started(_) => Condition::Started(i64::from(minutes) * 60),
            other => other,
        };
        Some(Self { condition, job: job.parse().ok()?, task, has_failed: note.starts_with("failed"), any })
    }
}

fn named(word: &str) -> Option<Condition> {
    Some(match word {
        "after" => Condition::Started(0),
        // `afterburstbuffer` also waits for the buffers of the other job. Ignore this difference.
        "afterany" | "afterburstbuffer" => Condition::Ended,
        "afterok" => Condition::Succeeded,
        "afternotok" => Condition::Failed,
        "aftercorr" => Condition::SameTask,
        "singleton" => Condition::Singleton,
        _ => return None,
    })
}

/// Finds the jobs to which dependencies refer.
pub(crate) struct DependencyTargets<'a> {
    queue: &'a Queue,
    /// The jobs by their ids, and the tasks of arrays by the ids of the arrays.
    by_id: HashMap<u64, Vec<usize>>,
}

impl<'a> DependencyTargets<'a> {
    pub(crate) fn of(queue: &'a Queue) -> Self {
        let mut by_id: HashMap<u64, Vec<usize>> = HashMap::new();
        for (index, job) in queue.jobs.iter().enumerate() {
            by_id.entry(job.id).or_default().push(index);
            if let Some(member) = job.array.filter(|member| member.array != job.id) {
                by_id.entry(member.array).or_default().push(index);
            }
        }
        Self { queue, by_id }
    }

    /// Returns the jobs of the queue to which a dependency of the job `index` refers.
    pub(crate) fn jobs(&self, index: usize, dependency: &Dependency) -> Vec<usize> {
        let (jobs, own) = (&self.queue.jobs, &self.queue.jobs[index]);
        if dependency.condition == Condition::Singleton {
            let before = |&other: &usize| {
                jobs[other].name == own.name && jobs[other].user == own.user && jobs[other].id < own.id
            };
            return (0..jobs.len()).filter(before).collect();
        }
        let task = dependency.task.or_else(|| match dependency.condition {
            Condition::SameTask => own.array.map(|own| own.task),
            _ => None,
        });
        let is_meant = |&other: &usize| {
            other != index && task.is_none_or(|task| jobs[other].array.is_none_or(|member| member.task == task))
        };
        let named = self.by_id.get(&dependency.job).map_or(&[][..], Vec::as_slice);
        named.iter().copied().filter(is_meant).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let (list, strange) =
            Dependency::list("afterok:69(unfulfilled),afterany:70_3(failed),after:71+5,singleton(unfulfilled)");
        assert!(strange.is_empty(), "{strange:?}");
        let shown: Vec<_> = list.iter().map(|one| (one.condition, one.job, one.task, one.has_failed)).collect();
        assert_eq!(
            shown,
            [
                (Condition::Succeeded, 69, None, false),
                (Condition::Ended, 70, Some(3), true),
                (Condition::Started(300), 71, None, false),
                (Condition::Singleton, 0, None, false),
            ]
        );
        let (list, _) = Dependency::list("afterok:1?afterok:2_*");
        assert!(list.len() == 2 && list.iter().all(|one| one.any && one.task.is_none()));
        assert_eq!(Dependency::list("afterok:1:2,3").0.len(), 3);
    }

    #[test]
    fn what_is_strange_is_returned() {
        for wrong in ["nonsense:1", "afterok:x", "5", "afterok", "after:1+x", "afterok:1_y"] {
            let (_, strange) = Dependency::list(wrong);
            assert!(!strange.is_empty(), "{wrong}");
        }
    }
}
