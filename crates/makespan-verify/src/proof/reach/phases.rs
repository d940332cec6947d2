//! Phases of a graph. A phase is a task, its dominator and the tasks between them.

use super::{JobReach, Link, NEVER};

/// Maximum effort for the phases of a job. The effort for a phase is about the number of its tasks, multiplied by the
/// number of pairs of kinds of nodes.
const MAX_LOOKED_AT: usize = 1 << 19;
/// The rate of a kind of node that is the fastest kind for every task.
const RATE: i128 = 1 << 20;

/// A task `to` and its dominator `from`: every path to `to` leads through `from`. All tasks between them run after
/// `from` and before `to`.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) from: u32,
    pub(super) to: u32,
    /// For each kind of node, the minimum time from the end of `from` to the start of `to` if both tasks are on one
    /// node.
    same: Vec<i128>,
    /// For each pair of kinds of nodes (one for `from` and one for `to`), the minimum time from the end of `from` to
    /// the start of `to` if the two tasks are on distinct nodes.
    apart: Vec<i128>,
}

/// The kinds of the nodes on which the first and the last task of a phase run.
#[derive(Clone, Copy)]
enum Home {
    Same(usize),
    Apart(usize, usize),
}

/// A task between the first and the last task of a phase.
struct Inner {
    task: usize,
    fastest: i128,
    /// Work of the task. On each kind of node, the time of the task is multiplied by the rate of the kind. The work is
    /// the minimum of these products.
    work: i128,
    /// Minimum time from the end of the phase's first task to the start of this task, if the two tasks are on different
    /// nodes.
    after: i128,
    /// Minimum time from the end of this task to the start of the phase's last task, if the two tasks are on different
    /// nodes.
    before: i128,
}

/// The tasks of a phase, with two orders of their indices: by [`Inner::after`] and by [`Inner::before`].
struct PhaseTasks<'a> {
    reaching: &'a JobReach,
    rates: &'a [i128],
    /// The kinds of nodes, sorted by descending rate.
    order: &'a [usize],
    tasks: Vec<Inner>,
    by_after: Vec<usize>,
    by_before: Vec<usize>,
}

impl Phase {
    /// Returns the earliest start of the phase's last task on a node of this kind. For each kind of node, `ends`
    /// returns the earliest end of the first task.
    pub(super) fn after(&self, kind: usize, kinds: &[(u32, i128)], ends: impl Fn(usize) -> i128) -> i128 {
        self.least(kind, kinds, ends, |other| self.apart[other * kinds.len() + kind])
    }

    /// Returns the minimum time from the end of the phase's first task to the end of the job, if this task runs on a
    /// node of this kind. For each kind of node, `ends` returns the minimum time from the start of the last task to the
    /// end of the job.
    pub(super) fn before(&self, kind: usize, kinds: &[(u32, i128)], ends: impl Fn(usize) -> i128) -> i128 {
        self.least(kind, kinds, ends, |other| self.apart[kind * kinds.len() + other])
    }

    fn least(
        &self,
        kind: usize,
        kinds: &[(u32, i128)],
        ends: impl Fn(usize) -> i128,
        apart: impl Fn(usize) -> i128,
    ) -> i128 {
        let others = (0..kinds.len()).filter(|&other| other != kind || kinds[kind].0 > 1);
        let elsewhere = others.map(|other| ends(other) + apart(other));
        elsewhere.fold(ends(kind) + self.same[kind], i128::min).min(NEVER)
    }
}

/// Returns the phases of a job. Skips a phase if it would exceed the limit [`MAX_LOOKED_AT`].
pub(super) fn of(reaching: &JobReach) -> Vec<Phase> {
    let kinds = reaching.kinds.len();
    let mut left = MAX_LOOKED_AT;
    let rates = rates(reaching);
    let mut order: Vec<usize> = (0..kinds).collect();
    order.sort_by_key(|&kind| (std::cmp::Reverse(rates[kind]), kind));
    let mut phases = Vec::new();
    for (to, from) in dominators(reaching) {
        let inner = inner(reaching, from, to);
        let cost = inner.len() * kinds * (kinds + 1);
        if cost > left {
            continue;
        }
        left -= cost;
        let between = PhaseTasks::new(reaching, &rates, &order, &inner, (from, to));
        let same = (0..kinds).map(|kind| between.least(Home::Same(kind))).collect();
        let pairs = (0..kinds).flat_map(|first| (0..kinds).map(move |last| (first, last)));
        let apart = pairs.map(|(first, last)| between.least(Home::Apart(first, last))).collect();
        phases.push(Phase { from, to, same, apart });
    }
    phases
}

/// Returns, for each kind of node, the rate of a processor, in units of 1 / `RATE`. For one task, the rate is the
/// shortest time of the task, divided by its time on this kind. The result is about the mean over the tasks that can
/// run on this kind. The bound is valid for any rates.
fn rates(reaching: &JobReach) -> Vec<i128> {
    let kinds = reaching.kinds.len();
    let mut sums = vec![(0_i128, 1_i128); kinds];
    for times in reaching.times.chunks(kinds) {
        let fastest = times.iter().copied().min().unwrap_or(0);
        for (sum, &time) in sums.iter_mut().zip(times).filter(|(_, time)| **time < NEVER) {
            *sum = (sum.0 + RATE * fastest / time.max(1), sum.1 + 1);
        }
    }
    sums.into_iter().map(|(sum, count)| (sum / count).max(1)).collect()
}

/// Returns each task that has several predecessors and a dominator, with its immediate dominator. Source: K. D.
/// Cooper, T. J. Harvey, K. Kennedy, "A simple, fast dominance algorithm", 2001.
fn dominators(reaching: &JobReach) -> Vec<(u32, u32)> {
    let tasks = reaching.order.len();
    let mut place = vec![0; tasks];
    reaching.order.iter().enumerate().for_each(|(at, &task)| place[task as usize] = at);
    // `above` contains the dominator of each task. The entry of a task without a dominator is the task itself.
    let mut above: Vec<u32> = (0..tasks as u32).collect();
    let mut found = Vec::new();
    for &task in &reaching.order {
        let before = &reaching.before[task as usize];
        let meet = |one: Option<u32>, other: u32| {
            let (mut one, mut other) = (one?, other);
            while one != other {
                let later = if place[one as usize] > place[other as usize] { &mut one } else { &mut other };
                if above[*later as usize] == *later {
                    return None;
                }
                *later = above[*later as usize];
            }
            Some(one)
        };
        let Some(first) = before.first() else { continue };
        if let Some(dominator) = before.iter().map(|link| link.task).fold(Some(first.task), meet) {
            above[task as usize] = dominator;
            if before.len() > 1 {
                found.push((task, dominator));
            }
        }
    }
    found
}

/// Returns the tasks between the dominator `from` and the task `to`, each after the tasks that it waits for.
fn inner(reaching: &JobReach, from: u32, to: u32) -> Vec<u32> {
    let mut seen = vec![false; reaching.order.len()];
    let mut open = vec![to];
    while let Some(task) = open.pop() {
        for link in &reaching.before[task as usize] {
            if link.task != from && !seen[link.task as usize] {
                seen[link.task as usize] = true;
                open.push(link.task);
            }
        }
    }
    reaching.order.iter().copied().filter(|&task| seen[task as usize]).collect()
}

/// Returns, for each task of a phase, two minimum times between the task and the task `end`, which is the first or the
/// last task of the phase. The first value is valid if the two tasks run on one node, and the second value if they run
/// on different nodes. The result is `None` for a task outside the phase. `links` contains, for each task, its
/// neighbours towards `end`. `tasks` must be sorted along the edges, beginning at `end`.
fn delays<'a>(
    reaching: &JobReach,
    tasks: impl Iterator<Item = &'a u32>,
    end: u32,
    links: &[Vec<Link>],
) -> Vec<Option<(i128, i128)>> {
    let mut delays: Vec<Option<(i128, i128)>> = vec![None; reaching.order.len()];
    delays[end as usize] = Some((0, NEVER));
    for &task in tasks {
        let (mut here, mut elsewhere) = (0, 0);
        for link in &links[task as usize] {
            let Some((near, far)) = delays[link.task as usize] else { continue };
            let time = if link.task == end { 0 } else { reaching.fastest(link.task as usize) };
            here = (near + time + link.near).min(far + time + link.far).max(here);
            elsewhere = (near + time + link.far).min(far + time + link.near.min(link.far)).max(elsewhere);
        }
        delays[task as usize] = Some((here.min(NEVER), elsewhere.min(NEVER)));
    }
    delays
}

impl<'a> PhaseTasks<'a> {
    fn new(
        reaching: &'a JobReach,
        rates: &'a [i128],
        order: &'a [usize],
        inner: &[u32],
        (from, to): (u32, u32),
    ) -> Self {
        let after = delays(reaching, inner.iter(), from, &reaching.before);
        let before = delays(reaching, inner.iter().rev(), to, &reaching.after);
        let elsewhere =
            |delays: &[Option<(i128, i128)>], task: usize| delays[task].map_or(0, |(_, elsewhere)| elsewhere);
        let each = inner.iter().map(|&task| {
            let task = task as usize;
            let work = |kind: usize| reaching.time(task, kind).saturating_mul(rates[kind]);
            Inner {
                task,
                fastest: reaching.fastest(task),
                work: (0..rates.len()).map(work).min().unwrap_or(0),
                after: elsewhere(&after, task),
                before: elsewhere(&before, task),
            }
        });
        let tasks: Vec<Inner> = each.collect();
        let sorted = |key: fn(&Inner) -> i128| {
            let mut places: Vec<usize> = (0..tasks.len()).collect();
            places.sort_by_key(|&at| (key(&tasks[at]), at));
            places
        };
        let (by_after, by_before) = (sorted(|inner| inner.after), sorted(|inner| inner.before));
        Self { reaching, rates, order, tasks, by_after, by_before }
    }

    /// Computes, by bisection, the smallest length of the phase that [`Self::fits`] does not refute.
    fn least(&self, home: Home) -> i128 {
        // The upper limit is later than the end of every schedule.
        let (mut low, mut high) = (0, i128::from(i64::MAX));
        if !self.fits(high, home) {
            return NEVER;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.fits(middle, home) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Returns false if the phase cannot have this length. The home nodes are the nodes of its first and its last task.
    /// The length is possible only if two conditions hold: the tasks that can run only on the home nodes fit onto these
    /// nodes, and all tasks together fit onto all nodes.
    ///
    /// A processor outside the home nodes is idle until the data for the first task that it runs have arrived. The
    /// processor is also idle while the data of the last task that it runs are sent. Distinct processors begin with
    /// distinct tasks. So the i-th smallest of these losses at the beginning is at least the i-th smallest value of
    /// [`Inner::after`]. In the same way, [`Inner::before`] limits the losses at the end. The check assigns the
    /// smallest losses to the fastest processors, so the bound is valid for every assignment.
    fn fits(&self, length: i128, home: Home) -> bool {
        let kinds = &self.reaching.kinds;
        let others = |kind: usize| match home {
            Home::Same(own) => i128::from(kinds[kind].0) - i128::from(own == kind),
            Home::Apart(first, last) => {
                i128::from(kinds[kind].0) - i128::from(first == kind) - i128::from(last == kind)
            }
        };
        let is_alone = (0..kinds.len()).all(|kind| others(kind) <= 0);
        let away = |inner: &Inner| !is_alone && inner.after + inner.fastest + inner.before <= length;
        let (mut forced, mut all) = (0_i128, 0_i128);
        for inner in &self.tasks {
            if away(inner) {
                all = all.saturating_add(inner.work);
            } else {
                let Some(work) = self.at_home(inner, length, home) else { return false };
                forced = forced.saturating_add(work);
                all = all.saturating_add(work);
            }
        }
        let mut room = self.home(length, home);
        if forced > room {
            return false;
        }
        let mut places = [&self.by_after, &self.by_before]
            .map(|sorted| sorted.iter().map(|&at| &self.tasks[at]).filter(|inner| away(inner)));
        for &kind in self.order {
            for _ in 0..others(kind).max(0) * kinds[kind].1 {
                if room >= all {
                    return true;
                }
                let [after, before] = &mut places;
                let Some((first, last)) = after.next().zip(before.next()) else { return room >= all };
                room += self.rates[kind] * (length - first.after - last.before).max(0);
            }
        }
        room >= all
    }

    /// Returns the minimum work of a task that runs on the node of the phase's first or last task. Returns `None` if
    /// the task takes too long on both nodes.
    fn at_home(&self, inner: &Inner, length: i128, home: Home) -> Option<i128> {
        let on = |kind: usize, lost: i128| {
            let time = self.reaching.time(inner.task, kind);
            (lost + time <= length).then(|| time * self.rates[kind])
        };
        match home {
            Home::Same(kind) => on(kind, 0),
            Home::Apart(first, last) => [on(first, inner.before), on(last, inner.after)].into_iter().flatten().min(),
        }
    }

    /// Returns the work that the nodes of the phase's first and last task can do within `length`.
    fn home(&self, length: i128, home: Home) -> i128 {
        let room = |kind: usize, lost: Option<i128>| {
            let length = lost.map_or(0, |lost| (length - lost).max(0));
            self.reaching.kinds[kind].1 * self.rates[kind] * length
        };
        match home {
            Home::Same(kind) => room(kind, Some(0)),
            Home::Apart(first, last) => {
                let lost = |kind: usize, of: fn(&Inner) -> i128| {
                    let able = |inner: &&Inner| of(inner) + self.reaching.time(inner.task, kind) <= length;
                    self.tasks.iter().filter(able).map(of).min()
                };
                room(first, lost(first, |inner| inner.before)) + room(last, lost(last, |inner| inner.after))
            }
        }
    }
}
