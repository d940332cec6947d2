//! Submits tasks as jobs.

use std::time::{Duration, Instant};

use makespan_core::TaskId;
use makespan_exec::engine::{EngineStart, Notice};

use super::{SlurmJobEngine, SubmittedAttempt, ThreadRequest, cluster_of};
use crate::batch::quoted;
use crate::jobs::shape::{limit_of, needs};
use crate::pilot::{AttemptOrder, PredecessorAttempt};
use crate::{CommandError, Refusal};

/// Pause after Slurm has temporarily refused a submission.
const PAUSE: Duration = Duration::from_secs(5);

/// Parts of Slurm's messages for the case that a user or the cluster already has the maximum number of jobs.
const LIMITS: [&str; 4] = ["submit limit", "temporarily unable to accept job", "submitjob", "maxjobcount"];

impl SlurmJobEngine<'_> {
    /// Prepares a task. When the run allows the task to start, the task is submitted.
    pub(super) fn prepare(&mut self, start: &EngineStart<'_>) {
        let gpus = start.gpus.map(|_| {
            let options = needs(self.instance, start.task, start.processors, None);
            let of_node = options.iter().find_map(|option| option.strip_prefix("--gres="));
            let gpus = of_node.and_then(|gres| gres.split(',').find_map(|one| one.strip_prefix("gpu:")?.parse().ok()));
            (0..gpus.unwrap_or(0)).collect()
        });
        let order = AttemptOrder { gpus, ..AttemptOrder::on(start, start.processors, self.options.grace) };
        let mut options = needs(self.instance, start.task, start.processors, start.memory);
        let seconds = |ticks: i64| u64::try_from(ticks).unwrap_or(0).div_ceil(1_000_000_000);
        let walltime = start
            .walltime
            .map(|walltime| limit_of(seconds(walltime.ticks()), self.options.grace.as_secs(), self.options.most));
        options.extend(walltime.or(self.options.limit).map(|limit| format!("--time={}", clock(limit))));
        if !start.not_before.is_zero() {
            options.push(format!("--begin=now+{}", start.not_before.as_secs() + 1));
        }
        let id = self.id_of(&start.files.status);
        let cluster = cluster_of(&self.options.clusters, start.processors);
        let after = start.after.to_vec();
        let held = SubmittedAttempt { options, after, ..SubmittedAttempt::new(id, cluster, order) };
        self.hold(held);
        self.submissions.waiting.push_back(start.task);
    }

    pub(super) fn hold(&mut self, held: SubmittedAttempt) {
        self.run.by_id.insert(held.id.clone(), held.order.task);
        self.run.tasks.insert(held.order.task, held);
    }

    /// Submits the next task. Tasks are submitted one by one, because a later job may depend on the id of an earlier
    /// one.
    pub(super) fn submit_next(&mut self) {
        if self.submissions.again.is_some_and(|again| again > Instant::now()) || self.submissions.submitting.is_some() {
            return;
        }
        self.submissions.again = None;
        let now = Instant::now();
        for slurm in &mut self.slurm {
            slurm.again = slurm.again.filter(|&again| again > now);
        }
        let tasks = &self.run.tasks;
        self.submissions.waiting.retain(|task| tasks.contains_key(task));
        // If a cluster or a predecessor delays a task, submit the first later task that can be submitted.
        let next = self.submissions.waiting.iter().find_map(|&task| Some((task, self.submission(task)?)));
        let Some((task, (numbers, attempts))) = next else { return };
        let Some(held) = self.run.tasks.get(&task) else { return };
        let mut options = vec![format!("--output={}", output(&self.board.log(&held.id))), "--open-mode=append".into()];
        if !numbers.is_empty() {
            options.push(format!("--dependency=afterok:{}", numbers.join(":")));
            options.push("--kill-on-invalid-dep=yes".into());
        }
        options.extend(self.options.options.iter().cloned());
        // Put the sizes of the plan after the user's options, so that the sizes take precedence.
        options.extend(held.options.iter().cloned());
        let (program, folder) = (quoted(&self.options.program), quoted(&self.options.folder));
        let line = format!("{program} agent --job '{}' --folder {folder}", held.id);
        // A controller that has lost its state reuses job ids. Then a dependency may refer to another job. So the order
        // also contains the ids of the attempts that must end first.
        let (id, order) = (held.id.clone(), AttemptOrder { after: attempts, ..held.order.clone() });
        let written = self.board.write_order(&id, &order).and_then(|()| self.submissions.log.note(&id, None));
        if let Err(error) = written {
            self.tell(format!("{}: {error}; trying again", self.options.folder.display()));
            self.submissions.again = Some(Instant::now() + PAUSE);
            return;
        }
        self.submissions.waiting.retain(|&other| other != task);
        self.submissions.submitting = Some(task);
        self.slurm[held.cluster].queue.wish(ThreadRequest::Submit { task, id, options, line });
    }

    /// Returns the ids of the jobs for which the job of a task must wait, with the attempts of these jobs. Returns `None`
    /// if the task cannot be submitted now. Jobs wait only for jobs in their own cluster, so a predecessor in another
    /// cluster must have succeeded.
    fn submission(&self, task: TaskId) -> Option<(Vec<String>, Vec<PredecessorAttempt>)> {
        let held = self.run.tasks.get(&task).filter(|held| held.is_let_go)?;
        if self.slurm[held.cluster].again.is_some() {
            return None;
        }
        let (mut numbers, mut attempts) = (Vec::new(), Vec::new());
        for before in held.after.iter().filter(|before| !self.run.succeeded.contains(before)) {
            // If a predecessor has no attempt any more, the predecessor runs again, and this task is withdrawn. If the
            // job id of a predecessor is unknown, this task waits until the job is found.
            let before = self.run.tasks.get(before).filter(|before| before.cluster == held.cluster)?;
            numbers.push(before.number?.to_string());
            let AttemptOrder { name, files, claim, .. } = &before.order;
            attempts.push(PredecessorAttempt {
                name: name.clone(),
                status: files.status.clone(),
                claim: claim.clone(),
            });
        }
        Some((numbers, attempts))
    }

    /// Handles the answer of a cluster to a submission.
    pub(super) fn submitted(&mut self, cluster: usize, task: TaskId, id: &str, answer: Result<u64, CommandError>) {
        self.submissions.submitting = None;
        if let Ok(number) = &answer {
            self.submissions.has_any = true;
            // If this record is lost, the job can still be found by its name.
            let _ = self.submissions.log.note(id, Some(*number));
        }
        let slurm = &mut self.slurm[cluster];
        match &answer {
            Ok(number) => {
                if *number <= slurm.highest {
                    // The controller has reused a job id. So it has forgotten earlier jobs.
                    slurm.doubt = Some(Instant::now());
                }
                (slurm.highest, slurm.silent) = (*number, None);
            }
            Err(error) if error.is_passing() && !is_limit(error) => {
                slurm.silent = slurm.silent.or(Some(Instant::now()));
            }
            Err(_) => {}
        }
        let has_any_there = self.run.tasks.values().any(|held| held.submitted.is_some());
        let Some(held) = self.run.tasks.get_mut(&task).filter(|held| held.id == id) else {
            // The task was withdrawn in the meantime.
            if answer.is_ok() {
                slurm.cancel.push(id.to_owned());
            }
            return;
        };
        match answer {
            Ok(number) => {
                held.number = Some(number);
                held.submitted = Some(Instant::now());
            }
            // For a job that is too large, Slurm prints the same message. Waiting helps only if another job of this
            // run can end.
            Err(error) if is_limit(&error) && (error.is_passing() || has_any_there) => {
                self.postpone(task, &error, true);
            }
            // The job may already be in the queue. So search the queue for its name.
            Err(error) if error.is_ambiguous() => held.submitted = Some(Instant::now()),
            Err(error) if error.is_passing() => self.postpone(task, &error, false),
            Err(error) => self.refused(task, &error),
        }
    }

    fn postpone(&mut self, task: TaskId, error: &CommandError, limit: bool) {
        self.submissions.waiting.push_front(task);
        let cluster = self.run.tasks.get(&task).map_or(0, |held| held.cluster);
        self.slurm[cluster].again = Some(Instant::now() + PAUSE);
        self.submissions.kept_waiting += u32::from(limit);
        if !limit || !std::mem::replace(&mut self.submissions.has_told_limit, true) {
            let text =
                if limit { "the other jobs are submitted when submitted jobs have ended" } else { "trying again" };
            self.tell(format!("Slurm accepts no more jobs now: {error}; {text}"));
        }
    }

    fn refused(&mut self, task: TaskId, error: &CommandError) {
        use Refusal::{Account, Identity, NoConfiguration, NoRights, Option, Partition, Reservation};
        // If the error concerns every job, submit no other job.
        let of_all = error.refusal().is_none_or(|refusal| {
            matches!(refusal, Account | Identity | NoConfiguration | NoRights | Option | Partition | Reservation)
        });
        if of_all && !self.submissions.has_any {
            self.submissions.waiting.push_front(task);
            self.submissions.again = Some(Instant::now() + Duration::from_hours(1));
            self.run.notices.push_back(Notice::Over(format!("no job can be submitted: {error}")));
            return;
        }
        self.run.notices.push_back(Notice::Refused(task, error.to_string()));
    }
}

/// Formats a path for `sbatch`. If the path contains a backslash, returns `/dev/null`, because `sbatch` removes backslashes.
fn output(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    if text.contains('\\') { "/dev/null".into() } else { text.replace('%', "%%") }
}

/// Returns true if Slurm accepts no more jobs now.
fn is_limit(error: &CommandError) -> bool {
    let text = error.to_string().to_lowercase();
    LIMITS.iter().any(|limit| text.contains(limit))
}

/// Formats seconds for `sbatch --time`.
fn clock(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

impl SubmittedAttempt {
    pub fn new(id: String, cluster: usize, order: AttemptOrder) -> Self {
        Self {
            id,
            cluster,
            order,
            options: Vec::new(),
            after: Vec::new(),
            is_let_go: false,
            submitted: None,
            number: None,
            claim: None,
            fate: None,
            is_stopped: false,
            over: None,
            beat: None,
        }
    }
}
