//! What to run.

use clap::Args;

/// A scheduler by its name in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// As the paper calls it.
    pub name: &'static str,
    /// The spec of the policy.
    pub spec: &'static str,
    /// Whether it is in the paper's Table 2.
    pub printed: bool,
}

const fn printed(name: &'static str, spec: &'static str) -> Scheduler {
    Scheduler { name, spec, printed: true }
}

const fn ours(name: &'static str, spec: &'static str) -> Scheduler {
    Scheduler { name, spec, printed: false }
}

/// Those of Table 2, then ours. The genetic algorithms take the printed time for a mapping, the heuristics none.
pub const SCHEDULERS: [Scheduler; 9] = [
    printed("PTFS", "ptfs[communication=0.05s]"),
    printed("GA_1", "interval[mapper=ga,scheduling-time=paper,communication=0.05s]"),
    printed("GA_2", "interval[mapper=braun-ga,scheduling-time=paper,communication=0.05s]"),
    printed("Max-min", "interval[mapper=max-min,communication=0.05s]"),
    printed("Min-min", "interval[mapper=min-min,communication=0.05s]"),
    printed("Sufferage", "interval[mapper=sufferage,communication=0.05s]"),
    ours("PTFS by events", "ptfs[cycle=event,scheduling-time=zero,communication=0.05s]"),
    ours("immediate MCT", "immediate[communication=0.05s]"),
    ours("flow", "flow[communication=0.05s]"),
];

/// A campaign: flows from an eighth of the balance line to sixteen times, at level rates and swinging by half of them.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Tasks of a flow; the paper has 4000
    #[arg(long, default_value_t = 4000)]
    pub tasks: usize,
    /// Mean sizes of tasks
    #[arg(long, value_delimiter = ',', default_value = "50000,5000", value_name = "SIZE,..")]
    pub sizes: Vec<u32>,
    /// Mean rates of arrival, as multiples of the balance line
    #[arg(long, value_delimiter = ',', default_value = "0.125,0.25,0.5,1,2,4,8,16", value_name = "RATE,..")]
    pub rates: Vec<f64>,
    /// By which parts of their mean the rates swing to either side
    #[arg(long, value_delimiter = ',', default_value = "0,0.5", value_name = "SWING,..")]
    pub swings: Vec<f64>,
    /// Flows at each point
    #[arg(long, default_value_t = 5)]
    pub runs: u32,
    /// How many threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}
