//! The history of earlier runs, and estimates for later runs.
//!
//! A [`History`] is a `SQLite` database with a [`RunRecord`] of each process that a run started: its [`Command`], allotment, run
//! time, resource use and outcome. [`estimate`] uses the history to estimate times for tasks that state none. [`memory`]
//! predicts the memory of tasks. [`law`] fits speed-up laws to times at several allotments. [`Recorder`] appends records in a separate thread, so that a run never waits for
//! the disk. If the history cannot be written, the recorder reports one error and stops. A history also contains each forecast of a
//! start ([`StartForecast`]), from which a [`Calibration`] computes the ranges of later forecasts.

#![warn(missing_docs)]

mod calibration;
mod command;
mod error;
pub mod estimate;
pub mod law;
mod location;
pub mod memory;
mod record;
mod recorder;
mod robust;
mod share;
mod store;
pub mod tables;

pub use calibration::{Calibration, ENOUGH};
pub use command::{Command, Template, programs};
pub use error::HistoryError;
pub use location::{data_folder, default_path};
pub use record::{Ending, MemoryRequest, RunRecord, folder_here, now};
pub use recorder::Recorder;
pub use share::RangeShare;
pub use store::{Filter, History, StartForecast, StoredRecord};
