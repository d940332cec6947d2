//! Pilots with fewer nodes than planned, because some nodes accept no jobs or have failed.

use std::time::{Duration, Instant};

use super::{PilotNodes, PilotSeat};
use crate::batch::shown;
use crate::engine::watch::PendingJob;
use crate::engine::{Allocation, Pilots};

/// Time for which a pilot waits for nodes that accept no jobs. After this time, another pilot without these nodes
/// replaces it.
const PATIENCE: Duration = Duration::from_secs(10);

/// For a pilot that has lost a node: if no task starts for this time, a pilot with all nodes replaces it.
const STUCK: Duration = Duration::from_secs(10);
/// For a pilot with agents that have not appeared yet: if no task starts for this time, a pilot with all nodes
/// replaces it.
const LATE: Duration = Duration::from_mins(1);

impl Pilots {
    /// If a pilot waits for more nodes than accept jobs, replaces it by a pilot with fewer nodes, so that some tasks
    /// can start.
    pub(super) fn shorten(&mut self, seat: usize, waiting: &PendingJob) {
        let Allocation::Asked { pilots, .. } = &self.options.allocation else { return };
        let hosts = &pilots[seat].placed.hosts;
        let there = waiting.up.iter().flatten().filter(|name| hosts.contains(name));
        let there: Vec<String> = there.take(pilots[seat].nodes).cloned().collect();
        let PilotSeat { job, wants, lacking, .. } = self.nodes.seats[seat];
        let Some(job) =
            job.filter(|_| wants == PilotNodes::Some && !there.is_empty() && (there.len() as u64) < waiting.nodes)
        else {
            self.nodes.seats[seat].lacking = None;
            return;
        };
        let since = lacking.unwrap_or_else(Instant::now);
        self.nodes.seats[seat].lacking = Some(since);
        if since.elapsed() < PATIENCE || self.options.batch.cancel(&[job]).is_err() {
            return;
        }
        let _ = self.board.declare_over(job);
        self.hearing.watch.forget_job(job);
        // The controller may have forgotten an earlier job with this id. Its agents may still run, so mark them as
        // gone.
        self.write_off(job, &format!("pilot {} has left the queue", shown(job)));
        self.tell(format!(
            "only {} of the {} nodes of the pending pilot {} accept jobs now: the pilot is submitted again without \
             the other nodes",
            there.len(),
            waiting.nodes,
            shown(job)
        ));
        self.nodes.seats[seat].job = None;
        if let Err((text, passing)) = self.submit(seat, Some(&there)) {
            self.tell(format!("cannot submit a pilot: {text}"));
            self.nodes.seats[seat].closed = !passing;
            self.nodes.seats[seat].again = Some(Instant::now() + super::PAUSE);
        }
    }

    /// Cancels pilots that lack nodes, and submits pilots with all nodes instead. Does this only if tasks wait, no task
    /// runs, and the missing nodes prevent every start.
    pub(super) fn look_for_stuck(&mut self) {
        let begun =
            |seat: &PilotSeat| seat.job.is_none_or(|job| self.nodes.agents.keys().any(|place| place.job == job));
        let nothing = self.run.tasks.is_empty() && self.run.waiting > 0 && self.nodes.seats.iter().all(begun);
        let short: Vec<usize> = (0..self.nodes.seats.len()).filter(|&seat| self.is_short(seat)).collect();
        if !nothing || short.is_empty() {
            self.nodes.idle = None;
            return;
        }
        let since = *self.nodes.idle.get_or_insert_with(Instant::now);
        let is_lost = short.iter().any(|&seat| self.nodes.seats[seat].lost > 0);
        if since.elapsed() < if is_lost { STUCK } else { LATE } {
            return;
        }
        self.nodes.idle = None;
        for seat in short {
            self.nodes.seats[seat].wants = PilotNodes::All;
            let slots = self.nodes.slots.of_seat(seat);
            let (all, there) = (slots.len(), slots.filter(|&slot| self.place_of(slot).is_some()).count());
            let job = self.nodes.seats[seat].job.unwrap_or(0);
            let text = format!(
                "pilot {} has only {there} of its {all} nodes, and no pending job can start on them",
                shown(job)
            );
            self.drain(seat, &text);
            if matches!(self.options.allocation, Allocation::Here { .. }) {
                // An existing allocation cannot be replaced. So end its agents.
                let _ = self.board.declare_over(job);
                self.nodes.seats[seat] = PilotSeat { closed: true, ..PilotSeat::default() };
            }
        }
    }

    /// Returns true if a pilot has started and lacks nodes.
    fn is_short(&self, seat: usize) -> bool {
        let mut slots = self.nodes.slots.of_seat(seat);
        self.nodes.seats[seat].takes_tasks() && slots.any(|slot| self.place_of(slot).is_none())
    }
}
