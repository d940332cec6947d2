//! Records of earlier runs, and estimates of the next run from these records.
//!
//! A [`History`] is an `SQLite` database with one [`Record`] for each process that a run started: its [`Command`], its run time,
//! the number of its processors, the resources that it used and its outcome. From these records, [`estimate`] predicts the run
//! times of tasks that state none. [`law`] fits speed-up laws to run times at several allotments. [`Recorder`] appends in a
//! separate thread, so that a run never waits for the disk. If the history cannot be written, the recorder stops after one error
//! message.

#![warn(missing_docs)]

mod command;
mod error;
pub mod estimate;
pub mod law;
mod location;
mod record;
mod recorder;
mod store;
pub mod tables;

pub use command::{Command, Template, programs};
pub use error::HistoryError;
pub use location::{data_folder, default_path};
pub use record::{Ending, Record, folder_here, now};
pub use recorder::Recorder;
pub use store::{Entry, Filter, History};
