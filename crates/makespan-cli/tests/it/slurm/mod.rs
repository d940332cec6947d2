//! Runs on a real Slurm that the tests start: normal runs, runs in which processes are killed at random moments, and
//! wrong input.

#[path = "../../../../makespan-slurm/tests/it/cluster/mod.rs"]
mod cluster;
#[path = "../../../../makespan-slurm/tests/it/fakes/mod.rs"]
pub mod fakes;

mod alone;
mod bad;
mod clusters;
mod ends;
mod gpus;
mod jobs;
mod kills;
mod lost;
mod nodes;
mod placed;
mod processes;
mod scratch;
mod shards;
mod short;
mod strange;
mod within;
mod workspace;
