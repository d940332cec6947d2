//! Several clusters: `makespan where`, and `queue --from a,b`.

use super::{example, of_queue, said, saved};
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
fn where_names_the_cluster_with_the_earliest_end_and_a_command() {
    let sandbox = sandbox();
    let document: serde_json::Value = serde_json::from_str(&compared(&sandbox, "--format json").succeeds()).unwrap();
    let candidates = document["candidates"].as_array().unwrap();
    assert_eq!((candidates.len(), document["draws"].as_u64()), (2, Some(20)));
    let end = |own: &serde_json::Value| own["ends_in_seconds"].as_f64().unwrap_or(f64::INFINITY);
    assert!(end(&candidates[0]) <= end(&candidates[1]), "{document:#}");
    let shares: f64 = candidates.iter().map(|own| own["first"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    for own in candidates.iter().filter(|own| end(own).is_finite()) {
        let [early, late] = ["early", "late"].map(|key| own[key].as_f64().unwrap());
        assert!(early <= end(own) && end(own) <= late, "{own}");
    }
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
    assert!(unwrapped(&text).contains("% of 20 joint simulations"), "{text}");
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
    let best = document["best"]["command"].as_str().unwrap();
    assert!(best.contains(" -N1 ") || best.contains(" -N2 "), "{best}");
    compared(&sandbox, "--nodes 1,2").misused(&["--speedup"]);
    compared(&sandbox, "--nodes 1,2 --speedup fitted").refused(&["--speedup fitted", "only for logs"]);
    sandbox.write("job.sh", "#!/bin/sh\n#SBATCH -n 4\n");
    compared(&sandbox, "--nodes 1,2 --speedup linear").refused(&["job.sh", "--ntasks"]);
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
    of_queue(&sandbox, "where missing.sh --from saved").refused(&["missing.sh"]);
    of_queue(&sandbox, "where job.sh --from saved,saved").refused(&["--from names saved twice"]);
    of_queue(&sandbox, "where job.sh --from slurm:/no/such/slurm.conf")
        .refused(&["/no/such/slurm.conf", "no such file"]);
    of_queue(&sandbox, "where job.sh --from slurm:").refused(&["slurm:NAME"]);
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
    let text = said(&sandbox, &["--from", &from], 80).succeeds();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let total = text.lines().find(|line| line.starts_with("total")).unwrap();
    let waiting = document["sum"]["waiting"].to_string();
    assert!(total.split_whitespace().any(|word| word == waiting), "{text}");
    said(&sandbox, &["--from", &from, "--job", "5"], 80).refused(&["--job", "one cluster"]);
    said(&sandbox, &["--from", "saved,saved"], 80).refused(&["--from names saved twice"]);
}
