//! Other commands that read a queue with `--from`.

use std::fs;

use super::{of_queue, save, saved};
use crate::cli::sandbox::Sandbox;

#[test]
fn what_slurm_expects_of_a_job_that_waits_is_no_fact_in_a_simulation() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    let job = |start: &str| {
        format!(
            "JobId=2 JobName=j UserId=u(1) Priority=9 JobState=PENDING SubmitTime=1970-01-01T00:16:40 StartTime={start} EndTime={start} \
             TimeLimit=00:10:00 Partition=p NumNodes=1-1 NumCPUs=4\n"
        )
    };
    let runs = "JobId=1 JobName=j UserId=u(1) Priority=9 JobState=RUNNING SubmitTime=1970-01-01T00:16:40 StartTime=1970-01-01T00:16:40 \
                RunTime=00:01:00 TimeLimit=00:10:00 Partition=p NumNodes=1 NumCPUs=4 NodeList=n0\n";
    let played = |start: &str| {
        fs::write(
            sandbox.path("saved/scontrol.nodes-d.txt"),
            "NodeName=n0 CPUTot=4 CPUAlloc=4 State=ALLOCATED Partitions=p\n",
        )
        .unwrap();
        fs::write(sandbox.path("saved/scontrol.jobs-d.txt"), runs.to_owned() + &job(start)).unwrap();
        fs::remove_file(sandbox.path("saved/squeue.json.gz")).ok();
        of_queue(&sandbox, "simulate --from FOLDER --scenario now --scenario policy=easy --format json").succeeds()
    };
    assert_eq!(played("Unknown"), played("1970-01-02T00:00:00"));
}

#[test]
fn the_queue_of_a_cluster_is_planned_and_bounded() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    let planned = of_queue(&sandbox, "plan FOLDER --time-limit 1s --output plan.json").succeeds();
    assert!(planned.contains("keep their processors until their time limits"), "{planned}");
    of_queue(&sandbox, "verify FOLDER plan.json").succeeds();
    of_queue(&sandbox, "bound FOLDER").succeeds();
    let has_note = || of_queue(&sandbox, "convert FOLDER queue.json").succeeds().contains("the weights of nodes");
    assert!(!has_note());
    let nodes = fs::read_to_string(sandbox.path("saved/scontrol.nodes-d.txt")).unwrap();
    fs::write(sandbox.path("saved/scontrol.nodes-d.txt"), nodes.replacen("Weight=1 ", "Weight=5 ", 1)).unwrap();
    assert!(has_note());
    of_queue(&sandbox, "simulate --from slurm:long").refused(&["selects machines"]);
    of_queue(&sandbox, "plan FOLDER --processors 4").refused(&["its own machines"]);
    of_queue(&sandbox, "simulate --from FOLDER --deviation 0.5").refused(&["--deviation"]);
    of_queue(&sandbox, "simulate --from nowhere").refused(&["not a folder"]);
}

#[test]
fn a_plan_leaves_out_what_asks_for_more_nodes_than_there_are() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    fs::remove_file(sandbox.path("saved/squeue.json.gz")).ok();
    let save = |name: &str, text: &str| fs::write(sandbox.path("saved").join(name), text).unwrap();
    save(
        "scontrol.nodes-d.txt",
        "NodeName=n0 CPUTot=4 State=IDLE Partitions=p\nNodeName=n1 CPUTot=4 State=IDLE Partitions=p\n",
    );
    let job = |id: u32, more: &str| {
        format!(
            "JobId={id} JobName=j UserId=u(1) Priority=5 JobState=PENDING SubmitTime=1970-01-02T00:00:00 TimeLimit=00:10:00 Partition=p {more}\n"
        )
    };
    let jobs = job(1, "NumNodes=3-3 NumCPUs=3")
        + &job(2, "NumNodes=2-2 NumCPUs=2")
        + &job(3, "NumNodes=1-1 NumCPUs=1 Dependency=afterany:1(unfulfilled)");
    save("scontrol.jobs-d.txt", &jobs);
    let planned = of_queue(&sandbox, "plan FOLDER --time-limit 1s --output plan.json");
    let notes = planned.err.clone() + &planned.out;
    let notes = notes.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(notes.contains("job 1: left out, it asks for more nodes than the cluster has"), "{notes}");
    assert!(notes.contains("job 3: left out, it waits for a job that is left out"), "{notes}");
    assert!(!notes.contains("0 jobs run") && notes.contains("note: a plan respects nodes"), "{notes}");
    let plan = fs::read_to_string(sandbox.path("plan.json")).unwrap();
    assert!(plan.contains("\"2\"") && !plan.contains("\"1\"") && !plan.contains("\"3\""), "{plan}");
}

/// A cluster has one node of four processors and four jobs of one processor: a job without restrictions, a task of an
/// array that runs one task at a time, a job with a feature that no node has, and a job that waits for that job.
#[test]
fn a_policy_without_rules_says_so_and_starts_nothing_impossible() {
    let sandbox = Sandbox::new();
    let save = |name: &str, text: &str| save(&sandbox, name, text);
    save(
        "scontrol.nodes-d.txt",
        "NodeName=n0 CPUTot=4 State=IDLE Partitions=p AvailableFeatures=ib ActiveFeatures=ib\n",
    );
    let job = |id: u32, more: &str| {
        format!(
            "JobId={id} JobName=j UserId=u(1) Priority=9 JobState=PENDING SubmitTime=1000 TimeLimit=00:10:00 Partition=p NumNodes=1-1 \
             NumCPUs=1 {more}\n"
        )
    };
    let jobs = job(1, "")
        + &job(2, "ArrayJobId=2 ArrayTaskId=1-2%1")
        + &job(3, "Features=arm")
        + &job(4, "Dependency=afterany:3(unfulfilled)");
    save("scontrol.jobs-d.txt", &jobs);
    let line = "simulate --from FOLDER --scenario now --scenario policy=conservative --format json";
    let said: serde_json::Value = serde_json::from_str(&of_queue(&sandbox, line).succeeds()).unwrap();
    let remarks = said["remarks"].to_string();
    assert!(remarks.contains("2 jobs have such rules (limits on tasks of an array: 2)"), "{remarks}");
    assert!(remarks.contains("2 jobs are left out, because they are held or can never start"), "{remarks}");
    let jobs: Vec<_> = (0..2).map(|at| said["scenarios"][at]["jobs"].as_u64().unwrap()).collect();
    assert_eq!(jobs, [5, 3], "{said:#}");
    let plain = of_queue(&sandbox, "simulate --from FOLDER --policy fcfs").succeeds();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "2 jobs are left out, because they are held or can never start under the rules of the cluster: 3, 4"
        ),
        "{plain}"
    );
    assert!(words.contains("`fcfs` ignores the rules of the cluster: 2 jobs have such rules"), "{plain}");
    let both = "simulate --from FOLDER --policy slurm,fcfs --format json";
    let said: serde_json::Value = serde_json::from_str(&of_queue(&sandbox, both).succeeds()).unwrap();
    assert_eq!(said["jobs"], 3, "{said:#}");
    save("scontrol.jobs-d.txt", &job(3, "Features=arm"));
    of_queue(&sandbox, "simulate --from FOLDER --policy fcfs").refused(&["no job is left"]);
}
