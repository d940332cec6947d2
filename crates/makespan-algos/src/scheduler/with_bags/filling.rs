//! Places best-effort bags in the holes of a schedule, one bag after another.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use makespan_core::{FreeTime, Instance, JobId, Placement, ProcSet, Schedule, TaskId, Time};

use crate::free_time::{Calendar, Period};
use crate::kernel::holes::{EqualTasks, FreePeriods};
use crate::kernel::take_compact;
use crate::kernel::usage::{HoldingTask, Usage};
use crate::speeds::speeds;

/// The state while bags are placed.
pub(super) struct Filling<'a> {
    instance: &'a Instance,
    /// For resources other than processors, the amounts in use over time. `None` if no bag needs such resources.
    usage: Option<Usage<'a>>,
    /// For each job, the latest end of its placed tasks. The list is empty if no job waits for another job.
    ends: Vec<Time>,
    placements: Vec<(Placement, Option<Arc<str>>)>,
}

impl<'a> Filling<'a> {
    /// Creates the state for placing `bags`. `others` is the schedule of the other jobs.
    pub fn new(instance: &'a Instance, others: &Schedule, bags: &[JobId]) -> Self {
        let mut usage = None;
        if bags.iter().any(|&id| !instance.demands(instance.job(id).first()).is_empty()) {
            let mut all = Usage::new(instance, |_| 0);
            instance.held().iter().for_each(|held| all.hold_amount(held));
            for Placement { task, start, end, processors } in others.placements() {
                let period = Period { from: *start, until: *end };
                all.hold(&HoldingTask { task: *task, processors, period, begun: false });
            }
            usage = Some(all);
        }
        let mut ends = Vec::new();
        if instance.has_edges_between_jobs() {
            ends.resize(instance.jobs().len(), Time::ZERO);
            for Placement { task, end, .. } in others.placements() {
                let of_job = &mut ends[instance.job_id(*task).index()];
                *of_job = (*end).max(*of_job);
            }
        }
        let placements = others.grouped().map(|(placement, group)| (placement.clone(), group)).collect();
        Self { instance, usage, ends, placements }
    }

    /// Returns the schedule with all tasks of the bags. The bags are placed in the order `bags`.
    pub fn filled(self, others: &Schedule, bags: &[JobId]) -> Schedule {
        if self.instance.has_equal_processors() {
            let holes = FreePeriods::of(self.instance, others);
            self.holes(holes, bags)
        } else {
            self.machines(others, bags)
        }
    }

    /// Returns the earliest instant at which the tasks of a bag may start.
    fn begin(&self, bag: JobId) -> Time {
        let job = self.instance.job(bag);
        job.waits_for().iter().map(|before| self.ends[before.index()]).fold(job.release, Time::max)
    }

    fn place(&mut self, task: TaskId, start: Time, end: Time, processors: ProcSet) {
        if !self.ends.is_empty() {
            let of_job = &mut self.ends[self.instance.job_id(task).index()];
            *of_job = end.max(*of_job);
        }
        self.placements.push((Placement { task, start, end, processors }, None));
    }

    /// Places the bags if all processors are equal.
    fn holes(mut self, mut holes: FreePeriods<'_>, bags: &[JobId]) -> Schedule {
        let instance = self.instance;
        // Place consecutive bags of equal tasks together. A simulation may split a bag into several such bags, and
        // this must not change the result.
        let equal = |a: &JobId, b: &JobId| {
            let (first, second) = (instance.job(*a), instance.job(*b));
            first.release == second.release
                && instance.profile_of(*a) == instance.profile_of(*b)
                && instance.demands_number(first.first()) == instance.demands_number(second.first())
                && first.waits_for() == second.waits_for()
        };
        for group in bags.chunk_by(equal) {
            let (profile, release) = (instance.profile_of(group[0]), self.begin(group[0]));
            let width = profile.min_processors();
            let time = profile.time(width);
            let count = group.iter().map(|&id| instance.job(id).tasks()).sum();
            let tasks = EqualTasks { count, width, time, release };
            let mut usage = self.usage.take();
            let ids = group.iter().flat_map(|&id| instance.job(id).task_ids());
            let needy = usage.as_mut().filter(|_| !instance.demands(instance.job(group[0]).first()).is_empty());
            holes.fill(tasks, needy, ids, |task, start, processors| self.place(task, start, start + time, processors));
            self.usage = usage;
        }
        Schedule::with_groups(self.placements)
    }

    /// Places the bags if processors differ. Each task runs on the processors on which it ends first, and the tasks are
    /// placed in the order of their ends. For tasks on one processor, this takes O((k + h) log m) for k tasks, h holes
    /// and m processors. If tasks also need other resources, multiply this time by the number of instants at which
    /// these resources are released.
    fn machines(mut self, others: &Schedule, bags: &[JobId]) -> Schedule {
        let instance = self.instance;
        let closed = instance.unavailable().iter().map(|period| (&period.processors, (period.start, period.end)));
        let placed = others.placements().iter().map(|one| (&one.processors, (one.start, one.end)));
        let mut held = vec![Vec::new(); instance.processors() as usize];
        for (processors, (start, end)) in closed.chain(placed) {
            processors.iter().for_each(|id| held[id as usize].push((start.ticks(), end.ticks())));
        }
        let mut calendars: Vec<Calendar> = held.iter().map(|periods| Calendar::new(periods)).collect();
        for &id in bags {
            let job = instance.job(id);
            if instance.profile_of(id).min_processors() > 1 {
                self.wide(&mut calendars, id);
                continue;
            }
            let node = |processor: usize| instance.platform().node_of(processor as u32);
            let time = |processor: usize| instance.time_on(job.first(), node(processor)).map(Time::ticks);
            let times: Vec<Option<i64>> = (0..calendars.len()).map(time).collect();
            // The earliest end of a task on this processor, if the task begins at `after` or later.
            let next = |usage: &Option<Usage<'_>>, processor: usize, after: i64| {
                let time = times[processor]?;
                let mut start = calendars[processor].earliest_fit(1, time, after);
                while let Some(usage) = usage {
                    let (from, time) = (Time::from_ticks(start), Time::from_ticks(time));
                    let roomy = usage.earliest(job.first(), node(processor), from, time)?.ticks();
                    if roomy == start {
                        break;
                    }
                    start = calendars[processor].earliest_fit(1, time.ticks(), roomy);
                }
                Some(Reverse((start + time, processor)))
            };
            let begin = self.begin(id).ticks();
            let mut ends: BinaryHeap<Reverse<(i64, usize)>> =
                (0..calendars.len()).filter_map(|processor| next(&self.usage, processor, begin)).collect();
            let mut taken = vec![Vec::new(); calendars.len()];
            let mut tasks = job.task_ids();
            let mut task = tasks.next();
            // At least one processor can run the task, because every task of an instance can run on some processor.
            while let (Some(id), Some(Reverse((end, processor)))) = (task, ends.pop()) {
                let start = end - times[processor].unwrap_or_default();
                // Search again, because other tasks of the bag may have taken the needed resources since the last
                // search.
                let found = next(&self.usage, processor, start);
                if found != Some(Reverse((end, processor))) {
                    ends.extend(found);
                    continue;
                }
                taken[processor].push((start, end));
                let processors = ProcSet::range(processor as u32, processor as u32);
                let period = Period { from: Time::from_ticks(start), until: Time::from_ticks(end) };
                if let Some(usage) = &mut self.usage {
                    usage.hold(&HoldingTask { task: id, processors: &processors, period, begun: false });
                }
                self.place(id, period.from, period.until, processors);
                ends.extend(next(&self.usage, processor, end));
                task = tasks.next();
            }
            for (calendar, own) in calendars.iter_mut().zip(taken) {
                *calendar = Calendar::new(&[calendar.busy().to_vec(), own].concat());
            }
        }
        Schedule::with_groups(self.placements)
    }

    /// Places the tasks of a bag, each on several processors, if processors differ. Each task takes O(i m log n) for m
    /// processors with n busy periods each, and i instants at which processors or resources become free.
    fn wide(&mut self, calendars: &mut [Calendar], bag: JobId) {
        let (instance, platform) = (self.instance, self.instance.platform());
        let (profile, begin) = (instance.profile_of(bag), self.begin(bag));
        let width = profile.min_processors();
        let classes: Vec<(Time, ProcSet)> = speeds(instance)
            .into_iter()
            .filter(|(_, fast)| fast.len() >= width)
            .map(|(speed, fast)| (profile.time(width).divided_by(speed), fast))
            .filter(|&(time, _)| instance.job(bag).walltime.is_none_or(|walltime| time <= walltime))
            .collect();
        let (Some(&(fastest, _)), Some(&(slowest, _))) = (classes.first(), classes.last()) else { return };
        let first = instance.job(bag).first();
        let busy = calendars.iter().flat_map(Calendar::busy).map(|&(_, end)| Time::from_ticks(end));
        let mut instants: BTreeSet<Time> = busy.filter(|&end| end > begin && end < Time::MAX).chain([begin]).collect();
        instants.extend(self.usage.iter().flat_map(|usage| usage.instants(first, begin)));
        // Begin each search at the earliest instant, because a task that ends after the previous task may begin before
        // the previous task.
        let mut from = begin;
        for task in instance.job(bag).task_ids() {
            let mut best: Option<(Time, Time, ProcSet)> = None;
            for &start in instants.range(from..) {
                if best.as_ref().is_some_and(|&(end, ..)| start + fastest >= end) {
                    break;
                }
                for &(time, ref fast) in &classes {
                    let period = Period { from: start, until: start + time };
                    let is_free = |id: &u32| calendars[*id as usize].fits(1, start.ticks(), time.ticks());
                    let free = ProcSet::from_intervals(fast.iter().filter(is_free).map(|id| (id, id)).collect());
                    let mut free = match &self.usage {
                        Some(usage) => usage.with_room(first, width, free, period),
                        None => free,
                    };
                    let compact = platform.restricts_placement();
                    let taken = if compact { take_compact(platform, &mut free, width) } else { free.take(width) };
                    let Some(processors) = taken else { continue };
                    if best.as_ref().is_none_or(|&(end, ..)| period.until < end) {
                        best = Some((period.until, start, processors));
                    }
                    break;
                }
            }
            let Some((_, start, processors)) = best else { return };
            let end = start + instance.time(task, &processors);
            let period = Period { from: start, until: end };
            for id in processors.iter() {
                calendars[id as usize].hold(1, start.ticks(), end.ticks());
            }
            if let Some(usage) = &mut self.usage {
                usage.hold(&HoldingTask { task, processors: &processors, period, begun: false });
            }
            self.place(task, start, end, processors);
            instants.insert(end);
            from = begin.max(Time::from_ticks(end.ticks() - slowest.ticks()));
        }
    }
}
