//! Tasks run on the nodes and processors of the plan.

use std::collections::BTreeSet;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use super::cluster::Cluster;
use super::workspace::{Workspace, table};

const RUN: &str = "run batch.toml --on slurm --nodes 4 --no-history --folder run";

/// Command that prints where it runs.
const WHERE: &str = r#"["sh", "-c", "echo $SLURMD_NODENAME $MAKESPAN_NODES $MAKESPAN_NODE_PROCESSORS $MAKESPAN_CPUS {processors} $OMP_NUM_THREADS; grep Cpus_allowed_list /proc/self/status; sleep 0.1"]"#;

/// Parses a list of numbers such as `4-5,9` or `4-5 9`.
fn numbers(text: &str) -> Vec<usize> {
    let parts = text.split([',', ' ']).filter(|part| !part.is_empty());
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        from.parse::<usize>().unwrap()..=to.parse().unwrap()
    };
    parts.flat_map(range).collect()
}

/// Returns the processors that this process may use. The agents may use the same ones.
fn own() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap()).collect()
}

#[test]
fn sixty_mixed_tasks_run_on_the_planned_nodes_and_processors() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "sixty");
    let mut batch = "version = 1\n".to_owned();
    for index in 0..60 {
        let shape = match index % 3 {
            0 => "time = \"100ms\"".to_owned(),
            1 => format!("time = \"100ms\"\nprocessors = {}", 1 + index % 7),
            // A moldable job, which takes less time on more processors.
            _ => "time = [0.4, 0.2, 0.15, 0.12]".to_owned(),
        };
        batch += &format!("[[jobs]]\nname = \"j{index}\"\n{shape}\ncommand = {WHERE}\n");
    }
    space.write("batch.toml", &batch);
    let said = space.makespan(RUN);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    let (rows, cores) = (table(&space.path("run")), own());
    assert_eq!(rows.len(), 60);
    let mut nodes_seen = BTreeSet::new();
    for (name, processors, state) in rows {
        assert_eq!(state, "COMPLETED_SUCCESSFULLY", "{name}");
        let processors = numbers(&processors);
        let nodes: BTreeSet<usize> = processors.iter().map(|id| id / 4).collect();
        let names: Vec<String> = nodes.iter().map(|node| format!("n{node}")).collect();
        let counts: Vec<String> =
            nodes.iter().map(|node| processors.iter().filter(|&&id| id / 4 == *node).count().to_string()).collect();
        let head = *nodes.first().unwrap();
        let here: Vec<usize> = processors.iter().filter(|&&id| id / 4 == head).map(|id| id % 4).collect();
        let output = space.read(&format!("run/{name}.out"));
        let mut lines = output.lines();
        let words: Vec<&str> = lines.next().unwrap().split(' ').collect();
        assert_eq!(words[..3], [names[0].as_str(), &names.join(","), &counts.join(",")], "{name}: {output}");
        assert_eq!(numbers(words[3]), here, "{name}");
        assert_eq!(words[4..], [processors.len().to_string(), here.len().to_string()], "{name}");
        // The nodes pretend to have more processors than this machine has.
        let due: BTreeSet<usize> = here.iter().map(|index| cores[index % cores.len()]).collect();
        let allowed = numbers(lines.next().unwrap().rsplit('\t').next().unwrap());
        assert_eq!(allowed.into_iter().collect::<BTreeSet<usize>>(), due, "{name}");
        nodes_seen.extend(nodes);
    }
    assert_eq!(nodes_seen.len(), 4);
}

#[test]
fn a_graph_keeps_its_order_over_nodes() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "graph");
    let mut list = String::new();
    for index in 1..=24 {
        let after = match index {
            1..=8 => String::new(),
            _ => format!("#: after={},{}", index - 8, (index - 9).max(1)),
        };
        let needs = if index > 8 { format!("test -e made.{} && ", index - 8) } else { String::new() };
        list += &format!("{needs} sleep 0.05; touch made.{index} {after}\n");
    }
    space.write("list.txt", &list);
    let said = space.makespan("run list.txt --on slurm --nodes 4 --no-history --folder run");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    assert!((1..=24).all(|index| space.path(&format!("made.{index}")).exists()));
}

#[test]
fn an_allocation_that_is_there_is_used() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "here");
    space.write("list.txt", "echo $SLURMD_NODENAME\necho $SLURMD_NODENAME\n");
    let program = assert_cmd::cargo_bin!("makespan").display().to_string();
    // The planner runs in the pilot.
    let script =
        format!("#!/bin/sh\n{program} run list.txt --on slurm --verbose --no-history --folder run >said 2>&1\n");
    space.write("job.sh", &script);
    let mut sbatch = cluster.command("sbatch");
    sbatch.args(["-N2", "--exclusive", "-t2", "--wait", "job.sh"]).current_dir(space.path(""));
    assert!(sbatch.output().unwrap().status.success(), "{}{}", space.read("said"), space.logs());
    let said = space.read("said");
    assert!(said.contains("succeeded=2") && said.contains("status=0"), "{said}{}", space.logs());
    assert!(said.contains("2 nodes of 4 processors") || said.contains("8 processors"), "{said}");
}

#[test]
fn names_with_every_character_find_their_files() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "a folder's \"name\" & $HOME; ü");
    let mut batch = "version = 1\n".to_owned();
    let names: Vec<String> = (1_u32..128)
        .filter_map(char::from_u32)
        .map(|c| format!("x{c}y"))
        .chain(["ä ö/=", "a=b", "..", "gone", "1.2=0", "日本"].map(String::from))
        .collect();
    for name in &names {
        let quoted = serde_json::to_string(name).unwrap().replace('\u{7f}', "\\u007f");
        batch += &format!("[[jobs]]\nname = {quoted}\ntime = \"10ms\"\ncommand = [\"printenv\", \"MAKESPAN_JOB\"]\n");
    }
    space.write("batch.toml", &batch);
    let said = space.makespan(RUN);
    assert!(said.err.contains(&format!("succeeded={}", names.len())), "{said:#?}{}", space.logs());
    let outputs = std::fs::read_dir(space.path("run")).unwrap().flatten();
    let outputs = outputs.filter(|entry| entry.path().extension().is_some_and(|end| end == "out"));
    let said: BTreeSet<String> = outputs.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect();
    assert_eq!(said, names.iter().map(|name| format!("{name}\n")).collect());
}
