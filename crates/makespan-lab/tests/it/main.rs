//! Tests of the program `makespan-lab` from the command line, and of plans for random and published instances.

#[path = "../../../makespan-slurm/tests/it/cluster/mod.rs"]
mod cluster;

mod bounds;
mod campaigns;
mod disturbed_flows;
mod interrupt;
mod program;
mod reservations;
mod sandbox;
mod shards;
mod slurm;
mod workflows;
