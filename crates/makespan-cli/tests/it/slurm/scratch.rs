//! Workflows with tasks that run in their own folders on the nodes.

use std::fmt::Write as _;
use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::cluster::{Cluster, NodeSpec};
use super::processes::of_node;
use super::workspace::Workspace;
use crate::cli::workflow::{Task, workflow};

/// Returns two layers of tasks, and a task that needs all of them. Each task prints its node and its folder.
fn layers(width: usize, wait: &str) -> String {
    let names: Vec<[String; 4]> = (0..width)
        .map(|index| {
            let first = format!("cat in >mid/{index}; {wait}; echo $SLURMD_NODENAME $PWD");
            let second = format!("tr a-z A-Z <mid/{index} >out.{index}; {wait}; echo $SLURMD_NODENAME $PWD");
            [first, second, format!("mid/{index}"), format!("out.{index}")]
        })
        .collect();
    let ids: Vec<[String; 2]> = (0..width).map(|index| [format!("a{index}"), format!("b{index}")]).collect();
    let words: Vec<[&str; 2]> = names.iter().map(|[_, _, middle, out]| [middle.as_str(), out.as_str()]).collect();
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for ((names, ids), words) in names.iter().zip(&ids).zip(&words) {
        tasks.push((&ids[0], &names[0], &["in"], &words[..1]));
        tasks.push((&ids[1], &names[1], &words[..1], &words[1..]));
    }
    let outs: Vec<&str> = words.iter().map(|words| words[1]).collect();
    tasks.push(("all", "cat out.* >all; ls", &outs, &["all"]));
    workflow(&tasks)
}

#[test]
fn a_graph_over_four_nodes_carries_its_files() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "scratch");
    space.write("w.json", &layers(12, "sleep 0.1"));
    space.write("in", "abc\n");
    let scratch = space.path("local/%N/%j");
    let line = format!("run w.json --on slurm --nodes 4 --no-history --folder run --scratch {}", scratch.display());
    let said = space.makespan(&line);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    assert_eq!(space.read("all"), "ABC\n".repeat(12));
    let mut nodes = std::collections::BTreeSet::new();
    for index in 0..12 {
        for layer in ["a", "b"] {
            let told = space.read(&format!("run/w~{layer}{index}.out"));
            let (node, folder) = told.trim().split_once(' ').unwrap();
            let own = space.path("local").join(node).display().to_string();
            assert!(folder.starts_with(&own), "{folder} below {own}");
            nodes.insert(node.to_owned());
        }
    }
    assert!(nodes.len() > 1, "{nodes:?}");
    assert!(!space.read("run/w~all.out").contains("mid"), "it has what it reads alone");
    let left = |folder: fs::DirEntry| fs::read_dir(folder.path()).unwrap().flatten();
    let jobs = fs::read_dir(space.path("local")).unwrap().flatten().flat_map(left);
    assert_eq!(jobs.flat_map(left).count(), 0, "nothing is left on the nodes");
}

#[test]
#[ignore = "long: a real Slurm"]
fn files_outlive_the_node_and_half_of_them_never_appear() {
    let Some(cluster) = Cluster::start_with(&NodeSpec::equal(2, 2), "SlurmdTimeout=5\n") else { return };
    let space = Workspace::new(&cluster, "scratch-lost");
    space.write("w.json", &layers(8, "sleep 1"));
    space.write("in", "abc\n");
    let scratch = space.path("local/%N");
    let line = format!("run w.json --on slurm --nodes 2 --no-history --folder run --scratch {}", scratch.display());
    let planner = space.command(&line).spawn().unwrap();
    space.wait("a task runs on n1", || space.path("local/n1").exists() && space.path("mid/0").exists());
    kill(Pid::from_raw(cluster.node_id(1)), Signal::SIGKILL).unwrap();
    for process in of_node(&cluster, "n1") {
        let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    }
    let said = space.said(planner);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    assert_eq!(space.read("all"), "ABC\n".repeat(8));
    let mut text = String::new();
    for index in 0..8 {
        let _ = write!(text, "{}", space.read(&format!("mid/{index}")));
    }
    assert_eq!(text, "abc\n".repeat(8));
    let hidden = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with(".makespan-");
    assert!(!fs::read_dir(space.path("mid")).unwrap().flatten().any(hidden));
}
