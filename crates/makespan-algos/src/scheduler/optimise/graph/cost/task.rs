//! The input of the search: dues (deadlines), costs, and the comparison of schedules.

use makespan_core::{Instance, JobId, Time, task_cost, volume};

use crate::kernel::chains::deadline::{deadline, makespan_alone};
use crate::kernel::chains::frame::Frame;
use crate::kernel::graph::{GraphProblem, NEVER, NodeId, ProcessorId, TaskPlace, rank};
use crate::scheduler::heft;

/// Tasks and their costs, and jobs and their dues.
pub(super) struct CostTask<'a> {
    pub(super) instance: &'a Instance,
    pub(super) problem: &'a GraphProblem,
    /// The deadline of a job that states no deadline. This deadline is counted from the release, as a multiple of
    /// HEFT's makespan for the job alone.
    pub(super) deadline: f64,
    /// The instant by which each job must end.
    pub(super) dues: Vec<i64>,
    /// The cost of each task on each node, in thousandths. Zero if the task cannot run on the node.
    costs: Vec<i64>,
}

/// The rank of a schedule. Schedules are compared by the number of late jobs, then by the sum of the tardiness, then by
/// the cost. A lower rank is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CostRank {
    pub(super) late: usize,
    /// The sum of tardiness, in ticks.
    pub(super) tardiness: i128,
    /// The cost, in thousandths.
    pub(super) cost: i128,
}

impl CostRank {
    /// If jobs are late, returns a remark for the user.
    pub(super) fn remark(&self) -> Option<String> {
        let ticks = Time::from_ticks(i64::try_from(self.tardiness).unwrap_or(i64::MAX));
        (self.late > 0).then(|| {
            format!(
                "no schedule was found that meets all stated and assumed deadlines: the jobs are {ticks} s late in \
                 total, and each task of a bag is treated as a job"
            )
        })
    }
}

impl<'a> CostTask<'a> {
    /// Returns the input. Every job must end by its deadline and, if `limit` is set, by `limit`. If no job has edges,
    /// all jobs without a stated deadline share one deadline. This deadline is `factor` times the makespan of HEFT's
    /// plan for all jobs, counted from the first release.
    pub(super) fn new(instance: &'a Instance, problem: &'a GraphProblem, factor: f64, limit: Option<Time>) -> Self {
        let mut costs = Vec::with_capacity(problem.tasks() * problem.nodes());
        for task in instance.task_ids() {
            let volume = volume(instance.profile(task));
            let cost = |&time: &i64| if time == NEVER { 0 } else { task_cost(volume, Time::from_ticks(time)) };
            costs.extend(problem.times(task.0 as u32).iter().map(cost));
        }
        let mut task = Self { instance, problem, deadline: factor, dues: Vec::new(), costs };
        task.dues = task.dues(limit.map(Time::ticks));
        task
    }

    fn dues(&self, limit: Option<i64>) -> Vec<i64> {
        let instance = self.instance;
        let crowd = (limit.is_none() && !instance.has_compound_jobs()).then(|| {
            let first = instance.first_release().ticks();
            let places = heft(self.problem);
            let last = places.iter().zip(0..).map(|(place, task)| place.start + self.time(task, place.processor));
            first + ((last.max().unwrap_or(first) - first) as f64 * self.deadline).ceil() as i64
        });
        let due = |id: JobId| {
            let job = instance.job(id);
            if let Some(limit) = limit {
                return job.deadline.map_or(limit, |stated| stated.ticks().min(limit)).max(job.release.ticks());
            }
            let alone = || makespan_alone(&Frame::new(instance, self.problem, id, false));
            let stated = job.deadline.or(crowd.map(Time::from_ticks));
            deadline(stated, job.release.ticks(), alone, self.deadline)
        };
        instance.ids().map(due).collect()
    }

    /// Returns the last due.
    pub(super) fn horizon(&self) -> Time {
        Time::from_ticks(self.dues.iter().copied().max().unwrap_or(0))
    }

    /// Returns the cost of a task on a node.
    pub(super) fn cost(&self, task: u32, node: NodeId) -> i64 {
        self.costs[task as usize * self.problem.nodes() + node.index()]
    }

    /// Returns the time of a task on a processor.
    pub(super) fn time(&self, task: u32, processor: ProcessorId) -> i64 {
        self.problem.time(task, self.problem.node_of(processor))
    }

    /// Returns the rank of a schedule.
    pub(super) fn merit(&self, places: &[TaskPlace]) -> CostRank {
        let mut ends = vec![0; self.dues.len()];
        let mut cost = 0;
        for (place, task) in places.iter().zip(0..) {
            let end = &mut ends[self.problem.job_of(task).index()];
            *end = (*end).max(place.start + self.time(task, place.processor));
            cost += i128::from(self.cost(task, self.problem.node_of(place.processor)));
        }
        let late = ends.iter().zip(&self.dues).filter(|(end, due)| end > due);
        let tardiness = late.clone().map(|(end, due)| i128::from(end - due)).sum();
        CostRank { late: late.count(), tardiness, cost }
    }
}

/// Returns HEFT's places for all jobs together.
pub(super) fn heft(problem: &GraphProblem) -> Vec<TaskPlace> {
    heft::places(problem, &rank::upward(problem, &rank::mean_times(problem)))
}
