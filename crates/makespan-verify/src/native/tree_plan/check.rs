//! Checks a plan for a tree. Problems are described in sentences.

use crate::Bound;
use makespan_core::Instance;
use makespan_core::tree::{FairnessError, Rates, RatesError, TreeProblem, decimal_text, short_decimal};

use super::{StatedFairness, StatedPeriod, TreePlanFile};

impl TreePlanFile {
    /// Checks all statements of the file. The rates must be a steady state with the stated throughput, the dual prices
    /// must prove the bound, and the proof of fairness and the period must be valid. The check is exact and needs no solver.
    pub fn problems(&self, instance: &Instance, problem: &TreeProblem) -> Vec<String> {
        let mut problems = Vec::new();
        match self.rates.fair_throughput(problem) {
            Err(error) => problems.push(named(instance, &error)),
            Ok(value) => {
                let real = short_decimal(&value, false);
                if real != self.fair_throughput {
                    let (stated, real) = (decimal_text(&self.fair_throughput), decimal_text(&real));
                    problems.push(format!("the stated fair throughput is {stated}, but the rates have {real}"));
                }
            }
        }
        problems.extend(self.wrong_bound(instance));
        problems.extend(self.wrong_fairness(instance, problem));
        problems.extend(self.wrong_period(instance, problem));
        problems
    }

    /// Checks that the certificate proves the bound, and that the stated bound is exactly the proven bound, rounded up.
    fn wrong_bound(&self, instance: &Instance) -> Option<String> {
        let Bound { objective, value: stated, proof, .. } = &self.bound;
        if let Err(error) = self.bound.verify(instance) {
            return Some(format!("bound on the {objective}: {error}"));
        }
        let proven = short_decimal(&proof.proves(*objective, instance).ok()?.rational(), true);
        let (stated, proven) = (decimal_text(&stated.rational()), decimal_text(&proven));
        (stated != proven)
            .then(|| format!("the stated bound on the {objective} is {stated}, but the certificate proves {proven}"))
    }

    /// Checks that the algorithm and the proof of fairness state the same alpha, and that the stated distance from fairness
    /// is exactly the proven distance, rounded up.
    fn wrong_fairness(&self, instance: &Instance, problem: &TreeProblem) -> Option<String> {
        let Some(StatedFairness { fairness, excess }) = &self.fairness else {
            let claims = self.algorithm.contains("alpha=");
            return claims.then(|| format!("`{}` claims fairness, but the file has no `fairness`", self.algorithm));
        };
        let algorithm = format!("steady-state[alpha={}]", fairness.alpha);
        if self.algorithm != algorithm {
            return Some(format!(
                "fairness: the file is a plan of `{}`, but this proof is for {algorithm}",
                self.algorithm
            ));
        }
        match fairness.excess(problem, &self.rates) {
            // Another line reports wrong rates.
            Err(FairnessError::Rates(_)) => None,
            Err(FairnessError::Idle(at)) => {
                let job = instance.jobs().get(at).map_or("?", |job| job.name.as_str());
                Some(format!("fairness: job `{job}` has no rate, so its marginal utility is infinite"))
            }
            Err(error) => Some(format!("fairness: {error}")),
            Ok(proven) => {
                let (stated, proven) = (decimal_text(excess), decimal_text(&short_decimal(&proven, true)));
                (stated != proven)
                    .then(|| format!("fairness: the stated excess is {stated}, but the prices prove {proven}"))
            }
        }
    }

    /// Checks the period. The rates of the period are its numbers of tasks, divided by its length. These rates must be
    /// a steady state with the stated throughput. The numbers of tasks must be the stated rates, multiplied by some
    /// requested length and rounded down. Otherwise, the file would state two different plans. The file does not state
    /// the requested length. The period may be longer than this length, because the time of each task is rounded to
    /// ticks.
    fn wrong_period(&self, instance: &Instance, problem: &TreeProblem) -> Option<String> {
        let StatedPeriod { periodic, fair_throughput } = self.period.as_ref()?;
        let seconds = periodic.period;
        if seconds.ticks() <= 0 {
            return Some("the period is not longer than 0 s".into());
        }
        let rates = Rates::new(problem.applications().len(), periodic.rates());
        if let Err(wrong) = rates.fair_throughput(problem) {
            return Some(format!("period: {}", named(instance, &wrong)));
        }
        let real = short_decimal(&periodic.throughput(problem), false);
        if real != *fair_throughput {
            let (stated, real) = (decimal_text(fair_throughput), decimal_text(&real));
            return Some(format!(
                "period: the stated fair throughput is {stated}, but the tasks in {seconds} s have {real}"
            ));
        }
        let same = self.rates.all().len() == periodic.tasks.len() && periodic.is_rounded_from(problem, &self.rates);
        (!same).then(|| format!("period: the numbers of tasks are not the rates times {seconds} s, rounded down"))
    }
}

/// Formats an error with the names of its node and application.
fn named(instance: &Instance, error: &RatesError) -> String {
    let node = |at: usize| instance.platform().nodes().get(at).map_or("?", |node| node.name.as_str());
    match *error {
        RatesError::Size { .. } | RatesError::Throughput => error.to_string(),
        RatesError::Negative { node: at, application } => {
            let job = instance.jobs().get(application).map_or("?", |job| job.name.as_str());
            format!("job `{job}` has a negative rate on node `{}`", node(at))
        }
        RatesError::Processors { node: at, load } => {
            format!("node `{}` would compute {load:.12} times as much as its processors can compute", node(at))
        }
        RatesError::Port { node: at, load } => {
            format!(
                "the rates require node `{}` to send for {load:.12} seconds in each second; the maximum is 1",
                node(at)
            )
        }
    }
}
