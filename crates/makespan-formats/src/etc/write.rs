//! Writes an ETC matrix.

use std::io::{self, Write};

use makespan_core::{Instance, Time, Weight};

use super::CANNOT;

/// Writes the run times of sequential jobs. The first line is `tasks machines`. Then there is one line for each job,
/// with one column for each processor. Names, walltimes and commands are omitted. A machine on which the job exceeds
/// its walltime is written as unable to run the job.
///
/// # Errors
/// Errors of the writer. [`io::ErrorKind::InvalidInput`] for instances that the format cannot express: jobs on several
/// processors, bags, release dates, weights, dependencies between jobs, needs, and unavailable periods.
pub fn write_etc(instance: &Instance, writer: &mut dyn Write) -> io::Result<()> {
    if let Some(lost) = lost(instance) {
        let problem = format!("an ETC matrix cannot contain {lost}; write the instance as .json or .toml");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let platform = instance.platform();
    writeln!(writer, "{} {}", instance.jobs().len(), instance.processors())?;
    for task in instance.task_ids() {
        let mut separator = "";
        for (node, of) in platform.nodes().iter().enumerate() {
            let time = instance.time_on(task, node).map_or_else(|| CANNOT.to_owned(), |time| time.to_string());
            for _ in 0..of.processors {
                write!(writer, "{separator}{time}")?;
                separator = " ";
            }
        }
        writeln!(writer)?;
    }
    Ok(())
}

/// Returns a part of the instance that the format cannot express, or `None` if the format can express the instance.
fn lost(instance: &Instance) -> Option<&'static str> {
    let jobs = instance.jobs();
    let released = |at: Time| at != Time::ZERO;
    if instance.has_bags() {
        Some("bags of tasks")
    } else if !instance.is_sequential() {
        Some("jobs on several processors")
    } else if jobs.iter().any(|job| released(job.release)) {
        Some("release dates")
    } else if jobs.iter().any(|job| job.weight != Weight::ONE) {
        Some("weights")
    } else if instance.has_edges_between_jobs() {
        Some("dependencies between jobs")
    } else if instance.task_ids().any(|task| !instance.task(task).needs.is_empty()) {
        Some("needs besides processors")
    } else if !instance.unavailable().is_empty() {
        Some("unavailable periods")
    } else {
        None
    }
}
