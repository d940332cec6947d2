//! Adds support for bags of tasks to any scheduler.

mod filling;

use std::time::{Duration, Instant};

use makespan_bounds::Clock;
use makespan_core::{
    HeldAmount, Instance, Job, JobId, Objective, Placement, ResourceId, ResourceKind, Schedule, SubInstance, Time,
    Unsupported, Variant, Weight,
};
use makespan_verify::Bound;

use self::filling::Filling;
use super::optimise::Limit;
use super::{hard_deadlines, needs_no_gangs, needs_no_lags, needs_no_setups, of_derived, packed};
use crate::plan::{Context, ForHardDeadlines, Front, FrontPoint, Guarantee, Plan, ScheduleError, Scheduler};

/// The fraction of the time limit that is reserved for bounds on whole bags. The wrapped scheduler plans the tasks of
/// bags as single jobs, and proves only bounds for these jobs.
const OF_BAGS: f64 = 0.15;

/// Turns a scheduler of jobs into a scheduler of jobs and bags. An instance without bags is passed on unchanged.
///
/// Each task of a competing bag is planned as a job, and these jobs share the weight of the bag. If the mean flow is
/// minimised, the tasks of a bag share a weight of one ([`Scheduler::by_weight`]). If the scheduler implements
/// [`Scheduler::of_wholes`], it evaluates only the end of the last task of each bag.
///
/// After the scheduler has placed all competing jobs, the best-effort bags fill the remaining holes, in file order.
/// Each task runs on the fewest processors that it accepts. The task starts at the earliest instant from which enough
/// processors are free, and its other needs are met, for its whole run. If processors differ, the task runs on the
/// processors on which it ends first. No other job moves, so no other job is delayed. The tasks of a bag are numbered
/// in the order of their starts. If the plan is a strategy, each variant is filled, and variants that are then
/// dominated are removed. If the chosen variant is removed, the first remaining variant is chosen. If a competing job
/// waits for a best-effort bag, this bag also competes.
///
/// Source: the third type of open job of Dutot, Eyraud, Mounié and Trystram, SPAA 2004, DOI 10.1145/1007912.1007932,
/// section 2 (divisible load). Assumptions: at most [`Instance::MAX_TASKS`] tasks in all. Guarantee: without bags, the
/// guarantee of the scheduler. With bags, none. Complexity: the complexity of the scheduler with one job for each
/// competing task, plus O(k log m) for k best-effort tasks on m processors.
///
/// ```
/// use makespan_algos::scheduler::{Sequential, WithBags};
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, Time, Weight};
///
/// let rigid = |name: &str, processors, seconds| {
///     Job::new(name, Profile::rigid(processors, Time::from_seconds(seconds)).unwrap())
/// };
/// let bag = rigid("bag", 1, 2).with_weight(Weight::ZERO).with_count(5.try_into().unwrap());
/// let jobs = vec![bag, rigid("wide", 2, 3), rigid("narrow", 1, 5)];
/// let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
/// let plan = WithBags(Box::new(Sequential)).schedule(&instance, &mut Context::default()).unwrap();
/// // Two tasks fit next to the narrow job. The other tasks run at the end.
/// assert_eq!(plan.into_schedule().unwrap().placements().len(), 7);
/// ```
pub struct WithBags(pub Box<dyn Scheduler>);

// Implement every method, because a default method of the trait would not call the wrapped scheduler.
#[deny(clippy::missing_trait_methods)]
impl Scheduler for WithBags {
    fn name(&self) -> String {
        self.0.name()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        self.check_relations(instance)?;
        if instance.has_setups() {
            return if self.0.supports_setups() { self.0.supports(instance) } else { needs_no_setups(instance) };
        }
        if instance.has_hard_deadlines() {
            return hard_deadlines::supports(self, instance);
        }
        if !instance.has_bags() {
            return self.0.supports(instance);
        }
        self.apart(instance).map(drop)
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        if instance.has_bags() { None } else { self.0.guarantee(instance, objective) }
    }

    fn is_anytime(&self) -> bool {
        self.0.is_anytime()
    }

    fn supports_gangs(&self) -> bool {
        self.0.supports_gangs()
    }

    fn supports_setups(&self) -> bool {
        self.0.supports_setups()
    }

    fn supports_lags(&self) -> bool {
        self.0.supports_lags()
    }

    fn makespan_at_most(&self) -> Option<f64> {
        self.0.makespan_at_most()
    }

    fn time_limit(&self) -> Option<Duration> {
        self.0.time_limit()
    }

    fn by_weight(&self) -> Option<Box<dyn Scheduler>> {
        Some(Box::new(Self(self.0.by_weight()?)))
    }

    fn of_wholes(&self, wholes: Vec<u32>) -> Option<Box<dyn Scheduler>> {
        Some(Box::new(Self(self.0.of_wholes(wholes)?)))
    }

    fn derived(&self) -> Option<(Objective, Box<dyn Scheduler>)> {
        self.0.derived().map(|(objective, base)| (objective, Box::new(Self(base)) as Box<dyn Scheduler>))
    }

    fn for_hard_deadlines(&self) -> Option<ForHardDeadlines> {
        self.0.for_hard_deadlines()
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        if instance.has_setups() {
            let unsupported = |reason| ScheduleError::Unsupported { scheduler: self.name(), reason };
            self.supports(instance).map_err(unsupported)?;
            return self.0.schedule(instance, context);
        }
        if instance.has_hard_deadlines() {
            return hard_deadlines::schedule(self, instance, context);
        }
        if let Some((objective, base)) = self.derived() {
            return of_derived::schedule(objective, &self.name(), &*base, instance, context);
        }
        let unsupported = |reason| ScheduleError::Unsupported { scheduler: self.name(), reason };
        self.check_relations(instance).map_err(unsupported)?;
        if !instance.has_bags() {
            return within_limit(&*self.0, instance, context);
        }
        let (fills, others) = self.apart(instance).map_err(unsupported)?;
        // For the mean flow, a bag is one job. So the tasks of a bag share a weight of one.
        let is_cut = others.has_bags() && !packed::has_more(&others);
        let by_weight = if is_cut { self.0.by_weight() } else { None };
        let uncut = others.clone();
        let competing = fills.competing(instance, others, by_weight.is_some());
        // Set the caller's bounds aside, because the scheduler plans a different instance. Most bounds that it finds
        // are also valid for the instance of the caller.
        let known = std::mem::take(&mut context.bounds);
        let scheduler = by_weight.as_ref().unwrap_or(&self.0);
        let whole = if is_cut { scheduler.of_wholes(wholes(instance, &competing)) } else { None };
        let (floor, spent) = (context.floor, context.spent);
        let time = scheduler.time_limit();
        let end = time.map(|time| Instant::now() + time.saturating_sub(spent).max(time / 4));
        let stop = context.stop.clone();
        let clock = |share| end.map_or(Clock::ENDLESS, |end| Clock::until(end, &stop).part(share));
        let best_effort = instance.jobs().iter().any(Job::is_best_effort);
        if is_cut || best_effort {
            // Reserve time for bounds on whole bags.
            context.spent += time.unwrap_or_default().mul_f64(OF_BAGS);
        }
        let mut of_bags = None;
        if is_cut && floor.is_none() && self.0.makespan_at_most().is_some() {
            // The limit on the makespan is a multiple of a bound on whole bags. Compute this bound here, because a
            // bound on the tasks of the bags may differ.
            let begin = Instant::now();
            of_bags = makespan_bounds::best_by(&uncut, Objective::Makespan, &clock(OF_BAGS)).ok();
            context.floor = of_bags.as_ref().map(Bound::ticks);
            context.spent += begin.elapsed();
        }
        let planned = within_limit(&**whole.as_ref().unwrap_or(scheduler), &competing.instance, context);
        (context.floor, context.spent) = (floor, spent);
        let found = std::mem::replace(&mut context.bounds, known);
        // If the scheduler used other weights than the jobs have, drop its bounds on weighted completion, because they
        // are weak.
        let of_other_weights = |bound: &Bound| by_weight.is_some() && bound.objective == Objective::WeightedCompletion;
        let kept =
            found.into_iter().chain(of_bags).filter(|bound| !of_other_weights(bound) && bound.verify(instance).is_ok());
        context.bounds.extend(kept);
        if by_weight.is_some() {
            context.bounds.extend(makespan_bounds::best_by(instance, Objective::MeanFlow, &clock(0.5)).ok());
        }
        let of_makespan = |bound: &Bound| bound.objective == Objective::Makespan;
        if best_effort && context.bounds.iter().any(of_makespan) {
            // Prove a bound that includes the best-effort bags, because the competing jobs may end much sooner than
            // these bags.
            context.bounds.extend(makespan_bounds::best_by(instance, Objective::Makespan, &clock(0.5)).ok());
        }
        let of_cost = |bound: &Bound| bound.objective == Objective::Cost;
        if best_effort && context.bounds.iter().any(of_cost) {
            context.bounds.push(makespan_bounds::cost::cheapest(instance));
        }
        Ok(match planned? {
            Plan::Front(front) => {
                let each = front.points().iter().map(|FrontPoint { schedule, bound }| {
                    let schedule = original(&competing, schedule);
                    FrontPoint { schedule, bound: bound.clone() }
                });
                // Compute the values again. The end of a bag is the end of its last task, but the scheduler evaluated
                // every task.
                Plan::Front(Front::new(instance, each.collect()).map(|FrontPoint { schedule, bound }| {
                    let schedule = fills.filled(instance, schedule);
                    let holds = |bound: &Bound| bound.speaks_of(&schedule) && bound.verify(instance).is_ok();
                    FrontPoint { bound: bound.filter(holds), schedule }
                }))
            }
            Plan::Strategy(strategy) => {
                let whole = |variant: &Variant| {
                    Variant::new(instance, fills.filled(instance, original(&competing, &variant.schedule)))
                };
                let chains = strategy.chains().clone().map(|task| competing.tasks[task.index()]);
                strategy.map(whole).with_chains(chains).into()
            }
            plan => {
                let Some(schedule) = plan.into_schedule() else {
                    return Err(unsupported(Unsupported(
                        "it plans no placements, but bags are planned as jobs".into(),
                    )));
                };
                fills.filled(instance, original(&competing, &schedule)).into()
            }
        })
    }
}

impl WithBags {
    /// Returns an error if the instance has gangs or time lags and the scheduler does not support them.
    fn check_relations(&self, instance: &Instance) -> Result<(), Unsupported> {
        let gangs = if self.0.supports_gangs() { Ok(()) } else { needs_no_gangs(instance) };
        if instance.has_lags() && instance.has_setups() {
            return Err(Unsupported("it keeps time lags only without setup times; remove `lags` or `setups`".into()));
        }
        gangs.and_then(|()| if self.0.supports_lags() { Ok(()) } else { needs_no_lags(instance) })
    }

    /// Returns the bags that fill the holes of a schedule, and an instance without these bags. Checks that the inner
    /// scheduler supports this instance.
    fn apart(&self, instance: &Instance) -> Result<(FillingBags, Instance), Unsupported> {
        instance.check_task_count().map_err(|error| Unsupported(error.to_string()))?;
        packed::check_staged(instance)?;
        let fills = FillingBags::of(instance);
        fills.check_consumables(instance)?;
        let others = fills.others(instance);
        if packed::has_more(&others) {
            self.0.supports(&others)?;
        } else {
            // Check an instance with one task of each bag. A scheduler supports this instance if and only if it
            // supports the whole instance.
            let jobs = others.ids().map(|id| others.submitted(id).without_copies());
            self.0.supports(&others.with_jobs(jobs.collect()))?;
        }
        Ok((fills, others))
    }
}

/// The bags that fill the holes between all other jobs.
struct FillingBags {
    /// Whether each job is a bag that fills holes.
    is_filled: Vec<bool>,
}

impl FillingBags {
    /// Returns the best-effort bags for which no competing job waits. If a competing job waits for a bag, the bag must
    /// end before this job starts, so the bag also competes.
    fn of(instance: &Instance) -> Self {
        let mut is_filled: Vec<bool> = instance.jobs().iter().map(Job::is_best_effort).collect();
        if instance.has_edges_between_jobs() {
            for id in instance.jobs_in_order().into_iter().rev() {
                if !is_filled[id.index()] {
                    instance.job(id).waits_for().iter().for_each(|before| is_filled[before.index()] = false);
                }
            }
        }
        Self { is_filled }
    }

    fn has(&self, job: JobId) -> bool {
        self.is_filled[job.index()]
    }

    /// Returns the amount of each consumable that one task of a bag uses up.
    fn used_up(instance: &Instance, job: JobId) -> impl Iterator<Item = (ResourceId, u64)> {
        let width = instance.profile_of(job).min_processors();
        let demands = instance.demands(instance.job(job).first()).iter();
        let consumables = demands.filter(|demand| demand.kind == ResourceKind::Consumable);
        consumables.map(move |demand| (demand.resource, demand.need.total(width)))
    }

    /// Returns, for each resource, the total amount that the filling bags use up.
    fn all_used_up(&self, instance: &Instance) -> Vec<u128> {
        let mut all = vec![0; instance.platform().resources().len()];
        for id in instance.ids().filter(|&id| self.has(id)) {
            for (resource, amount) in Self::used_up(instance, id) {
                all[resource.index()] += u128::from(amount) * u128::from(instance.job(id).tasks());
            }
        }
        all
    }

    fn check_consumables(&self, instance: &Instance) -> Result<(), Unsupported> {
        let platform = instance.platform();
        let ids = (0..).map(ResourceId);
        for (resource, needed) in ids.zip(self.all_used_up(instance)) {
            let there = platform.total(resource);
            if needed > there {
                let name = &platform.resource_of(resource).name;
                let what = format!("even on the fewest processors, best-effort bags use up {needed} of `{name}`");
                return Err(Unsupported(format!(
                    "{what}, but the platform has only {there}; give these bags a positive weight"
                )));
            }
        }
        Ok(())
    }

    /// Returns the instance without the filling bags. The consumables that the filling bags use up are marked as held
    /// for the whole time.
    fn others(&self, instance: &Instance) -> Instance {
        let others = instance.ids().filter(|&id| !self.has(id)).map(|id| instance.submitted(id));
        let kept = (0..).map(ResourceId).zip(self.all_used_up(instance)).filter(|&(_, amount)| amount > 0);
        let kept = kept.map(|(resource, amount)| HeldAmount {
            node: None,
            resource,
            amount: u64::try_from(amount).unwrap_or(u64::MAX),
            until: Time::MAX,
        });
        let held = instance.held().iter().copied().chain(kept).collect();
        instance.with_jobs(others.collect()).holding(held)
    }

    /// Returns the competing jobs. If tasks need resources or jobs wait for other jobs, bags stay bags, because all
    /// schedulers for such instances support bags. Otherwise, each task of a bag becomes a job without a name, with an
    /// equal share of the bag's weight. If `equally` is set, each job has a weight of one, and the tasks of a bag share
    /// a weight of one. Graphs come after all other jobs.
    fn competing(&self, instance: &Instance, others: Instance, equally: bool) -> SubInstance {
        let ids = instance.ids().filter(|&id| !self.has(id));
        if packed::has_more(&others) || !others.has_bags() {
            return SubInstance { tasks: ids.flat_map(|id| instance.job(id).task_ids()).collect(), instance: others };
        }
        let (mut jobs, mut tasks) = (Vec::new(), Vec::new());
        let (graphs, simple): (Vec<JobId>, Vec<JobId>) = ids.partition(|&id| instance.job(id).is_compound());
        for id in simple.into_iter().chain(graphs) {
            let job = instance.job(id);
            tasks.extend(job.task_ids());
            if job.is_bag() {
                let one = Job::new(String::new(), instance.profile_of(id).clone());
                let share = Weight::from_millionths(Weight::MILLIONTHS / job.tasks()).ok().filter(|_| equally);
                let one = one.with_release(job.release).with_weight(share.unwrap_or(job.task_weight()));
                let (deadline, penalty) = (job.deadline, job.penalty.clone());
                let one = Job { deadline, penalty, walltime: job.walltime, ..one };
                jobs.extend(std::iter::repeat_n(one, job.tasks() as usize));
            } else {
                let submitted = instance.submitted(id);
                jobs.push(if equally { submitted.with_weight(Weight::ONE) } else { submitted });
            }
        }
        SubInstance { instance: others.with_jobs(jobs), tasks }
    }

    /// Returns the filling bags in file order, except that each bag comes after the bags that it waits for.
    fn in_order(&self, instance: &Instance) -> Vec<JobId> {
        let mut order = Vec::new();
        let mut is_placed = vec![false; self.is_filled.len()];
        for id in instance.ids().filter(|&id| self.has(id)) {
            let mut path = vec![id];
            while let Some(&last) = path.last() {
                let is_missing = |before: &&JobId| self.has(**before) && !is_placed[before.index()];
                if let Some(&missing) = instance.job(last).waits_for().iter().find(is_missing) {
                    path.push(missing);
                    continue;
                }
                path.pop();
                if !std::mem::replace(&mut is_placed[last.index()], true) {
                    order.push(last);
                }
            }
        }
        order
    }

    /// Returns the schedule with the tasks of the filling bags in its holes.
    fn filled(&self, instance: &Instance, others: Schedule) -> Schedule {
        let bags = self.in_order(instance);
        if bags.is_empty() {
            return others;
        }
        Filling::new(instance, &others, &bags).filled(&others, &bags)
    }
}

/// Returns the plan of a scheduler, without schedules that exceed the scheduler's limit on the makespan. All plans of
/// the catalogue pass through this function, so no plan exceeds the limit.
fn within_limit(scheduler: &dyn Scheduler, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
    let plan = scheduler.schedule(instance, context)?;
    let Some(factor) = scheduler.makespan_at_most() else { return Ok(plan) };
    let own = context.bounds.iter().filter(|bound| bound.objective == Objective::Makespan).map(Bound::ticks).max();
    let best = || makespan_bounds::best(instance, Objective::Makespan).map_or(Time::ZERO, |bound| bound.ticks());
    let limit = Limit::times(factor, context.floor.or(own).unwrap_or_else(best));
    let makespans = || plan.schedules().map(Schedule::makespan);
    let of_front = matches!(plan, Plan::Front(_));
    let least = if of_front { makespans().min() } else { makespans().max() };
    limit.check(scheduler, least.unwrap_or_default())?;
    Ok(match plan {
        Plan::Front(front) => front.within(instance, limit.at).into(),
        plan => plan,
    })
}

/// Returns the original job of each competing job.
fn wholes(instance: &Instance, competing: &SubInstance) -> Vec<u32> {
    let first = |id: JobId| competing.tasks[competing.instance.job(id).first().index()];
    competing.instance.ids().map(|id| instance.job_id(first(id)).0).collect()
}

/// Converts a schedule of the competing jobs to the tasks of the whole instance.
fn original(competing: &SubInstance, schedule: &Schedule) -> Schedule {
    let own = |at: &Placement| Placement { task: competing.tasks[at.task.index()], ..at.clone() };
    Schedule::with_groups(schedule.grouped().map(|(at, group)| (own(at), group)).collect())
}

#[cfg(test)]
mod tests {
    use makespan_core::{Platform, Profile, Weight, validate};

    use super::*;
    use crate::scheduler;

    fn job(index: i64, processors: u32, ticks: i64) -> Job {
        Job::new(index.to_string(), Profile::rigid(processors, Time::from_ticks(ticks)).unwrap())
    }

    #[test]
    fn a_million_tasks_fill_the_holes_of_a_thousand_jobs() {
        let jobs = (0..1000).map(|index| job(index, 1 + (index * 7919 % 300) as u32, 1000 + index * 104_729 % 5000));
        let bag = Job::new("bag", Profile::rigid(1, Time::from_ticks(37)).unwrap()).with_weight(Weight::ZERO);
        let bag = bag.with_count(1_000_000.try_into().unwrap());
        let instance = Instance::new(Platform::flat(1000).unwrap(), jobs.chain([bag]).collect(), vec![]).unwrap();
        let scheduler = scheduler("list[order=saf]").unwrap();
        let schedule = scheduler.schedule(&instance, &mut Context::default()).unwrap().into_schedule().unwrap();
        assert_eq!(schedule.placements().len(), 1_001_000);
        assert_eq!(validate(&instance, &schedule), Ok(()));
    }

    #[test]
    fn the_bound_counts_best_effort_and_no_point_of_a_front_beats_another() {
        let bag = |name: &str, count: u64, weight: &str| {
            let profile = Profile::rigid(1, Time::from_seconds(2)).unwrap();
            let bag = Job::new(name, profile).with_weight(Weight::parse(weight).unwrap());
            bag.with_count(count.try_into().unwrap())
        };
        let on_four = |jobs| Instance::new(Platform::flat(4).unwrap(), jobs, vec![]).unwrap();
        let mut context = Context::with_seed(1);
        let best_effort = on_four(vec![bag("only", 40, "0")]);
        scheduler("optimise[steps=10,searches=1]").unwrap().schedule(&best_effort, &mut context).unwrap();
        let bound = context
            .bounds
            .iter()
            .filter(|bound| bound.objective == Objective::Makespan)
            .map(|bound| bound.value.integer());
        assert_eq!(bound.max(), Some(20_000_000_000));
        let wide = |index: i64| job(index, 1 + (index % 4) as u32, 1_000_000_000 * (1 + index % 5));
        let jobs = (0..9).map(wide).chain([bag("a", 9, "3"), bag("b", 7, "1")]).collect();
        let instance = on_four(jobs);
        let front = scheduler("optimise[objective=pareto,steps=200,searches=1]").unwrap();
        let Ok(Plan::Front(front)) = front.schedule(&instance, &mut Context::with_seed(1)) else { panic!("a front") };
        let weighted = |point: &FrontPoint| Objective::WeightedCompletion.value(&instance, &point.schedule);
        for pair in front.points().windows(2) {
            assert!(
                pair[0].schedule.makespan() < pair[1].schedule.makespan() && weighted(&pair[0]) > weighted(&pair[1])
            );
        }
    }

    #[test]
    fn too_many_tasks_and_bags_without_this_wrapper_are_refused() {
        let bag = |count: u64| {
            let bag = Job::new("bag", Profile::rigid(1, Time::TICK).unwrap()).with_count(count.try_into().unwrap());
            Instance::new(Platform::flat(2).unwrap(), vec![bag], vec![]).unwrap()
        };
        let refusal = scheduler("demt").unwrap().supports(&bag(10_000_001)).unwrap_err();
        assert!(refusal.0.contains("make fewer and longer tasks"), "{refusal}");
        assert!(super::super::Gang::default().supports(&bag(2)).is_err());
        assert!(scheduler("gang").unwrap().supports(&bag(2)).is_ok());
    }
}
