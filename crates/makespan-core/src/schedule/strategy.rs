//! Strategies: several schedules of compound jobs with their costs.

use crate::model::{Area, Instance, Profile, Time};
use crate::schedule::{ChainReport, Placement, Schedule, undominated};

/// Returns the volume V of a task: its time on one processor of speed 1. If the task does not accept one processor, V
/// is its work on the minimum number of processors. If the task has a time for each machine, V is the shortest of
/// these times. Saturates.
pub fn volume(profile: &Profile) -> Time {
    if profile.machine_times().is_some() {
        return profile.shortest();
    }
    let least = profile.work(profile.min_processors());
    Time::from_ticks(i64::try_from(least).unwrap_or(i64::MAX))
}

/// Returns the cost of a task with the volume V and the time T: V / T in thousandths, rounded up. Source: V. V.
/// Toporkov, Programming and Computer Software 34(3), 2008, with the cost function CF = sum of ceil(V / T).
/// Thousandths distinguish processors if their speeds differ by less than one.
pub fn task_cost(volume: Time, time: Time) -> i64 {
    let (volume, time) = (i128::from(volume.ticks()) * 1000, i128::from(time.ticks().max(1)));
    i64::try_from((volume + time - 1) / time).unwrap_or(i64::MAX)
}

/// Returns the cost of a schedule in thousandths: the sum of [`task_cost`] over its placements.
pub fn cost(instance: &Instance, schedule: &Schedule) -> i128 {
    let of = |placement: &Placement| {
        let volume = volume(instance.profile(placement.task));
        i128::from(task_cost(volume, placement.end - placement.start))
    };
    schedule.placements().iter().map(of).sum()
}

/// Returns the busy time in a schedule, summed over all processors, in ticks.
pub fn busy(schedule: &Schedule) -> Area {
    schedule
        .placements()
        .iter()
        .map(|placement| (placement.end - placement.start).area(placement.processors.len()))
        .sum()
}

/// A schedule of a strategy, with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The schedule.
    pub schedule: Schedule,
    /// End of the last task.
    pub finish: Time,
    /// Cost in thousandths (see [`cost`]).
    pub cost: i128,
    /// Busy time, summed over all processors (see [`busy`]).
    pub busy: Area,
    /// The last instant at which the first task can start so that all jobs meet their stated deadlines. All tasks are
    /// then delayed by an equal time. `None` if no job states a deadline, or if a job misses its deadline even without
    /// a delay.
    pub until: Option<Time>,
}

/// Schedules of which none dominates another. For any two of these schedules, each ends earlier than the other, costs
/// less, or keeps the processors busier. Such a set of schedules is the strategy of Tselishchev and Toporkov. When it
/// is known which processors are available, one of the schedules is chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Strategy {
    variants: Vec<Variant>,
    chosen: usize,
    chains: ChainReport,
}

/// Returns the last possible start of a variant ([`Variant::until`]).
fn possible_until(instance: &Instance, schedule: &Schedule) -> Option<Time> {
    let placements = schedule.placements();
    let slack = |at: &Placement| Some(instance.job_of(at.task).deadline?.ticks() - at.end.ticks());
    let slack = placements.iter().filter_map(slack).min().filter(|&slack| slack >= 0)?;
    Some(placements.iter().map(|at| at.start).min()? + Time::from_ticks(slack))
}

impl Variant {
    /// Creates a variant and computes its figures.
    pub fn new(instance: &Instance, schedule: Schedule) -> Self {
        let (finish, cost, busy) = (schedule.makespan(), cost(instance, &schedule), busy(&schedule));
        let until = possible_until(instance, &schedule);
        Self { schedule, finish, cost, busy, until }
    }
}

impl Strategy {
    /// Creates a strategy of the variants that no other variant dominates, sorted by finish. The chosen variant has the
    /// smallest `key`. Among several variants with the smallest key, the one that ends first is chosen. Returns `None`
    /// if there are no variants.
    pub fn new<K: Ord>(variants: Vec<Variant>, key: impl Fn(&Variant) -> K) -> Option<Self> {
        let figures = |variant: &Variant| [i128::from(variant.finish.ticks()), variant.cost, -variant.busy];
        let variants = undominated(variants, figures);
        let chosen = (0..variants.len()).min_by_key(|&at| (key(&variants[at]), at))?;
        Some(Self { variants, chosen, chains: ChainReport::default() })
    }

    /// Returns the variants, sorted by finish.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// Returns the position of the chosen variant.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Returns the strategy with a report about the chains of the chosen variant.
    #[must_use]
    pub fn with_chains(self, chains: ChainReport) -> Self {
        Self { chains, ..self }
    }

    /// Returns the chains of the chosen variant. The report is empty if no job is compound.
    pub fn chains(&self) -> &ChainReport {
        &self.chains
    }

    /// Replaces each variant by `other(variant)`, and removes variants that are then dominated. The chosen variant
    /// stays chosen; if it is removed, the first variant is chosen. The result has no report about chains.
    ///
    /// # Panics
    ///
    /// Never panics, because a strategy has at least one variant.
    #[must_use]
    pub fn map(&self, other: impl Fn(&Variant) -> Variant) -> Self {
        let chosen = other(&self.variants[self.chosen]);
        let others = self.variants.iter().map(&other).collect();
        Self::new(others, |variant| *variant != chosen).expect("there are as many variants as before")
    }

    /// Returns the chosen schedule.
    pub fn into_schedule(mut self) -> Schedule {
        self.variants.swap_remove(self.chosen).schedule
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, Node, Platform, ProcSet, TaskId};

    #[test]
    fn figures_are_exact_and_the_beaten_are_left_out() {
        let node = |name: &str, speed| Node { speed, ..Node::new(name, 1) };
        let platform = Platform::new(vec![node("slow", 1.0), node("fast", 2.0), node("odd", 1.5)]).unwrap();
        let jobs = vec![Job::new("a", Profile::rigid(1, Time::from_ticks(10)).unwrap())];
        let instance = Instance::new(platform, jobs, vec![]).unwrap();
        let on = |processor: u32, start: i64| {
            let processors = ProcSet::range(processor, processor);
            let start = Time::from_ticks(start);
            let end = start + instance.time(TaskId(0), &processors);
            Variant::new(&instance, Schedule::new(vec![Placement { task: TaskId(0), start, end, processors }]))
        };
        assert_eq!((on(0, 0).cost, on(1, 0).cost, on(1, 0).busy), (1000, 2000, 5));
        // The time is 10 / 1.5 = 7 ticks, rounded up, and the cost is 10 000 / 7 = 1429, rounded up.
        assert_eq!(on(2, 0).cost, 1429);
        let strategy = Strategy::new(vec![on(0, 0), on(1, 0), on(0, 1), on(1, 0)], |variant| variant.cost).unwrap();
        assert_eq!((strategy.variants().len(), strategy.chosen()), (2, 1));
        assert_eq!(strategy.into_schedule().makespan(), Time::from_ticks(10));
        assert_eq!(Strategy::new(Vec::new(), |variant| variant.cost), None);
    }
}
