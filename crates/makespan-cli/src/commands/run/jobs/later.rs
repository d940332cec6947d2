//! Plans again the tasks that are not submitted yet, and the tasks of an earlier session.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use makespan_core::{Instance, Job, Placement, TaskId, Time, Unavailable};
use miette::{Result, miette};

use super::ClusterOfJobs;
use crate::commands::run::decider::Decider;

/// Minimum time between two plans.
const PAUSE: Duration = Duration::from_secs(10);
/// Minimum time between two plans if the run has several clusters.
const SHORT_PAUSE: Duration = Duration::from_secs(2);
/// Minimum time between two plans, as a multiple of the computation time of the last plan.
const TIMES: u32 = 5;

/// Chooses again how many processors each task gets, and the order of the tasks. Other running and pending jobs of the
/// cluster keep their processors.
pub struct LaterPlan<'a> {
    cluster: &'a ClusterOfJobs,
    decider: &'a Decider,
    seed: u64,
    /// The earliest instant of the next plan.
    next: Instant,
}

impl<'a> LaterPlan<'a> {
    pub fn new(cluster: &'a ClusterOfJobs, decider: &'a Decider, seed: u64) -> Self {
        Self { cluster, decider, seed, next: Instant::now() }
    }

    /// Returns a new plan of these tasks, or `None` if the existing plan is kept.
    pub fn plan(&mut self, instance: &Instance, now: Time, tasks: &[TaskId]) -> Option<Vec<Placement>> {
        let begun = Instant::now();
        if begun < self.next {
            return None;
        }
        // If there is no plan that Slurm can execute, the existing plan is kept.
        let planned = self.planned(instance, now, tasks).ok();
        // When jobs leave a cluster that does not answer, they need a new plan soon. So ignore the time of the last
        // plan, which may have waited for this cluster.
        let pause = if self.cluster.has_several_clusters() { SHORT_PAUSE } else { PAUSE.max(begun.elapsed() * TIMES) };
        self.next = Instant::now() + pause;
        planned
    }

    fn planned(&self, instance: &Instance, now: Time, tasks: &[TaskId]) -> Result<Vec<Placement>> {
        let rest = rest(instance, now, tasks)?;
        let begun = self.cluster.plan_beside(&self.decider.of_rest(&rest), &rest, self.seed, Vec::new(), false)?;
        self.cluster.check_plan(&rest, &begun.schedule)?;
        let own = |placement: &Placement| Placement { task: tasks[placement.task.index()], ..placement.clone() };
        Ok(begun.schedule.placements().iter().map(own).collect())
    }
}

/// Returns an instance of these tasks in this order, with times relative to `now`. Dependencies on other tasks are
/// left out, because these other tasks are already submitted.
fn rest(instance: &Instance, now: Time, tasks: &[TaskId]) -> Result<Instance> {
    let names: BTreeMap<TaskId, String> = tasks.iter().map(|&task| (task, instance.name(task).into_owned())).collect();
    let job = |&task: &TaskId| {
        let before = instance.incoming(task).flat_map(|edge| instance.equal_tasks(edge.from));
        let before: BTreeSet<&str> = before.filter_map(|before| names.get(&before)).map(String::as_str).collect();
        let job = instance.alone(task);
        let (release, deadline) = (job.release, job.deadline);
        let job = Job { deadline: deadline.map(|deadline| deadline.saturating_since(now)), ..job };
        job.with_release(release.saturating_since(now)).with_after(before)
    };
    let jobs = tasks.iter().map(job).collect();
    let closed = instance.unavailable().iter().filter(|period| period.end > now).map(|period| Unavailable {
        start: period.start.saturating_since(now),
        end: period.end.saturating_since(now),
        processors: period.processors.clone(),
    });
    Instance::new(instance.platform().clone(), jobs, closed.collect()).map_err(|error| miette!("{error}"))
}

#[cfg(test)]
mod tests {
    use makespan_core::{Platform, Profile};

    use super::*;

    #[test]
    fn what_is_left_is_seen_from_now_with_the_order_that_it_has() {
        let second = Time::from_seconds;
        let job = |name: &str| Job::new(name, Profile::rigid(1, second(5)).unwrap());
        let jobs = vec![job("a"), job("b").with_after(["a"]), job("c").with_after(["b"]).with_release(second(30))];
        let closed = |from, to| Unavailable { processors: "0".parse().unwrap(), start: second(from), end: second(to) };
        let instance =
            Instance::new(Platform::flat(2).unwrap(), jobs, vec![closed(0, 8), closed(5, 25), closed(50, 60)]).unwrap();
        let rest = rest(&instance, second(20), &[TaskId(2), TaskId(1)]).unwrap();
        assert_eq!((rest.name(TaskId(0)).as_ref(), rest.release(TaskId(0))), ("c", second(10)));
        assert_eq!(rest.release(TaskId(1)), Time::ZERO);
        let edges: Vec<(TaskId, TaskId)> = rest.edges().iter().map(|edge| (edge.from, edge.to)).collect();
        assert_eq!(edges, [(TaskId(1), TaskId(0))], "its other predecessor is already submitted");
        let periods: Vec<(Time, Time)> = rest.unavailable().iter().map(|period| (period.start, period.end)).collect();
        assert_eq!(periods, [(Time::ZERO, second(5)), (second(30), second(40))]);
    }
}
