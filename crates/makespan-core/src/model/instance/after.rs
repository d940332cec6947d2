//! Jobs that wait for other jobs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::{Instance, InstanceError};
use crate::model::{Dependence, Graph, Job, JobId, Work};

/// Job ids by name.
pub(super) type JobIdsByName<'a> = FxHashMap<&'a str, JobId>;

/// Returns, for each of these jobs, the jobs that it waits for. The instance already has `before` older jobs; `older`
/// finds an older job by its name.
///
/// # Errors
/// [`InstanceError`] names a job that does not exist, or the jobs of a cycle.
pub(super) fn resolved(
    jobs: &[Job],
    before: u32,
    older: impl Fn(&str) -> Option<JobId>,
) -> Result<Vec<Vec<JobId>>, InstanceError> {
    if jobs.iter().all(|job| job.after.is_empty()) {
        return Ok(vec![Vec::new(); jobs.len()]);
    }
    let known: JobIdsByName<'_> = jobs.iter().zip(before..).map(|(job, id)| (job.name.as_str(), JobId(id))).collect();
    let each = |job: &Job| {
        let id = |name: &std::sync::Arc<str>| {
            let found = known.get(&**name).copied().or_else(|| older(name));
            found.ok_or_else(|| InstanceError::UnknownJob { job: job.name.clone(), after: name.to_string() })
        };
        job.after.iter().map(id).collect::<Result<Vec<_>, _>>().map(once)
    };
    let waits = jobs.iter().map(each).collect::<Result<Vec<_>, _>>()?;
    let own = |job: &JobId| job.0.checked_sub(before);
    let among: Vec<Vec<u32>> = waits.iter().map(|after| after.iter().filter_map(own).collect()).collect();
    sorted(&among)
        .map_err(|cycle| InstanceError::Cycle(cycle.into_iter().map(|at| jobs[at as usize].name.clone()).collect()))?;
    Ok(waits)
}

/// Returns the jobs in `known` that `job` waits for. Other names are ignored.
pub(super) fn among(job: &Job, known: &JobIdsByName<'_>) -> Vec<JobId> {
    once(job.after.iter().filter_map(|name| known.get(&**name).copied()).collect())
}

fn once(mut jobs: Vec<JobId>) -> Vec<JobId> {
    jobs.sort_unstable();
    jobs.dedup();
    jobs
}

/// Returns the numbers from 0 in topological order, each after all numbers in its entry of `before`. If several numbers
/// may come next, the smallest comes next.
///
/// # Errors
/// If there is a cycle, returns the numbers of a cycle, each before the number that waits for it.
pub(super) fn sorted(before: &[Vec<u32>]) -> Result<Vec<u32>, Vec<u32>> {
    let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut behind: Vec<Vec<u32>> = vec![Vec::new(); before.len()];
    for (number, all) in (0..).zip(before) {
        all.iter().for_each(|&one| behind[one as usize].push(number));
    }
    let ready = (0..).zip(&missing).filter(|(_, missing)| **missing == 0);
    let mut ready: BinaryHeap<Reverse<u32>> = ready.map(|(number, _)| Reverse(number)).collect();
    let mut order = Vec::with_capacity(before.len());
    while let Some(Reverse(next)) = ready.pop() {
        order.push(next);
        for &number in &behind[next as usize] {
            missing[number as usize] -= 1;
            if missing[number as usize] == 0 {
                ready.push(Reverse(number));
            }
        }
    }
    if order.len() == before.len() { Ok(order) } else { Err(cycle(before, &missing)) }
}

/// Returns a cycle of the numbers with a positive entry in `missing`.
fn cycle(before: &[Vec<u32>], missing: &[usize]) -> Vec<u32> {
    let mut path = Vec::new();
    let mut seen_at = vec![usize::MAX; before.len()];
    let mut at = missing.iter().position(|&missing| missing > 0).unwrap_or(0);
    // Each number with a positive entry in `missing` waits for another such number.
    while seen_at[at] == usize::MAX {
        seen_at[at] = path.len();
        path.push(at as u32);
        let next = before[at].iter().find(|&&one| missing[one as usize] > 0);
        at = next.map_or(at, |&one| one as usize);
    }
    let mut cycle = path.split_off(seen_at[at]);
    cycle.reverse();
    cycle
}

impl Instance {
    /// Returns an error if the jobs would add more edges than are supported.
    pub(super) fn check_edges(&self, jobs: &[Job], waits: &[Vec<JobId>]) -> Result<(), InstanceError> {
        let begin = self.jobs.len();
        let own = |job: &Job| job.work.graph().map_or(0, |graph| graph.edges().len());
        let mut edges = self.table.edges().len() + jobs.iter().map(own).sum::<usize>();
        if waits.iter().any(|after| !after.is_empty()) {
            let new: Vec<(usize, usize)> = jobs.iter().map(|job| ends(&job.work)).collect();
            let ends = |job: JobId| match job.index().checked_sub(begin) {
                Some(at) => new[at],
                None => self.table.ends(self.job(job)),
            };
            for (at, after) in waits.iter().enumerate() {
                edges += after.iter().map(|&before| ends(before).1 * new[at].0).sum::<usize>();
            }
        }
        if edges > Graph::MAX { Err(InstanceError::TooManyEdges(edges)) } else { Ok(()) }
    }
}

/// Returns two counts of tasks of a job: the tasks without a predecessor in the job, and the tasks without a successor
/// in the job.
fn ends(work: &Work) -> (usize, usize) {
    let Work::Graph(graph) = work else { return (1, 1) };
    let (mut waits, mut awaited) = (vec![false; graph.len()], vec![false; graph.len()]);
    for edge in graph.edges() {
        waits[edge.to as usize] = true;
        awaited[edge.from as usize] = true;
    }
    let without = |flags: Vec<bool>| flags.into_iter().filter(|flag| !flag).count();
    (without(waits), without(awaited))
}

impl Dependence {
    /// Returns true if the edge is between tasks of different jobs. Such an edge carries no data.
    pub fn is_between_jobs(&self, instance: &Instance) -> bool {
        instance.has_edges_between_jobs() && instance.job_id(self.from) != instance.job_id(self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Edge, NamedTask, Payload, Platform, Profile, TaskId, Time};

    fn job(name: &str, after: &[&str]) -> Job {
        Job::new(name, Profile::rigid(1, Time::from_seconds(1)).unwrap()).with_after(after.iter().copied())
    }

    fn instance(jobs: Vec<Job>) -> Result<Instance, InstanceError> {
        Instance::new(Platform::flat(2).unwrap(), jobs, vec![])
    }

    #[test]
    fn cycles_and_strangers_are_named() {
        let refused = |jobs| instance(jobs).unwrap_err().to_string();
        let cycle = refused(vec![job("a", &["c"]), job("b", &["a"]), job("c", &["b"]), job("d", &["a"])]);
        assert!(cycle.contains("b -> c -> a -> b") || cycle.contains("a -> b -> c -> a"), "{cycle}");
        assert!(refused(vec![job("a", &["a"])]).contains("a -> a"));
        assert!(refused(vec![job("a", &["x"])]).contains("job `a` waits for `x`, but no job has this name"));
    }

    #[test]
    fn the_last_tasks_of_one_job_lead_to_the_first_of_the_next() {
        let task = |name| NamedTask::new(name, Profile::rigid(1, Time::from_seconds(1)).unwrap());
        let edge = |from, to| Edge { from, to, payload: Payload::Bytes(7) };
        let fork = Graph::new(vec![task("x"), task("y"), task("z")], vec![edge(0, 1), edge(0, 2)]).unwrap();
        let compound = |name, after: &[&str]| Job::compound(name, fork.clone()).with_after(after.iter().copied());
        let jobs =
            vec![compound("c", &["b", "d"]), job("b", &[]).with_count(5.try_into().unwrap()), compound("d", &[])];
        let whole = instance(jobs.clone()).unwrap();
        let pairs: Vec<(u64, u64)> = whole.edges()[4..].iter().map(|edge| (edge.from.0, edge.to.0)).collect();
        assert_eq!(pairs, [(3, 0), (9, 0), (10, 0)]);
        assert_eq!(whole.jobs_in_order(), [JobId(1), JobId(2), JobId(0)]);
        assert_eq!(whole.last_jobs(), [JobId(0)]);
        assert_eq!((whole.edges_of(JobId(0)).len(), whole.edges_of(JobId(2)).len()), (2, 2));
        assert_eq!(whole.incoming(TaskId(0)).len(), 3);
        // An edge of a bag is an edge of each of its tasks.
        assert_eq!(whole.outgoing(TaskId(6)).map(|edge| edge.to).collect::<Vec<_>>(), [TaskId(0)]);
        assert_eq!(whole.with_jobs(whole.all_submitted()).edges(), whole.edges());
        let alone = whole.with_jobs(vec![whole.submitted(JobId(0))]);
        assert!(!alone.has_edges_between_jobs() && alone.edges().len() == 2);
        // Appends the jobs in order, so that a job comes after the jobs that it waits for.
        let mut grown = instance(vec![jobs[1].clone(), jobs[2].clone()]).unwrap();
        grown.append(vec![jobs[0].clone()]).unwrap();
        let pairs: Vec<(u64, u64)> = grown.edges().iter().map(|edge| (edge.from.0, edge.to.0)).collect();
        assert_eq!(pairs, [(5, 6), (5, 7), (8, 9), (8, 10), (0, 8), (6, 8), (7, 8)]);
        assert!(matches!(grown.append(vec![job("e", &["f"])]), Err(InstanceError::UnknownJob { .. })));
        grown.append(vec![job("e", &["c"]), job("f", &["e"])]).unwrap();
        assert_eq!(grown.outgoing(TaskId(9)).map(|edge| edge.to).collect::<Vec<_>>(), [TaskId(11)]);
    }
}
