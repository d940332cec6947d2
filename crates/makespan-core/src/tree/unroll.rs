//! Conversion of a periodic steady state to a schedule with its transfers.

use super::{NetworkSchedule, Periodic, PeriodicError, Rates, Transfer, TreeProblem};
use crate::model::{Instance, ProcSet, TaskId, Time};
use crate::schedule::{Placement, Schedule};

/// Maximum number of placements and transfers of a schedule.
const MAX: usize = 20_000_000;

/// Maximum number of shorter periods that [`Periodic::shortened`] tries. Each is `SHORTER` times as long as the
/// previous one.
const TRIED: i32 = 60;
const SHORTER: f64 = 0.8;
/// Maximum number of tasks for which shorter periods are tried. With more tasks, the time for start-up and clean-up is
/// negligible.
const FEW: u128 = 5000;

/// Numbering of the tasks of one application within a period, for one node and its subtree. The tasks of a subtree have
/// consecutive numbers.
#[derive(Clone, Copy)]
struct Numbers {
    /// Number of the first task of the subtree. The tasks that the node itself computes come first.
    first: u64,
    own: u64,
    subtree: u64,
}

/// The state of the conversion to a schedule.
struct Unrolling<'a> {
    periodic: &'a Periodic,
    instance: &'a Instance,
    problem: &'a TreeProblem,
    numbers: Vec<Numbers>,
    starts: Vec<Option<Time>>,
    placements: Vec<Placement>,
    transfers: Vec<Transfer>,
}

impl Periodic {
    /// Returns the schedule of the first `periods` periods, or, if `periods` is `None`, of all tasks. The schedule
    /// includes start-up and clean-up. The last period may contain fewer tasks of an application. `problem` is the
    /// tree problem of `instance`.
    ///
    /// # Errors
    /// [`PeriodicError`] if the schedule is too long or has too many entries.
    pub fn unroll(
        &self,
        instance: &Instance,
        problem: &TreeProblem,
        periods: Option<u64>,
    ) -> Result<NetworkSchedule, PeriodicError> {
        let mut unrolling = Unrolling {
            periodic: self,
            instance,
            problem,
            numbers: self.numbers(problem),
            starts: self.starts(problem),
            placements: Vec::new(),
            transfers: Vec::new(),
        };
        let applications = problem.applications();
        let root = problem.root() * applications.len();
        let each: Vec<u64> = (0..applications.len()).map(|at| unrolling.numbers[root + at].subtree).collect();
        if each.contains(&0) {
            return Err(PeriodicError::TooShort { period: self.period });
        }
        let needed = applications.iter().zip(&each).map(|(app, &each)| app.count.div_ceil(each)).max().unwrap_or(0);
        let periods = periods.map_or(needed, |periods| periods.min(needed));
        let tasks: u128 = applications.iter().map(|app| u128::from(app.count)).sum();
        if tasks > MAX as u128 {
            return Err(PeriodicError::TooMany { count: tasks, most: MAX });
        }
        for period in 0..periods {
            let done = |at: usize| each[at].saturating_mul(period);
            let left = |at: usize| applications[at].count.saturating_sub(done(at)).min(each[at]);
            let quota: Vec<(u64, u64)> = (0..applications.len()).map(|at| (done(at), left(at))).collect();
            for node in 0..problem.nodes().len() {
                unrolling.node(node, period, &quota)?;
            }
            let count = unrolling.placements.len() + unrolling.transfers.len();
            if count > MAX {
                return Err(PeriodicError::TooMany { count: count as u128, most: MAX });
            }
        }
        unrolling.transfers.sort_by_key(|transfer| (transfer.start, transfer.to, transfer.task));
        Ok(NetworkSchedule { schedule: Schedule::new(unrolling.placements), transfers: unrolling.transfers })
    }

    /// Returns the period that gives the schedule with the smallest makespan. The candidates are this period, and
    /// shorter periods that are rounded from `rates`. Each candidate is 20 % shorter than the previous one. A longer
    /// period loses less throughput to rounding, and a shorter period loses less time to start-up and clean-up. If
    /// there are more than `FEW` tasks, returns this period without a search.
    #[must_use]
    pub fn shortened(&self, instance: &Instance, problem: &TreeProblem, rates: &Rates) -> Self {
        let tasks: u128 = problem.applications().iter().map(|app| u128::from(app.count)).sum();
        if tasks > FEW {
            return self.clone();
        }
        let end = |period: &Self| {
            period.unroll(instance, problem, None).map_or(Time::MAX, |network| network.schedule.makespan())
        };
        let lengths = (1..=TRIED).map(|step| self.period.seconds() * SHORTER.powi(step));
        let shorter = lengths.filter_map(|length| Time::from_seconds_f64(length).ok());
        let tried = shorter.map_while(|length| Self::rounded(problem, rates, length).ok());
        std::iter::once(self.clone()).chain(tried).min_by_key(end).unwrap_or_else(|| self.clone())
    }

    /// Assigns numbers to the tasks within a period, in depth-first order of the nodes from the root.
    fn numbers(&self, problem: &TreeProblem) -> Vec<Numbers> {
        let applications = problem.applications().len();
        let flows = self.flows(problem);
        let number = |at: usize| Numbers { first: 0, own: self.tasks[at], subtree: flows[at] };
        let mut numbers: Vec<Numbers> = (0..flows.len()).map(number).collect();
        for &node in problem.order() {
            for application in 0..applications {
                let own = numbers[node * applications + application];
                let mut next = own.first + own.own;
                for &child in problem.children(node) {
                    let child = &mut numbers[child * applications + application];
                    child.first = next;
                    next += child.subtree;
                }
            }
        }
        numbers
    }
}

impl Unrolling<'_> {
    /// Adds the computations and the sends of a node in one period of the node's clock. For each application, `quota`
    /// contains two counts: the tasks in all earlier periods, and the tasks in this period.
    fn node(&mut self, node: usize, period: u64, quota: &[(u64, u64)]) -> Result<(), PeriodicError> {
        let applications = quota.len();
        let numbers = &self.numbers[node * applications..][..applications];
        if numbers.iter().all(|numbers| numbers.subtree == 0) {
            return Ok(());
        }
        let length = i128::from(self.periodic.period.ticks());
        let start = self.starts[node].ok_or(PeriodicError::TooLong)?;
        let start = i128::from(start.ticks()) + i128::from(period) * length;
        let last = start + length * i128::from(self.problem.nodes()[node].processors.max(1) + 1);
        if last > i128::from(i64::MAX / 2) {
            return Err(PeriodicError::TooLong);
        }
        let start = Time::from_ticks(start as i64);
        self.compute(node, period, quota, start);
        self.send(node, quota, start)
    }

    fn compute(&mut self, node: usize, period: u64, quota: &[(u64, u64)], mut at: Time) {
        let processors = self.instance.platform().processors_of(node);
        let Some(&(first, _)) = processors.intervals().first() else { return };
        let turn = first + (period % u64::from(self.problem.nodes()[node].processors)) as u32;
        for (application, &(done, quota)) in quota.iter().enumerate() {
            let numbers = self.numbers[node * self.problem.applications().len() + application];
            let (from, to) = (numbers.first.min(quota), (numbers.first + numbers.own).min(quota));
            let first = self.problem.applications()[application].first;
            for task in from..to {
                let end = at + self.problem.compute_time(node, application);
                let processors = ProcSet::range(turn, turn);
                self.placements.push(Placement { task: TaskId(first.0 + done + task), start: at, end, processors });
                at = end;
            }
        }
    }

    fn send(&mut self, node: usize, quota: &[(u64, u64)], mut at: Time) -> Result<(), PeriodicError> {
        let applications = self.problem.applications();
        for &to in self.problem.children(node) {
            for (application, &(done, quota)) in quota.iter().enumerate() {
                let numbers = self.numbers[to * applications.len() + application];
                let (from, until) = (numbers.first.min(quota), (numbers.first + numbers.subtree).min(quota));
                if from == until {
                    continue;
                }
                let takes = self.problem.send_time(to, application).ok_or(PeriodicError::TooLong)?;
                for task in from..until {
                    let (task, end) = (TaskId(applications[application].first.0 + done + task), at + takes);
                    self.transfers.push(Transfer { task, to, start: at, end });
                    at = end;
                }
            }
        }
        Ok(())
    }
}
