//! A command of a list runs on one node, unless the list states otherwise.

use std::collections::BTreeMap;

use super::cluster::{Cluster, NodeSpec};
use super::workspace::Workspace;

/// Returns a line of a list. The job of this line logs its nodes.
fn line(name: &str, cores: &str, more: &str) -> String {
    format!("echo $MAKESPAN_NODES >{name}.on; sleep 0.2 #: name={name} cores={cores} time=1s {more}\n")
}

/// Returns the number of nodes that each job logged.
fn noted(space: &Workspace<'_>, names: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let nodes = |name: String| {
        let count = space.read(&format!("{name}.on")).trim().split(',').filter(|node| !node.is_empty()).count();
        (name, count)
    };
    names.map(nodes).collect()
}

#[test]
#[ignore = "long: a real Slurm"]
fn jobs_of_a_list_are_within_a_node_and_wider_ones_are_told() {
    // The nodes have different and equal sizes.
    let nodes = [("n0", 2), ("n1", 4), ("n2", 4), ("n3", 3)].map(|(name, cpus)| NodeSpec::new(name, cpus));
    let Some(cluster) = Cluster::start(&nodes) else { return };
    let mut list: String = (0..14).map(|index| line(&format!("j{index}"), &(1 + index % 4).to_string(), "")).collect();
    list += &line("wide", "6", "");
    for (folder, on) in
        [("pilot", "--on slurm --nodes 4"), ("pilots", "--on slurm --pilots 4x1nodes"), ("jobs", "--on slurm:jobs")]
    {
        let space = Workspace::new(&cluster, folder);
        // With several pilots, a job on several nodes would need all of them at the same time.
        let list = if folder == "pilots" { list.replace("cores=6", "cores=3") } else { list.clone() };
        space.write("list.txt", &list);
        let said = space.makespan(&format!("run list.txt {on} --history history --folder run"));
        assert_eq!(said.status, Some(0), "{folder}: {said:#?}{}", space.logs());
        let names = (0..14).map(|index| format!("j{index}"));
        let on = noted(&space, names);
        if folder != "jobs" {
            assert!(on.values().all(|&nodes| nodes == 1), "{on:?}{said:#?}");
            assert_eq!(noted(&space, ["wide".to_owned()].into_iter())["wide"], if folder == "pilot" { 2 } else { 1 });
        }
        let told = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(told.contains("state at most cores=4"), folder != "pilots", "{said:#?}");
        assert!(told.contains("job nodes processors"), "tables name nodes: {said:#?}");
    }
}

#[test]
fn a_file_that_states_its_placement_keeps_it_and_its_spread_jobs_teach_nothing() {
    let Some(cluster) = Cluster::shared() else { return };
    let file = |placement: &str| {
        let mut text = format!("version = 1\n[platform]\nnodes = 4\nprocessors_per_node = 4\n{placement}");
        for index in 0..5 {
            text += &format!("[[jobs]]\nname = \"j{index}\"\nprocessors = 3\ntime = \"1s\"\n");
            text += "command = [\"sh\", \"-c\", \"echo $MAKESPAN_NODES >$MAKESPAN_JOB.on; sleep 0.2\"]\n";
        }
        text
    };
    for (name, placement, spread) in [("any", "placement = \"any\"\n", true), ("unsaid", "", false)] {
        let space = Workspace::new(cluster, &format!("states-{name}"));
        space.write("batch.toml", &file(placement));
        let said = space.makespan("run batch.toml --on slurm --nodes 4 --history history --folder run");
        assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
        let on = noted(&space, (0..5).map(|index| format!("j{index}")));
        // Five jobs of three processors fit on sixteen processors at the same time, but only four if each stays within
        // a node of four.
        let scattered = on.values().filter(|&&nodes| nodes > 1).count();
        assert_eq!(scattered > 0, spread, "{name}: {on:?}{said:#?}");
        let known = space.makespan("history --history history");
        let text = format!("{}{}", known.out, known.err);
        assert!(text.contains(&(5 - scattered).to_string()), "{name}, {scattered} scattered: {text}");
    }
}
