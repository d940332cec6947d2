//! List scheduling with the allotments of the dual approximation.

use std::cmp::Reverse;

use makespan_core::{Instance, Objective, ScheduleBuilder, TaskId, Time, Unsupported};

use super::allotment::DualAllotment;
use super::order::Order;
use super::{WithBags, check_supported, counted_or_packed, dual_list_guarantee, packed, sequenced};
use crate::kernel::list::{self, AllottedTask};
use crate::plan::{Context, ForHardDeadlines, Guarantee, Plan, ScheduleError, Scheduler};

/// Graham's list algorithm on the allotments that the dual approximation selects.
///
/// Source: M. Garey, R. Graham, SIAM J. Comput. 4, 1975, DOI 10.1137/0204015. The orders are from the baselines of
/// Dutot, Eyraud, Mounié and Trystram, SPAA 2004, DOI 10.1145/1007912.1007932, section 4.1. Assumptions: none.
///
/// Guarantee (makespan): 2 if there are no release dates and no unavailable processors. The dual approximation guesses
/// a makespan. The total work is at most this guess times the number of processors, and no task takes longer than the
/// guess. For each task with a speed-up law, 4 ticks are added, because the times of the law are rounded up. The
/// guarantee is doubled if the knapsack is too large ([`makespan_bounds::dual::is_exact`]).
///
/// If processors are unavailable at times, several lists with allotments for the open processors are compared, and the
/// list that ends first is used. With an order other than `shelf`, tasks that would end far too late move to the front.
/// For graphs of moldable tasks on equal processors, the order `shelf` tries up to ten sets of allotments. The first
/// set has the shortest critical path, the last set has the least area. With each set, the tasks are listed by
/// decreasing longest path to the end, and the schedule that ends first is kept. Complexity: the complexity of the dual
/// search, plus O(n log n) for n tasks.
///
/// ```
/// use makespan_algos::scheduler::{ListGraham, Order};
/// use makespan_algos::Scheduler;
/// assert_eq!(ListGraham { order: Order::Saf }.name(), "list[order=saf]");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ListGraham {
    /// The order of the list.
    pub order: Order,
}

impl Scheduler for ListGraham {
    fn name(&self) -> String {
        format!("list[order={}]", self.order)
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        if instance.has_setups() {
            return sequenced::supports(instance);
        }
        counted_or_packed(instance)
    }

    fn supports_setups(&self) -> bool {
        true
    }

    fn guarantee(&self, instance: &Instance, objective: Objective) -> Option<Guarantee> {
        dual_list_guarantee(instance, objective)
    }

    fn for_hard_deadlines(&self) -> Option<ForHardDeadlines> {
        let next = Box::new(WithBags(Box::new(Self { order: Order::Edd })));
        Some(ForHardDeadlines { objective: None, next, last: None })
    }

    fn supports_lags(&self) -> bool {
        true
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        if instance.has_lags() {
            return packed::planned(self, packed::list_with_lags(instance, context.seed, &context.stop));
        }
        if instance.has_setups() {
            return sequenced::list(self, self.order, instance, context);
        }
        if !packed::is_counted(instance) {
            return packed::planned(self, packed::list(instance, self.order));
        }
        check_supported(self, instance)?;
        let tasks: Vec<TaskId> = instance.task_ids().collect();
        let mut builder = ScheduleBuilder::new(instance);
        let from = instance.first_release();
        let dual = DualAllotment::of(instance, &tasks);
        let list = dual.list_in_order(&mut builder, from, |list| self.sort(instance, list));
        list::place(&mut builder, instance, &list, from);
        Ok(builder.finish().into())
    }
}

impl ListGraham {
    /// Sorts the list. The sort is stable, so equal tasks keep the shelf order.
    fn sort(&self, instance: &Instance, list: &mut [AllottedTask]) {
        let time = |allotted: &AllottedTask| instance.profile(allotted.task).time(allotted.processors);
        match self.order {
            Order::Shelf => {}
            Order::Edd => list.sort_by_key(|allotted| instance.job_of(allotted.task).deadline.unwrap_or(Time::MAX)),
            Order::Saf => list.sort_by_cached_key(|allotted| time(allotted).area(allotted.processors)),
            Order::Smith => {
                list.sort_by_cached_key(|allotted| Reverse(density(instance, allotted.task, time(allotted))))
            }
            Order::WeightedLptf => list.sort_by_cached_key(|allotted| density(instance, allotted.task, time(allotted))),
        }
    }
}

/// Returns weight divided by time, as a fixed-point number with 64 fractional bits. Sorting by this number gives one
/// order on all machines.
pub(super) fn density(instance: &Instance, task: TaskId, time: makespan_core::Time) -> u128 {
    (u128::from(instance.weight(task).millionths()) << 64) / u128::from(time.ticks().unsigned_abs().max(1))
}
