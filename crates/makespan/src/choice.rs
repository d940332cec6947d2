//! The default algorithms for an instance.

pub use makespan_algos::scheduler::STEADY_STATE;

use makespan_algos::Scheduler;
use makespan_core::tree::TreeProblem;
use makespan_core::{Area, Estimate, Instance, Job, Objective, Policy, Rows, Schedule, TaskId, Time, Weight};

use makespan_algos::SpecError;
use makespan_algos::policy::{Follow, Improve, Improving, Replan, policy_for};

/// Returns the scheduler with this spec, such as `demt` or `demt[shuffles=50]` ([`makespan_algos::scheduler()`]).
///
/// # Errors
/// [`SpecError`] if a part of the spec is unknown. The error names this part and a remedy. If the spec names a policy,
/// the error states this.
pub fn scheduler(spec: &str) -> Result<Box<dyn Scheduler>, SpecError> {
    let is_policy = |name: &str| makespan_algos::policy::policies().iter().any(|entry| entry.name == name);
    let hint = "a policy, for `simulate` and `run --policy`";
    makespan_algos::scheduler(spec).map_err(|error| error.unless(is_policy, hint))
}

/// Returns the spec of the default algorithm for an instance: `steady-state` for bags of tasks on a tree, `critical-jobs`
/// for tasks that start together, otherwise `optimise`.
pub fn default_algorithm(instance: &Instance) -> &'static str {
    if TreeProblem::is_meant(instance) {
        STEADY_STATE
    } else if instance.has_gangs() {
        "critical-jobs"
    } else {
        "optimise"
    }
}

/// Divisor that determines the default time limit for the plan of a run. The limit is the time that the work of the
/// run takes on all processors, divided by this number, but at least [`SHORTEST_PLANNING`] and at most
/// [`LONGEST_PLANNING`].
const PLANNING: i64 = 100;
const SHORTEST_PLANNING: Time = Time::from_ticks(Time::TICKS_PER_SECOND / 10);
const LONGEST_PLANNING: Time = Time::from_seconds(1);
/// The fraction of the time of one core that a run uses to improve its plan.
const SHARE: f64 = 0.1;

/// Returns the default objective of a run. If all jobs are equally important and urgent, the objective is the
/// makespan. Otherwise, the objective is the weighted sum of completion times.
///
/// Jobs are equally important and urgent if no job has a deadline, all jobs are released at the same time, and all
/// jobs have weight 1, which is the default. Best-effort bags are ignored, because they run after all other jobs.
pub fn objective_of_run(instance: &Instance) -> Objective {
    let is_plain = |job: &Job<Rows>| job.weight == Weight::ONE || job.is_best_effort();
    let plain = !instance.has_deadlines() && !instance.has_release_dates() && instance.jobs().iter().all(is_plain);
    if plain { Objective::Makespan } else { Objective::WeightedCompletion }
}

/// Returns the spec of the default algorithm for a run: `optimise` for the objective [`objective_of_run`]. The time
/// limit of `optimise` is a hundredth of the time that the work takes on all processors, but at least a tenth of a
/// second and at most a second. Tasks with guessed run times are not counted as work. If `optimise` does not support
/// the instance, returns a fast algorithm.
pub fn algorithm_of_run(instance: &Instance) -> String {
    let work = |job: &Job<Rows>| {
        // The work excludes tasks with guessed times. Planning these tasks well is not worth the time, because the
        // guesses change when the first tasks end.
        let least = |task: TaskId| match instance.task(task).estimate {
            Estimate::Guessed => 0,
            _ => instance.profile(task).least_work(Time::MAX).unwrap_or(0),
        };
        let each: Area = job.task_ids().take(job.different_tasks() as usize).map(least).fold(0, Area::saturating_add);
        if job.is_bag() { each.saturating_mul(Area::from(job.tasks())) } else { each }
    };
    let work = instance.jobs().iter().map(work).fold(0, Area::saturating_add);
    let length = i64::try_from(work / Area::from(instance.processors().max(1))).unwrap_or(i64::MAX);
    algorithm_within(instance, Time::from_ticks(length / PLANNING))
}

/// Like [`algorithm_of_run`], but with a given time limit. A limit below a tenth of a second or above a second is
/// replaced by the nearer of these two values.
pub fn algorithm_within(instance: &Instance, limit: Time) -> String {
    let limit = limit.clamp(SHORTEST_PLANNING, LONGEST_PLANNING);
    // The limit is rounded to whole tenths of a second, so that the spec is easy to read.
    let tenths = limit.ticks() / SHORTEST_PLANNING.ticks();
    algorithm_with(instance, (tenths < 10).then(|| format!("time-limit=0.{tenths}")))
}

/// Like [`algorithm_of_run`], but the search ends after it has tried `steps` changes of the plan, and has no time
/// limit. Equal instances then have equal plans.
pub fn algorithm_of_steps(instance: &Instance, steps: u64) -> String {
    algorithm_with(instance, Some(format!("steps={steps}")))
}

fn algorithm_with(instance: &Instance, limit: Option<String>) -> String {
    let objective = objective_of_run(instance);
    let objective = (objective == Objective::Makespan).then(|| "objective=makespan".to_owned());
    let parts: Vec<String> = objective.into_iter().chain(limit).collect();
    let spec = if parts.is_empty() { "optimise".into() } else { format!("optimise[{}]", parts.join(",")) };
    let plans = scheduler(&spec).is_ok_and(|scheduler| scheduler.supports(instance).is_ok());
    if plans { spec } else { quick(instance).0.to_owned() }
}

/// Returns the objectives that an algorithm minimises. `spec` is the spec of the algorithm, such as
/// `optimise[objective=makespan]`. If the spec states no objective, `optimise` minimises the weighted sum of completion
/// times. The result is empty for an unknown algorithm, and for `optimise[objective=pareto]`, because a Pareto front
/// weighs two objectives against each other.
pub fn minimised(spec: &str) -> &'static [Objective] {
    let (name, parameters) = spec.split_once('[').unwrap_or((spec, ""));
    if name != "optimise" {
        let entry = crate::catalogue().iter().find(|entry| entry.name == name);
        return entry.map_or(&[], |entry| entry.kind.minimises);
    }
    let mut stated = parameters.trim_end_matches(']').split(',');
    let objective = stated.find_map(|parameter| parameter.trim().strip_prefix("objective="));
    let objective = objective.unwrap_or("weighted-completion");
    let is_meant = |one: &Objective| one.name().replace('_', "-") == objective;
    let all = &Objective::OF_SCHEDULES;
    all.iter().position(is_meant).map_or(&[], |at| &all[at..=at])
}

/// Returns the default policy for a run that has a plan. The policy ([`Improve`]) follows the plan and, between events,
/// improves the plan for the objective [`objective_of_run`]. [`Improve`] does not support instances in which
/// nonrenewable resources are sufficient for some allotments but not for others. For these instances, returns a policy
/// that follows the plan without improving it ([`policy_of_plan`]).
pub fn policy_of_run(instance: &Instance, seed: u64, plan: &Schedule) -> Box<dyn Policy> {
    if policy_for("improve", instance, seed).is_ok() {
        let improving = Improving { objective: objective_of_run(instance), ..Improving::default() };
        return Box::new(Improve::following(improving, seed, plan).in_background(SHARE));
    }
    policy_of_plan(quick(instance).1, seed, instance, plan, false)
}

/// Returns the policy that follows a plan. If some tasks depend on other tasks, the policy keeps the order of the plan
/// ([`Follow`]). Otherwise, whenever the run departs from the plan, the policy plans the remaining jobs again with
/// `scheduler` ([`Replan`]). If the run is `resumed`, the policy plans the remaining jobs again at its first call.
pub fn policy_of_plan(
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    instance: &Instance,
    plan: &Schedule,
    resumed: bool,
) -> Box<dyn Policy> {
    if instance.has_compound_jobs() || instance.has_edges_between_jobs() {
        Box::new(Follow::with_plan(scheduler, seed, instance, plan))
    } else if resumed {
        Box::new(Replan::new(scheduler, seed))
    } else {
        Box::new(Replan::following(scheduler, seed, plan))
    }
}

/// Returns the spec of a fast scheduler that supports the instance, and the scheduler.
fn quick(instance: &Instance) -> (&'static str, Box<dyn Scheduler>) {
    let specs = match objective_of_run(instance) {
        _ if instance.has_compound_jobs() => ["heft", "list"],
        Objective::Makespan => ["dual", "list"],
        _ => ["demt", "list"],
    };
    let made = specs.into_iter().filter_map(|spec| Some((spec, scheduler(spec).ok()?)));
    let mut made = made.filter(|(spec, scheduler)| *spec == "list" || scheduler.supports(instance).is_ok());
    made.next().expect("`list` is in the catalogue")
}

/// Returns the specs of the algorithms that are compared by default. All schedulers of the catalogue are compared, with
/// one exception: `steady-state` is compared only on bags of tasks on a tree ([`TreeProblem::is_meant`]).
pub fn compared(instance: &Instance) -> Vec<String> {
    let rates = TreeProblem::is_meant(instance);
    let meant = crate::catalogue().iter().filter(|entry| rates || entry.name != STEADY_STATE);
    meant.flat_map(|entry| entry.kind.compared).map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use makespan_core::{Platform, Profile};

    use super::*;

    /// Returns an instance on four processors.
    fn instance(jobs: Vec<Job>) -> Instance {
        Instance::new(Platform::flat(4).unwrap(), jobs, vec![]).unwrap()
    }

    fn job(name: &str, seconds: i64) -> Job {
        Job::new(name, Profile::rigid(1, Time::from_seconds(seconds)).unwrap())
    }

    #[test]
    fn planning_a_run_takes_a_hundredth_of_it() {
        let planned = |seconds: i64, count: u64, weight: Weight| {
            let bag = job("a", seconds).with_count(count.try_into().unwrap()).with_weight(weight);
            algorithm_of_run(&instance(vec![bag]))
        };
        assert_eq!(planned(3, 8, Weight::ONE), "optimise[objective=makespan,time-limit=0.1]");
        assert_eq!(planned(100, 8, Weight::ONE), "optimise[objective=makespan]");
        let guessed = instance(vec![job("a", 300).with_estimate(Estimate::Guessed)]);
        assert_eq!(algorithm_of_run(&guessed), "optimise[objective=makespan,time-limit=0.1]");
        let two = Weight::parse("2").unwrap();
        assert_eq!(planned(40, 8, two), "optimise[time-limit=0.8]");
        assert_eq!(planned(100, 8, two), "optimise");
    }

    #[test]
    fn jobs_of_which_none_matters_more_are_run_for_the_makespan() {
        let seconds = Time::from_seconds;
        let of = |second: Job| objective_of_run(&instance(vec![job("a", 3), second]));
        assert_eq!(of(job("b", 5)), Objective::Makespan);
        assert_eq!(of(job("b", 5).with_count(9.try_into().unwrap()).with_weight(Weight::ZERO)), Objective::Makespan);
        assert_eq!(of(job("b", 5).with_weight(Weight::parse("2").unwrap())), Objective::WeightedCompletion);
        assert_eq!(of(job("b", 5).with_weight(Weight::ZERO)), Objective::WeightedCompletion);
        assert_eq!(of(Job { deadline: Some(seconds(9)), ..job("b", 5) }), Objective::WeightedCompletion);
        assert_eq!(of(job("b", 5).with_release(seconds(1))), Objective::WeightedCompletion);
    }

    #[test]
    fn what_is_minimised_is_read_from_the_spec() {
        assert_eq!(minimised("optimise"), [Objective::WeightedCompletion]);
        assert_eq!(minimised("optimise[time-limit=0.1]"), [Objective::WeightedCompletion]);
        assert_eq!(minimised("optimise[objective=makespan,time-limit=0.1]"), [Objective::Makespan]);
        assert_eq!(minimised("optimise[steps=9, objective=mean-flow]"), [Objective::MeanFlow]);
        assert_eq!(minimised("demt[shuffles=3]"), [Objective::WeightedCompletion, Objective::Makespan]);
        assert_eq!(minimised("dual"), [Objective::Makespan]);
        assert!(minimised("optimise[objective=pareto]").is_empty() && minimised("optimised").is_empty());
    }

    #[test]
    fn a_policy_is_told_to_be_one() {
        let refused = |spec: &str| scheduler(spec).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused("easy").contains("unknown algorithm `easy`; it is a policy"));
        assert!(refused("dmet").contains("did you mean `demt`"));
    }
}
