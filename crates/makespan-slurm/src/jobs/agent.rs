//! The program that runs inside a Slurm job: runs one attempt of a task, and records how the attempt ended.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use makespan_core::{ProcSet, Stop};
use makespan_exec::engine::{EndedBy, Engine, EngineStart, Notice, ended_by, has_succeeded};
use makespan_exec::{Local, cores};

use super::board::{Claim, JobBoard};
use super::cores;
use crate::pilot::{AttemptEnd, AttemptOrder, DOUBT};

/// Time between two signs of life.
const BEAT: Duration = Duration::from_secs(4);

/// Time between two checks of the files.
const GLANCE: Duration = Duration::from_millis(250);

/// Pause before a failed operation is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// Maximum time to wait for the status files of predecessors. During this time, the planner reads how the predecessors
/// ended.
const DELAY: Duration = Duration::from_secs(15);

/// Exit status of a job that is not allowed to run its attempt.
const REFUSED: u8 = 125;

/// The attempt that a job runs.
#[derive(Clone, Debug)]
pub struct JobOptions {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The name of the attempt.
    pub id: String,
    /// The stop request, which SIGTERM from Slurm sets.
    pub stop: Stop,
}

/// Runs the attempt for which this Slurm job was submitted. Runs nothing if another job has started the attempt or the
/// planner has withdrawn it.
///
/// Returns the exit status of the job. It is 0 only if the task has succeeded. So Slurm starts dependent jobs only
/// after success.
///
/// # Errors
/// The attempt cannot be read on this node.
pub fn run_job(options: &JobOptions) -> Result<u8, String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let job = variable("SLURM_JOB_ID").and_then(|job| job.parse().ok());
    let (Some(job), Some(node)) = (job, variable("SLURMD_NODENAME")) else {
        return Err(
            "this command is started only by `makespan run --on slurm:jobs`, in a Slurm job with SLURM_JOB_ID and \
             SLURMD_NODENAME"
                .into(),
        );
    };
    let board = JobBoard::of(&options.folder);
    if board.claimant(&options.id).is_some() {
        eprintln!("makespan: `{}` was already started by another Slurm job, or was withdrawn", options.id);
        return Ok(REFUSED);
    }
    let order = board.order(&options.id).map_err(|error| {
        format!("{}: cannot read the record of the attempt `{}`: {error}", options.folder.display(), options.id)
    })?;
    if let Some(name) = missing(&board, &order, &options.stop) {
        eprintln!(
            "makespan: Slurm has started `{}`, but its predecessor `{name}` has not succeeded: another Slurm job has \
             the job id of the predecessor",
            order.name
        );
        return Ok(REFUSED);
    }
    let all = cores().map_err(|error| error.to_string())?;
    let mut agent = Agent { board, id: options.id.clone(), order, job, stop: options.stop.clone() };
    let fate = agent.run(&node, all);
    let Some(fate) = fate else { return Ok(REFUSED) };
    while let Err(error) = agent.board.done(&agent.id, &fate) {
        eprintln!("makespan: cannot record that `{}` has ended: {error}; trying again", agent.id);
        sleep(PAUSE);
    }
    let status = match fate {
        AttemptEnd::Exit(status) => u8::try_from(status).unwrap_or(REFUSED),
        _ => REFUSED,
    };
    if std::fs::metadata(agent.board.log(&agent.id)).is_ok_and(|log| log.len() == 0) {
        let _ = std::fs::remove_file(agent.board.log(&agent.id));
    }
    Ok(status)
}

/// Returns a predecessor that has not succeeded, if there is one. Waits for a while, because a shared file system may
/// show a status file late.
fn missing<'a>(board: &JobBoard, order: &'a AttemptOrder, stop: &Stop) -> Option<&'a str> {
    let begun = Instant::now();
    loop {
        let open =
            order.after.iter().find(|before| !has_succeeded(&board.run().join(&before.status), &before.claim))?;
        if begun.elapsed() >= DELAY || stop.is_requested() {
            return Some(&open.name);
        }
        sleep(GLANCE);
    }
}

struct Agent {
    board: JobBoard,
    id: String,
    order: AttemptOrder,
    job: u64,
    stop: Stop,
}

impl Agent {
    /// Runs the attempt and returns its fate. Returns `None` if another job has started the attempt.
    fn run(&mut self, node: &str, all: Vec<usize>) -> Option<AttemptEnd> {
        let nodes = cores::nodes(self.job, node, self.order.allotment);
        let own = nodes.first().map(|(_, cpus)| cpus.clone()).unwrap_or_default();
        // If Slurm has confined the job to its processors, do not pin the task. Otherwise, pinning separates the task
        // from other tasks.
        let confined = all.len() <= own.len() as usize;
        let pinned = if confined { ProcSet::first(own.len().max(1)) } else { own };
        let mut local = Local::new(self.board.run(), all, None);
        local.group();
        // If this program dies, the job has ended and the attempt is repeated. So the task must end with this program.
        local.tie();
        self.order.environment = AttemptOrder::variables(&nodes, &pinned);
        loop {
            match self.start(&mut local, &pinned) {
                Ok(()) => break,
                Err((reason, false)) => return self.claim(nodes).then_some(AttemptEnd::Refused(reason)),
                Err((reason, true)) => {
                    eprintln!("makespan: {}: {reason}; trying again", self.id);
                    if self.stop.is_requested() {
                        return self.claim(nodes).then_some(AttemptEnd::Gone);
                    }
                    sleep(PAUSE);
                }
            }
        }
        if !self.claim(nodes) {
            local.call_off(self.order.task);
            return None;
        }
        local.go(self.order.task, &self.order.claim);
        Some(self.guard(&mut local))
    }

    fn start(&self, local: &mut Local, pinned: &ProcSet) -> Result<(), (String, bool)> {
        let order = &self.order;
        // The GPUs that Slurm has allocated, by Slurm's numbers.
        let gpus = order.gpus.as_ref().map(|gpus| (0..gpus.len() as u64).collect::<Vec<u64>>());
        let start = EngineStart { processors: pinned, gpus: gpus.as_deref(), memory: None, ..order.start() };
        local.start(&start).map(drop).map_err(|refusal| (refusal.reason, refusal.passing))
    }

    /// Claims the attempt. Returns true if no other job has claimed the attempt.
    fn claim(&self, nodes: Vec<(String, ProcSet)>) -> bool {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let claim = Claim { job: self.job, began: u64::try_from(began).unwrap_or(0), nodes };
        loop {
            match self.board.claim(&self.id, &claim) {
                // The file system may have reported an error although it wrote the claim. So read the claim.
                Ok(made) => return made || self.board.claimant(&self.id).as_ref() == Some(&claim),
                Err(error) => {
                    eprintln!("makespan: cannot record the job that starts task `{}`: {error}; trying again", self.id);
                    sleep(PAUSE);
                }
            }
        }
    }

    /// Ends the task at its time limit or on request. Returns the fate of the attempt.
    fn guard(&self, local: &mut Local) -> AttemptEnd {
        let task = self.order.task;
        let limit =
            self.order.walltime.map(|walltime| Duration::from_nanos(u64::try_from(walltime.ticks()).unwrap_or(0)));
        let (begun, mut beat) = (Instant::now(), Instant::now());
        let (mut asked, mut killed, mut timed_out, mut stopped) = (None::<Instant>, false, false, false);
        loop {
            if beat.elapsed() >= BEAT {
                beat = Instant::now();
                self.board.beat(&self.id);
            }
            let late = limit.is_some_and(|limit| begun.elapsed() >= limit);
            if asked.is_none() && (late || self.stop.is_requested() || self.board.is_to_end(&self.id, false)) {
                (timed_out, stopped) = (late, self.stop.is_requested());
                asked = Some(Instant::now());
                local.end(task, false);
            }
            let overdue = asked.is_some_and(|asked| asked.elapsed() >= self.order.grace);
            if !killed && (overdue || self.board.is_to_end(&self.id, true)) {
                killed = true;
                local.end(task, true);
            }
            let until = limit.map_or(GLANCE, |limit| limit.saturating_sub(begun.elapsed()));
            let until = if asked.is_some() { GLANCE } else { until.clamp(Duration::from_millis(1), GLANCE) };
            if let Some(Notice::Ended(_)) = local.wait(until) {
                let status = local.reap(task);
                return match status {
                    _ if timed_out => AttemptEnd::TimedOut,
                    status if status != 0 && (stopped || self.is_being_stopped(status)) => AttemptEnd::Gone,
                    status => AttemptEnd::Exit(status),
                };
            }
        }
    }

    /// Returns true if Slurm is ending the job. Slurm's signal may reach the task before it reaches this process.
    fn is_being_stopped(&self, status: i32) -> bool {
        let ended_by = ended_by(&self.board.run().join(&self.order.files.status));
        if self.board.is_to_end(&self.id, false) || !(status > 128 || ended_by == Some(EndedBy::Signal)) {
            return false;
        }
        let begun = Instant::now();
        while begun.elapsed() < DOUBT && !self.stop.is_requested() {
            sleep(PAUSE / 10);
        }
        self.stop.is_requested()
    }
}
