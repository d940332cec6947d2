//! Executes instances in real time: a [`Policy`](makespan_core::Policy) decides, and processes of this machine run the
//! tasks.
//!
//! [`execute`] starts the commands of an instance's tasks, each pinned to its cores. [`execute`] informs the policy of
//! all events and returns the [`Trace`](makespan_core::Trace). A run has its own folder with the output of every task
//! and a [`journal`]. The journal survives `kill -9` at any moment, so that a resumed run neither repeats nor loses a
//! finished task. [`profile`] measures a command on different numbers of processors.
//!
//! The crate supports only Linux, because it reads `/proc`. The crate does not import any scheduling algorithm.

#![warn(missing_docs)]

mod accelerators;
mod clock;
pub mod engine;
mod error;
mod execute;
#[cfg(test)]
mod faults;
mod files;
mod folder;
mod gpus;
mod group;
mod halt;
pub mod hosts;
mod identity;
mod intake;
mod jobserver;
pub mod journal;
mod keep;
mod kernel_text;
mod launch;
mod local;
mod machine;
mod observer;
#[cfg(test)]
mod on_disk;
mod options;
pub mod order;
mod process;
pub mod profile;
mod pruning;
mod recover;
mod resources;
mod session;
mod settle;
mod shim;
pub mod slots;
mod spare;
mod status;
mod stem;
mod storage;
mod taken;
mod tasks;
mod traces;

pub use error::ExecuteError;
pub use execute::{
    ReservedRun, check, check_folder, check_machine, check_memory_limits, check_tasks, execute, reserve, reserve_folder,
};
pub use files::{OutputFiles, output_files};
pub use halt::{HaltCause, HaltCount, HaltLimit, HaltRule};
pub use intake::Intake;
pub use jobserver::JobserverStyle;
pub use journal::strangers::is_lock_of_a_run;
pub use local::{Local, Waker};
pub use machine::{cores, host, program};
pub use makespan_core::{Defect, Stop};
pub use observer::{MeasuredAttempt, Observer, Progress, SessionBegin, Silent};
pub use options::{ExecuteOptions, JobSetting, Pinning, Scratch, StartHold};
pub use pruning::{OtherWork, Pruning, PruningAnswer};
pub use resources::{gpus, memory, notes, stated_memory};
pub use session::PlanAgain;
pub use settle::settle;
pub use shim::{WrapJob, WrappedJob, serve, serve_as, serve_wrapping};
