//! What drawn tasks need besides processors.

use clap::Args;
use makespan_formats::parse_amount;
use makespan_generate::NeedsOptions;

#[derive(Args, Clone, Copy)]
pub struct NeedsArguments {
    /// Memory of each node for each of its processors, such as 4GiB
    ///
    /// Tasks then ask for 1/16 to 2 times that for each of their processors (log-uniform); half of the moldable ones for that times 1 to
    /// their most processors (log-uniform), as a whole
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount, allow_hyphen_values = true)]
    pub memory: Option<u64>,
    /// GPUs in all, dealt to the nodes in turn
    ///
    /// A quarter of the tasks then asks for 1, 2, 4 .. up to the most of a node, each alike
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub gpus: Option<u32>,
}

impl From<NeedsArguments> for NeedsOptions {
    fn from(NeedsArguments { memory, gpus }: NeedsArguments) -> Self {
        Self { memory, gpus }
    }
}
