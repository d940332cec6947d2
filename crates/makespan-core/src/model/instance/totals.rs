//! Totals over all jobs of an instance. When jobs are appended, they are added to the totals.

use std::collections::BTreeMap;

use super::InstanceError;
use crate::model::{Availability, Job, Need, Payload, Platform, Profile, Route, Task, Time, Unavailable, Work};

/// The numbers of jobs and tasks of each kind, and their release dates.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    tasks: u128,
    pub bags: usize,
    pub compound: usize,
    /// Number of tasks with a time for each machine, counting a bag as one.
    pub machine_times: usize,
    /// Number of tasks that may hold several processors, counting a bag as one.
    pub parallel: usize,
    /// Number of tasks that need resources besides processors, counting a bag as one.
    pub needing: usize,
    /// Number of jobs with a deadline.
    pub deadlines: usize,
    /// Number of jobs with a hard deadline.
    pub hard_deadlines: usize,
    /// The earliest and the latest release date.
    pub releases: Option<(Time, Time)>,
    /// Minimum amount of each consumable that all tasks together use up.
    used_up: BTreeMap<Box<str>, u128>,
}

impl Totals {
    /// Adds a job to the totals.
    pub fn add(&mut self, job: &Job, platform: &Platform) {
        self.tasks += u128::from(job.work.tasks());
        let (first, last) = self.releases.unwrap_or((job.release, job.release));
        self.deadlines += usize::from(job.deadline.is_some());
        self.hard_deadlines += usize::from(job.must_end_by.is_some());
        self.releases = Some((first.min(job.release), last.max(job.release)));
        match &job.work {
            Work::Task(task) => self.add_task(task, 1, platform),
            Work::Bag(task, count) => {
                self.bags += 1;
                self.add_task(task, count.get(), platform);
            }
            Work::Graph(graph) => {
                self.compound += 1;
                graph.tasks().iter().for_each(|task| self.add_task(&task.task, 1, platform));
            }
        }
    }

    /// Checks that the number of tasks fits into an index. Also checks that the platform has enough of each consumable
    /// for all tasks together, if each task runs on the allotment that uses up the least.
    ///
    /// # Errors
    /// [`InstanceError::TooManyTasks`] and [`InstanceError::UsedUp`].
    pub fn check(&self, platform: &Platform) -> Result<(), InstanceError> {
        if self.tasks > i64::MAX as u128 {
            return Err(InstanceError::TooManyTasks { tasks: self.tasks });
        }
        let there = |name: &str| platform.consumables().amount(name);
        match self.used_up.iter().find(|(name, used)| **used > u128::from(there(name))) {
            Some((name, &needed)) => {
                Err(InstanceError::UsedUp { resource: name.to_string(), needed, there: there(name) })
            }
            None => Ok(()),
        }
    }

    fn add_task(&mut self, task: &Task, count: u64, platform: &Platform) {
        for (name, need) in task.needs.iter() {
            if platform.consumables().iter().any(|(other, _)| other == name) {
                let accepted = task.profile.min_processors()..=task.profile.max_processors();
                let least = match need {
                    Need::Linear { .. } => need.total(task.profile.min_processors()),
                    Need::ByAllotment(_) => accepted.map(|processors| need.total(processors)).min().unwrap_or(0),
                };
                *self.used_up.entry(name.into()).or_default() += u128::from(least) * u128::from(count);
            }
        }
        self.machine_times += usize::from(task.profile.machine_times().is_some());
        self.parallel += usize::from(!task.profile.is_sequential());
        self.needing += usize::from(!task.needs.is_empty());
    }
}

/// Sums and maxima of times over all tasks, in ticks. These values determine an instant by which every schedule
/// without unnecessary idle time has ended. Sums saturate.
#[derive(Clone, Debug)]
pub(super) struct Horizon {
    /// The lowest and the highest speed of all nodes with processors.
    speeds: (f64, f64),
    unit_speed: bool,
    /// A route that is at least as slow as every route of the platform.
    route: Route,
    /// The longest time of any task, on any allotment and any processor.
    longest: i128,
    /// Sum of the longest times of all tasks.
    slowly: i128,
    /// Sum of the shortest times of all tasks.
    fast: i128,
    /// Sum over all tasks of the largest work (processors times ticks) of any allotment.
    work: i128,
    /// Sum, over all tasks, of the task's longest time multiplied by its maximum number of processors.
    wide: i128,
    /// Sum of the longest times of all tasks, plus the longest times of all transfers.
    with_transfers: i128,
    /// Sum of the longest times of the tasks of all jobs that wait for other jobs. A path of jobs that wait for each
    /// other takes at most this sum plus the time of the first job on the path.
    chained: i128,
    /// Sum, over all tasks and licences, of the task's longest time multiplied by the fraction of the licence that the
    /// task holds.
    licensed: i128,
}

impl Horizon {
    /// Creates the horizon of an instance without jobs.
    pub fn new(platform: &Platform) -> Self {
        let (speeds, unit_speed, route) = (platform.speeds(), platform.has_unit_speed(), slowest_route(platform));
        let (longest, slowly, fast, work, wide, with_transfers, chained, licensed) = (0, 0, 0, 0, 0, 0, 0, 0);
        Self { speeds, unit_speed, route, longest, slowly, fast, work, wide, with_transfers, chained, licensed }
    }

    /// Adds the work of a job to the sums and maxima. `waits` is true if the job waits for other jobs.
    pub fn add(&mut self, work: &Work, waits: bool, platform: &Platform) {
        if let Some(task) = work.task().filter(|_| waits) {
            self.chain(task);
        }
        match work {
            Work::Task(task) => self.add_tasks(task, 1, platform),
            Work::Bag(task, count) => self.add_tasks(task, count.get(), platform),
            Work::Graph(graph) => {
                graph.tasks().iter().for_each(|task| self.add_tasks(&task.task, 1, platform));
                let transfers = graph.edges().iter().map(|edge| i128::from(self.route.time(edge.payload).ticks()));
                self.with_transfers = transfers.fold(self.with_transfers, i128::saturating_add);
            }
        }
    }

    /// Adds the times of a table row that represents `count` equal tasks. `waits` is true if the job of the row waits
    /// for other jobs.
    pub fn add_times(&mut self, task: &Task, count: u64, waits: bool, platform: &Platform) {
        if waits {
            self.chain(task);
        }
        self.add_tasks(task, count, platform);
    }

    fn chain(&mut self, task: &Task) {
        self.chained = self.chained.saturating_add(self.longest_of(&task.profile));
    }

    fn at(&self, profile: &Profile, time: Time, speed: f64) -> i128 {
        let as_stated = self.unit_speed || profile.machine_times().is_some();
        i128::from(if as_stated { time } else { time.divided_by(speed) }.ticks())
    }

    /// Returns the longest time of a task, on the slowest processors.
    fn longest_of(&self, profile: &Profile) -> i128 {
        self.at(profile, profile.longest(), self.speeds.0)
    }

    fn add_tasks(&mut self, task: &Task, count: u64, platform: &Platform) {
        let profile = &task.profile;
        let (longest, shortest) = (self.longest_of(profile), self.at(profile, profile.shortest(), self.speeds.1));
        let share = |(name, need): (&str, &Need)| {
            let there = i128::from(platform.licences().amount(name));
            let held = i128::from(need.total(profile.max_processors()));
            if there > 0 { longest.saturating_mul(held.min(there)) / there + 1 } else { 0 }
        };
        let licensed: i128 = task.needs.iter().map(share).sum();
        let count = i128::from(count);
        let add = |sum: &mut i128, each: i128| *sum = sum.saturating_add(each.saturating_mul(count));
        self.longest = self.longest.max(longest);
        add(&mut self.slowly, longest);
        add(&mut self.with_transfers, longest);
        add(&mut self.fast, shortest);
        add(&mut self.licensed, licensed);
        add(&mut self.work, profile.most_work());
        add(&mut self.wide, longest.saturating_mul(i128::from(profile.max_processors())));
    }

    /// Returns an instant, in ticks, by which every schedule without unnecessary idle time has ended.
    ///
    /// * On equal processors, the instant is the smaller of two values: the time of all jobs one after the other, and
    ///   twice the sum of the mean load and the longest job (Garey and Graham).
    /// * On machines that differ, the instant is the larger of two values: the time of all jobs one after the other,
    ///   each on its fastest machine, and the time if every job starts as soon as a machine is free.
    /// * If jobs wait for each other, the longest path of jobs is added.
    /// * If tasks need other resources, each task is treated as if it used whole nodes. On nodes that differ, the
    ///   result is then an estimate.
    pub fn end(
        &self,
        totals: &Totals,
        platform: &Platform,
        unavailable: &[Unavailable],
        availability: &Availability,
    ) -> i128 {
        let greedy = |load: i128| (load / i128::from(platform.processors()) + self.longest).saturating_mul(2);
        let span = if totals.compound > 0 {
            // While data are sent between tasks that wait for each other, all processors may be idle.
            self.with_transfers
        } else if totals.needing > 0 {
            // In the worst case, a task holds a whole node or a licence, and no other task can use it.
            let nodes = platform.kinds().filter(|(node, _)| node.processors > 0).map(|(_, count)| count).sum::<usize>();
            let nodes = (self.wide / nodes as i128 + self.longest).saturating_mul(2);
            self.with_transfers.min(nodes.saturating_add(self.licensed.saturating_mul(2)))
        } else if platform.is_homogeneous() && totals.machine_times == 0 {
            self.slowly.min(greedy(self.work))
        } else {
            self.fast.max(greedy(self.wide))
        };
        let closed: i128 = unavailable.iter().map(|period| i128::from((period.end - period.start).ticks())).sum();
        let release = totals.releases.map_or(Time::ZERO, |(_, last)| last);
        let last = availability.last_change().max(release);
        span.saturating_add(self.chained).saturating_add(closed + i128::from(last.ticks()))
    }
}

/// Returns a route that is at least as slow as every route of the platform: it has the sum of all latencies and the
/// smallest bandwidth.
pub(super) fn slowest_route(platform: &Platform) -> Route {
    // A platform of equal nodes stores a single node, which has no link of its own.
    let links = || platform.kinds().filter_map(|(node, _)| node.link).chain(platform.interconnect());
    Route {
        latency: links().map(|link| link.latency).sum(),
        bandwidth: links().map(|link| link.bandwidth).fold(f64::INFINITY, f64::min),
        takes_time: true,
    }
}

/// Returns true if any of these payloads may take time between two tasks.
pub(super) fn takes_time(platform: &Platform, mut payloads: impl Iterator<Item = Payload>) -> bool {
    let computing: usize = platform.kinds().filter(|(node, _)| node.processors > 0).map(|(_, count)| count).sum();
    let route = slowest_route(platform);
    (computing > 1 || platform.has_local_transfers()) && payloads.any(|payload| route.time(payload) > Time::ZERO)
}
