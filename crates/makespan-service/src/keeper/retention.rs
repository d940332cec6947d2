//! The thread that deletes old jobs, events and output.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::shared::{SharedState, StoreRequest};
use crate::clock::wall;
use crate::store::{Reader, round_folder};

/// Maximum pause between two searches for old jobs.
const PAUSE: Duration = Duration::from_hours(1);
/// Number of searches for old jobs within the time for which jobs are kept.
const PART: u32 = 24;
/// Interval at which the thread checks whether the service ends.
const TICK: Duration = Duration::from_millis(100);

/// The state of the thread.
pub(super) struct Retention {
    pub shared: Arc<SharedState>,
    pub asks: Sender<StoreRequest>,
    /// The folder of the service.
    pub folder: PathBuf,
    /// The time for which ended jobs are kept.
    pub keep: Duration,
}

impl Retention {
    /// Deletes old jobs until the service ends.
    pub fn run(self) {
        let pause = (self.keep / PART).clamp(TICK, PAUSE);
        while !self.shared.is_closing() {
            if let Err(error) = self.forget() {
                self.shared.note(&format!("old jobs cannot be deleted: {error}"));
            }
            let end = Instant::now() + pause;
            while !self.shared.is_closing() && Instant::now() < end {
                thread::sleep(TICK);
            }
        }
    }

    /// Deletes old jobs in small transactions, so that other requests can be written in between. Then deletes the
    /// folders of rounds (runs of the engine) without jobs.
    fn forget(&self) -> Result<(), String> {
        let before = wall() - self.keep.as_secs_f64();
        while !self.shared.is_closing() && self.ask(|reply| StoreRequest::Forget(before, reply))? {}
        // The folder is deleted before the round, so that an interrupted deletion will be repeated.
        for round in self.shared.readers.read(Reader::empty_rounds).map_err(|error| error.to_string())? {
            let folder = round_folder(&self.folder, round);
            match fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(format!("{}: {error}", folder.display()));
                }
                _ => self.ask(|reply| StoreRequest::ForgetRound(round, reply))?,
            }
        }
        Ok(())
    }

    fn ask<T>(&self, ask: impl FnOnce(Sender<Result<T, String>>) -> StoreRequest) -> Result<T, String> {
        let (reply, answer) = mpsc::channel();
        self.asks.send(ask(reply)).map_err(|error| error.to_string())?;
        answer.recv().map_err(|error| error.to_string())?
    }
}
