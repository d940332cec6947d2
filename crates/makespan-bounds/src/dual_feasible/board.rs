//! The allotments from which each job chooses during the search for prices (module `game`). Each allotment belongs to a
//! class of widths (numbers of processors) and to a class of times.

use makespan_core::{Area, Instance, SimpleJob, Time};

use super::functions::{Function, families};

/// A division of the sizes from 1 to `whole` into equal classes. Class j contains the sizes that are larger than `j *
/// whole / classes` and at most `(j + 1) * whole / classes`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    whole: i64,
    classes: i64,
}

impl Grid {
    /// Returns a grid with at most `classes` classes for sizes up to `whole`.
    pub(crate) fn new(whole: i64, classes: i64) -> Self {
        Self { whole, classes: classes.min(whole) }
    }

    /// Returns the capacity in classes. If some sizes sum to at most `whole`, the indices of their classes sum to at
    /// most this capacity.
    pub(crate) fn capacity(self) -> usize {
        // If each size is a class of its own, the indices are the sizes. Otherwise, each size is strictly larger than
        // the lower limit of its class, so the indices sum to less than the number of classes.
        (if self.classes == self.whole { self.classes } else { self.classes - 1 }) as usize
    }

    fn class(self, size: i64) -> usize {
        if self.classes == self.whole {
            return size as usize;
        }
        ((i128::from(size) * i128::from(self.classes) - 1) / i128::from(self.whole)) as usize
    }

    /// Returns the smallest size in a class.
    pub(super) fn least(self, class: usize) -> i64 {
        if self.classes == self.whole {
            return class as i64;
        }
        (class as i128 * i128::from(self.whole) / i128::from(self.classes)) as i64 + 1
    }
}

/// An allotment of a job. The number of processors, the time and the work are fractions of capacities.
#[derive(Clone, Copy, Debug)]
pub(super) struct FractionalAllotment {
    /// Number of processors, as a fraction of the available processors.
    pub processors: f32,
    /// Run time, as a fraction of the available time.
    pub time: f32,
    /// Work, as a fraction of the open area (the processor-ticks during which processors are available).
    pub work: f32,
    /// Class of the number of processors.
    pub width: u16,
    /// Class of the run time.
    pub length: u16,
}

/// The allotments that each job may choose under one deadline.
pub(super) struct AllotmentBoard<'a> {
    pub setting: &'a BoardSetting<'a>,
    /// The choices of all jobs, sorted by job.
    pub choices: Vec<FractionalAllotment>,
    /// For each job, the index in `choices` after its last choice.
    pub ends: Vec<usize>,
    pub width_grid: Grid,
    pub time_grid: Grid,
}

/// The part of the search data that is equal for all deadlines.
pub(super) struct BoardSetting<'a> {
    pub instance: &'a Instance,
    /// The jobs released at or after `from`, or a sample of these jobs.
    pub jobs: Vec<SimpleJob<'a>>,
    /// The number of jobs that each job of `jobs` represents.
    pub each: f64,
    pub from: Time,
    /// True if functions of the width have prices. Then jobs may choose every allotment. Otherwise, jobs may choose
    /// only the smallest allotment for each class of times.
    pub wide: bool,
    /// Maximum number of classes of a grid.
    pub classes: i64,
    /// Dual-feasible functions. Each maps the class of a number of processors to a value. Empty if only the number of
    /// processors itself has a price.
    pub widths: Vec<Function>,
    /// Dual-feasible functions. Each maps the class of a run time to a value.
    pub times: Vec<Function>,
}

impl<'a> BoardSetting<'a> {
    pub(super) fn new(instance: &'a Instance, from: Time, most_jobs: usize, classes: i64) -> Self {
        let mut jobs: Vec<SimpleJob<'_>> = instance.simple_jobs().filter(|job| job.release >= from).collect();
        let stride = jobs.len().div_ceil(most_jobs).max(1);
        if stride > 1 {
            // Sort the jobs by work and sample them evenly. The mean work of the sample is then close to the mean work
            // of all jobs.
            jobs.sort_by_cached_key(|job| job.profile().least_work(Time::MAX));
        }
        let all = jobs.len() as f64;
        let jobs: Vec<SimpleJob<'_>> = jobs.into_iter().skip(stride / 2).step_by(stride).collect();
        let each = all / jobs.len().max(1) as f64;
        let allotments =
            |job: &SimpleJob<'_>| (job.profile().max_processors() - job.profile().min_processors()) as usize;
        let wide = jobs.iter().map(allotments).sum::<usize>() <= 2 * jobs.len();
        let widths = Grid::new(i64::from(instance.processors()), classes).capacity();
        // The search examines only spans of more than `classes` ticks. So every grid of times has exactly `classes`
        // classes.
        let (widths, times) = (if wide { families(widths) } else { Vec::new() }, families(classes as usize - 1));
        Self { instance, jobs, each, from, wide, classes, widths, times }
    }
}

impl<'a> AllotmentBoard<'a> {
    /// Returns the board for one deadline. Returns `None` if a job cannot meet the deadline, if no processor is
    /// available before the deadline, or if the span has too few ticks for the classes.
    pub(super) fn new(setting: &'a BoardSetting<'a>, deadline: Time) -> Option<Self> {
        let span = deadline - setting.from;
        if span.ticks() <= setting.classes {
            return None;
        }
        let processors = setting.instance.processors();
        let area = setting.instance.availability().open_area(setting.from, deadline);
        let mut board = Self {
            setting,
            choices: Vec::new(),
            ends: Vec::with_capacity(setting.jobs.len()),
            width_grid: Grid::new(i64::from(processors), setting.classes),
            time_grid: Grid::new(span.ticks(), setting.classes),
        };
        if area == 0 {
            return None;
        }
        // Unavailable processors reduce the capacity. Here, the reduction is approximate. The check of the certificate
        // computes the reduction exactly.
        let open = area as f64 / span.area(processors) as f64 / setting.each;
        let whole = Shares {
            processors: f64::from(processors) * open,
            time: span.ticks() as f64 * open,
            area: area as f64 / setting.each,
        };
        for job in &setting.jobs {
            let before = board.choices.len();
            if setting.wide {
                board.add_all(job, deadline - job.release, &whole);
            } else {
                board.add_narrowest(job, deadline - job.release, &whole);
            }
            if board.choices.len() == before {
                return None;
            }
            board.ends.push(board.choices.len());
        }
        Some(board)
    }

    fn add_all(&mut self, job: &SimpleJob<'_>, longest: Time, whole: &Shares) {
        let profile = job.profile();
        for processors in profile.allotments() {
            let time = profile.time(processors);
            if time <= longest {
                let choice = self.choice(processors, time, time.area(processors), whole);
                self.choices.push(choice);
            }
        }
    }

    /// Adds choices in descending order of time. The first choice is the smallest allotment that takes at most
    /// `longest`. Each later choice is the smallest allotment with a time in a lower class than the time of the
    /// previous choice.
    fn add_narrowest(&mut self, job: &SimpleJob<'_>, longest: Time, whole: &Shares) {
        let profile = job.profile();
        let mut limit = longest;
        while let Some(processors) = profile.min_allotment(limit) {
            let time = profile.time(processors);
            let work = profile.least_work(limit).unwrap_or_else(|| time.area(processors));
            let choice = self.choice(processors, time, work, whole);
            self.choices.push(choice);
            limit = Time::from_ticks(self.time_grid.least(usize::from(choice.length)) - 1);
        }
    }

    fn choice(&self, processors: u32, time: Time, work: Area, whole: &Shares) -> FractionalAllotment {
        let width = if self.setting.widths.is_empty() { 0 } else { self.width_grid.class(i64::from(processors)) };
        FractionalAllotment {
            processors: (f64::from(processors) / whole.processors) as f32,
            time: (time.ticks() as f64 / whole.time) as f32,
            work: (work as f64 / whole.area) as f32,
            width: width as u16,
            length: self.time_grid.class(time.ticks()) as u16,
        }
    }
}

struct Shares {
    processors: f64,
    time: f64,
    area: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_fit_have_classes_that_fit() {
        for (whole, classes) in [(7, 60), (60, 60), (61, 60), (200, 60), (1000, 12)] {
            let grid = Grid::new(whole, classes);
            for size in 1..=whole {
                let class = grid.class(size);
                assert!(grid.least(class) <= size && (class >= grid.capacity() || size < grid.least(class + 1)));
                // Check up to three equal sizes. Then check a size and the remaining size.
                for count in 1..=3.min(whole / size) {
                    assert!(class * count as usize <= grid.capacity());
                }
                assert!(size == whole || class + grid.class(whole - size) <= grid.capacity());
            }
        }
    }
}
