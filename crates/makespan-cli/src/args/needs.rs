//! The options for resources other than processors that generated tasks request.

use clap::Args;
use makespan_formats::parse_amount;
use makespan_generate::NeedsOptions;

#[derive(Args, Clone, Copy)]
pub struct NeedsArguments {
    /// Memory per processor of each node, such as 4GiB
    ///
    /// Tasks then request 1/16 to 2 times this amount for each of their processors (log-uniform). Half of the moldable
    /// tasks instead request a total of 1 to n times this amount (log-uniform); n is the maximum number of processors
    /// of the task
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount, allow_hyphen_values = true)]
    pub memory: Option<u64>,
    /// Total number of GPUs, distributed over the nodes in turn
    ///
    /// A quarter of the tasks then requests GPUs. The number of requested GPUs is a power of two, up to the number of
    /// GPUs of the largest node; each power has the same probability
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub gpus: Option<u32>,
}

impl From<NeedsArguments> for NeedsOptions {
    fn from(NeedsArguments { memory, gpus }: NeedsArguments) -> Self {
        Self { memory, gpus }
    }
}
