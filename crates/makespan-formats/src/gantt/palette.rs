//! Colours of jobs and groups.

use makespan_core::{Instance, JobId, Schedule, TaskId};

/// Paul Tol's "light" scheme without its grey: distinct for all common kinds of colour blindness, and light enough
/// for dark text (<https://personal.sron.nl/~pault/>).
///
/// The last one, a muted grey, is that of all best-effort bags.
pub const COLOURS: [&str; 9] =
    ["#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#99DDFF", "#44BB99", "#BBCC33", "#AAAA00", BEST_EFFORT];

/// The colour of best effort.
pub const BEST_EFFORT: &str = "#C5CAD1";

/// The colours of jobs: neighbours in the file differ, and a job keeps its colour from one picture to another.
pub struct Colours<'a> {
    instance: &'a Instance,
    /// Where each task of a bag counts as a job: how many come before each job.
    before: Option<Vec<u64>>,
}

impl<'a> Colours<'a> {
    /// One for all tasks of a job; or, where the tasks of bags are apart, one for each of them.
    pub fn new(instance: &'a Instance, bags_apart: bool) -> Self {
        let mut count = 0;
        let before = instance.jobs().iter().map(|job| {
            count += job.equal_tasks();
            count - job.equal_tasks()
        });
        Self { instance, before: bags_apart.then(|| before.collect()) }
    }

    /// The index of the colour of a job, or of the first task of a bag.
    pub fn of_job(&self, job: JobId) -> usize {
        let last = COLOURS.len() - 1;
        match &self.before {
            Some(before) => (before[job.index()] % last as u64) as usize,
            None if self.instance.job(job).is_best_effort() => last,
            None => job.index() % last,
        }
    }

    /// The index of the colour of a task.
    pub fn of_task(&self, task: TaskId) -> usize {
        if !self.instance.has_task(task) {
            return task.index() % (COLOURS.len() - 1);
        }
        let job = self.instance.job_id(task);
        if self.before.is_some() && self.instance.job(job).is_bag() {
            return (self.of_job(job) + self.instance.number(task) as usize) % (COLOURS.len() - 1);
        }
        self.of_job(job)
    }
}

/// The colours of one schedule: by group where it has groups, otherwise by job.
pub struct Palette<'a> {
    colours: &'a Colours<'a>,
    schedule: &'a Schedule,
    /// The names of the groups, each in the colour of its position.
    pub groups: Vec<&'a str>,
}

impl<'a> Palette<'a> {
    /// Of this schedule.
    pub fn new(colours: &'a Colours<'a>, schedule: &'a Schedule) -> Self {
        Self { colours, schedule, groups: schedule.group_names() }
    }

    /// The index of the colour of the placement at this position. Placements without a group, which are best effort,
    /// have the last colour in a schedule with groups.
    pub fn colour(&self, placement: usize) -> usize {
        if self.groups.is_empty() {
            return self.colours.of_task(self.schedule.placements()[placement].task);
        }
        let at = self.schedule.group(placement).and_then(|group| self.groups.binary_search(&group).ok());
        at.map_or(COLOURS.len() - 1, Self::of_group)
    }

    /// The index of the colour of the group at this position.
    pub fn of_group(at: usize) -> usize {
        at % (COLOURS.len() - 1)
    }
}

/// Black or white, whichever has more contrast on `colour` (`#RRGGBB`) by the luminance of WCAG 2.
pub fn text_on(colour: &str) -> &'static str {
    let channel = |from: usize| {
        let byte = colour.get(from..from + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(255);
        let value = f64::from(byte) / 255.0;
        if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
    if (luminance + 0.05).powi(2) > 0.05 * 1.05 { "#111" } else { "#fff" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_contrasts_with_its_ground() {
        assert_eq!(text_on("#000000"), "#fff");
        assert_eq!(text_on("#FFFFFF"), "#111");
        assert!(COLOURS.iter().all(|colour| text_on(colour) == "#111"));
    }
}
