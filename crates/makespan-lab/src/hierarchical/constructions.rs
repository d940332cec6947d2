//! The paper's figures that show its construction, drawn from real plans. Figures 1, 3, 4 and 10 are left out, because
//! they show ideas and not plans. Each of the other figures shows a plan of a few adversarial jobs. The seed of a
//! figure was found by search: it is the first seed for which the plan shows the situation of the paper's figure.

use makespan_algos::kernel::hierarchical::{
    Cluster, Construction, ConstructionPart, Partition, PlacedTask, construct, partition,
};
use makespan_bounds::dual;
use makespan_core::{Instance, Job, JobId, Placement, ProcSet, Profile, Schedule, TaskId, Time};
use makespan_formats::gantt::{GanttOptions, NamedSchedule, write_svg};
use makespan_generate::GenerateError;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::guesses::placement;
use super::population::{Population, Shape};
use crate::LabError;
use crate::campaign::{failed, in_memory, stirred, valid};

/// A figure of the paper, drawn from a real plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// A description of the figure, and the parameters of the plan.
    pub caption: String,
    /// The file name and the picture. The file name contains the number of the figure in the paper.
    pub svg: (String, Vec<u8>),
}

/// The parameters of a figure.
pub(super) struct FigureSubject {
    pub(super) figure: u32,
    shows: &'static str,
    cluster: Cluster,
    /// True if the guess and the first shelf are chosen at random.
    is_random: bool,
    /// The parts of the plan that the figure shows.
    parts: &'static [ConstructionPart],
    seed: u64,
}

/// The plan that a figure shows.
pub(super) struct FigurePlan {
    instance: Instance,
    pub(super) cluster: Cluster,
    guess: Time,
    pub(super) construction: Construction,
}

const FULL_AND_FIRST: &[ConstructionPart] = &[ConstructionPart::Full, ConstructionPart::First];
const ALL: [ConstructionPart; 4] =
    [ConstructionPart::Full, ConstructionPart::First, ConstructionPart::Second, ConstructionPart::Small];
const FOUR: Cluster = Cluster { nodes: 4, each: 4 };
const EIGHT: Cluster = Cluster { nodes: 4, each: 8 };
const TWO: Cluster = Cluster { nodes: 2, each: 4 };

pub(super) const SHOWN: [FigureSubject; 6] = [
    shown(2, "Shape of the schedule: the columns of P_full, and next to them P_1 with P_2 above it", FOUR, &ALL, 20),
    shown(
        5,
        "P_full from the left: first the columns on whole nodes, then the columns on parts of nodes, largest part first",
        EIGHT,
        &[ConstructionPart::Full],
        0,
    ),
    shown(6, "P_full from the left and P_1 from the right, idle processors between", FOUR, FULL_AND_FIRST, 20),
    shown(7, "P_2 in its boxes, with the idle processors in them", FOUR, &[ConstructionPart::Second], 2),
    shown(8, "The last job of P_2 next to P_full and P_1, on idle processors that are grouped", TWO, &ALL, 210),
    shown(9, "One of the last two jobs of P_2 next to P_full and P_1, the other over P_1", EIGHT, &ALL, 259),
];

/// Returns the parameters of a figure. For figures 8 and 9, the first shelf is random. If the knapsack chooses the
/// first shelf, the last job of the second shelf (`P_2`) does not need its whole box. Because some processors of this
/// box are idle, the situations of these two figures do not occur.
const fn shown(
    figure: u32,
    shows: &'static str,
    cluster: Cluster,
    parts: &'static [ConstructionPart],
    seed: u64,
) -> FigureSubject {
    FigureSubject { figure, shows, cluster, is_random: figure >= 8, parts, seed }
}

/// Draws every figure of the paper that shows a plan.
pub(super) fn all() -> Result<Vec<Drawing>, LabError> {
    SHOWN.iter().map(draw).collect()
}

fn draw(shown: &FigureSubject) -> Result<Drawing, LabError> {
    let FigureSubject { figure, shows, cluster: Cluster { nodes, each }, seed, is_random, .. } = *shown;
    let plan = FigurePlan::of(shown)?;
    let (jobs, moves) = (plan.instance.jobs().len(), plan.construction.transformations);
    let guess = plan.guess;
    let shelf = if is_random { "; the guess and the first shelf are random, not from the knapsack" } else { "" };
    let caption = format!(
        "{shows} (m = {nodes}, k = {each}, seed {seed}, {jobs} jobs, guess {guess} s, {moves} transformations{shelf})"
    );
    Ok(Drawing { caption, svg: plan.picture(figure, &format!("Figure {figure}. {shows}"), shown.parts)? })
}

/// Chooses a first shelf at random. Returns one value for each job: true if the job is in the first shelf. The other
/// jobs are in the second shelf: one or two random jobs, and the jobs that do not fit into the first shelf.
fn random_shelf(profiles: &[&Profile], cluster: Cluster, guess: Time, random: &mut ChaCha8Rng) -> Vec<bool> {
    let second: Vec<usize> = (0..2).map(|_| random.random_range(0..profiles.len())).collect();
    let mut room = cluster.processors();
    let fits = |(job, profile): (usize, &&Profile)| {
        let width = profile.min_allotment(guess).filter(|&width| width <= room && !second.contains(&job));
        room -= width.unwrap_or(0);
        width.is_some()
    };
    profiles.iter().enumerate().map(fits).collect()
}

impl FigurePlan {
    /// Builds a plan of a few jobs that nearly fill the platform. If `shown.is_random`, the guess and the first shelf
    /// are random. Otherwise, the knapsack chooses the first shelf, for a guess that is not refuted.
    pub(super) fn of(shown: &FigureSubject) -> Result<Self, LabError> {
        let FigureSubject { figure, cluster, seed, is_random, .. } = *shown;
        let unshown = |reason: &str| failed("shelves", format!("figure {figure}"), reason.to_owned());
        let mut random = ChaCha8Rng::seed_from_u64(stirred(2001, [seed]));
        let shape = [Shape::Linear, Shape::Steps, Shape::Caps][random.random_range(0..3)];
        let jobs = random.random_range(4..=2 * cluster.nodes as usize + 8);
        let mut drawn = Population::Shape(shape).draw(cluster, jobs, seed)?.all_submitted();
        // Generate short sequential jobs, which fill the gaps between the other jobs.
        let small = |index| {
            let time = Time::from_seconds(random.random_range(1..=4));
            Profile::table(vec![time]).ok().map(|profile| Job::new(format!("small {index}"), profile))
        };
        drawn.extend((0..jobs / 3).filter_map(small));
        let instance = Population::platform(cluster)?;
        let instance = Instance::new(instance, drawn, vec![])?;
        let profiles: Vec<&Profile> = instance.simple_jobs().map(|job| job.profile()).collect();
        let least = dual::search(profiles.iter().copied(), cluster.processors()).guess.ticks();
        let (guess, first_shelf) = if is_random {
            let guess = Time::from_ticks(least / 100 * random.random_range(80..=105));
            (guess, random_shelf(&profiles, cluster, guess, &mut random))
        } else {
            let guess = Time::from_ticks(least + least / 100 * random.random_range(0..=20));
            let Partition::Chosen(first_shelf) = partition(&profiles, cluster, guess) else {
                return Err(unshown("the guess is refuted"));
            };
            (guess, first_shelf)
        };
        let construction = construct(&profiles, cluster, &first_shelf, guess);
        let schedule = Schedule::new(construction.placed.iter().map(placement).collect());
        valid(&instance, &schedule).map_err(LabError::Algorithm)?;
        if schedule.makespan() > cluster.height(guess) {
            return Err(unshown("the schedule is longer than promised"));
        }
        Ok(Self { instance, cluster, guess, construction })
    }

    pub(super) fn in_part(&self, part: ConstructionPart) -> impl Iterator<Item = &PlacedTask> {
        self.construction.placed.iter().filter(move |placed| placed.part == part)
    }

    /// Returns, for each job of the second shelf (`P_2`), the idle processors in its box. Let `k` be the number of
    /// processors of an SMP. If a job has `a*k + b` processors with `0 < b < k`, its box has `a*k + 2^j` processors,
    /// where `j` is the smallest number for which `b <= 2^j`. The idle processors of the box come directly after the
    /// `b` processors.
    pub(super) fn boxes(&self) -> Vec<(&PlacedTask, ProcSet)> {
        let each = self.cluster.each;
        let idle = |placed: &PlacedTask| {
            let rest = placed.processors.len() % each;
            let partly = placed.processors.intervals().iter().find(|(first, last)| (last + 1 - first) % each == rest);
            match partly {
                Some(&(_, last)) if rest > 0 && !rest.is_power_of_two() => {
                    ProcSet::range(last + 1, last + rest.next_power_of_two() - rest)
                }
                _ => ProcSet::new(),
            }
        };
        self.in_part(ConstructionPart::Second).map(|placed| (placed, idle(placed))).collect()
    }

    /// Draws some parts of the plan. If `P_2` is the only part, also draws the idle processors in the boxes.
    fn picture(&self, figure: u32, title: &str, parts: &[ConstructionPart]) -> Result<(String, Vec<u8>), LabError> {
        let kept = self.construction.placed.iter().filter(|placed| parts.contains(&placed.part));
        let kept: Vec<&PlacedTask> = kept.collect();
        let mut jobs: Vec<Job> = kept.iter().map(|placed| self.instance.submitted(JobId(placed.task as u32))).collect();
        let mut drawn: Vec<_> =
            kept.iter().map(|placed| (placement(placed), Some(placed.part.name().into()))).collect();
        drawn.iter_mut().zip(0..).for_each(|((placement, _), task)| placement.task = TaskId(task));
        if parts == [ConstructionPart::Second] {
            for (placed, idle) in self.boxes().into_iter().filter(|(_, idle)| !idle.is_empty()) {
                let task = TaskId::at(jobs.len());
                let profile = Profile::rigid(idle.len(), placed.end - placed.start);
                let name = format!("idle {}", placed.task);
                jobs.push(Job::new(
                    &name,
                    profile.map_err(|source| GenerateError::Profile { job: name.clone(), source })?,
                ));
                drawn.push((Placement { task, processors: idle, ..placement(placed) }, Some("idle in its box".into())));
            }
        }
        let instance = Instance::new(self.instance.platform().clone(), jobs, vec![])?;
        let schedule = Schedule::with_groups(drawn);
        let options = GanttOptions { title, ..GanttOptions::default() };
        let named = [NamedSchedule { name: "", schedule: &schedule }];
        in_memory(&format!("figure{figure}.svg"), |svg| write_svg(svg, &instance, &named, &options))
    }
}
