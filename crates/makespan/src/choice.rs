//! Which algorithms are meant for an instance when nobody names one.

pub use makespan_algos::scheduler::STEADY_STATE;

use makespan_core::tree::TreeProblem;
use makespan_core::{Area, Instance, Policy, Schedule, Scheduler, Time};

use makespan_algos::SpecError;
use makespan_algos::policy::{Follow, Improve, Improving, Replan, policy_for};

/// The scheduler that a spec names: `demt`, `demt[shuffles=50]` ([`makespan_algos::scheduler()`]).
///
/// # Errors
/// [`SpecError`] names what is unknown and what would be right; of a policy it says that it is one.
pub fn scheduler(spec: &str) -> Result<Box<dyn Scheduler>, SpecError> {
    let is_policy = |name: &str| makespan_algos::policy::policies().iter().any(|entry| entry.name == name);
    let hint = "a policy, for `simulate` and `run --policy`";
    makespan_algos::scheduler(spec).map_err(|error| error.unless(is_policy, hint))
}

/// The algorithm that plans an instance by default: the steady state of bags of tasks on a tree, and `optimise` of all else.
pub fn default_algorithm(instance: &Instance) -> &'static str {
    if TreeProblem::is_meant(instance) { STEADY_STATE } else { "optimise" }
}

/// How long a run is planned before it begins: this part of the time that its work takes on all processors, within these.
const PLANNING: i64 = 100;
const SHORTEST_PLANNING: Time = Time::from_ticks(Time::TICKS_PER_SECOND / 10);
const LONGEST_PLANNING: Time = Time::from_seconds(1);
/// The share of one core on which a run improves its plan.
const SHARE: f64 = 0.1;

/// The algorithm that plans a run by default: `optimise`, for a hundredth of the time that the work takes on all processors, but
/// at least a tenth of a second and at most a whole one, and where that does not plan, a list.
pub fn algorithm_of_run(instance: &Instance) -> String {
    let work = |job: &makespan_core::Job<makespan_core::Rows>| {
        let least = |task| instance.profile(task).least_work(Time::MAX).unwrap_or(0);
        let each: Area = job.task_ids().take(job.different_tasks() as usize).map(least).fold(0, Area::saturating_add);
        if job.is_bag() { each.saturating_mul(Area::from(job.tasks())) } else { each }
    };
    let work = instance.jobs().iter().map(work).fold(0, Area::saturating_add);
    let length = i64::try_from(work / Area::from(instance.processors().max(1))).unwrap_or(i64::MAX);
    let limit = Time::from_ticks(length / PLANNING).clamp(SHORTEST_PLANNING, LONGEST_PLANNING);
    // In tenths of a second, to be read.
    let tenths = limit.ticks() / SHORTEST_PLANNING.ticks();
    let spec = if tenths >= 10 { "optimise".into() } else { format!("optimise[time-limit=0.{tenths}]") };
    let plans = scheduler(&spec).is_ok_and(|scheduler| scheduler.supports(instance).is_ok());
    if plans { spec } else { quick(instance).0.to_owned() }
}

/// The policy that carries out the plan of a run by default. It keeps the plan and improves it between events
/// ([`Improve`]); where tasks wait for each other it keeps the order of the plan ([`Follow`]), and where they need more than equal processors, it
/// plans what remains by a list when the world departs from the plan ([`Replan`]).
pub fn policy_of_run(instance: &Instance, seed: u64, plan: &Schedule) -> Box<dyn Policy> {
    if instance.has_compound_jobs() || instance.has_edges_between_jobs() {
        return Box::new(Follow::with_plan(quick(instance).1, seed, instance, plan));
    }
    if policy_for("improve", instance, seed).is_ok() {
        return Box::new(Improve::following(Improving::default(), seed, plan).in_background(SHARE));
    }
    Box::new(Replan::following(quick(instance).1, seed, plan))
}

/// A scheduler that takes little time.
fn quick(instance: &Instance) -> (&'static str, Box<dyn Scheduler>) {
    let specs = if instance.has_compound_jobs() { ["heft", "list"] } else { ["demt", "list"] };
    let made = specs.into_iter().filter_map(|spec| Some((spec, scheduler(spec).ok()?)));
    let mut made = made.filter(|(spec, scheduler)| *spec == "list" || scheduler.supports(instance).is_ok());
    made.next().expect("`list` is in the catalogue")
}

/// The specs that are compared by default: all of the catalogue, a steady state only where it is meant.
pub fn compared(instance: &Instance) -> Vec<String> {
    let rates = TreeProblem::is_meant(instance);
    let meant = crate::catalogue().iter().filter(|entry| rates || entry.name != STEADY_STATE);
    meant.flat_map(|entry| entry.kind.compared).map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planning_a_run_takes_a_hundredth_of_it() {
        use makespan_core::{Job, Platform, Profile};
        let planned = |seconds: i64, count: u64| {
            let job = Job::new("a", Profile::rigid(1, Time::from_seconds(seconds)).unwrap());
            let jobs = vec![job.with_count(count.try_into().unwrap())];
            algorithm_of_run(&Instance::new(Platform::flat(4).unwrap(), jobs, vec![]).unwrap())
        };
        assert_eq!(planned(3, 8), "optimise[time-limit=0.1]");
        assert_eq!(planned(40, 8), "optimise[time-limit=0.8]");
        assert_eq!(planned(100, 8), "optimise");
    }

    #[test]
    fn a_policy_is_told_to_be_one() {
        let refused = |spec: &str| scheduler(spec).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused("easy").contains("unknown algorithm `easy`; it is a policy"));
        assert!(refused("dmet").contains("did you mean `demt`"));
    }
}
