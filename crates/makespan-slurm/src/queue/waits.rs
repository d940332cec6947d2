//! Dependencies between the jobs of an instance, and warnings about jobs that are left out.

use std::collections::{BTreeMap, HashMap};

use makespan_core::{Job as Work, Time};

use super::{Condition, Dependency, DependencyTargets, Queue, QueueJob};

/// Maximum number of jobs in a warning.
const MAX_NAMED: usize = 4;

/// Warnings, each with the jobs to which it applies.
#[derive(Default)]
pub(super) struct JobNotes(BTreeMap<String, Vec<String>>);

impl JobNotes {
    pub(super) fn add(&mut self, job: &QueueJob, what: impl Into<String>) {
        self.add_named(&job.shown, what);
    }

    pub(super) fn add_named(&mut self, job: &str, what: impl Into<String>) {
        let jobs = self.0.entry(what.into()).or_default();
        if jobs.last().is_none_or(|last| last != job) {
            jobs.push(job.to_owned());
        }
    }

    pub(super) fn remarks(self) -> Vec<String> {
        let remark = |(what, jobs): (String, Vec<String>)| {
            let named = jobs.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = jobs.len().saturating_sub(MAX_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{} {named}{more}: {what}", if jobs.len() == 1 { "job" } else { "jobs" })
        };
        self.0.into_iter().map(remark).collect()
    }
}

/// Adds all jobs that depend, directly or indirectly, on a job that is left out.
pub(super) fn add_what_waits(gone: &mut HashMap<String, &'static str>, works: &[Work]) {
    let mut before = 0;
    while gone.len() > before {
        before = gone.len();
        for work in works.iter().filter(|work| !work.after.is_empty()) {
            if !gone.contains_key(&work.name) && work.after.iter().any(|name| gone.contains_key(name.as_ref())) {
                gone.insert(work.name.clone(), "it waits for a job that is left out");
            }
        }
    }
}

/// The dependencies of the jobs.
pub(super) struct Waits {
    /// Jobs that can never start, by their index in the instance, with reasons.
    never: Vec<(usize, &'static str)>,
}

/// The jobs of the instance, and the dependencies between them.
struct Places<'a> {
    queue: &'a Queue,
    /// For each job of the instance, the index of the job in the queue.
    jobs: &'a [usize],
    targets: DependencyTargets<'a>,
    /// For each job of the queue in the instance, its index in the instance.
    place_of: HashMap<usize, usize>,
}

impl<'a> Places<'a> {
    fn of(queue: &'a Queue, jobs: &'a [usize]) -> Self {
        let place_of = jobs.iter().enumerate().map(|(place, &index)| (index, place)).collect();
        Self { queue, jobs, targets: DependencyTargets::of(queue), place_of }
    }

    fn job(&self, place: usize) -> &'a QueueJob {
        &self.queue.jobs[self.jobs[place]]
    }

    /// Returns the condition of a dependency. If the job can never start, returns the reason.
    fn before(&self, wait: &Dependency, by: usize, notes: &mut JobNotes) -> Result<StartCondition, &'static str> {
        if wait.has_failed {
            return Err("its dependency can never be satisfied");
        }
        let mut all = self.targets.jobs(self.jobs[by], wait);
        if all.is_empty() && wait.condition != Condition::Singleton {
            return Err(NOT_IN_QUEUE);
        }
        match wait.condition {
            Condition::Failed => {
                return Err("it waits for another job to fail, but the instance assumes that all jobs succeed");
            }
            Condition::Started(delay) => {
                let starts = all.iter().map(|&index| Some(self.queue.jobs[index].run.as_ref()?.started));
                if let Some(start) = starts.collect::<Option<Vec<i64>>>().and_then(|starts| starts.into_iter().max()) {
                    let from = start.saturating_add(delay).saturating_sub(self.queue.now);
                    return Ok(StartCondition { after: Vec::new(), from });
                }
            }
            // Slurm cancels jobs that cannot meet their deadlines, and a cancellation is an end.
            Condition::Ended | Condition::Singleton => {
                all.retain(|&index| !self.queue.jobs[index].is_too_late(self.queue.now))
            }
            Condition::Succeeded | Condition::SameTask => {}
        }
        // A job that is left out never ends, and one such job is sufficient.
        let after: Option<Vec<usize>> = all.iter().map(|index| self.place_of.get(index).copied()).collect();
        let after = after.ok_or("it waits for a job that is left out")?;
        if matches!(wait.condition, Condition::Started(_)) {
            notes.add(self.job(by), "a dependency on the start of other jobs is treated as a dependency on their end");
        }
        Ok(StartCondition { after, from: 0 })
    }
}

/// The condition of a dependency.
struct StartCondition {
    /// The jobs that must end first, by their index in the instance.
    after: Vec<usize>,
    /// The instant from which the job may start, in seconds after the instant of the queue.
    from: i64,
}

const NOT_IN_QUEUE: &str = "it waits for a job that is not in the queue";

impl Waits {
    /// Sets the dependencies between the jobs of an instance.
    pub(super) fn of(queue: &Queue, jobs: &[usize], works: &mut [Work], notes: &mut JobNotes) -> Self {
        let places = Places::of(queue, jobs);
        let mut never = Vec::new();
        for by in 0..jobs.len() {
            let job = places.job(by);
            if job.run.is_some() {
                continue;
            }
            let (mut before, mut from): (Vec<usize>, i64) = (Vec::new(), 0);
            let conditions: Vec<_> = job.waits_for.iter().map(|wait| places.before(wait, by, notes)).collect();
            // If one alternative is sufficient, leave out alternatives that are impossible.
            let is_any = job.waits_for.iter().any(|wait| wait.any);
            let is_one_possible = is_any && conditions.iter().any(Result::is_ok);
            for condition in conditions {
                match condition {
                    Ok(condition) => {
                        before.extend(condition.after);
                        from = from.max(condition.from);
                    }
                    Err(_) if is_one_possible => {}
                    Err(why) => never.push((by, why)),
                }
            }
            if from > 0 {
                works[by].release = works[by].release.max(Time::from_seconds(from));
            }
            if job.waits_for.len() > 1 && is_any {
                notes.add(job, "a dependency on one of several jobs is treated as a dependency on all of them");
            }
            if job.together.is_some() {
                notes.add(
                    job,
                    "the components of a heterogeneous job are planned one by one, although Slurm starts them together",
                );
            }
            before.sort_unstable();
            before.dedup();
            if !before.is_empty() {
                let names: Vec<String> = before.into_iter().map(|place| works[place].name.clone()).collect();
                works[by] = works[by].clone().with_after(names);
            }
        }
        Self { never }
    }

    /// Removes the jobs that can never start. Also removes all jobs that depend on them.
    pub(super) fn leave_out(self, queue: &Queue, jobs: &mut Vec<usize>, works: &mut Vec<Work>, notes: &mut JobNotes) {
        let named = self.never.into_iter().map(|(place, why)| (works[place].name.clone(), why));
        let mut gone: HashMap<String, &'static str> = named.collect();
        add_what_waits(&mut gone, works);
        let mut kept = Vec::new();
        for (&index, work) in jobs.iter().zip(works.iter()) {
            match gone.get(&work.name) {
                Some(why) => notes.add(&queue.jobs[index], format!("left out, {why}")),
                None => kept.push(index),
            }
        }
        works.retain(|work| !gone.contains_key(&work.name));
        *jobs = kept;
    }
}
