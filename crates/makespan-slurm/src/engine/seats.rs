//! The pilots that there are to be, and those that there are.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use makespan_core::ProcSet;
use makespan_exec::engine::{Notice, Start};

use super::watch::{Became, FORGOTTEN, Report};
use super::{Allocation, Pilots};
use crate::Program;

/// How much longer than expected a task must have until its pilot ends.
const SLACK: Duration = Duration::from_secs(2);

/// So many pilots in a row in which no task ended are the last: something is wrong that another does not mend.
const MOST_FRUITLESS: u32 = 3;

/// How often the queue is searched for a job that may have been submitted, and how long it is waited in between.
const LOOKS: u32 = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

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
}

impl Seat {
    /// Empty ones.
    pub fn all(allocation: &Allocation) -> Vec<Self> {
        allocation.sizes().iter().map(|_| Self::default()).collect()
    }

    pub fn takes_tasks(&self) -> bool {
        self.job.is_some() && !self.draining
    }
}

impl Pilots {
    /// The pilots of earlier sessions that are not over, and what they were given.
    pub(super) fn find_earlier(&mut self) {
        let places = self.board.places();
        let bound = places.into_iter().filter_map(|place| Some((self.board.slot(&place)?, place)));
        let bound: Vec<_> = bound.filter(|(slot, _)| *slot < self.slots.len()).collect();
        let mut jobs: Vec<(u64, usize)> = self
            .board
            .pilots()
            .into_iter()
            .filter(|(job, seat)| *seat < self.seats.len() && !self.board.is_over(*job))
            .collect();
        jobs.sort_unstable();
        if let Allocation::Here { job, .. } = self.options.allocation {
            jobs = vec![(job, 0)];
        }
        for (job, seat) in jobs {
            // The latest counts; what runs in others goes on.
            self.seats[seat] = Seat { job: Some(job), has_ended_any: true, ..Seat::default() };
            self.watch.ask_job(job);
        }
        for (slot, place) in bound {
            self.know(&place, slot);
            self.watch.ask_job(place.job);
        }
    }

    /// Asks for the pilots that are missing, or begins in the allocation that is there.
    pub(super) fn ask_first(&mut self) -> Result<(), String> {
        if let Allocation::Here { job, .. } = self.options.allocation {
            return self.lead_here(job);
        }
        self.find_unknown();
        for seat in 0..self.seats.len() {
            if self.seats[seat].job.is_none() {
                self.submit(seat).map_err(|(text, _)| text)?;
            }
        }
        Ok(())
    }

    /// Starts the head of the pilot in an allocation that is there, unless it lives.
    fn lead_here(&mut self, job: u64) -> Result<(), String> {
        let wrong = |error: std::io::Error| format!("cannot begin in the allocation {job}: {error}");
        self.board.declare_not_over(job);
        self.board.record_pilot(job, 0).map_err(wrong)?;
        if self.board.lock_head(job).map_err(wrong)?.is_none() {
            return Ok(());
        }
        let log = std::fs::File::create(self.board.log(job)).map_err(wrong)?;
        let mut command = Command::new(&self.options.program);
        command.args(["agent", "--head", "--folder"]).arg(&self.options.folder).env("SLURM_JOB_ID", job.to_string());
        let nodes = self.slots.len().to_string();
        command.env("SLURM_JOB_NUM_NODES", &nodes).env("SLURM_NNODES", nodes);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map_err(wrong)?;
        Ok(())
    }

    /// Jobs of our name in the queue that are on no record: whoever submitted them died before it could write that down.
    fn find_unknown(&mut self) {
        let Allocation::Asked { name, pilots, .. } = &self.options.allocation else { return };
        let asked = ["--noheader", "--me", "--states=PENDING,RUNNING", "--format=%i %D", "--name", name.as_str()];
        let Ok(printed) = self.options.commands.run(Program::Squeue, asked) else { return };
        let sizes: Vec<usize> = pilots.iter().map(|pilot| pilot.nodes).collect();
        for line in printed.out.lines() {
            let Some((job, nodes)) = line.trim().split_once(' ') else { continue };
            let (Ok(job), Ok(nodes)) = (job.parse::<u64>(), nodes.trim().parse::<usize>()) else { continue };
            if self.board.is_over(job) || self.seats.iter().any(|seat| seat.job == Some(job)) {
                continue;
            }
            let seat = (0..sizes.len()).find(|&seat| self.seats[seat].job.is_none() && sizes[seat] == nodes);
            if let Some(seat) = seat.filter(|&seat| self.board.record_pilot(job, seat).is_ok()) {
                self.seats[seat].job = Some(job);
                self.watch.ask_job(job);
            }
        }
    }

    /// Asks for a pilot. The error says why there is none, and whether there may be one later.
    fn submit(&mut self, seat: usize) -> Result<(), (String, bool)> {
        let Allocation::Asked { pilots, options, name } = &self.options.allocation else { return Ok(()) };
        let size = &pilots[seat];
        let log = self.board.log_pattern();
        let mut arguments = vec![
            format!("--job-name={name}"),
            format!("--nodes={}", size.nodes),
            "--exclusive".into(),
            "--no-requeue".into(),
            "--no-kill".into(),
            format!("--output={}", log.display()),
            "--open-mode=append".into(),
        ];
        arguments.extend(size.time.as_ref().map(|time| format!("--time={time}")));
        arguments.extend(options.iter().cloned());
        let word = |path: &std::path::Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        let (program, folder) = (word(&self.options.program), word(&self.options.folder));
        let script = format!("#!/bin/sh\nexec {program} agent --head --folder {folder}\n");
        match self.options.commands.submit(&arguments, &script) {
            Ok(submitted) => {
                let job = submitted.job;
                // A controller that died and forgot a job gives its number again.
                self.board.declare_not_over(job);
                if let Err(error) = self.board.record_pilot(job, seat) {
                    let _ = self.options.commands.cancel(job);
                    return Err((format!("cannot write down pilot {job}: {error}"), true));
                }
                let fruitless = self.seats[seat].fruitless;
                self.seats[seat] = Seat { job: Some(job), fruitless, ..Seat::default() };
                self.watch.ask_job(job);
                Ok(())
            }
            Err(error) if error.is_ambiguous() => {
                // It may be on its way.
                for _ in 0..LOOKS {
                    self.find_unknown();
                    if self.seats[seat].job.is_some() {
                        return Ok(());
                    }
                    sleep(BETWEEN_LOOKS);
                }
                Err((error.to_string(), true))
            }
            Err(error) => Err((error.to_string(), error.is_passing())),
        }
    }

    pub(super) fn heard_of_slurm(&mut self, report: Report) {
        match report {
            Report::Job(job, state) => self.heard_of_job(job, state),
            Report::NodeDown(place) => {
                let text = format!("its node {} is gone, says Slurm", place.node);
                if let Some(agent) = self.agents.get_mut(&place) {
                    agent.gone.get_or_insert(text);
                    let slot = agent.slot;
                    self.close(slot, None);
                }
            }
        }
    }

    fn heard_of_job(&mut self, job: u64, state: Became) {
        let seat = self.seats.iter().position(|seat| seat.job == Some(job));
        match state {
            Became::Waits(reason) => {
                if let Some(seat) = seat
                    && self.seats[seat].waits.as_ref() != Some(&reason)
                {
                    // At first Slurm has not looked at it.
                    if !reason.is_empty() {
                        self.tell(format!("pilot {job} waits in the queue: {reason}"));
                    }
                    self.seats[seat].waits = Some(reason);
                }
            }
            Became::Runs(left) => {
                if let Some(seat) = seat {
                    let ends = left.map(|left| Instant::now() + left);
                    if self.seats[seat].waits.take().is_some_and(|reason| !reason.is_empty()) {
                        self.tell(format!("pilot {job} has begun"));
                    }
                    self.seats[seat].ends = ends;
                    self.await_agents(job);
                }
            }
            Became::Over(how) => {
                let _ = self.board.declare_over(job);
                self.watch.forget_job(job);
                let reason = format!("pilot {job} has ended ({how})");
                for (place, agent) in &mut self.agents {
                    if place.job == job {
                        agent.gone.get_or_insert_with(|| reason.clone());
                    }
                }
                if let Some(seat) = seat {
                    for slot in self.slots.of_seat(seat) {
                        self.close(slot, None);
                    }
                    match self.why_mute(job).filter(|_| how != FORGOTTEN) {
                        Some(why) => self.tell(format!("{reason} before any of its agents was there: {why}")),
                        None => self.tell(reason),
                    }
                    let Seat { has_ended_any, draining, fruitless, .. } = self.seats[seat];
                    // What a controller forgot that died is no sign of anything.
                    let counts = u32::from(how != FORGOTTEN);
                    let fruitless = if has_ended_any || draining { 0 } else { fruitless + counts };
                    let again = fruitless < MOST_FRUITLESS;
                    let again = again && matches!(self.options.allocation, Allocation::Asked { .. });
                    self.seats[seat] = Seat { closed: !again, fruitless, ..Seat::default() };
                }
            }
        }
    }

    /// Whether a task would outlast a pilot that it is to start in. Then nothing starts there any more.
    pub(super) fn drain_for(&mut self, parts: &[(usize, ProcSet)], start: &Start<'_>) -> Option<String> {
        let needs = Duration::from_nanos(u64::try_from(start.expected.ticks()).unwrap_or(0)) + SLACK;
        let mut reason = None;
        for (slot, _) in parts {
            let seat = self.slots.seat(*slot);
            let Some(ends) = self.seats[seat].ends else { continue };
            let left = ends.saturating_duration_since(Instant::now());
            if left < needs {
                let text = format!(
                    "pilot {} ends in {} s, and job `{}` is expected to take longer",
                    self.seats[seat].job.unwrap_or(0),
                    left.as_secs(),
                    start.name
                );
                self.drain(seat, &text);
                reason = Some(text);
            }
        }
        reason
    }

    fn drain(&mut self, seat: usize, reason: &str) {
        if !std::mem::replace(&mut self.seats[seat].draining, true) {
            self.tell(format!("{reason}: nothing more starts there"));
        }
        for slot in self.slots.of_seat(seat) {
            self.close(slot, None);
        }
    }

    /// Ends pilots that are done with, asks for others, and says when none will come.
    pub(super) fn look_after_seats(&mut self) {
        for seat in 0..self.seats.len() {
            let Seat { job, draining, .. } = self.seats[seat];
            if let Some(job) = job.filter(|_| draining) {
                let held = self.agents.iter().any(|(place, agent)| place.job == job && agent.holds > 0);
                if !held && !self.board.is_over(job) {
                    let _ = self.board.declare_over(job);
                    self.watch.expect_end(job);
                }
            }
            let missing = job.is_none() && !self.seats[seat].closed;
            let due = self.seats[seat].again.is_none_or(|again| again <= Instant::now());
            let asks = matches!(self.options.allocation, Allocation::Asked { .. });
            if missing && due && asks && self.may_use_another() {
                if self.seats[seat].again.is_some() {
                    // The last submission may have arrived late.
                    self.find_unknown();
                }
                if self.seats[seat].job.is_some() {
                    continue;
                }
                match self.submit(seat) {
                    Ok(()) => {
                        let job = self.seats[seat].job.unwrap_or(0);
                        self.tell(format!("work remains: pilot {job} is asked for"));
                    }
                    Err((text, passing)) => {
                        self.tell(format!("no pilot can be had: {text}"));
                        self.seats[seat].closed = !passing;
                        self.seats[seat].again = Some(Instant::now() + PAUSE);
                    }
                }
            }
        }
        let none = self.seats.iter().all(|seat| seat.job.is_none() && seat.closed);
        if none && self.tasks.is_empty() && !self.over {
            self.over = true;
            let text = "no pilot is left, and no other is asked for; resuming the run asks anew".into();
            self.notices.push_back(Notice::Over(text));
        }
    }

    /// Whether tasks wait for nodes.
    fn may_use_another(&self) -> bool {
        self.waiting > 0
    }

    /// The run is over, for now: pilots end, and those that wait leave the queue.
    pub(super) fn end_pilots(&mut self) {
        let here = matches!(self.options.allocation, Allocation::Here { .. });
        for job in self.seats.iter().filter_map(|seat| seat.job) {
            let _ = self.board.declare_over(job);
            let begun = self.agents.keys().any(|place| place.job == job);
            if !here && !begun {
                // It has not begun, so nobody there could see that it is over.
                let _ = self.options.commands.cancel(job);
            }
        }
    }
}
