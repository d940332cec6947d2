//! Lower bounds with certificates. For the throughput, which is maximised, the bound is an upper bound.
//!
//! The searches in this crate use floating point and a cone solver. The value of a bound comes only from its
//! certificate, which `makespan-verify` checks in integers. So an imprecise search can make a bound weaker, but never
//! wrong. No other crate calls a solver.
//!
//! * [`makespan()`]: the longest job, the area, the deadlines that the [`dual`] approximation refutes, and the
//!   deadlines that [`dual_feasible`] functions refute. These bounds take release dates and unavailable processors
//!   into account.
//! * [`weighted_completion`] and [`mean_flow`]: prices for processors in continuous time. [`PriceSearch`] finds the
//!   prices step by step, and supports an upper limit on the makespan. For each job, [`PriceSearch`] also returns the
//!   allotment and the start at which the job pays least.
//! * [`weighted_completion_on`]: the corrected interval linear programme of the DEMT paper, solved through its dual.
//! * [`machines`]: prices for time on machines that differ in speed, or on which each job has its own run time.
//! * [`best`] for instances with task graphs: windows of time between the predecessors and successors of tasks, with
//!   prices for machines. Three other kinds of proof apply if tasks have dependences, need resources, or hold several
//!   processors of unequal speeds. The first kind is windows in which tasks hold too much of a resource. The second
//!   kind is flows along paths of tasks, combined with prices of resources. The third kind is deductions from a
//!   deadline. For the tardiness, [`best`] also bounds the jobs with early deadlines as a separate instance.
//! * [`complete`]: a complete search with learning for small instances. It proves that a schedule is optimal, or finds
//!   a better one.
//! * [`cost`]: prices for processor time and for the time between dependent tasks, under a horizon.
//! * [`tree`]: the steady state of bags of tasks on a tree of machines, and prices that give an upper bound on the
//!   throughput.
//!
//! The mathematics of each certificate is written out in `docs/bounds.md`.
//!
//! ```
//! use makespan_core::{Instance, Job, Platform, Profile, Time};
//!
//! let job = |name: &str, time| Job::new(name, Profile::rigid(2, Time::from_seconds(time)).unwrap());
//! let instance = Instance::new(Platform::flat(3)?, vec![job("a", 4), job("b", 6)], vec![])?;
//! let bound = makespan_bounds::makespan(&instance);
//! assert_eq!(bound.verify(&instance), Ok(()));
//! assert!(bound.value.integer() <= 10_000_000_000, "the jobs run one after the other, so the optimum is 10 s");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ascent;
mod clock;
pub mod complete;
pub mod cost;
pub mod dual;
pub mod dual_feasible;
mod held;
mod jobs;
mod late;
pub mod machines;
mod makespan;
mod minsum;
mod release_area;
mod rounding;
pub mod tree;
mod windows;

pub use clock::Clock;
pub use makespan::{counted_by, makespan, makespan_by, makespan_in_time};
pub use minsum::{
    Grid, PriceOptions, PriceSearch, PricedChoice, mean_flow, on_nodes, printed_minsum_estimate, refuted,
    weighted_completion, weighted_completion_on,
};
pub use release_area::release_area_bound;

use makespan_core::{DerivedObjective, Instance, Objective, Unsupported};
use makespan_verify::proof::{Deductions, Derived, LastJob, Paths, SetupSums};
use makespan_verify::{Bound, Proof};

/// Returns one bound for each standard objective, in the order of [`Objective::standard`].
///
/// # Errors
/// Returns an error in the same cases as [`best`].
pub fn standard(instance: &Instance) -> Result<Vec<Bound>, Unsupported> {
    let mut bounds: Vec<Bound> =
        Objective::standard(instance).map(|objective| best(instance, objective)).collect::<Result<_, _>>()?;
    by_last_job(instance, &mut bounds);
    Ok(bounds)
}

/// Maximum number of jobs that can end last, for the bounds of [`by_last_job`]. If more jobs can end last, the end of a
/// single job contributes too little to a sum over all jobs to improve a bound.
const MAX_LAST: usize = 12;

/// Derives bounds on other objectives from the bound on the makespan: in every schedule, some job ends at this bound or
/// later ([`LastJob`]). A derived bound replaces a weaker bound in `bounds`. Has no effect if more than 12 jobs can end
/// last.
pub fn by_last_job(instance: &Instance, bounds: &mut [Bound]) {
    let shortest =
        bounds.iter().find(|bound| bound.objective == Objective::Makespan && bound.makespan_at_most.is_none());
    let is_meant = |_: &&Bound| instance.last_jobs().len() <= MAX_LAST;
    let Some(shortest) = shortest.filter(is_meant).map(|bound| bound.proof.clone()) else {
        return;
    };
    for bound in bounds.iter_mut().filter(|bound| bound.makespan_at_most.is_none()) {
        let proof = Proof::LastJob(LastJob { proof: Box::new(shortest.clone()) });
        let last = Bound::proved_by(bound.objective, proof, instance);
        if let Some(last) = last.ok().filter(|last| last.value > bound.value) {
            *bound = last;
        }
    }
}

/// Returns bounds on the objectives of [`standard`]. Deductions may take more steps than in [`standard`]. All searches
/// end when `clock` expires. Before each objective, the remaining time is divided equally among this objective and all
/// later objectives.
///
/// # Errors
/// Returns an error in the same cases as [`best`].
pub fn thorough(instance: &Instance, clock: &Clock) -> Result<Vec<Bound>, Unsupported> {
    let objectives: Vec<Objective> = Objective::standard(instance).collect();
    let parts = objectives.iter().zip((1..=objectives.len()).rev());
    let bound = |(&objective, left): (&Objective, usize)| {
        within(instance, objective, held::THOROUGH, &clock.part(1.0 / left as f64))
    };
    let mut bounds: Vec<Bound> = parts.map(bound).collect::<Result<_, _>>()?;
    by_last_job(instance, &mut bounds);
    Ok(bounds)
}

/// Returns the best bound on one objective, found with a fixed amount of work and no time limit.
///
/// # Errors
/// Returns [`Unsupported`] if the objective is the throughput and the instance is not a set of bags on a tree.
pub fn best(instance: &Instance, objective: Objective) -> Result<Bound, Unsupported> {
    within(instance, objective, held::WORK, &Clock::ENDLESS)
}

/// Returns the best bound on one objective that is found before `clock` expires. Always computes the fast bounds. A
/// slow search that `clock` stops may contribute no bound.
///
/// # Errors
/// Returns an error in the same cases as [`best`].
pub fn best_by(instance: &Instance, objective: Objective, clock: &Clock) -> Result<Bound, Unsupported> {
    within(instance, objective, held::WORK, clock)
}

/// Returns the bounds on the makespan from run times and setup times on each machine.
fn setup_sums(instance: &Instance, objective: Objective) -> Vec<Bound> {
    if !instance.has_setups() || objective != Objective::Makespan {
        return Vec::new();
    }
    let licences = instance.platform().licences().iter().filter(|(_, amount)| *amount == 1);
    let machines = licences.map(|(name, _)| Some(name.to_owned())).chain([None]);
    let proof = |licence| Proof::SetupSums(SetupSums { licence });
    machines.filter_map(|licence| Bound::proved_by(objective, proof(licence), instance).ok()).collect()
}

/// Returns the best bound on one objective that is found before `clock` expires. Deductions from a deadline take at
/// most `work` elementary steps.
fn within(instance: &Instance, objective: Objective, work: u64, clock: &Clock) -> Result<Bound, Unsupported> {
    if let Some(DerivedObjective { base, instance: changed, .. }) = objective.derived(instance) {
        let proof = Proof::Derived(Derived { proof: Box::new(within(&changed, base, work, clock)?.proof) });
        return Bound::proved_by(objective, proof, instance).map_err(|error| Unsupported(error.to_string()));
    }
    match objective {
        Objective::Cost => return Ok(cost::cheapest(instance)),
        Objective::Throughput => return tree::bound(instance),
        objective if objective.is_tardiness() || objective.needs_penalties() => {
            let mut bounds: Vec<Bound> = held::paths(instance, objective).into_iter().collect();
            bounds.extend(instance.has_compound_jobs().then(|| windows::best(instance, objective, &clock.part(0.25))));
            if objective.is_tardiness() {
                bounds.extend(late::early(instance, objective, work, &clock.part(0.6)));
            }
            if objective == Objective::TotalPenalty {
                bounds.extend(jobs::constant::best(instance, &clock.part(0.3)));
            }
            bounds.extend(jobs::best(instance, objective, clock));
            return Ok(best_of(objective, bounds));
        }
        _ => {}
    }
    let mut bounds = setup_sums(instance, objective);
    if instance.has_compound_jobs() && objective != Objective::Makespan {
        // If several jobs compete, prices prove more than windows of single jobs. So the prices come first.
        bounds.extend(jobs::best(instance, objective, &clock.part(0.8)));
        bounds.push(windows::best(instance, objective, &clock.part(0.5)));
    } else if instance.has_compound_jobs() {
        // For moldable tasks, flows prove more than windows.
        bounds.extend(held::flows(instance, &clock.part(0.4)));
        bounds.push(windows::best(instance, objective, &clock.part(0.3)));
    } else if instance.has_equal_processors() {
        bounds.extend(match objective {
            Objective::Makespan => Some(makespan_by(instance, clock)),
            Objective::WeightedCompletion => Some(minsum::weighted_completion_by(instance, clock)),
            Objective::MeanFlow => Some(minsum::mean_flow_by(instance, clock)),
            _ => None,
        });
    } else if machines::check(instance).is_ok() {
        bounds.push(machines::bound_until(instance, objective, clock));
    } else if instance.is_sequential() {
        // On a platform with a network, only windows bound sequential jobs.
        bounds.push(windows::best(instance, objective, &clock.part(0.3)));
    }
    if objective != Objective::Makespan {
        let paths = bounds.is_empty() || instance.has_compound_jobs() || instance.has_edges_between_jobs();
        bounds.extend(if paths { held::paths(instance, objective) } else { None });
        let priced = instance.has_equal_processors() || machines::check(instance).is_ok();
        let is_open = !instance.has_compound_jobs() && (paths || !priced);
        bounds.extend(if is_open { jobs::best(instance, objective, clock) } else { None });
    } else if held::are_meant(instance) {
        if !instance.has_compound_jobs() {
            bounds.extend(held::flows(instance, &clock.part(0.4)));
        }
        let known = bounds.iter().map(|bound| bound.value.integer()).max().unwrap_or(0);
        bounds.extend(held::makespans(instance, known, work, clock));
    }
    Ok(best_of(objective, bounds))
}

/// Returns the largest of several bounds, or the first one of several largest bounds. If there are no bounds, returns
/// the bound zero, which needs no proof.
fn best_of(objective: Objective, bounds: Vec<Bound>) -> Bound {
    let nothing =
        || Bound { objective, value: 0.into(), makespan_at_most: None, proof: Proof::Paths(Paths::default()) };
    bounds.into_iter().rev().max_by(|a, b| a.value.cmp(&b.value)).unwrap_or_else(nothing)
}

/// Searches for the latest deadline that deductions can refute, in up to `work` elementary steps. Returns the
/// deductions that refute this deadline. `known` is a lower bound on the makespan, in ticks. Returns `None` if no
/// deadline is refuted or the instance is too large. [`best`] uses deductions if tasks have dependences or need
/// resources.
pub fn deduced(instance: &Instance, known: i128, work: u64) -> Option<Deductions> {
    held::deduced(instance, known, work, &Clock::ENDLESS)
}
