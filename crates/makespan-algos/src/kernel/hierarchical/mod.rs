//! Clusters of m SMPs of k processors, k a power of two: the construction of the 2 - 2/k dual approximation.
//!
//! Source: P.-F. Dutot, D. Trystram, "Scheduling on hierarchical clusters using malleable tasks", SPAA 2001, pages
//! 199-208, HAL inria-00001082.
//!
//! With a guess d of the makespan, every schedule built here for monotone tasks is no longer than `height`: 2 - 2/k
//! times d, or 3/2 times d for k = 2. The tasks stand in four parts. Columns of `P_full` hold work for more than d. Tasks
//! of `P_1` start at zero and last at most d. Tasks of `P_2` end by the height, over `P_1` and idle columns. *Small*
//! tasks, of at most d/2 on one processor, fill the gaps. One step of the paper a file:
//!
//! * `partition`: which tasks are in the first shelf, by a knapsack (section 3.1), or why the guess is refuted;
//! * `reduce`: allotments of the first shelf become a k + 2^j processors, which packs without loss (section 3.2);
//! * `boxes`: tasks of the second shelf go into boxes of a k + 2^j processors (section 4.3);
//! * `moves`: the three transformations (section 5);  `ending`: what is done when one or two tasks are left (appendix);
//! * `pack`: processors for all of them (figures 5 to 9);  `columns`: starts, and gaps for the small tasks (section 7);
//! * `earliest`: one task in its best placement at its earliest finish, for what the paper's assumptions do not cover.
//!
//! Lengths are integers. `2 t <= d` and the like are compared exactly with `t <= floor(d / 2)`, because t is an
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
use moves::Slot;

/// Equal SMPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// How many: m.
    pub nodes: u32,
    /// Processors of each: k, a power of two.
    pub each: u32,
}

/// A part of the construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The tasks of reduced allotments and of stacks: their columns work for more than the guess.
    Full,
    /// The first shelf.
    First,
    /// The second shelf.
    Second,
    /// Sequential tasks of at most half of the guess.
    Small,
    /// What did not fit, since not all tasks are monotone: at its earliest finish over everything else.
    Left,
}

impl Part {
    /// As plans and pictures name it.
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

/// One task in its best placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Position of the task in the input.
    pub task: usize,
    /// Its processors.
    pub processors: ProcSet,
    /// Its start.
    pub start: Time,
    /// Its end.
    pub end: Time,
    /// The part that it is in.
    pub part: Part,
}

impl Cluster {
    /// m k.
    pub fn processors(self) -> u32 {
        self.nodes * self.each
    }

    /// The length that a schedule built with this guess keeps when all tasks are monotone.
    pub fn height(self, guess: Time) -> Time {
        let (over, under) = self.ratio();
        Time::from_ticks((i128::from(guess.ticks()) * i128::from(over) / i128::from(under)) as i64)
    }

    /// The length that it keeps for these tasks: one tick more than the height if times are rounded up.
    pub fn limit(self, profiles: &[&Profile], guess: Time) -> Time {
        let rounded = profiles.iter().any(|profile| profile.rounds_up());
        self.height(guess) + if rounded { Time::TICK } else { Time::ZERO }
    }

    /// The least guess above this one that is a multiple of 4 k ticks.
    ///
    /// Of such a guess all fractions with which times are compared are integers: its half, its three quarters and the
    /// height. A time rounded up to an integer meets an integer limit if and only if it does before. So for tasks with laws,
    /// of which work never falls before times are rounded up, every step decides as with exact times, and the proof of the
    /// paper holds; no processor has more than two times that are rounded up, by less than a tick each, so that the schedule
    /// ends by [`Cluster::limit`]. The last two sentences of [`crate::kernel::shelves::two_shelves`] apply to small tasks.
    pub fn whole_guess(self, guess: Time) -> Time {
        let unit = 4 * i64::from(self.each);
        Time::from_ticks(unit * (guess.ticks() / unit + 1))
    }

    /// What a schedule for [`Cluster::whole_guess`] may exceed the ratio by, in ticks: twice 4 k, and one.
    pub fn rounding(self) -> i64 {
        8 * i64::from(self.each) + 1
    }

    /// 2 - 2/k, or 3/2 for k = 2, as a fraction in lowest terms.
    pub fn ratio(self) -> (u32, u32) {
        if self.each <= 2 { (3, 2) } else { (self.each - 1, self.each / 2) }
    }

    /// The widest a k + 2^j (or a k) of at most `width`.
    fn round_down(self, width: u32) -> u32 {
        let rest = width % self.each;
        width - rest + if rest == 0 { 0 } else { 1 << rest.ilog2() }
    }

    /// The narrowest a k + 2^j (or a k) of at least `width`.
    fn round_up(self, width: u32) -> u32 {
        let rest = width % self.each;
        width - rest + if rest == 0 { 0 } else { rest.next_power_of_two() }
    }
}

/// The fastest allotment of at most `width` processors. Where more processors are no faster they stay idle, so that a
/// task is monotone on every width up to the platform's.
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

/// The time of the fastest allotment of at most `width` processors.
fn time_within(profile: &Profile, width: u32) -> Option<Time> {
    fastest_within(profile, width).map(|processors| profile.time(processors))
}

/// What was done once no transformation was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Last {
    /// Nothing: `P_2` fits beside `P_full`.
    Nothing,
    /// The last task of `P_2` does without a box.
    Above,
    /// The last task of `P_2` is on the idle processors of the first shelf, which are grouped (figure 8 of the paper).
    Beside,
    /// The same, and a sequential task of `P_1` was stacked for it.
    Stacked,
    /// Of the last two tasks of `P_2` one is on the idle processors and the other does without a box (figure 9).
    Both,
    /// Some tasks have no place in the parts: not all tasks are monotone.
    Left,
}

/// A schedule, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Construction {
    /// Every task.
    pub placed: Vec<Placed>,
    /// How many transformations (section 5) were made.
    pub transformations: usize,
    /// What was done then.
    pub last: Last,
}

/// Builds a schedule of all tasks in their best placement, from the tasks of the first shelf that [`partition`] (or
/// [`makespan_bounds::dual::search`]) chose for this guess. For monotone tasks it ends by [`Cluster::height`]; for
/// others it may end later.
///
/// O(n log n + m k) without the partition; tasks that are not monotone may add O(n m k) each.
pub fn build(profiles: &[&Profile], cluster: Cluster, first_shelf: &[bool], guess: Time) -> Vec<Placed> {
    construct(profiles, cluster, first_shelf, guess).placed
}

/// [`build`], and how the schedule came about.
pub fn construct(profiles: &[&Profile], cluster: Cluster, first_shelf: &[bool], guess: Time) -> Construction {
    let mut parts = reduce::reduced(profiles, cluster, first_shelf, guess);
    let mut transformations = 0;
    while !parts.is_feasible() && parts.transform() {
        transformations += 1;
    }
    let endings = parts.endings();
    let mut built: Vec<(columns::Columns<'_>, Last)> = Vec::new();
    for ending in &endings {
        let last = if parts.left.is_empty() { ending.last() } else { Last::Left };
        built.push((columns::raise(&parts, ending), last));
        if built.last().is_some_and(|(columns, _)| columns.is_within_height()) {
            break;
        }
    }
    let chosen = built.into_iter().min_by_key(|(columns, _)| (!columns.is_within_height(), columns.left()));
    let (placed, last) = chosen.map_or_else(|| (vec![], Last::Nothing), |(columns, last)| (columns.finish(), last));
    Construction { placed, transformations, last }
}
