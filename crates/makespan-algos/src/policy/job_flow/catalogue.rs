//! `job-flow` and its parameters.

use makespan_core::{Instance, Time, Unsupported};

use super::rules::{Clock, Goal, JobFlowRules, Late, Serve, Spare};
use super::{JobFlow, supports};
use crate::catalogue::{Entry, METHOD, Parameter, Spec, SpecError, method, one_of};
use crate::policy::Starts;
use crate::policy::built::{OfPolicy, SupportedPolicy};

const SERVE: &str = "arrival, consecutive, buffer or replan";
const BUFFER: &str = "a positive time, such as 20s (only with serve=buffer)";
const GOAL: &str = "utilisation, cost, or finish: the goal for jobs that are planned together";

/// The entry of `job-flow` in the catalogue.
pub(in crate::policy) const ENTRY: Entry<OfPolicy> = Entry {
    name: "job-flow",
    summary: "plans compound jobs by their strategies: on arrival, collected in a buffer, or again at each arrival",
    supports: "graphs of tasks and single tasks, each on one processor, of any speeds; tasks that start together; \
               transfers over links; unavailable periods; failures",
    source: "Tselishchev, Toporkov, 54th IWK, Ilmenau 2009",
    parameters: &PARAMETERS,
    kind: OfPolicy {
        build: |spec, _| {
            let supports: fn(&Instance) -> Result<(), Unsupported> = supports;
            Ok(SupportedPolicy { policy: Box::new(JobFlow::new(rules(spec)?)), supports: Box::new(supports) })
        },
    },
};

const SPARE: &str = "auto, always, or never: whether plans leave time to repeat the longest task (auto: only after a \
                     failure)";

const OWN: [Parameter; 7] = [
    Parameter { name: "serve", values: SERVE, default: "replan" },
    Parameter { name: "buffer", values: BUFFER, default: "20s" },
    Parameter { name: "flow", values: GOAL, default: "cost" },
    Parameter {
        name: "clock",
        values: "arrival or handover: the instant from which the time to a deadline is counted",
        default: "arrival",
    },
    Parameter { name: "late", values: "run or reject", default: "run" },
    Parameter { name: "spare", values: SPARE, default: "auto" },
    Parameter { name: "starts", values: "auto, early or reserved", default: "early" },
];

const PARAMETERS: [Parameter; OWN.len() + METHOD.len()] = {
    let mut all = [OWN[0]; OWN.len() + METHOD.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < OWN.len() { OWN[at] } else { METHOD[at - OWN.len()] };
        at += 1;
    }
    all
};

impl JobFlowRules {
    /// Parses a spec such as `job-flow[late=reject]`.
    ///
    /// # Errors
    /// [`SpecError`] if the spec is not `job-flow` with valid parameters.
    pub fn parse(spec: &str) -> Result<Self, SpecError> {
        Entry::made(std::slice::from_ref(&ENTRY), "metascheduler", spec, |_, spec| rules(spec))
    }
}

fn rules(spec: &mut Spec) -> Result<JobFlowRules, SpecError> {
    let default = JobFlowRules::default();
    let buffer = spec.take("buffer", None, |text| {
        let time = Time::parse(text).ok().filter(|time| time.ticks() > 0);
        time.map(Some).ok_or_else(|| BUFFER.to_owned())
    })?;
    // If a spec states `buffer` but not `serve`, the default of `serve` is `buffer`.
    let usual = if buffer.is_some() { "buffer" } else { "replan" };
    let words = ["arrival", "consecutive", "buffer", "replan"].map(|word| (word, word));
    let serve = match (one_of(spec, "serve", usual, &words)?, buffer) {
        ("buffer", length) => Serve::Buffer(length.unwrap_or(Time::from_seconds(20))),
        (other, Some(length)) => {
            let expected = format!("left out with serve={other}");
            return Err(SpecError::Value { key: "buffer".into(), value: format!("{length}s"), expected });
        }
        ("arrival", None) => Serve::Arrival,
        ("consecutive", None) => Serve::Consecutive,
        _ => Serve::Replan,
    };
    let goals = [("utilisation", Goal::Utilisation), ("cost", Goal::Cost), ("finish", Goal::Finish)];
    let goal = spec.take("flow", default.goal, |text| {
        let found = goals.iter().find(|(word, _)| *word == text).map(|&(_, goal)| goal);
        match found {
            Some(_) if matches!(serve, Serve::Arrival | Serve::Consecutive) => {
                Err("left out with serve=arrival and serve=consecutive, because they plan jobs one by one".into())
            }
            _ => found.ok_or_else(|| GOAL.to_owned()),
        }
    })?;
    Ok(JobFlowRules {
        serve,
        goal,
        clock: one_of(spec, "clock", default.clock, &[("arrival", Clock::Arrival), ("handover", Clock::Handover)])?,
        late: one_of(spec, "late", default.late, &[("run", Late::Run), ("reject", Late::Reject)])?,
        spare: one_of(
            spec,
            "spare",
            default.spare,
            &[("auto", Spare::Auto), ("always", Spare::Always), ("never", Spare::Never)],
        )?,
        starts: one_of(
            spec,
            "starts",
            default.starts,
            &[("reserved", Starts::Reserved), ("early", Starts::Early), ("auto", Starts::Auto)],
        )?,
        method: method(spec, &default.method)?,
    })
}
