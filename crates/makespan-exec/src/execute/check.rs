//! Checks before a run begins.

use makespan_core::Instance;

use crate::group::{ControlGroup, NO_GROUP};
use crate::journal::{Journal, Opening};
use crate::machine::cores;
use crate::{ExecuteError, ExecuteOptions, resources};

/// Checks that [`execute`](crate::execute()) would begin: every task has a command, the cores, memory and GPUs
/// suffice, and the folder is unused or holds a run of this instance that may be resumed. Does not change any file or
/// start any process.
///
/// # Errors
/// The errors of [`execute`](crate::execute()).
pub fn check(instance: &Instance, options: &ExecuteOptions) -> Result<(), ExecuteError> {
    check_machine(instance, options)?;
    check_folder(instance, options)
}

/// Checks that a run on another engine would begin. Does not check the resources of this machine.
///
/// # Errors
/// The errors of [`check`].
pub fn check_folder(instance: &Instance, options: &ExecuteOptions) -> Result<(), ExecuteError> {
    check_tasks(instance)?;
    Ok(Journal::check_beside(&options.folder, instance, opening(options), &options.results)?)
}

/// Returns how a session with these options opens its journal.
pub(super) fn opening(options: &ExecuteOptions) -> Opening {
    Opening {
        resume: options.resume,
        recover: options.recover,
        of_now: options.run_all,
        grows: options.intake.is_some(),
    }
}

/// Checks that this machine can execute an instance in an unused folder.
///
/// # Errors
/// The errors of [`check`], except errors of the journal.
pub fn check_machine(instance: &Instance, options: &ExecuteOptions) -> Result<(), ExecuteError> {
    check_tasks(instance)?;
    let cores = cores()?.len();
    if instance.processors() as usize > cores && !options.oversubscribe {
        return Err(ExecuteError::TooFewCores { processors: instance.processors(), cores });
    }
    resources::check(instance.platform(), options)?;
    if options.limit_memory { check_memory_limits() } else { Ok(()) }
}

/// Checks that control groups can limit the memory of jobs. Creates a control group for this purpose, and removes it.
///
/// # Errors
/// [`ExecuteError::NoMemoryLimit`].
pub fn check_memory_limits() -> Result<(), ExecuteError> {
    let Some(group) = ControlGroup::of_run() else { return Err(ExecuteError::NoMemoryLimit(NO_GROUP.into())) };
    let limited = group.limit_memory();
    group.give_up_limits();
    group.remove();
    limited.map_err(ExecuteError::NoMemoryLimit)
}

/// Returns an error if two tasks have the same name, or if a task has no command, belongs to a gang, or has a time lag
/// or a hard deadline.
///
/// # Errors
/// [`ExecuteError::Instance`], [`ExecuteError::NoCommand`], [`ExecuteError::Gang`], [`ExecuteError::Lag`],
/// [`ExecuteError::HardDeadline`] and [`ExecuteError::Setups`].
pub fn check_tasks(instance: &Instance) -> Result<(), ExecuteError> {
    instance.check_task_names()?;
    let mut different = instance.different_task_ids();
    if let Some(task) = instance.different_task_ids().find(|&task| instance.task(task).gang.is_some()) {
        return Err(ExecuteError::Gang(instance.name(task).into_owned()));
    }
    if let Some(task) = instance.different_task_ids().find(|&task| instance.lags_to(task).next().is_some()) {
        return Err(ExecuteError::Lag(instance.name(task).into_owned()));
    }
    if instance.has_setups() {
        return Err(ExecuteError::Setups);
    }
    if let Some(job) = instance.jobs().iter().find(|job| job.must_end_by.is_some()) {
        return Err(ExecuteError::HardDeadline(job.name.clone()));
    }
    match different.find(|&task| instance.task(task).command.is_empty()) {
        Some(task) => Err(ExecuteError::NoCommand(instance.name(task).into_owned())),
        None => Ok(()),
    }
}
