//! Shims that earlier sessions started for tasks that this session manages.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use makespan_core::TaskId;

use crate::engine::{EarlierAttempt, Notice};
use crate::process::{GLANCE, Identity};
use crate::spare::{ShimDuty, WaitEvent};
use crate::status::AttemptStatus;

/// Time between two checks for shims that have ended. The system does not report these ends, because the shims are not
/// children of this process.
const PAUSE: Duration = Duration::from_millis(20);

/// The tasks of earlier sessions that continue.
#[derive(Debug, Default)]
pub(crate) struct TakenOver {
    tasks: BTreeMap<TaskId, KeptTask>,
    /// Sends shims to the thread that waits for the ends of shims.
    watcher: Option<Sender<(Identity, u64, ShimDuty)>>,
}

/// A task that continues, or has just ended.
#[derive(Debug)]
struct KeptTask {
    shim: Identity,
    number: u64,
    status: PathBuf,
}

impl TakenOver {
    /// Takes over an attempt if its shim lives. `number` identifies the end of the shim. Returns whether the attempt
    /// was taken over.
    pub fn take(
        &mut self,
        earlier: &EarlierAttempt,
        status: PathBuf,
        duty: ShimDuty,
        number: u64,
        ends: &Sender<WaitEvent>,
    ) -> bool {
        let Some(shim) = earlier.shim.filter(|shim| shim.is_alive()) else { return false };
        if self.watcher.is_none() {
            let (sender, receiver) = mpsc::channel();
            let ends = ends.clone();
            let watched = thread::Builder::new().name("taken over".into()).spawn(move || watch(&receiver, &ends));
            // If no thread can be started, the task is not taken over: it is ended and runs again.
            self.watcher = watched.is_ok().then_some(sender);
        }
        let told = self.watcher.as_ref().is_some_and(|watcher| watcher.send((shim, number, duty)).is_ok());
        if told {
            self.tasks.insert(earlier.task, KeptTask { shim, number, status });
        }
        told
    }

    /// Converts the end of the shim with this number to a notice. If the shim wrote a status, the task has ended.
    /// Otherwise, the task counts as lost.
    pub fn ended(&mut self, task: TaskId, number: u64) -> Option<Notice> {
        let kept = self.tasks.get(&task).filter(|kept| kept.number == number)?;
        let has_left = std::fs::read(&kept.status).is_ok_and(|bytes| AttemptStatus::parse(&bytes).is_some());
        if has_left {
            return Some(Notice::Ended(task));
        }
        let reason = format!("the process that watched the job ({}) has ended", kept.shim.pid);
        self.forget(task);
        Some(Notice::Lost(task, reason))
    }

    /// Returns the shim of a task.
    pub fn shim(&self, task: TaskId) -> Option<Identity> {
        self.tasks.get(&task).map(|kept| kept.shim)
    }

    /// Returns the shims of all tasks.
    pub fn shims(&self) -> Vec<Identity> {
        self.tasks.values().map(|kept| kept.shim).collect()
    }

    /// Returns the tasks.
    pub fn tasks(&self) -> Vec<TaskId> {
        self.tasks.keys().copied().collect()
    }

    /// Forgets a task that has ended.
    pub fn forget(&mut self, task: TaskId) {
        self.tasks.remove(&task);
    }
}

/// Reports the end of each shim. If a shim was killed, first ends the remaining processes of its task.
fn watch(told: &Receiver<(Identity, u64, ShimDuty)>, ends: &Sender<WaitEvent>) {
    let mut watched: Vec<(Identity, u64, ShimDuty)> = Vec::new();
    let mut is_over = false;
    while !(is_over && watched.is_empty()) {
        let pause = if watched.is_empty() { Duration::MAX } else { PAUSE };
        match told.recv_timeout(pause) {
            Ok(more) => watched.push(more),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                is_over = true;
                thread::sleep(GLANCE);
            }
        }
        let gone = |(shim, _, _): &mut (Identity, u64, ShimDuty)| !shim.is_alive();
        for (_, number, duty) in watched.extract_if(.., gone) {
            duty.end_rest(None, None);
            if ends.send(WaitEvent::Ended(duty.task, number, None)).is_err() {
                return;
            }
        }
    }
}
