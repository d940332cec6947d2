//! The jobs and the allotments that the search tries, in flat arrays.

use std::ops::Range;

use makespan_core::{Profile, SimpleJob};

/// The data of the jobs as floats. Equal jobs are merged into one entry.
pub(super) struct FloatJobs {
    /// For each entry, the number of equal jobs that it represents.
    pub(super) counts: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) releases: Vec<f64>,
    profiles: Vec<Profile>,
    /// The allotments of all jobs.
    pub(super) shapes: Vec<PricedAllotment>,
    /// For each job, the index of its first allotment. The last entry is the total number of allotments.
    starts: Vec<usize>,
    /// The kind of allotments that the search tries.
    kind: AllotmentKind,
}

/// An allotment: a number of processors, and the run time on these processors.
#[derive(Clone, Copy)]
pub(super) struct PricedAllotment {
    pub(super) processors: f64,
    pub(super) time: f64,
    /// The node of the allotment if machines differ. Otherwise, zero.
    pub(super) node: u32,
}

impl PricedAllotment {
    /// Returns the work in processor-ticks.
    pub(super) fn work(&self) -> f64 {
        self.processors * self.time
    }
}

/// The kind of allotments that the search tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllotmentKind {
    /// Allotments for which no other allotment has both less work and a shorter time.
    Thrifty,
    /// The allotments of `Thrifty`, and allotments of fewer processors that need more work. An allotment of fewer
    /// processors may fit when only few processors are available.
    Narrow,
}

impl FloatJobs {
    /// Collects the jobs, each with up to about `most` allotments. If a job has more allotments, selects some of them
    /// in a geometric progression. Each item of `jobs` contains a job and the number of jobs that this job represents.
    /// `weigh` returns the weight of a job.
    pub(super) fn new<'a>(
        jobs: impl Iterator<Item = (SimpleJob<'a>, f64)>,
        most: usize,
        kind: AllotmentKind,
        weigh: impl Fn(&SimpleJob<'_>) -> f64,
    ) -> Self {
        let key = |job: &SimpleJob<'_>| {
            let profile = job.profile();
            (weigh(job), job.release, profile.min_processors(), profile.max_processors(), profile.shortest())
        };
        let mut sorted: Vec<_> = jobs.map(|(job, count)| (key(&job), job, count)).collect();
        sorted.sort_by(|(a, ..), (b, ..)| a.0.total_cmp(&b.0).then((a.1, a.2, a.3, a.4).cmp(&(b.1, b.2, b.3, b.4))));
        let mut figures = Self::empty(kind);
        let mut before = None;
        for (key, job, one) in sorted {
            let same = before.as_ref() == Some(&key) && figures.profiles.last() == Some(job.profile());
            before = Some(key);
            match figures.counts.last_mut() {
                Some(count) if same => *count += one,
                _ => {
                    let profile = job.profile();
                    figures.add(one, weigh(&job), job.release.ticks() as f64, shapes(profile, most, kind));
                    figures.profiles.push(profile.clone());
                }
            }
        }
        figures
    }

    fn empty(kind: AllotmentKind) -> Self {
        let (counts, weights, releases) = (Vec::new(), Vec::new(), Vec::new());
        Self { counts, weights, releases, profiles: Vec::new(), shapes: Vec::new(), starts: vec![0], kind }
    }

    /// Collects jobs that have a run time for each node. Each item represents equal jobs. It contains their number, the
    /// weight and the release of one job, and a pair of node and run time for each node on which the job can run.
    pub(super) fn on_nodes(jobs: impl Iterator<Item = (f64, f64, f64, Vec<(u32, f64)>)>) -> Self {
        let mut figures = Self::empty(AllotmentKind::Thrifty);
        for (count, weight, release, times) in jobs {
            let shape = |(node, time)| PricedAllotment { processors: 1.0, time, node };
            figures.add(count, weight, release, times.into_iter().map(shape).collect());
        }
        figures
    }

    fn add(&mut self, count: f64, weight: f64, release: f64, shapes: Vec<PricedAllotment>) {
        self.counts.push(count);
        self.weights.push(weight);
        self.releases.push(release);
        self.shapes.extend(shapes);
        self.starts.push(self.shapes.len());
    }

    /// Returns these jobs with other allotments. Consider the range from the allotment before the first `active`
    /// allotment of a job to the allotment after the last `active` allotment. About `most` new allotments are in this
    /// range, and up to about `far` new allotments are outside this range.
    pub(super) fn around(&self, active: impl Fn(usize) -> bool, most: usize, far: usize) -> Self {
        let mut figures = Self::empty(self.kind);
        for (index, profile) in self.profiles.iter().enumerate() {
            let all = self.all(index);
            let first = all.clone().find(|&shape| active(shape)).unwrap_or(all.start);
            let last = all.clone().rfind(|&shape| active(shape)).unwrap_or(all.end - 1);
            let (first, last) = (first.saturating_sub(1).max(all.start), (last + 1).min(all.end - 1));
            let (first, last) = (self.shapes[first].processors as u32, self.shapes[last].processors as u32);
            let mut allotments = spread(profile.min_processors(), profile.max_processors(), far);
            allotments.retain(|allotment| !(first..=last).contains(allotment));
            allotments.extend(spread(first, last, most));
            allotments.sort_unstable();
            let shapes = useful(profile, &allotments, self.kind);
            figures.add(self.counts[index], self.weights[index], self.releases[index], shapes);
            figures.profiles.push(profile.clone());
        }
        figures
    }

    pub(super) fn count(&self) -> usize {
        self.weights.len()
    }

    /// Returns the indices of the allotments of a job.
    pub(super) fn all(&self, job: usize) -> Range<usize> {
        self.starts[job]..self.starts[job + 1]
    }
}

/// Selects about `most` allotments of a profile in geometric progression, or all of them if there are fewer. Returns
/// the selected allotments that `kind` includes.
pub(super) fn shapes(profile: &Profile, most: usize, kind: AllotmentKind) -> Vec<PricedAllotment> {
    useful(profile, &spread(profile.min_processors(), profile.max_processors(), most), kind)
}

/// Returns about `most` numbers from `first` to `last`, in ascending order.
fn spread(first: u32, last: u32, most: usize) -> Vec<u32> {
    if ((last - first) as usize) < most {
        return (first..=last).collect();
    }
    let ratio = (f64::from(last) / f64::from(first)).powf(1.0 / most.max(2) as f64);
    let next = |&from: &u32| (from < last).then(|| (from + 1).max((f64::from(from) * ratio) as u32).min(last));
    std::iter::successors(Some(first), next).collect()
}

/// Returns the allotments that `kind` includes. `allotments` must be in ascending order.
fn useful(profile: &Profile, allotments: &[u32], kind: AllotmentKind) -> Vec<PricedAllotment> {
    let mut shapes: Vec<PricedAllotment> = Vec::new();
    for &allotment in allotments {
        let shape =
            PricedAllotment { processors: f64::from(allotment), time: profile.time(allotment).ticks() as f64, node: 0 };
        if shapes.last().is_none_or(|last| shape.time < last.time) {
            let beaten = |last: &PricedAllotment| last.work() >= shape.work();
            while kind == AllotmentKind::Thrifty && shapes.last().is_some_and(beaten) {
                shapes.pop();
            }
            shapes.push(shape);
        }
    }
    shapes
}
