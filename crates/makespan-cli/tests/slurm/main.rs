//! Runs on a real Slurm, which is started for them: as planned, with everything killed at random moments, and with wrong input.

#[path = "../../../makespan-slurm/tests/cluster/mod.rs"]
mod cluster;

mod bad;
mod ends;
mod kills;
mod placed;
mod processes;
mod workspace;
