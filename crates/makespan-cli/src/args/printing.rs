//! The options of `run` for its output.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Clone)]
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
    /// Do not print the output of jobs; it is in the folder of the run
    #[arg(help_heading = "Output", long, conflicts_with_all = ["keep_order", "line_buffer", "tag"])]
    pub no_output: bool,
    /// Write a line for each job that ends, in the format of GNU parallel
    ///
    /// The columns are the same as in `parallel --joblog`. Host is always a colon. A job that reached its time limit
    /// has Exitval -1. A line is written when the end of its job is recorded on disk. An existing file is replaced
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub joblog: Option<PathBuf>,
    /// Link outputs to DIR/1/ARGUMENT/stdout, stderr and seq, as GNU parallel names them, instead of printing them
    ///
    /// Further sources of arguments add /2/ARGUMENT and so on. In names, a slash is `\_`, a backslash `\\`, a tab `\t`,
    /// and the argument `..` is `\..`. The files are links to files in the folder of the run, and need no additional
    /// disk space. A job of a list uses its command as its argument
    #[arg(help_heading = "Output", long, visible_alias = "res", value_name = "DIR")]
    #[arg(conflicts_with_all = ["keep_order", "line_buffer", "tag"])]
    pub results: Option<PathBuf>,
    /// Show the progress line even if standard output is a pipe; without a terminal, print a line about progress each
    /// second
    #[arg(help_heading = "Output", long, visible_aliases = ["bar", "eta"], conflicts_with = "quiet", overrides_with = "progress")]
    pub progress: bool,
    /// Also print the plan with its objectives and bounds, and planned and actual starts and ends side by side
    #[arg(help_heading = "Output", long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Print only errors, and at the end one line that other programs can read
    #[arg(help_heading = "Output", long, short, conflicts_with_all = ["keep_order", "line_buffer", "tag"])]
    pub quiet: bool,
}

impl PrintingOptions {
    /// Returns true if the outputs of jobs are not printed, because the user reads them from files.
    pub fn hides_output(&self) -> bool {
        self.no_output || self.results.is_some()
    }
}
