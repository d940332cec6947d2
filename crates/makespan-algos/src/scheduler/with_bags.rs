//! Bags of tasks for any scheduler.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{
    Bound, Context, FreeTime, Front, FrontPoint, Guarantee, Instance, InstanceError, Job, JobId, Objective, Part,
    Placement, Plan, ProcSet, Schedule, ScheduleError, Scheduler, Time, Unsupported, Variant,
};

use super::{check_supported, packed};
use crate::free_time::Calendar;
use crate::kernel::holes::{Holes, Tasks};

/// A scheduler of jobs made one of jobs and bags. An instance without bags is passed on as it is.
///
/// The tasks of competing bags take part as jobs that share the weight of their bag. When the scheduler has placed
/// everything that competes, the best-effort bags are filled into what is left, in file order, each task on the fewest
/// processors that it accepts, at the earliest instant at which they are free for all of its time. Nothing is moved,
/// so no other job is delayed; the tasks of a bag are numbered by start.
///
/// Source: the third type of open job of Dutot, Eyraud, Mounié and Trystram, SPAA 2004,
/// DOI 10.1145/1007912.1007932, section 2 (divisible load). Assumptions: at most [`Instance::MAX_TASKS`] tasks in
/// all. Guarantee: that of the scheduler without bags, none with them. Complexity: that of the scheduler on one job
/// for each competing task, and O(k log m) for k best-effort tasks on m processors.
///
/// ```
/// use makespan_algos::scheduler::{Sequential, WithBags};
/// use makespan_core::{Context, Instance, Job, Platform, Profile, Scheduler, Time, Weight};
///
/// let rigid = |name: &str, processors, seconds| {
///     Job::new(name, Profile::rigid(processors, Time::from_seconds(seconds)).unwrap())
/// };
/// let bag = rigid("bag", 1, 2).with_weight(Weight::ZERO).with_count(5.try_into().unwrap());
/// let jobs = vec![bag, rigid("wide", 2, 3), rigid("narrow", 1, 5)];
/// let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
/// let plan = WithBags(Box::new(Sequential)).schedule(&instance, &mut Context::default()).unwrap();
/// // Beside the narrow job fit two tasks; the others follow at the end.
/// assert_eq!(plan.into_schedule().unwrap().placements().len(), 7);
/// ```
pub struct WithBags(pub Box<dyn Scheduler>);

impl Scheduler for WithBags {
    fn name(&self) -> String {
        self.0.name()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        if !instance.has_bags() || packed::has_more(instance) {
            return self.0.supports(instance);
        }
        instance.check_task_count().map_err(|error| Unsupported(error.to_string()))?;
        if let Some(job) = instance.staged() {
            let name = &instance.job(job).name;
            let what = "take time on the way from the root of the tree, which only `steady-state` plans";
            return Err(Unsupported(format!("the data of the tasks of `{name}` {what}")));
        }
        let wide = |id: &JobId| instance.job(*id).is_best_effort() && !instance.profile_of(*id).accepts(1);
        if !instance.has_equal_processors()
            && let Some(bag) = instance.ids().find(wide).map(|id| instance.job(id))
        {
            let what = "on processors that differ, tasks of best-effort bags run on one processor each";
            return Err(Unsupported(format!("{what}, and those of `{}` need more", bag.name)));
        }
        // What is supported of one task is supported of many.
        let one = |id: JobId| instance.submitted(id).without_copies();
        let competing = instance.ids().filter(|&id| !instance.job(id).is_best_effort());
        self.0.supports(&instance.with_jobs(competing.map(one).collect()))
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        if instance.has_bags() { None } else { self.0.guarantee(instance, objective) }
    }

    fn is_anytime(&self) -> bool {
        self.0.is_anytime()
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        if !instance.has_bags() || packed::has_more(instance) {
            return self.0.schedule(instance, context);
        }
        check_supported(self, instance)?;
        let reason = |error: InstanceError| Unsupported(error.to_string());
        let competing = competing(instance)
            .map_err(|error| ScheduleError::Unsupported { scheduler: self.name(), reason: reason(error) })?;
        // Bounds speak of the jobs of one instance, and this is another; most are true of both.
        let known = std::mem::take(&mut context.bounds);
        let planned = self.0.schedule(&competing.instance, context);
        let found = std::mem::replace(&mut context.bounds, known);
        context.bounds.extend(found.into_iter().filter(|bound| bound.verify(instance).is_ok()));
        let of_makespan = |bound: &Bound| bound.objective == Objective::Makespan;
        if instance.jobs().iter().any(Job::is_best_effort) && context.bounds.iter().any(of_makespan) {
            // What competes may end alone much sooner than everything can.
            context.bounds.extend(makespan_bounds::best(instance, Objective::Makespan).ok());
        }
        let of_cost = |bound: &Bound| bound.objective == Objective::Cost;
        if instance.jobs().iter().any(Job::is_best_effort) && context.bounds.iter().any(of_cost) {
            context.bounds.push(makespan_bounds::cost::cheapest(instance));
        }
        Ok(match planned? {
            Plan::Front(front) => {
                let each = front.points().iter().map(|FrontPoint { schedule, bound }| {
                    let schedule = original(&competing, schedule);
                    FrontPoint { schedule, bound: bound.clone() }
                });
                // A bag that competes counts by its last task, which the scheduler did not know.
                Plan::Front(Front::new(instance, each.collect()).map(|FrontPoint { schedule, bound }| {
                    let schedule = fill_best_effort(instance, schedule);
                    let holds = |bound: &Bound| bound.speaks_of(&schedule) && bound.verify(instance).is_ok();
                    FrontPoint { bound: bound.filter(holds), schedule }
                }))
            }
            Plan::Strategy(strategy) => {
                let whole = |variant: &Variant| {
                    Variant::new(instance, fill_best_effort(instance, original(&competing, &variant.schedule)))
                };
                strategy.map(whole).into()
            }
            plan => {
                let Some(schedule) = plan.into_schedule() else {
                    let reason = Unsupported("it plans no placements, and bags are placed as jobs".into());
                    return Err(ScheduleError::Unsupported { scheduler: self.name(), reason });
                };
                fill_best_effort(instance, original(&competing, &schedule)).into()
            }
        })
    }
}

/// What competes, each task of a bag a job without a name that has its share of the weight; graphs come last.
///
/// # Errors
/// [`InstanceError::TooManyTasks`]; best-effort tasks are counted too, since they are placed afterwards.
fn competing(instance: &Instance) -> Result<Part, InstanceError> {
    instance.check_task_count()?;
    let (mut jobs, mut tasks) = (Vec::new(), Vec::new());
    let (graphs, others): (Vec<JobId>, Vec<JobId>) = instance.ids().partition(|&id| instance.job(id).is_compound());
    for id in others.into_iter().filter(|&id| !instance.job(id).is_best_effort()).chain(graphs) {
        let job = instance.job(id);
        tasks.extend(job.task_ids());
        if job.is_bag() {
            let one = Job::new(String::new(), instance.profile_of(id).clone());
            let one = one.with_release(job.release).with_weight(job.task_weight());
            let one = Job { deadline: job.deadline, walltime: job.walltime, ..one };
            jobs.extend(std::iter::repeat_n(one, job.tasks() as usize));
        } else {
            jobs.push(instance.submitted(id));
        }
    }
    Ok(Part { instance: instance.with_jobs(jobs), tasks })
}

/// A schedule of what competes with the tasks of the whole instance.
fn original(competing: &Part, schedule: &Schedule) -> Schedule {
    let own = |at: &Placement| Placement { task: competing.tasks[at.task.index()], ..at.clone() };
    Schedule::with_groups(schedule.grouped().map(|(at, group)| (own(at), group)).collect())
}

/// The schedule with the tasks of the best-effort bags in its holes.
fn fill_best_effort(instance: &Instance, others: Schedule) -> Schedule {
    let bags: Vec<JobId> = instance.ids().filter(|&id| instance.job(id).is_best_effort()).collect();
    if bags.is_empty() {
        return others;
    }
    if !instance.has_equal_processors() {
        return fill_machines(instance, &others, &bags);
    }
    let mut holes = Holes::of(instance, &others);
    let mut placements: Vec<_> = others.grouped().map(|(placement, group)| (placement.clone(), group)).collect();
    // Bags of equal tasks that follow each other are filled as one: a run takes bags apart into such.
    let equal = |a: &JobId, b: &JobId| {
        let (a, b) = (instance.simple(*a), instance.simple(*b));
        a.release == b.release && a.profile() == b.profile()
    };
    for group in bags.chunk_by(equal) {
        let job = instance.simple(group[0]);
        let width = job.profile().min_processors();
        let time = job.profile().time(width);
        let mut tasks = group.iter().flat_map(|&id| instance.job(id).task_ids());
        let count = group.iter().map(|&id| instance.job(id).tasks()).sum();
        holes.fill(Tasks { count, width, time, release: job.release }, |start, processors| {
            let placement = |task| Placement { task, start, end: start + time, processors };
            placements.extend(tasks.next().map(|task| (placement(task), None)));
        });
    }
    Schedule::with_groups(placements)
}

/// The same where processors differ: each task on the one processor on which it ends first, in the order of these ends.
/// O((k + h) log m) for k tasks and h holes.
fn fill_machines(instance: &Instance, others: &Schedule, bags: &[JobId]) -> Schedule {
    let closed = instance.unavailable().iter().map(|period| (&period.processors, (period.start, period.end)));
    let placed = others.placements().iter().map(|one| (&one.processors, (one.start, one.end)));
    let mut held = vec![Vec::new(); instance.processors() as usize];
    for (processors, (start, end)) in closed.chain(placed) {
        processors.iter().for_each(|id| held[id as usize].push((start.ticks(), end.ticks())));
    }
    let mut calendars: Vec<Calendar> = held.iter().map(|periods| Calendar::new(periods)).collect();
    let mut placements: Vec<_> = others.grouped().map(|(placement, group)| (placement.clone(), group)).collect();
    for &id in bags {
        let job = instance.job(id);
        let time = |processor: usize| {
            Some(instance.time_on(job.first(), instance.platform().node_of(processor as u32))?.ticks())
        };
        let times: Vec<Option<i64>> = (0..calendars.len()).map(time).collect();
        let next = |calendars: &[Calendar], processor: usize, after: i64| {
            let time = times[processor]?;
            Some(Reverse((calendars[processor].earliest_fit(1, time, after) + time, processor)))
        };
        let first = (0..calendars.len()).filter_map(|processor| next(&calendars, processor, job.release.ticks()));
        let mut ends: BinaryHeap<Reverse<(i64, usize)>> = first.collect();
        let mut taken = vec![Vec::new(); calendars.len()];
        for task in job.task_ids() {
            // Some processor can run it, or it were in no instance.
            let Some(Reverse((end, processor))) = ends.pop() else { break };
            let start = end - times[processor].unwrap_or_default();
            taken[processor].push((start, end));
            ends.extend(next(&calendars, processor, end));
            let (start, end) = (Time::from_ticks(start), Time::from_ticks(end));
            let processors = ProcSet::range(processor as u32, processor as u32);
            placements.push((Placement { task, start, end, processors }, None));
        }
        for (calendar, own) in calendars.iter_mut().zip(taken) {
            *calendar = Calendar::new(&[calendar.busy().to_vec(), own].concat());
        }
    }
    Schedule::with_groups(placements)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use makespan_core::{Platform, Profile, Weight, validate};

    use super::*;
    use crate::scheduler;

    fn job(index: i64, processors: u32, ticks: i64) -> Job {
        Job::new(index.to_string(), Profile::rigid(processors, Time::from_ticks(ticks)).unwrap())
    }

    #[test]
    fn a_million_tasks_fill_the_holes_of_a_thousand_jobs_in_seconds() {
        let jobs = (0..1000).map(|index| job(index, 1 + (index * 7919 % 300) as u32, 1000 + index * 104_729 % 5000));
        let bag = Job::new("bag", Profile::rigid(1, Time::from_ticks(37)).unwrap()).with_weight(Weight::ZERO);
        let bag = bag.with_count(1_000_000.try_into().unwrap());
        let instance = Instance::new(Platform::flat(1000).unwrap(), jobs.chain([bag]).collect(), vec![]).unwrap();
        let scheduler = scheduler("list[order=saf]").unwrap();
        let begin = Instant::now();
        let schedule = scheduler.schedule(&instance, &mut Context::default()).unwrap().into_schedule().unwrap();
        let seconds = begin.elapsed().as_secs_f64();
        println!("planned in {seconds:.2} s");
        assert!(seconds < 10.0, "{seconds} s");
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
