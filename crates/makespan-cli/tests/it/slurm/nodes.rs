//! Nodes of different sizes, and nodes that are down.

use super::cluster::{Cluster, NodeSpec};
use super::workspace::{Workspace, table};

/// Starts a cluster of three equal nodes, a smaller one, and a larger one with a feature.
fn mixed() -> Option<Cluster> {
    let nodes = [
        NodeSpec { memory: 2048, ..NodeSpec::new("small", 2) },
        NodeSpec { memory: 8192, ..NodeSpec::new("a0", 4) },
        NodeSpec { memory: 8192, ..NodeSpec::new("a1", 4) },
        NodeSpec { memory: 8192, ..NodeSpec::new("a2", 4) },
        NodeSpec { memory: 16384, ..NodeSpec::new("big", 8) }.with_words("Feature=fast"),
    ];
    Cluster::start_with(&nodes, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n")
}

fn job(name: &str, more: &str) -> String {
    format!(
        "[[jobs]]\nname = \"{name}\"\ntime = \"1s\"\n{more}\ncommand = [\"sh\", \"-c\", \"echo $SLURMD_NODENAME; sleep 0.3\"]\n"
    )
}

#[test]
#[ignore = "long: a real Slurm"]
fn nodes_that_differ_are_planned_as_they_are() {
    let Some(cluster) = mixed() else { return };
    let space = Workspace::new(&cluster, "mixed");
    // One job needs all processors of the largest node, one needs most of its memory, and one fits on the smallest
    // node.
    let batch =
        [job("wide", "processors = 8"), job("large", "needs = { memory = \"12GiB\" }"), job("any", "")].concat();
    space.write("batch.toml", &format!("version = 1\n{batch}"));
    let said = space.makespan("run batch.toml --on slurm --nodes 5 --no-history --folder all");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    assert_eq!(space.read("all/large.out"), "big\n");
    for (name, processors, _) in table(&space.path("all")) {
        let first: usize = processors.split(['-', ' ']).next().unwrap().parse().unwrap();
        let planned = [(0..4, "a0"), (4..8, "a1"), (8..12, "a2"), (12..20, "big"), (20..22, "small")];
        let planned = planned.iter().find(|(ids, _)| ids.contains(&first)).unwrap().1;
        assert_eq!(space.read(&format!("all/{name}.out")).trim(), planned, "{name}");
    }
    // A pilot on some nodes gets nodes of the most numerous kind, or nodes with the requested feature.
    let list = "echo $SLURMD_NODENAME #: memory=6GiB\n".repeat(2);
    space.write("list.txt", &list);
    let said = space.makespan("run list.txt --on slurm --nodes 2 --no-history --folder some");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    said.holds(&["8 processors", "that are equal to a0"]);
    let both = [space.read("some/1-echo-SLURMD_NODENAME.out"), space.read("some/2-echo-SLURMD_NODENAME.out")];
    assert!(both.iter().all(|node| node.starts_with('a')), "{both:?}{said:#?}");
    let line = "run list.txt --on slurm --slurm=--constraint=fast --no-history --folder fast";
    let said = space.makespan(line);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    assert_eq!(space.read("fast/1-echo-SLURMD_NODENAME.out"), "big\n");
    for (line, parts) in [
        ("run batch.toml --on slurm --nodes 2 --no-history", vec!["large", "no node has more than 8 GiB"]),
        ("run list.txt --on slurm --nodes 2 --slurm=-Cfast", vec!["2 nodes", "has only 1", "request fewer nodes"]),
        ("run list.txt --on slurm --slurm=--nodes=3", vec!["the run itself sets the sbatch option --nodes"]),
    ] {
        let said = space.makespan(line);
        assert_eq!(said.status, Some(255), "{line}: {said:#?}");
        said.holds(&parts);
    }
}

/// Creates an allocation outside of a run. Returns its number and the names of its nodes.
fn allocate(cluster: &Cluster, options: &[&str]) -> (String, String) {
    let mut words = vec!["--no-shell", "--exclusive", "-t10"];
    words.extend(options);
    let said = cluster.command("salloc").args(words).output().unwrap();
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    let job = said.split_whitespace().find(|word| word.parse::<u32>().is_ok()).expect(&said).to_owned();
    let nodes = cluster.ask("squeue", &["-h", "-j", &job, "-o", "%N"]);
    (job, nodes)
}

#[test]
#[ignore = "long: a real Slurm"]
fn nodes_of_an_allocation_that_are_down_are_not_planned_for_and_smaller_ones_are_refused() {
    let nodes = [NodeSpec::new("n0", 4), NodeSpec::new("n1", 4), NodeSpec::new("n2", 4), NodeSpec::new("tiny", 2)];
    let Some(cluster) = Cluster::start_with(&nodes, "SlurmdTimeout=5\n") else { return };
    let space = Workspace::new(&cluster, "down");
    let (job, names) = allocate(&cluster, &["-N3", "--no-kill", "-w", "n[0-2]"]);
    assert_eq!(names, "n[0-2]");
    cluster.ask("scontrol", &["update", "nodename=n0", "state=down", "reason=fan"]);
    space.write("list.txt", &"echo $SLURMD_NODENAME; test -e stop\n".repeat(8));
    let run = |more: &str, job: &str| {
        let mut command = space.command(&format!("run list.txt --on slurm --no-history --folder run{more}"));
        space.said(command.env("SLURM_JOB_ID", job).spawn().unwrap())
    };
    let said = run("", &job);
    assert!(matches!(said.status, Some(1..=100)), "{said:#?}{}", space.logs());
    said.holds(&["8 processors", "failed=8"]);
    let where_run: Vec<String> =
        (1..=8).map(|index| space.read(&format!("run/{index}-echo-SLURMD_NODENAME-tes.out"))).collect();
    assert!(where_run.iter().all(|node| node == "n1\n" || node == "n2\n"), "{where_run:?}");
    cluster.ask("scancel", &[&job]);
    cluster.ask("scontrol", &["update", "nodename=n0", "state=resume"]);
    cluster.wait_until_idle();
    let (job, _) = allocate(&cluster, &["-N2", "-w", "n0,tiny"]);
    let said = run(" --resume --retry-failed", &job);
    assert!(matches!(said.status, Some(1..=100)), "{said:#?}");
    said.holds(&[
        "planned for 2 nodes of 4 processors",
        &format!("allocation {job} has only 1"),
        "new run in another folder",
    ]);
    cluster.ask("scancel", &[&job]);
    cluster.wait_until_idle();
    // Other nodes of the same size are accepted.
    let (job, _) = allocate(&cluster, &["-N3", "-w", "n0,n1,tiny"]);
    space.write("stop", "");
    let said = run(" --resume --retry-failed", &job);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    cluster.ask("scancel", &[&job]);
}

#[test]
#[ignore = "long: a real Slurm"]
fn pilots_are_as_large_as_the_plan_is_worth() {
    let nodes = ["n0", "n1", "n2"].map(|name| NodeSpec::new(name, 2));
    let Some(cluster) = Cluster::start_with(&nodes, "") else { return };
    let space = Workspace::new(&cluster, "auto");
    let job = |index: usize, seconds: u32| {
        format!(
            "[[jobs]]\nname = \"{index}\"\ntime = \"{seconds}s\"\ncommand = [\"sh\", \"-c\", \"test -e stop && echo $SLURMD_NODENAME; sleep 1\"]\n"
        )
    };
    // More nodes would not shorten the longest job.
    let long: String = (0..4).map(|index| job(index, if index == 0 { 60 } else { 10 })).collect();
    space.write("long.toml", &format!("version = 1\n{long}"));
    let said = space.makespan("run long.toml --on slurm --pilots auto:3nodes --no-history --folder long");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    said.holds(&["1 of at most 3 nodes: this plan takes 60 s", "no plan on 3 nodes takes less than"]);
    assert_eq!(space.read("long/pilot/sizes.txt"), "1x1nodes,0:04:00\n");
    // Here, all nodes are needed. A resumed run keeps the chosen size, whatever is left to do.
    let wide: String = (0..6).map(|index| job(index, 30)).collect();
    space.write(
        "wide.toml",
        &format!("version = 1\n{wide}").replace("test -e stop && echo", "test -e stop || exit 1; echo"),
    );
    let line = "run wide.toml --on slurm --pilots auto:3nodes,2m --no-history --folder wide";
    let said = space.makespan(line);
    assert!(matches!(said.status, Some(1..=100)), "{said:#?}{}", space.logs());
    said.holds(&["3 of at most 3 nodes", "failed=6", "--pilots"]);
    let sizes = "1x1nodes,0:02:00+1x1nodes,0:02:00+1x1nodes,0:02:00\n";
    assert_eq!(space.read("wide/pilot/sizes.txt"), sizes);
    space.write("stop", "");
    let said = space.makespan(&format!("{line} --resume --retry-failed"));
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    assert_eq!(space.read("wide/pilot/sizes.txt"), sizes);
    for (pilots, parts) in [
        ("auto:0nodes", vec!["--pilots auto:0nodes", "auto:8nodes,2h"]),
        ("auto:4nodes", vec!["4 nodes", "has 3"]),
        ("auto:2nodes,soon", vec!["auto:8nodes,2h"]),
    ] {
        let said = space.makespan(&format!("run wide.toml --on slurm --pilots {pilots} --no-history --folder bad"));
        assert_eq!(said.status, Some(255), "{pilots}: {said:#?}");
        said.holds(&parts);
        assert!(!space.path("bad").exists(), "{pilots}");
    }
}
