//! Placements of tasks on processors in time.

use std::sync::Arc;

use crate::model::{ProcSet, TaskId, Time};

/// The assignment of a task to processors, from its start to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The task.
    pub task: TaskId,
    /// Start of the task.
    pub start: Time,
    /// End of the task: the first instant at which the processors are free again.
    pub end: Time,
    /// Processors of the task.
    pub processors: ProcSet,
}

/// The placements of tasks. A placement may have the name of a group, such as a batch, which shows the part of the
/// algorithm that made the placement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    placements: Vec<Placement>,
    /// The name of the group of each placement. The list is empty if no placement has a group.
    groups: Vec<Option<Arc<str>>>,
}

impl Schedule {
    /// Creates a schedule from placements in any order, and sorts the placements by start, then task.
    pub fn new(mut placements: Vec<Placement>) -> Self {
        placements.sort_unstable_by_key(|placement| (placement.start, placement.task));
        Self { placements, groups: Vec::new() }
    }

    /// Creates a schedule from placements in any order. Each placement may have the name of a group. Groups are only
    /// for display; no rule depends on them. To save memory, placements of one group should share one `Arc`.
    pub fn with_groups(mut placements: Vec<(Placement, Option<Arc<str>>)>) -> Self {
        placements.sort_by_key(|(placement, _)| (placement.start, placement.task));
        let (placements, mut groups): (Vec<_>, Vec<_>) = placements.into_iter().unzip();
        if groups.iter().all(Option::is_none) {
            groups.clear();
        }
        Self { placements, groups }
    }

    /// Returns the placements, sorted by start, then task.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// Returns the group of the placement at this position.
    pub fn group(&self, index: usize) -> Option<&str> {
        self.groups.get(index)?.as_deref()
    }

    /// Returns the placements with the names of their groups, as in [`Schedule::with_groups`].
    pub fn grouped(&self) -> impl Iterator<Item = (&Placement, Option<Arc<str>>)> {
        let group = |at: usize| self.groups.get(at).cloned().flatten();
        self.placements.iter().enumerate().map(move |(at, placement)| (placement, group(at)))
    }

    /// Returns the names of all groups, in alphabetical order.
    pub fn group_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.groups.iter().filter_map(|group| group.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the end of the last job, or zero if there are no jobs.
    pub fn makespan(&self) -> Time {
        self.placements.iter().map(|placement| placement.end).max().unwrap_or(Time::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_their_placements() {
        let placement = |task, start| Placement {
            task: TaskId(task),
            start: Time::from_ticks(start),
            end: Time::from_ticks(start + 1),
            processors: ProcSet::first(1),
        };
        let name: Arc<str> = "P_1".into();
        let schedule = Schedule::with_groups(vec![(placement(0, 5), Some(name)), (placement(1, 2), None)]);
        assert_eq!((schedule.group(0), schedule.group(1), schedule.group(2)), (None, Some("P_1"), None));
        assert_eq!(schedule.group_names(), ["P_1"]);
        let plain = Schedule::with_groups(vec![(placement(0, 5), None), (placement(1, 2), None)]);
        assert_eq!(plain, Schedule::new(vec![placement(0, 5), placement(1, 2)]));
    }
}
