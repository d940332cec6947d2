//! The allotments of all tasks in flat arrays: for searches that read them millions of times.

use makespan_core::{Instance, Platform, Profile, Time};

/// Profiles with more allotments than this are thinned out to a geometric progression.
const ALL: u32 = 256;
/// Allotments kept of such a profile, about.
const KEPT: u32 = 96;

/// An allotment with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// How many processors.
    pub processors: u32,
    /// In ticks.
    pub time: i64,
}

/// The allotments of each task, ascending in processors and descending in time, and the release dates.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    all: Vec<Choice>,
    /// Where the allotments of each task end.
    ends: Vec<usize>,
    /// In ticks.
    releases: Vec<i64>,
    /// Processors of the largest node, where best placement is required.
    node: Option<u32>,
}

impl Choices {
    /// Of an instance each of whose jobs is one task: all allotments that are not dominated, or some hundred where there
    /// are more than 256.
    pub fn new(instance: &Instance) -> Self {
        let mut choices = Self::none(instance.platform());
        instance.simple_jobs().for_each(|job| _ = choices.push(job.profile(), job.release));
        choices
    }

    /// Of no task.
    pub fn none(platform: &Platform) -> Self {
        let sizes = platform.kinds().map(|(node, _)| node.processors);
        let node = platform.restricts_placement().then(|| sizes.max().unwrap_or(1));
        Self { all: Vec::new(), ends: Vec::new(), releases: Vec::new(), node }
    }

    /// One more task; its number.
    pub fn push(&mut self, profile: &Profile, release: Time) -> u32 {
        self.all.extend(thinned(profile));
        self.ends.push(self.all.len());
        self.releases.push(release.ticks());
        self.releases.len() as u32 - 1
    }

    /// These tasks alone, numbered in this order.
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

    /// How many tasks there are.
    pub fn tasks(&self) -> usize {
        self.releases.len()
    }

    /// The allotments of one task, at least one.
    pub fn of(&self, task: u32) -> &[Choice] {
        let begin = (task as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[begin..self.ends[task as usize]]
    }

    /// In ticks.
    pub fn release(&self, task: u32) -> i64 {
        self.releases[task as usize]
    }

    /// Processors of the largest node, where best placement is required: allotments that fill nodes leave less idle.
    pub fn node(&self) -> Option<u32> {
        self.node
    }

    /// The position of the largest kept allotment that is at most `processors`, or of the smallest.
    pub fn nearest(&self, task: u32, processors: u32) -> u32 {
        let above = self.of(task).partition_point(|choice| choice.processors <= processors);
        above.saturating_sub(1) as u32
    }
}

/// The allotments of a profile that are not dominated, or some hundred where there are more than 256.
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

/// Adds the smallest allotment that is as fast as `wish` processors, unless one as fast is there.
fn push(kept: &mut Vec<Choice>, profile: &Profile, wish: u32) {
    let time = profile.time(wish);
    let processors = profile.min_allotment(time).unwrap_or(wish);
    let time = profile.time(processors).ticks();
    if kept.last().is_none_or(|last| last.time > time) {
        kept.push(Choice { processors, time });
    }
}
