//! The part of the output of a run that is printed.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub struct PrintingOptions {
    /// Print the outputs in the order of the list, each as soon as all outputs before it are printed
    #[arg(help_heading = "Output", long, short)]
    pub keep_order: bool,
    /// Print the lines of running jobs as they come, instead of each output when its job ends
    ///
    /// Lines of several jobs are mixed. A line above 1 MiB is split. If a job is retried, the lines of all attempts are
    /// printed
    #[arg(help_heading = "Output", long, visible_alias = "lb")]
    pub line_buffer: bool,
    /// Begin each line of output with the arguments or the name of its job, and a tab
    ///
    /// A line above 1 MiB is split
    #[arg(help_heading = "Output", long)]
    pub tag: bool,
    /// Do not print what jobs print; their output is in the folder of the run
    #[arg(help_heading = "Output", long, conflicts_with_all = ["keep_order", "line_buffer", "tag"])]
    pub no_output: bool,
    /// Write a line for each job that ends, in the format of GNU parallel
    ///
    /// The columns are those of `parallel --joblog`. Host is always a
    /// colon. A job that reached its time limit has Exitval -1. A line is written when the end of its job is recorded on
    /// disk. An existing file is replaced
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub joblog: Option<PathBuf>,
    /// Show the progress line although standard output is a pipe; without a terminal, print a line about progress each second
    #[arg(help_heading = "Output", long, visible_aliases = ["bar", "eta"], conflicts_with = "quiet", overrides_with = "progress")]
    pub progress: bool,
    /// Also print the plan with its objectives and bounds, and planned times beside actual times
    #[arg(help_heading = "Output", long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Print only errors, and at the end one line that other programs can read
    #[arg(help_heading = "Output", long, short, conflicts_with_all = ["keep_order", "line_buffer", "tag"])]
    pub quiet: bool,
}
