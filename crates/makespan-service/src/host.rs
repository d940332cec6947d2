//! The platform and the engine on which a service runs jobs.

use std::path::Path;

use makespan_core::{Job, Platform};
use makespan_exec::engine::Engine;
use makespan_exec::{ExecuteOptions, Local, MeasuredAttempt, cores};

/// The platform on which a service runs jobs, and the history of earlier runs.
pub trait Host: Send + Sync {
    /// Returns the platform.
    fn platform(&self) -> Platform;

    /// Returns the display name of the host, such as `this machine` or `Slurm`.
    fn name(&self) -> String;

    /// Returns true if jobs run on this machine. If true, the service compares the platform with the cores and the
    /// memory of this machine.
    fn is_local(&self) -> bool;

    /// Creates the engine that starts jobs, for a run in `folder`. If another thread can end the waits of the engine,
    /// passes the function that ends a wait to `wake`.
    ///
    /// # Errors
    /// A message.
    fn engine(
        &self,
        folder: &Path,
        options: &ExecuteOptions,
        wake: WakeCallback<'_>,
    ) -> Result<Box<dyn Engine>, String>;

    /// Replaces guessed run times of jobs by run times from the history.
    fn learn(&self, jobs: Vec<Job>) -> Vec<Job> {
        jobs
    }

    /// Adds a finished attempt to the history. `folder` is the working directory of the attempt, if the job states one.
    fn measured(&self, _measured: &MeasuredAttempt<'_>, _folder: Option<&str>) {}

    /// Returns the kinds of a command, the most specific kind first. The run times of ended tasks predict the run
    /// times of other tasks of the same kind.
    fn kinds(&self, _command: &[String]) -> Vec<String> {
        Vec::new()
    }
}

/// Callback of [`Host::engine`]. Its argument is a function that ends the waits of the engine.
pub type WakeCallback<'a> = &'a mut dyn FnMut(Box<dyn Fn() + Send>);

/// This machine, without a history of earlier runs.
#[derive(Clone, Debug)]
pub struct ThisMachine(pub Platform);

impl Host for ThisMachine {
    fn platform(&self) -> Platform {
        self.0.clone()
    }

    fn name(&self) -> String {
        "this machine".into()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn engine(
        &self,
        folder: &Path,
        options: &ExecuteOptions,
        wake: WakeCallback<'_>,
    ) -> Result<Box<dyn Engine>, String> {
        local(folder, options, wake)
    }
}

/// Creates an engine that runs jobs on this machine.
///
/// # Errors
/// A message.
pub fn local(folder: &Path, options: &ExecuteOptions, wake: WakeCallback<'_>) -> Result<Box<dyn Engine>, String> {
    let cores = cores().map_err(|error| error.to_string())?;
    let engine = Local::new(folder, cores, options.shim.clone());
    let waker = engine.waker();
    wake(Box::new(move || waker.wake()));
    Ok(Box::new(engine))
}
