//! Event simulation of a queue. When a running job ends, the scheduler runs a cycle. In a cycle, pending jobs start.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use makespan_core::CycleCounts;

use super::bid::JobCandidate;
use super::bits::NodeBits;
use super::looks::{CycleParameters, typical_limit};
use super::model::Model;
use super::outcome::ForecastOutcome;
use super::ready::{Links, Ready};
use super::times::limit;
use super::world::{Gap, NodeReservation, RunningUsage, World};

/// Cost of simulating a job (draw of its run time, arrival, start and end), as a number of examined nodes.
const JOB_AS_LOOKS: u64 = 20;

/// A limit that delayed jobs.
#[derive(Clone, Copy, Debug)]
struct Limited {
    counter: usize,
    /// The instant from which a job no longer waited for this limit, but for nodes. `None` if there is no such instant.
    lacks_nodes_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(usize),
    /// The job can no longer meet its deadline: its latest possible start was a second ago.
    Expire(usize),
    Eligible(usize),
    Turn,
    Look,
    /// Jobs that are not in the queue release their part of a counter.
    Release(usize),
}

/// A function that returns the simulated run time of a job in seconds. For a job that already runs, this time includes
/// the elapsed time.
pub(super) type Lasts<'a> = &'a dyn Fn(usize) -> i64;

pub(super) struct ForecastSimulation<'a> {
    model: &'a Model<'a>,
    links: &'a Links,
    looks: CycleParameters,
    lasts: Lasts<'a>,
    pub world: World<'a>,
    events: BinaryHeap<Reverse<(i64, Event)>>,
    /// The bids of pending jobs, as positions in `Model::bids`. Some of these jobs may have started in the meantime.
    waiting: Vec<u32>,
    /// For each partition, the number of bids in `waiting` whose jobs have not started.
    waiting_in: Vec<usize>,
    entered: Vec<bool>,
    /// Jobs that must start together.
    teams: HashMap<usize, Vec<usize>>,
    blocked: NodeBits,
    last_look: Option<i64>,
    /// The instant of the cycle before the current one. It is a backfill cycle if the current cycle is one, and
    /// otherwise a cycle for the head of the queue.
    last_cycle: i64,
    last_head: Option<i64>,
    /// The last cycle for the head of the queue that visited all jobs.
    last_all: Option<i64>,
    next_look: Option<i64>,
    outcome: ForecastOutcome,
    /// True if the outcome contains all data. If false, the outcome contains only starts and ends.
    tells: bool,
    /// For each site, the last job that ended on the site in the simulation, and the end of this job.
    last_on: Vec<Option<(i64, usize)>>,
    /// For each counter, the last job that added to the counter and ended in the simulation, and the end of this job.
    last_of: Vec<Option<(i64, usize)>>,
    /// For each group of jobs that add equal amounts to the same counters, the last limit that delayed the group.
    limited: Vec<Option<Limited>>,
    /// For each of these groups, the last cycle in which a limit delayed the group.
    limited_at: Vec<u64>,
    /// For each shape, the last cycle in which a job of this shape did not fit.
    failed: Vec<u64>,
    places: Vec<(u64, i64)>,
    look: u64,
    /// For each job that was started with less time than its limit, the granted time in seconds.
    limits: Vec<Option<i64>>,
    /// An upper bound on the number of bids in `waiting` whose jobs have started.
    stale: usize,
    /// The number of bids at the front of `waiting` whose jobs have started.
    head: usize,
    /// For each job that did not start in the first cycle although enough nodes were free, the time for which these
    /// nodes were free.
    gaps: Option<HashMap<usize, Gap>>,
}

impl<'a> ForecastSimulation<'a> {
    pub(super) fn new(model: &'a Model<'a>, links: &'a Links, looks: CycleParameters, lasts: Lasts<'a>) -> Self {
        let jobs = model.queue.jobs.len();
        let outcome = ForecastOutcome {
            started: vec![None; jobs],
            ended: vec![None; jobs],
            ends: vec![None; jobs],
            expired: vec![None; jobs],
            sites: vec![Vec::new(); jobs],
            after: vec![Vec::new(); jobs],
            decisive: vec![0; jobs],
            reservation: vec![None; jobs],
            limit: vec![None; jobs],
            looked: 0,
        };
        let mut play = Self {
            model,
            links,
            looks,
            lasts,
            world: World::of(model),
            events: BinaryHeap::new(),
            waiting: Vec::new(),
            waiting_in: vec![0; model.queue.partitions.len()],
            entered: vec![false; jobs],
            teams: teams(model),
            blocked: NodeBits::new(model.sites.len()),
            last_look: None,
            last_cycle: i64::MIN,
            last_head: None,
            last_all: None,
            next_look: None,
            outcome,
            tells: true,
            last_on: vec![None; model.sites.len()],
            last_of: vec![None; model.counters.len()],
            limited: vec![None; model.alike.groups],
            limited_at: vec![0; model.alike.groups],
            places: vec![(0, i64::MIN); model.shapes.len()],
            failed: vec![0; model.shapes.len()],
            look: 0,
            limits: vec![None; jobs],
            stale: 0,
            head: 0,
            gaps: None,
        };
        play.begin();
        play
    }

    /// Returns this simulation, changed to record only starts and ends.
    pub(super) fn in_short(mut self) -> Self {
        self.tells = false;
        self
    }

    /// Adds the running jobs and all events whose instants are known: ends of running jobs, arrivals, and starts of
    /// reservations.
    fn begin(&mut self) {
        let (queue, now) = (self.model.queue, self.model.queue.now);
        for (index, job) in queue.jobs.iter().enumerate() {
            let Some(run) = &job.run else { continue };
            let holds = run.holds.iter().map(|holding| self.world.hold(holding)).collect();
            let by_limit = run.started.saturating_add(limit(job));
            let believed = run.ends_by.unwrap_or(by_limit).max(now + 1);
            let ends = run.started.saturating_add((self.lasts)(index)).min(believed).max(now + 1);
            let number = self.world.take(RunningUsage { job: Some(index), believed, holds });
            self.world.count_falling(index, believed, true);
            self.outcome.started[index] = Some(run.started);
            self.outcome.ends[index] = Some(ends);
            self.events.push(Reverse((ends, Event::End(number))));
        }
        let typical = typical_limit(self.model);
        for holding in &queue.hidden {
            let holds = vec![self.world.hold(holding)];
            let number = self.world.take(RunningUsage { job: None, believed: now.saturating_add(typical), holds });
            self.events.push(Reverse((now.saturating_add((typical / 2).max(1)), Event::End(number))));
        }
        // Slurm counts licences of jobs that have just ended. If there may be jobs that this user cannot see, they may
        // hold these licences.
        let released = if queue.hidden.is_empty() { 1 } else { (typical / 2).max(1) };
        for (counter, _) in self.model.counters.iter().enumerate().filter(|(_, of)| of.unseen > 0) {
            self.events.push(Reverse((now.saturating_add(released), Event::Release(counter))));
        }
        for reservation in &queue.reservations {
            for at in [reservation.start, reservation.end].into_iter().filter(|&at| at > now) {
                self.events.push(Reverse((at, Event::Turn)));
            }
        }
        for index in (0..queue.jobs.len()).filter(|&index| queue.jobs[index].run.is_none()) {
            let latest = self.model.latest[index];
            if self.looks.heeds_deadlines && (now..i64::MAX).contains(&latest) {
                self.events.push(Reverse((latest + 1, Event::Expire(index))));
            }
            self.expect(index);
        }
    }

    /// Adds a job to the queue. If the job becomes eligible later, schedules its arrival. If the job can never start,
    /// has no effect.
    fn expect(&mut self, job: usize) {
        let of = &self.model.queue.jobs[job];
        if of.run.is_some() || self.model.never[job].is_some() || self.links.hopeless[job].is_some() {
            return;
        }
        let ForecastOutcome { started, ended, expired, .. } = &self.outcome;
        let Ready::At(ready) = self.links.ready(job, started, ended, expired) else { return };
        // If a job waits for other jobs or for its turn in an array, Slurm does not report when the job becomes
        // eligible.
        let at = ready.max(of.eligible.unwrap_or(i64::MIN));
        if at > self.world.now {
            self.events.push(Reverse((at, Event::Eligible(job))));
        } else {
            self.enter(job);
        }
    }

    fn enter(&mut self, job: usize) {
        if self.outcome.started[job].is_some() || self.outcome.expired[job].is_some() {
            return;
        }
        self.count_waiting(job, true);
        for &bid in &self.model.bids_of[job] {
            if let Err(place) = self.waiting.binary_search(&bid) {
                self.waiting.insert(place, bid);
                self.head = self.head.min(place);
            }
        }
    }

    fn count_waiting(&mut self, job: usize, comes: bool) {
        if std::mem::replace(&mut self.entered[job], comes) == comes {
            return;
        }
        for &bid in &self.model.bids_of[job] {
            let count = &mut self.waiting_in[self.model.bids[bid as usize].partition];
            *count = if comes { *count + 1 } else { *count - 1 };
        }
    }

    /// Runs the first scheduling cycle. The state afterwards shows why jobs do not start now.
    pub(super) fn first_look(&mut self) {
        self.gaps = Some(HashMap::new());
        self.decide();
    }

    /// Runs the simulation until no job is pending or no event is left.
    pub(super) fn run(mut self) -> ForecastOutcome {
        self.decide();
        while let Some(&Reverse((now, _))) = self.events.peek() {
            if self.waiting.is_empty() && !self.is_more_expected() {
                break;
            }
            self.world.now = now;
            let mut is_cycle_due = false;
            while let Some(&Reverse((at, event))) = self.events.peek() {
                if at > now {
                    break;
                }
                self.events.pop();
                is_cycle_due |= !self.is_unseen(event);
                self.happen(event);
            }
            if is_cycle_due {
                self.decide();
            }
        }
        self.outcome.looked = self.world.looked.get() + self.model.queue.jobs.len() as u64 * JOB_AS_LOOKS;
        self.outcome
    }

    /// Returns true if some jobs that wait for other jobs now may still arrive.
    fn is_more_expected(&self) -> bool {
        let jobs = &self.model.queue.jobs;
        (0..jobs.len()).any(|job| {
            self.outcome.started[job].is_none()
                && self.outcome.expired[job].is_none()
                && self.model.never[job].is_none()
                && self.links.hopeless[job].is_none()
        })
    }

    /// Returns true if an event changes nothing for the scheduler: a job expires before it becomes eligible, and no other
    /// job depends on it.
    fn is_unseen(&self, event: Event) -> bool {
        let Event::Expire(job) = event else { return false };
        self.outcome.started[job].is_none() && !self.entered[job] && self.links.behind[job].is_empty()
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::End(number) => {
                let Some(running) = self.world.give_back(number) else { return };
                let Some(job) = running.job else { return };
                self.world.count(job, running.believed, false);
                self.outcome.ended[job] = Some(self.world.now);
                if self.tells {
                    let ended = Some((self.world.now, job));
                    running.holds.iter().for_each(|hold| self.last_on[hold.site as usize] = ended);
                    self.model.uses[job].iter().for_each(|own| self.last_of[own.0] = ended);
                }
                self.tell(job);
            }
            Event::Expire(job) if self.outcome.started[job].is_none() => {
                self.outcome.expired[job] = Some(self.world.now);
                self.count_waiting(job, false);
                self.waiting.retain(|&bid| self.model.bids[bid as usize].job != job);
                self.head = 0;
                self.tell(job);
            }
            Event::Eligible(job) => self.enter(job),
            Event::Release(counter) => {
                let used = &mut self.world.used[counter];
                *used = used.saturating_sub(self.model.counters[counter].unseen);
            }
            Event::Turn | Event::Expire(_) => {}
            Event::Look => self.next_look = None,
        }
    }

    fn tell(&mut self, job: usize) {
        let links = self.links;
        for &other in &links.behind[job] {
            self.expect(other);
        }
    }

    /// Runs a cycle for the head of the queue. If the interval has passed, also runs a backfill cycle.
    fn decide(&mut self) {
        let now = self.world.now;
        let soonest = self.last_head.map_or(now, |last| last.saturating_add(self.looks.pause));
        if now < soonest {
            return self.look_at(soonest);
        }
        self.last_cycle = self.last_head.unwrap_or(i64::MIN);
        self.last_head = Some(now);
        let due = self.last_look.is_none_or(|last| now >= last.saturating_add(self.looks.interval));
        self.look += 1;
        self.start_the_head();
        self.forget_started();
        if !self.looks.fills {
            return;
        }
        if due {
            self.last_cycle = self.last_look.unwrap_or(i64::MIN);
            self.last_look = Some(now);
            self.fill_gaps();
            self.forget_started();
        } else if !self.waiting.is_empty() {
            self.look_at(self.last_look.unwrap_or(now).saturating_add(self.looks.interval));
        }
    }

    /// Schedules a cycle at an instant, unless an earlier cycle is already scheduled.
    fn look_at(&mut self, at: i64) {
        if self.next_look.is_none_or(|next| at < next) {
            self.next_look = Some(at);
            self.events.push(Reverse((at, Event::Look)));
        }
    }

    /// Removes the bids of started jobs from `waiting` if they are more than a sixteenth of `waiting`.
    fn forget_started(&mut self) {
        if self.stale * 16 > self.waiting.len() {
            (self.stale, self.head) = (0, 0);
            self.waiting.retain(|&bid| self.outcome.started[self.model.bids[bid as usize].job].is_none());
        }
    }

    /// Starts jobs in the order of the queue. If a job does not fit, no later job of its partition starts in this cycle.
    fn start_the_head(&mut self) {
        self.blocked.clear();
        // Partitions without pending jobs are closed from the beginning.
        let mut closed: Vec<bool> = self.waiting_in.iter().map(|&count| count == 0).collect();
        let (mut looked, mut open) = (0, closed.iter().filter(|&&is_closed| !is_closed).count());
        self.skip_started();
        let depth = self.depth_of_head();
        let mut by_partition = CycleCounts::default();
        let mut at = self.head;
        while at < self.waiting.len() && open > 0 {
            if looked >= depth {
                return self.look_at_all_later();
            }
            let bid = self.model.bids[self.waiting[at] as usize];
            at += 1;
            if closed[bid.partition] || self.outcome.started[bid.job].is_some() {
                continue;
            }
            looked += 1;
            if by_partition.is_beyond(bid.partition, self.looks.head_of_partition) {
                continue;
            }
            if self.is_limited(bid.job) {
                let (behind, count) = self.behind(at, depth);
                (at, looked) = (behind, looked + count);
                continue;
            }
            if !self.model.queue.partitions[bid.partition].is_up() {
                continue;
            }
            let blocked = std::mem::replace(&mut self.blocked, NodeBits::new(0));
            let started = self.try_start(bid, Some(&blocked), false);
            self.blocked = blocked;
            if !started {
                self.lacks_nodes(bid.job);
            }
            // If the next bid has the same job and partition, try this bid first: its way to satisfy the features may
            // fit.
            let has_more = self.waiting.get(at).map(|&next| self.model.bids[next as usize]);
            let has_more = has_more.is_some_and(|next| next.job == bid.job && next.partition == bid.partition);
            // A job that waits for a reservation of Slurm does not delay other jobs.
            let blocks = self.model.shapes[bid.shape].reservation.is_none() && self.is_reserved(bid.job);
            if !started && !has_more && blocks {
                closed[bid.partition] = true;
                open -= 1;
                self.blocked.add(&self.model.partition_sets[bid.partition]);
            }
        }
    }

    /// Returns the maximum number of jobs in a cycle for the head of the queue that takes place now. If a cycle for all
    /// jobs is due, this cycle visits all jobs.
    fn depth_of_head(&mut self) -> usize {
        let now = self.world.now;
        let is_due = |all: i64| self.last_all.is_none_or(|last| now >= last.saturating_add(all));
        if self.looks.all.is_some_and(is_due) {
            self.last_all = Some(now);
            return usize::MAX;
        }
        self.looks.head
    }

    /// Schedules a cycle for all jobs, because the current cycle has not visited some jobs.
    fn look_at_all_later(&mut self) {
        if let Some(all) = self.looks.all {
            self.look_at(self.last_all.unwrap_or(self.world.now).saturating_add(all));
        }
    }

    /// Returns the bids for a backfill cycle. If a limit delays several jobs of a group, returns only the bid of the
    /// first of these jobs.
    fn candidates(&mut self) -> Vec<u32> {
        let mut bids = Vec::new();
        let (mut at, mut looked) = (self.head, 0);
        while at < self.waiting.len() && looked < self.looks.depth {
            let position = self.waiting[at];
            let job = self.model.bids[position as usize].job;
            at += 1;
            if self.outcome.started[job].is_some() {
                continue;
            }
            bids.push(position);
            looked += 1;
            if self.is_limited(job) {
                let (behind, count) = self.behind(at, self.looks.depth);
                (at, looked) = (behind, looked + count);
            }
        }
        bids
    }

    /// Runs a backfill cycle: starts each job that delays no earlier job of the queue, and makes reservations for the
    /// jobs that do not start.
    fn fill_gaps(&mut self) {
        self.world.forget_kept();
        let mut places = 0;
        let mut of_arrays: HashMap<usize, usize> = HashMap::new();
        let mut falls: Option<i64> = None;
        let (mut by_partition, mut by_user, mut started) = (CycleCounts::default(), CycleCounts::default(), 0);
        for position in self.candidates() {
            let bid = self.model.bids[position as usize];
            if self.outcome.started[bid.job].is_some() || !self.model.queue.partitions[bid.partition].is_up() {
                continue;
            }
            let job = &self.model.queue.jobs[bid.job];
            if by_partition.is_beyond(bid.partition, self.looks.of_partition)
                || by_user.is_beyond(job.user.as_str(), self.looks.of_user)
            {
                continue;
            }
            if self.is_limited(bid.job) {
                falls = [falls, self.world.falls_until(bid.job)].into_iter().flatten().min();
                continue;
            }
            // If an equal request did not fit earlier in this cycle, this job does not fit either.
            let shape = &self.model.shapes[bid.shape];
            let is_alone = !self.teams.contains_key(&bid.job);
            let known = is_alone && self.failed[bid.shape] == self.look;
            debug_assert!(!known || self.world.find(shape, None, true).is_none());
            if !known && self.try_start(bid, None, true) {
                started += 1;
                if started == self.looks.starts {
                    self.look_at(self.world.now.saturating_add(self.looks.interval));
                    break;
                }
                continue;
            }
            self.failed[bid.shape] = self.look;
            self.lacks_nodes(bid.job);
            if let Some(gaps) = &mut self.gaps
                && let Some(gap) = self.world.gap_of(&self.model.shapes[bid.shape])
            {
                gaps.entry(bid.job).or_insert(gap);
            }
            let of_array = self.model.alike.arrays[bid.job].map(|array| of_arrays.entry(array).or_insert(0));
            let is_full = of_array.as_ref().is_some_and(|count| **count >= self.looks.places_of_array);
            if places < self.looks.places && self.is_reserved(bid.job) && !is_full && self.keep_place(bid) {
                places += 1;
                of_array.into_iter().for_each(|count| *count += 1);
            }
        }
        // A counter of remaining minutes falls without an event. So schedule a cycle for the instant at which the
        // counter is low enough.
        if let Some(at) = falls {
            self.look_at(at.max(self.world.now.saturating_add(self.looks.interval)));
        }
    }

    /// Returns true if the rules allow a reservation for a job that does not start. A job without a reservation does not
    /// block its partition either.
    fn is_reserved(&self, job: usize) -> bool {
        let job = &self.model.queue.jobs[job];
        let is_old = job.submitted.is_none_or(|at| self.world.now.saturating_sub(at) >= self.looks.age);
        is_old && job.priority >= self.looks.least_priority
    }

    /// Returns true if a limit delays a job, and records the limit. A limit that delays a job in a cycle does so until
    /// the end of this cycle.
    fn is_limited(&mut self, job: usize) -> bool {
        let group = self.model.alike.limits[job];
        if self.limited_at[group] == self.look {
            return true;
        }
        let Some(counter) = self.world.limit_reached(job) else { return false };
        self.limited[group] = Some(Limited { counter, lacks_nodes_at: None });
        self.limited_at[group] = self.look;
        true
    }

    /// Skips the jobs after position `at` that are delayed by the same limit as the job before `at`. Returns the next
    /// position and the number of skipped jobs. If this number is at least `most`, it may be inexact.
    fn behind(&mut self, at: usize, most: usize) -> (usize, usize) {
        self.skip_started();
        let next = self.model.alike.next[self.waiting[at - 1] as usize];
        let end = at + self.waiting[at..].partition_point(|&bid| bid < next);
        if self.stale == self.head {
            return (end, end - at);
        }
        let waits = |&&bid: &&u32| self.outcome.started[self.model.bids[bid as usize].job].is_none();
        (end, self.waiting[at..end].iter().filter(waits).take(most).count())
    }

    /// Advances `head` past the bids of all jobs that have started.
    fn skip_started(&mut self) {
        let has_started = |bid: &&u32| self.outcome.started[self.model.bids[**bid as usize].job].is_some();
        self.head += self.waiting[self.head..].iter().take_while(has_started).count();
    }

    /// Makes a reservation for a job, without delaying an existing reservation. Returns false if the new reservation
    /// would start after the window ([`CycleParameters::window`]).
    fn keep_place(&mut self, bid: JobCandidate) -> bool {
        let shape = &self.model.shapes[bid.shape];
        let (look, soonest) = self.places[bid.shape];
        // In a cycle, reservations are added but never removed. So an earlier reservation for an equal request starts
        // no later than this one.
        let is_bound = look == self.look && shape.counted.is_none();
        let not_before = if is_bound { soonest } else { i64::MIN };
        let window = self.world.now.saturating_add(self.looks.window);
        if not_before > window {
            return false;
        }
        let found = self.world.earliest(shape, not_before);
        self.places[bid.shape] = (self.look, found.as_ref().map_or(i64::MAX, |found| found.0));
        let Some((from, sites)) = found.filter(|found| found.0 <= window) else { return false };
        let (queue_now, unit) = (self.model.queue.now, self.looks.resolution);
        let ahead = from.saturating_add(shape.lasts).saturating_sub(queue_now);
        let until = queue_now.saturating_add(ahead.saturating_add(unit - 1) / unit * unit);
        self.world.keep(&sites, NodeReservation { from, until, job: bid.job });
        true
    }

    /// Records that a job now waits for nodes, if the job waited for a limit before.
    fn lacks_nodes(&mut self, job: usize) {
        let now = self.world.now;
        if let Some(limited) = &mut self.limited[self.model.alike.limits[job]] {
            limited.lacks_nodes_at.get_or_insert(now);
        }
    }

    /// Returns the counter whose limit delayed a job until now, and the job that lowered the counter by its end.
    /// Returns `None` for counters of remaining minutes, because they fall without the end of a job.
    fn waited_for(&self, job: usize) -> Option<(usize, usize)> {
        let Limited { counter, lacks_nodes_at } = self.limited[self.model.alike.limits[job]]?;
        let decides = lacks_nodes_at.is_none_or(|at| at == self.world.now) && !self.model.counters[counter].falls;
        let (_, other) = self.last_of[counter].filter(|&(at, _)| decides && at > self.last_cycle)?;
        Some((counter, other))
    }

    /// Starts a job. If the job is a component of a heterogeneous job, starts all components, or none if one of them
    /// does not fit.
    fn try_start(&mut self, bid: JobCandidate, without: Option<&NodeBits>, heeds_kept: bool) -> bool {
        let Some(team) = self.teams.get(&bid.job).cloned() else {
            let found = self.world.find(&self.model.shapes[bid.shape], without, heeds_kept);
            let Some(holds) = found else { return false };
            self.start(bid, holds, heeds_kept);
            return true;
        };
        if team.iter().any(|&job| self.model.never[job].is_some() || self.outcome.expired[job].is_some()) {
            return false;
        }
        let mut begun = Vec::new();
        for job in team {
            let own = &self.model.bids_of[job];
            let shapes: Vec<usize> = if job == bid.job {
                vec![bid.shape]
            } else {
                own.iter().map(|&at| self.model.bids[at as usize].shape).collect()
            };
            let mut found =
                shapes.iter().filter_map(|&shape| self.world.find(&self.model.shapes[shape], without, heeds_kept));
            let Some(holds) = found.next() else {
                // One component does not fit. So the components that were started release their resources.
                begun.into_iter().for_each(|number| drop(self.world.give_back(number)));
                return false;
            };
            drop(found);
            let believed = self.world.now.saturating_add(limit(&self.model.queue.jobs[job]));
            self.limits[job] = None;
            begun.push(self.world.take(RunningUsage { job: Some(job), believed, holds }));
        }
        begun.into_iter().for_each(|number| self.started(number));
        true
    }

    /// Starts a job. If the job accepts less time than its limit, it gets the longest time that delays no job with a
    /// reservation.
    fn start(&mut self, bid: JobCandidate, holds: Vec<super::world::Hold>, heeds_kept: bool) {
        let (job, shape) = (bid.job, &self.model.shapes[bid.shape]);
        let all = limit(&self.model.queue.jobs[job]);
        let granted = if shape.lasts < all {
            let until = self.world.free_until(shape, &holds, heeds_kept);
            let deadline = self.model.queue.jobs[job].deadline.filter(|_| self.looks.heeds_deadlines);
            let until = until.min(deadline.unwrap_or(i64::MAX));
            let granted = until.saturating_sub(self.world.now).min(all);
            // Slurm counts time limits in whole minutes.
            if granted < all { (granted - granted.rem_euclid(60)).max(shape.lasts) } else { all }
        } else {
            all
        };
        self.limits[job] = (granted < all).then_some(granted);
        let believed = self.world.now.saturating_add(granted);
        let number = self.world.take(RunningUsage { job: Some(job), believed, holds });
        self.started(number);
    }

    fn started(&mut self, number: usize) {
        let Some(running) = &self.world.running[number] else { return };
        let Some(job) = running.job else { return };
        let now = self.world.now;
        let most = self.limits[job].unwrap_or_else(|| limit(&self.model.queue.jobs[job]));
        let lasts = (self.lasts)(job).clamp(1, most.max(1));
        let believed = running.believed;
        if self.tells {
            let sites: Vec<(u32, u32)> = running.holds.iter().map(|hold| (hold.site, hold.cpus)).collect();
            let last = |&(site, _): &(u32, u32)| self.last_on[site as usize];
            let mut after: Vec<(i64, usize)> = sites.iter().filter_map(last).collect();
            after.sort_unstable_by(|one, other| other.cmp(one));
            after.dedup();
            let waited = self.waited_for(job);
            self.outcome.limit[job] = waited.map(|(counter, _)| counter);
            after.truncate(8);
            if let Some((_, other)) = waited {
                after = vec![(now, other)];
            }
            self.outcome.decisive[job] = after.iter().take_while(|one| one.0 > self.last_cycle).count();
            self.outcome.after[job] = after.into_iter().map(|one| one.1).collect();
            self.outcome.reservation[job] = self.ended_reservation(&sites);
            self.outcome.sites[job] = sites;
        }
        self.outcome.started[job] = Some(now);
        self.outcome.ends[job] = Some(now.saturating_add(lasts));
        self.world.count(job, believed, true);
        self.count_waiting(job, false);
        self.stale += self.model.bids_of[job].len();
        self.events.push(Reverse((now.saturating_add(lasts), Event::End(number))));
        self.tell(job);
    }

    /// Returns a reservation of Slurm that includes some of these sites and ended after the previous cycle.
    fn ended_reservation(&self, sites: &[(u32, u32)]) -> Option<usize> {
        let closed = sites.iter().flat_map(|&(site, _)| &self.model.sites[site as usize].closed);
        let ended = closed.filter(|&&(_, end, _)| end > self.last_cycle && end <= self.world.now);
        ended.map(|&(_, _, index)| index).min()
    }

    /// Returns, for each pending job, the number of jobs that the scheduler considers before it.
    pub(super) fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.model.queue.jobs.len()];
        for (position, &bid) in self.waiting.iter().enumerate().rev() {
            positions[self.model.bids[bid as usize].job] = position;
        }
        positions
    }

    /// If a job did not start in the first cycle although enough nodes were free, returns how long these nodes were
    /// free.
    pub(super) fn gap(&self, job: usize) -> Option<Gap> {
        self.gaps.as_ref()?.get(&job).copied()
    }

    pub(super) fn has_started(&self, job: usize) -> bool {
        self.outcome.started[job].is_some()
    }
}

/// Returns the components of each heterogeneous job.
fn teams(model: &Model<'_>) -> HashMap<usize, Vec<usize>> {
    let mut by_first: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, job) in model.queue.jobs.iter().enumerate().filter(|(_, job)| job.run.is_none()) {
        if let Some(first) = job.together {
            by_first.entry(first).or_default().push(index);
        }
    }
    let several = by_first.into_values().filter(|team| team.len() > 1);
    several.flat_map(|team| team.clone().into_iter().map(move |job| (job, team.clone()))).collect()
}
