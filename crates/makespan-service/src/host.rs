//! What a service needs to know of the place where it runs.

use std::path::Path;

use makespan_core::{Job, Platform};
use makespan_exec::engine::Engine;
use makespan_exec::{ExecuteOptions, Local, Measured, cores};

/// The place where jobs run, and what is remembered of those that ran.
pub trait Host: Send + Sync {
    /// The machines.
    fn platform(&self) -> Platform;

    /// What it is called: `this machine`, `Slurm`.
    fn name(&self) -> String;

    /// Whether it is this machine, whose cores and memory are asked for.
    fn is_local(&self) -> bool;

    /// What starts jobs, for a run in this folder; `wake` is to be called with what ends its waits, where it can.
    ///
    /// # Errors
    /// In words.
    fn engine(&self, folder: &Path, options: &ExecuteOptions, wake: Wake<'_>) -> Result<Box<dyn Engine>, String>;

    /// Puts times that are known from earlier runs in the place of guesses.
    fn learn(&self, jobs: Vec<Job>) -> Vec<Job> {
        jobs
    }

    /// Remembers what ran, in the folder where it ran if one was named.
    fn measured(&self, _measured: &Measured<'_>, _folder: Option<&str>) {}

    /// Of which kinds a command is, the most specific first: what ends of a kind teaches how long the others take.
    fn kinds(&self, _command: &[String]) -> Vec<String> {
        Vec::new()
    }
}

/// Takes what ends the waits of an engine.
pub type Wake<'a> = &'a mut dyn FnMut(Box<dyn Fn() + Send>);

/// This machine, without a memory.
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

    fn engine(&self, folder: &Path, options: &ExecuteOptions, wake: Wake<'_>) -> Result<Box<dyn Engine>, String> {
        local(folder, options, wake)
    }
}

/// The engine of this machine.
///
/// # Errors
/// In words.
pub fn local(folder: &Path, options: &ExecuteOptions, wake: Wake<'_>) -> Result<Box<dyn Engine>, String> {
    let cores = cores().map_err(|error| error.to_string())?;
    let engine = Local::new(folder, cores, options.shim.clone());
    let waker = engine.waker();
    wake(Box::new(move || waker.wake()));
    Ok(Box::new(engine))
}
