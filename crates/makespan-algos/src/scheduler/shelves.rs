//! The 2 - 2/k dual approximation for clusters of SMPs as a scheduler.

use std::sync::Arc;

use makespan_bounds::dual::{self, Dual};
use makespan_core::{
    Context, Guarantee, Instance, Job, JobId, Objective, Placement, Plan, Profile, Schedule, ScheduleBuilder,
    ScheduleError, Scheduler, Time, Unsupported,
};

use super::allotment::DualAllotment;
use super::{all_monotone, check_supported, needs_equal_processors};
use crate::kernel::hierarchical::{Cluster, Part, Partition, Placed, build, partition};
use crate::kernel::list;

/// Two shelves and full-time columns on m SMPs of k processors, k a power of two, every job in its best placement.
///
/// Source: P.-F. Dutot, D. Trystram, "Scheduling on hierarchical clusters using malleable tasks", SPAA 2001, HAL
/// inria-00001082.
/// Assumptions: equal nodes of 2, 4, 8 .. processors. Jobs that are not monotone (rigid ones, superlinear speed-up) and
/// do not fit go to their earliest finish on top of the rest; then the guess is raised by 5 % at a time and the
/// shortest schedule kept. With release dates or unavailable processors, or too many such jobs, a greedy list in best
/// placement serves.
/// The guess is the least that is not refuted; the refuted one below it is a [`makespan_core::certificate::Rejection`],
/// and what `makespan_bounds::makespan` proves is no weaker.
/// Guarantee (makespan): 2 - 2/k for monotone tables, 3/2 for k = 2, against the optimum of any placement; none with
/// release dates or unavailable processors.
/// Complexity: O(n log n log(m k)) a step of the search, O(n m k) for those that need the knapsack; O(n log n + m k)
/// for the construction.
/// Deviations: jobs may move to the first shelf on any a k + 2^j that keeps the length; a last job of the second shelf
/// may do without a box; small jobs go to the least load.
///
/// ```
/// use makespan_algos::scheduler::Shelves;
/// use makespan_core::{Context, Instance, Job, Platform, Profile, Scheduler, Time, validate};
///
/// let times = [12, 6, 4, 3].map(Time::from_seconds).to_vec();
/// let jobs = ["a", "b", "c"].map(|name| Job::new(name, Profile::table(times.clone()).unwrap())).to_vec();
/// let platform = Platform::cluster(2, 4).unwrap().requiring_compact();
/// let instance = Instance::new(platform, jobs, vec![]).unwrap();
/// let schedule = Shelves.schedule(&instance, &mut Context::default()).unwrap().into_schedule();
/// assert_eq!(validate(&instance, &schedule), Ok(()));
/// assert!(schedule.makespan() <= Time::from_seconds(9));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Shelves;

/// How often the guess is raised by 5 % for jobs that are not monotone: to about ten times as much.
const RAISES: usize = 48;
/// Columns that are looked at for jobs that are not monotone, in all guesses together: a second or two.
const MOST_COLUMNS: usize = 20_000_000;

impl Scheduler for Shelves {
    fn name(&self) -> String {
        "shelves".into()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        needs_equal_processors(instance)?;
        cluster(instance).map(|_| ())
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        let proved = objective == Objective::Makespan && is_offline(instance) && all_monotone(instance);
        let (over, under) = cluster(instance).ok()?.ratio();
        // Released later together, the jobs still end within the ratio of an optimum that counts from zero.
        proved.then_some(Guarantee::ratio(over, under))
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        check_supported(self, instance)?;
        let strange = instance.jobs().iter().filter(|job| !job.profile().is_monotone()).count();
        let attempts = MOST_COLUMNS / (strange * instance.processors() as usize).max(1);
        let unsupported = |reason| ScheduleError::Unsupported { scheduler: self.name(), reason };
        let cluster = cluster(instance).map_err(unsupported)?;
        if !is_offline(instance) || attempts == 0 {
            context.remarks.push(
                "the shelves need jobs that are all there, most of them monotone, and processors that are always open; \
                 the jobs are placed by a list in best placement, without a ratio"
                    .into(),
            );
            return Ok(by_list(instance).into());
        }
        let profiles: Vec<&Profile> = instance.jobs().iter().map(Job::profile).collect();
        let Dual { guess, first_shelf, .. } = dual::search(profiles.iter().copied(), cluster.processors());
        let mut placed = build(&profiles, cluster, &first_shelf, guess);
        if end(&placed) > cluster.height(guess) {
            placed = raised(&profiles, cluster, (guess, attempts.min(RAISES)), placed);
        }
        let left = placed.iter().filter(|placed| placed.part == Part::Left).count();
        if left > 0 {
            let remark = format!("{left} jobs stand on top of the shelves, because not all jobs are monotone");
            context.remarks.push(remark);
        }
        Ok(annotated(&placed, instance.first_release()).into())
    }
}

/// The nodes, if the construction is for them.
fn cluster(instance: &Instance) -> Result<Cluster, Unsupported> {
    let platform = instance.platform();
    match platform.processors_per_node() {
        Some(each) if each >= 2 && each.is_power_of_two() => Ok(Cluster { nodes: platform.processors() / each, each }),
        Some(each) => Err(Unsupported(format!(
            "it needs nodes of 2, 4, 8 .. processors and these have {each}; `list` and `sweep` keep jobs within any \
             nodes"
        ))),
        None => Err(Unsupported(
            "it needs nodes of equally many processors; `list` and `sweep` keep jobs within any nodes".into(),
        )),
    }
}

/// Whether all jobs are released together on processors that are always open.
fn is_offline(instance: &Instance) -> bool {
    !instance.has_release_dates() && instance.availability().is_always_open()
}

fn by_list(instance: &Instance) -> Schedule {
    let jobs: Vec<JobId> = instance.ids().collect();
    let from = instance.first_release();
    let mut builder = ScheduleBuilder::new(instance);
    let list = DualAllotment::of(instance, &jobs).list(&mut builder, instance, &jobs, from);
    list::place(&mut builder, instance, &list, from);
    builder.finish()
}

fn end(placed: &[Placed]) -> Time {
    placed.iter().map(|placed| placed.end).max().unwrap_or(Time::ZERO)
}

/// The shortest of the schedules for guesses up to the first that is met. What is proved stays as it is.
fn raised(
    profiles: &[&Profile],
    cluster: Cluster,
    (mut guess, times): (Time, usize),
    first: Vec<Placed>,
) -> Vec<Placed> {
    let mut best = first;
    for _ in 0..times {
        guess = guess + Time::from_ticks(guess.ticks() / 20).max(Time::TICK);
        let (Partition::Chosen(shelf) | Partition::Undecided(shelf)) = partition(profiles, cluster, guess) else {
            continue;
        };
        let placed = build(profiles, cluster, &shelf, guess);
        let met = end(&placed) <= cluster.height(guess);
        if end(&placed) < end(&best) {
            best = placed;
        }
        if met {
            break;
        }
    }
    best
}

fn annotated(placed: &[Placed], from: Time) -> Schedule {
    let parts = [Part::Full, Part::First, Part::Second, Part::Small, Part::Left];
    let names = parts.map(|part| Arc::<str>::from(part.name()));
    let placement = |placed: &Placed| {
        let placement = Placement {
            job: JobId(placed.job as u32),
            task: 0,
            start: from + placed.start,
            end: from + placed.end,
            processors: placed.processors.clone(),
        };
        (placement, Some(names[placed.part as usize].clone()))
    };
    Schedule::with_groups(placed.iter().map(placement).collect())
}
