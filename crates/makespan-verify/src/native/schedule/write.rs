//! Writes Schedule JSON, with one placement on each line.

use std::io::{self, Write};

use crate::Bound;
use makespan_core::{Instance, Objective, Placement, Schedule};

use super::ScheduleFile;
use super::bound::write_bounds;

impl ScheduleFile {
    /// Writes the file.
    ///
    /// # Errors
    /// Errors of the writer. [`io::ErrorKind::InvalidInput`] if the schedule contains a task that is not in
    /// `instance`.
    pub fn write(&self, instance: &Instance, writer: &mut dyn Write) -> io::Result<()> {
        writeln!(writer, "{{\"version\": 1,\n \"algorithm\": {},", serde_json::to_string(&self.algorithm)?)?;
        if let Some(seed) = self.seed {
            writeln!(writer, " \"seed\": {seed},")?;
        }
        if let Some(origin) = &self.origin {
            writeln!(writer, " \"origin\": {},", serde_json::to_string(origin)?)?;
        }
        for objective in Objective::OF_SCHEDULES {
            if let Some(stated) = self.stated(objective) {
                writeln!(writer, " \"{}\": {},", objective.name(), objective.decimal(stated))?;
            }
        }
        let bounds: Vec<&Bound> =
            Objective::OF_SCHEDULES.iter().filter_map(|&objective| self.bound(objective)).collect();
        write!(writer, " \"bounds\": ")?;
        write_bounds(instance, &bounds, writer)?;
        writeln!(writer, ",")?;
        if !self.remarks.is_empty() {
            writeln!(writer, " \"remarks\": {},", serde_json::to_string(&self.remarks)?)?;
        }
        if !self.front.is_empty() {
            write!(writer, " \"front\": [")?;
            for (at, entry) in self.front.iter().enumerate() {
                writer.write_all(if at == 0 { b"\n  " } else { b",\n  " })?;
                entry.write(instance, writer)?;
            }
            writeln!(writer, "],")?;
        }
        if let Some(strategy) = &self.strategy {
            write!(writer, " \"strategy\": ")?;
            strategy.write(instance, writer)?;
            writeln!(writer, ",")?;
        }
        write!(writer, " ")?;
        write_placements(instance, &self.schedule, writer)?;
        writeln!(writer, "}}")
    }
}

/// Writes the key `placements` and its list, with one placement on each line.
pub(super) fn write_placements(instance: &Instance, schedule: &Schedule, writer: &mut dyn Write) -> io::Result<()> {
    write!(writer, "\"placements\": [")?;
    for (at, placement) in schedule.placements().iter().enumerate() {
        writer.write_all(if at == 0 { b"\n  " } else { b",\n  " })?;
        write_placement(instance, placement, schedule.group(at), writer)?;
    }
    write!(writer, "]")
}

fn write_placement(
    instance: &Instance,
    placement: &Placement,
    group: Option<&str>,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let Placement { task, start, end, processors } = placement;
    if !instance.has_task(*task) {
        let problem = format!("the schedule places task number {task}, which the instance does not have");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let job = instance.job_of(*task);
    write!(writer, "{{\"job\": ")?;
    serde_json::to_writer(&mut *writer, &job.name)?;
    if job.is_compound() {
        write!(writer, ", \"task\": ")?;
        serde_json::to_writer(&mut *writer, &instance.short_name(*task))?;
    } else if job.is_bag() {
        write!(writer, ", \"task\": {}", task.0 - job.first().0)?;
    }
    write!(writer, ", \"start\": {start}, \"end\": {end}, \"processors\": \"{processors}\"")?;
    if instance.task(*task).estimate.is_guess() {
        write!(writer, ", \"guess\": true")?;
    }
    if let Some(group) = group {
        write!(writer, ", \"group\": {}", serde_json::to_string(group)?)?;
    }
    write!(writer, "}}")
}
