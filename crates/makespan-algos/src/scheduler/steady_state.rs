//! `steady-state`: rates for bags of tasks on a tree of machines.

use makespan_bounds::tree::{Precision, alpha_fair, throughput};
use makespan_core::tree::TreeProblem;
use makespan_core::{Instance, Objective, Unsupported};

use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// The name of the scheduler that plans rates instead of placements.
pub const STEADY_STATE: &str = "steady-state";

/// The optimal steady state of bags of tasks on a tree, and a period in which each machine completes whole numbers of
/// tasks.
///
/// Source: O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert, "Centralized versus distributed
/// schedulers for multiple bag-of-task applications" (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), programme (3) and
/// section 3.2, with latencies. Assumptions: as in [`TreeProblem::new`]. Guarantee: up to
/// [`makespan_bounds::tree::EXACT_NODES`] nodes, proved optimal in exact rational arithmetic. With more nodes, within
/// about 1e-9 of the bound. With `alpha`, the rates are alpha-fair instead, and the plan contains a proof of their
/// distance from the optimum ([`makespan_core::tree::Fairness`]). The bound on the fair throughput is added to the context. Complexity: each step of a simplex method takes O(nodes
/// * applications).
///
/// ```
/// use makespan_algos::scheduler::SteadyState;
/// use makespan_algos::{Context, Plan, Scheduler};
/// use makespan_core::{Instance, Job, Link, Node, Platform, Profile, Time};
///
/// // A root that only sends, and two workers. The port of the root can feed one and a half workers.
/// let node = |name: &str, processors, parent: Option<usize>| {
///     let link = parent.map(|_| Link { bandwidth: 1.5, latency: Time::ZERO });
///     Node { parent, link, ..Node::new(name, processors) }
/// };
/// let platform = Platform::new(vec![node("root", 0, None), node("a", 1, Some(0)), node("b", 1, Some(0))])?;
/// let job = Job::new("app", Profile::rigid(1, Time::from_seconds(1))?);
/// let instance = Instance::new(platform, vec![job.with_count(100.try_into()?).with_data(1)], vec![])?;
/// let mut context = Context::default();
/// let Plan::Periodic(state) = SteadyState::default().schedule(&instance, &mut context)? else { panic!("no period") };
/// assert_eq!(state.throughput.to_string(), "3/2");
/// assert_eq!(context.bounds[0].verify(&instance), Ok(()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SteadyState {
    /// The exponent of alpha-fairness, from 1 to 10. If it is `None`, the least weighted throughput is maximised.
    pub alpha: Option<u32>,
}

impl Scheduler for SteadyState {
    fn name(&self) -> String {
        self.alpha.map_or_else(|| STEADY_STATE.into(), |alpha| format!("{STEADY_STATE}[alpha={alpha}]"))
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        TreeProblem::new(instance).map(drop).map_err(|error| Unsupported(error.to_string()))
    }

    fn guarantee(&self, _: &Instance, _: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        let unsupported =
            |reason: String| ScheduleError::Unsupported { scheduler: self.name(), reason: Unsupported(reason) };
        let problem = TreeProblem::new(instance).map_err(|error| unsupported(error.to_string()))?;
        let Some(alpha) = self.alpha else {
            let best = throughput(&problem, Precision::Exact);
            context.bounds.push(best.proved());
            return Ok(best.steady_state(&problem).into());
        };
        context.bounds.push(throughput(&problem, Precision::Float).proved());
        let fair = alpha_fair(&problem, alpha).ok_or_else(|| {
            unsupported("alpha-fairness is not defined if no node can compute the tasks of some bag".into())
        })?;
        Ok(fair.steady_state(&problem).into())
    }
}
