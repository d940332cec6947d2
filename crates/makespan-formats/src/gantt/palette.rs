//! Assigns colours to jobs, types of tasks and groups.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{Instance, JobId, Schedule, TaskId};

use super::NamedSchedule;
use super::colouring::{colours, contacts};
use super::labels::{label, type_of};
use super::scheme::BEST;

/// Assignment of colours for all schedules of a chart.
pub struct Colours<'a> {
    instance: &'a Instance,
    /// For each job, the number of tasks in the preceding jobs. `None` if the tasks of a bag have the colour of their
    /// job.
    before: Option<Vec<u64>>,
    means: Means,
}

enum Means {
    /// Colours of jobs, or of single tasks if `tasks` is true. `chosen` contains each job or task that has a
    /// placement.
    Unit { tasks: bool, chosen: BTreeMap<u64, u8> },
    /// Colours of the types of tasks, if there is a single job. `of` contains the colour of each task.
    Type { of: Vec<u8>, names: Vec<String> },
}

impl<'a> Colours<'a> {
    /// Assigns the colours for these schedules. All tasks of a job have the same colour, and touching jobs have
    /// different colours. If `bags_apart` is true, each task of a bag has its own colour. If the only job is a
    /// compound job, each type of task has its own colour. If the tasks have no types, each task has its own colour.
    pub fn new(instance: &'a Instance, bags_apart: bool, schedules: &[NamedSchedule<'_>]) -> Self {
        let mut count = 0;
        let before = instance.jobs().iter().map(|job| {
            count += job.equal_tasks();
            count - job.equal_tasks()
        });
        let before = bags_apart.then(|| before.collect());
        if let Some(means) = types(instance, schedules) {
            return Self { instance, before, means };
        }
        let tasks = instance.jobs().len() == 1 && instance.has_compound_jobs();
        let mut colours = Self { instance, before, means: Means::Unit { tasks, chosen: BTreeMap::new() } };
        let chosen = colours.chosen(schedules);
        colours.means = Means::Unit { tasks, chosen };
        colours
    }

    /// Chooses a colour for each unit that has a placement.
    fn chosen(&self, schedules: &[NamedSchedule<'_>]) -> BTreeMap<u64, u8> {
        let placed = schedules.iter().flat_map(|named| named.schedule.placements());
        let mut units: Vec<(u64, bool)> = placed.map(|one| self.unit(one.task)).collect();
        units.sort_unstable();
        units.dedup();
        let place = |task| units.binary_search(&self.unit(task)).unwrap_or_default() as u32;
        let mut pairs = Vec::new();
        for named in schedules {
            contacts(named.schedule, |at| place(named.schedule.placements()[at].task), &mut pairs);
        }
        let preferred: Vec<u8> =
            units.iter().map(|&(unit, grey)| if grey { BEST as u8 } else { first(unit) }).collect();
        let given: Vec<bool> = units.iter().map(|&(_, grey)| grey).collect();
        let colours = colours(units.len(), pairs, &preferred, &given);
        units.iter().map(|&(unit, _)| unit).zip(colours).collect()
    }

    /// Returns the unit that determines the colour of a task, and whether the task is grey (best effort).
    fn unit(&self, task: TaskId) -> (u64, bool) {
        if !self.instance.has_task(task) || matches!(self.means, Means::Unit { tasks: true, .. }) {
            return (task.0, false);
        }
        let id = self.instance.job_id(task);
        let job = self.instance.job(id);
        match &self.before {
            Some(before) if job.is_bag() => (before[id.index()] + u64::from(self.instance.number(task)), false),
            Some(before) => (before[id.index()], false),
            None => (id.index() as u64, job.is_best_effort()),
        }
    }

    /// Returns the index of the colour of a job. If the tasks of the job have different colours, returns the index for
    /// the first task.
    pub fn of_job(&self, job: JobId) -> usize {
        self.of_task(self.instance.job(job).first())
    }

    /// Returns the index of the colour of a task.
    pub fn of_task(&self, task: TaskId) -> usize {
        match &self.means {
            Means::Type { of, .. } => of.get(task.index()).map_or(BEST, |&colour| usize::from(colour)),
            Means::Unit { chosen, .. } => {
                let (unit, grey) = self.unit(task);
                let colour = chosen.get(&unit).copied().unwrap_or(if grey { BEST as u8 } else { first(unit) });
                usize::from(colour)
            }
        }
    }

    /// Returns the names of the types of tasks, in the order of their colours.
    fn types(&self) -> Vec<&str> {
        match &self.means {
            Means::Type { names, .. } => names.iter().map(String::as_str).collect(),
            Means::Unit { .. } => Vec::new(),
        }
    }
}

/// Returns the preferred colour of a unit. The preferred colour depends only on the number of the unit. So a job
/// usually has one colour in all pictures.
fn first(unit: u64) -> u8 {
    (unit % BEST as u64) as u8
}

/// Number of names that are examined to decide whether task names contain types.
const LOOKED: usize = 512;

/// Returns the types of the tasks, if the instance has a single compound job with few types. The types with the
/// largest area get their own colours.
fn types(instance: &Instance, schedules: &[NamedSchedule<'_>]) -> Option<Means> {
    if instance.jobs().len() != 1 || !instance.has_compound_jobs() {
        return None;
    }
    let kinds: Vec<String> = instance.task_ids().map(|task| type_of(&label(instance, task, "")).to_owned()).collect();
    let looked = &kinds[..kinds.len().min(LOOKED)];
    let different = looked.iter().collect::<BTreeSet<_>>().len();
    if !(2..=BEST.max(looked.len() / 4)).contains(&different) {
        return None;
    }
    let mut areas: BTreeMap<&str, f64> = kinds.iter().map(|kind| (kind.as_str(), 0.0)).collect();
    let placed = schedules.iter().flat_map(|named| named.schedule.placements());
    for placement in placed.filter(|placement| instance.has_task(placement.task)) {
        let area = (placement.end - placement.start).seconds() * placement.processors.len() as f64;
        *areas.entry(&kinds[placement.task.index()]).or_default() += area;
    }
    let mut sorted: Vec<(&str, f64)> = areas.into_iter().collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let place = |kind: &String| sorted.iter().position(|(known, _)| known == kind).unwrap_or(BEST).min(BEST) as u8;
    let of = kinds.iter().map(place).collect();
    let mut names: Vec<String> = sorted.iter().take(BEST).map(|(name, _)| (*name).to_owned()).collect();
    if sorted.len() > BEST {
        names.push(format!("{} other types", sorted.len() - BEST));
    }
    Some(Means::Type { of, names })
}

/// Colours of one schedule. If the placements have groups, the colours show groups. Otherwise they show jobs or types.
pub struct Palette<'a> {
    colours: &'a Colours<'a>,
    schedule: &'a Schedule,
    /// Names of the groups, in the order of their colours.
    groups: Vec<&'a str>,
}

impl<'a> Palette<'a> {
    /// Returns the colours of a schedule.
    pub fn new(colours: &'a Colours<'a>, schedule: &'a Schedule) -> Self {
        Self { colours, schedule, groups: schedule.group_names() }
    }

    /// Returns the index of the colour of a placement. In a schedule with groups, placements without a group are best
    /// effort and have the last colour.
    pub fn colour(&self, placement: usize) -> usize {
        if self.groups.is_empty() {
            return self.colours.of_task(self.schedule.placements()[placement].task);
        }
        let at = self.schedule.group(placement).and_then(|group| self.groups.binary_search(&group).ok());
        at.map_or(BEST, Self::of_group)
    }

    /// Returns the entries of the legend: the index of a colour and its meaning. Returns no entries if colours only
    /// distinguish jobs.
    pub fn legend(&self) -> Vec<(usize, &'a str)> {
        if self.groups.is_empty() {
            return self.colours.types().into_iter().enumerate().collect();
        }
        self.groups.iter().enumerate().map(|(at, &name)| (Self::of_group(at), name)).collect()
    }

    /// Returns the index of the colour of a group.
    fn of_group(at: usize) -> usize {
        at % BEST
    }
}

/// Returns the text colour (black or white) with the higher contrast on `colour` (`#RRGGBB`), by the relative
/// luminance of WCAG 2.
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
    use super::super::scheme::COLOURS;
    use super::*;

    #[test]
    fn text_contrasts_with_its_ground() {
        assert_eq!(text_on("#000000"), "#fff");
        assert_eq!(text_on("#FFFFFF"), "#111");
        assert!(COLOURS.iter().all(|colour| text_on(colour) == "#111"));
    }
}
