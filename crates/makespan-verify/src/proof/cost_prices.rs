//! Lower bounds on the cost of all tasks, for schedules that end by a horizon.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::error::malformed;
use super::prefix::PriceIntegral;
use super::prices::{self, Sum};
use super::spans::{NodeTimes, Spans};
use super::{CertificateError, JobReach, Kind, NodeKinds, Scope, Value};
use makespan_core::{Instance, JobId, Objective, TaskId, Time, task_cost, volume};

/// Prices for the time of processors, and for the time between the two tasks of each edge.
///
/// Suppose that all tasks end by the horizon H. Let `lambda_k(t) >= 0` be the price of a processor of node k at instant
/// t, and `y_e >= 0` the price of a tick on edge e. Let `c_ik` be the cost of task i on node k, and `t_ik` its time on
/// this node. Let `s_i` be the start of task i, and `C_i` its end. The cost of every schedule that ends by H is at
/// least
///
/// `sum_i min_(k, s) [ c_ik + out_i (s + t_ik) - in_i s + integral of lambda_k over [s, s + t_ik] ] - sum_k integral of lambda_k * open_k`
///
/// Here, `open_k(t)` is the number of open processors of node k. `out_i` is the sum of the prices of the edges from
/// task i, and `in_i` is the sum of the prices of the edges to task i. The minimum is over the nodes k and the starts
/// s. The longest path of tasks before task i determines its earliest start. The longest path of tasks after task i
/// determines its latest start. On these paths, each task has its shortest time. The paths include the transfers that
/// no placement can avoid if all tasks end by H ([`JobReach`]).
///
/// *Proof* (weak duality). Along an edge from u to v, `C_u <= s_v`, so `y_e (C_u - s_v)` is at most zero. At every
/// instant, tasks hold at most the open processors of a node. So the sum of the integrals over the runs, minus the
/// integral of `lambda_k * open_k`, is at most zero. Adding both values, over all edges and nodes, to the cost of a
/// schedule does not increase the cost. The result is a sum over tasks, and the term of each task is at least its
/// minimum. ∎
///
/// Transfers have no prices of their own. If a task may hold several processors, its term does not depend on the node.
/// Then `c_ik` is the minimum cost of the task, which is the cost of its longest time. `t_ik` is the shortest time of
/// the task. The integral of `lambda_k` is omitted. The sum includes each task of a bag separately. The expression in
/// brackets is piecewise linear in s. The minimum occurs at the first or the last possible s, or at an s for which s or
/// `s + t_ik` is an instant of the prices.
///
/// Costs are whole numbers of thousandths, so a fractional bound is rounded up to the next integer. Without a horizon,
/// there are no prices. The bound is then the sum of the minimum costs of all tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostPrices {
    /// The horizon H. `None` if the bound holds for all schedules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<Time>,
    /// The instants `t_0 .. t_J`, ascending and not negative. Between successive instants, prices are constant. Empty
    /// if processors have no price.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instants: Vec<Time>,
    /// For each node of the platform and each j, the price of a processor from `t_j` to `t_j+1`, in `2^-scale`
    /// thousandths per tick.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<Vec<i64>>,
    /// For each edge of each compound job, in file order, the price of a tick, in the unit of `prices`. Empty if all
    /// are zero.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<i64>,
    /// Number of binary places of the prices.
    #[serde(default)]
    pub scale: u32,
}

/// The sum of the prices of the edges to a task, and the sum of the prices of the edges from this task.
#[derive(Clone, Copy, Debug, Default)]
struct EdgePrices {
    into: i128,
    out: i128,
}

fn ticks(time: Time) -> i128 {
    time.ticks().into()
}

/// A choice for a task: a node, and the time and cost of the task on this node.
struct Choice {
    node: usize,
    time: i128,
    cost: i64,
}

impl Kind for CostPrices {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Cost]
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    /// Returns the proven cost in thousandths, rounded up. If there are J instants, takes O(J log J) for each pair of a
    /// task and a node.
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        self.check(instance)?;
        let integrals: Option<Vec<PriceIntegral>> =
            self.prices.iter().map(|own| PriceIntegral::new(&self.instants, own)).collect();
        let integrals = integrals.ok_or(CertificateError::Overflow)?;
        let (times, places) = (NodeTimes::new(instance), NodeKinds::new(instance));
        let all = self.horizon.is_some().then(|| Spans::new(&places, instance));
        let (mut sum, mut edge) = (Sum::default(), 0);
        for (id, job) in instance.ids().zip(instance.jobs()) {
            let flows = self.flows(instance, id, &mut edge);
            let spans = all.as_ref().map_or(&[][..], |all| all.of_job(instance, id));
            let reaching = JobReach::new(instance, id).filter(|_| self.horizon.is_some());
            let reaching = reaching.map(|reaching| reaching.within(spans));
            let reach = reaching.map(|reaching| (reaching.by(self.horizon.map_or(0, ticks)), reaching));
            for task in 0..job.different_tasks() {
                let own = choices(&times, &places, job.task(task));
                let least = match self.horizon {
                    None => own.iter().map(|choice| i128::from(choice.cost)).min(),
                    Some(horizon) => {
                        let span = spans[task as usize];
                        let room = |choice: &Choice| match &reach {
                            // Transfers are included only if every task of the job takes one processor. A task of
                            // several processors may run on several nodes.
                            Some((reach, reaching)) => {
                                let kind = reaching.kind_of(choice.node)?;
                                let (head, tail) = reach.as_ref()?.of(task as usize, kind)?;
                                Some((head.max(span.head), tail.max(span.tail)))
                            }
                            None => Some((span.head, span.tail)),
                        };
                        let mut least: Option<i128> = None;
                        for choice in &own {
                            let Some((head, tail)) = room(choice) else { continue };
                            let latest = ticks(horizon) - tail - choice.time;
                            if head > latest {
                                continue;
                            }
                            let paid = self.least(choice, head..=latest, flows[task as usize], &integrals);
                            let paid = paid.ok_or(CertificateError::Overflow)?;
                            least = Some(least.map_or(paid, |least| least.min(paid)));
                        }
                        Some(least.ok_or(CertificateError::HorizonTooShort { horizon, job: id })?)
                    }
                };
                sum.add(least.unwrap_or(0).checked_mul(i128::from(job.equal_tasks())))?;
            }
        }
        // The shift rounds down the negative of the bound, so the bound is rounded up.
        let sold = prices::sold(instance, &self.instants, &self.prices, Time::MAX)?;
        let negative = sold.checked_sub(sum.0).ok_or(CertificateError::Overflow)?;
        Ok(Value::Integer((-(negative >> self.scale)).max(0)))
    }

    fn horizon(&self) -> Option<Time> {
        self.horizon
    }
}

impl CostPrices {
    fn check(&self, instance: &Instance) -> Result<(), CertificateError> {
        if !self.edges.is_empty() && self.edges.len() != instance.edges().len() {
            return malformed("the number of prices is not the number of edges");
        }
        prices::check_in_time(&self.instants, self.scale, &self.prices)?;
        if !self.instants.is_empty() {
            prices::check_nodes(&self.prices, instance)?;
        }
        prices::check(&self.edges)?;
        let priced = !self.instants.is_empty() || !self.edges.is_empty() || self.scale > 0;
        if self.horizon.is_none() && priced {
            return malformed("the certificate has prices, but no horizon");
        }
        Ok(())
    }

    /// Returns, for each task of the job `id`, two sums of edge prices: over the edges into the task, and over the
    /// edges out of the task. `first` is the position of the job's first edge. When the function returns, `first` is
    /// the position of the next job's first edge.
    fn flows(&self, instance: &Instance, id: JobId, first: &mut usize) -> Vec<EdgePrices> {
        let job = instance.job(id);
        let mut flows = vec![EdgePrices::default(); job.different_tasks() as usize];
        let number = |task: TaskId| (task.0 - job.first().0) as usize;
        for (at, edge) in instance.edges_of(id).iter().enumerate() {
            let price = self.edges.get(*first + at).copied().map_or(0, i128::from);
            flows[number(edge.from)].out += price;
            flows[number(edge.to)].into += price;
        }
        *first += instance.edges_of(id).len();
        flows
    }

    /// Returns the minimum payment, in the unit of the prices, of a task that starts on one node within the range of
    /// starts. Returns `None` on overflow.
    fn least(
        &self,
        choice: &Choice,
        starts: RangeInclusive<i128>,
        flow: EdgePrices,
        integrals: &[PriceIntegral],
    ) -> Option<i128> {
        let (first, last) = starts.into_inner();
        let cost = i128::from(choice.cost).checked_mul(1 << self.scale)?;
        let fixed = cost.checked_add(flow.out.checked_mul(choice.time)?)?;
        let priced = !integrals.is_empty() && choice.node != SEVERAL;
        let at = |start: i128| {
            let room = (flow.out - flow.into).checked_mul(start)?;
            let held = if priced {
                integrals[choice.node].until(start + choice.time) - integrals[choice.node].until(start)
            } else {
                0
            };
            fixed.checked_add(room)?.checked_add(held)
        };
        let mut least = at(first)?.min(at(last)?);
        if priced {
            for instant in &self.instants {
                let instant = i128::from(instant.ticks());
                for start in [instant, instant - choice.time] {
                    if start > first && start < last {
                        least = least.min(at(start)?);
                    }
                }
            }
        }
        Some(least)
    }
}

/// The node index of a choice that represents all nodes. The task of such a choice may hold several processors.
const SEVERAL: usize = usize::MAX;

/// Returns the nodes on which a task can run. For a task that may hold several processors, a single choice represents
/// all nodes.
fn choices(times: &NodeTimes<'_>, places: &NodeKinds<'_>, task: TaskId) -> Vec<Choice> {
    let profile = times.instance.profile(task);
    let volume = volume(profile);
    if profile.max_processors() > 1 {
        let cost = task_cost(volume, times.slowest(task));
        return vec![Choice { node: SEVERAL, time: places.fastest(task), cost }];
    }
    let on = |(node, processor): &(usize, makespan_core::ProcSet)| {
        let time = times.on(task, processor)?;
        let ticks = i64::try_from(time).unwrap_or(i64::MAX);
        Some(Choice { node: *node, time, cost: task_cost(volume, Time::from_ticks(ticks)) })
    };
    times.nodes.iter().filter_map(on).collect()
}

#[cfg(test)]
mod tests;
