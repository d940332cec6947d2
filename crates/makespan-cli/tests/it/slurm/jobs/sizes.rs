//! Jobs have the sizes of the plan, and start in the order of their graph.

use std::collections::BTreeSet;

use crate::slurm::cluster::{Cluster, NodeSpec};
use crate::slurm::jobs::{RUN, ends, succeeds};
use crate::slurm::workspace::{Workspace, table};

/// Command that prints where it runs.
const WHERE: &str = r#"["sh", "-c", "echo $SLURM_JOB_NUM_NODES $SLURM_NTASKS $SLURM_CPUS_PER_TASK {processors} $MAKESPAN_NODES $MAKESPAN_NODE_PROCESSORS; sleep 0.1"]"#;

#[test]
#[ignore = "long: a real Slurm"]
fn mixed_tasks_have_the_sizes_of_the_plan() {
    let Some(cluster) = Cluster::start(&NodeSpec::equal(4, 4)) else { return };
    let space = Workspace::new(&cluster, "sizes");
    let mut batch = "version = 1\n".to_owned();
    for index in 0..16 {
        let shape = match index % 4 {
            0 => "time = \"100ms\"".to_owned(),
            1 => format!("time = \"100ms\"\nprocessors = {}", [2, 4, 7, 8][index / 4]),
            // A moldable job, which takes less time on more processors.
            _ => "time = [4, 2, 1.5, 1.2]".to_owned(),
        };
        let needs = if index % 4 == 3 { "needs = { memory = \"1GiB\" }\n" } else { "" };
        batch += &format!("[[jobs]]\nname = \"j{index}\"\n{shape}\n{needs}command = {WHERE}\n");
    }
    space.write("batch.toml", &batch);
    let said = space.makespan(RUN);
    succeeds(&space, &said);
    let rows = table(&space.path("run"));
    let mut names = BTreeSet::new();
    for (name, processors, state) in &rows {
        assert_eq!(state, "COMPLETED_SUCCESSFULLY", "{name}");
        let count: u32 = processors.split([' ', ',']).filter(|part| !part.is_empty()).map(size).sum();
        let text = space.read(&format!("run/{name}.out"));
        let words: Vec<&str> = text.split_whitespace().collect();
        let [nodes, tasks, cpus, allotment] = [0, 1, 2, 3].map(|at| words[at].parse::<u32>().unwrap());
        assert_eq!((nodes, tasks * cpus, allotment), (count.div_ceil(4), count, count), "{name}: {text}");
        let own: Vec<&str> = words[4].split(',').collect();
        let counts: u32 = words[5].split(',').map(|count| count.parse::<u32>().unwrap()).sum();
        assert_eq!((own.len() as u32, counts), (nodes, count), "{name}: {text}");
        names.extend(own.into_iter().map(str::to_owned));
    }
    assert_eq!(rows.len(), 16);
    assert!(names.len() > 1, "{names:?}");
    // The queue is empty, and no attempt is ordered.
    space.wait("the queue is empty", || cluster.ask("squeue", &["--noheader"]).is_empty());
    assert_eq!(std::fs::read_dir(space.path("run/jobs/orders")).unwrap().count(), 0);
}

/// Returns the number of processors in a range such as `3-5`.
fn size(part: &str) -> u32 {
    let (from, to) = part.split_once('-').unwrap_or((part, part));
    to.parse::<u32>().unwrap() - from.parse::<u32>().unwrap() + 1
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_graph_runs_by_dependencies_and_what_waits_for_a_failure_is_not_started() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs-graph");
    let job = |name: &str, after: &str, line: &str| {
        format!(
            "[[jobs]]\nname = \"{name}\"\ntime = \"1s\"\nafter = [{after}]\ncommand = [\"sh\", \"-c\", \"{line}\"]\n"
        )
    };
    let step = |name: &str| format!("echo {name} >>order; sleep 0.2");
    let jobs = [
        job("a", "", &step("a")),
        job("b", "\"a\"", &step("b")),
        job("c", "\"a\"", "echo c >>order; exit 3"),
        job("d", "\"b\", \"c\"", &step("d")),
        job("e", "\"d\"", &step("e")),
        job("f", "\"b\"", &step("f")),
    ];
    space.write("batch.toml", &format!("version = 1\n{}", jobs.concat()));
    let said = space.makespan(RUN);
    assert!(matches!(said.status, Some(1..=100)), "{said:#?}{}", space.logs());
    said.holds(&["succeeded=3", "exit status 3", "`c`, which it waits for, did not succeed"]);
    let order = space.read("order");
    let order: Vec<&str> = order.lines().collect();
    assert_eq!((order[0], order.len()), ("a", 4), "{order:?}");
    let at = |name: &str| order.iter().position(|known| *known == name).unwrap();
    assert!(at("b") < at("f"));
    let states = ends(&space);
    assert_eq!([&states["d"], &states["e"]].map(|state| state.as_str() == "COMPLETED_SUCCESSFULLY"), [false, false]);
    // The failed job and the jobs that waited for it run again.
    space.write("batch.toml", &format!("version = 1\n{}", jobs.concat().replace("exit 3", "true")));
    let said = space.makespan(&format!("{RUN} --resume --retry-failed"));
    succeeds(&space, &said);
    let order = space.read("order");
    assert_eq!((order.matches('a').count(), order.matches('d').count(), order.matches('e').count()), (1, 1, 1));
}
