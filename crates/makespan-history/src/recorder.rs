//! Appends from a thread.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::{History, HistoryError, Record};

/// Records that are written together at most.
const BATCH: usize = 1000;

/// Appends records to a history from a thread of its own: whoever hands one over never waits. What waits is written together.
/// The first error ends it: a run goes on without a history.
#[derive(Debug)]
pub struct Recorder {
    records: Option<Sender<Record>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<HistoryError>>>,
}

impl Recorder {
    /// Begins to append to this history.
    pub fn new(history: History) -> Self {
        let (records, received) = mpsc::channel();
        let failure = Arc::default();
        let failed = Arc::clone(&failure);
        let thread = thread::spawn(move || write_all(history, &received, &failed));
        Self { records: Some(records), thread: Some(thread), failure }
    }

    /// Hands a record over. After an error it is dropped.
    pub fn append(&self, record: Record) {
        if let Some(records) = &self.records {
            // Nobody receives after an error, which is told once by `failure`.
            let _ = records.send(record);
        }
    }

    /// Why no more is written, told once.
    pub fn failure(&self) -> Option<HistoryError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Waits until all that was handed over is written, and returns why it was not, unless that was told.
    pub fn finish(mut self) -> Option<HistoryError> {
        self.join();
        self.failure()
    }

    fn join(&mut self) {
        self.records = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.join();
    }
}

fn write_all(mut history: History, received: &Receiver<Record>, failure: &Mutex<Option<HistoryError>>) {
    let mut batch = Vec::new();
    while let Ok(first) = received.recv() {
        batch.push(first);
        batch.extend(received.try_iter().take(BATCH - 1));
        if let Err(error) = history.append_all(&batch) {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            return;
        }
        batch.clear();
    }
}
