//! Allotments from the dual approximation.

use makespan_bounds::dual::{self, Dual};
use makespan_core::{Instance, Profile, ScheduleBuilder, TaskId, Time};

use crate::kernel::list::AllottedTask;
use crate::kernel::open::OpenPlatform;

/// The result of the dual approximation for some tasks: the guessed length of the first shelf, and the shelf of each
/// task. Its methods return the allotments.
pub(super) struct DualAllotment<'a> {
    instance: &'a Instance,
    tasks: &'a [TaskId],
    pub(super) guess: Time,
    pub(super) first_shelf: Vec<bool>,
    pub(super) profiles: Vec<&'a Profile>,
}

impl<'a> DualAllotment<'a> {
    /// Returns the allotments for `tasks`. The allotments are computed as if all tasks were released at the same time
    /// and all processors were always open.
    pub(super) fn of(instance: &'a Instance, tasks: &'a [TaskId]) -> Self {
        let profiles: Vec<&Profile> = tasks.iter().map(|&id| instance.profile(id)).collect();
        let Dual { guess, first_shelf, .. } = dual::search(profiles.iter().copied(), instance.processors());
        Self { instance, tasks, guess, first_shelf, profiles }
    }

    /// Returns the allotment of the task at `index`. This allotment has the least work among all allotments with which
    /// the task fits into its shelf. The total work of all tasks is at most the guess times the number of processors,
    /// so every greedy list is a 2-approximation.
    pub(super) fn processors(&self, index: usize) -> u32 {
        let half = Time::from_ticks(self.guess.ticks() / 2);
        let profile = self.profiles[index];
        let limit = if self.first_shelf[index] { self.guess } else { half };
        profile.thriftiest(limit).unwrap_or_else(|| profile.fastest())
    }

    /// Returns the tasks in shelf order. If processors are closed after `from`, also tries lists with allotments for
    /// the open processors, and returns the list that ends first.
    pub(super) fn list(&self, builder: &mut ScheduleBuilder<'_>, from: Time) -> Vec<AllottedTask> {
        let plain = self.in_shelf_order();
        match OpenPlatform::of(self.instance, from) {
            None => plain,
            Some(open) => open.shortest(builder, self.instance, &open.lists(self.instance, plain)).list,
        }
    }

    /// Returns the tasks in the order of `sort`. If processors are closed after `from`, tasks that would end far too
    /// late in this order move to the front.
    pub(super) fn list_in_order(
        &self,
        builder: &mut ScheduleBuilder<'_>,
        from: Time,
        sort: impl Fn(&mut [AllottedTask]),
    ) -> Vec<AllottedTask> {
        let instance = self.instance;
        let mut plain = self.in_shelf_order();
        let Some(open) = OpenPlatform::of(instance, from) else {
            sort(&mut plain);
            return plain;
        };
        let mut lists = open.lists(instance, plain);
        let shortest = open.shortest(builder, instance, &lists);
        lists.iter_mut().for_each(|list| sort(list));
        let list = open.shortest(builder, instance, &lists).list;
        open.near(builder, instance, list, shortest)
    }

    /// Returns the tasks in shelf order: the first shelf, then the second shelf, then small sequential tasks. Each
    /// group is sorted by decreasing time.
    pub(super) fn in_shelf_order(&self) -> Vec<AllottedTask> {
        let half = Time::from_ticks(self.guess.ticks() / 2);
        let entry = |index: usize| {
            let processors = self.processors(index);
            let time = self.profiles[index].time(processors);
            let small = processors == 1 && time <= half;
            let shelf = if small { 2 } else { u8::from(!self.first_shelf[index]) };
            (shelf, std::cmp::Reverse(time), AllottedTask { task: self.tasks[index], processors })
        };
        let mut entries: Vec<_> = (0..self.tasks.len()).map(entry).collect();
        entries.sort_by_key(|&(shelf, time, allotted)| (shelf, time, allotted.task));
        entries.into_iter().map(|(_, _, allotted)| allotted).collect()
    }
}
