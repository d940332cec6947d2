//! What happened in earlier runs, and what can be expected of the next.
//!
//! A [`History`] is a database of `SQLite` with a [`Record`] of each process that a run started: its [`Command`], how long it took on
//! how many processors, what it used and how it ended. [`estimate`] makes times from it for tasks that state none, and
//! [`law`] fits speed-up laws to times at several allotments. [`Recorder`] appends from a thread of its own, so that a run never
//! waits for the disk, and gives up with one message where the history cannot be written.

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
