//! Several schedules of compound jobs with what they cost.

use crate::model::{Area, Instance, Profile, Time};
use crate::schedule::{Placement, Schedule, undominated};

/// The volume of a task: its time on one processor of speed 1, or on the fewest that it accepts times their number; of
/// a task with a time of its own on each machine the shortest of them. Saturates.
pub fn volume(profile: &Profile) -> Time {
    if profile.machine_times().is_some() {
        return profile.shortest();
    }
    let least = profile.work(profile.min_processors());
    Time::from_ticks(i64::try_from(least).unwrap_or(i64::MAX))
}

/// What a task of this volume costs that takes so long: V / T in thousandths, rounded up.
///
/// Source: the cost function CF = sum of ceil(V / T) of V. V. Toporkov, Programming and Computer Software 34(3), 2008;
/// thousandths tell processors apart whose speeds differ by less than one.
pub fn task_cost(volume: Time, time: Time) -> i64 {
    let (volume, time) = (i128::from(volume.ticks()) * 1000, i128::from(time.ticks().max(1)));
    i64::try_from((volume + time - 1) / time).unwrap_or(i64::MAX)
}

/// The cost of a schedule, in thousandths: the sum of [`task_cost`] over its placements.
pub fn cost(instance: &Instance, schedule: &Schedule) -> i128 {
    let of = |placement: &Placement| {
        let volume = volume(instance.profile(placement.task));
        i128::from(task_cost(volume, placement.end - placement.start))
    };
    schedule.placements().iter().map(of).sum()
}

/// How long processors are busy in a schedule, added up.
pub fn busy(schedule: &Schedule) -> Area {
    schedule
        .placements()
        .iter()
        .map(|placement| (placement.end - placement.start).area(placement.processors.len()))
        .sum()
}

/// One schedule of a strategy with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// What runs where and when.
    pub schedule: Schedule,
    /// When the last task ends.
    pub finish: Time,
    /// In thousandths; see [`cost`].
    pub cost: i128,
    /// See [`busy`].
    pub busy: Area,
}

/// Schedules each of which is better than every other one in something: it ends sooner, costs less or keeps processors busier. The
/// strategy of Tselishchev and Toporkov, from which one is chosen as processors are there.
#[derive(Clone, Debug, PartialEq)]
pub struct Strategy {
    variants: Vec<Variant>,
    chosen: usize,
}

impl Variant {
    /// A schedule with its true figures.
    pub fn new(instance: &Instance, schedule: Schedule) -> Self {
        let (finish, cost, busy) = (schedule.makespan(), cost(instance, &schedule), busy(&schedule));
        Self { schedule, finish, cost, busy }
    }
}

impl Strategy {
    /// Of these variants those that no other beats, by finish; chosen is the one whose `key` is least, of several the
    /// one that ends first. `None` without variants.
    pub fn new<K: Ord>(variants: Vec<Variant>, key: impl Fn(&Variant) -> K) -> Option<Self> {
        let figures = |variant: &Variant| [i128::from(variant.finish.ticks()), variant.cost, -variant.busy];
        let variants = undominated(variants, figures);
        let chosen = (0..variants.len()).min_by_key(|&at| (key(&variants[at]), at))?;
        Some(Self { variants, chosen })
    }

    /// The variants, by finish.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// The position of the chosen variant.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// The same choice, each variant another. Those that are beaten now go; where the chosen one is among them, the first is
    /// chosen.
    ///
    /// # Panics
    /// Never: there are as many variants as before.
    #[must_use]
    pub fn map(&self, other: impl Fn(&Variant) -> Variant) -> Self {
        let chosen = other(&self.variants[self.chosen]);
        let others = self.variants.iter().map(&other).collect();
        Self::new(others, |variant| *variant != chosen).expect("there are as many variants as before")
    }

    /// The chosen schedule.
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
        // 10 / 1.5 is 7 ticks, rounded up, and 10 000 / 7 is 1429, rounded up.
        assert_eq!(on(2, 0).cost, 1429);
        let strategy = Strategy::new(vec![on(0, 0), on(1, 0), on(0, 1), on(1, 0)], |variant| variant.cost).unwrap();
        assert_eq!((strategy.variants().len(), strategy.chosen()), (2, 1));
        assert_eq!(strategy.into_schedule().makespan(), Time::from_ticks(10));
        assert_eq!(Strategy::new(Vec::new(), |variant| variant.cost), None);
    }
}
