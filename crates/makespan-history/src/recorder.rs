//! Appends records to a history in a thread.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::{History, HistoryError, RunRecord};

/// Maximum number of records that are written together.
const BATCH: usize = 1000;

/// Appends records to a history in a separate thread, so that callers never wait. Records that arrive during a write are written
/// together. The recorder stops at the first error, and the run continues without a history.
#[derive(Debug)]
pub struct Recorder {
    records: Option<Sender<RunRecord>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<HistoryError>>>,
}

impl Recorder {
    /// Starts to append to this history.
    pub fn new(history: History) -> Self {
        let (records, received) = mpsc::channel();
        let failure = Arc::default();
        let failed = Arc::clone(&failure);
        let thread = thread::spawn(move || write_all(history, &received, &failed));
        Self { records: Some(records), thread: Some(thread), failure }
    }

    /// Passes a record to the thread. If an error has stopped the recorder, the record is dropped.
    pub fn append(&self, record: RunRecord) {
        if let Some(records) = &self.records {
            // After an error, the thread no longer receives records, and `failure` returns the error.
            let _ = records.send(record);
        }
    }

    /// Returns the error that stopped the recorder. Each error is returned once.
    pub fn failure(&self) -> Option<HistoryError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Waits until all records are written. Returns the error that stopped the recorder, unless `failure` already returned it.
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

fn write_all(mut history: History, received: &Receiver<RunRecord>, failure: &Mutex<Option<HistoryError>>) {
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
