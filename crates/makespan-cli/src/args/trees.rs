//! The options for trees of machines.

use std::path::PathBuf;

use clap::Args;
use makespan_generate::{DATA, Latency, Unit};

/// Options of `generate tree`.
#[derive(Args)]
pub struct GenerateTreeOptions {
    /// Number of nodes
    #[arg(long, allow_negative_numbers = true)]
    pub nodes: usize,
    /// Maximum number of children of a node
    #[arg(long, default_value_t = 5, allow_negative_numbers = true)]
    pub degree: usize,
    /// Number of applications
    #[arg(long, default_value_t = 3, allow_negative_numbers = true)]
    pub applications: usize,
    /// Bytes per operation of the most communication-intensive application, from 0.001 to the paper's 4.6
    #[arg(long, default_value_t = 0.25, value_name = "RATIO", allow_negative_numbers = true)]
    pub largest_ratio: f64,
    /// Number of tasks of each application
    #[arg(long, default_value_t = 200, allow_negative_numbers = true)]
    pub tasks: u64,
    /// Unit of the paper's bandwidths, 110 kb/s to 7 Mb/s: bytes or bits
    #[arg(long, default_value = "bytes")]
    pub unit: Unit,
    /// Use the latencies of the paper for links, 6 ms to 10 s [default: none; if the option has no value: plain]
    ///
    /// `window` also limits each bandwidth to 20,000 bytes divided by twice the latency, as in the paper's simulator
    #[arg(long, value_name = "READING", num_args = 0..=1, default_value = "none", default_missing_value = "plain", hide_default_value = true)]
    pub latency: Latency,
    /// Input data of each task, in bytes
    #[arg(long, default_value_t = DATA, value_name = "BYTES", allow_negative_numbers = true)]
    pub data: u64,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Output file; the ending .toml or .json selects the format [default: JSON on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Options for the simulation of a tree of machines.
#[derive(Args)]
pub struct TreeRules {
    /// Maximum number of tasks that wait at a node other than the root [default: 10]
    #[arg(
        help_heading = "Bags of tasks on a tree",
        hide_short_help = true,
        long,
        value_name = "TASKS",
        allow_negative_numbers = true
    )]
    pub buffer: Option<u32>,
    /// Maximum number of simultaneous transfers from a node, all through its port [default: 1]
    #[arg(
        help_heading = "Bags of tasks on a tree",
        hide_short_help = true,
        long,
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub sends: Option<u32>,
    /// Delay each request by the latency of its link, instead of sending it without delay
    #[arg(help_heading = "Bags of tasks on a tree", hide_short_help = true, long)]
    pub slow_requests: bool,
    /// Change a node during the run, such as 90s:n3:bandwidth=7kbit/s
    ///
    /// Other changes are 2min:n3:speed=0.5 and 1h:n3:removed
    #[arg(help_heading = "Bags of tasks on a tree", hide_short_help = true, long, value_name = "TIME:NODE:WHAT")]
    pub change: Vec<String>,
}

/// Options that turn the steady state of a tree into a schedule.
#[derive(Args)]
pub struct PeriodOptions {
    /// Approximate length of the period; within a period, each node computes only whole tasks
    ///
    /// The default is the exact period if it is short, and otherwise a period with 1000 tasks of the lightest job
    #[arg(
        help_heading = "Bags of tasks on a tree",
        hide_short_help = true,
        long,
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    pub period: Option<String>,
    /// Write all transfers and computations of the periodic schedule as CSV
    #[arg(help_heading = "Bags of tasks on a tree", hide_short_help = true, long, value_name = "FILE.csv")]
    pub unroll: Option<PathBuf>,
}
