//! `critical-jobs` and its parameters.

use super::{Entry, GRAPHS, Parameter, Spec, SpecError};
use crate::kernel::chains::planning::Criterion;
use crate::kernel::chains::ranking::Cover;
use crate::kernel::chains::strategy::Start;
use crate::scheduler::CriticalJobs;

/// The line of the catalogue.
pub(super) const ENTRY: Entry = Entry {
    name: "critical-jobs",
    summary: "graphs chain by chain, longest first, as cheap as the walltime allows: several variants to choose from",
    supports: GRAPHS,
    guarantee: "none",
    source: "Tselishchev, Toporkov, 54th IWK, Ilmenau 2009",
    parameters: &[
        Parameter { name: "criterion", values: "cost or utilisation", default: "cost" },
        Parameter { name: "walltime", values: "1 to 1000 times HEFT's makespan, of jobs without one", default: "1.5" },
        Parameter { name: "chains", values: "covering or disjoint", default: "covering" },
        Parameter { name: "start", values: "empty, heft or both", default: "both" },
        Parameter { name: "cpus", values: "real or types", default: "real" },
    ],
    compared: &["critical-jobs"],
    representatives: &[
        "critical-jobs",
        "critical-jobs[criterion=utilisation,walltime=2]",
        "critical-jobs[chains=disjoint,start=empty]",
        "critical-jobs[start=empty,cpus=types]",
    ],
    build: |spec| build(spec).map(|scheduler| Box::new(scheduler) as Box<dyn makespan_core::Scheduler>),
};

fn build(spec: &mut Spec) -> Result<CriticalJobs, SpecError> {
    let default = CriticalJobs::default();
    Ok(CriticalJobs {
        criterion: spec.take("criterion", default.criterion, |text| match text {
            "cost" => Ok(Criterion::Cost),
            "utilisation" => Ok(Criterion::Utilisation),
            _ => Err("one of cost, utilisation".to_owned()),
        })?,
        walltime: spec.take("walltime", default.walltime, |text| {
            let factor = text.parse().ok().filter(|factor: &f64| (1.0..=1000.0).contains(factor));
            factor.ok_or_else(|| "a number from 1 to 1000".to_owned())
        })?,
        cover: spec.take("chains", default.cover, |text| match text {
            "covering" => Ok(Cover::Covering),
            "disjoint" => Ok(Cover::Disjoint),
            _ => Err("one of covering, disjoint".to_owned()),
        })?,
        start: spec.take("start", default.start, |text| match text {
            "empty" => Ok(Start::Empty),
            "heft" => Ok(Start::Heft),
            "both" => Ok(Start::Both),
            _ => Err("one of empty, heft, both".to_owned()),
        })?,
        types: spec.take("cpus", default.types, |text| match text {
            "real" => Ok(false),
            "types" => Ok(true),
            _ => Err("one of real, types".to_owned()),
        })?,
    })
}
