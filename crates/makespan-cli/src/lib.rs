//! The program `makespan`. The program `makespan-lab` shares some modules: the entry point, the output, the splitting
//! of work into shards, the Slurm agents, and the installation of manual pages.

mod args;
mod cluster;
mod command_mark;
mod commands;
mod decisions;
mod difference;
mod entry;
mod input;
mod loaded;
mod machine;
mod makefile;
mod ninja;
pub mod ninja_job;
mod outlook;
mod output;
mod past;
mod present;
mod program;
mod progress;
mod slurm_policy;
mod snakefile;
mod summary;

pub use args::{AgentOptions, SetupOptions, ShardCommand, ShardOptions};
pub use commands::agent::agent;
pub use commands::setup::setup;
pub use commands::shards;
pub use entry::{enter, unknown_argument};
pub use output::{INTERRUPTED, complain, emit};
pub use program::main;
pub use progress::bar;
