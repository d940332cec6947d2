//! Jobs that are planned together: their plans, one by one in an order, and what these come to.

use std::cmp::Ordering;

use super::candidate::Candidate;
use super::choice::Choice;
use super::rules::{JobFlowRules, Late, Value};
use crate::free_time::Calendar;
use crate::kernel::chains::strategy::{Offer, Start};

/// Jobs that are planned together, on processors that others hold at times.
pub(super) struct Table<'a> {
    pub rules: &'a JobFlowRules,
    pub candidates: Vec<Candidate<'a>>,
    /// What is not to be had, whatever is planned here.
    pub calendars: Vec<Calendar>,
}

/// A plan for each candidate.
#[derive(Clone, Debug)]
pub(super) struct Collective {
    pub choices: Vec<Choice>,
    pub value: Value,
}

/// When a job for which no plan is in time gets its places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hopeless {
    /// In its turn.
    InTurn,
    /// After all that are in time.
    Last,
}

impl<'a> Table<'a> {
    /// The candidates by a key; equal ones in their order.
    pub fn order_by<K: PartialOrd>(&self, key: impl Fn(&Candidate<'a>) -> K) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        let compare = |&a: &usize, &b: &usize| {
            key(&self.candidates[a]).partial_cmp(&key(&self.candidates[b])).unwrap_or(Ordering::Equal)
        };
        order.sort_by(compare);
        order
    }

    /// Every job in this order, by the variant of its strategy that is best by its own criterion.
    pub fn one_by_one(&self, order: &[usize], hopeless: Hopeless) -> Collective {
        self.in_order(order, hopeless, |candidate, calendars| self.own_best(candidate, calendars))
    }

    /// The same with jobs that keep the plans that they have, where they can.
    pub fn as_before(&self, order: &[usize]) -> Collective {
        self.in_order(order, Hopeless::Last, |candidate, calendars| {
            let kept = candidate.kept(calendars).filter(|choice| choice.in_time);
            kept.cloned().or_else(|| self.own_best(candidate, calendars))
        })
    }

    /// Every job in this order as early as HEFT's rule has it; those that are late last.
    pub fn early(&self, order: &[usize]) -> Collective {
        // Its schedule is a variant only where chains are planned into it.
        let is_variant = self.rules.method.settings.start != Start::Empty;
        self.in_order(order, Hopeless::Last, |candidate, calendars| {
            let offer = candidate.fallback(calendars);
            let in_time = offer.finish <= candidate.deadline;
            in_time.then(|| if is_variant { candidate.taken(vec![offer], 0) } else { candidate.late(offer, false) })
        })
    }

    fn own_best(&self, candidate: &Candidate, calendars: &[Calendar]) -> Option<Choice> {
        let criterion = self.rules.method.settings.criterion;
        let variants = candidate.variants(calendars);
        let key = |offer: &Offer| (candidate.shortfall(offer), offer.key(criterion));
        let best = (0..variants.len()).min_by_key(|&at| (key(&variants[at]), at))?;
        Some(candidate.taken(variants, best))
    }

    fn in_order(
        &self,
        order: &[usize],
        hopeless: Hopeless,
        plan: impl Fn(&Candidate<'a>, &[Calendar]) -> Option<Choice>,
    ) -> Collective {
        let mut calendars = self.calendars.clone();
        let mut choices: Vec<Option<Choice>> = vec![None; self.candidates.len()];
        let reject = self.rules.late == Late::Reject;
        let mut left = Vec::new();
        for &at in order {
            let candidate = &self.candidates[at];
            let choice = match plan(candidate, &calendars) {
                Some(choice) => choice,
                None if hopeless == Hopeless::Last => {
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
        let choices: Vec<Choice> = choices.into_iter().flatten().collect();
        Collective { value: self.value(&choices), choices }
    }

    /// What these choices, one a candidate, come to.
    pub fn value(&self, choices: &[Choice]) -> Value {
        let mut priorities: Vec<i32> = self.candidates.iter().map(|candidate| candidate.priority).collect();
        priorities.sort_unstable_by(|a, b| b.cmp(a));
        priorities.dedup();
        let mut value = Value { late: vec![(0, 0); priorities.len()], ..Value::default() };
        for (candidate, choice) in self.candidates.iter().zip(choices) {
            // Higher priorities come before it.
            let at = priorities.partition_point(|&other| other > candidate.priority);
            value.add(candidate, choice, at);
        }
        value
    }
}

impl Value {
    /// A job whose priority is the `at`-th from the highest.
    fn add(&mut self, candidate: &Candidate, choice: &Choice, at: usize) {
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
