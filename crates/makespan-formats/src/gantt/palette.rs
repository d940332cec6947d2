//! Colours of jobs, types of tasks and groups.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{Instance, JobId, Schedule, TaskId};

use super::NamedSchedule;
use super::colouring::{colours, contacts};
use super::labels::{label, type_of};

/// Paul Tol's "light" scheme without its grey, which people with any common kind of colour blindness tell apart but for the pairs in
/// [`ALIKE`], and light enough for dark text (<https://personal.sron.nl/~pault/>).
///
/// The last one, a muted grey, is that of all best-effort bags.
pub const COLOURS: [&str; 9] =
    ["#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#99DDFF", "#44BB99", "#BBCC33", "#AAAA00", BEST_EFFORT];

/// The colour of best effort.
pub const BEST_EFFORT: &str = "#C5CAD1";

/// How many colours there are for what is not best effort.
pub(super) const BEST: usize = COLOURS.len() - 1;

/// For each colour the others that look like it to people with deuteranopia or protanopia, or to all: their distance in CIELAB is below
/// 18, which a test calculates.
pub(super) const ALIKE: [&[usize]; COLOURS.len()] = [&[], &[], &[], &[5, 8], &[8], &[3, 8], &[7], &[6], &[3, 4, 5]];

/// What a colour stands for in all schedules of a chart.
pub struct Colours<'a> {
    instance: &'a Instance,
    /// Where each task of a bag counts as a job: how many come before each job.
    before: Option<Vec<u64>>,
    means: Means,
}

enum Means {
    /// A job, or a task where tasks stand for themselves. What has a colour chosen beside its neighbours is here.
    Unit { tasks: bool, chosen: BTreeMap<u64, u8> },
    /// The type of a task, by its position within the only job.
    Type { of: Vec<u8>, names: Vec<String> },
}

impl<'a> Colours<'a> {
    /// One for all tasks of a job, in all of these schedules, so that jobs beside each other differ; or, where the tasks of bags are apart,
    /// one for each of them. The tasks of an only job have the colours of their types; without types, of their own.
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

    /// The colours of all that is placed.
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

    /// What a task has its colour by, and whether that is the grey of best effort.
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

    /// The index of the colour of a job, or of its first task.
    pub fn of_job(&self, job: JobId) -> usize {
        self.of_task(self.instance.job(job).first())
    }

    /// The index of the colour of a task.
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

    /// The types of tasks, each in the colour of its position.
    fn types(&self) -> Vec<&str> {
        match &self.means {
            Means::Type { names, .. } => names.iter().map(String::as_str).collect(),
            Means::Unit { .. } => Vec::new(),
        }
    }
}

/// The colour that a job takes where no neighbour speaks against it: it keeps it from one picture to another.
fn first(unit: u64) -> u8 {
    (unit % BEST as u64) as u8
}

/// Names are looked at up to here to see whether they tell types.
const LOOKED: usize = 512;

/// The types of the tasks of an only job, where there are few: those that take most of the area have colours of their own.
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

/// The colours of one schedule: by group where it has groups, otherwise by job or type.
pub struct Palette<'a> {
    colours: &'a Colours<'a>,
    schedule: &'a Schedule,
    /// The names of the groups, each in the colour of its position.
    groups: Vec<&'a str>,
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
        at.map_or(BEST, Self::of_group)
    }

    /// What colours stand for, where that is more than a job: the index of each, and its word.
    pub fn legend(&self) -> Vec<(usize, &'a str)> {
        if self.groups.is_empty() {
            return self.colours.types().into_iter().enumerate().collect();
        }
        self.groups.iter().enumerate().map(|(at, &name)| (Self::of_group(at), name)).collect()
    }

    /// The index of the colour of the group at this position.
    fn of_group(at: usize) -> usize {
        at % BEST
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

    /// By the matrices of Machado, Oliveira and Fernandes (2009) for dichromats.
    #[test]
    fn colours_that_look_alike_are_known() {
        const NORMAL: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        const PROTAN: [[f64; 3]; 3] = [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ];
        const DEUTAN: [[f64; 3]; 3] =
            [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]];
        let lab = |colour: &str, sight: [[f64; 3]; 3]| {
            let linear = [1, 3, 5].map(|at| {
                let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            });
            let product = |row: [f64; 3], with: [f64; 3]| row.iter().zip(with).map(|(a, b)| a * b).sum::<f64>();
            let seen = sight.map(|row| product(row, linear).clamp(0.0, 1.0));
            let xyz = [
                [0.412_456_4 / 0.95047, 0.357_576_1 / 0.95047, 0.180_437_5 / 0.95047],
                [0.212_672_9, 0.715_152_2, 0.072_175_0],
                [0.019_333_9 / 1.08883, 0.119_192_0 / 1.08883, 0.950_304_1 / 1.08883],
            ];
            let [x, y, z] = xyz
                .map(|row| product(row, seen))
                .map(|part| if part > 216.0 / 24_389.0 { part.cbrt() } else { (24389.0 / 27.0 * part + 16.0) / 116.0 });
            [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
        };
        let distance = |a: &str, b: &str, sight| {
            let ([l1, a1, b1], [l2, a2, b2]) = (lab(a, sight), lab(b, sight));
            ((l1 - l2).powi(2) + (a1 - a2).powi(2) + (b1 - b2).powi(2)).sqrt()
        };
        for (one, colour) in COLOURS.iter().enumerate() {
            let near = |&other: &usize| {
                let least = [NORMAL, PROTAN, DEUTAN].map(|sight| distance(colour, COLOURS[other], sight));
                other != one && least.into_iter().fold(f64::INFINITY, f64::min) < 18.0
            };
            assert_eq!((0..COLOURS.len()).filter(near).collect::<Vec<_>>(), ALIKE[one], "{colour}");
        }
    }

    #[test]
    fn text_contrasts_with_its_ground() {
        assert_eq!(text_on("#000000"), "#fff");
        assert_eq!(text_on("#FFFFFF"), "#111");
        assert!(COLOURS.iter().all(|colour| text_on(colour) == "#111"));
    }
}
