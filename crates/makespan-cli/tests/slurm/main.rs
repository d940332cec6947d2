//! Runs on a real Slurm, which is started for them: as planned, with everything killed at random moments, and with wrong input.

#[path = "../../../makespan-slurm/tests/cluster/mod.rs"]
mod cluster;
#[path = "../../../makespan-slurm/tests/fakes/mod.rs"]
mod fakes;

mod bad;
mod ends;
mod jobs;
mod kills;
mod lost;
mod placed;
mod processes;
mod strange;
mod workspace;
