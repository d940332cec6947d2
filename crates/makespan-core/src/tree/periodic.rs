//! Periods of a steady state, in whole tasks, as in Beaumont et al. (IPDPS 2006), section 3.2. In each period, every
//! node sends and computes the tasks that it received in the previous period. A node has only one parent, so it never
//! receives two tasks at the same time. Within a period, the sends of a node can have any order.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use thiserror::Error;

use super::{Rates, TreeProblem, next_decimal};
use crate::model::Time;

/// A period of a steady state, in whole tasks and ticks.
///
/// The clock of a node starts one period after the clock of its parent. In period i of its parent's clock, a node
/// receives tasks. In period i of its own clock, the node computes these tasks or sends them to its children.
///
/// The processors of a node take turns: each computes all tasks of one period. If the node has n processors, each has
/// n periods of time for this. So the tasks of a period need not be divided among processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Periodic {
    /// Length of a period.
    pub period: Time,
    /// For each node and application, the number of tasks that are computed in a period. The applications of a node
    /// are adjacent.
    pub tasks: Vec<u64>,
}

/// The reason why rates have no period, or why a period has no schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PeriodicError {
    /// Some application completes no task in a period.
    #[error("in a period of {period} s, at least one bag completes no task; choose a longer period")]
    TooShort {
        /// The length of the period.
        period: Time,
    },
    /// The length of the period, or the number of its tasks, is too large for a schedule.
    #[error("this period is too long for a schedule; choose a shorter period (the rates are then rounded)")]
    TooLong,
    /// There are more tasks and transfers than can be listed.
    #[error("{count} tasks and transfers are too many to list one by one; at most {most} are supported")]
    TooMany {
        /// Number of tasks and transfers.
        count: u128,
        /// Maximum number of tasks and transfers.
        most: usize,
    },
}

/// Returns the smallest period, in ticks, in which all rates are whole numbers of tasks. This number may have hundreds
/// of digits.
pub fn exact_period(rates: &Rates) -> UBig {
    let second = RBig::from(Time::TICKS_PER_SECOND);
    let each = rates.all().iter().filter(|rate| !rate.is_zero()).map(|rate| rate / &second);
    each.fold(UBig::ONE, |period, rate| {
        let denominator = rate.denominator();
        let common = dashu_int::ops::Gcd::gcd(&period, denominator);
        period / common * denominator
    })
}

impl Periodic {
    /// Maximum number of tasks per node and application in a period.
    pub const MAX_TASKS: u64 = 1 << 40;

    /// Rounds each rate down to a whole number of tasks in a period, `floor(rate * period)`. The result is always
    /// feasible: if rounding the time of each task up to a tick makes the tasks take longer than the period, the
    /// period becomes longer. Files state rates with 15 significant figures. A rate that is below a whole number of
    /// tasks by less than one unit in its 15th significant figure is rounded up to this number. So rates from a file
    /// give the same period as the original rates ([`Periodic::is_rounded_from`]).
    ///
    /// # Errors
    /// [`PeriodicError`] if the period is too short to complete a task of each application, or too long for a
    /// schedule.
    pub fn rounded(problem: &TreeProblem, rates: &Rates, period: Time) -> Result<Self, PeriodicError> {
        let seconds = RBig::from_parts(period.ticks().into(), (Time::TICKS_PER_SECOND as u64).into());
        let whole = |rate: &RBig| {
            let tasks = (next_decimal(rate) * &seconds).floor();
            u64::try_from(tasks).ok().filter(|&tasks| tasks <= Self::MAX_TASKS)
        };
        let tasks: Option<Vec<u64>> = rates.all().iter().map(whole).collect();
        let periodic = Self { period, tasks: tasks.ok_or(PeriodicError::TooLong)? };
        let applications = problem.applications().len();
        if periodic.flows(problem)[problem.root() * applications..][..applications].contains(&0) {
            return Err(PeriodicError::TooShort { period });
        }
        let period =
            Time::from_ticks(periodic.least_period(problem).ok_or(PeriodicError::TooLong)?.max(period.ticks()));
        Ok(Self { period, ..periodic })
    }

    /// Returns true if [`Periodic::rounded`] turns these rates into this period for some requested length. The
    /// requested length is not stored, so this method computes the interval of lengths that give exactly these numbers
    /// of tasks.
    pub fn is_rounded_from(&self, problem: &TreeProblem, rates: &Rates) -> bool {
        let Some(least) = self.least_period(problem) else { return false };
        let period = self.period.ticks();
        let (mut first, mut end) = (IBig::ONE, IBig::from(i64::MAX));
        let second = RBig::from(Time::TICKS_PER_SECOND);
        for (&tasks, rate) in self.tasks.iter().zip(rates.all()) {
            if rate.is_zero() {
                if tasks > 0 {
                    return false;
                }
                continue;
            }
            let each = &second / next_decimal(rate);
            first = first.max((RBig::from(tasks) * &each).ceil());
            end = end.min((RBig::from(tasks + 1) * each).ceil());
        }
        // The period is the longer of the requested length and the time of its tasks.
        let last = IBig::from(period);
        let first = if period == least { first } else { first.max(last.clone()) };
        period >= least && first <= last && first < end
    }

    /// Returns the smallest period in which all rates are whole numbers of tasks.
    ///
    /// # Errors
    /// [`PeriodicError::TooLong`] if this period exceeds the range of a schedule, which happens often.
    pub fn exact(problem: &TreeProblem, rates: &Rates) -> Result<Self, PeriodicError> {
        let ticks = i64::try_from(IBig::from(exact_period(rates))).map_err(|_| PeriodicError::TooLong)?;
        Self::rounded(problem, rates, Time::from_ticks(ticks))
    }

    /// Returns the number of tasks of every application that enter each subtree in a period, by node and then
    /// application.
    pub fn flows(&self, problem: &TreeProblem) -> Vec<u64> {
        let applications = problem.applications().len();
        let mut flows = self.tasks.clone();
        for &node in problem.order().iter().rev() {
            if let Some(parent) = problem.nodes()[node].parent {
                for application in 0..applications {
                    let flow = flows[node * applications + application];
                    flows[parent * applications + application] += flow;
                }
            }
        }
        flows
    }

    /// Returns the minimum length of the period in ticks: the time that the busiest port or the busiest processors need
    /// for its tasks. Returns `None` if this time is too large.
    fn least_period(&self, problem: &TreeProblem) -> Option<i64> {
        let applications = problem.applications().len();
        let flows = self.flows(problem);
        let mut longest = 0_i128;
        for (node, one) in problem.nodes().iter().enumerate() {
            let (mut computing, mut sending) = (0_i128, 0_i128);
            for application in 0..applications {
                let tasks = i128::from(self.tasks[node * applications + application]);
                if tasks > 0 {
                    computing += tasks * i128::from(problem.compute_time(node, application).ticks());
                }
                for &child in problem.children(node) {
                    let tasks = i128::from(flows[child * applications + application]);
                    if tasks > 0 {
                        sending += tasks * i128::from(problem.send_time(child, application)?.ticks());
                    }
                }
            }
            let turns = i128::from(one.processors.max(1));
            longest = longest.max(sending).max((computing + turns - 1) / turns);
        }
        i64::try_from(longest).ok().filter(|&ticks| ticks <= i64::MAX / 4)
    }

    /// Returns the exact number of tasks that are computed per second, by node and then application.
    pub fn rates(&self) -> Vec<RBig> {
        let (second, ticks) = (RBig::from(Time::TICKS_PER_SECOND), RBig::from(self.period.ticks()));
        self.tasks.iter().map(|&tasks| RBig::from(tasks) * &second / &ticks).collect()
    }

    /// Returns the exact fair throughput of the period, in weighted tasks per second.
    pub fn throughput(&self, problem: &TreeProblem) -> RBig {
        let applications = problem.applications();
        let flows = self.flows(problem);
        let root = &flows[problem.root() * applications.len()..];
        let least = applications.iter().zip(root).map(|(app, &tasks)| RBig::from(tasks) / &app.weight).min();
        let ticks = RBig::from(self.period.ticks());
        least.unwrap_or(RBig::ZERO) * RBig::from(Time::TICKS_PER_SECOND) / ticks
    }

    /// Returns the start of each node's clock: 0 for the root, and for any other node one period after the start of
    /// its parent's clock. The *start-up* lasts until the latest start of a node with work. After the start-up, the
    /// tree is in its steady state. The *clean-up* begins when the root has sent the tasks of its last period. It takes
    /// as long as the start-up, plus the time until each processor has completed the tasks of its last period. The
    /// start of a node is `None` if it exceeds the range of a schedule.
    pub fn starts(&self, problem: &TreeProblem) -> Vec<Option<Time>> {
        let mut starts = vec![Some(Time::ZERO); problem.nodes().len()];
        for &node in problem.order() {
            if let Some(parent) = problem.nodes()[node].parent {
                let ticks = starts[parent].and_then(|start: Time| start.ticks().checked_add(self.period.ticks()));
                starts[node] = ticks.filter(|&ticks| ticks <= i64::MAX / 4).map(Time::from_ticks);
            }
        }
        starts
    }

    /// Returns the end of the start-up: the instant at which the last node with work is in its steady state.
    pub fn start_up(&self, problem: &TreeProblem) -> Option<Time> {
        let applications = problem.applications().len();
        let works = |node: &usize| self.tasks[node * applications..][..applications].iter().any(|&tasks| tasks > 0);
        let starts = self.starts(problem);
        (0..starts.len()).filter(works).map(|node| starts[node]).max_by_key(|start| start.unwrap_or(Time::MAX))?
    }

    /// Returns the maximum number of tasks in the buffer of each node. The buffer contains the tasks that arrive in a
    /// period, and the tasks that the node sends or computes in this period. It also contains the tasks of earlier
    /// periods that other processors of the node still compute. Returns 0 for the root, which has all tasks and needs
    /// no buffer.
    pub fn buffers(&self, problem: &TreeProblem) -> Vec<u64> {
        let applications = problem.applications().len();
        let flows = self.flows(problem);
        let buffer = |(node, one): (usize, &super::TreeNode)| {
            let count = |of: &[u64]| of[node * applications..][..applications].iter().sum::<u64>();
            let turns = u64::from(one.processors.max(1) - 1);
            if node == problem.root() { 0 } else { 2 * count(&flows) + count(&self.tasks) * turns }
        };
        problem.nodes().iter().enumerate().map(buffer).collect()
    }
}
