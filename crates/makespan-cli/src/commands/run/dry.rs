//! `run --dry-run`: the commands in planned order, each with its cores and needs.

use makespan_core::{Instance, Placement, Resource, Schedule};

use super::command::command_line_on;
use super::job_changes::SLOTS;

/// Returns a line for each job: the command as the shell receives it, followed by a note in the syntax of lists.
pub fn commands(instance: &Instance, schedule: &Schedule) -> String {
    let mut placements: Vec<&Placement> = schedule.placements().iter().collect();
    placements.sort_by_key(|placement| (placement.start, placement.task));
    placements.into_iter().map(|placement| line(instance, placement)).collect()
}

fn line(instance: &Instance, placement: &Placement) -> String {
    let cores = placement.processors.len();
    let command = command_line_on(&instance.command(placement.task), cores);
    let needs = instance.task(placement.task).needs.iter().filter(|(name, _)| *name != SLOTS);
    let needs: String = needs
        .map(|(name, need)| match Resource::in_unit(name, need.total(cores)) {
            Some((amount, unit)) => format!(" {name}={amount}{unit}"),
            None if name == Resource::MEMORY => format!(" {name}={}B", need.total(cores)),
            None => format!(" {name}={}", need.total(cores)),
        })
        .collect();
    format!("{command}  #: cores={cores}{needs}\n")
}
