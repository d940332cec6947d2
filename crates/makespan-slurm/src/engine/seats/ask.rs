//! Submission of pilots, and the search for pilots of earlier sessions.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::PilotSeat;
use crate::JobState;
use crate::batch::{JobRequest, JobSize, ListedJob, quoted, shown};
use crate::engine::{Allocation, PilotSize, Pilots};
use crate::pilot::PilotNode;

/// Number of searches of the queue for a job that may have been submitted.
const LOOKS: u32 = 4;
/// Pause between two of these searches.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// Time limit for a query of the queue.
const ANSWER: Duration = Duration::from_secs(10);

impl Pilots {
    /// Adopts the pilots of earlier sessions that have not ended, and the tasks of these pilots.
    pub(in crate::engine) fn find_earlier(&mut self) {
        let places = self.board.places();
        let bound = places.into_iter().filter_map(|place| Some((self.board.slot(&place)?, place)));
        // Ignore ended pilots without tasks. An ended pilot may still hold tasks: the planner may have ended before it
        // handled the ends of these tasks.
        let counts = |place: &PilotNode| !self.board.is_over(place.job) || self.board.holds_any(place);
        let bound = bound.filter(|(slot, place)| *slot < self.nodes.slots.len() && counts(place));
        let bound: Vec<_> = bound.collect();
        let mut jobs: Vec<(u64, usize)> = self
            .board
            .pilots()
            .into_iter()
            .filter(|(job, seat)| *seat < self.nodes.seats.len() && !self.board.is_over(*job))
            .collect();
        jobs.sort_unstable();
        if let Allocation::Here { job, .. } = self.options.allocation {
            jobs = vec![(job, 0)];
        }
        for (job, seat) in jobs {
            // The latest pilot of a seat fills the seat. Tasks in earlier pilots of this seat continue.
            self.nodes.seats[seat] = PilotSeat { job: Some(job), has_ended_any: true, ..PilotSeat::default() };
            self.hearing.watch.ask_job(job);
        }
        for (slot, place) in bound {
            self.know(&place, slot);
            let ends = self.board.beacon(&place).and_then(|beacon| beacon.ends);
            self.heard_of_end(place.job, ends);
            self.hearing.watch.ask_job(place.job);
        }
    }

    /// Submits the missing pilots. In an existing allocation, starts the first process of the pilot and submits
    /// nothing.
    pub(in crate::engine) fn ask_first(&mut self) -> Result<(), String> {
        if let Allocation::Here { job, up, .. } = &self.options.allocation {
            return self.lead_here(*job, up);
        }
        self.find_unknown();
        self.submit_together()?;
        for seat in 0..self.nodes.seats.len() {
            if self.nodes.seats[seat].job.is_none() {
                self.submit(seat, None).map_err(|(text, _)| text)?;
            }
        }
        Ok(())
    }

    /// Submits the missing pilots as one job array if the batch system has job arrays and the pilots are equal. If this
    /// is refused, the pilots are missing still.
    fn submit_together(&mut self) -> Result<(), String> {
        let (missing, submitted) = {
            let Allocation::Asked { pilots, options, name } = &self.options.allocation else { return Ok(()) };
            let missing = (0..pilots.len()).filter(|&seat| self.nodes.seats[seat].job.is_none()).collect::<Vec<_>>();
            let is_equal = missing.iter().all(|&seat| pilots[seat] == pilots[missing[0]]);
            if missing.len() < 2 || !is_equal || !self.options.batch.has_arrays() {
                return Ok(());
            }
            let request = self.request(&pilots[missing[0]], name, None);
            let count = u32::try_from(missing.len()).unwrap_or(u32::MAX);
            let submitted = self.options.batch.submit_array(&request, options, &self.line(), count);
            (missing, submitted)
        };
        match submitted {
            Ok(jobs) => {
                missing.into_iter().zip(jobs).try_for_each(|(seat, job)| self.fill(seat, job)).map_err(|it| it.0)
            }
            Err(error) if error.is_ambiguous() => {
                let are_there = |pilots: &Self| missing.iter().all(|&seat| pilots.nodes.seats[seat].job.is_some());
                self.search(are_there);
                if are_there(self) { Ok(()) } else { Err(error.to_string()) }
            }
            Err(_) => Ok(()),
        }
    }

    /// Returns the request for a pilot. `among` contains its nodes if it is not to have all its nodes.
    fn request<'a>(&'a self, size: &'a PilotSize, name: &'a str, among: Option<&[String]>) -> JobRequest<'a> {
        let PilotSize { cores, memory, .. } = *size;
        let nodes = among.map_or(size.nodes, <[String]>::len);
        let (time, logs) = (size.time.as_deref(), Some(self.board.logs()));
        JobRequest { name, size: Some(JobSize { nodes, cores, memory }), time, logs }
    }

    /// Returns the command that starts the head of a pilot.
    fn line(&self) -> String {
        let (program, folder) = (quoted(&self.options.program), quoted(&self.options.folder));
        format!("{program} agent --head --folder {folder}")
    }

    /// Searches the queue several times for jobs that may have been submitted, until `is_found` returns true. A job may
    /// appear in the queue late.
    fn search(&mut self, is_found: impl Fn(&Self) -> bool) {
        for _ in 0..LOOKS {
            self.find_unknown();
            if is_found(self) {
                return;
            }
            sleep(BETWEEN_LOOKS);
        }
    }

    /// Records that a submitted job is the pilot of a seat.
    fn fill(&mut self, seat: usize, job: u64) -> Result<(), (String, bool)> {
        // A controller that has lost its state reuses job ids. So an earlier job with this id may be recorded as ended.
        self.board.declare_not_over(job);
        let own = self.nodes.agents.iter_mut().filter(|(place, _)| place.job == job);
        own.for_each(|(_, agent)| agent.is_again());
        if let Err(error) = self.board.record_pilot(job, seat) {
            let _ = self.options.batch.cancel(&[job]);
            return Err((format!("cannot record pilot {}: {error}", shown(job)), true));
        }
        let PilotSeat { fruitless, wants, .. } = self.nodes.seats[seat];
        self.nodes.seats[seat] = PilotSeat { job: Some(job), fruitless, wants, ..PilotSeat::default() };
        self.hearing.watch.ask_job(job);
        Ok(())
    }

    /// Starts the head of the pilot (the process that starts its agents) in an existing allocation, unless a head
    /// already runs there.
    fn lead_here(&self, job: u64, up: &[String]) -> Result<(), String> {
        let wrong = |error: std::io::Error| format!("cannot start agents in the allocation {job}: {error}");
        self.board.declare_not_over(job);
        self.board.record_pilot(job, 0).map_err(wrong)?;
        if self.board.lock_head(job).map_err(wrong)?.is_none() {
            return Ok(());
        }
        let log = std::fs::File::create(self.board.log(job)).map_err(wrong)?;
        let mut command = Command::new(&self.options.program);
        command.args(["agent", "--head", "--folder"]).arg(&self.options.folder).env("SLURM_JOB_ID", job.to_string());
        // Name the nodes, because Slurm might otherwise choose nodes that are down or not in the plan.
        command.arg(format!("--nodelist={}", up.join(",")));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map_err(wrong)?;
        Ok(())
    }

    /// Searches the queue for jobs of this run that are not recorded in its files. Such a job exists if a session
    /// ended after the submission of the job and before the record.
    pub(super) fn find_unknown(&mut self) {
        let Allocation::Asked { name, pilots, .. } = &self.options.allocation else { return };
        // Wait only briefly for a controller that does not answer. If a job is not found, the run gets one pilot too
        // many. That pilot ends by itself.
        let batch = self.options.batch.clone().with_limit(ANSWER).with_patience(Duration::ZERO);
        let Ok(listed) = batch.jobs() else { return };
        let sizes: Vec<usize> = pilots.iter().map(|pilot| pilot.nodes).collect();
        let is_own =
            |entry: &&ListedJob| entry.name == *name && (entry.state.is_waiting() || entry.state == JobState::Running);
        for ListedJob { job, nodes, .. } in listed.iter().filter(is_own) {
            let (job, nodes) = (*job, nodes.unwrap_or(1));
            if self.board.is_over(job) || self.nodes.seats.iter().any(|seat| seat.job == Some(job)) {
                continue;
            }
            let free = || (0..sizes.len()).filter(|&seat| self.nodes.seats[seat].job.is_none());
            // Prefer a seat for this number of nodes. Otherwise use a larger seat, because the job may have requested
            // fewer nodes than the seat needs.
            let seat = free().find(|&seat| sizes[seat] == nodes).or_else(|| free().find(|&seat| sizes[seat] > nodes));
            if let Some(seat) = seat.filter(|&seat| self.board.record_pilot(job, seat).is_ok()) {
                self.nodes.seats[seat].job = Some(job);
                self.hearing.watch.ask_job(job);
            }
        }
    }

    /// Submits a pilot with all its nodes, or only with its nodes in `among`. An error contains the reason. Its flag
    /// is true if a later try may succeed.
    pub(super) fn submit(&mut self, seat: usize, among: Option<&[String]>) -> Result<(), (String, bool)> {
        let Allocation::Asked { pilots, options, name } = &self.options.allocation else { return Ok(()) };
        let size = &pilots[seat];
        let mut own = options.clone();
        own.extend(size.placed.sbatch(among));
        let request = self.request(size, name, among);
        match self.options.batch.submit(&request, &own, &self.line()) {
            Ok(job) => self.fill(seat, job),
            Err(error) if error.is_ambiguous() => {
                self.search(|pilots| pilots.nodes.seats[seat].job.is_some());
                let is_found = self.nodes.seats[seat].job.is_some();
                if is_found { Ok(()) } else { Err((error.to_string(), true)) }
            }
            Err(error) => Err((error.to_string(), error.is_passing())),
        }
    }
}
