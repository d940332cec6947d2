//! Event simulation of a queue. When a running job ends, the scheduler runs its cycles, in which pending jobs start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_algos::slurm::{Gap, JobStart, LimitDelay, RunningUsage, SlurmScheduler, World};

use super::looks::typical_limit;
use super::model::Model;
use super::outcome::ForecastOutcome;
use super::priorities::MovingPriorities;
use super::ready::{Links, Ready};
use super::times::limit;

/// Cost of simulating a job (draw of its run time, arrival, start and end), as a number of examined nodes.
const JOB_AS_LOOKS: u64 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A job ends. If several jobs end at an instant, the job that started last ends last.
    End {
        /// Number of jobs that started before.
        order: usize,
        /// The number of the job in the scheduler.
        number: usize,
    },
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
    lasts: Lasts<'a>,
    scheduler: SlurmScheduler,
    events: BinaryHeap<Reverse<(i64, Event)>>,
    /// The priorities, if they change during the simulation.
    priorities: Option<MovingPriorities>,
    next_look: Option<i64>,
    /// Number of jobs that have started.
    begun: usize,
    outcome: ForecastOutcome,
    /// True if the outcome contains all data. If false, the outcome contains only starts and ends.
    tells: bool,
    /// For each site, the last job that ended on the site in the simulation, and the end of this job.
    last_on: Vec<Option<(i64, usize)>>,
    /// For each counter, the last job that added to the counter and ended in the simulation, and the end of this job.
    last_of: Vec<Option<(i64, usize)>>,
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
            cycle_before: vec![i64::MIN; jobs],
            reservation: vec![None; jobs],
            limit: vec![None; jobs],
            looked: 0,
        };
        let mut scheduler = SlurmScheduler::new(model.cluster.clone());
        scheduler.heeds_deadlines = heeds_deadlines;
        let mut play = Self {
            model,
            links,
            lasts,
            scheduler,
            events: BinaryHeap::new(),
            priorities: MovingPriorities::of(model.queue),
            next_look: None,
            begun: 0,
            outcome,
            tells: true,
            last_on: vec![None; model.nodes.len()],
            last_of: vec![None; model.limits.words.len()],
        };
        play.begin();
        play
    }

    /// Returns the current instant.
    fn now(&self) -> i64 {
        self.scheduler.world.now
    }

    /// Returns this simulation, changed to record only starts and ends.
    pub(super) fn in_short(mut self) -> Self {
        self.tells = false;
        self
    }

    /// Returns this simulation, changed so that `share` of a computation period has passed since the last computation of
    /// priorities.
    pub(super) fn with_priority_age(mut self, share: f64) -> Self {
        if let Some(own) = &mut self.priorities {
            own.set_age(share);
        }
        self
    }

    /// Adds the running jobs and all events at known instants: ends of running jobs, arrivals, and starts of
    /// reservations.
    fn begin(&mut self) {
        let (queue, now) = (self.model.queue, self.model.queue.now);
        for (index, job) in queue.jobs.iter().enumerate() {
            let Some(run) = &job.run else { continue };
            let holds = run.holds.iter().map(|holding| self.model.hold(holding)).collect();
            let by_limit = run.started.saturating_add(limit(job));
            let believed = run.ends_by.unwrap_or(by_limit).max(now + 1);
            let ends = run.started.saturating_add((self.lasts)(index)).min(believed).max(now + 1);
            let (group, rank) = (Some(self.model.limits.group_of[index]), self.model.cluster.jobs[index].rank);
            let running = RunningUsage { job: Some(index), group, believed, rank, holds };
            self.count_usage(&running, true);
            let number = self.scheduler.begin(running);
            self.outcome.started[index] = Some(run.started);
            self.outcome.ends[index] = Some(ends);
            self.schedule_end(ends, number);
        }
        let typical = typical_limit(queue);
        for holding in &queue.hidden {
            let holds = vec![self.model.hold(holding)];
            let believed = now.saturating_add(typical);
            let number = self.scheduler.begin(RunningUsage { job: None, group: None, believed, rank: u64::MAX, holds });
            self.schedule_end(now.saturating_add((typical / 2).max(1)), number);
        }
        // Slurm counts licences of jobs that have just ended. If there may be jobs that this user cannot see, they may
        // hold these licences.
        let released = if queue.hidden.is_empty() { 1 } else { (typical / 2).max(1) };
        for (counter, _) in self.model.cluster.counters.iter().enumerate().filter(|(_, of)| of.used > 0) {
            self.events.push(Reverse((now.saturating_add(released), Event::Release(counter))));
        }
        for reservation in &queue.reservations {
            for at in [reservation.start, reservation.end].into_iter().filter(|&at| at > now) {
                self.events.push(Reverse((at, Event::Turn)));
            }
        }
        for index in (0..queue.jobs.len()).filter(|&index| queue.jobs[index].run.is_none()) {
            let latest = self.model.latest[index];
            if self.scheduler.heeds_deadlines && (now..i64::MAX).contains(&latest) {
                self.events.push(Reverse((latest + 1, Event::Expire(index))));
            }
            self.expect(index);
        }
    }

    /// Adds a job to the queue. If the job becomes eligible later, schedules its arrival. If the job can never start,
    /// has no effect.
    fn expect(&mut self, job: usize) {
        match self.eligible_at(job) {
            Some(at) if at > self.now() => self.events.push(Reverse((at, Event::Eligible(job)))),
            Some(_) => self.enter(job),
            None => {}
        }
    }

    /// Returns the instant from which a job is eligible. Returns `None` if the job runs, can never start, or depends on
    /// an event that has not occurred yet.
    fn eligible_at(&self, job: usize) -> Option<i64> {
        let of = &self.model.queue.jobs[job];
        if of.run.is_some() || self.model.never[job].is_some() || self.links.hopeless[job].is_some() {
            return None;
        }
        let ForecastOutcome { started, ended, expired, .. } = &self.outcome;
        let Ready::At(ready) = self.links.ready(job, started, ended, expired) else { return None };
        // If a job waits for other jobs or for its turn in an array, Slurm does not report when the job becomes
        // eligible.
        Some(ready.max(of.eligible.unwrap_or(i64::MIN)))
    }

    fn enter(&mut self, job: usize) {
        if self.outcome.started[job].is_some() || self.outcome.expired[job].is_some() || self.is_too_late(job) {
            return;
        }
        if let Some(own) = &self.priorities {
            let priority = own.of_job(job);
            for &bid in &self.model.cluster.jobs[job].bids {
                self.scheduler.set_priority(bid, priority);
            }
        }
        self.scheduler.enter(job);
    }

    /// Returns true if the reservation that a job requests ends too early for the job.
    fn is_too_late(&self, job: usize) -> bool {
        let cluster = &self.model.cluster;
        cluster.jobs[job].bids.iter().all(|&bid| {
            let shape = &cluster.shapes[cluster.bids[bid as usize].shape];
            let end = shape.reservation.map_or(i64::MAX, |index| cluster.reservations[index].1);
            end.saturating_sub(shape.lasts) < self.now()
        })
    }

    /// Runs the first scheduling cycle. The state afterwards shows why jobs do not start now.
    pub(super) fn first_look(&mut self) {
        self.scheduler.record_gaps();
        self.decide();
    }

    /// Runs the simulation until no job is pending or no event is left.
    pub(super) fn run(mut self) -> ForecastOutcome {
        self.decide();
        while let Some(&Reverse((now, _))) = self.events.peek() {
            if !self.scheduler.has_waiting() && !self.is_more_expected() {
                break;
            }
            self.scheduler.advance(now);
            let mut is_cycle_due = false;
            while let Some(&Reverse((at, event))) = self.events.peek() {
                if at > now {
                    break;
                }
                self.events.pop();
                let is_seen = self.happen(event);
                is_cycle_due |= is_seen;
                if is_seen && event != Event::Look {
                    self.scheduler.note_change();
                }
            }
            if is_cycle_due {
                self.decide();
            }
        }
        self.outcome.looked = self.scheduler.world.looked() + self.model.queue.jobs.len() as u64 * JOB_AS_LOOKS;
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

    /// Processes an event. Returns false if the scheduler does not notice the event: a job expires before it becomes
    /// eligible, and no other job becomes eligible. Or a job becomes eligible too late. Or a reservation begins or ends while no job waits. Or an earlier
    /// cycle has replaced a scheduled cycle.
    fn happen(&mut self, event: Event) -> bool {
        match event {
            Event::End { number, .. } => {
                let Some(running) = self.scheduler.end(number) else { return true };
                self.count_usage(&running, false);
                let Some(job) = running.job else { return true };
                self.outcome.ended[job] = Some(self.now());
                if self.tells {
                    let ended = Some((self.now(), job));
                    running.holds.iter().for_each(|hold| self.last_on[hold.site as usize] = ended);
                    self.model.limits_of(job).iter().for_each(|own| self.last_of[own.counter] = ended);
                }
                self.tell(job);
            }
            Event::Expire(job) if self.outcome.started[job].is_none() => {
                let waits = self.scheduler.is_waiting(job);
                self.outcome.expired[job] = Some(self.now());
                self.scheduler.leave(job);
                return self.tell(job) || waits;
            }
            Event::Eligible(job) => {
                self.enter(job);
                return self.scheduler.is_waiting(job);
            }
            Event::Release(counter) => {
                self.scheduler.world.release(counter, self.model.cluster.counters[counter].used);
            }
            Event::Turn => {
                let waits = self.scheduler.has_waiting();
                self.end_reservations();
                return waits;
            }
            Event::Expire(_) => {}
            Event::Look => {
                let is_next = self.next_look == Some(self.now());
                self.next_look = self.next_look.filter(|_| !is_next);
                return is_next;
            }
        }
        true
    }

    /// Removes the jobs that wait for a reservation which ends now.
    fn end_reservations(&mut self) {
        let ended = |&(_, end): &(i64, i64)| end == self.now();
        let reservations = &self.model.cluster.reservations;
        if !reservations.iter().any(ended) {
            return;
        }
        for bid in &self.model.cluster.bids {
            let reservation = self.model.cluster.shapes[bid.shape].reservation;
            if reservation.is_some_and(|index| reservations[index].1 == self.now()) {
                self.scheduler.leave(bid.job);
            }
        }
    }

    /// Adds the jobs that waited for a job. Returns true if one of them is eligible now.
    fn tell(&mut self, job: usize) -> bool {
        let links = self.links;
        let mut is_eligible = false;
        for &other in &links.behind[job] {
            self.expect(other);
            is_eligible |= self.scheduler.is_waiting(other);
        }
        is_eligible
    }

    /// Adds a running job to the usage of its user, or removes it.
    fn count_usage(&mut self, running: &RunningUsage, starts: bool) {
        if let Some(own) = &mut self.priorities {
            own.change(running, starts, self.scheduler.world.now);
        }
    }

    /// Runs the scheduling cycles that are due.
    fn decide(&mut self) {
        if let Some(own) = &mut self.priorities
            && own.update(self.scheduler.world.now)
        {
            self.scheduler.set_priorities(|bid| own.of_job(bid.job));
        }
        for start in self.scheduler.decide(self.now()) {
            self.started(&start);
        }
        if let Some(at) = self.scheduler.next_cycle() {
            self.look_at(at);
        }
    }

    /// Schedules a cycle at an instant, unless an earlier cycle is already scheduled.
    fn look_at(&mut self, at: i64) {
        if self.next_look.is_none_or(|next| at < next) {
            self.next_look = Some(at);
            self.events.push(Reverse((at, Event::Look)));
        }
    }

    /// Returns the counter with the limit that delayed a job until now, and the job that lowered the counter by its
    /// end. Returns `None` for counters of remaining minutes, because they fall without the end of a job.
    fn waited_for(&self, start: &JobStart) -> Option<(usize, usize)> {
        let LimitDelay { counter, lacks_nodes_at } = start.limited?;
        let decides = lacks_nodes_at.is_none_or(|at| at == self.now()) && !self.model.cluster.counters[counter].falls;
        let (_, other) = self.last_of[counter].filter(|&(at, _)| decides && at > start.cycle_before)?;
        Some((counter, other))
    }

    fn schedule_end(&mut self, at: i64, number: usize) {
        self.events.push(Reverse((at, Event::End { order: self.begun, number })));
        self.begun += 1;
    }

    /// Records the start of a job, and schedules its end.
    fn started(&mut self, start: &JobStart) {
        let (job, now) = (start.job, self.now());
        let Some(running) = self.scheduler.world.running(start.number) else { return };
        let lasts = (self.lasts)(job).clamp(1, start.granted.max(1));
        if let Some(own) = &mut self.priorities {
            own.change(running, true, now);
        }
        if self.tells {
            let sites: Vec<(u32, u32)> = running.holds.iter().map(|hold| (hold.site, hold.cpus)).collect();
            // Earlier ends did not let the job start.
            let last = |&(site, _): &(u32, u32)| self.last_on[site as usize].filter(|one| one.0 > start.cycle_before);
            let mut after: Vec<(i64, usize)> = sites.iter().filter_map(last).collect();
            after.sort_unstable_by(|one, other| other.cmp(one));
            after.dedup();
            let waited = self.waited_for(start);
            self.outcome.limit[job] = waited.map(|(counter, _)| counter);
            after.truncate(8);
            if let Some((_, other)) = waited {
                after = vec![(now, other)];
            }
            self.outcome.cycle_before[job] = start.cycle_before;
            self.outcome.after[job] = after.into_iter().map(|one| one.1).collect();
            self.outcome.reservation[job] = self.ended_reservation(&sites, start.cycle_before);
            self.outcome.sites[job] = sites;
        }
        self.outcome.started[job] = Some(now);
        self.outcome.ends[job] = Some(now.saturating_add(lasts));
        self.schedule_end(now.saturating_add(lasts), start.number);
        // Jobs that wait for this start are considered in another cycle at this instant.
        let links = self.links;
        for &other in &links.behind[job] {
            if let Some(at) = self.eligible_at(other) {
                self.events.push(Reverse((at.max(now), Event::Eligible(other))));
            }
        }
    }

    /// Returns a reservation of Slurm that includes some of these sites and ended after the instant `after`.
    fn ended_reservation(&self, sites: &[(u32, u32)], after: i64) -> Option<usize> {
        let closed = sites.iter().flat_map(|&(site, _)| &self.model.cluster.sites[site as usize].closed);
        closed
            .filter(|period| period.end > after && period.end <= self.now())
            .filter_map(|period| period.reservation)
            .min()
    }

    /// Returns, for each pending job, the number of jobs that the scheduler considers before it.
    pub(super) fn positions(&self) -> Vec<usize> {
        self.scheduler.positions()
    }

    /// Returns the free resources.
    pub(super) fn world(&self) -> &World {
        &self.scheduler.world
    }

    /// If a job did not start in the first cycle although enough nodes were free, returns how long these nodes were
    /// free.
    pub(super) fn gap(&self, job: usize) -> Option<Gap> {
        self.scheduler.gap(job)
    }

    pub(super) fn has_started(&self, job: usize) -> bool {
        self.outcome.started[job].is_some()
    }
}
