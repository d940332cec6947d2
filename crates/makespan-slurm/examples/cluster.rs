//! Starts a real Slurm on this machine for experiments. `cargo run -p makespan-slurm --example cluster -- 4x4`
//! starts 4 nodes with 4 processors each, and prints the environment variables with which programs find the cluster.
//! The cluster stops when standard input closes.

#[path = "../tests/it/cluster/mod.rs"]
mod cluster;

use std::io::Read;
use std::process::ExitCode;

use cluster::{Cluster, NodeSpec};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let shape = words.first().and_then(|shape| shape.split_once('x'));
    let shape = shape.and_then(|(nodes, cpus)| Some((nodes.parse().ok()?, cpus.parse().ok()?)));
    let Some((nodes, cpus)) = shape.filter(|&(nodes, cpus)| nodes > 0 && nodes <= 500 && cpus > 0) else {
        eprintln!(
            "write how many nodes there are to be, of how many processors, such as 4x4; then lines of slurm.conf"
        );
        return ExitCode::FAILURE;
    };
    let lines: String = words[1..].iter().map(|line| format!("{line}\n")).collect();
    let Some(cluster) = Cluster::start_with(&NodeSpec::equal(nodes, cpus), &lines) else { return ExitCode::FAILURE };
    let (name, value) = cluster.variable();
    println!("{name}={}\nSHARED={}", value.display(), cluster.shared_folder().display());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    ExitCode::SUCCESS
}
