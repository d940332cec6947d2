//! `critical-jobs` and its parameters.

use makespan_core::Objective;

use super::{Build, Entry, OfScheduler, Parameter, Spec, SpecError};
use crate::kernel::chains::collisions::Penalties;
use crate::kernel::chains::criterion::Criterion;
use crate::kernel::chains::method::Method;
use crate::kernel::chains::ranking::Cover;
use crate::kernel::chains::reserve::Isolated;
use crate::kernel::chains::strategy::{ChainBase, Settings};
use crate::scheduler::CriticalJobs;

/// The entry of `critical-jobs` in the catalogue.
pub(super) const ENTRY: Entry = Entry {
    name: "critical-jobs",
    summary: "plans graphs chain by chain, the longest chain first, at the lowest cost within the deadline; returns \
              several variants",
    supports: "graphs of tasks and single tasks, each on one processor, of any speeds; tasks that start together; transfers over \
               links; release dates; unavailable periods",
    source: "Tselishchev, Toporkov, 54th IWK, Ilmenau 2009",
    parameters: &METHOD,
    kind: OfScheduler {
        minimises: &[Objective::Cost],
        guarantee: "none",
        compared: &["critical-jobs"],
        representatives: &[
            "critical-jobs",
            "critical-jobs[criterion=utilisation,deadline=2]",
            "critical-jobs[chains=disjoint,start=empty]",
            "critical-jobs[start=empty,cpus=types,penalty-cost=0,penalty-delay=7]",
            "critical-jobs[criterion=utilisation,isolated=reserve,same-cpu-transfer=paid]",
        ],
        build: Build::Scheduler(|spec| {
            build(spec).map(|scheduler| Box::new(scheduler) as Box<dyn crate::plan::Scheduler>)
        }),
    },
};

fn build(spec: &mut Spec) -> Result<CriticalJobs, SpecError> {
    method(spec, &Method::default()).map(|method| CriticalJobs { method })
}

/// The parameters that [`method`] reads.
pub(crate) const METHOD: [Parameter; 10] = [
    Parameter { name: "criterion", values: "cost or utilisation", default: "cost" },
    Parameter {
        name: "deadline",
        values: "a number x from 1 to 1000: a job without a deadline must end at most x times HEFT's makespan after \
                 its release",
        default: "1.5",
    },
    Parameter { name: "chains", values: "covering or disjoint", default: "covering" },
    Parameter { name: "start", values: "empty, heft, or both", default: "both" },
    Parameter { name: "cpus", values: "real or types", default: "real" },
    Parameter {
        name: "isolated",
        values: "run or reserve: the time for which tasks without edges hold their processors",
        default: "run",
    },
    Parameter { name: "same-cpu-transfer", values: "free or paid", default: "free" },
    Parameter { name: "penalty-cost", values: PENALTY, default: "1" },
    Parameter { name: "penalty-delay", values: PENALTY, default: "1" },
    Parameter { name: "penalty-change", values: PENALTY, default: "1" },
];
const PENALTY: &str = "0 to 1000000";

/// Takes the parameters of the method from a spec. If the spec does not contain a parameter, uses the value in
/// `default`.
pub(crate) fn method(spec: &mut Spec, default: &Method) -> Result<Method, SpecError> {
    let Method { settings, deadline, types, paid } = *default;
    let Settings { criterion, cover, start, penalties, isolated } = settings;
    let deadline = spec.take("deadline", deadline, factor)?;
    let criteria = [("cost", Criterion::Cost), ("utilisation", Criterion::Utilisation)];
    let starts = [("empty", ChainBase::Empty), ("heft", ChainBase::Heft), ("both", ChainBase::Both)];
    let covers = [("covering", Cover::Covering), ("disjoint", Cover::Disjoint)];
    let settings = Settings {
        criterion: one_of(spec, "criterion", criterion, &criteria)?,
        cover: one_of(spec, "chains", cover, &covers)?,
        start: one_of(spec, "start", start, &starts)?,
        penalties: Penalties {
            cost: penalty(spec, "penalty-cost", penalties.cost)?,
            delay: penalty(spec, "penalty-delay", penalties.delay)?,
            change: penalty(spec, "penalty-change", penalties.change)?,
        },
        isolated: one_of(spec, "isolated", isolated, &[("run", Isolated::Run), ("reserve", Isolated::Reserve)])?,
    };
    Ok(Method {
        settings,
        deadline,
        types: one_of(spec, "cpus", types, &[("real", false), ("types", true)])?,
        paid: one_of(spec, "same-cpu-transfer", paid, &[("free", false), ("paid", true)])?,
    })
}

/// Parses a multiple of HEFT's makespan.
pub(crate) fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor: &f64| (1.0..=1000.0).contains(factor));
    factor.ok_or_else(|| "a number from 1 to 1000".to_owned())
}

/// Takes a parameter with one of the given words as its value.
pub(crate) fn one_of<T: Copy>(spec: &mut Spec, key: &str, default: T, words: &[(&str, T)]) -> Result<T, SpecError> {
    spec.take(key, default, |text| {
        let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
        found.ok_or_else(|| format!("one of {}", words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")))
    })
}

fn penalty(spec: &mut Spec, key: &str, default: i64) -> Result<i64, SpecError> {
    spec.take(key, default, |text| {
        let weight = text.parse().ok().filter(|weight| (0..=1_000_000).contains(weight));
        weight.ok_or_else(|| "a whole number from 0 to 1000000".to_owned())
    })
}
