//! Handles the reports of the batch system about pilots and their nodes.

use std::time::{Duration, Instant, SystemTime};

use makespan_exec::engine::Notice;

use super::{Life, MAX_FRUITLESS, PilotNodes, PilotSeat};
use crate::batch::shown;
use crate::engine::watch::{FORGOTTEN, JobStateChange, LEFT, PendingJob, PilotReport};
use crate::engine::{Allocation, Pilots};

/// Returns true if a job that is pending for `reason` may wait forever.
fn is_stuck(reason: &str) -> bool {
    const PASSING: [&str; 7] = ["priority", "resources", "begintime", "cleaning", "dependency", "none", "prolog"];
    !PASSING.contains(&reason.trim_matches(['(', ')']).to_ascii_lowercase().as_str())
}

impl Pilots {
    pub(in crate::engine) fn heard_of_pilots(&mut self, report: PilotReport) {
        match report {
            PilotReport::Job(job, state) => self.heard_of_job(job, state),
            PilotReport::Told(text) => self.tell(text),
            PilotReport::NodeGone(place) => {
                if let Some(agent) = self.nodes.agents.get_mut(&place).filter(|agent| agent.gone.is_none()) {
                    agent.gone = Some(format!("Slurm reports that node {} is unavailable", place.node));
                    let slot = agent.slot;
                    self.tell(format!("Slurm reports that node {} of pilot {} is unavailable", place.node, place.job));
                    self.close(slot);
                    let seat = self.nodes.slots.seat(slot);
                    self.nodes.seats[seat].lost += usize::from(self.nodes.seats[seat].job == Some(place.job));
                }
            }
        }
    }

    /// Handles a pilot that is pending in the queue.
    fn waits(&mut self, seat: usize, job: u64, waiting: &PendingJob) {
        if self.nodes.seats[seat].waits.as_ref() != Some(&waiting.reason) {
            // The reason is empty until Slurm's scheduler considers the job.
            if !waiting.reason.is_empty() {
                let advice = self.options.batch.advice(&waiting.reason, job);
                let advice = advice.map_or_else(String::new, |advice| format!("; {advice}"));
                let text = format!("pilot {} waits in the queue: {}{advice}", shown(job), waiting.reason);
                // If the job may wait forever, a warning is printed even in quiet mode.
                self.run.notices.push_back(if is_stuck(&waiting.reason) {
                    Notice::Warned(text)
                } else {
                    Notice::Told(text)
                });
            }
            self.nodes.seats[seat].waits = Some(waiting.reason.clone());
        }
        self.shorten(seat, waiting);
    }

    fn heard_of_job(&mut self, job: u64, state: JobStateChange) {
        let seat = self.nodes.seats.iter().position(|seat| seat.job == Some(job));
        match state {
            JobStateChange::Waits(waiting) => {
                if let Some(seat) = seat {
                    self.waits(seat, job, &waiting);
                }
            }
            JobStateChange::Runs(left) => {
                if let Some(seat) = seat {
                    // If the batch system states no remaining time, keep the end that the agent of the pilot has reported.
                    let ends = left.map(|left| Instant::now() + left).or(self.nodes.seats[seat].ends);
                    if self.nodes.seats[seat].waits.take().is_some_and(|reason| !reason.is_empty()) {
                        self.tell(format!("pilot {} has started", shown(job)));
                    }
                    (self.nodes.seats[seat].lacking, self.nodes.seats[seat].wants) = (None, PilotNodes::Some);
                    self.nodes.seats[seat].life = Life::Runs;
                    self.nodes.seats[seat].ends = ends;
                    self.nodes.seats[seat].whole = self.nodes.seats[seat].whole.max(left.unwrap_or_default());
                    self.announce(seat);
                    self.await_agents(job);
                }
            }
            JobStateChange::Over(how) if how == LEFT => self.is_missing(job),
            JobStateChange::Over(how) => self.is_over(job, &how),
            JobStateChange::Rests => {
                let begins = |life: &mut Life| std::mem::replace(life, Life::Rests) != Life::Rests;
                if let Some(seat) = seat.filter(|&seat| begins(&mut self.nodes.seats[seat].life)) {
                    let job = self.nodes.seats[seat].job.unwrap_or(0);
                    self.tell(format!(
                        "{} has suspended pilot {} and all its tasks",
                        self.options.batch.name(),
                        shown(job)
                    ));
                }
            }
        }
    }

    /// Handles a pilot that is missing in the lists of jobs. If one of its agents gives signs of life, the lists are wrong.
    /// Otherwise, cancels the pilot, because it may still be pending.
    fn is_missing(&mut self, job: u64) {
        if !self.nodes.agents.iter().any(|(place, agent)| place.job == job && agent.is_at_work()) {
            self.is_over(job, LEFT);
            self.hearing.watch.cancel(job);
        }
    }

    /// Records the end of a pilot that its agent reports, in seconds since 1970.
    pub(in crate::engine) fn heard_of_end(&mut self, job: u64, end: Option<u64>) {
        let Some(seat) = self.nodes.seats.iter().position(|seat| seat.job == Some(job)) else { return };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let Some(left) = end.map(|end| Duration::from_secs(end).saturating_sub(now)) else { return };
        self.nodes.seats[seat].ends = Some(Instant::now() + left);
        self.nodes.seats[seat].whole = self.nodes.seats[seat].whole.max(left);
        self.announce(seat);
    }

    /// Marks the agents of an ended pilot as gone. Each agent is dropped when its signs of life stop.
    pub(super) fn write_off(&mut self, job: u64, reason: &str) {
        for (_, agent) in self.nodes.agents.iter_mut().filter(|(place, _)| place.job == job) {
            agent.gone.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// Handles the end of a pilot.
    pub(in crate::engine) fn is_over(&mut self, job: u64, how: &str) {
        let seat = self.nodes.seats.iter().position(|seat| seat.job == Some(job));
        let _ = self.board.declare_over(job);
        self.hearing.watch.forget_job(job);
        let reason = format!("pilot {} has ended ({how})", shown(job));
        self.write_off(job, &reason);
        let Some(seat) = seat else { return };
        for slot in self.nodes.slots.of_seat(seat) {
            self.close(slot);
        }
        match self.why_mute(job).filter(|_| how != FORGOTTEN) {
            Some(why) => self.tell(format!("{reason} before any of its agents had reported: {why}")),
            None => self.tell(reason),
        }
        self.nodes.seats[seat].ends = None;
        self.announce(seat);
        let PilotSeat { has_ended_any, fruitless, wants, .. } = self.nodes.seats[seat];
        // If a restarted controller has forgotten the job, do not count the pilot as a failure.
        let counts = u32::from(how != FORGOTTEN);
        let fruitless = if has_ended_any { 0 } else { fruitless + counts };
        let again = fruitless < MAX_FRUITLESS;
        let again = again && matches!(self.options.allocation, Allocation::Asked { .. });
        self.nodes.seats[seat] = PilotSeat { closed: !again, fruitless, wants, ..PilotSeat::default() };
    }
}
