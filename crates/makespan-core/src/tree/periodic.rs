//! Whole tasks in a period that repeats.
//!
//! Section 3.2 of the paper: in each period every node sends and computes what it received in the period before. A node
//! has one parent, so receiving needs no care, and what it sends within a period goes in any order.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use thiserror::Error;

use super::{Rates, TreeProblem, next_decimal};
use crate::model::Time;

/// A steady state in whole tasks and ticks.
///
/// The clock of a node is late by one period by the clock of its parent. In period i of its clock it sends to its children, one task after the other, and computes, what its parent sent in period i of *its* clock.
/// Its processors take turns: each computes the tasks of a whole period, in as many periods as there are processors,
/// so no packing is needed and no time is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Periodic {
    /// How long a period lasts.
    pub period: Time,
    /// Tasks that are computed in a period, by node and then application.
    pub tasks: Vec<u64>,
}

/// Why there is no such period.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PeriodicError {
    /// Some application does not get a single task done in a period.
    #[error("in a period of {period} s some application completes no task; choose a longer one")]
    TooShort {
        /// The period.
        period: Time,
    },
    /// The period, or what happens in it, is beyond what a schedule can hold.
    #[error("a period that long cannot be written as a schedule; choose a shorter one, rounded")]
    TooLong,
    /// More tasks and transfers than can be listed.
    #[error("{count} tasks and transfers are too many to list one by one; at most {most} are")]
    TooMany {
        /// How many there would be.
        count: u128,
        /// How many may be.
        most: usize,
    },
}

/// The least period, in ticks, in which all rates are whole numbers of tasks; it may have hundreds of digits.
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
    /// Most tasks of one kind in a period.
    pub const MAX_TASKS: u64 = 1 << 40;

    /// Rates in a period of about so long: `floor(rate * period)` tasks each. Where the times of single tasks, rounded up to
    /// ticks, need a little more, the period is longer by that, and so it is always feasible. What lacks less than the 15th
    /// figure of its rate for a whole number of tasks is that number, so that rates as a file states them make the same period
    /// ([`Periodic::is_rounded_from`]).
    ///
    /// # Errors
    /// [`PeriodicError`] when the period is too short for anything to be done, or too long to be written.
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

    /// Whether it is what [`Periodic::rounded`] makes of these rates, for some length. No length is stated, so the lengths that
    /// give just these numbers of tasks are found: an interval.
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
        // The period is the length, or what the tasks need if that is longer.
        let last = IBig::from(period);
        let first = if period == least { first } else { first.max(last.clone()) };
        period >= least && first <= last && first < end
    }

    /// Rates in the least period in which they are whole numbers of tasks.
    ///
    /// # Errors
    /// [`PeriodicError::TooLong`] when that is beyond what a schedule can hold, as it often is.
    pub fn exact(problem: &TreeProblem, rates: &Rates) -> Result<Self, PeriodicError> {
        let ticks = i64::try_from(IBig::from(exact_period(rates))).map_err(|_| PeriodicError::TooLong)?;
        Self::rounded(problem, rates, Time::from_ticks(ticks))
    }

    /// Tasks of every application that enter each subtree in a period, by node and then application.
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

    /// The ticks that the busiest port or processors need; `None` when they are too many.
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

    /// Tasks a second, by node and then application, exactly.
    pub fn rates(&self) -> Vec<RBig> {
        let (second, ticks) = (RBig::from(Time::TICKS_PER_SECOND), RBig::from(self.period.ticks()));
        self.tasks.iter().map(|&tasks| RBig::from(tasks) * &second / &ticks).collect()
    }

    /// The fair throughput of the period, weighted tasks a second, exactly.
    pub fn throughput(&self, problem: &TreeProblem) -> RBig {
        let applications = problem.applications();
        let flows = self.flows(problem);
        let root = &flows[problem.root() * applications.len()..];
        let least = applications.iter().zip(root).map(|(app, &tasks)| RBig::from(tasks) / &app.weight).min();
        let ticks = RBig::from(self.period.ticks());
        least.unwrap_or(RBig::ZERO) * RBig::from(Time::TICKS_PER_SECOND) / ticks
    }

    /// When the clock of each node starts: that of the root at 0, and each other one a period after that of its parent. After the latest of those with work the tree is in its steady state (the *start-up*), and
    /// when the root has sent its last period, as long passes until all is done (the *clean-up*), but for the turns of
    /// processors. `None` when a start is beyond what a schedule can hold: the node is unreachable in time.
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

    /// The start-up: when the last node with work is in its steady state.
    pub fn start_up(&self, problem: &TreeProblem) -> Option<Time> {
        let applications = problem.applications().len();
        let works = |node: &usize| self.tasks[node * applications..][..applications].iter().any(|&tasks| tasks > 0);
        let starts = self.starts(problem);
        (0..starts.len()).filter(works).map(|node| starts[node]).max_by_key(|start| start.unwrap_or(Time::MAX))?
    }

    /// How many tasks each node holds at most, in all: those that arrive in a period, those that it sends or computes in it,
    /// and those that its other processors still compute. The root holds everything anyway and needs no buffer.
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
