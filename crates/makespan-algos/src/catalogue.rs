//! The catalogue of schedulers and mapping heuristics, and the parser of specs. [`crate::policy`] contains the
//! catalogues of policies and of the heuristics for nodes of a tree.

mod critical_jobs;
mod entry;
pub(crate) mod mapping;
mod moldable_graphs;
mod optimise;
mod resolve;
mod spec;
mod spec_list;

use std::sync::LazyLock;

use makespan_core::Objective;
use makespan_core::tree::Fairness;

pub(crate) use critical_jobs::{METHOD, method, one_of};
pub use entry::{Entry, OfScheduler, Parameter};
pub use resolve::resolved;
pub(crate) use spec::objective_named;
pub use spec::{Spec, SpecError};
pub use spec_list::{spec_title, split_specs};

pub(crate) use entry::Build;

use crate::kernel::compact::Shuffle;
use crate::plan::Scheduler;
use crate::scheduler::{
    Compaction, Cpop, Demt, DualApproximation, Gang, Heft, ListGraham, Order, Peft, STEADY_STATE, Sequential, Shelves,
    SteadyState, Sweep, WithBags,
};

pub(crate) const ANY_JOBS: &str = "moldable, rigid and sequential jobs and bags of them on equal processors; release dates; unavailable \
                        periods; best placement";
const ALL_JOBS: &str = "jobs, bags and graphs of moldable tasks on processors of any speeds; needs; jobs that wait for jobs; \
                        transfers; release dates; unavailable periods; best placement";
const ALL_RULES: &str = "jobs, bags and graphs of moldable tasks on processors of any speeds; needs; jobs that wait for jobs; \
                        transfers; release dates; unavailable periods; best placement; deadlines that must be kept; setup times";
const GRAPHS: &str = "graphs of tasks and single tasks, each on one processor, of any speeds; transfers over links; release \
                      dates; unavailable periods";
const HEFT_PAPER: &str = "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, doi:10.1109/71.993206";
const DEMT_PAPER: &str = "Dutot, Eyraud, Mounié, Trystram, SPAA 2004, doi:10.1145/1007912.1007932";

static CATALOGUE: LazyLock<Vec<Entry>> =
    LazyLock::new(|| [ENTRIES, moldable_graphs::ENTRIES, mapping::ENTRIES, &[ON_TREES]].concat());

static ENTRIES: &[Entry] = &[
    Entry {
        name: "optimise",
        summary: "the best schedule within a time limit, by dual prices and annealing: any objective, or a front",
        supports: ALL_RULES,
        source: "Makespan; annealing after Kirkpatrick et al. 1983, doi:10.1126/science.220.4598.671",
        parameters: &[
            Parameter { name: "objective", values: optimise::OBJECTIVES, default: "weighted-completion" },
            Parameter {
                name: "makespan-at-most",
                values: "a number, at least 1; the limit is this number times the proven bound",
                default: "none",
            },
            Parameter {
                name: "deadline",
                values: "a number x from 1 to 1000 (only with objective=cost): a job without a deadline must end \
                         at most x times HEFT's makespan after its release",
                default: "1.5",
            },
            Parameter { name: "time-limit", values: "a time such as 10s", default: "1s" },
            Parameter {
                name: "steps",
                values: "1 to 1000000000000: the number of steps, instead of a time limit",
                default: "none",
            },
            Parameter {
                name: "searches",
                values: "a number of parallel searches from 1 to 1024, or auto: 2 with steps, otherwise one for each \
                         thread",
                default: "auto",
            },
        ],
        kind: OfScheduler {
            minimises: &Objective::OF_SCHEDULES,
            guarantee: "with objective=makespan: at most 2 times the minimum makespan, for jobs of one task that need \
                        only equal processors; no guarantee with release dates, unavailable periods, best placement, \
                        bags or an order between jobs",
            compared: &["optimise", "optimise[objective=makespan]"],
            representatives: &[
                "optimise[steps=60,searches=2]",
                "optimise[objective=makespan,steps=60,searches=2]",
                "optimise[objective=mean-flow,steps=20,searches=1]",
                "optimise[objective=max-tardiness,steps=20,searches=1]",
                "optimise[objective=weighted-tardiness,steps=20,searches=1]",
                "optimise[objective=max-lateness,steps=20,searches=1]",
                "optimise[objective=tardy-jobs,steps=20,searches=1]",
                "optimise[objective=pareto,steps=60,searches=1]",
                "optimise[objective=cost,steps=500,searches=2]",
            ],
            build: Build::Scheduler(|spec| {
                optimise::build(spec).map(|scheduler| Box::new(scheduler) as Box<dyn Scheduler>)
            }),
        },
    },
    Entry {
        name: "demt",
        summary: "batches of doubling lengths, filled with the largest weight that fits (knapsacks), then compacted by a list: makespan and weighted completion",
        supports: ALL_JOBS,
        source: DEMT_PAPER,
        parameters: &[
            Parameter { name: "compaction", values: Compaction::VALUES, default: "list" },
            Parameter { name: "shuffles", values: "0 to 1000000", default: "20" },
            Parameter {
                name: "shuffle",
                values: "the order of batches, of jobs within them, or both",
                default: "batches",
            },
        ],
        kind: OfScheduler {
            minimises: &[Objective::WeightedCompletion, Objective::Makespan],
            guarantee: "none known",
            compared: &["demt", "demt[compaction=raw]", "demt[compaction=shift]"],
            representatives: &["demt", "demt[compaction=raw]", "demt[compaction=shift]", "demt[shuffle=both]"],
            build: Build::Scheduler(|spec| {
                let default = Demt::default();
                Ok(Box::new(Demt {
                    compaction: spec.take("compaction", default.compaction, str::parse::<Compaction>)?,
                    shuffles: spec.take("shuffles", default.shuffles, |text| number(text, 1_000_000))?,
                    shuffle: spec.take("shuffle", default.shuffle, str::parse::<Shuffle>)?,
                }))
            }),
        },
    },
    Entry {
        name: "dual",
        summary: "two shelves, for the shortest target length that the dual approximation accepts: makespan",
        supports: ANY_JOBS,
        source: "Mounié, Rapine, Trystram, SIAM J. Comput. 37(2), 2007, doi:10.1137/S0097539701385995",
        parameters: &[],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "at most 3/2 times the minimum makespan if all jobs are monotone, otherwise 2 times; doubled \
                        with release dates; no guarantee with unavailable periods, best placement or bags",
            compared: &["dual"],
            representatives: &["dual"],
            build: Build::Scheduler(|_| Ok(Box::new(DualApproximation))),
        },
    },
    Entry {
        name: "list",
        summary: "starts jobs in the order of a list (Graham), each on the number of processors that `dual` chooses",
        supports: ALL_RULES,
        source: "Garey, Graham, SIAM J. Comput. 4, 1975, doi:10.1137/0204015",
        parameters: &[Parameter { name: "order", values: Order::VALUES, default: "shelf" }],
        kind: OfScheduler {
            minimises: &[Objective::WeightedCompletion, Objective::Makespan],
            guarantee: "at most 2 times the minimum makespan, for jobs of one task that need only equal processors; \
                        no guarantee with release dates, unavailable periods, best placement, bags or an order \
                        between jobs",
            compared: &["list[order=shelf]", "list[order=weighted-lptf]", "list[order=smith]", "list[order=saf]"],
            representatives: &[
                "list[order=shelf]",
                "list[order=weighted-lptf]",
                "list[order=smith]",
                "list[order=saf]",
                "list[order=edd]",
            ],
            build: Build::Scheduler(|spec| {
                Ok(Box::new(ListGraham { order: spec.take("order", Order::Shelf, str::parse::<Order>)? }))
            }),
        },
    },
    Entry {
        name: "sweep",
        summary: "a list, longest job first, for each of several target lengths, then annealing of the best list: makespan",
        supports: ALL_JOBS,
        source: "Turek, Wolf, Yu, SPAA 1992, doi:10.1145/140901.141909; Kirkpatrick et al. 1983, doi:10.1126/science.220.4598.671",
        parameters: &[Parameter { name: "steps", values: "0 to 100000000", default: "100000" }],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "at most 2 times the minimum makespan, for jobs of one task that need only equal processors; \
                        no guarantee with release dates, unavailable periods, best placement, bags or an order \
                        between jobs",
            compared: &["sweep"],
            representatives: &["sweep[steps=200]", "sweep[steps=0]"],
            build: Build::Scheduler(|spec| {
                let steps = spec.take("steps", Sweep::default().steps, |text| number(text, 100_000_000))?;
                Ok(Box::new(Sweep { steps }))
            }),
        },
    },
    Entry {
        name: "shelves",
        summary: "two shelves on equal nodes, every job in its best placement: makespan",
        supports: "moldable, rigid and sequential jobs on equal nodes; release dates; best placement; by a list: \
                   unavailable periods",
        source: "Dutot, Trystram, SPAA 2001, HAL inria-00001082",
        parameters: &[],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "for monotone jobs, at most 2 - 2/k times the minimum makespan on nodes of k = 4, 8, 16 .. \
                        processors (3/2 times for k = 1 and 2); on other nodes, twice the factor of the next smaller \
                        k of these; doubled with release dates; no guarantee with unavailable periods",
            compared: &["shelves"],
            representatives: &["shelves"],
            build: Build::Scheduler(|_| Ok(Box::new(Shelves))),
        },
    },
    Entry {
        name: "gang",
        summary: "one job at a time on all processors, by weight over time; packed: other jobs fill the free processors",
        supports: ALL_JOBS,
        source: DEMT_PAPER,
        parameters: &[Parameter { name: "packed", values: "yes or no", default: "no" }],
        kind: OfScheduler {
            minimises: &[Objective::WeightedCompletion, Objective::Makespan],
            guarantee: "none",
            compared: &["gang", "gang[packed=yes]"],
            representatives: &["gang", "gang[packed=yes]"],
            build: Build::Scheduler(|spec| Ok(Box::new(Gang { packed: spec.take("packed", false, yes_or_no)? }))),
        },
    },
    Entry {
        name: "sequential",
        summary: "every job on its fewest processors, longest first",
        supports: ALL_JOBS,
        source: DEMT_PAPER,
        parameters: &[],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "at most 2 times the minimum makespan, if every job is one rigid task that needs only equal \
                        processors, and can run on any of them; otherwise no guarantee",
            compared: &["sequential"],
            representatives: &["sequential"],
            build: Build::Scheduler(|_| Ok(Box::new(Sequential))),
        },
    },
    Entry {
        name: "heft",
        summary: "graphs by decreasing distance from the end, each task on the processor where it ends first: makespan",
        supports: GRAPHS,
        source: HEFT_PAPER,
        parameters: &[],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["heft"],
            representatives: &["heft"],
            build: Build::Scheduler(|_| Ok(Box::new(Heft))),
        },
    },
    Entry {
        name: "cpop",
        summary: "graphs with the critical path of each job on one processor: makespan",
        supports: GRAPHS,
        source: HEFT_PAPER,
        parameters: &[],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["cpop"],
            representatives: &["cpop"],
            build: Build::Scheduler(|_| Ok(Box::new(Cpop))),
        },
    },
    Entry {
        name: "peft",
        summary: "HEFT that looks ahead by a table of optimistic costs: makespan",
        supports: GRAPHS,
        source: "Arabnejad, Barbosa, IEEE TPDS 25(3), 2014, doi:10.1109/TPDS.2013.57",
        parameters: &[],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["peft"],
            representatives: &["peft"],
            build: Build::Scheduler(|_| Ok(Box::new(Peft))),
        },
    },
    critical_jobs::ENTRY,
];

const ON_TREES: Entry = Entry {
    name: STEADY_STATE,
    summary: "rates of machines for the largest fair throughput, and a period of whole tasks",
    supports: "bags of tasks on one processor on a tree of machines, or one node; transfers over links",
    source: "Beaumont et al., IPDPS 2006, doi:10.1109/IPDPS.2006.1639262",
    parameters: &[Parameter {
        name: "alpha",
        values: "max: the largest minimum of the weighted throughputs; 1: proportional fairness; 2 to 10: between these",
        default: "max",
    }],
    kind: OfScheduler {
        minimises: &[Objective::Makespan],
        guarantee: "the optimal fair throughput, exact for up to 1000 nodes; with alpha, a proved distance from the optimum",
        compared: &["steady-state"],
        representatives: &["steady-state", "steady-state[alpha=1]", "steady-state[alpha=2]"],
        build: Build::Scheduler(|spec| Ok(Box::new(SteadyState { alpha: spec.take("alpha", None, alpha)? }))),
    },
};

/// Parses the exponent of alpha-fairness. Returns `None` for the limit, in which the least throughput counts alone.
fn alpha(text: &str) -> Result<Option<u32>, String> {
    let parsed = text.parse().ok().filter(|alpha| (1..=Fairness::MAX).contains(alpha));
    if text == "max" { Ok(None) } else { parsed.map(Some).ok_or_else(|| "max, or a number from 1 to 10".into()) }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("yes or no".into()),
    }
}

/// Parses a parameter that is a whole number from 0 to `most`, the maximum.
pub(crate) fn number(text: &str, most: u32) -> Result<u32, String> {
    text.parse().ok().filter(|&count| count <= most).ok_or_else(|| format!("a number from 0 to {most}"))
}

/// Returns the entries of all schedulers.
pub fn catalogue() -> &'static [Entry] {
    &CATALOGUE
}

/// Returns the scheduler that a spec names, such as `demt`, `demt[shuffles=50]` or `list[order=saf]`. The scheduler
/// also plans bags of tasks ([`WithBags`]). Guarantees do not hold for instances with bags.
///
/// # Errors
/// [`SpecError`] states the unknown or invalid part of the spec, and lists the valid values.
pub fn scheduler(spec: &str) -> Result<Box<dyn Scheduler>, SpecError> {
    Entry::made(&CATALOGUE, "algorithm", spec, |entry, spec| {
        let scheduler = match entry.kind.build {
            Build::Scheduler(build) => build(spec)?,
            Build::Mapper(build) => Box::new(build(spec)?),
        };
        // `steady-state` plans bags without [`WithBags`].
        Ok(if entry.name == ON_TREES.name { scheduler } else { Box::new(WithBags(scheduler)) })
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_representative_is_its_own_name() {
        for spec in CATALOGUE.iter().flat_map(|entry| entry.kind.representatives.iter().chain(entry.kind.compared)) {
            assert_eq!(scheduler(spec).unwrap().name(), *spec);
        }
    }

    /// Returns the results of all methods of a scheduler that need no instance.
    fn answers(scheduler: &dyn Scheduler) -> impl PartialEq + Debug + use<> {
        let name = |variant: Option<Box<dyn Scheduler>>| variant.map(|variant| variant.name());
        let limits = (scheduler.makespan_at_most(), scheduler.time_limit());
        let variants = (name(scheduler.by_weight()), name(scheduler.of_wholes(vec![0, 0])));
        (scheduler.name(), scheduler.is_anytime(), limits, variants)
    }

    #[test]
    fn wrapped_schedulers_give_the_same_answers() {
        let limits = ["optimise[makespan-at-most=1.5,time-limit=0.25]", "optimise[objective=mean-flow,time-limit=9]"];
        for entry in CATALOGUE.iter() {
            let stated = limits.into_iter().filter(|spec| spec.starts_with(entry.name));
            let all = entry.kind.representatives.iter().chain(entry.kind.compared).copied().chain(stated);
            for spec in all {
                let wrapped = scheduler(spec).unwrap();
                let plain = Entry::made(&CATALOGUE, "algorithm", spec, |entry, spec| match entry.kind.build {
                    Build::Scheduler(build) => build(spec),
                    Build::Mapper(build) => Ok(Box::new(build(spec)?)),
                });
                let plain = plain.unwrap();
                assert_eq!(answers(&*wrapped), answers(&*plain), "{spec}");
                for numbers in [vec![0, 0], vec![0, 1]] {
                    let whole = |scheduler: &dyn Scheduler| scheduler.of_wholes(numbers.clone());
                    let both = (whole(&*wrapped), whole(&*plain));
                    assert_eq!(both.0.as_deref().map(answers), both.1.as_deref().map(answers), "{spec}");
                    let mut given = both.1.as_deref().map(answers).into_iter();
                    assert!(given.all(|given| given == answers(&*plain)), "{spec}");
                }
            }
        }
        let limited = scheduler(limits[0]).unwrap();
        assert_eq!((limited.makespan_at_most(), limited.time_limit()), (Some(1.5), Some(Duration::from_millis(250))));
        assert!(scheduler(limits[1]).unwrap().by_weight().is_some());
    }

    #[test]
    fn defaults_are_what_the_listing_says() {
        for entry in CATALOGUE.iter() {
            for parameter in entry.parameters {
                let stated = format!("{}[{}={}]", entry.name, parameter.name, parameter.default);
                assert_eq!(scheduler(&stated).unwrap().name(), scheduler(entry.name).unwrap().name());
            }
        }
    }

    fn refused(spec: &str, part: &str) {
        let message = scheduler(spec).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(part), "{spec}: {message}");
    }

    #[test]
    fn wrong_specs_are_told_what_would_be_right() {
        refused("dmet", "did you mean `demt`");
        refused("demt[shufles=3]", "did you mean `shuffles`");
        refused("demt[shuffles=many]", "a number from 0 to 1000000");
        refused("list[order=random]", "one of shelf, weighted-lptf, smith, saf or edd");
        refused("sequential[order=saf]", "has no parameters");
        refused("gang[packed=perhaps]", "yes or no");
        refused("priority[rule=wcs]", "parallel with rule=wcs");
        refused("priority[rule=wcs,scheme=serial]", "parallel with rule=wcs");
        refused("lp-rounding[rho=0.435]", "in hundredths");
        refused("mheft[share=0]", "a number from 1 to 100");
        refused("demt[shuffles=3", "name[key=value,..]");
        refused("demt[shuffles]", "name[key=value,..]");
        refused("demt[shuffles=1,shuffles=2]", "twice");
        refused("", "name[key=value,..]");
    }
}
