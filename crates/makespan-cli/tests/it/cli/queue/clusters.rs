//! Several clusters: `makespan where`, and `queue --from a,b`.

use std::fs;

use super::{example, of_queue, said, save, saved};
use crate::cli::sandbox::{Said, Sandbox, unwrapped};

const SCRIPT: &str = "#!/bin/sh\n#SBATCH --time=1:00:00 --nodes=1 --ntasks-per-node=2\nsrun ./a.out\n";

/// Runs `makespan where` on two saved queues.
fn compared(sandbox: &Sandbox, options: &str) -> Said {
    of_queue(sandbox, &format!("where job.sh --from {},saved {options}", example()))
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    sandbox.write("job.sh", SCRIPT);
    sandbox
}

#[test]
fn where_names_the_cluster_that_is_first_most_often_and_a_command() {
    let sandbox = sandbox();
    let document: serde_json::Value = serde_json::from_str(&compared(&sandbox, "--format json").succeeds()).unwrap();
    let candidates = document["candidates"].as_array().unwrap();
    assert_eq!((candidates.len(), document["draws"].as_u64()), (2, Some(20)));
    let end = |own: &serde_json::Value| own["ends_in_seconds"].as_f64().unwrap_or(f64::INFINITY);
    let share = |own: &serde_json::Value| own["first"].as_f64().unwrap();
    assert!(share(&candidates[0]) >= share(&candidates[1]) && document["best"] == candidates[0], "{document:#}");
    assert_eq!(document["best_cluster_first"], candidates[0]["first"]);
    let shares: f64 = candidates.iter().map(|own| own["first"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    for own in candidates.iter().filter(|own| end(own).is_finite()) {
        let [early, late] = ["early", "late"].map(|key| own[key].as_f64().unwrap());
        assert!(early <= end(own) && end(own) <= late, "{own}");
    }
    // Reasons name instants by the clock, not by seconds since 1970.
    let reasons: Vec<&str> = candidates.iter().map(|own| own["why_not_now"].as_str().unwrap()).collect();
    let is_raw = |reason: &&str| reason.split(|sign: char| !sign.is_ascii_digit()).any(|digits| digits.len() > 8);
    assert!(!reasons.iter().any(is_raw) && reasons.iter().any(|reason| reason.contains(':')), "{reasons:?}");
    // The start is the one that `queue --what-if` predicts for this cluster.
    let what_if = said(&sandbox, &["--from", "saved", "--what-if", "job.sh", "--format", "json"], 80).succeeds();
    let what_if: serde_json::Value = serde_json::from_str(&what_if).unwrap();
    let start = what_if["waiting"][0]["start"]["unix"].as_i64().map(|at| at - what_if["now"]["unix"].as_i64().unwrap());
    let own = candidates.iter().filter(|own| own["starts_in_seconds"].as_i64() == start).count();
    assert!(own >= 1, "{start:?}: {document:#}");
    let text = compared(&sandbox, "").succeeds();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let best = document["best"]["command"].as_str().unwrap();
    assert!(best.starts_with("sbatch") && best.ends_with(" job.sh"), "{best}");
    assert!(text.contains(&format!("  {best}\n")), "{text}");
    let first =
        format!("ends first on {} in {:.0} % of 20 joint simulations", named(&document), 100.0 * share(&candidates[0]));
    assert!(unwrapped(&text).contains(&first), "{text}");
}

fn named(document: &serde_json::Value) -> &str {
    document["best"]["cluster"].as_str().unwrap()
}

#[test]
fn where_compares_sizes_by_a_stated_speed_up() {
    let sandbox = sandbox();
    let line = "--nodes 1,2 --speedup linear --format json";
    let document: serde_json::Value = serde_json::from_str(&compared(&sandbox, line).succeeds()).unwrap();
    let candidates = document["candidates"].as_array().unwrap();
    let runs = |nodes: u64| -> Vec<(String, f64)> {
        let own = candidates.iter().filter(|own| own["nodes"].as_u64() == Some(nodes));
        let own =
            own.filter_map(|own| Some((own, own["ends_in_seconds"].as_f64()? - own["starts_in_seconds"].as_f64()?)));
        let mut all: Vec<(String, f64)> =
            own.map(|(own, run)| (own["cluster"].as_str().unwrap().to_owned(), run)).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    let (one, two) = (runs(1), runs(2));
    assert!(!two.is_empty(), "{document:#}");
    for (name, run) in two {
        let single = one.iter().find(|own| own.0 == name).unwrap().1;
        assert!((single - 2.0 * run).abs() < 1e-6, "{name}: {single} and {run}");
    }
    // The named cluster is first in the largest share of the simulations, with all sizes together.
    let share = |name: &serde_json::Value| -> f64 {
        candidates.iter().filter(|own| own["cluster"] == *name).map(|own| own["first"].as_f64().unwrap()).sum()
    };
    let most = candidates.iter().map(|own| share(&own["cluster"])).fold(0.0, f64::max);
    let of_best = document["best_cluster_first"].as_f64().unwrap();
    assert!((of_best - most).abs() < 1e-9 && (share(&document["best"]["cluster"]) - most).abs() < 1e-9, "{document:#}");
    let best = document["best"]["command"].as_str().unwrap();
    assert!(best.contains(" -N1 ") || best.contains(" -N2 "), "{best}");
    compared(&sandbox, "--nodes 1,2").refused(&["no two numbers of nodes", "name job.sh", "--speedup amdahl:0.05"]);
    compared(&sandbox, "--speedup linear").misused(&["--nodes"]);
    compared(&sandbox, "--nodes 1,2 --speedup fitted").refused(&["--speedup fitted", "only for logs"]);
    sandbox.write("job.sh", "#!/bin/sh\n#SBATCH -n 4\n");
    compared(&sandbox, "--nodes 1,2 --speedup linear").refused(&["job.sh", "--ntasks"]);
}

/// Writes ended jobs of this user into the folder `saved`: the name, the number of nodes and the run time in seconds.
fn save_past(sandbox: &Sandbox, jobs: &[(&str, u32, u32)]) {
    let user = String::from_utf8(std::process::Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
    let mut text = "JobIDRaw|User|Partition|ElapsedRaw|TimelimitRaw|State|NNodes|AllocCPUS|JobName\n".to_owned();
    for (id, (name, nodes, seconds)) in jobs.iter().enumerate() {
        let cpus = 2 * nodes;
        text += &format!("{id}|{}|batch|{seconds}|600|COMPLETED|{nodes}|{cpus}|{name}\n", user.trim());
    }
    save(sandbox, "sacct.history.txt", &text);
}

/// Returns the expected run time on a cluster with this number of nodes.
fn run_seconds(document: &serde_json::Value, command: &str, nodes: u64) -> f64 {
    let own = document["candidates"].as_array().unwrap().iter();
    let own = own.filter(|own| own["nodes"].as_u64() == Some(nodes));
    let mut own = own.filter(|own| own["command"].as_str().unwrap().starts_with(command));
    own.next().unwrap_or_else(|| panic!("{document:#}"))["run_seconds"].as_f64().unwrap()
}

#[test]
fn where_learns_run_times_on_other_numbers_of_nodes_from_similar_jobs() {
    let sandbox = sandbox();
    sandbox.write("job.sh", SCRIPT.replace("--nodes=1", "--nodes=1-2 --job-name=fit-9"));
    let mut past: Vec<(&str, u32, u32)> = vec![("other-1", 4, 1)];
    for _ in 0..40 {
        past.extend([("fit-1", 1, 1000), ("fit-2", 2, 600)]);
    }
    save_past(&sandbox, &past);
    let json = |options: &str| -> serde_json::Value {
        serde_json::from_str(&compared(&sandbox, &format!("{options} --format json")).succeeds()).unwrap()
    };
    let document = json("");
    // The numbers of nodes of the similar jobs are compared on both clusters.
    let sizes: Vec<Option<u64>> =
        document["candidates"].as_array().unwrap().iter().map(|own| own["nodes"].as_u64()).collect();
    assert_eq!((sizes.len(), sizes.iter().filter(|own| **own == Some(2)).count()), (4, 2), "{document:#}");
    // The usual fraction of the limit is treated as one more job, so the expected run time differs a little.
    for (nodes, seconds) in [(1, 1000.0), (2, 600.0)] {
        let run = run_seconds(&document, "sbatch", nodes);
        assert!((run / seconds - 1.0).abs() < 0.05, "{nodes}: {run}");
    }
    let remarks = document["remarks"].to_string();
    assert!(remarks.contains("run times on 1, 2 nodes are those of 80 similar jobs"), "{remarks}");
    assert!(remarks.contains("no similar job has ended here, so the run time is from 80 jobs"), "{remarks}");
    // The law gives times on numbers of nodes without a similar job.
    let document = json("--nodes 4");
    let run = run_seconds(&document, "sbatch", 4);
    assert!(300.0 < run && run < 500.0, "{run}");
    assert!(
        document["remarks"]
            .to_string()
            .contains("run times on 4 nodes come from the speed-up law that fits these jobs best")
    );
    // Without a similar job, the run time does not depend on the cluster, although only one has ended jobs of this user.
    sandbox.write("new.sh", "#!/bin/sh\n#SBATCH --time=20 --nodes=1\n");
    let line = format!("where new.sh --from {},saved --format json", example());
    let new: serde_json::Value = serde_json::from_str(&of_queue(&sandbox, &line).succeeds()).unwrap();
    let runs = [0, 1].map(|index| new["candidates"][index]["run_seconds"].as_f64());
    assert!(runs[0].is_some() && runs[0] == runs[1], "{new:#}");
    // Numbers of nodes that the script does not accept are not compared.
    sandbox.write("job.sh", SCRIPT.replace("--nodes=1", "--nodes=1 --job-name=fit-9"));
    assert_eq!(json("")["candidates"].as_array().unwrap().len(), 2);
    // Without learning, only the number in the script is compared.
    assert_eq!(json("--times limits")["candidates"].as_array().unwrap().len(), 2);
    let text = compared(&sandbox, "").succeeds();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn where_excludes_a_number_of_nodes_on_which_the_job_would_reach_its_limit() {
    let sandbox = sandbox();
    sandbox.write("job.sh", "#!/bin/sh\n#SBATCH --time=20 --nodes=4 --ntasks-per-node=2\n");
    let line = "--times limits --nodes 1,4,8 --speedup linear --format json";
    let document: serde_json::Value = serde_json::from_str(&compared(&sandbox, line).succeeds()).unwrap();
    let one = |nodes: u64| {
        document["candidates"].as_array().unwrap().iter().find(|own| own["nodes"].as_u64() == Some(nodes)).unwrap()
    };
    assert_eq!((one(1)["ends_in_seconds"].as_f64(), one(1)["run_seconds"].as_f64()), (None, Some(4800.0)));
    assert!(one(1)["why_not_now"].as_str().unwrap().contains("reaches the time limit of 20 min"), "{document:#}");
    assert_eq!(one(8)["run_seconds"].as_f64(), Some(600.0));
    assert_ne!(document["best"]["nodes"].as_u64(), Some(1));
}

#[test]
fn a_cluster_without_an_answer_is_noted_and_the_others_are_compared() {
    let sandbox = sandbox();
    sandbox.write("dead.conf", "ClusterName=dead\n");
    fs::create_dir(sandbox.path("empty")).unwrap();
    let line = "where job.sh --from saved,empty --format json";
    let document: serde_json::Value = serde_json::from_str(&of_queue(&sandbox, line).succeeds()).unwrap();
    assert_eq!(document["candidates"].as_array().unwrap().len(), 1, "{document:#}");
    assert!(document["remarks"].to_string().contains("no answer: --from empty"), "{document:#}");
    let json = said(&sandbox, &["--from", "saved,slurm:./dead.conf", "--format", "json"], 80).succeeds();
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["clusters"].as_array().unwrap().len(), 1, "{document:#}");
    assert!(unwrapped(&said(&sandbox, &["--from", "saved,empty"], 80).succeeds()).contains("no answer: --from empty"));
    of_queue(&sandbox, "where job.sh --from empty").refused(&["--from empty"]);
    said(&sandbox, &["--from", "empty,slurm:./dead.conf"], 80).refused(&["no answer: --from empty", "dead.conf"]);
}

#[test]
fn where_reports_clusters_that_refuse_the_job_and_wrong_names() {
    let sandbox = sandbox();
    sandbox.write("job.sh", "#!/bin/sh\n#SBATCH -p no-such-partition\n");
    compared(&sandbox, "").refused(&[
        "job.sh",
        "no cluster accepts the job",
        "there is no partition no-such-partition",
    ]);
    of_queue(&sandbox, "where missing.sh --from saved").refused(&["missing.sh: cannot open: No such file"]);
    of_queue(&sandbox, "where job.sh --from saved,saved").refused(&["--from names saved twice"]);
    of_queue(&sandbox, "where job.sh --from slurm:/no/such/slurm.conf")
        .refused(&["/no/such/slurm.conf", "no such file"]);
    of_queue(&sandbox, "where job.sh --from slurm:").refused(&["slurm:NAME"]);
    of_queue(&sandbox, "where job.sh --from saved,").refused(&["--from: a name is empty", "comma"]);
    of_queue(&sandbox, "where job.sh --from nowhere").refused(&["nowhere", "not a folder"]);
}

#[test]
fn queues_of_several_clusters_have_sums_in_one_table() {
    let sandbox = sandbox();
    let from = format!("{},saved", example());
    let json = said(&sandbox, &["--from", &from, "--format", "json"], 80).succeeds();
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let clusters = document["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), 2);
    let sum = |key: &str| clusters.iter().map(|own| own[key].as_u64().unwrap()).sum::<u64>();
    for key in ["nodes", "free_processors", "running", "waiting"] {
        assert_eq!(document["sum"][key].as_u64(), Some(sum(key)), "{key}");
    }
    let alone = said(&sandbox, &["--from", "saved", "--format", "json", "--limit", "1000000"], 80).succeeds();
    let alone: serde_json::Value = serde_json::from_str(&alone).unwrap();
    assert_eq!(clusters[1]["waiting"].as_u64(), Some(alone["waiting"].as_array().unwrap().len() as u64));
    for width in [45, 80] {
        // Only a path may be longer than a line.
        let is_too_long = |line: &&str| line.chars().count() > width && !line.contains("/examples/queue");
        let text = said(&sandbox, &["--from", &from], width).succeeds();
        assert_eq!(text.lines().find(is_too_long), None, "{text}");
        let mut command = sandbox.command(&format!("where job.sh --from {from}"));
        let text = Said::new("where", &command.env("COLUMNS", width.to_string()).output().unwrap()).succeeds();
        assert_eq!(text.lines().filter(|line| !line.starts_with("  sbatch")).find(is_too_long), None, "{text}");
    }
    let text = said(&sandbox, &["--from", &from], 80).succeeds();
    // The instants of the two saved queues differ.
    for remarks in [document["remarks"].to_string(), unwrapped(&text)] {
        assert!(remarks.contains("not from the same instant: ") && remarks.contains(" older than "), "{remarks}");
    }
    let total = text.lines().find(|line| line.starts_with("total")).unwrap();
    let waiting = document["sum"]["waiting"].to_string();
    assert!(total.split_whitespace().any(|word| word == waiting), "{text}");
    said(&sandbox, &["--from", &from, "--job", "5"], 80).refused(&["--job", "one cluster"]);
    said(&sandbox, &["--from", &from, "--what-if", "nodes=2"], 80)
        .refused(&["--what-if", "makespan where job.sh --from"]);
    said(&sandbox, &["--from", "saved,saved"], 80).refused(&["--from names saved twice"]);
}

#[test]
fn queues_of_the_same_instant_share_their_notes() {
    let sandbox = sandbox();
    let (from, again) = ("saved,a-folder-with-a-long-name/again", sandbox.path("a-folder-with-a-long-name/again"));
    fs::create_dir_all(&again).unwrap();
    for file in fs::read_dir(sandbox.path("saved")).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), again.join(file.file_name())).unwrap();
    }
    let text = said(&sandbox, &["--from", from], 80).succeeds();
    assert!(text.contains("\n…long-name/again ") && !text.contains("same instant"), "{text}");
    let notes: Vec<&str> = text.lines().filter(|line| line.starts_with("note: ")).collect();
    assert!(!notes.is_empty() && notes.iter().all(|note| note.starts_with("note: all clusters: ")), "{text}");
}
