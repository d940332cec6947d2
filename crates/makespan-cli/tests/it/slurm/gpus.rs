//! Two jobs never hold the same GPU at the same time, whatever part of a node's GPUs a pilot has.

use super::cluster::{Cluster, NodeSpec};
use super::workspace::{Said, Workspace};

/// Returns jobs that log when they hold which GPU.
fn list(jobs: u32) -> String {
    let line = "echo begun $CUDA_VISIBLE_DEVICES >>held; sleep 0.4; echo ended $CUDA_VISIBLE_DEVICES >>held #: gpus=1 time=1s\n";
    line.repeat(jobs as usize)
}

/// Returns the maximum number of GPUs that were held at the same time. Checks that one job at a time held each.
fn most_held(space: &Workspace<'_>, said: &Said) -> usize {
    let (mut held, mut most) = (Vec::new(), 0);
    for line in space.read("held").lines() {
        let (what, gpu) = line.split_once(' ').unwrap_or_else(|| panic!("a job has no GPU: {line}{said:#?}"));
        assert!(!gpu.is_empty() && !gpu.contains(','), "one each: {line}{said:#?}");
        if what == "begun" {
            assert!(!held.contains(&gpu.to_owned()), "two jobs hold GPU {gpu}\n{}{said:#?}", space.read("held"));
            held.push(gpu.to_owned());
        } else {
            held.retain(|other| other != gpu);
        }
        most = most.max(held.len());
    }
    most
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_gpu_is_held_by_one_job_at_a_time_whatever_the_pilot_has() {
    let nodes: Vec<NodeSpec> =
        (0..2).map(|node| NodeSpec::new(&format!("n{node}"), 4).with_words("Gres=gpu:2")).collect();
    let Some(cluster) = Cluster::start_with(&nodes, "GresTypes=gpu\n") else { return };
    // In the last case, the pilot gets fewer GPUs than the plan can know.
    for (name, option, most, told) in
        [("all", "", 2, false), ("fewer", "--slurm=--gres=gpu:1", 1, false), ("unknown", "--slurm=--gpus=1", 1, true)]
    {
        let space = Workspace::new(&cluster, name);
        space.write("list.txt", &list(5));
        let run = format!("run list.txt --on slurm --nodes 1 --no-history --folder run {option}");
        let said = space.makespan(&run);
        assert_eq!(said.status, Some(0), "{name}: {said:#?}{}", space.logs());
        assert_eq!(most_held(&space, &said), most, "{name}: {}{said:#?}{}", space.read("held"), space.logs());
        assert_eq!(said.err.matches("the plan has 2 GPUs on n").count(), usize::from(told), "{name}: {said:#?}");
        let planned = space.read("run/pilot/platform.json");
        assert_eq!(planned.contains("\"gpus\":2"), most == 2 || told, "{name}: {planned}");
    }
    let space = Workspace::new(&cluster, "too-many");
    space.write("list.txt", "true #: gpus=2 time=1s\n");
    let line = "run list.txt --on slurm --nodes 1 --no-history --folder run --slurm=--gres=gpu:1";
    let said = space.makespan(line);
    assert_eq!(said.status, Some(255), "{said:#?}");
    said.holds(&["gpus"]);
    let said = space.makespan(&line.replace("--gres=gpu:1", "--gpus=1"));
    said.holds(&["the job needs 2 GPUs on n", "but the pilot holds only 1"]);
    let said = space.makespan("slurm doctor --folder . --nodes 0");
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("2 of 2 nodes take jobs, with 8 processors, 4 gpus on 2 of them"), "{said:#?}");
}
