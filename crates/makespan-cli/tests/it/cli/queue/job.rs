//! `--job`: one job in detail.

use std::fs;

use super::{of_queue, recorded, said, save};
use crate::cli::sandbox::Sandbox;

#[test]
fn one_job_is_told_with_its_reason_and_what_would_help() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let from = folder.to_str().unwrap();
    let huge = said(&sandbox, &["--from", from, "--job", "15"], 80);
    assert!(huge.out.contains("would help") && huge.out.contains("disk fails"), "{}{}", huge.out, huge.err);
    let mold = said(&sandbox, &["--from", from, "--job", "7"], 80);
    assert!(mold.out.contains("other sizes") && mold.out.contains("1 node:"), "{}", mold.out);
    let array = said(&sandbox, &["--from", from, "--job", "8", "--format", "json"], 80);
    let document: serde_json::Value = serde_json::from_str(&array.out).unwrap();
    assert_eq!(document["waiting"].as_array().unwrap().len(), 5, "{document:#}");
    let nobody = said(&sandbox, &["--from", from, "--job", "999"], 80);
    assert!(nobody.status == Some(1) && nobody.err.contains("no such pending or running job"), "{}", nobody.err);
}

#[test]
fn what_is_suspended_and_whose_a_job_is_are_said() {
    let sandbox = Sandbox::new();
    let save = |name: &str, text: &str| save(&sandbox, name, text);
    save("scontrol.nodes-d.txt", "NodeName=n0 CPUTot=4 CPUAlloc=2 State=MIXED Partitions=p\n");
    let job = |id: u32, state: &str| {
        format!(
            "JobId={id} JobName=j UserId=ann(1) Priority=5 JobState={state} StartTime=1970-01-02T00:00:00 RunTime=00:01:00 TimeLimit=00:10:00 \
             Partition=p NodeList=n0 NumNodes=1 NumCPUs=1\n"
        )
    };
    save("scontrol.jobs-d.txt", &(job(1, "RUNNING") + &job(2, "SUSPENDED")));
    let text = said(&sandbox, &["--from", "saved"], 100).out;
    let row = |id: &str| text.lines().find(|line| line.starts_with(&format!("{id}  "))).unwrap().to_owned();
    assert!(row("2").contains("suspended") && !row("1").contains("suspended"), "{text}");
    assert!(text.contains("1 job runs, 1 is suspended, 0 wait"), "{text}");
    let one = said(&sandbox, &["--from", "saved", "--job", "2"], 100).out;
    assert!(one.contains("job 2 (j) is suspended; if it continued now"), "{one}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("as if they continued now"), "{text}");
    let said = said(&sandbox, &["--from", "saved", "--job", "2", "--user", "bob"], 100);
    assert!(
        said.status == Some(1) && said.err.contains("the job belongs to ann, not to bob; remove --user"),
        "{}",
        said.err
    );
}

#[test]
fn deadlines_and_least_times_are_told_in_every_verb() {
    let sandbox = Sandbox::new();
    let save = |name: &str, text: &str| save(&sandbox, name, text);
    save("scontrol.nodes-d.txt", "NodeName=n0 CPUTot=4 CPUAlloc=4 State=ALLOCATED Partitions=p\n");
    let job = |id: u32, more: &str| {
        format!(
            "JobId={id} JobName=j UserId=u(1) Priority={} SubmitTime=1000 Partition=p NumNodes=1-1 {more}\n",
            100 - id
        )
    };
    let jobs = job(1, "JobState=RUNNING StartTime=2000 RunTime=00:00:00 TimeLimit=00:30:00 NodeList=n0 NumCPUs=4")
        + &job(2, "JobState=PENDING TimeLimit=00:10:00 NumCPUs=4 Deadline=1970-01-01T00:55:00")
        + &job(3, "JobState=PENDING TimeLimit=00:10:00 TimeMin=00:05:00 NumCPUs=1");
    save("scontrol.jobs-d.txt", &jobs);
    let queue = said(&sandbox, &["--from", "saved", "--job", "2"], 200);
    assert!(queue.out.contains("its deadline 00:55:00 passes first"), "{}", queue.out);
    assert!(queue.out.contains("1970-01-01 00:55:00 UTC: it has to start by 00:45:00"), "{}", queue.out);
    let least = said(&sandbox, &["--from", "saved", "--job", "3"], 200);
    assert!(least.out.contains("limit 0:10:00 (or 0:05:00)"), "{}", least.out);
    said(&sandbox, &["--from", "saved", "--report", "queue.html"], 200);
    assert!(fs::read_to_string(sandbox.path("queue.html")).unwrap().contains("its deadline 00:55:00 passes first"));
    // The running job has a limit of 30 minutes, of which jobs use 13 on average. So job 2 could only start at
    // 00:46:42, which is too late.
    let line = "simulate --from FOLDER --scenario now --scenario policy=easy --format json";
    let played: serde_json::Value = serde_json::from_str(&of_queue(&sandbox, line).succeeds()).unwrap();
    assert_eq!(played["scenarios"][0]["given_up"], serde_json::json!(["2"]), "{played:#}");
    let remarks = played["remarks"].to_string();
    assert!(
        remarks.contains("2 jobs have such rules (deadlines: 1, limits that may be shortened (--time-min): 1)"),
        "{remarks}"
    );
    assert!(
        remarks.contains("now: job 2 with a deadline can never start there, or can start only too late,"),
        "{remarks}"
    );
    of_queue(&sandbox, "convert FOLDER queue.json").succeeds();
    let written = fs::read_to_string(sandbox.path("queue.json")).unwrap();
    assert!(written.contains("least_time") && written.contains("deadline"), "{written}");
}
