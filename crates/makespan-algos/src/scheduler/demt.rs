//! The scheduler DEMT: batches of doubling lengths are filled with tasks of high weight, and then compacted.

use makespan_core::{Instance, Objective, ScheduleBuilder, TaskId, Unsupported};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::allotment::DualAllotment;
use super::{check_supported, counted_or_packed, needs_free_placement, packed};
use crate::free_time::Period;
use crate::kernel::batches::by_batches;
use crate::kernel::compact::{self, Shuffle, ShuffleParameters};
use crate::kernel::doubling::{self, SelectionTask};
use crate::kernel::list::{self, AllottedTask, ListSweep};
use crate::kernel::open::OpenPlatform;
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// The stage up to which batches are compacted. The paper has three stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// All tasks of a batch start at the beginning of the batch.
    Raw,
    /// Each task starts as soon as its processors are idle.
    Shift,
    /// A list algorithm starts the tasks in the order of the batches. The processors of tasks may change.
    List,
}

named!(Compaction { "raw" => Raw, "shift" => Shift, "list" => List });
named!(Shuffle { "batches" => Batches, "jobs" => Jobs, "both" => Both });

/// The bi-criteria algorithm for makespan and weighted completion.
///
/// Source: P.-F. Dutot, L. Eyraud, G. Mounié, D. Trystram, "Bi-criteria algorithm for scheduling jobs on cluster
/// platforms", SPAA 2004, DOI 10.1145/1007912.1007932, section 3.2. Release dates are handled by the batch rule of the
/// paper (section 2.2). Assumptions: none. Guarantee: none is known. Complexity for n tasks on m processors: O(m n K)
/// for the knapsacks of K batches, and O(n log n) for each shuffle.
///
/// Deviations: if the paper's loop would leave tasks unplanned, batches continue to double. Tasks within a batch are
/// ordered by weight over area. Small sequential tasks are compacted one by one. The paper shuffles the order of the
/// batches, but does not state how. Here, two batches are exchanged. If this improves the schedule, the exchange is
/// kept. Shuffling tasks within batches is not in the paper.
///
/// The paper does not cover unavailable processors. If processors are unavailable at times, the guess of the makespan
/// is the least length in which the open processor time is enough for the work. A batch then uses the processors that
/// are open during the batch, and allotments that fit on them. Batches that ignore the unavailable times are also
/// tried. If tasks would end much later than in a list that minimises the makespan, these tasks move to the front.
///
/// ```
/// use makespan_algos::scheduler::Demt;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, Time, Weight};
///
/// let job = |name: &str, time, weight: &str| {
///     let profile = Profile::rigid(1, Time::from_seconds(time)).unwrap();
///     Job::new(name, profile).with_weight(Weight::parse(weight).unwrap())
/// };
/// let jobs = vec![job("long", 8, "1"), job("urgent", 1, "10")];
/// let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
/// let schedule = Demt::default().schedule(&instance, &mut Context::default()).unwrap().into_schedule().unwrap();
/// assert_eq!(schedule.makespan(), Time::from_seconds(9));
/// assert_eq!(schedule.placements()[0].end, Time::from_seconds(1));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Demt {
    /// The stage of compaction.
    pub compaction: Compaction,
    /// Number of random orders that the list stage tries.
    pub shuffles: u32,
    /// The order that the list stage shuffles: the order of the batches, the order of the tasks within batches, or
    /// both.
    pub shuffle: Shuffle,
}

impl Default for Demt {
    fn default() -> Self {
        Self { compaction: Compaction::List, shuffles: 20, shuffle: Shuffle::Batches }
    }
}

impl Scheduler for Demt {
    fn name(&self) -> String {
        let default = Self::default();
        let mut parts = Vec::new();
        if self.compaction != default.compaction {
            parts.push(format!("compaction={}", self.compaction));
        }
        if self.shuffles != default.shuffles {
            parts.push(format!("shuffles={}", self.shuffles));
        }
        if self.shuffle != default.shuffle {
            parts.push(format!("shuffle={}", self.shuffle));
        }
        if parts.is_empty() { "demt".into() } else { format!("demt[{}]", parts.join(",")) }
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        if self.compaction == Compaction::List {
            counted_or_packed(instance)
        } else {
            // Reject best placement. Batches are filled before processors are assigned, and only the number of
            // processors of a batch is checked.
            needs_free_placement(instance)
        }
    }

    fn guarantee(&self, _instance: &Instance, _objective: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        if self.compaction == Compaction::List && !packed::is_counted(instance) {
            return packed::planned(self, packed::in_batches(instance));
        }
        check_supported(self, instance)?;
        let mut random = ChaCha8Rng::seed_from_u64(context.seed);
        let schedule = by_batches(instance, |builder, tasks, from| {
            let dual = DualAllotment::of(instance, tasks);
            let open = OpenPlatform::of(instance, from);
            if self.compaction != Compaction::List {
                let mut batches = select(instance, tasks, &dual, open.as_ref());
                if let Some(open) = &open {
                    let lists = open.lists(instance, dual.in_shelf_order());
                    let shortest = open.shortest(builder, instance, &lists);
                    let period = Period { from, until: open.latest(shortest.end) };
                    batches = compact::near(builder, instance, batches, &shortest.list, period);
                }
                return compact::place_raw(builder, &batches, from);
            }
            let mut listed = |builder: &mut ScheduleBuilder<'_>, open| {
                let batches = select(instance, tasks, &dual, open);
                let shuffling = ShuffleParameters { shuffle: self.shuffle, tries: self.shuffles, random: &mut random };
                compact::best_list(builder, instance, &batches, from, shuffling)
            };
            let list = match &open {
                None => listed(builder, None),
                Some(open) => {
                    let lists = [listed(builder, Some(open)), listed(builder, None)];
                    around(builder, instance, open, lists, dual.in_shelf_order())
                }
            };
            list::place(builder, instance, &list, from)
        });
        Ok(match self.compaction {
            Compaction::Shift => compact::shift_left(instance, &schedule).into(),
            Compaction::Raw | Compaction::List => schedule.into(),
        })
    }
}

/// In each of the two lists, moves those tasks forward that would end much later than in a list that minimises the
/// makespan. Then returns the list with the smaller weighted completion.
fn around(
    builder: &mut ScheduleBuilder<'_>,
    instance: &Instance,
    open: &OpenPlatform<'_>,
    lists: [Vec<AllottedTask>; 2],
    in_shelf_order: Vec<AllottedTask>,
) -> Vec<AllottedTask> {
    let for_makespan = open.lists(instance, in_shelf_order);
    let shortest = open.shortest(builder, instance, &for_makespan);
    let [first, second] = lists.map(|list| open.near(builder, instance, list, shortest.clone()));
    let mut sweep = ListSweep::default();
    let mut value =
        |list: &[AllottedTask]| compact::weighted_completion(builder, instance, list, open.from(), &mut sweep);
    if value(&second) < value(&first) { second } else { first }
}

/// Returns the batches for tasks that have been released.
fn select(
    instance: &Instance,
    tasks: &[TaskId],
    dual: &DualAllotment<'_>,
    open: Option<&OpenPlatform<'_>>,
) -> Vec<doubling::Batch> {
    let candidate = |(&task, &profile)| SelectionTask { task, profile, weight: instance.weight(task).millionths() };
    let candidates: Vec<SelectionTask<'_>> = tasks.iter().zip(&dual.profiles).map(candidate).collect();
    match open {
        None => doubling::batches(&candidates, dual.guess, &instance.processors()),
        Some(open) => doubling::batches(&candidates, open.guess(&dual.profiles), open),
    }
}
