//! How pilots are asked for, and how those of earlier sessions are found.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::Seat;
use crate::Program;
use crate::engine::{Allocation, Pilots};
use crate::pilot::Place;

/// How often the queue is searched for a job that may have been submitted, and how long it is waited in between.
const LOOKS: u32 = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// How long it may take to say what is in the queue.
const ANSWER: Duration = Duration::from_secs(10);

impl Pilots {
    /// The pilots of earlier sessions that are not over, and what they were given.
    pub(in crate::engine) fn find_earlier(&mut self) {
        let places = self.board.places();
        let bound = places.into_iter().filter_map(|place| Some((self.board.slot(&place)?, place)));
        // A pilot that was ended holds nothing any more, unless somebody did not live to say so.
        let counts = |place: &Place| !self.board.is_over(place.job) || self.board.holds_any(place);
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
            // The latest counts; what runs in others goes on.
            self.nodes.seats[seat] = Seat { job: Some(job), has_ended_any: true, ..Seat::default() };
            self.hearing.watch.ask_job(job);
        }
        for (slot, place) in bound {
            self.know(&place, slot);
            self.hearing.watch.ask_job(place.job);
        }
    }

    /// Asks for the pilots that are missing, or begins in the allocation that is there.
    pub(in crate::engine) fn ask_first(&mut self) -> Result<(), String> {
        if let Allocation::Here { job, up, .. } = &self.options.allocation {
            return self.lead_here(*job, up);
        }
        self.find_unknown();
        for seat in 0..self.nodes.seats.len() {
            if self.nodes.seats[seat].job.is_none() {
                self.submit(seat, None).map_err(|(text, _)| text)?;
            }
        }
        Ok(())
    }

    /// Starts the head of the pilot in an allocation that is there, unless it lives.
    fn lead_here(&self, job: u64, up: &[String]) -> Result<(), String> {
        let wrong = |error: std::io::Error| format!("cannot begin in the allocation {job}: {error}");
        self.board.declare_not_over(job);
        self.board.record_pilot(job, 0).map_err(wrong)?;
        if self.board.lock_head(job).map_err(wrong)?.is_none() {
            return Ok(());
        }
        let log = std::fs::File::create(self.board.log(job)).map_err(wrong)?;
        let mut command = Command::new(&self.options.program);
        command.args(["agent", "--head", "--folder"]).arg(&self.options.folder).env("SLURM_JOB_ID", job.to_string());
        // Slurm would choose among all nodes of the allocation, also those that are down and those that are not planned for.
        command.arg(format!("--nodelist={}", up.join(",")));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map_err(wrong)?;
        Ok(())
    }

    /// Jobs of our name in the queue that are on no record: whoever submitted them died before it could write that down.
    pub(super) fn find_unknown(&mut self) {
        let Allocation::Asked { name, pilots, .. } = &self.options.allocation else { return };
        let asked = ["--noheader", "--me", "--states=PENDING,RUNNING", "--format=%i %D", "--name", name.as_str()];
        // Who does not answer holds nothing up: at worst there is a pilot too many, which ends by itself.
        let commands = self.options.commands.clone().with_limit(ANSWER).with_patience(Duration::ZERO);
        let Ok(printed) = commands.run(Program::Squeue, asked) else { return };
        let sizes: Vec<usize> = pilots.iter().map(|pilot| pilot.nodes).collect();
        for line in printed.out.lines() {
            let Some((job, nodes)) = line.trim().split_once(' ') else { continue };
            let (Ok(job), Ok(nodes)) = (job.parse::<u64>(), nodes.trim().parse::<usize>()) else { continue };
            if self.board.is_over(job) || self.nodes.seats.iter().any(|seat| seat.job == Some(job)) {
                continue;
            }
            let free = || (0..sizes.len()).filter(|&seat| self.nodes.seats[seat].job.is_none());
            // Fewer may have been asked for than it is to have.
            let seat = free().find(|&seat| sizes[seat] == nodes).or_else(|| free().find(|&seat| sizes[seat] > nodes));
            if let Some(seat) = seat.filter(|&seat| self.board.record_pilot(job, seat).is_ok()) {
                self.nodes.seats[seat].job = Some(job);
                self.hearing.watch.ask_job(job);
            }
        }
    }

    /// Asks for a pilot, with all its nodes or those of them that are among these. The error says why there is none, and whether there may
    /// be one later.
    pub(super) fn submit(&mut self, seat: usize, among: Option<&[String]>) -> Result<(), (String, bool)> {
        let Allocation::Asked { pilots, options, name } = &self.options.allocation else { return Ok(()) };
        let size = &pilots[seat];
        let log = self.board.log_pattern();
        let mut arguments = vec![
            format!("--job-name={name}"),
            format!("--nodes={}", among.map_or(size.nodes, <[String]>::len)),
            "--exclusive".into(),
            "--no-requeue".into(),
            "--no-kill".into(),
            format!("--output={}", log.display()),
            "--open-mode=append".into(),
        ];
        arguments.extend(size.time.as_ref().map(|time| format!("--time={time}")));
        arguments.extend(options.iter().cloned().chain(size.placed.sbatch(among)));
        let word = |path: &std::path::Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        let (program, folder) = (word(&self.options.program), word(&self.options.folder));
        let script = format!("#!/bin/sh\nexec {program} agent --head --folder {folder}\n");
        match self.options.commands.submit(&arguments, &script) {
            Ok(submitted) => {
                let job = submitted.job;
                // A controller that died and forgot a job gives its number again.
                self.board.declare_not_over(job);
                self.nodes
                    .agents
                    .iter_mut()
                    .filter(|(place, _)| place.job == job)
                    .for_each(|(_, agent)| agent.is_again());
                if let Err(error) = self.board.record_pilot(job, seat) {
                    let _ = self.options.commands.cancel(job);
                    return Err((format!("cannot write down pilot {job}: {error}"), true));
                }
                let Seat { fruitless, wants, .. } = self.nodes.seats[seat];
                self.nodes.seats[seat] = Seat { job: Some(job), fruitless, wants, ..Seat::default() };
                self.hearing.watch.ask_job(job);
                Ok(())
            }
            Err(error) if error.is_ambiguous() => {
                // It may be on its way.
                for _ in 0..LOOKS {
                    self.find_unknown();
                    if self.nodes.seats[seat].job.is_some() {
                        return Ok(());
                    }
                    sleep(BETWEEN_LOOKS);
                }
                Err((error.to_string(), true))
            }
            Err(error) => Err((error.to_string(), error.is_passing())),
        }
    }
}
