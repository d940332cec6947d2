//! The pilots that there are to be, and those that there are.

mod ask;
mod hear;
mod short;

use std::time::{Duration, Instant};

use makespan_core::{Outage, ProcSet};
use makespan_exec::engine::{Notice, Start};

use super::{Allocation, Pilots};

/// How long before its end a pilot is planned to be empty.
const MARGIN: Duration = Duration::from_secs(2);

/// How much longer than expected a task must have until its pilot ends: less, since policies are woken a little late.
const SLACK: Duration = Duration::from_secs(1);

/// By how much the end of a pilot may differ from what was said without being said again: Slurm counts whole seconds.
const DRIFT: Duration = Duration::from_secs(3);

/// Between two looks for pilots in which no task that waits has time enough.
const REVIEW: Duration = Duration::from_secs(1);

/// So many pilots in a row in which no task ended are the last: something is wrong that another does not mend.
const MAX_FRUITLESS: u32 = 3;

/// Between two attempts at a submission that Slurm refused for now.
const PAUSE: Duration = Duration::from_secs(15);

/// A pilot that there is to be.
#[derive(Debug, Default)]
pub(super) struct Seat {
    /// The job that it is.
    pub job: Option<u64>,
    /// Why it waits, as was told.
    waits: Option<String>,
    /// When it ends, if that is known.
    ends: Option<Instant>,
    /// The same, as the plan knows it.
    announced: Option<Instant>,
    /// The longest that it was known to have left.
    whole: Duration,
    /// Whether what runs in it may end, and nothing else starts.
    draining: bool,
    /// Whether a task has ended in it.
    pub has_ended_any: bool,
    /// How many pilots in a row have ended in which none had.
    fruitless: u32,
    /// Whether another is not asked for.
    pub closed: bool,
    /// When to ask again.
    again: Option<Instant>,
    /// Since when it waits for nodes that take no jobs.
    lacking: Option<Instant>,
    /// Which of its nodes it is to have.
    wants: Wants,
    /// How many of its nodes are gone.
    lost: usize,
    /// What Slurm said of it last.
    life: Life,
    /// When it was last tried to give it up.
    tried: Option<Instant>,
}

/// What Slurm says of a pilot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    /// It has not begun, or nothing is known.
    #[default]
    Unknown,
    /// It runs.
    Runs,
    /// It is suspended, with all that runs in it.
    Rests,
}

/// Which of its nodes a pilot is to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wants {
    /// Those that take jobs.
    #[default]
    Some,
    /// All, however long that takes.
    All,
}

impl Seat {
    /// Empty ones.
    pub fn all(allocation: &Allocation) -> Vec<Self> {
        allocation.sizes().iter().map(|_| Self::default()).collect()
    }

    /// Whether Slurm says that it runs, and not that it is suspended.
    pub fn is_awake(&self) -> bool {
        self.life == Life::Runs
    }

    /// Whether it may be tried to give it up, which is not done all the time.
    pub fn may_give_up(&mut self) -> bool {
        let is_due = self.tried.is_none_or(|tried| tried.elapsed() >= Duration::from_secs(5));
        self.tried = Some(Instant::now()).filter(|_| is_due).or(self.tried);
        is_due
    }

    pub fn takes_tasks(&self) -> bool {
        self.job.is_some() && !self.draining
    }
}

impl Pilots {
    /// Whether a task would outlast a pilot that it is to start in. Then nothing starts there any more.
    pub(super) fn drain_for(&mut self, parts: &[(usize, ProcSet)], start: &Start<'_>) -> Option<String> {
        let expected = Duration::from_nanos(u64::try_from(start.expected.ticks()).unwrap_or(0));
        let mut reason = None;
        for (slot, _) in parts {
            let seat = self.nodes.slots.seat(*slot);
            let Some(ends) = self.nodes.seats[seat].ends else { continue };
            let left = ends.saturating_duration_since(Instant::now());
            // What is guessed to take longer than any pilot has is to begin somewhere.
            let most = if start.is_guess { self.nodes.seats[seat].whole / 2 } else { Duration::MAX };
            if left < expected.min(most).saturating_add(SLACK) {
                let text = format!(
                    "pilot {} ends in {} s, and job `{}` is expected to take longer",
                    self.nodes.seats[seat].job.unwrap_or(0),
                    left.as_secs(),
                    start.name
                );
                self.drain(seat, &text);
                reason = Some(text);
            }
        }
        reason
    }

    /// Says when a pilot ends, so that nothing is planned into its end.
    fn announce(&mut self, seat: usize) {
        let Seat { ends, announced, .. } = self.nodes.seats[seat];
        let has_moved = match (ends, announced) {
            (Some(new), Some(old)) => new.max(old) - new.min(old) > DRIFT,
            (new, old) => new.is_some() != old.is_some(),
        };
        if has_moved {
            self.nodes.seats[seat].announced = ends;
            let after = ends.map(|ends| ends.saturating_duration_since(Instant::now()).saturating_sub(MARGIN));
            let own = self.nodes.slots.of_seat(seat).map(|slot| self.nodes.slots.processors(slot));
            let processors = own.fold(ProcSet::new(), |all, own| all.union(own));
            self.run.notices.push_back(Notice::Closing { outage: Outage(seat as u32), processors, after });
        }
    }

    /// Gives back pilots in which nothing runs, and that end before any task that waits could end there.
    pub(super) fn give_back_idle(&mut self, shortest: &dyn Fn() -> Option<Duration>) {
        if self.run.waiting == 0 || self.looks.reviewed.elapsed() < REVIEW {
            return;
        }
        self.looks.reviewed = Instant::now();
        let idle = |seat: &Seat| {
            let own = self.nodes.agents.iter().filter(|(place, _)| Some(place.job) == seat.job);
            seat.takes_tasks() && own.clone().count() > 0 && own.into_iter().all(|(_, agent)| agent.holds == 0)
        };
        let idle: Vec<usize> = (0..self.nodes.seats.len()).filter(|&seat| idle(&self.nodes.seats[seat])).collect();
        let ends = idle.into_iter().filter_map(|seat| Some((seat, self.nodes.seats[seat].ends?))).collect::<Vec<_>>();
        if ends.is_empty() {
            return;
        }
        let Some(shortest) = shortest() else { return };
        for (seat, ends) in ends {
            let left = ends.saturating_duration_since(Instant::now());
            if left < shortest + MARGIN {
                let job = self.nodes.seats[seat].job.unwrap_or(0);
                let text = format!(
                    "pilot {job} ends in {} s, and every job that waits is expected to take longer",
                    left.as_secs()
                );
                self.drain(seat, &text);
            }
        }
    }

    fn drain(&mut self, seat: usize, reason: &str) {
        if !std::mem::replace(&mut self.nodes.seats[seat].draining, true) {
            self.tell(format!("{reason}: nothing more starts there"));
        }
        for slot in self.nodes.slots.of_seat(seat) {
            self.close(slot, None);
        }
    }

    /// Ends pilots that are done with, asks for others, and says when none will come.
    pub(super) fn look_after_seats(&mut self) {
        self.look_for_stuck();
        for seat in 0..self.nodes.seats.len() {
            let Seat { job, draining, .. } = self.nodes.seats[seat];
            if let Some(job) = job.filter(|_| draining) {
                let held = self.nodes.agents.iter().any(|(place, agent)| place.job == job && agent.holds > 0);
                if !held && !self.board.is_over(job) {
                    let _ = self.board.declare_over(job);
                    self.hearing.watch.expect_end(job);
                }
            }
            let missing = job.is_none() && !self.nodes.seats[seat].closed;
            let due = self.nodes.seats[seat].again.is_none_or(|again| again <= Instant::now());
            let asks = matches!(self.options.allocation, Allocation::Asked { .. });
            if missing && due && asks && self.may_use_another() {
                if self.nodes.seats[seat].again.is_some() {
                    // The last submission may have arrived late.
                    self.find_unknown();
                }
                if self.nodes.seats[seat].job.is_some() {
                    continue;
                }
                match self.submit(seat, None) {
                    Ok(()) => {
                        let job = self.nodes.seats[seat].job.unwrap_or(0);
                        self.tell(format!("work remains: pilot {job} is asked for"));
                    }
                    Err((text, passing)) => {
                        self.tell(format!("no pilot can be had: {text}"));
                        self.nodes.seats[seat].closed = !passing;
                        self.nodes.seats[seat].again = Some(Instant::now() + PAUSE);
                    }
                }
            }
        }
        let none = self.nodes.seats.iter().all(|seat| seat.job.is_none() && seat.closed);
        if none && self.run.tasks.is_empty() && !self.nodes.over {
            self.nodes.over = true;
            let text = "no pilot is left, and no other is asked for; resuming the run asks anew".into();
            self.run.notices.push_back(Notice::Over(text));
        }
    }

    /// Whether more tasks wait for nodes than pilots that have not begun.
    fn may_use_another(&self) -> bool {
        let has_begun = |job: u64| self.nodes.agents.keys().any(|place| place.job == job);
        let coming = self.nodes.seats.iter().filter(|seat| seat.job.is_some_and(|job| !has_begun(job))).count();
        self.run.waiting > coming
    }

    /// The run is over, for now: pilots end, and those that wait leave the queue.
    pub(super) fn end_pilots(&mut self) {
        let here = matches!(self.options.allocation, Allocation::Here { .. });
        for job in self.nodes.seats.iter().filter_map(|seat| seat.job) {
            let _ = self.board.declare_over(job);
            let begun = self.nodes.agents.keys().any(|place| place.job == job);
            if !here && !begun {
                // It has not begun, so nobody there could see that it is over.
                let _ = self.options.commands.cancel(job);
            }
        }
    }
}
