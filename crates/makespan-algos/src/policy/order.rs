//! The order of a queue, and the requests of moldable tasks for processors.

use std::cmp::Reverse;

use makespan_core::{Area, Instance, NodeClasses, Profile, TaskId, Time};

pub(super) use crate::kernel::leaves::LeafRequest;

/// The order of a queue. Tasks with equal keys are ordered by release, and then by id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueOrder {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Shortest estimated time first.
    Sjf,
    /// Longest estimated time first.
    Ljf,
    /// Smallest area (processors times estimated time) first.
    Saf,
    /// Largest area first.
    Laf,
    /// Fewest processors first.
    Narrowest,
    /// Most processors first.
    Widest,
    /// Largest weight first.
    Weight,
    /// Highest priority first.
    Priority,
    /// Least `-(wait / time)^3 * processors` first. This order prefers tasks that are short, are wide and have waited
    /// for a long time. Source: W. Tang, Z. Lan, N. Desai and D. Buettner, "Fault-aware, utility-based job scheduling
    /// on Blue Gene/P systems", CLUSTER 2009, DOI 10.1109/CLUSTR.2009.5289206.
    Wfp3,
    /// Least `-wait / (log2(processors) * time)` first. This order prefers tasks that are short, are narrow and have
    /// waited for a long time. Source: as [`QueueOrder::Wfp3`]. The logarithm of one is zero, so the logarithm of two
    /// is used for one processor.
    Unicef,
    /// Least `log10(time) * processors + 870 * log10(release)` first. Times are in seconds. A time below one second is
    /// treated as one second. The function was fitted to results of simulations. Source: D. Carastan-Santos and R. de
    /// Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC 2017, DOI
    /// 10.1145/3126908.3126955, F1.
    F1,
}

/// The rule by which the waiting tasks are divided into queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queues {
    /// A single queue.
    #[default]
    One,
    /// One queue for each priority. All tasks of a higher priority come before all tasks of a lower one. Within a
    /// queue, the [`QueueOrder`] sorts the tasks.
    Priority,
}

named!(Queues { "one" => One, "priority" => Priority });

named!(QueueOrder {
    "fcfs" => Fcfs,
    "sjf" => Sjf,
    "ljf" => Ljf,
    "saf" => Saf,
    "laf" => Laf,
    "narrowest" => Narrowest,
    "widest" => Widest,
    "weight" => Weight,
    "priority" => Priority,
    "wfp3" => Wfp3,
    "unicef" => Unicef,
    "f1" => F1,
});

impl QueueOrder {
    /// Returns whether the order depends on how long tasks have waited.
    pub(super) fn moves(self) -> bool {
        matches!(self, Self::Wfp3 | Self::Unicef)
    }

    /// Returns the sort key of a task for its request. Tasks with smaller keys come first.
    fn key(self, instance: &Instance, task: TaskId, LeafRequest { width, time }: LeafRequest, now: Time) -> i128 {
        let wait = || (now - instance.release(task)).seconds().max(0.0);
        let processors = f64::from(width);
        let area = || -> Area { time.area(width) };
        match self {
            Self::Fcfs => 0,
            Self::Sjf => time.ticks().into(),
            Self::Ljf => -i128::from(time.ticks()),
            Self::Saf => area(),
            Self::Laf => -area(),
            Self::Narrowest => width.into(),
            Self::Widest => -i128::from(width),
            Self::Weight => -i128::from(instance.weight(task).millionths()),
            Self::Priority => -i128::from(instance.job_of(task).priority),
            Self::Wfp3 => in_order(-(wait() / time.seconds()).powi(3) * processors),
            Self::Unicef => in_order(-wait() / (processors.max(2.0).log2() * time.seconds())),
            Self::F1 => {
                let log = |seconds: f64| seconds.max(1.0).log10();
                in_order(log(time.seconds()) * processors + 870.0 * log(instance.release(task).seconds()))
            }
        }
    }
}

/// Converts a float to an integer. The integers sort like the floats.
fn in_order(number: f64) -> i128 {
    // Adding 0 turns -0 into 0, so that both give the same integer.
    let bits = (number + 0.0).to_bits().cast_signed();
    i128::from(if bits < 0 { bits ^ i64::MAX } else { bits })
}

/// The rules by which a policy orders its queue, and by which its moldable tasks request processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueReading {
    /// The order of the queue.
    pub order: QueueOrder,
    /// The number of processors that a moldable task requests.
    pub request: Request,
    /// Whether all tasks of a higher priority come before all tasks of a lower priority.
    pub queues: Queues,
}

/// The place of a task in the order of a queue, and its request. An earlier place compares as less than a later place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueuePlace {
    queue: Reverse<i32>,
    key: i128,
    release: Time,
    pub task: TaskId,
    pub asked: LeafRequest,
}

impl QueuePlace {
    /// Returns the current place of a task that requests `width` processors.
    pub(super) fn new(instance: &Instance, task: TaskId, width: u32, reading: QueueReading, now: Time) -> Self {
        let QueueReading { order, queues, .. } = reading;
        let job = instance.job_of(task);
        let queue = Reverse(if queues == Queues::Priority { job.priority } else { 0 });
        // The order uses the time in the profile, even if the processors are slow and the task takes longer.
        let key = order.key(instance, task, LeafRequest { width, time: instance.profile(task).time(width) }, now);
        let asked = LeafRequest { width, time: time_on_equal(instance, task, width) };
        Self { queue, key, release: job.release, task, asked }
    }
}

/// The number of processors that a moldable task requests. This number is used by policies that do not choose
/// allotments. With real schedulers, users state this number at submission. A rigid task requests the processors that
/// it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Request {
    /// The largest number of processors on which the work of the task (processors times time) is at most twice its
    /// work on its fewest processors. This is near the knee of D. Eager, J. Zahorjan and E. Lazowska, IEEE Trans.
    /// Comput. 38(3), 1989, DOI 10.1109/12.21127.
    #[default]
    Efficient,
    /// The fewest processors that the task accepts.
    Fewest,
    /// The fewest processors on which the task is fastest.
    Fastest,
}

impl Request {
    /// Returns the number of processors that a task with this profile requests.
    fn processors(self, profile: &Profile) -> u32 {
        if profile.is_rigid() {
            return profile.min_processors();
        }
        match self {
            Self::Fewest => profile.min_processors(),
            Self::Fastest => profile.fastest(),
            Self::Efficient => efficient(profile),
        }
    }
}

named!(Request { "efficient" => Efficient, "fewest" => Fewest, "fastest" => Fastest });

/// Computes the number of processors that a task requests on a platform.
#[derive(Clone, Debug)]
pub(super) struct Widths {
    request: Request,
    classes: NodeClasses,
}

impl Widths {
    pub(super) fn new(request: Request, instance: &Instance) -> Self {
        Self { request, classes: NodeClasses::new(instance.platform()) }
    }

    /// Returns the number of processors that a task requests. If the task does not fit on the empty platform with this
    /// number, or would exceed its walltime, returns another number with which it fits. Smaller numbers are tried
    /// first, from the largest of them down, and then larger numbers from the smallest up.
    pub(super) fn of(&self, instance: &Instance, task: TaskId) -> u32 {
        let profile = instance.profile(task);
        let asked = self.request.processors(profile);
        let has_room = |&width: &u32| self.classes.have_room(instance, task, width);
        if profile.is_rigid() || has_room(&asked) {
            return asked;
        }
        let (fewer, more): (Vec<u32>, Vec<u32>) = profile.allotments().partition(|&width| width < asked);
        let nearest = fewer.into_iter().rev().chain(more).find(has_room);
        // Also try dominated allotments, because a larger allotment that is no faster may need less of a resource.
        let any = || (profile.min_processors()..=profile.max_processors()).find(has_room);
        nearest.or_else(any).unwrap_or(asked)
    }
}

fn efficient(profile: &Profile) -> u32 {
    let most = 2 * profile.work(profile.min_processors());
    let good = |&processors: &u32| profile.work(processors) <= most;
    if profile.speedup().is_none() {
        return profile.allotments().filter(good).last().unwrap_or_else(|| profile.min_processors());
    }
    // The work of a speed-up law never decreases with the number of processors, so bisection finds the boundary.
    let (mut low, mut high) = (profile.min_processors(), profile.max_processors());
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if good(&middle) { low = middle } else { high = middle - 1 }
    }
    profile.min_allotment(profile.time(low)).unwrap_or(low)
}

/// Returns the time of a task on a platform of equally fast processors.
pub(super) fn time_on_equal(instance: &Instance, task: TaskId, processors: u32) -> Time {
    let time = instance.profile(task).time(processors);
    instance.platform().slowed(time, &makespan_core::ProcSet::first(1))
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, SpeedupLaw};

    use super::*;

    #[test]
    fn orders_break_ties_by_release_then_id() {
        let job = |(width, time, release): (u32, i64, i64)| {
            let profile = Profile::rigid(width, Time::from_ticks(time)).unwrap();
            Job::new(format!("{width}-{time}-{release}"), profile).with_release(Time::from_ticks(release))
        };
        let jobs: Vec<Job> = [(2, 5, 9), (1, 5, 3), (4, 1, 3), (1, 10, 0)].map(job).to_vec();
        let instance = Instance::new(Platform::flat(4).unwrap(), jobs, vec![]).unwrap();
        let ids = |order: &str| {
            let order: QueueOrder = order.parse().unwrap();
            let reading = QueueReading { order, ..QueueReading::default() };
            let now = Time::from_ticks(12);
            let place = |(task, width)| QueuePlace::new(&instance, task, width, reading, now);
            let mut places: Vec<QueuePlace> = instance.task_ids().zip([2, 1, 4, 1]).map(place).collect();
            places.sort_unstable();
            places.iter().map(|place| place.task.0).collect::<Vec<_>>()
        };
        assert_eq!(ids("fcfs"), [3, 1, 2, 0]);
        assert_eq!(ids("sjf"), [2, 1, 0, 3]);
        assert_eq!(ids("ljf"), [3, 1, 0, 2]);
        assert_eq!(ids("saf"), [2, 1, 3, 0]);
        assert_eq!(ids("laf"), [3, 0, 1, 2]);
        assert_eq!(ids("narrowest"), [3, 1, 0, 2]);
        assert_eq!(ids("widest"), [2, 0, 3, 1]);
        // The waits are 3, 9, 9 and 12. The values are the cubes of wait / time (0.6, 1.8, 9 and 1.2), each multiplied
        // by the width.
        assert_eq!(ids("wfp3"), [2, 1, 3, 0]);
        // The values are 0.6 / 1, 1.8 / 1, 9 / 2 and 1.2 / 1.
        assert_eq!(ids("unicef"), [2, 1, 3, 0]);
        assert_eq!(ids("f1"), [3, 1, 2, 0], "below a second there is no logarithm");
    }

    #[test]
    fn functions_of_the_literature_are_as_they_are_written() {
        let job = |(width, time, release): (u32, i64, i64)| {
            let profile = Profile::rigid(width, Time::from_seconds(time)).unwrap();
            Job::new(format!("{width}-{time}-{release}"), profile).with_release(Time::from_seconds(release))
        };
        let instance =
            Instance::new(Platform::flat(64).unwrap(), [(64, 1000, 10), (1, 10, 1000)].map(job).to_vec(), vec![]);
        let instance = instance.unwrap();
        let first = |order: QueueOrder, now: i64| {
            let key = |(task, width): (TaskId, u32)| {
                let reading = QueueReading { order, ..QueueReading::default() };
                QueuePlace::new(&instance, task, width, reading, Time::from_seconds(now))
            };
            instance.task_ids().zip([64, 1]).min_by_key(|&one| key(one)).unwrap().0.0
        };
        // The keys are 3 * 64 + 870 * 1 for the first task, and 1 * 1 + 870 * 3 for the second task.
        assert_eq!(first(QueueOrder::F1, 1000), 0);
        // At 1000, (wait / time)^3 * 64 of the first task is 0.99^3 * 64 = 62, and the second task has just arrived.
        assert_eq!((first(QueueOrder::Wfp3, 1000), first(QueueOrder::Wfp3, 1060)), (0, 1));
        assert_eq!((first(QueueOrder::Unicef, 1000), first(QueueOrder::Unicef, 1002)), (0, 1));
    }

    #[test]
    fn an_efficient_request_does_at_most_twice_the_work() {
        let seconds = Time::from_seconds;
        let table = Profile::table([12, 7, 5, 5, 4, 4].map(seconds).to_vec()).unwrap();
        let asked = |request: Request, profile: &Profile| request.processors(profile);
        assert_eq!([Request::Efficient, Request::Fewest, Request::Fastest].map(|r| asked(r, &table)), [5, 1, 5]);
        // Amdahl's law: on p processors the work is 0.09 p + 0.91, which is 2 for p = 12.1.
        let law = Profile::law(seconds(100), SpeedupLaw::Amdahl { serial: 0.09 }, 1, 64).unwrap();
        assert_eq!(asked(Request::Efficient, &law), 12);
        assert_eq!(asked(Request::Efficient, &Profile::rigid(7, seconds(1)).unwrap()), 7);
    }
}
