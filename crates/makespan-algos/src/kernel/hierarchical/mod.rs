//! The construction of the 2 - 2/k dual approximation, for clusters of m SMPs of k processors, where k is a power of
//! two.
//!
//! Source: P.-F. Dutot, D. Trystram, "Scheduling on hierarchical clusters using malleable tasks", SPAA 2001, pages
//! 199-208, HAL inria-00001082.
//!
//! Let d be a guess of the makespan. If all tasks are monotone, the schedule has at most the length `height`: 2 - 2/k
//! times d, or 3/2 times d for k = 2. The tasks are divided into four parts. A column is one processor over time. Tasks
//! of `P_full` keep their columns busy for more than d. Tasks of `P_1` start at zero and take at most d. Tasks of `P_2`
//! run above `P_1` and above idle columns, and end by the height. *Small* tasks, which take at most d/2 on one
//! processor, fill the gaps. Each file contains one step of the paper:
//!
//! * `partition`: chooses the tasks of the first shelf by a knapsack (section 3.1), or refutes the guess;
//! * `reduce`: reduces allotments of the first shelf to a k + 2^j processors, which pack without loss (section 3.2);
//! * `boxes`: puts tasks of the second shelf into boxes of a k + 2^j processors (section 4.3);
//! * `moves`: performs the three transformations (section 5);
//! * `ending`: performs the last step, for one or two tasks (appendix);
//! * `pack`: assigns processors to all tasks (figures 5 to 9);
//! * `columns`: assigns starts to all tasks, and puts small tasks into gaps (section 7);
//! * `earliest`: finds the best placement of one task with the earliest end. This step is needed if the assumptions of
//!   the paper are not met.
//!
//! Lengths are integers. Comparisons such as `2 t <= d` are exact in the form `t <= floor(d / 2)`, because t is an
//! integer.

mod boxes;
mod columns;
mod earliest;
mod ending;
mod moves;
mod pack;
mod partition;
mod reduce;
#[cfg(test)]
mod stress;
mod widen;

use makespan_core::{ProcSet, Profile, Time};

pub use partition::{Partition, partition};
pub use widen::widened;

use ending::Ending;
use moves::ReservedWidth;

/// A cluster of equal SMPs (nodes with several processors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Number of SMPs: m.
    pub nodes: u32,
    /// Number of processors of each SMP: k, a power of two.
    pub each: u32,
}

/// A part of the construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConstructionPart {
    /// Tasks with reduced allotments and stacked tasks. These tasks keep their columns busy for more than the guessed
    /// makespan.
    Full,
    /// The first shelf.
    First,
    /// The second shelf.
    Second,
    /// Sequential tasks that take at most half of the guessed makespan.
    Small,
    /// Tasks that did not fit. This happens only if some tasks are not monotone. Each of these tasks ends as early as
    /// possible above all other tasks.
    Left,
}

impl ConstructionPart {
    /// Returns the name of the part in plans and figures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "P_full",
            Self::First => "P_1",
            Self::Second => "P_2",
            Self::Small => "small",
            Self::Left => "left over",
        }
    }
}

/// A task in its best placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedTask {
    /// Index of the task in the input.
    pub task: usize,
    /// The processors.
    pub processors: ProcSet,
    /// The start.
    pub start: Time,
    /// The end.
    pub end: Time,
    /// The part of the construction that the task belongs to.
    pub part: ConstructionPart,
}

impl Cluster {
    /// Returns the number of processors: m k.
    pub fn processors(self) -> u32 {
        self.nodes * self.each
    }

    /// Returns the maximum length of a schedule for this guess if all tasks are monotone.
    pub fn height(self, guess: Time) -> Time {
        let (over, under) = self.ratio();
        Time::from_ticks((i128::from(guess.ticks()) * i128::from(over) / i128::from(under)) as i64)
    }

    /// Returns the maximum length of a schedule of these tasks if all are monotone: the height, plus one tick if times
    /// are rounded up.
    pub fn limit(self, profiles: &[&Profile], guess: Time) -> Time {
        let rounded = profiles.iter().any(|profile| profile.rounds_up());
        self.height(guess) + if rounded { Time::TICK } else { Time::ZERO }
    }

    /// Returns the least guess above `guess` that is a multiple of 4 k ticks.
    ///
    /// For this guess, all limits of times are integers: half of the guessed makespan, three quarters of the guess, and
    /// the height. A time that is rounded up to an integer meets an integer limit if and only if the exact time meets
    /// it. For tasks with speed-up laws, work never decreases if times are exact. So every step gives the result that
    /// it gives with exact times, and the proof of the paper is valid. Each processor runs at most two tasks with
    /// rounded times. Rounding adds less than a tick to each time. Thus the schedule ends by [`Cluster::limit`]. For
    /// small tasks, the argument in [`crate::kernel::shelves::two_shelves`] is valid.
    pub fn whole_guess(self, guess: Time) -> Time {
        let unit = 4 * i64::from(self.each);
        Time::from_ticks(unit * (guess.ticks() / unit + 1))
    }

    /// Returns the number of ticks by which a schedule for [`Cluster::whole_guess`] may exceed the ratio times the
    /// guessed makespan: 8 k + 1.
    pub fn rounding(self) -> i64 {
        8 * i64::from(self.each) + 1
    }

    /// Returns the ratio 2 - 2/k, or 3/2 for k = 2, as a fraction in lowest terms.
    pub fn ratio(self) -> (u32, u32) {
        if self.each <= 2 { (3, 2) } else { (self.each - 1, self.each / 2) }
    }

    /// Returns the largest number of the form a k + 2^j or a k that is at most `width`. k is the number of processors
    /// of a node.
    fn round_down(self, width: u32) -> u32 {
        let rest = width % self.each;
        width - rest + if rest == 0 { 0 } else { 1 << rest.ilog2() }
    }

    /// Returns the smallest number of the form a k + 2^j or a k that is at least `width`. k is the number of processors
    /// of a node.
    fn round_up(self, width: u32) -> u32 {
        let rest = width % self.each;
        width - rest + if rest == 0 { 0 } else { rest.next_power_of_two() }
    }
}

/// Returns the fastest allotment of at most `width` processors. If additional processors do not make the task faster,
/// they stay idle. Thus the time never increases with `width`, up to the number of processors of the platform.
fn fastest_within(profile: &Profile, width: u32) -> Option<u32> {
    if width >= profile.max_processors() {
        return Some(profile.fastest());
    }
    if width < profile.min_processors() {
        return None;
    }
    let mut best = profile.min_allotment(profile.time(width))?;
    while let Some(faster) = profile.min_allotment(profile.time(best) - Time::TICK).filter(|&faster| faster <= width) {
        best = faster;
    }
    Some(best)
}

/// Returns the time of the fastest allotment of at most `width` processors.
fn time_within(profile: &Profile, width: u32) -> Option<Time> {
    fastest_within(profile, width).map(|processors| profile.time(processors))
}

/// The last step of a construction, after the last transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FinalStep {
    /// No last step is needed: `P_2` fits next to `P_full`.
    Nothing,
    /// The last task of `P_2` is placed without a box.
    Above,
    /// The last task of `P_2` is on the idle processors of the first shelf. The SMPs that are used in part are grouped
    /// (figure 8 of the paper).
    Beside,
    /// The last task of `P_2` is on the idle processors of the first shelf, and a sequential task of `P_1` was stacked
    /// to free a processor.
    Stacked,
    /// One of the last two tasks of `P_2` is on the idle processors, and the other is placed without a box (figure 9).
    Both,
    /// Some tasks did not fit, because not all tasks are monotone.
    Left,
}

/// A schedule, and figures about its construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Construction {
    /// The placements of all tasks.
    pub placed: Vec<PlacedTask>,
    /// Number of transformations (section 5).
    pub transformations: usize,
    /// The last step.
    pub last: FinalStep,
}

/// Builds a schedule of all tasks in best placement. `first_shelf` states which tasks [`partition`] or
/// [`makespan_bounds::dual::search`] chose for this guess. If all tasks are monotone, the schedule ends by
/// [`Cluster::height`], otherwise it may end later. Takes O(n log n + m k) for n tasks on m nodes of k processors,
/// without the partition. Each task that is not monotone may add O(n m k).
pub fn build(profiles: &[&Profile], cluster: Cluster, first_shelf: &[bool], guess: Time) -> Vec<PlacedTask> {
    construct(profiles, cluster, first_shelf, guess).placed
}

/// Returns the schedule of [`build`], with figures about its construction.
pub fn construct(profiles: &[&Profile], cluster: Cluster, first_shelf: &[bool], guess: Time) -> Construction {
    let mut parts = reduce::reduced(profiles, cluster, first_shelf, guess);
    let mut transformations = 0;
    while !parts.is_feasible() && parts.transform() {
        transformations += 1;
    }
    let endings = parts.endings();
    let mut built: Vec<(columns::TaskColumns<'_>, FinalStep)> = Vec::new();
    for ending in &endings {
        let last = if parts.left.is_empty() { ending.last() } else { FinalStep::Left };
        built.push((columns::raise(&parts, ending), last));
        if built.last().is_some_and(|(columns, _)| columns.is_within_height()) {
            break;
        }
    }
    let chosen = built.into_iter().min_by_key(|(columns, _)| (!columns.is_within_height(), columns.left()));
    let (placed, last) =
        chosen.map_or_else(|| (vec![], FinalStep::Nothing), |(columns, last)| (columns.finish(), last));
    Construction { placed, transformations, last }
}
