//! The scheduler `sweep`: tries a list for each of several target lengths, and then anneals the best list.

use makespan_core::{Instance, Objective, ScheduleBuilder, Stop, TaskId, Time, Unsupported};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::allotment::DualAllotment;
use super::{check_supported, counted_or_packed, dual_list_guarantee, packed};
use crate::kernel::list::{self, AllottedTask, ListSweep};
use crate::kernel::move_to;
use crate::kernel::open::OpenPlatform;
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};
use crate::search::{Neighbourhood, SearchCourse, anneal, heat};

/// The number of target lengths between the guess of the dual approximation and twice the guess.
const TARGETS: i64 = 48;
/// Total number of placements of tasks after which annealing ends, so that large instances take only seconds.
const MAX_PLACEMENTS: usize = 4_000_000;
/// The initial temperature, as a fraction of the length of the schedule.
const HOT: f64 = 0.02;

/// For each of several target lengths (the sweep), makes two Graham lists with the longest task first. In the first
/// list, each task gets the allotment of least work that meets the target. In the second list, the allotment must meet
/// half the target. Annealing then changes the order and the allotments of the best list.
///
/// Source: the allotments are from Mounié, Rapine and Trystram (SIAM J. Comput. 37(2), 2007, DOI
/// 10.1137/S0097539701385995); the sweep over targets follows the idea of Turek, Wolf and Yu (SPAA 1992, DOI
/// 10.1145/140901.141909); annealing is from Kirkpatrick, Gelatt and Vecchi (Science 220, 1983, DOI
/// 10.1126/science.220.4598.671). Assumptions: none. Guarantee (makespan): 2 if there are no release dates and no
/// unavailable processors, because the list of the dual approximation is also tried. Complexity: O(n log n) for each of
/// 100 + `steps` lists of n tasks.
///
/// ```
/// use makespan_algos::scheduler::Sweep;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, Time};
///
/// let times = [12, 7, 5].map(Time::from_seconds).to_vec();
/// let jobs = ["a", "b", "c"].map(|name| Job::new(name, Profile::table(times.clone()).unwrap())).to_vec();
/// let instance = Instance::new(Platform::flat(3).unwrap(), jobs, vec![]).unwrap();
/// let plan = Sweep::default().schedule(&instance, &mut Context::default()).unwrap();
/// assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(12));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// The number of lists that annealing tries.
    pub steps: u32,
}

impl Default for Sweep {
    fn default() -> Self {
        Self { steps: 100_000 }
    }
}

impl Scheduler for Sweep {
    fn name(&self) -> String {
        if self.steps == Self::default().steps { "sweep".into() } else { format!("sweep[steps={}]", self.steps) }
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        counted_or_packed(instance)
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        dual_list_guarantee(instance, objective)
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        if !packed::is_counted(instance) {
            let steps = u64::from(self.steps).min((MAX_PLACEMENTS / instance.tasks().max(1) as usize) as u64);
            return packed::planned(self, packed::sweep(instance, steps, context.seed));
        }
        check_supported(self, instance)?;
        let mut builder = ScheduleBuilder::new(instance);
        let mut search = Search {
            instance,
            from: instance.first_release(),
            sweep: ListSweep::default(),
            best: (Time::MAX, Vec::new()),
            reachable: Time::ZERO,
        };
        search.targets(&mut builder);
        search.anneal(&mut builder, self.steps, &mut ChaCha8Rng::seed_from_u64(context.seed));
        let (_, list) = search.best;
        list::place(&mut builder, instance, &list, instance.first_release());
        Ok(builder.finish().into())
    }
}

struct Search<'a> {
    instance: &'a Instance,
    from: Time,
    sweep: ListSweep,
    /// The smallest makespan so far, and the list that gives it.
    best: (Time, Vec<AllottedTask>),
    /// The search ends if the best makespan is at most this instant: the first release plus the guess of the dual
    /// approximation.
    reachable: Time,
}

impl Search<'_> {
    fn makespan(&mut self, builder: &mut ScheduleBuilder<'_>, list: &[AllottedTask]) -> Time {
        let ends = self.sweep.completions(builder, self.instance, list, self.from);
        ends.iter().copied().max().unwrap_or(self.from)
    }

    fn consider(&mut self, builder: &mut ScheduleBuilder<'_>, list: &[AllottedTask]) {
        let makespan = self.makespan(builder, list);
        if makespan < self.best.0 {
            self.best = (makespan, list.to_vec());
        }
    }

    /// Tries the list of the dual approximation. Then tries two lists for each target length. Each task has its
    /// allotment of least work that meets the target or half the target. The longest task comes first.
    fn targets(&mut self, builder: &mut ScheduleBuilder<'_>) {
        let tasks: Vec<TaskId> = self.instance.task_ids().collect();
        let dual = DualAllotment::of(self.instance, &tasks);
        self.reachable = self.from + dual.guess;
        let plain = dual.in_shelf_order();
        self.consider(builder, &plain);
        if let Some(open) = OpenPlatform::of(self.instance, self.from) {
            open.lists(self.instance, plain).iter().for_each(|list| self.consider(builder, list));
        }
        let mut list = Vec::with_capacity(tasks.len());
        for step in 0..=TARGETS {
            let target = dual.guess + Time::from_ticks(dual.guess.ticks() / TARGETS * step);
            for limit in [target, Time::from_ticks(target.ticks() / 2)] {
                list.clear();
                list.extend(tasks.iter().map(|&task| {
                    let profile = self.instance.profile(task);
                    AllottedTask { task, processors: profile.thriftiest(limit).unwrap_or_else(|| profile.fastest()) }
                }));
                list.sort_by_cached_key(|allotted| std::cmp::Reverse(allotted.time(self.instance)));
                self.consider(builder, &list);
            }
        }
    }

    /// Makes random changes. Each change gives a task another allotment, swaps two tasks of the list, or moves a task.
    /// A worse list is accepted with a probability that decreases during the search.
    fn anneal(&mut self, builder: &mut ScheduleBuilder<'_>, steps: u32, random: &mut ChaCha8Rng) {
        let tasks = self.best.1.len();
        let steps = (steps as usize).min(MAX_PLACEMENTS / tasks.max(1));
        if tasks < 2 || steps == 0 {
            return;
        }
        let (list, current) = (self.best.1.clone(), self.best.0);
        let span = (current - self.from).ticks() as f64;
        let mut changing = AnnealedList { search: self, builder, random, list, current, span };
        anneal(&mut changing, &mut SearchCourse::of(steps as u64, &Stop::default()));
    }

    fn change(&self, list: &mut [AllottedTask], random: &mut impl Rng) -> Undo {
        let at = random.random_range(0..list.len());
        let old = list[at];
        let profile = self.instance.profile(old.task);
        if random.random_bool(0.5) && !profile.is_rigid() {
            // Usually draw a neighbour of the allotment, and sometimes any allotment. Use the smallest allotment that
            // is at least as fast as the drawn allotment, because it is not dominated.
            let (least, most) = (profile.min_processors(), profile.max_processors());
            let wish = match random.random_range(0..4) {
                0 => random.random_range(least..=most),
                1 => old.processors.saturating_sub(1).max(least),
                _ => (old.processors + 1).min(most),
            };
            list[at].processors = profile.min_allotment(profile.time(wish)).unwrap_or(wish);
            return Undo::Allotment(at, old.processors);
        }
        let other = random.random_range(0..list.len());
        if random.random_bool(0.5) {
            list.swap(at, other);
            return Undo::Swap(at, other);
        }
        move_to(list, at, other);
        Undo::Move(other, at)
    }
}

/// A list that is being annealed.
struct AnnealedList<'a, 'i, 'b> {
    search: &'a mut Search<'i>,
    builder: &'a mut ScheduleBuilder<'b>,
    random: &'a mut ChaCha8Rng,
    list: Vec<AllottedTask>,
    /// The makespan of the list.
    current: Time,
    /// The length of the schedule before the first change.
    span: f64,
}

impl Neighbourhood for AnnealedList<'_, '_, '_> {
    fn is_optimal(&self) -> bool {
        self.search.best.0 <= self.search.reachable
    }

    fn step(&mut self, done: f64) {
        let undo = self.search.change(&mut self.list, self.random);
        let makespan = self.search.makespan(self.builder, &self.list);
        let cooling = 1.0 - done;
        let tolerated = heat(1.0, self.random) * HOT * self.span * cooling * cooling;
        if ((makespan - self.current).ticks() as f64) > tolerated {
            undo.apply(&mut self.list);
            return;
        }
        self.current = makespan;
        if makespan < self.search.best.0 {
            self.search.best.0 = makespan;
            self.search.best.1.copy_from_slice(&self.list);
        }
    }
}

/// The data that undo a change.
enum Undo {
    Allotment(usize, u32),
    Swap(usize, usize),
    Move(usize, usize),
}

impl Undo {
    fn apply(&self, list: &mut [AllottedTask]) {
        match *self {
            Self::Allotment(at, processors) => list[at].processors = processors,
            Self::Swap(a, b) => list.swap(a, b),
            Self::Move(from, to) => move_to(list, from, to),
        }
    }
}
