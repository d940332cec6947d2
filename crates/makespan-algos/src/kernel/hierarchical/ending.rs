//! The last step of the construction. This step is needed if `P_2` does not fit and no transformation is possible. If
//! all tasks are monotone, `P_2` then contains one or two tasks (section 6 and appendix of the paper). The parent
//! module explains the parts `P_full`, `P_1` and `P_2`.

use std::cmp::Reverse;

use super::moves::TaskParts;
use super::{FinalStep, fastest_within};

/// One way to complete the schedule.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending {
    /// Whether the SMPs that `P_full` and `P_1` use in part are grouped. If so, the idle processors are whole SMPs and
    /// a part of one more SMP. Otherwise, `P_full` is on the left, and `P_1` and `P_2` are on the right.
    pub(super) grouped: bool,
    /// A task that runs on the idle processors of the first shelf, and its number of processors.
    pub(super) beside: Option<(usize, u32)>,
    /// A sequential task of `P_1`, and the task below it. Both use the first column of the task below.
    pub(super) stacked: Option<(usize, usize)>,
    /// The only task of `P_2`, which is placed where it ends first, and its maximum number of processors.
    pub(super) above: Option<(usize, u32)>,
    /// Tasks of `P_2` that do not fit.
    pub(super) left: Vec<usize>,
}

impl Ending {
    /// Returns the kind of the last step.
    pub(super) fn last(&self) -> FinalStep {
        match (self.beside, self.above) {
            _ if !self.left.is_empty() => FinalStep::Left,
            (Some(_), Some(_)) => FinalStep::Both,
            (Some(_), None) if self.stacked.is_some() => FinalStep::Stacked,
            (Some(_), None) => FinalStep::Beside,
            (None, Some(_)) => FinalStep::Above,
            (None, None) => FinalStep::Nothing,
        }
    }
}

impl TaskParts<'_> {
    /// Returns the ways to complete these parts, in the order in which the caller must try them. Removes from `P_2`
    /// the tasks that the ways place or leave without a place.
    pub(super) fn endings(&mut self) -> Vec<Ending> {
        if self.is_feasible() {
            return vec![Ending::default()];
        }
        match self.second.len() {
            1 => self.one_left(),
            2 => self.two_left(),
            _ => {
                self.give_up();
                vec![Ending::default()]
            }
        }
    }

    /// Returns the ways to place the only task of `P_2`. The box of this task is too wide. In the first way, the task
    /// is placed without a box, above the columns that are not in `P_full`. In the second way, the task is placed on
    /// the idle processors of the first shelf. If one processor is missing there, the last sequential task of `P_1` can
    /// free a processor by moving onto the shortest task of `P_1`.
    fn one_left(&mut self) -> Vec<Ending> {
        let Some(task) = self.second.pop().map(|slot| slot.task) else { return vec![Ending::default()] };
        let above = self.profiles[task].min_allotment(self.half).map(|most| (task, most));
        let mut endings = vec![Ending { above, ..Ending::default() }];
        let grouped = |processors| Ending { grouped: true, beside: Some((task, processors)), ..Ending::default() };
        endings.extend(self.beside(task, self.idle()).map(grouped));
        let host = self.first.iter().chain(&self.narrowable).min_by_key(|&&slot| (self.time(slot), slot.task));
        if let (Some(&host), Some(&single)) = (host, self.singles.last())
            && self.time(host) + self.time(single) <= self.height
        {
            let stacked = Some((single.task, host.task));
            let gained = self.beside(task, self.idle() + 1).map(grouped);
            endings.extend(gained.map(|ending| Ending { stacked, ..ending }));
        }
        endings
    }

    /// Returns the ways to place the two tasks of `P_2`: one on the idle processors of the first shelf, the other
    /// alone in `P_2`. In the first way, the task with more work is on the idle processors. In the second way, the
    /// task with less work is there.
    fn two_left(&mut self) -> Vec<Ending> {
        let mut tasks: Vec<usize> = std::mem::take(&mut self.second).into_iter().map(|slot| slot.task).collect();
        let canonical = |task: usize| self.profiles[task].min_allotment(self.half);
        let work = |task: usize| canonical(task).map(|processors| self.profiles[task].work(processors));
        tasks.sort_by_key(|&task| Reverse((work(task), task)));
        let ending = |large: usize, small: usize| {
            let beside = self.beside(large, self.idle()).map(|processors| (large, processors));
            let left = if beside.is_none() { vec![large] } else { vec![] };
            Ending { grouped: true, beside, above: canonical(small).map(|most| (small, most)), left, stacked: None }
        };
        vec![ending(tasks[0], tasks[1]), ending(tasks[1], tasks[0])]
    }

    /// Returns the fastest allotment on at most `idle` processors, or `None` if its time exceeds the height of the
    /// schedule.
    fn beside(&self, task: usize, idle: u32) -> Option<u32> {
        let profile = self.profiles[task];
        fastest_within(profile, idle).filter(|&processors| profile.time(processors) <= self.height)
    }
}
