//! The critical jobs method as a scheduler.

mod remarks;

use makespan_core::{
    ChainReport, FreeTime, Instance, JobId, Objective, Schedule, Strategy, TaskId, Time, Unavailable, Unsupported,
    Variant, counted,
};

use super::packed::needs_counts;
use super::{INSTEAD, check_supported, needs_single_processors_or, optimise, remark_parallel};
use crate::free_time::Calendar;
use crate::kernel::chains::criterion::Criterion;
use crate::kernel::chains::deadline::{deadline, makespan_alone};
use crate::kernel::chains::draft::Draft;
use crate::kernel::chains::explain::explain;
use crate::kernel::chains::method::Method;
use crate::kernel::chains::outline::{Outline, Share};
use crate::kernel::chains::squeeze::{SqueezeLimits, SqueezeResult, squeeze};
use crate::kernel::chains::strategy::{JobSchedule, Settings, heft};
use crate::kernel::graph::placing::calendars;
use crate::kernel::graph::together::earliest_together;
use crate::kernel::graph::{GraphProblem, TaskPlace};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Number of equal parts of the time from HEFT's end to the deadline. One variant is planned to end by HEFT's end, and
/// one by the end of each part.
const SHARES: i64 = 4;
/// Maximum total number of places that the depth-first searches of all jobs may try. A job is searched if its critical
/// chains and HEFT both miss the deadline.
const TRIED: u64 = 60_000;
/// Maximum total number of times that annealing may place a task again, over all jobs. A job is annealed if its
/// critical chains and HEFT both miss the deadline.
const ANNEALED: u64 = 400_000;

/// Plans compound jobs by their critical chains. The criterion is the least cost or the highest utilisation within the
/// deadlines of the jobs. The result is a strategy of several variants. The variant that is best by the criterion is
/// chosen.
///
/// Jobs are planned in the order of release, each around the jobs that were planned before it. Each job must end by its
/// deadline. If a job states no deadline, its deadline is `deadline` times the makespan of HEFT for the job alone on
/// idle processors, counted from its release. If critical chains give no plan and HEFT misses the deadline, a search
/// tries to find a schedule that meets the deadline. Small jobs are searched completely ([`squeeze`]). For larger jobs,
/// the order and the processors of the tasks are annealed. Both searches have fixed numbers of steps. Critical chains
/// then improve the schedule that was found, as they improve HEFT's schedule. If no search finds a schedule that meets
/// the deadline of a job, the job takes HEFT's places. A remark reports each job that takes its places from a search or
/// from HEFT. The strategy contains only the variants with the fewest late jobs. Jobs with gangs
/// ([`makespan_core::Task::gang`]) take HEFT's places, with the tasks of each gang together.
///
/// Source: A. Tselishchev, V. V. Toporkov, "Compound job scheduling and job-flows management in distributed computing",
/// 54th IWK, Ilmenau 2009, section 3; cost after V. V. Toporkov, Programming and Computer Software 34(3), 2008.
/// Assumptions: every task accepts one processor and runs on one processor; at most 256 processors. Guarantee: none.
/// Complexity: O(r c k m^2 s) for r rounds, c chains of k tasks and m processors, if the time from the release to the
/// deadline is divided into s steps (256 to 511). Deviations: see [`crate::kernel::chains::strategy::strategy`]. The
/// variants of this scheduler must end by different instants between HEFT's end and the job's deadline. The paper has
/// no such variants.
///
/// ```
/// use makespan_algos::scheduler::CriticalJobs;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Graph, Instance, Job, Payload, NamedTask, Node, Platform, Profile, Time, Edge, cost};
///
/// let task = |name| NamedTask::new(name, Profile::rigid(1, Time::from_seconds(10)).unwrap());
/// let edge = Edge { from: 0, to: 1, payload: Payload::Fixed(Time::ZERO) };
/// let mut job = Job::compound("pair", Graph::new(vec![task("a"), task("b")], vec![edge]).unwrap());
/// job.deadline = Some(Time::from_seconds(21));
/// let node = |name: &str, speed| Node { speed, ..Node::new(name, 1) };
/// let platform = Platform::new(vec![node("slow", 1.0), node("fast", 2.0)]).unwrap();
/// let instance = Instance::new(platform, vec![job], vec![]).unwrap();
/// let schedule = CriticalJobs::default().schedule(&instance, &mut Context::default()).unwrap().into_schedule().unwrap();
/// // Both tasks run on the slow processor, at half the cost of the fast processor.
/// assert_eq!(cost(&instance, &schedule), 2000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CriticalJobs {
    /// The method by which jobs are planned.
    pub method: Method,
}

impl CriticalJobs {
    /// Returns the number of jobs that end by their deadline in a schedule.
    pub fn on_time(&self, instance: &Instance, schedule: &Schedule) -> usize {
        let problem = self.method.problem(instance);
        instance.jobs().len() - Planner::new(instance, &problem, self).late(schedule)
    }
}

/// Maximum number of processors. Tables contain a value for each pair of processors, so their size must be limited.
const MAX_PROCESSORS: usize = 256;

impl CriticalJobs {
    /// Checks that the method can plan the tasks of an instance, on any number of processors.
    pub(crate) fn supports_tasks_or(instance: &Instance, instead: &str) -> Result<(), Unsupported> {
        needs_counts(instance, instead)?;
        needs_single_processors_or(instance, instead)?;
        if !instance.has_gangs() {
            return Ok(());
        }
        let problem = GraphProblem::new(instance);
        let idle = calendars(&problem);
        let fits = |gang: &&Vec<u32>| earliest_together(&problem, gang, &idle, |_, _| 0).is_some();
        match problem.gangs().iter().find(|gang| !fits(gang)) {
            None => Ok(()),
            Some(gang) => Err(Unsupported(format!(
                "the {} of the gang of `{}` cannot start together, because the platform has too few processors for \
                 them; add processors, or make the gang smaller",
                counted(gang.len(), "task"),
                instance.name(TaskId(gang[0].into()))
            ))),
        }
    }

    /// Checks that the method can plan an instance. If the method cannot plan the instance, the error recommends
    /// `instead`.
    pub(crate) fn supports_or(instance: &Instance, instead: &str) -> Result<(), Unsupported> {
        Self::supports_tasks_or(instance, instead)?;
        if instance.processors() as usize > MAX_PROCESSORS {
            let what = format!(
                "it supports at most {MAX_PROCESSORS} processors, because it stores a value for every pair of \
                 processors"
            );
            return Err(Unsupported(format!("{what}; use {instead}")));
        }
        Ok(())
    }
}

impl Scheduler for CriticalJobs {
    fn name(&self) -> String {
        let parts = self.method.parameters(&Method::default());
        if parts.is_empty() { "critical-jobs".into() } else { format!("critical-jobs[{}]", parts.join(",")) }
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        Self::supports_or(instance, INSTEAD)
    }

    fn supports_gangs(&self) -> bool {
        true
    }

    fn guarantee(&self, _: &Instance, _: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        check_supported(self, instance)?;
        remark_parallel(instance, context);
        context.bounds.push(makespan_bounds::cost::cheapest(instance));
        let problem = self.method.problem(instance);
        let planner = Planner::new(instance, &problem, self);
        let (mut plans, remarks) = planner.plans(context);
        context.remarks.extend(remarks);
        if self.method.settings.criterion == Criterion::Utilisation {
            plans.extend(self.cheap_plans(instance, context));
        }
        let mut variants: Vec<Variant> = plans.iter().map(|plan| planner.variant(&problem, plan)).collect();
        let late = |variant: &Variant| planner.late(&variant.schedule);
        // Return only the variants with the fewest late jobs.
        let fewest = variants.iter().map(late).min();
        variants.retain(|variant| Some(late(variant)) == fewest);
        let strategy = Strategy::new(variants, |variant| {
            let value = match self.method.settings.criterion {
                Criterion::Cost => variant.cost,
                Criterion::Utilisation => -utilisation(instance, variant),
            };
            (late(variant), value)
        });
        let Some(strategy) = strategy else { return Ok(Schedule::default().into()) };
        let chosen = &strategy.variants()[strategy.chosen()];
        let plan = plans.iter().find(|plan| planner.variant(&problem, plan) == *chosen);
        let chains = plan.map_or_else(ChainReport::default, |plan| planner.report(plan));
        Ok(strategy.with_chains(chains).into())
    }
}

impl CriticalJobs {
    /// Returns the plans that the method finds with the cost criterion. These plans are additional candidates if
    /// the criterion is the utilisation. With this criterion, the method prefers long tasks that fill processors up to
    /// a deadline, but a shorter schedule may have a higher utilisation.
    fn cheap_plans(&self, instance: &Instance, context: &Context) -> Vec<Vec<JobSchedule>> {
        let settings = Settings { criterion: Criterion::Cost, ..self.method.settings };
        let cheap = Self { method: Method { settings, ..self.method } };
        let problem = cheap.method.problem(instance);
        Planner::new(instance, &problem, &cheap).plans(context).0
    }
}

/// Returns the utilisation of a variant in units of 10^-9. The utilisation is the busy time divided by the open time
/// from the first release to the end of the variant. [`makespan_core::Metrics::utilisation`] has the same definition.
fn utilisation(instance: &Instance, variant: &Variant) -> i128 {
    let open = instance.availability().open_area(instance.first_release(), variant.finish);
    if open > 0 { variant.busy.saturating_mul(1_000_000_000) / open } else { 0 }
}

/// The jobs of an instance, in the order in which they are planned.
struct Planner<'a> {
    instance: &'a Instance,
    method: Method,
    jobs: Vec<Job<'a>>,
}

struct Job<'a> {
    id: JobId,
    outline: Outline<'a>,
    end: i64,
}

/// The plans of one pass, with the remarks about them. A plan has one schedule for each job, in the order in which the
/// jobs are planned. There are several plans only if there is one job.
struct PassPlans {
    plans: Vec<Vec<JobSchedule>>,
    remarks: Vec<String>,
}

impl<'a> Planner<'a> {
    fn new(instance: &'a Instance, problem: &'a GraphProblem, scheduler: &CriticalJobs) -> Self {
        let mut jobs = Vec::new();
        for (id, job) in instance.ids().zip(instance.jobs()) {
            let outline = Outline::new(instance, problem, id, &scheduler.method);
            let alone = || makespan_alone(&outline.real);
            let end = deadline(job.deadline, job.release.ticks(), alone, scheduler.method.deadline);
            jobs.push(Job { id, outline, end });
        }
        jobs.sort_by_key(|job| (job.outline.real.release(), job.id));
        Self { instance, method: scheduler.method, jobs }
    }

    /// Returns plans from several passes. Each pass uses a larger fraction of the time from HEFT's end to the
    /// deadline than the pass before it. The last pass uses all of this time. Only the remarks of the last pass are
    /// returned, because its plan is usually chosen.
    fn plans(&self, context: &Context) -> (Vec<Vec<JobSchedule>>, Vec<String>) {
        let (mut plans, mut remarks) = (Vec::new(), Vec::new());
        for parts in 0..=SHARES {
            let passed = self.pass(Share { parts, of: SHARES }, context);
            plans.extend(passed.plans);
            remarks = passed.remarks;
        }
        (plans, remarks)
    }

    /// Returns the variant that consists of the schedules of all jobs.
    fn variant(&self, problem: &GraphProblem, plan: &[JobSchedule]) -> Variant {
        let mut places = vec![TaskPlace::default(); problem.tasks()];
        for (job, own) in self.jobs.iter().zip(plan) {
            let first = self.instance.job(job.id).first().index();
            places[first..first + own.places.len()].copy_from_slice(&own.places);
        }
        Variant::new(self.instance, problem.schedule(&places))
    }

    /// Returns the chains and collisions of the compound jobs in a plan.
    fn report(&self, plan: &[JobSchedule]) -> ChainReport {
        let mut report = ChainReport::default();
        for (job, own) in self.jobs.iter().zip(plan) {
            let stated = self.instance.job(job.id);
            if stated.is_compound() {
                explain(&mut report, &job.outline, own, stated.first(), job.end);
            }
        }
        report
    }

    /// Plans all jobs. Each job must end by its own limit: HEFT's end, plus the fraction `share` of the time from
    /// HEFT's end to the deadline of the job.
    fn pass(&self, share: Share, context: &Context) -> PassPlans {
        let Some(first) = self.jobs.first() else {
            return PassPlans { plans: Vec::new(), remarks: Vec::new() };
        };
        let problem = first.outline.real.problem();
        let mut calendars = calendars(problem);
        let mut plan = Vec::with_capacity(self.jobs.len());
        let mut passed = PassPlans { plans: Vec::new(), remarks: Vec::new() };
        // Number of tasks of bags that take HEFT's places because no other plan was found.
        let mut unnamed = 0;
        for job in &self.jobs {
            let real = &job.outline.real;
            let fallback = heft(real, &calendars);
            let mut offers = job.outline.strategy(&calendars, &fallback, job.end, share);
            // Search only with the last share. HEFT ends after the deadline, so a search gives the same result with
            // every share.
            let searched = share.parts == share.of && offers.is_empty() && fallback.finish() > job.end;
            if let Some(found) = searched.then(|| self.search(job, &calendars, context)).flatten() {
                offers = job.outline.strategy(&calendars, &found, job.end, share);
                offers.push(JobSchedule::plain(&found));
            }
            if self.jobs.len() == 1 {
                passed.plans.extend(offers.iter().map(|offer| vec![offer.clone()]));
            }
            let best = offers.into_iter().min_by_key(|offer| offer.key(self.method.settings.criterion));
            if best.is_none() && self.instance.job(job.id).name.is_empty() {
                unnamed += 1;
            } else {
                passed.remarks.extend(self.remark(job, best.as_ref().map(|best| (best, searched)), fallback.finish()));
            }
            let own = best.unwrap_or_else(|| JobSchedule::plain(&fallback));
            for (place, until) in own.places.iter().zip(own.held_until(real)) {
                calendars[place.processor.index()].hold(1, place.start, until);
            }
            plan.push(own);
        }
        if unnamed > 0 {
            passed.remarks.push(format!(
                "for {} of bags, no plan by critical chains meets the stated or assumed deadline; HEFT's plan is used \
                 for these tasks",
                counted(unnamed, "task")
            ));
        }
        passed.plans.push(plan);
        passed
    }

    /// Searches for a schedule in which a job meets its deadline, around the jobs that were planned before it. The
    /// search is used if neither critical chains nor HEFT give such a schedule.
    fn search<'b>(&self, job: &'b Job<'a>, calendars: &[Calendar], context: &Context) -> Option<Draft<'b>> {
        let (real, jobs) = (&job.outline.real, self.jobs.len() as u64);
        // The searches place tasks one by one.
        if real.has_gangs() || real.tasks() == 0 || real.release() + real.longest_path() > job.end {
            return None;
        }
        let limits = SqueezeLimits { end: job.end, budget: i64::MAX, steps: TRIED / jobs };
        match squeeze(real, calendars, limits) {
            SqueezeResult::Found(found) => return Some(found),
            SqueezeResult::Impossible => return None,
            SqueezeResult::Unknown => {}
        }
        // Make an instance of this job alone. Processors that earlier jobs hold are unavailable.
        let taken = real.problem().processor_ids().zip(calendars).flat_map(|(processor, calendar)| {
            let period = move |&(start, end): &(i64, i64)| Unavailable {
                processors: processor.alone(),
                start: Time::from_ticks(start),
                end: Time::from_ticks(end),
            };
            calendar.busy().iter().map(period)
        });
        let own = self.instance.submitted(job.id);
        let alone = Instance::new(self.instance.platform().clone(), vec![own], taken.collect()).ok()?;
        let problem = self.method.problem(&alone);
        let steps = ANNEALED / jobs / real.tasks() as u64;
        let places = optimise::within(&alone, &problem, job.end, steps, context)?;
        let mut draft = Draft::new(real, calendars.to_vec());
        for (task, place) in (0..).zip(places) {
            let time = real.time_on(task, place.processor);
            if !draft.calendars()[place.processor.index()].fits(1, place.start, time) {
                return None;
            }
            draft.put_on(task, place);
        }
        Some(draft)
    }

    /// Returns the number of jobs that end after their deadline.
    fn late(&self, schedule: &Schedule) -> usize {
        let mut ends = vec![Time::ZERO; self.instance.jobs().len()];
        for placement in schedule.placements() {
            let end = &mut ends[self.instance.job_id(placement.task).index()];
            *end = (*end).max(placement.end);
        }
        self.jobs.iter().filter(|job| ends[job.id.index()].ticks() > job.end).count()
    }
}
