//! The value of a complete or partial schedule.

use makespan_core::{EndCost, EndPenalty, Objective};

use super::MoldableProblem;

/// Cost of each tick by which the makespan exceeds its limit. This cost exceeds all other costs.
const BEYOND: f64 = 1e9;

/// An objective. Each group of tasks has a cost, which depends on the last end in the group. The objective is the
/// maximum or the sum of these costs. A group contains all tasks, or the tasks of one job.
#[derive(Clone, Debug)]
pub struct Measure {
    groups: Vec<Group>,
    /// The group of each task. The list is empty if there is one group.
    group_of: Vec<u32>,
    is_sum: bool,
    /// Maximum makespan of a schedule.
    limit: i64,
}

/// The cost of a group: `weight` for each tick from `from` to the last end in the group, or `weight` multiplied by a
/// penalty of this end.
#[derive(Clone, Debug)]
struct Group {
    weight: f64,
    from: i64,
    penalty: Option<EndPenalty>,
}

/// The value of a partial schedule. This value never decreases when a task is added.
#[derive(Clone, Debug, Default)]
pub(super) struct PartialValue {
    /// For each group, a lower bound on the last end in the group. The bound follows from the tasks that are already
    /// placed.
    ends: Vec<i64>,
    last: i64,
    cost: f64,
    beyond: f64,
}

impl Measure {
    /// Returns the measure for schedules of a problem. For the mean flow, the measure is the sum of all flow times.
    /// Weights are in millionths.
    pub fn new(problem: &MoldableProblem<'_>, objective: Objective, limit: Option<i64>) -> Self {
        let instance = problem.instance();
        let limit = limit.unwrap_or(i64::MAX);
        let Some(shape) = objective.of_jobs() else {
            let groups = vec![Group { weight: 1.0, from: 0, penalty: None }];
            return Self { groups, group_of: Vec::new(), is_sum: false, limit };
        };
        let costs = instance.jobs().iter().map(|job| shape.cost(job));
        let group = |EndCost { weight, from, penalty, .. }: EndCost<'_>| Group {
            weight: weight as f64,
            from,
            penalty: penalty.cloned(),
        };
        let groups = costs.map(group).collect();
        let group_of = (0..problem.tasks() as u32).map(|task| problem.job_of(task).0).collect();
        Self { groups, group_of, is_sum: shape.is_sum, limit }
    }

    /// Returns the group of a task.
    #[inline]
    pub fn group(&self, task: u32) -> usize {
        if self.group_of.is_empty() { 0 } else { self.group_of[task as usize] as usize }
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns whether the makespan is the only criterion.
    pub(super) fn is_makespan(&self) -> bool {
        self.group_of.is_empty()
    }

    /// Returns the cost of a group that ends at `end`.
    pub fn cost(&self, group: usize, end: i64) -> f64 {
        let Group { weight, from, ref penalty } = self.groups[group];
        if let Some(penalty) = penalty {
            return weight * penalty.millionths(end.into()) as f64;
        }
        weight * end.saturating_sub(from).max(0) as f64
    }

    pub(super) fn reset(&self, tally: &mut PartialValue) {
        tally.ends.clear();
        tally.ends.resize(self.groups.len(), 0);
        (tally.last, tally.cost, tally.beyond) = (0, 0.0, 0.0);
    }

    /// Adds a task that ends at `end`. The successors of the task need at least `tail` ticks after this end. Returns
    /// the new value.
    #[inline]
    pub(super) fn add(&self, tally: &mut PartialValue, task: u32, end: i64, tail: i64) -> f64 {
        let group = self.group(task);
        let known = tally.ends[group];
        if end + tail > known {
            tally.ends[group] = end + tail;
            let cost = self.cost(group, end + tail);
            tally.cost = if self.is_sum { tally.cost + (cost - self.cost(group, known)) } else { tally.cost.max(cost) };
        }
        if end > tally.last {
            tally.last = end;
            if end > self.limit {
                tally.beyond = BEYOND * (end - self.limit) as f64;
            }
        }
        // If two schedules exceed the limit, the schedule with the smaller excess is better. If the excess is equal,
        // the schedule with the smaller cost is better.
        if tally.beyond > 0.0 { tally.cost + tally.beyond * (1.0 + tally.cost * 1e-6) } else { tally.cost }
    }

    /// Returns the exact value of the added tasks, in the unit that [`Measure::new`] states.
    pub(super) fn value(&self, tally: &PartialValue) -> f64 {
        let each = (0..self.groups.len()).map(|group| self.cost(group, tally.ends[group]));
        let cost = if self.is_sum { each.sum() } else { each.fold(0.0, f64::max) };
        if tally.beyond > 0.0 { cost + tally.beyond * (1.0 + cost * 1e-6) } else { cost }
    }
}
