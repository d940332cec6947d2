//! `--range` and `--history`: calibrated ranges.

use std::fs;

use super::{said, save};
use crate::cli::sandbox::Sandbox;

/// Writes a saved queue of one node at the instant `now`: 60 jobs of 100 s run one after the other, although each may run
/// for 200 s. Jobs that have ended are in the accounts.
fn save_line_of_jobs(sandbox: &Sandbox, now: u64) {
    let at = |at: u64| format!("1970-01-02T{:02}:{:02}:{:02}", at / 3600, at / 60 % 60, at % 60);
    let (mut jobs, mut past) = (
        String::new(),
        "JobIDRaw|JobID|User|Partition|ElapsedRaw|TimelimitRaw|State|Submit|Start|JobName\n".to_owned(),
    );
    for job in 0..60_u64 {
        let (start, submit, id) = (job * 100, at(0), job + 1);
        if start + 100 <= now {
            past += &format!("{id}|{id}|u|p|100|4|COMPLETED|{submit}|{}|j{}\n", at(start), "x".repeat(id as usize));
            continue;
        }
        let run = if start <= now {
            format!(
                "JobState=RUNNING NodeList=n0 RunTime=00:{:02}:{:02} StartTime={} EndTime={}",
                (now - start) / 60,
                (now - start) % 60,
                at(start),
                at(start + 240)
            )
        } else {
            "JobState=PENDING Reason=Priority".to_owned()
        };
        jobs += &format!(
            "JobId={id} JobName=j{} UserId=u(1) Priority={} {run} TimeLimit=00:04:00 SubmitTime={submit} Partition=p NumNodes=1 NumCPUs=1\n",
            "x".repeat(id as usize),
            1000 - id
        );
    }
    save(sandbox, "scontrol.jobs-d.txt", &jobs);
    save(sandbox, "scontrol.nodes-d.txt", "NodeName=n0 CPUTot=1 CPUAlloc=1 State=ALLOCATED Partitions=p\n");
    save(sandbox, "sacct.history.txt", &past);
}

#[test]
fn ranges_are_calibrated_with_the_starts_that_became_known() {
    let sandbox = Sandbox::new();
    let look = |now: u64, more: &[&str]| -> serde_json::Value {
        save_line_of_jobs(&sandbox, now);
        let at = (86_400 + now).to_string();
        let arguments = [&["--from", "saved", "--at", at.as_str(), "--format", "json"], more].concat();
        let said = said(&sandbox, &arguments, 80);
        assert_eq!(said.status, Some(0), "{}", said.err);
        serde_json::from_str(&said.out).unwrap()
    };
    let known = ["--history", "h.sqlite"];
    // The first forecasts of all jobs.
    let first = look(50, &known);
    assert_eq!(
        first["ranges"],
        serde_json::json!({"percent": 80, "calibrated": false, "known_starts": 0, "held": null, "held_of": 0})
    );
    assert!(first["remarks"].to_string().contains("not yet calibrated: 0 of 50 starts are known"), "{first}");
    let before = look(4_850, &known);
    assert_eq!((&before["ranges"]["known_starts"], &before["ranges"]["calibrated"]), (&48.into(), &false.into()));
    let plain = look(5_150, &["--no-history"]);
    assert!(!sandbox.path("saved").join("h.sqlite").exists() && sandbox.path("h.sqlite").exists());
    let calibrated = look(5_150, &known);
    assert_eq!(
        (&calibrated["ranges"]["known_starts"], &calibrated["ranges"]["calibrated"]),
        (&51.into(), &true.into())
    );
    let range = |all: &serde_json::Value, job: usize| {
        let of = |key: &str| all["waiting"][job][key]["unix"].as_i64().unwrap();
        (of("early"), of("start"), of("late"))
    };
    let jobs = calibrated["waiting"].as_array().unwrap().len();
    assert!((0..jobs).all(|job| range(&calibrated, job).0 <= range(&calibrated, job).1), "{calibrated}");
    assert!((0..jobs).all(|job| range(&calibrated, job).1 <= range(&calibrated, job).2), "{calibrated}");
    assert!((0..jobs).any(|job| range(&calibrated, job) != range(&plain, job)), "{calibrated}");
    // Each share has its own forecasts.
    let other = look(5_150, &["--history", "h.sqlite", "--range", "90"]);
    assert_eq!(other["ranges"]["known_starts"], 0);
    // A damaged history costs the calibration, and nothing else.
    fs::write(sandbox.path("bad.sqlite"), "no database, but a text that is long enough to be read as a header of one")
        .unwrap();
    let bad = look(5_150, &["--history", "bad.sqlite"]);
    assert_eq!(bad["waiting"], plain["waiting"]);
    for (arguments, words) in [
        (["--times", "usual", "--history", "h.sqlite"], "only ranges of learned run times"),
        (["--times", "limits", "--range", "70"], "starts have no range"),
        (["--limit", "3", "--range", "100"], "not between 50 and 99"),
    ] {
        let refused = said(&sandbox, &[&["--from", "saved"], &arguments[..]].concat(), 80);
        assert!(refused.status == Some(2) || refused.status == Some(1), "{arguments:?}");
        let err = refused.err.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains(words), "{err}");
    }
}
