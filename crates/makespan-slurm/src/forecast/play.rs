//! Event simulation of a queue. When a running job ends, the scheduler runs its cycles, in which pending jobs start.

mod cycle;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use makespan_core::SlurmCycles;

use super::bits::NodeBits;
use super::looks::typical_limit;
use super::model::Model;
use super::outcome::ForecastOutcome;
use super::priorities::MovingPriorities;
use super::ready::{Links, Ready};
use super::times::limit;
use super::world::{Gap, RunningUsage, World};

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
    /// Jobs that are not in the queue end, so the counter of their limit falls.
    Release(usize),
}

/// A function that returns the simulated run time of a job in seconds. For a job that already runs, this time includes
/// the elapsed time.
pub(super) type Lasts<'a> = &'a dyn Fn(usize) -> i64;

pub(super) struct ForecastSimulation<'a> {
    model: &'a Model<'a>,
    links: &'a Links,
    heeds_deadlines: bool,
    lasts: Lasts<'a>,
    pub world: World<'a>,
    events: BinaryHeap<Reverse<(i64, Event)>>,
    /// The bids of pending jobs, as positions in `Model::bids`. Some of these jobs may have started in the meantime.
    waiting: Vec<u32>,
    /// For each partition, the number of bids of unstarted jobs in `waiting`.
    waiting_in: Vec<usize>,
    entered: Vec<bool>,
    /// Jobs that must start together.
    teams: HashMap<usize, Vec<usize>>,
    blocked: NodeBits,
    /// The priorities, if they change during the simulation.
    priorities: Option<MovingPriorities>,
    cycles: SlurmCycles,
    /// The previous cycle of the kind of the current cycle.
    last_cycle: i64,
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
    /// An upper bound on the number of bids of started jobs in `waiting`.
    stale: usize,
    /// The number of bids of started jobs at the front of `waiting`.
    head: usize,
    /// For each job that did not start in the first cycle although enough nodes were free, the time for which these
    /// nodes were free.
    gaps: Option<HashMap<usize, Gap>>,
}

impl<'a> ForecastSimulation<'a> {
    pub(super) fn new(model: &'a Model<'a>, links: &'a Links, heeds_deadlines: bool, lasts: Lasts<'a>) -> Self {
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
            heeds_deadlines,
            lasts,
            world: World::of(model),
            events: BinaryHeap::new(),
            waiting: Vec::new(),
            waiting_in: vec![0; model.queue.partitions.len()],
            entered: vec![false; jobs],
            teams: teams(model),
            blocked: NodeBits::new(model.sites.len()),
            priorities: MovingPriorities::of(model),
            cycles: SlurmCycles::new(model.cycles.clone()),
            last_cycle: i64::MIN,
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

    /// Adds the running jobs and all events at known instants: ends of running jobs, arrivals, and starts of
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
            self.count_usage(number, true);
            self.outcome.started[index] = Some(run.started);
            self.outcome.ends[index] = Some(ends);
            self.events.push(Reverse((ends, Event::End(number))));
        }
        let typical = typical_limit(queue);
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
            if self.heeds_deadlines && (now..i64::MAX).contains(&latest) {
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
            let place = match &self.priorities {
                None => self.waiting.binary_search(&bid),
                Some(own) => self.waiting.binary_search_by_key(&own.key(bid, job), |&other| {
                    own.key(other, self.model.bids[other as usize].job)
                }),
            };
            if let Err(place) = place {
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
                let is_seen = !self.is_unseen(event);
                is_cycle_due |= is_seen;
                if is_seen && event != Event::Look {
                    self.cycles.note_change();
                }
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
    /// job depends on it. Or an earlier cycle has replaced a scheduled cycle.
    fn is_unseen(&self, event: Event) -> bool {
        match event {
            Event::Expire(job) => {
                self.outcome.started[job].is_none() && !self.entered[job] && self.links.behind[job].is_empty()
            }
            Event::Look => self.next_look != Some(self.world.now),
            _ => false,
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::End(number) => {
                self.count_usage(number, false);
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
            Event::Look => self.next_look = self.next_look.filter(|&next| next != self.world.now),
        }
    }

    fn tell(&mut self, job: usize) {
        let links = self.links;
        for &other in &links.behind[job] {
            self.expect(other);
        }
    }

    /// Adds a running job to the usage of its user, or removes it.
    fn count_usage(&mut self, number: usize, starts: bool) {
        if let Some((own, running)) = self.priorities.as_mut().zip(self.world.running[number].as_ref()) {
            own.change(running, starts, self.world.now);
        }
    }

    /// Computes the priorities if they change and are due, and sorts the queue by them.
    fn update_priorities(&mut self) {
        let Self { priorities, waiting, outcome, model, world, stale, head, .. } = self;
        let Some(own) = priorities.as_mut() else { return };
        if own.update(world.now) {
            (*stale, *head) = (0, 0);
            let job = |bid: u32| model.bids[bid as usize].job;
            waiting.retain(|&bid| outcome.started[job(bid)].is_none());
            waiting.sort_by_key(|&bid| own.key(bid, job(bid)));
        }
    }

    /// Runs the scheduling cycles that are due.
    fn decide(&mut self) {
        self.update_priorities();
        let mut cycles = self.cycles.clone();
        cycles.run(self.world.now, self);
        if let Some(at) = cycles.next().filter(|_| !self.waiting.is_empty()) {
            self.look_at(at);
        }
        self.cycles = cycles;
    }

    /// Schedules a cycle at an instant, unless an earlier cycle is already scheduled.
    fn look_at(&mut self, at: i64) {
        if self.next_look.is_none_or(|next| at < next) {
            self.next_look = Some(at);
            self.events.push(Reverse((at, Event::Look)));
        }
    }

    /// Advances `head` past the bids of all jobs that have started.
    fn skip_started(&mut self) {
        let has_started = |bid: &&u32| self.outcome.started[self.model.bids[**bid as usize].job].is_some();
        self.head += self.waiting[self.head..].iter().take_while(has_started).count();
    }

    /// Returns the counter with the limit that delayed a job until now, and the job that lowered the counter by its
    /// end. Returns `None` for counters of remaining minutes, because they fall without the end of a job.
    fn waited_for(&self, job: usize) -> Option<(usize, usize)> {
        let Limited { counter, lacks_nodes_at } = self.limited[self.model.alike.limits[job]]?;
        let decides = lacks_nodes_at.is_none_or(|at| at == self.world.now) && !self.model.counters[counter].falls;
        let (_, other) = self.last_of[counter].filter(|&(at, _)| decides && at > self.last_cycle)?;
        Some((counter, other))
    }

    fn started(&mut self, number: usize) {
        let Some(running) = &self.world.running[number] else { return };
        let Some(job) = running.job else { return };
        let now = self.world.now;
        let most = self.limits[job].unwrap_or_else(|| limit(&self.model.queue.jobs[job]));
        let lasts = (self.lasts)(job).clamp(1, most.max(1));
        let believed = running.believed;
        if let Some(own) = &mut self.priorities {
            own.change(running, true, now);
        }
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
