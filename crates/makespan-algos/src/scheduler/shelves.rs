//! A scheduler for clusters of SMPs (nodes with several processors): the 2 - 2/k dual approximation.

use std::sync::Arc;

use makespan_bounds::dual::{self, Dual};
use makespan_core::{
    Instance, Objective, Placement, Profile, Schedule, ScheduleBuilder, TaskId, Time, Unsupported, counted,
};

use super::allotment::DualAllotment;
use super::{all_monotone, by_guess, check_supported, needs_equal_processors, some_round_up};
use crate::kernel::hierarchical::{Cluster, ConstructionPart, Partition, PlacedTask, build, partition, widened};
use crate::kernel::{batches, list, shelves};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Plans jobs in two shelves, on m nodes (SMPs) of k processors each. The length of the first shelf is the guess: the
/// smallest makespan that the method does not refute. Some columns of processors are busy for the whole time of both
/// shelves. Every task is in best placement.
///
/// Source: P.-F. Dutot, D. Trystram, "Scheduling on hierarchical clusters using malleable tasks", SPAA 2001, HAL
/// inria-00001082, for k a power of two. On nodes of one processor, the scheduler builds the two shelves of
/// [`super::DualApproximation`]. If there are release dates, the scheduler plans in batches. Assumptions: equal nodes.
/// Some tasks that are not monotone (rigid tasks, or tasks with superlinear speed-up) may not fit into the shelves.
/// Such tasks are placed above the shelves, on the processors on which they end first. Then the guess is raised in
/// steps of 5 %, and the shortest schedule is kept. If processors are unavailable at times, or if too many tasks are
/// not monotone, a greedy list in best placement is used instead. The largest refuted guess proves a lower bound
/// ([`makespan_verify::proof::Rejection`]), but the bound of `makespan_bounds::makespan` is at least as strong.
/// Guarantee (makespan): let all tasks be monotone, and let each node have k processors. The ratio to the optimum,
/// which may use any placement, is 3/2 if k is 1 or 2, and 2 - 2/k if k is a greater power of two. If k is not a power
/// of two, the ratio is twice the ratio of the next lower power of two (see the proof in `rounded_down`). If some tasks
/// have speed-up laws, the guaranteed makespan is 8 k + 1 ticks longer (7 ticks if k is 1), because the run times of
/// laws are rounded up ([`Cluster::whole_guess`]). The ratio doubles if there are release dates, and also if the
/// knapsack is too large ([`makespan_bounds::dual::is_exact`]). There is no guarantee if processors are unavailable, or
/// if a job is not monotone ([`Profile::is_monotone`]), such as a rigid job of 3 processors. A flat cluster is one node
/// of k = m processors. On a flat cluster, the ratio is 2 - 2/m if m is a power of two, and otherwise twice the ratio
/// of the next lower power of two. So [`super::DualApproximation`] has a better guarantee on a flat cluster. Complexity
/// for n tasks: each step of the search takes O(n log n log(m k)), or O(n m k) if the step needs the knapsack. The
/// construction takes O(n log n + m k). Deviations: a task may move to the first shelf on any number of processors of
/// the form a k + 2^j (for whole numbers a and j), if the task then fits into the length of the shelf. The last task of
/// the second shelf may use fewer processors than the box of a k + 2^j processors that the paper reserves for it. Small
/// tasks are placed on the least loaded processors. If there are release dates or k is rounded down to a power of two,
/// a list schedule is returned if it is shorter.
///
/// ```
/// use makespan_algos::scheduler::Shelves;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, Time, validate};
///
/// let times = [12, 6, 4, 3].map(Time::from_seconds).to_vec();
/// let jobs = ["a", "b", "c"].map(|name| Job::new(name, Profile::table(times.clone()).unwrap())).to_vec();
/// let platform = Platform::cluster(2, 4).unwrap().requiring_compact();
/// let instance = Instance::new(platform, jobs, vec![]).unwrap();
/// let schedule = Shelves.schedule(&instance, &mut Context::default()).unwrap().into_schedule().unwrap();
/// assert_eq!(validate(&instance, &schedule), Ok(()));
/// assert!(schedule.makespan() <= Time::from_seconds(9));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Shelves;

/// Maximum number of times that the guessed makespan is raised by 5 % for tasks that are not monotone. Together, these
/// raises multiply the guess by about ten.
const RAISES: usize = 48;
/// Maximum number of columns that are examined for tasks that are not monotone, over all guesses together. This number
/// of columns takes one or two seconds.
const MAX_COLUMNS: usize = 20_000_000;

impl Scheduler for Shelves {
    fn name(&self) -> String {
        "shelves".into()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        needs_equal_processors(instance)?;
        Nodes::of(instance).map(|_| ())
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        let nodes = Nodes::of(instance).ok()?;
        let open = instance.availability().is_always_open();
        if objective != Objective::Makespan || !open || !all_monotone(instance) {
            return None;
        }
        // The guarantee also holds for batches that are released later, because it is relative to an optimum that
        // starts at zero.
        let guarantee = nodes.guarantee(instance);
        Some(if instance.has_release_dates() { guarantee.doubled() } else { guarantee })
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        check_supported(self, instance)?;
        let unsupported = |reason| ScheduleError::Unsupported { scheduler: self.name(), reason };
        let nodes = Nodes::of(instance).map_err(unsupported)?;
        let Some((schedule, left)) = by_shelves(instance, nodes) else {
            context.remarks.push(
                "the shelves need processors that are always available, and all jobs but a few must be monotone; a list \
                 in best placement, without a guaranteed ratio, is used instead"
                    .into(),
            );
            return Ok(by_list(instance).into());
        };
        if instance.has_release_dates() || nodes.is_rounded_down() {
            let list = by_list(instance);
            if list.makespan() < schedule.makespan() {
                context.remarks.push("a list in best placement is shorter than the shelves, so it is used".into());
                return Ok(list.into());
            }
        }
        if left > 0 {
            let remark =
                format!("placed after the shelves, because not all jobs are monotone: {}", counted(left, "job"));
            context.remarks.push(remark);
        }
        Ok(schedule.into())
    }
}

/// The nodes of a platform.
#[derive(Clone, Copy)]
struct Nodes {
    /// The nodes as the construction uses them: the number of processors of each node is rounded down to a power of
    /// two.
    cluster: Cluster,
    /// The number of processors of each node of the platform.
    each: u32,
}

impl Nodes {
    fn of(instance: &Instance) -> Result<Self, Unsupported> {
        let platform = instance.platform();
        match platform.processors_per_node() {
            Some(each) if each > 0 => {
                Ok(Self { cluster: Cluster { nodes: platform.processors() / each, each: rounded_down(each) }, each })
            }
            _ => Err(Unsupported("it needs nodes with equal numbers of processors; use `list` or `sweep`".into())),
        }
    }

    fn is_rounded_down(self) -> bool {
        self.cluster.each < self.each
    }

    /// Returns the guarantee without release dates.
    fn guarantee(self, instance: &Instance) -> Guarantee {
        let (over, under) = self.cluster.ratio();
        let most = if self.cluster.each == 1 { shelves::ROUNDING } else { self.cluster.rounding() };
        let rounding = if some_round_up(instance) { most } else { 0 };
        let guarantee = Guarantee::ratio(over, under).plus_ticks(rounding);
        let guarantee = by_guess(guarantee, instance.tasks() as usize, self.cluster.processors());
        if self.is_rounded_down() { guarantee.doubled() } else { guarantee }
    }
}

/// Returns k', the largest power of two that is at most k. Here, k is `each`, the number of processors of a node.
///
/// Let d be the optimum on m nodes of k processors. On m nodes of k' processors, the guessed makespan is at most 2 d.
/// So the ratio of the construction doubles.
///
/// Proof that the guess 2 d is accepted: let each task have its smallest allotment with a time of at most d. Since k <
/// 2 k', these allotments have a total work of less than 2 d m k'. At most one of them has more than m k' processors,
/// because a task with such an allotment does at least m k' d work. To end within 2 d, this task needs at most half of
/// its processors, and so at most m k' processors. The task is chosen for the first shelf, of length 2 d. All other
/// tasks are chosen for the second shelf, of length d.
///
/// After the construction, wide tasks again get all processors of their nodes ([`widened`]).
fn rounded_down(each: u32) -> u32 {
    1 << each.ilog2()
}

/// Returns the two shelves of each batch, one batch after another, and the number of tasks above the shelves. Returns
/// `None` if the shelves cannot be built.
fn by_shelves(instance: &Instance, nodes: Nodes) -> Option<(Schedule, usize)> {
    if !instance.availability().is_always_open() {
        return None;
    }
    let mut placements = Vec::with_capacity(instance.tasks() as usize);
    let (mut left, mut is_built) = (0, true);
    let parts = [
        ConstructionPart::Full,
        ConstructionPart::First,
        ConstructionPart::Second,
        ConstructionPart::Small,
        ConstructionPart::Left,
    ];
    let names = parts.map(|part| Arc::<str>::from(part.name()));
    batches::each_batch(instance, |tasks, from| {
        let profiles: Vec<&Profile> = tasks.iter().map(|&id| instance.profile(id)).collect();
        let Some(placed) = on_nodes(&profiles, nodes).filter(|_| is_built) else {
            is_built = false;
            return from;
        };
        left += placed.iter().filter(|placed| placed.part == ConstructionPart::Left).count();
        let end = from + end(&placed);
        placements.extend(placed.into_iter().map(|placed| {
            let task = tasks[placed.task];
            let (start, end) = (from + placed.start, from + placed.end);
            let placement = Placement { task, start, end, processors: placed.processors };
            (placement, Some(names[placed.part as usize].clone()))
        }));
        end
    });
    is_built.then(|| (Schedule::with_groups(placements), left))
}

/// Builds the shelves from the instant zero on.
fn on_nodes(profiles: &[&Profile], nodes: Nodes) -> Option<Vec<PlacedTask>> {
    if nodes.cluster.each == 1 {
        return on_processors(profiles, nodes.cluster.nodes);
    }
    if !nodes.is_rounded_down() {
        return on_cluster(profiles, nodes.cluster);
    }
    let processors = nodes.cluster.processors();
    let narrow: Vec<Profile> =
        profiles.iter().map(|&profile| profile.clone().at_most(processors)).collect::<Option<_>>()?;
    let placed = on_cluster(&narrow.iter().collect::<Vec<_>>(), nodes.cluster)?;
    let widen = |placed: PlacedTask| {
        let profile = profiles[placed.task];
        widened(&placed, profile, nodes.cluster, nodes.each)
    };
    Some(placed.into_iter().map(widen).collect())
}

/// Builds the two shelves of the dual approximation.
fn on_processors(profiles: &[&Profile], processors: u32) -> Option<Vec<PlacedTask>> {
    let Dual { guess, first_shelf, .. } = dual::search(profiles.iter().copied(), processors);
    let shelved = shelves::two_shelves(profiles, &first_shelf, guess, processors)?;
    let placed = |shelved: shelves::ShelvedTask| {
        let end = shelved.start + profiles[shelved.task].time(shelved.processors.len());
        let part = if shelved.start == Time::ZERO { ConstructionPart::First } else { ConstructionPart::Second };
        PlacedTask { task: shelved.task, processors: shelved.processors, start: shelved.start, end, part }
    };
    Some(shelved.into_iter().map(placed).collect())
}

/// Builds the shelves for nodes of 2, 4, 8 .. processors.
fn on_cluster(profiles: &[&Profile], cluster: Cluster) -> Option<Vec<PlacedTask>> {
    let strange = profiles.iter().filter(|profile| !profile.is_monotone()).count();
    let attempts = MAX_COLUMNS / (strange * cluster.processors() as usize).max(1);
    if attempts == 0 {
        return None;
    }
    let Dual { guess, first_shelf, .. } = dual::search(profiles.iter().copied(), cluster.processors());
    let mut placed = build(profiles, cluster, &first_shelf, guess);
    if end(&placed) > cluster.limit(profiles, guess) && profiles.iter().any(|profile| profile.rounds_up()) {
        // The first shelf that was chosen for the guessed makespan is also valid for every greater guess.
        let whole = build(profiles, cluster, &first_shelf, cluster.whole_guess(guess));
        placed = if end(&whole) < end(&placed) { whole } else { placed };
    }
    if strange > 0 && end(&placed) > cluster.limit(profiles, guess) {
        placed = raised(profiles, cluster, guess, attempts.min(RAISES), placed);
    }
    Some(placed)
}

fn by_list(instance: &Instance) -> Schedule {
    let tasks: Vec<TaskId> = instance.task_ids().collect();
    let from = instance.first_release();
    let mut builder = ScheduleBuilder::new(instance);
    let list = DualAllotment::of(instance, &tasks).list(&mut builder, from);
    list::place(&mut builder, instance, &list, from);
    builder.finish()
}

fn end(placed: &[PlacedTask]) -> Time {
    placed.iter().map(|placed| placed.end).max().unwrap_or(Time::ZERO)
}

/// Raises the guessed makespan until a schedule meets the limit for the raised guess. Returns the shortest schedule
/// found. The proven bound does not change.
fn raised(
    profiles: &[&Profile],
    cluster: Cluster,
    mut guess: Time,
    times: usize,
    first: Vec<PlacedTask>,
) -> Vec<PlacedTask> {
    let mut best = first;
    for _ in 0..times {
        guess = guess + Time::from_ticks(guess.ticks() / 20).max(Time::TICK);
        let (Partition::Chosen(shelf) | Partition::Undecided(shelf)) = partition(profiles, cluster, guess) else {
            continue;
        };
        let placed = build(profiles, cluster, &shelf, guess);
        let met = end(&placed) <= cluster.limit(profiles, guess);
        if end(&placed) < end(&best) {
            best = placed;
        }
        if met {
            break;
        }
    }
    best
}
