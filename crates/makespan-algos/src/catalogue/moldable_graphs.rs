//! The schedulers that the literature compares on graphs of moldable tasks and on projects.

use makespan_core::Objective;

use super::{Build, Entry, OfScheduler, Parameter, Spec, SpecError, number};
use crate::scheduler::{Cpa, Hcpa, LpRounding, Mcpa, Mheft, PlacingRule, Priority, Rule, Scheme};

const ONE_CLUSTER: &str = "jobs, bags and graphs of moldable tasks on equal processors; release dates; with placing=list any \
                           processors; needs; transfers; best placement";
const CLUSTERS: &str = "jobs, bags and graphs of moldable tasks on clusters of any speeds, each task within one \
                        cluster; transfers; release dates";
const PLACING: Parameter = Parameter { name: "placing", values: PlacingRule::VALUES, default: "first-free" };

pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "cpa",
        summary: "allotments that grow along the critical path while this path is longer than the mean area: makespan",
        supports: ONE_CLUSTER,
        source: "Radulescu, van Gemund, ICPP 2001, doi:10.1109/ICPP.2001.952048",
        parameters: &[PLACING],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["cpa", "cpa[placing=list]"],
            representatives: &["cpa", "cpa[placing=list]"],
            build: Build::Scheduler(|spec| Ok(Box::new(Cpa { placing: placing(spec)? }))),
        },
    },
    Entry {
        name: "mcpa",
        summary: "CPA with allotments so small that all tasks of one level of the graph can run at the same time: makespan",
        supports: ONE_CLUSTER,
        source: "Bansal, Kumar, Singh, Parallel Computing 32(10), 2006, doi:10.1016/j.parco.2006.08.004",
        parameters: &[PLACING],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["mcpa", "mcpa[placing=list]"],
            representatives: &["mcpa", "mcpa[placing=list]"],
            build: Build::Scheduler(|spec| Ok(Box::new(Mcpa { placing: placing(spec)? }))),
        },
    },
    Entry {
        name: "hcpa",
        summary: "CPA on a reference cluster, then each task on the cluster where it ends first: makespan",
        supports: CLUSTERS,
        source: "N'Takpé, Suter, ICPADS 2006, doi:10.1109/ICPADS.2006.32; with Casanova, ISPDC 2007, doi:10.1109/ISPDC.2007.3",
        parameters: &[],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["hcpa"],
            representatives: &["hcpa"],
            build: Build::Scheduler(|_| Ok(Box::new(Hcpa))),
        },
    },
    Entry {
        name: "mheft",
        summary: "HEFT: each task on the cluster and allotment with which it ends first: makespan",
        supports: CLUSTERS,
        source: "Casanova, Desprez, Suter, Euro-Par 2004, doi:10.1007/978-3-540-27866-5_30",
        parameters: &[Parameter {
            name: "share",
            values: "1 to 100: the maximum allotment in per cent of a cluster",
            default: "100",
        }],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["mheft", "mheft[share=50]"],
            representatives: &["mheft", "mheft[share=50]"],
            build: Build::Scheduler(|spec| {
                let percent = |text: &str| match number(text, 100) {
                    Ok(share @ 1..) => Ok(share),
                    _ => Err("a number from 1 to 100".into()),
                };
                Ok(Box::new(Mheft { share: spec.take("share", Mheft::default().share, percent)? }))
            }),
        },
    },
    Entry {
        name: "lp-rounding",
        summary: "run times from a linear programme of path and area, rounded to allotments, then a list: makespan",
        supports: "jobs, bags and graphs of moldable tasks on processors of any speeds; needs; jobs that wait for jobs; transfers; \
                   release dates; best placement",
        source: "Lepère, Trystram, Woeginger, IJFCS 13, 2002, doi:10.1142/S0129054102001308; Jansen, Zhang, ACM TALG 2(3), 2006, \
                 doi:10.1145/1159892.1159899",
        parameters: &[Parameter { name: "rho", values: "0.01 to 0.99, in hundredths", default: "0.43" }],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "at most about 4.73 times the minimum makespan, for monotone tasks on equal processors, if \
                        each task can also run on one processor; no guarantee with needs, release dates, transfers, \
                        unavailable periods, bags or best placement",
            compared: &["lp-rounding"],
            representatives: &["lp-rounding", "lp-rounding[rho=0.50]"],
            build: Build::Scheduler(|spec| {
                Ok(Box::new(LpRounding { rho: spec.take("rho", LpRounding::RHO, hundredths)? }))
            }),
        },
    },
    Entry {
        name: "priority",
        summary: "starts tasks by a priority rule of project scheduling, task by task (serial) or instant by instant (parallel): makespan",
        supports: "jobs, bags and graphs of moldable tasks; needs; jobs that wait for jobs; release dates; with scheme=parallel and \
                   another rule than wcs also speeds, transfers, best placement and resources of several nodes",
        source: "Kolisch, EJOR 90, 1996, doi:10.1016/0377-2217(95)00357-6; J. Operations Management 14, 1996, \
                 doi:10.1016/0272-6963(95)00032-1",
        parameters: &[
            Parameter { name: "rule", values: "lft, mts, grpw, or wcs with scheme=parallel", default: "lft" },
            Parameter { name: "scheme", values: Scheme::VALUES, default: "serial" },
        ],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["priority[rule=lft]"],
            representatives: &[
                "priority[rule=lft]",
                "priority[rule=lft,scheme=parallel]",
                "priority[rule=mts]",
                "priority[rule=mts,scheme=parallel]",
                "priority[rule=grpw]",
                "priority[rule=grpw,scheme=parallel]",
                "priority[rule=wcs,scheme=parallel]",
            ],
            build: Build::Scheduler(|spec| {
                let rule = spec.take("rule", Rule::Lft, str::parse::<Rule>)?;
                let known =
                    |text: &str| Priority { rule, scheme: text.parse()? }.check().map(|priority| priority.scheme);
                let scheme = spec.take("scheme", Scheme::Serial, known)?;
                let wrong = |expected| SpecError::Value { key: "scheme".into(), value: scheme.to_string(), expected };
                Ok(Box::new(Priority { rule, scheme }.check().map_err(wrong)?))
            }),
        },
    },
];

fn placing(spec: &mut Spec) -> Result<PlacingRule, SpecError> {
    spec.take("placing", PlacingRule::default(), str::parse::<PlacingRule>)
}

/// Parses a number from 0.01 to 0.99, and returns it in hundredths.
fn hundredths(text: &str) -> Result<u32, String> {
    let value: Option<f64> = text.parse().ok();
    let hundredths = value.map(|value| (value * 100.0).round()).filter(|hundredths| (1.0..=99.0).contains(hundredths));
    let exact = hundredths.filter(|hundredths| value.is_some_and(|value| (value * 100.0 - hundredths).abs() < 1e-9));
    exact.map(|hundredths| hundredths as u32).ok_or_else(|| "a number from 0.01 to 0.99 in hundredths".into())
}
