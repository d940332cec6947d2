//! Plans several jobs one by one in an order, and computes the value of these plans.

use std::cmp::Ordering;

use super::candidate::FlowCandidate;
use super::choice::FlowChoice;
use super::rules::{JobFlowRules, Late, Value};
use crate::free_time::Calendar;
use crate::kernel::chains::strategy::{ChainBase, JobSchedule};

/// Jobs that are planned together, on processors that have reservations for other jobs.
pub(super) struct FlowTable<'a> {
    pub rules: &'a JobFlowRules,
    pub candidates: Vec<FlowCandidate<'a>>,
    /// The busy periods of each processor. These periods do not include the jobs that are planned here.
    pub calendars: Vec<Calendar>,
}

/// A plan for each candidate, and the value of these plans.
#[derive(Clone, Debug)]
pub(super) struct Collective {
    pub choices: Vec<FlowChoice>,
    pub value: Value,
}

/// The position of a job that cannot end by its deadline, in the order in which jobs are planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HopelessJobs {
    /// The job keeps its position.
    InTurn,
    /// The job is planned after all jobs that can end by their deadline.
    Last,
}

impl<'a> FlowTable<'a> {
    /// Returns the candidates sorted by a key. Candidates with equal keys keep their order.
    pub fn order_by<K: PartialOrd>(&self, key: impl Fn(&FlowCandidate<'a>) -> K) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        let compare = |&a: &usize, &b: &usize| {
            key(&self.candidates[a]).partial_cmp(&key(&self.candidates[b])).unwrap_or(Ordering::Equal)
        };
        order.sort_by(compare);
        order
    }

    /// Plans the jobs in an order. Each job uses its best variant by the criterion of the method, without regard to
    /// later jobs.
    pub fn one_by_one(&self, order: &[usize], hopeless: HopelessJobs) -> Collective {
        self.in_order(order, hopeless, |candidate, calendars| self.own_best(candidate, calendars))
    }

    /// Plans the jobs in an order. A job keeps its current plan if the processors are still free and the plan is in
    /// time.
    pub fn as_before(&self, order: &[usize]) -> Collective {
        self.in_order(order, HopelessJobs::Last, |candidate, calendars| {
            let kept = candidate.kept(calendars).filter(|choice| choice.in_time);
            kept.cloned().or_else(|| self.own_best(candidate, calendars))
        })
    }

    /// Plans the jobs in an order, each by HEFT as early as possible. Late jobs are planned last.
    pub fn early(&self, order: &[usize]) -> Collective {
        // HEFT's schedule is one of the variants only if the method plans chains into this schedule.
        let is_variant = self.rules.method.settings.start != ChainBase::Empty;
        self.in_order(order, HopelessJobs::Last, |candidate, calendars| {
            let offer = candidate.fallback(calendars);
            let in_time = offer.finish <= candidate.deadline && candidate.affords(&offer);
            in_time.then(|| if is_variant { candidate.taken(vec![offer], 0) } else { candidate.late(offer, false) })
        })
    }

    fn own_best(&self, candidate: &FlowCandidate, calendars: &[Calendar]) -> Option<FlowChoice> {
        let criterion = self.rules.method.settings.criterion;
        let variants = candidate.variants(calendars);
        let key = |offer: &JobSchedule| (candidate.shortfall(offer), offer.key(criterion));
        let best = (0..variants.len()).min_by_key(|&at| (key(&variants[at]), at))?;
        Some(candidate.taken(variants, best))
    }

    fn in_order(
        &self,
        order: &[usize],
        hopeless: HopelessJobs,
        plan: impl Fn(&FlowCandidate<'a>, &[Calendar]) -> Option<FlowChoice>,
    ) -> Collective {
        let mut calendars = self.calendars.clone();
        let mut choices: Vec<Option<FlowChoice>> = vec![None; self.candidates.len()];
        let reject = self.rules.late == Late::Reject;
        let mut left = Vec::new();
        for &at in order {
            let candidate = &self.candidates[at];
            let choice = match plan(candidate, &calendars) {
                Some(choice) => choice,
                None if hopeless == HopelessJobs::Last => {
                    left.push(at);
                    continue;
                }
                None => candidate.late(candidate.fallback(&calendars), reject),
            };
            choice.occupy(&mut calendars);
            choices[at] = Some(choice);
        }
        for at in left {
            let choice = self.candidates[at].late(self.candidates[at].fallback(&calendars), reject);
            choice.occupy(&mut calendars);
            choices[at] = Some(choice);
        }
        let choices: Vec<FlowChoice> = choices.into_iter().flatten().collect();
        Collective { value: self.value(&choices), choices }
    }

    /// Returns the value of the plans `choices`, one for each candidate.
    pub fn value(&self, choices: &[FlowChoice]) -> Value {
        let mut priorities: Vec<i32> = self.candidates.iter().map(|candidate| candidate.priority).collect();
        priorities.sort_unstable_by(|a, b| b.cmp(a));
        priorities.dedup();
        let mut value = Value { late: vec![(0, 0); priorities.len()], ..Value::default() };
        for (candidate, choice) in self.candidates.iter().zip(choices) {
            // The index of the candidate's priority among the priorities in descending order.
            let at = priorities.partition_point(|&other| other > candidate.priority);
            value.add(candidate, choice, at);
        }
        value
    }
}

impl Value {
    /// Adds a job to the value. `at` is the index of its priority, and the highest priority has the index 0.
    fn add(&mut self, candidate: &FlowCandidate, choice: &FlowChoice, at: usize) {
        let offer = &choice.offer;
        let weight = i128::from(candidate.weight.millionths());
        if !choice.in_time {
            self.late[at].0 += weight;
            self.late[at].1 += 1;
            self.broken += usize::from(candidate.promised);
        }
        self.shortfall += i128::from(candidate.shortfall(offer));
        if !choice.given_up {
            self.cost += i128::from(offer.cost);
            self.busy += i128::from(offer.busy);
            self.ends += weight.saturating_mul(i128::from(offer.finish));
            self.span = self.span.max(i128::from(offer.finish - candidate.real().release()));
        }
    }
}
