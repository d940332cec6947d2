//! What is done when no transformation is left and `P_2` still does not fit: it has one or two tasks then (section 6 and
//! appendix of the paper), if all tasks are monotone.

use std::cmp::Reverse;

use super::moves::Parts;
use super::{Last, fastest_within};

/// How the schedule is completed from its parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending {
    /// `P_full`, `P_1` and their partial SMPs are grouped, so that the idle processors are whole SMPs and a part of one
    /// more. Otherwise `P_full` stands on the left, and `P_1` and `P_2` on the right.
    pub(super) grouped: bool,
    /// The task for the idle processors, and how many it gets.
    pub(super) beside: Option<(usize, u32)>,
    /// A sequential task of `P_1` and the other one on whose first column it is stacked.
    pub(super) stacked: Option<(usize, usize)>,
    /// The only task of `P_2`, wherever it ends first on at most so many processors.
    pub(super) above: Option<(usize, u32)>,
    /// Tasks of `P_2` that do not fit.
    pub(super) left: Vec<usize>,
}

impl Ending {
    /// What it does, in a word.
    pub(super) fn last(&self) -> Last {
        match (self.beside, self.above) {
            _ if !self.left.is_empty() => Last::Left,
            (Some(_), Some(_)) => Last::Both,
            (Some(_), None) if self.stacked.is_some() => Last::Stacked,
            (Some(_), None) => Last::Beside,
            (None, Some(_)) => Last::Above,
            (None, None) => Last::Nothing,
        }
    }
}

impl Parts<'_> {
    /// The ways to complete these parts, in the order in which they are to be tried. The tasks of `P_2` that an ending
    /// places itself or leaves are taken out of the parts.
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

    /// A task whose box is too wide may still fit by itself, over all columns but those of `P_full`. Otherwise it goes
    /// to the idle processors of the first shelf. If it needs one more, that is gained from the last sequential task,
    /// which goes onto the shortest task of `P_1`.
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

    /// The task of more work goes to the idle processors, and the other one alone into `P_2`; or the other way round.
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

    /// The fastest allotment on `idle` processors, if it keeps the height.
    fn beside(&self, task: usize, idle: u32) -> Option<u32> {
        let profile = self.profiles[task];
        fastest_within(profile, idle).filter(|&processors| profile.time(processors) <= self.height)
    }
}
