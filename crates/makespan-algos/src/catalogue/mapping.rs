//! The mapping heuristics in the catalogue.

use makespan_core::Objective;

use super::{Build, Entry, OfScheduler, Parameter, number};
use crate::kernel::mapping::{
    BraunGenetic, Descent, Duplex, Fitness, Genetic, MaxMin, MinMin, MinimumCompletion, MinimumExecution,
    OpportunisticLoadBalancing, Sufferage,
};
use crate::scheduler::MappingScheduler;

const SEQUENTIAL: &str = "sequential jobs and competing bags of them on machines of any kind (equal, of unequal speeds, or with a \
                          time for each job and machine); unavailable periods at the beginning";
const BRAUN: &str = "Braun et al., JPDC 61, 2001, doi:10.1006/jpdc.2000.1714";

/// Defines the entry of a mapping heuristic without parameters.
macro_rules! plain {
    ($name:literal, $summary:literal, $guarantee:literal, $source:expr, $mapper:expr) => {
        Entry {
            name: $name,
            summary: $summary,
            supports: SEQUENTIAL,
            source: $source,
            parameters: &[],
            kind: OfScheduler {
                minimises: &[Objective::Makespan],
                guarantee: $guarantee,
                compared: &[$name],
                representatives: &[$name],
                build: Build::Mapper(|_| Ok(MappingScheduler::new($name, $mapper))),
            },
        }
    };
}

pub(crate) static ENTRIES: &[Entry] = &[
    plain!("olb", "each job on the machine that is free first", "none", BRAUN, OpportunisticLoadBalancing),
    plain!("met", "each job on its fastest machine", "none", BRAUN, MinimumExecution),
    plain!("mct", "each job on the machine on which it ends first", "none", BRAUN, MinimumCompletion),
    plain!(
        "min-min",
        "first the job that can end first, on the machine on which it ends first",
        "none",
        "Ibarra, Kim, J. ACM 24, 1977, doi:10.1145/322003.322011",
        MinMin
    ),
    plain!(
        "max-min",
        "first the job with the latest earliest end, on the machine on which it ends first",
        "none",
        "Ibarra, Kim, J. ACM 24, 1977, doi:10.1145/322003.322011",
        MaxMin
    ),
    plain!("duplex", "the better of min-min and max-min", "none", BRAUN, Duplex),
    Entry {
        name: "sufferage",
        summary: "first the job that loses the most time without its best machine",
        supports: SEQUENTIAL,
        source: "Maheswaran et al., JPDC 59, 1999, doi:10.1006/jpdc.1999.1581",
        parameters: &[Parameter { name: "mode", values: "passes or greedy", default: "passes" }],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["sufferage", "sufferage[mode=greedy]"],
            representatives: &["sufferage", "sufferage[mode=greedy]"],
            build: Build::Mapper(|spec| {
                let greedy = spec.take("mode", false, |text| match text {
                    "passes" => Ok(false),
                    "greedy" => Ok(true),
                    _ => Err("one of passes, greedy".into()),
                })?;
                let name = if greedy { "sufferage[mode=greedy]" } else { "sufferage" };
                Ok(MappingScheduler::new(name, Sufferage { greedy }))
            }),
        },
    },
    plain!(
        "descent",
        "min-min, then moves and swaps until none improves the schedule",
        "none",
        "Vredeveld, Hurkens, INFORMS J. Comput. 14, 2002, doi:10.1287/ijoc.14.2.175.113",
        Descent
    ),
    Entry {
        name: "ga",
        summary: "a genetic algorithm that then balances the ends of the machines",
        supports: SEQUENTIAL,
        source: "Sun, Zhang, Wu, Inoguchi, Practical Task Flow Scheduling for High Throughput Computational Grid",
        parameters: &[
            Parameter { name: "fitness", values: "printed or makespan", default: "printed" },
            Parameter { name: "subset", values: "1 to 1000", default: "8" },
            Parameter { name: "generations", values: "0 to 100000000", default: "100000" },
        ],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["ga"],
            representatives: &["ga[generations=50]", "ga[fitness=makespan,subset=64,generations=20]"],
            build: Build::Mapper(|spec| {
                let default = Genetic::default();
                let genetic = Genetic {
                    fitness: spec.take("fitness", default.fitness, |text| match text {
                        "printed" => Ok(Fitness::Balance),
                        "makespan" => Ok(Fitness::Makespan),
                        _ => Err("one of printed, makespan".into()),
                    })?,
                    subset: spec.take("subset", default.subset, |text| {
                        number(text, 1000)
                            .ok()
                            .filter(|&subset| subset > 0)
                            .ok_or_else(|| "a number from 1 to 1000".into())
                    })?,
                    generations: spec.take("generations", default.generations, |text| number(text, 100_000_000))?,
                    ..default
                };
                Ok(MappingScheduler::new(named(&genetic), genetic))
            }),
        },
    },
    Entry {
        name: "braun-ga",
        summary: "a genetic algorithm that starts from min-min: 200 chromosomes, selection by rank",
        supports: SEQUENTIAL,
        source: BRAUN,
        parameters: &[Parameter { name: "iterations", values: "0 to 1000000", default: "1000" }],
        kind: OfScheduler {
            minimises: &[Objective::Makespan],
            guarantee: "none",
            compared: &["braun-ga"],
            representatives: &["braun-ga[iterations=5]"],
            build: Build::Mapper(|spec| {
                let default = BraunGenetic::default();
                let iterations = spec.take("iterations", default.iterations, |text| number(text, 1_000_000))?;
                let name = if iterations == default.iterations {
                    "braun-ga".to_owned()
                } else {
                    format!("braun-ga[iterations={iterations}]")
                };
                Ok(MappingScheduler::new(name, BraunGenetic { iterations, ..default }))
            }),
        },
    },
];

fn named(genetic: &Genetic) -> String {
    let default = Genetic::default();
    let mut parts = Vec::new();
    if genetic.fitness == Fitness::Makespan {
        parts.push("fitness=makespan".to_owned());
    }
    if genetic.subset != default.subset {
        parts.push(format!("subset={}", genetic.subset));
    }
    if genetic.generations != default.generations {
        parts.push(format!("generations={}", genetic.generations));
    }
    if parts.is_empty() { "ga".into() } else { format!("ga[{}]", parts.join(",")) }
}
