//! A metascheduler: compound jobs come, and are planned by their strategies, one by one or together.

mod candidate;
mod catalogue;
mod collective;
mod failures;
mod flow;
mod records;
mod rules;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use makespan_core::{
    Decision, Event, JobId, LogEntry, Logged, Placement, Policy, ProcSet, Spot, Time, Unsupported, View,
};

use super::again::{again, calendars};
use super::reserved::Reservations;
use super::wholes::{new_wholes, tasks, unstarted, whole_job, whole_of};
use crate::kernel::graph::Place;
use candidate::{Alone, Candidate, Choice};
pub(super) use catalogue::ENTRY;
use flow::{Hopeless, Table};
use records::JobRecords;
pub use rules::{Clock, Goal, JobFlowRules, Late, Serve, Spare};

/// Serves a flow of jobs that are graphs of tasks: every job gets places for all its tasks, by the variant of its strategy
/// that is best for the job or, where several are planned together, for the flow.
///
/// Jobs are planned one by one as they come or as the one before has ended, as a buffer is full, or again at each arrival as
/// long as none of their tasks has started ([`Serve`]). One by one, those of higher priority come first, then those of greater weight,
/// then as they came. Several together are planned in the order, and by the variants, whose flow has the least weight of late
/// jobs, that of the highest priority first; then the fewest late jobs that were planned in time before, and then the greatest
/// utilisation, least cost or least weighted sum of ends ([`Goal`]). A job that cannot be in time takes HEFT's places, which is told, or
/// is given up ([`Late`]). Single tasks are graphs of one task. A job that states a walltime has to end within it from its release,
/// whether it is a graph or a single task.
///
/// Tasks start at their reserved starts, later where what is before them is late, and keep their order on each processor.
/// When processors go down, or jobs that were planned in time would be late as their order goes on, a job of which no task
/// has started takes another variant of its strategy, somewhat later if need be, or is planned anew; with [`Serve::Replan`] all
/// such jobs are, once one that has begun had to move. Of a job that has begun the tasks that have not started are planned again
/// by the rule of HEFT around all others, and of all such jobs together if less weight is late then. An interrupted task counts as
/// not started. From the first failure or late task on, plans
/// leave time for the longest task of each job to run again, where they can (`Spare`).
///
/// Source: A. Tselishchev, V. V. Toporkov, "Compound job scheduling and job-flows management in distributed computing",
/// 54th IWK, Ilmenau 2009, section 4. Deviations: buffers, replanning and what is done when machines fail are named
/// there and not described. Assumptions: every task accepts one processor, and runs on one; at most 256 processors.
/// Complexity: planning n jobs together costs at most 400 schedules of HEFT for all of them and 4 n strategies.
#[derive(Debug)]
pub struct JobFlow {
    rules: JobFlowRules,
    reservations: Reservations,
    /// Whether plans leave room for what may go wrong, and whether something did.
    spares: bool,
    disturbed: bool,
    /// Whole jobs of which a task came.
    heard: Vec<bool>,
    /// Whole jobs that wait to be planned, and until when where they are collected.
    buffer: Vec<usize>,
    due: Time,
    records: JobRecords,
    log: Vec<LogEntry>,
    /// What an earlier session told, until the first event.
    recalled: Vec<LogEntry>,
}

impl JobFlow {
    /// A policy by these rules.
    pub fn new(rules: JobFlowRules) -> Self {
        Self {
            rules,
            reservations: Reservations::new(rules.starts),
            spares: rules.spare == Spare::Always,
            disturbed: false,
            heard: Vec::new(),
            buffer: Vec::new(),
            due: Time::ZERO,
            records: JobRecords::default(),
            log: Vec::new(),
            recalled: Vec::new(),
        }
    }

    fn tell(&mut self, view: &View<'_>, job: JobId, what: Logged) {
        self.log.push(LogEntry { time: view.now, job, what });
    }

    /// Plans what is to be planned now; `changed` when processors are up again, or plans are to leave room from now on.
    fn serve(&mut self, (new, changed): (Vec<usize>, bool), view: &View<'_>, decisions: &mut Vec<Decision>) {
        match self.rules.serve {
            Serve::Arrival => self.plan(&new, view, decisions),
            Serve::Consecutive => {
                self.buffer.extend(new);
                while !self.buffer.is_empty() && view.running.is_empty() && self.reservations.is_empty() {
                    let urgency = |&at: &usize| {
                        let job = whole_job(view.instance, self.buffer[at]).1;
                        (Reverse(job.priority), Reverse(job.weight), at)
                    };
                    let next = (0..self.buffer.len()).min_by_key(urgency).unwrap_or(0);
                    let next = self.buffer.remove(next);
                    self.plan(&[next], view, decisions);
                }
            }
            Serve::Buffer(length) => {
                if self.buffer.is_empty() && !new.is_empty() {
                    self.due = view.now + length;
                }
                self.buffer.extend(new);
                if self.due <= view.now {
                    let wholes = std::mem::take(&mut self.buffer);
                    self.plan(&wholes, view, decisions);
                } else if !self.buffer.is_empty() {
                    decisions.push(Decision::WakeAt(self.due));
                }
            }
            Serve::Replan if new.is_empty() && !changed => {}
            Serve::Replan => {
                let mut wholes = self.untouched(view);
                wholes.extend(new);
                self.plan(&wholes, view, decisions);
            }
        }
    }

    /// Whole jobs that are planned, and no task of which has started.
    fn untouched(&self, view: &View<'_>) -> Vec<usize> {
        let planned: BTreeSet<usize> = self.reservations.upcoming().map(|at| whole_of(view.instance, at.job)).collect();
        planned.into_iter().filter(|&whole| is_whole(view, whole)).collect()
    }

    /// Plans these whole jobs around all others.
    fn plan(&mut self, wholes: &[usize], view: &View<'_>, decisions: &mut Vec<Decision>) {
        if wholes.is_empty() {
            return;
        }
        // Of a job that an earlier session began only the rest is planned.
        let (wholes, begun): (Vec<usize>, Vec<usize>) = wholes.iter().partition(|&&whole| is_whole(view, whole));
        self.release(|whole| wholes.contains(&whole) || begun.contains(&whole), view);
        begun.into_iter().for_each(|whole| self.plan_rest(whole, view));
        if wholes.is_empty() {
            return;
        }
        let rules = self.rules;
        let alone = Alone::all(&wholes, &rules, view);
        let candidates = alone.iter().map(|alone| Candidate::new(alone, &rules, &self.records, self.spares)).collect();
        let calendars = calendars(view.instance.processors(), &self.reservations.taken(view));
        let table = Table { rules: &rules, candidates, calendars };
        let flow = match rules.serve {
            Serve::Arrival | Serve::Consecutive => table.in_turn(),
            Serve::Buffer(_) | Serve::Replan => table.collective(),
        };
        for (candidate, choice) in table.candidates.iter().zip(flow.choices) {
            self.settle(candidate, &choice, view, decisions);
        }
    }

    /// Notes, tells and reserves the plan of one job.
    fn settle(&mut self, candidate: &Candidate, choice: &Choice, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let (whole, first) = (candidate.whole, candidate.first);
        let (finish, deadline) = (Time::from_ticks(choice.offer.finish), Time::from_ticks(candidate.deadline));
        if self.records.note(whole, candidate.deadline, choice.clone()) {
            self.tell(
                view,
                first,
                match choice.chosen {
                    None if choice.given_up => Logged::Rejected { finish, deadline },
                    None => Logged::Fallback { finish, deadline },
                    Some(_) => {
                        let variants = choice.variants.len();
                        Logged::Planned { variants, finish, cost: choice.offer.cost.into(), deadline }
                    }
                },
            );
            for collision in &choice.offer.collisions {
                let spot = |place: Place| Spot { processor: place.processor, start: Time::from_ticks(place.start) };
                let (planned, resolved) = (spot(collision.planned), spot(collision.resolved));
                let what = Logged::Collision { planned, resolved, penalty: collision.penalty };
                self.tell(view, JobId(first.0 + collision.task), what);
            }
        }
        if choice.given_up {
            let waiting = tasks(view.instance, whole).filter(|&job| view.waiting.contains(job));
            decisions.extend(waiting.map(Decision::Cancel));
        } else {
            self.reservations.add(placements(first, &choice.offer.places, &choice.until));
        }
    }

    /// Takes the reservations of some whole jobs away; all others are where their order leads.
    fn release(&mut self, which: impl Fn(usize) -> bool, view: &View<'_>) {
        self.reservations.remove(|job| which(whole_of(view.instance, job)));
        self.reservations.project(view);
    }

    /// What has not started of a whole job planned by the rule of HEFT, and when the job then ends; nothing where all has
    /// started.
    fn rest(&self, whole: usize, view: &View<'_>) -> (Vec<Placement>, Time) {
        let left = unstarted(view, whole);
        let mut calendars = calendars(view.instance.processors(), &self.reservations.taken(view));
        let places = again(view, whole, &left, &mut calendars);
        let running = view.running.iter().filter(|running| whole_of(view.instance, running.job) == whole);
        let ends = running.map(|running| running.expected_end(view.instance, view.now));
        let finish = ends.chain(places.iter().map(|at| at.end)).fold(view.now, Time::max);
        (places, finish)
    }

    /// Plans what has not started of a whole job by the rule of HEFT.
    fn plan_rest(&mut self, whole: usize, view: &View<'_>) {
        let (places, finish) = self.rest(whole, view);
        let Some(first) = places.iter().map(|at| at.job).min() else { return };
        self.reservations.add(places);
        self.records.note_again(whole, finish.ticks());
        let first = tasks(view.instance, whole).next().unwrap_or(first);
        self.tell(view, first, Logged::PlannedAgain { finish });
    }
}

/// Whether no task of a whole job has started, and all can.
fn is_whole(view: &View<'_>, whole: usize) -> bool {
    unstarted(view, whole).len() == tasks(view.instance, whole).count()
}

/// Tasks from `first` on at these places until these instants.
fn placements(first: JobId, places: &[Place], until: &[i64]) -> Vec<Placement> {
    let placement = |(task, (place, &until)): (usize, (&Place, &i64))| Placement {
        job: JobId(first.0 + task as u32),
        task: 0,
        start: Time::from_ticks(place.start),
        end: Time::from_ticks(until),
        processors: ProcSet::range(place.processor, place.processor),
    };
    places.iter().zip(until).enumerate().map(placement).collect()
}

impl Table<'_> {
    /// The jobs by urgency.
    fn in_turn(&self) -> flow::Flow {
        self.one_by_one(&self.order_by(Candidate::urgency), Hopeless::InTurn)
    }
}

impl Policy for JobFlow {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        for entry in std::mem::take(&mut self.recalled) {
            self.records.recall(whole_of(view.instance, entry.job), &entry.what);
        }
        let alarmed = self.is_alarmed(events, view);
        events.iter().for_each(|event| self.reservations.hear(event));
        for event in events {
            if let Event::Submitted(job) = *event
                && self.records.is_given_up(whole_of(view.instance, job))
            {
                decisions.push(Decision::Cancel(job));
            }
        }
        let new = new_wholes(&mut self.heard, events, view.instance);
        let moved = self.rescue(alarmed, view, decisions);
        let repaired = events.iter().any(|event| matches!(event, Event::NodeUp(_)));
        let changed = moved || repaired || !new.is_empty();
        self.serve((new, repaired || alarmed), view, decisions);
        if self.disturbed && changed {
            self.close_up(view, decisions);
        }
        self.reservations.start(view, decisions);
    }

    fn log(&mut self) -> Vec<LogEntry> {
        std::mem::take(&mut self.log)
    }

    fn recall(&mut self, told: &[LogEntry]) {
        self.recalled = told.to_vec();
    }
}

/// What the policy cannot drive: an instance whose whole jobs are not such as the method plans.
///
/// # Errors
/// Which property of the instance.
pub(super) fn supports(instance: &makespan_core::Instance) -> Result<(), Unsupported> {
    super::queue_state::taken_apart(instance)?;
    super::follow::supports(&crate::scheduler::CriticalJobs::default(), instance)
}
