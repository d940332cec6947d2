//! The pilots of a run. A *seat* represents one pilot that the run needs. Over time, several Slurm jobs may fill a
//! seat, one after another.

mod ask;
mod hear;
mod short;

use std::time::{Duration, Instant};

use makespan_core::{Outage, ProcSet};
use makespan_exec::engine::{EngineStart, Notice};

use super::{Allocation, Pilots};
use crate::batch::shown;

/// Before the end of a pilot, the plan contains no tasks on the pilot for this time.
const MARGIN: Duration = Duration::from_secs(2);

/// Minimum time between the expected end of a task and the end of its pilot. This time is shorter than `MARGIN`,
/// because policies start tasks slightly later than planned.
const SLACK: Duration = Duration::from_secs(1);

/// If the end of a pilot changes by at most this time, the change is not announced. Slurm reports ends in whole
/// seconds.
const DRIFT: Duration = Duration::from_secs(3);

/// Time between two searches for pilots that end too early for all pending tasks.
const REVIEW: Duration = Duration::from_secs(1);

/// If no task ended in this number of consecutive pilots, no further pilot is submitted. It would probably fail too.
const MAX_FRUITLESS: u32 = 3;

/// Pause after Slurm has temporarily refused a submission.
const PAUSE: Duration = Duration::from_secs(15);

/// The state of one pilot job, from its submission to its replacement.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each field states whether one event of the pilot has occurred")]
pub(super) struct PilotSeat {
    /// The id of the job that fills the seat.
    pub job: Option<u64>,
    /// The last reported reason why the job is pending.
    waits: Option<String>,
    /// The end of the pilot, if Slurm has reported it.
    ends: Option<Instant>,
    /// The end of the pilot in the last announcement.
    announced: Option<Instant>,
    /// The longest remaining time of the pilot that Slurm has reported.
    whole: Duration,
    /// True if no further task starts in the pilot. Tasks that already run there continue.
    draining: bool,
    /// True if an agent of the pilot has reported.
    pub has_agent: bool,
    /// True if a task has ended in the pilot.
    pub has_ended_any: bool,
    /// Number of consecutive pilots of this seat, up to now, in which no task ended.
    fruitless: u32,
    /// True if no further pilot will be submitted.
    pub closed: bool,
    /// Earliest time of the next submission.
    again: Option<Instant>,
    /// Instant since which the job has been waiting for nodes that accept no jobs.
    lacking: Option<Instant>,
    /// The nodes that the next pilot needs.
    wants: PilotNodes,
    /// Number of nodes that the pilot has lost.
    lost: usize,
    /// The state of the job that Slurm reported last.
    life: Life,
    /// Instant of the last attempt to cancel the pilot because it seemed lost.
    tried: Option<Instant>,
}

/// The state of a pilot according to Slurm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    /// The job has not started, or its state is unknown.
    #[default]
    Unknown,
    /// The job is running.
    Runs,
    /// The job is suspended, with all its tasks.
    Rests,
}

/// The nodes that a pilot needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PilotNodes {
    /// The nodes that accept jobs now.
    #[default]
    Some,
    /// All planned nodes, even if the pilot must wait long for them.
    All,
}

impl PilotSeat {
    /// Returns an empty seat for each pilot.
    pub fn all(allocation: &Allocation) -> Vec<Self> {
        allocation.sizes().iter().map(|_| Self::default()).collect()
    }

    /// Returns true if Slurm reports that the pilot runs and is not suspended.
    pub fn is_awake(&self) -> bool {
        self.life == Life::Runs
    }

    /// Returns true if the planner may now try to cancel the pilot because it seems lost. Two attempts are at least
    /// five seconds apart.
    pub fn may_give_up(&mut self) -> bool {
        let is_due = self.tried.is_none_or(|tried| tried.elapsed() >= Duration::from_secs(5));
        self.tried = Some(Instant::now()).filter(|_| is_due).or(self.tried);
        is_due
    }

    /// Returns true if the job has not been reported as running or suspended.
    pub fn is_unseen(&self) -> bool {
        self.life == Life::Unknown
    }

    pub fn takes_tasks(&self) -> bool {
        self.job.is_some() && !self.draining
    }
}

impl Pilots {
    /// If the pilot of a task is expected to end before the task, stops the start of tasks in this pilot and returns
    /// the reason.
    pub(super) fn drain_for(&mut self, parts: &[(usize, ProcSet)], start: &EngineStart<'_>) -> Option<String> {
        let expected = Duration::from_nanos(u64::try_from(start.expected.ticks()).unwrap_or(0));
        let mut reason = None;
        for (slot, _) in parts {
            let seat = self.nodes.slots.seat(*slot);
            let Some(ends) = self.nodes.seats[seat].ends else { continue };
            let left = ends.saturating_duration_since(Instant::now());
            // If the run time is only a guess, the task may start even if the guess exceeds the length of every pilot.
            let most = if start.is_guess { self.nodes.seats[seat].whole / 2 } else { Duration::MAX };
            if left < expected.min(most).saturating_add(SLACK) {
                let text = format!(
                    "pilot {} ends in {} s, but job `{}` is expected to take longer",
                    shown(self.nodes.seats[seat].job.unwrap_or(0)),
                    left.as_secs(),
                    start.name
                );
                self.drain(seat, &text);
                reason = Some(text);
            }
        }
        reason
    }

    /// Announces the end of a pilot to the run, so that no plan contains a task after this end.
    fn announce(&mut self, seat: usize) {
        let PilotSeat { ends, announced, .. } = self.nodes.seats[seat];
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

    /// Ends pilots without running tasks if every pending task would end after the end of the pilot.
    pub(super) fn give_back_idle(&mut self, shortest: &dyn Fn() -> Option<Duration>) {
        if self.run.waiting == 0 || self.looks.reviewed.elapsed() < REVIEW {
            return;
        }
        self.looks.reviewed = Instant::now();
        let idle = |seat: &PilotSeat| {
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
                    "pilot {} ends in {} s, but every pending job is expected to take longer",
                    shown(job),
                    left.as_secs()
                );
                self.drain(seat, &text);
            }
        }
    }

    fn drain(&mut self, seat: usize, reason: &str) {
        if !std::mem::replace(&mut self.nodes.seats[seat].draining, true) {
            self.tell(format!("{reason}: no more jobs start in this pilot"));
        }
        for slot in self.nodes.slots.of_seat(seat) {
            self.close(slot);
        }
    }

    /// Ends pilots that are not needed, and submits pilots for empty seats. Reports when no further pilot will be
    /// submitted.
    pub(super) fn look_after_seats(&mut self) {
        self.look_for_stuck();
        for seat in 0..self.nodes.seats.len() {
            let PilotSeat { job, draining, .. } = self.nodes.seats[seat];
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
                    // The last submission may have reached the controller after the time limit. So search for its job.
                    self.find_unknown();
                }
                if self.nodes.seats[seat].job.is_some() {
                    continue;
                }
                match self.submit(seat, None) {
                    Ok(()) => {
                        let job = self.nodes.seats[seat].job.unwrap_or(0);
                        self.tell(format!("jobs remain: pilot {} is requested", shown(job)));
                    }
                    Err((text, passing)) => {
                        self.tell(format!("cannot submit a pilot: {text}"));
                        self.nodes.seats[seat].closed = !passing;
                        self.nodes.seats[seat].again = Some(Instant::now() + PAUSE);
                    }
                }
            }
        }
        let none = self.nodes.seats.iter().all(|seat| seat.job.is_none() && seat.closed);
        if none && self.run.tasks.is_empty() && !self.nodes.over {
            self.nodes.over = true;
            let text = "all pilots have ended, and no other pilot will be requested; resuming the run requests pilots \
                        again"
                .into();
            self.run.notices.push_back(Notice::Over(text));
        }
    }

    /// Returns true if more tasks wait for nodes than pilots are still to start.
    fn may_use_another(&self) -> bool {
        let has_begun = |job: u64| self.nodes.agents.keys().any(|place| place.job == job);
        let coming = self.nodes.seats.iter().filter(|seat| seat.job.is_some_and(|job| !has_begun(job))).count();
        self.run.waiting > coming
    }

    /// Ends the pilots at the end of the session. Pending pilots leave the queue.
    pub(super) fn end_pilots(&mut self) {
        let here = matches!(self.options.allocation, Allocation::Here { .. });
        for job in self.nodes.seats.iter().filter_map(|seat| seat.job) {
            let _ = self.board.declare_over(job);
            let begun = self.nodes.agents.keys().any(|place| place.job == job);
            if !here && !begun {
                // A job that has not started has no agent that could end it. So cancel the job.
                let _ = self.options.batch.cancel(&[job]);
            }
        }
    }
}
