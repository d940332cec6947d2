//! The allotments of all tasks in flat arrays, for searches that read them millions of times.

use makespan_core::{Instance, Platform, Profile, Time};

/// Profiles with at most this number of allotments are stored completely. From a larger profile, only allotments in
/// geometric progression are stored.
const ALL: u32 = 256;
/// Approximate number of allotments that are stored for a profile with more than `ALL` allotments.
const KEPT: u32 = 96;

/// An allotment with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Number of processors.
    pub processors: u32,
    /// Time in ticks.
    pub time: i64,
}

/// The release date and the allotments of each task. Allotments are sorted by increasing number of processors, and
/// thus by decreasing time.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    all: Vec<Choice>,
    /// For each task, the index in `all` at which its allotments end.
    ends: Vec<usize>,
    /// Release dates in ticks.
    releases: Vec<i64>,
    /// Number of processors of the largest node if best placement is required, otherwise `None`.
    node: Option<u32>,
}

impl Choices {
    /// Returns the choices of an instance in which each job is one task. Stores all allotments that are not dominated,
    /// or about a hundred of them if the task has more than 256 allotments.
    pub fn new(instance: &Instance) -> Self {
        let mut choices = Self::none(instance.platform());
        instance.simple_jobs().for_each(|job| _ = choices.push(job.profile(), job.release));
        choices
    }

    /// Returns choices to which no task has been added yet.
    pub fn none(platform: &Platform) -> Self {
        let sizes = platform.kinds().map(|(node, _)| node.processors);
        let node = platform.restricts_placement().then(|| sizes.max().unwrap_or(1));
        Self { all: Vec::new(), ends: Vec::new(), releases: Vec::new(), node }
    }

    /// Adds a task. Returns the index of the task.
    pub fn push(&mut self, profile: &Profile, release: Time) -> u32 {
        self.all.extend(thinned(profile));
        self.ends.push(self.all.len());
        self.releases.push(release.ticks());
        self.releases.len() as u32 - 1
    }

    /// Returns the choices of some of the tasks. The new index of a task is its position in `tasks`.
    #[must_use]
    pub fn of_some(&self, tasks: &[u32]) -> Self {
        let mut some = Self { node: self.node, ..Self::default() };
        for &task in tasks {
            some.all.extend_from_slice(self.of(task));
            some.ends.push(some.all.len());
            some.releases.push(self.release(task));
        }
        some
    }

    /// Returns the number of tasks.
    pub fn tasks(&self) -> usize {
        self.releases.len()
    }

    /// Returns the allotments of a task, at least one.
    pub fn of(&self, task: u32) -> &[Choice] {
        let begin = (task as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[begin..self.ends[task as usize]]
    }

    /// Returns the release date of a task, in ticks.
    pub fn release(&self, task: u32) -> i64 {
        self.releases[task as usize]
    }

    /// Returns the number of processors of the largest node if best placement is required, otherwise `None`. Searches
    /// prefer allotments that fill nodes, because such allotments leave fewer processors idle.
    pub fn node(&self) -> Option<u32> {
        self.node
    }

    /// Returns the position of the largest stored allotment that has at most `processors` processors. If no allotment
    /// is small enough, returns the position of the smallest one.
    pub fn nearest(&self, task: u32, processors: u32) -> u32 {
        let above = self.of(task).partition_point(|choice| choice.processors <= processors);
        above.saturating_sub(1) as u32
    }
}

/// Returns the allotments of a profile that are not dominated, or about a hundred of them if the profile has more than
/// 256 allotments.
pub(super) fn thinned(profile: &Profile) -> Vec<Choice> {
    let (first, last) = (profile.min_processors(), profile.max_processors());
    if last - first < ALL {
        let choice = |processors| Choice { processors, time: profile.time(processors).ticks() };
        return profile.allotments().map(choice).collect();
    }
    let mut kept = Vec::with_capacity(KEPT as usize + 2);
    let ratio = (f64::from(last) / f64::from(first)).powf(1.0 / f64::from(KEPT));
    let mut wish = f64::from(first);
    while (wish as u32) < last {
        push(&mut kept, profile, wish as u32);
        wish = (wish * ratio).max(wish + 1.0);
    }
    push(&mut kept, profile, last);
    kept
}

/// Adds the smallest allotment that is at least as fast as `wish` processors. Does nothing if the last allotment of
/// the list is equally fast.
fn push(kept: &mut Vec<Choice>, profile: &Profile, wish: u32) {
    let time = profile.time(wish);
    let processors = profile.min_allotment(time).unwrap_or(wish);
    let time = profile.time(processors).ticks();
    if kept.last().is_none_or(|last| last.time > time) {
        kept.push(Choice { processors, time });
    }
}
