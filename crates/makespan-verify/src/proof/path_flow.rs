//! Bounds from paths of tasks combined with the available processors and resources.

mod areas;
mod rate;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::capacity::{open_amount, open_cost};
use super::error::{malformed, unproved};
use super::{CertificateError, Kind, NodeKinds, NodeRun, Scope, Value};
use makespan_core::{Instance, Objective, TaskId};

pub use areas::Areas;
use areas::{ArcSet, AreaFlow};
use rate::Rate;

/// A flow along edges and area arcs ([`Areas`]) between tasks, and prices of processors and resources.
///
/// A flow is a sum of paths. Let F be the total flow, `Y_i` the flow through task i, and `s_i` the part of the flow
/// that begins at task i. Let `t_i` be the time of task i, and `r_i` its release. Along each path, tasks run one after
/// the other from a release on. So the makespan C is at least this release plus the times of these tasks. Multiply the
/// inequality of each path by the flow of the path. The sum over all paths is `F C >= sum_i (Y_i t_i + s_i r_i)`.
///
/// Let `open(C)` be the price of the amounts that are available between the first release and C. Let `q_i` be the price
/// of the amounts that task i holds in one tick. Tasks hold at most the available amounts, so
/// `open(C) >= sum_i q_i t_i`. The sum of both inequalities gives
///
/// `F C + open(C) >= sum_i min { Y_i t + q t } + sum_i s_i r_i`
///
/// Each minimum is over the choices of an allotment and nodes for task i. The choice determines the time t of the task,
/// and the price q of the amounts that it holds in one tick. The smallest C that satisfies this inequality is a lower
/// bound on the makespan. On few processors, a task runs long, so the term `Y_i t` of the flow is large. On many
/// processors, the term `q t` of the area is large. Only one task of each bag is on the paths.
///
/// The flow may also use area arcs. An arc from u to v makes a path longer by the area of the tasks between u and v,
/// divided by the available amount. So a task between u and v also pays for its part of this area. Let `L_i` be the
/// total flow of the arcs that have task i between their ends. At the prices of the arcs ([`Areas`]), let q' be the
/// price of the amounts that task i holds in one tick, and R the price of all available amounts for one tick. Then the
/// minimum of task i becomes `min { Y_i t + q t + L_i q' t / R }`, rounded down.
///
/// Source: the dual of the linear programme of critical path and area for moldable tasks with precedence constraints
/// (K. Jansen, H. Zhang, ACM Trans. Algorithms 2(3), 2006, DOI 10.1145/1159892.1159899). Releases, resources, closed
/// periods and speeds are our extension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathFlow {
    /// Pairs of the position of a distinct task in the instance, and the flow through this task. Tasks without a pair
    /// have no flow.
    pub tasks: Vec<(u32, u64)>,
    /// Pairs of the position of an edge in the instance, and the flow along this edge. Edges without a pair have no
    /// flow.
    pub edges: Vec<(u32, u64)>,
    /// For each node, the price of a tick of one of its processors. Empty if processors have no price.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<u64>,
    /// Pairs of the name of a resource, and the price of one unit of this resource for a tick.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<(String, u64)>,
    /// Flows along area arcs, which enter and leave tasks like flows along edges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub areas: Vec<Areas>,
}

impl Kind for PathFlow {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    /// Returns the proven makespan in ticks. Takes O(tasks * (allotments * kinds of nodes) + edges), and O(tasks +
    /// edges) for each area arc.
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let places = NodeKinds::new(instance);
        let rate = Rate::new(instance, &places, &self.prices, &self.resources)?;
        let mut brought = AreaFlow { released: Some(0), ..AreaFlow::default() };
        let over = self.areas.iter().map(|areas| ArcSet::new(areas, instance, &places, &mut brought));
        let over = over.collect::<Result<Vec<ArcSet<'_>>, CertificateError>>()?;
        let (through, begins) = self.flows(instance, &brought)?;
        let needed = needed(instance, &places, &rate, &over, &through, &begins);
        let needed = needed.zip(brought.released).and_then(|(needed, released)| needed.checked_add(released));
        let needed = needed.ok_or(CertificateError::Overflow)?;
        let flow: i128 = begins.iter().sum::<i128>() + brought.begins;
        let first = i128::from(instance.first_release().ticks());
        let has = |end: i128| {
            let mut sum = flow.checked_mul(end)?.checked_add(open_cost(instance, &self.prices, first, end)?)?;
            for &(resource, price) in &rate.resources {
                let open = open_amount(instance, resource, first, end)?;
                sum = sum.checked_add(open.checked_mul(price.into())?)?;
            }
            Some(sum)
        };
        // If the left side overflows, `end` is far beyond the end of every schedule, so the inequality is true.
        let enough = |end: i128| has(end).is_none_or(|sum| sum >= needed);
        let (mut low, mut high) = (0, i128::from(i64::MAX / 2));
        if !enough(high) {
            return Err(CertificateError::Overflow);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if enough(middle) { high = middle } else { low = middle + 1 }
        }
        Ok(Value::Integer(low))
    }
}

impl PathFlow {
    /// Returns, for each distinct task, the flow through the task, and the part of the flow that begins at the task.
    fn flows(&self, instance: &Instance, brought: &AreaFlow) -> Result<(Vec<i128>, Vec<i128>), CertificateError> {
        let mut through = vec![0_i128; instance.different_tasks()];
        for &(task, flow) in &self.tasks {
            match through.get_mut(task as usize) {
                Some(through) => *through += i128::from(flow),
                None => return malformed("the flow refers to a task that the instance does not have"),
            }
        }
        let (mut begins, mut ends) = (through.clone(), through.clone());
        for &(edge, flow) in &self.edges {
            let Some(edge) = instance.edges().get(edge as usize) else {
                return malformed("the flow refers to an edge that the instance does not have");
            };
            begins[instance.different(edge.to)] -= i128::from(flow);
            ends[instance.different(edge.from)] -= i128::from(flow);
        }
        brought.into.iter().for_each(|&(row, flow)| begins[row] -= flow);
        brought.out.iter().for_each(|&(row, flow)| ends[row] -= flow);
        if begins.iter().chain(&ends).any(|&rest| rest < 0) {
            return unproved("at a task, the flow along edges and arcs exceeds the flow through the task");
        }
        Ok((through, begins))
    }
}

/// Returns the sum of the minimum payments of all tasks. A task pays for the flow through it, and for the amounts that
/// it holds. Returns `None` on overflow.
fn needed(
    instance: &Instance,
    places: &NodeKinds<'_>,
    rate: &Rate<'_>,
    over: &[ArcSet<'_>],
    through: &[i128],
    begins: &[i128],
) -> Option<i128> {
    let mut sum = 0_i128;
    for job in instance.jobs() {
        let release = i128::from(job.release.ticks());
        for task in job.different_task_ids() {
            let row = instance.different(task);
            let (mut on_path, mut beside): (Option<i128>, Option<i128>) = (None, None);
            places.each(task, |run| {
                // A payment that overflows cannot be the minimum, so this choice is skipped.
                let Some(held) = held(rate, over, row, task, run) else { return };
                let Some(paid) = through[row].checked_mul(run.time).and_then(|time| time.checked_add(held)) else {
                    return;
                };
                on_path = Some(on_path.map_or(paid, |least| least.min(paid)));
                beside = Some(beside.map_or(held, |least| least.min(held)));
            });
            let others = beside?.checked_mul(i128::from(job.equal_tasks()) - 1)?;
            let began = begins[row].checked_mul(release)?;
            sum = sum.checked_add(on_path?)?.checked_add(others)?.checked_add(began)?;
        }
    }
    Some(sum)
}

/// Returns the price of the amounts that a run holds: the payment at the prices of the certificate, plus the payments
/// on the area arcs.
fn held(rate: &Rate<'_>, over: &[ArcSet<'_>], row: usize, task: TaskId, run: &NodeRun) -> Option<i128> {
    let mut held = rate.of(task, run)?.checked_mul(run.time)?;
    for over in over {
        held = held.checked_add(over.paid(row, task, run)?)?;
    }
    Some(held)
}
