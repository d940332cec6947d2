//! The exact optimum of a small instance, found by a search that is simple enough to be obviously correct.
//!
//! *Enumeration.* Jobs are placed one after another, each on some set of processors. A job starts at the earliest
//! instant, not before its release, from which all processors of the set are free and open for the whole job.
//!
//! *Proof that an optimum is among the results.* Neither the makespan nor the weighted completion improves when a job
//! ends later. Take an optimal schedule S, and place the jobs again in the order of their starts on the processors that
//! they have in S. In S, the jobs placed before job k on the processors of job k ended by the start of job k. By
//! induction, these jobs now end no later. So the old start of job k is still possible, and its earliest start is no
//! later. The result is as good as S for each job. Repeat this with the result in place of S. The sum of starts is a
//! non-negative integer that never increases, so the process ends at an optimum with *starts that never decrease*, with
//! ties in any order. The search therefore discards a partial schedule as soon as `(start, job)` is lower than the pair
//! of the preceding job.
//!
//! *Choice of processors.* Two processors of one class (closed at the same times) differ only in the instant from which
//! they are free. No later job starts before the current one, so all processors that are free by its start are equal
//! for all later jobs. Therefore only the number taken from each class matters, and the first free processors are
//! taken.
//!
//! *Best placement*, if the platform requires it, forbids some sets of processors. S uses only allowed sets. Nodes are
//! distinguished like times of closing, so the number taken from each class determines how much of each node is held.
//! Two nodes that are always open and free from the same instants may swap all later placements. So the first of these
//! nodes gets at least as many processors as the second.
//!
//! *Choice of allotments.* The search skips an allotment if the job is no faster on this allotment than on fewer
//! processors. If S uses such an allotment, the job may run on some of its processors instead. Some processors of a
//! best placement are also a best placement if whole nodes are kept as long as they fit.
//!
//! *Equal jobs* may swap their places in S, so only the first unplaced job among them is placed next.
//!
//! *Tardiness* is the maximum or the sum of the times by which jobs end after their deadlines. The proof holds as for
//! the two objectives above.
//!
//! *Mean flow* is the sum of completions with all weights one. At the end, the sum of the releases is subtracted, and
//! the difference is divided by the number of jobs.
//!
//! *A cap on the makespan* discards schedules that end after the cap. In the result of the proof above, each job ends
//! no later than in S.
//!
//! *Bags.* Each task is placed like a job. The weighted completion depends on the last task of each job. So the
//! weighted completion never improves when a task ends later, and the statements above hold for tasks. Tasks of one bag
//! are equal. Tasks of two bags are not equal, because the objective depends on which bag is complete.
//!
//! *Pruning.* Partial schedules are pruned if their lower bound reaches the best complete schedule. For the bound, each
//! unplaced job needs its least area after the current starts and its shortest time.

use makespan_core::{Instance, Objective, SimpleJob, Time};

/// The message for objectives that are not searched.
const NOT_OF_TIME: &str = "the order of jobs does not determine their cost";

/// Returns the least value of an objective of [`Objective::OF_TIME`] over all schedules.
pub fn optimum(instance: &Instance, objective: Objective) -> i128 {
    optimum_until(instance, objective, Time::MAX).expect("without a cap there is a schedule")
}

/// Returns the least value of the objective over all schedules with a makespan of at most `cap`, if there is one.
pub fn optimum_until(instance: &Instance, objective: Objective, cap: Time) -> Option<i128> {
    let mut search = Search::new(instance, objective, cap);
    let free = search.classes.iter().map(|class| vec![0; class.size]).collect();
    let all = (1 << search.jobs.len()) - 1;
    let ends = vec![0; instance.jobs().len()];
    search.descend(&Partial { left: all, last: (0, 0), free, ends, value: 0 });
    let best = (search.best < i128::MAX).then_some(search.best)?;
    if objective != Objective::MeanFlow {
        return Some(best);
    }
    let released: i128 = instance.jobs().iter().map(|job| i128::from(job.release.ticks())).sum();
    Some(1000 * (best - released) / instance.jobs().len() as i128)
}

/// Returns the number of sequences of placements before the search prunes: the number of different orders of the tasks,
/// times the number of ways to place them.
pub fn sequences(instance: &Instance) -> f64 {
    let search = Search::new(instance, Objective::Makespan, Time::MAX);
    let sizes: Vec<usize> = search.classes.iter().map(|class| class.size).collect();
    let ways =
        |small: &Small| small.choices.iter().map(|&(allotment, _)| splits(allotment, &sizes).len()).sum::<usize>();
    let factor = |(at, small): (usize, &Small)| {
        let alike = 1 + search.jobs[..at].iter().filter(|other| other.equals(small)).count();
        (at + 1) as f64 / alike as f64 * ways(small) as f64
    };
    search.jobs.iter().enumerate().map(factor).product()
}

/// One task.
struct Small {
    /// The job of the task, and whether the job is a bag.
    job: usize,
    bag: bool,
    /// Allotment and time.
    choices: Vec<(usize, i64)>,
    release: i64,
    /// The weight of the whole job.
    weight: i128,
    due: Option<i64>,
    shortest: i64,
    least_area: i128,
}

impl Small {
    /// Returns whether two tasks may swap their places in any schedule.
    fn equals(&self, other: &Self) -> bool {
        let alike = (&self.choices, self.release, self.weight, self.due)
            == (&other.choices, other.release, other.weight, other.due);
        if self.bag || other.bag { self.job == other.job } else { alike }
    }
}

impl Small {
    /// Returns how late the task is if it ends at this instant.
    fn late(&self, end: i64) -> i128 {
        self.due.map_or(0, |due| i128::from((end - due).max(0)))
    }
}

struct Class {
    /// The node. Zero for all processors if any set of processors is allowed.
    node: usize,
    closed: Vec<(i64, i64)>,
    size: usize,
}

struct Search {
    objective: Objective,
    jobs: Vec<Small>,
    /// Jobs by least area divided by weight: the order of Smith.
    smith: Vec<usize>,
    classes: Vec<Class>,
    /// The number of processors of each node. One entry for the whole platform if any set of processors is allowed.
    node_sizes: Vec<usize>,
    processors: i128,
    cap: i64,
    best: i128,
}

/// The jobs placed so far.
struct Partial {
    /// The unplaced jobs, one bit each.
    left: u32,
    /// Start and number of the job placed last.
    last: (i64, usize),
    /// For each class, the instants from which its processors are free, in increasing order.
    free: Vec<Vec<i64>>,
    /// For each job, the last end of the placed tasks.
    ends: Vec<i64>,
    value: i128,
}

impl Search {
    fn new(instance: &Instance, objective: Objective, cap: Time) -> Self {
        let tasks =
            |(id, job): (usize, SimpleJob<'_>)| (0..job.tasks()).map(|_| small(id, job)).collect::<Vec<Small>>();
        let mut jobs: Vec<Small> = instance.simple_jobs().enumerate().flat_map(tasks).collect();
        if objective == Objective::MeanFlow {
            jobs.iter_mut().for_each(|job| job.weight = 1);
        }
        let mut smith: Vec<usize> = (0..jobs.len()).collect();
        smith.sort_by(|&a, &b| {
            (jobs[a].least_area * jobs[b].weight).cmp(&(jobs[b].least_area * jobs[a].weight)).then(a.cmp(&b))
        });
        let processors = i128::from(instance.processors());
        let (classes, node_sizes) = classes(instance);
        Self { objective, jobs, smith, classes, node_sizes, processors, cap: cap.ticks(), best: i128::MAX }
    }

    fn descend(&mut self, partial: &Partial) {
        if partial.left == 0 {
            self.best = self.best.min(partial.value);
            return;
        }
        if self.lower(partial) >= self.best {
            return;
        }
        let sizes: Vec<usize> = self.classes.iter().map(|class| class.size).collect();
        let mut children = Vec::new();
        let allowed = |split: &[usize]| self.holds_one_node_in_part(split) && self.prefers_first(partial, split);
        let left = |job: usize| partial.left & (1 << job) != 0;
        for (job, small) in self.jobs.iter().enumerate().filter(|&(job, _)| left(job)) {
            if (0..job).any(|other| left(other) && self.jobs[other].equals(small)) {
                continue;
            }
            for &(allotment, time) in &small.choices {
                for split in splits(allotment, &sizes).into_iter().filter(|split| allowed(split)) {
                    children.extend(self.place(partial, job, time, &split));
                }
            }
        }
        // Good schedules come first, so that the bound prunes early. The result does not depend on the order.
        children.sort_by_cached_key(|child| (self.lower(child), child.last.0));
        for child in &children {
            self.descend(child);
        }
    }

    /// Returns whether a job on `split[c]` processors of each class c holds at most one node in part. Returns `true` if
    /// best placement is not required.
    fn holds_one_node_in_part(&self, split: &[usize]) -> bool {
        let in_part = (0..self.node_sizes.len()).filter(|&node| {
            let of_node = self.classes.iter().zip(split).filter(|(class, _)| class.node == node);
            let held: usize = of_node.map(|(_, count)| count).sum();
            held > 0 && held < self.node_sizes[node]
        });
        in_part.count() <= 1
    }

    /// Compares nodes that have no closed times and are free from the same instants. Returns whether, of each two such
    /// nodes, the first gets at least as many processors as the second.
    fn prefers_first(&self, partial: &Partial, split: &[usize]) -> bool {
        let is_plain = |at: usize| {
            self.classes[at].closed.is_empty() && self.classes[at].size == self.node_sizes[self.classes[at].node]
        };
        let alike = |a: usize, b: usize| is_plain(a) && is_plain(b) && partial.free[a] == partial.free[b];
        (0..split.len()).all(|b| (0..b).all(|a| split[a] >= split[b] || !alike(a, b)))
    }

    /// Places a job on `split[c]` processors of each class. Returns `None` if this order of starts is not searched.
    fn place(&self, partial: &Partial, job: usize, time: i64, split: &[usize]) -> Option<Partial> {
        let small = &self.jobs[job];
        let used = || split.iter().zip(&self.classes).zip(&partial.free).filter(|((count, _), _)| **count > 0);
        let mut start = used().map(|((count, _), free)| free[count - 1]).max()?.max(small.release);
        let mut closed: Vec<(i64, i64)> = used().flat_map(|((_, class), _)| class.closed.clone()).collect();
        closed.sort_unstable();
        // The periods are in increasing order of starts, so a period that has been passed never overlaps the job again.
        for (from, until) in closed {
            if from < start + time && start < until {
                start = until;
            }
        }
        if partial.left != (1 << self.jobs.len()) - 1 && (start, job) < partial.last {
            return None;
        }
        if start + time > self.cap {
            return None;
        }
        let mut free = partial.free.clone();
        for (count, class) in split.iter().zip(&mut free) {
            for (index, from) in class.iter_mut().enumerate() {
                *from = if index < *count { start + time } else { (*from).max(start) };
            }
            class.sort_unstable();
        }
        let end = start + time;
        let mut ends = partial.ends.clone();
        let later = (end - ends[small.job]).max(0);
        ends[small.job] += later;
        let value = match self.objective {
            Objective::Makespan => partial.value.max(i128::from(end)),
            Objective::WeightedCompletion | Objective::MeanFlow => partial.value + small.weight * i128::from(later),
            Objective::MaxTardiness => partial.value.max(small.late(end)),
            Objective::WeightedTardiness => {
                partial.value + small.weight * (small.late(ends[small.job]) - small.late(ends[small.job] - later))
            }
            _ => unreachable!("{NOT_OF_TIME}"),
        };
        Some(Partial { left: partial.left & !(1 << job), last: (start, job), free, ends, value })
    }

    /// Returns a lower bound on the value of all completions of this partial schedule.
    fn lower(&self, partial: &Partial) -> i128 {
        let left = || self.smith.iter().filter(|&&job| partial.left & (1 << job) != 0).map(|&job| &self.jobs[job]);
        let soonest = |small: &Small| i128::from(small.release.max(partial.last.0) + small.shortest);
        match self.objective {
            Objective::MaxTardiness => {
                let late = |small: &Small| small.late(small.release.max(partial.last.0) + small.shortest);
                partial.value.max(left().map(late).max().unwrap_or(0))
            }
            Objective::WeightedTardiness => {
                let mut ends = partial.ends.clone();
                for small in left() {
                    ends[small.job] = ends[small.job].max(small.release.max(partial.last.0) + small.shortest);
                }
                let first = |job: usize| self.jobs.iter().find(|small| small.job == job);
                (0..ends.len()).filter_map(|job| Some(first(job)?.weight * first(job)?.late(ends[job]))).sum()
            }
            Objective::Makespan => {
                // All held processors are released by the makespan, so their area counts in addition to the area of the
                // unplaced jobs.
                let held: i128 = partial.free.iter().flatten().map(|&from| i128::from(from)).sum();
                let area = held + left().map(|small| small.least_area).sum::<i128>();
                let longest = left().map(soonest).max().unwrap_or(0);
                // The ceiling of a quotient of non-negative integers.
                partial.value.max(longest).max((area + self.processors - 1) / self.processors)
            }
            Objective::WeightedCompletion | Objective::MeanFlow if self.jobs.iter().any(|small| small.bag) => {
                // Each job ends no sooner than any of its tasks.
                let mut ends = partial.ends.clone();
                for small in left() {
                    ends[small.job] = ends[small.job].max(small.release.max(partial.last.0) + small.shortest);
                }
                let first = |job: usize| self.jobs.iter().find(|small| small.job == job);
                (0..ends.len()).filter_map(|job| Some(first(job)?.weight * i128::from(ends[job]))).sum()
            }
            Objective::WeightedCompletion | Objective::MeanFlow => {
                let alone: i128 = left().map(|small| small.weight * soonest(small)).sum();
                // When the first k of the unplaced jobs have ended, all processors together have completed the areas of
                // these k jobs since the last start. The sum is least if the processors are one fast machine that runs
                // the jobs in Smith's order. The bound ignores that some processors are still held after the last
                // start, because they may be held longer than all unplaced jobs.
                let mut area = self.processors * i128::from(partial.last.0);
                let mut fast = 0;
                for small in left() {
                    area += small.least_area;
                    fast += small.weight * area;
                }
                partial.value + alone.max((fast + self.processors - 1) / self.processors)
            }
            _ => unreachable!("{NOT_OF_TIME}"),
        }
    }
}

fn small(id: usize, job: SimpleJob<'_>) -> Small {
    let profile = job.profile();
    let mut choices: Vec<(usize, i64)> = Vec::new();
    for allotment in profile.min_processors()..=profile.max_processors() {
        let time = profile.time(allotment).ticks();
        if choices.iter().all(|&(_, shorter)| time < shorter) {
            choices.push((allotment as usize, time));
        }
    }
    let area = |&(allotment, time): &(usize, i64)| allotment as i128 * i128::from(time);
    Small {
        job: id,
        bag: job.is_bag(),
        release: job.release.ticks(),
        weight: i128::from(job.weight.millionths()),
        due: job.deadline.map(Time::ticks),
        shortest: choices.iter().map(|&(_, time)| time).min().expect("a job has an allotment"),
        least_area: choices.iter().map(area).min().expect("a job has an allotment"),
        choices,
    }
}

/// Returns the classes of processors, and the sizes of the nodes. The processors of a class are closed at the same
/// times. If best placement is required, they also belong to one node.
fn classes(instance: &Instance) -> (Vec<Class>, Vec<usize>) {
    let platform = instance.platform();
    let compact = platform.is_compact();
    let sizes = platform.nodes().iter().map(|node| node.processors as usize);
    let mut classes: Vec<Class> = Vec::new();
    for id in 0..instance.processors() {
        let named = instance.unavailable().iter().filter(|period| period.processors.contains(id));
        let closed: Vec<(i64, i64)> = named.map(|period| (period.start.ticks(), period.end.ticks())).collect();
        let node = if compact { platform.node_of(id) } else { 0 };
        match classes.iter_mut().find(|class| class.closed == closed && class.node == node) {
            Some(class) => class.size += 1,
            None => classes.push(Class { node, closed, size: 1 }),
        }
    }
    (classes, if compact { sizes.collect() } else { vec![instance.processors() as usize] })
}

/// Returns all ways to take `count` processors from classes of these sizes.
fn splits(count: usize, sizes: &[usize]) -> Vec<Vec<usize>> {
    let Some((&size, rest)) = sizes.split_first() else {
        return if count == 0 { vec![Vec::new()] } else { Vec::new() };
    };
    (0..=count.min(size))
        .flat_map(|first| splits(count - first, rest).into_iter().map(move |tail| [vec![first], tail].concat()))
        .collect()
}
