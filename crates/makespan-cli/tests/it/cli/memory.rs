//! Memory that is learned from the history, and advice about memory.

use serde_json::Value;

use crate::cli::sandbox::{Sandbox, unwrapped};

const LIST: &str = "sleep 0.05; echo a #: memory=1GiB\nsleep 0.05; echo b\n";

#[test]
fn learned_memory_is_reserved_and_recorded() {
    let sandbox = Sandbox::new();
    sandbox.write("list.txt", LIST);
    let said = sandbox.makespan("run list.txt --folder first --memory learned");
    assert!(unwrapped(&said.err).contains("memory: 1 job stated, 1 job guessed ("), "{said:?}");
    let said = sandbox.makespan("run list.txt --folder second");
    assert!(said.status == Some(0) && !said.err.contains("memory:"), "{said:?}");
    // Without the option, no prediction lowers the stated amount.
    let needs = |options: &str| sandbox.makespan(&format!("run list.txt --dry-run {options}")).succeeds();
    assert!(needs("").contains("echo a  #: cores=1 memory=1GiB"), "{}", needs(""));
    let learned = needs("--memory learned");
    assert!(learned.matches("memory=16MiB").count() == 2 && !learned.contains("1GiB"), "{learned}");
    let said = sandbox.makespan("run list.txt --folder third --memory learned");
    assert!(unwrapped(&said.err).contains("memory: 2 jobs learned from 2 runs each"), "{said:?}");
    let instance = sandbox.json("third/instance.json");
    let jobs = instance["jobs"].as_array().unwrap();
    assert!(jobs.iter().all(|job| job["memory_estimate"]["runs"] == 2), "{instance:#}");
    sandbox.makespan("verify third/instance.json third/plan.json").succeeds();
    let json: Value = serde_json::from_str(&sandbox.makespan("history --format json").succeeds()).unwrap();
    let sources: Vec<&str> = json["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["memory_source"].as_str().unwrap_or(""))
        .collect();
    assert_eq!(&sources[..2], ["learned from 2 runs"; 2], "{json:#}");
    assert!(sources[2..].contains(&"stated") && sources[2..].contains(&"guessed"), "{json:#}");
    assert!(sandbox.makespan("history").succeeds().contains("16.0 MiB, 2 runs"));
    let history = sandbox.history();
    let text = sandbox.makespan(&format!("plan list.txt --history {} --memory learned", history.display())).succeeds();
    assert!(text.contains("memory: 2 jobs learned from 3 runs each"), "{text}");
    sandbox.makespan("plan list.txt --memory learned").misused(&["--history"]);
    sandbox.makespan("run list.txt --memory learned --no-history").misused(&["--no-history"]);
}

/// The plan of a run states all bounds that `verify` requires, also if times are unknown or were learned from jobs that
/// shared cores.
#[test]
fn the_plan_of_a_run_with_memory_is_verified() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "list.txt",
        "sleep 0.01 #: memory=1MiB\nsleep 0.02 #: memory=2MiB time=0.2\nsleep 0.03 #: memory=3MiB\n",
    );
    for folder in ["a", "b", "c"] {
        sandbox.makespan(&format!("run list.txt --folder {folder} --pin")).succeeds();
        let learned = sandbox.path(&format!("{folder}/instance.json"));
        let instance = if learned.exists() { format!("{folder}/instance.json") } else { "list.txt".to_owned() };
        sandbox.makespan(&format!("verify {instance} {folder}/plan.json")).succeeds();
    }
    sandbox.makespan("run list.txt --folder d").succeeds();
    sandbox.makespan("verify d/instance.json d/plan.json").succeeds();
    let plan = sandbox.json("d/plan.json");
    assert!(plan["bounds"]["weighted_completion"]["certificate"]["kind"].is_string(), "{plan:#}");
}

/// A resumed run keeps its identity, although the predictions have changed.
#[test]
fn a_run_with_learned_memory_is_resumed() {
    let sandbox = Sandbox::new();
    sandbox.write("list.txt", "echo a >> log\ntest -e good\n");
    let run = "run list.txt --folder f --memory learned";
    assert_eq!(sandbox.makespan(run).status, Some(1));
    sandbox.write("good", "");
    let said = sandbox.makespan(&format!("{run} --resume --retry-failed"));
    assert!(said.status == Some(0) && !said.err.contains("edited"), "{said:?}");
    assert_eq!(sandbox.read("log"), "a\n", "the job that succeeded does not run again");
}

/// Returns a dump with these jobs: user, name, stated memory, peak and hours.
fn dump(jobs: &[(&str, &str, &str, String, u32)]) -> String {
    let mut text = "JobID|User|Submit|Elapsed|AllocCPUS|NNodes|NTasks|State|ReqMem|MaxRSS|JobName\n".to_owned();
    for (id, (user, name, stated, peak, hours)) in jobs.iter().enumerate() {
        let shared = format!("2024-03-30T23:00:00|{hours:02}:00:00|4|2");
        text += &format!("{id}|{user}|{shared}||COMPLETED|{stated}||{name}\n");
        text +=
            &format!("{id}.extern||{shared}|1|COMPLETED||1M|extern\n{id}.batch||{shared}|1|COMPLETED||{peak}|batch\n");
    }
    text
}

#[test]
fn advice_names_users_and_jobs_of_a_dump() {
    let sandbox = Sandbox::new();
    let mut jobs = Vec::new();
    // 20 peaks of 1.00, 1.05 .. 1.95 GiB in KiB. The peak of rank 19 is 1.90 GiB.
    jobs.extend((0..20_u32).map(|at| ("ann", "fit", "16Gc", format!("{}K", (1 << 20) + at * 52_429), 2)));
    jobs.extend((0..10).map(|_| ("bob", "=1+1", "4Gn", "6G".to_owned(), 1)));
    jobs.extend((0..5).map(|_| ("", "\u{1b}[31m|x", "0n", "2000M".to_owned(), 1)));
    jobs.push(("eve", "once", "1G", "1G".to_owned(), 1));
    sandbox.write("dump.txt", dump(&jobs) + "77|ann|2024-03-30T23:00:00|00:00:00|4|1||PENDING|1G||fit\nx\n");
    let said = sandbox.makespan("history --advice --sacct dump.txt --csv advice.csv");
    let text = said.out.clone();
    assert_eq!(said.status, Some(0), "{said:?}");
    assert!(
        text.contains("ann fit: you state 64.0 GiB, but 95 % of these jobs used at most 1.9 GiB; state "),
        "{text}"
    );
    assert!(!text.contains('\u{1b}') && text.contains("\\u{1b}"), "{text}");
    assert!(text.contains("1 job not shown, because fewer than 5 jobs have the same user and name"), "{text}");
    for note in ["1 job skipped: no end yet", "1 job skipped: no run time", "5 jobs without a stated amount"] {
        assert!(unwrapped(&said.err).contains(note), "`{note}` is missing in {}", said.err);
    }
    let json: Value =
        serde_json::from_str(&sandbox.makespan("history --advice --sacct dump.txt --format json").succeeds()).unwrap();
    let of = |user: &str| json["advice"].as_array().unwrap().iter().find(|one| one["user"] == user).unwrap().clone();
    let (ann, bob) = (of("ann"), of("bob"));
    assert_eq!((&ann["jobs"], &ann["stated"]), (&20.into(), &(64_u64 << 30).into()));
    assert_eq!(ann["used_by_95_percent"], ((1_u64 << 20) + 18 * 52_429) << 10);
    assert_eq!((&ann["reserved_gib_hours"], &bob["stated"]), (&2560.0.into(), &(8_u64 << 30).into()));
    let advised = ann["advised"].as_f64().unwrap() / f64::from(1 << 30);
    assert!((1.95..4.0).contains(&advised), "{ann:#}");
    assert!((ann["saved_gib_hours"].as_f64().unwrap() - 40.0 * (64.0 - advised)).abs() < 1e-6, "{ann:#}");
    assert!(of("")["stated"].is_null());
    assert!(
        sandbox.read("advice.csv").contains("bob,'=1+1,10,0,8589934592,6442450944,"),
        "{}",
        sandbox.read("advice.csv")
    );
}

/// Jobs that failed for another reason show no peak. Killed jobs do, even if only a step states it.
#[test]
fn advice_uses_jobs_that_succeeded_or_were_killed() {
    let sandbox = Sandbox::new();
    let mut text = "JobID|User|Submit|End|Elapsed|AllocCPUS|NNodes|NTasks|State|ReqMem|MaxRSS|JobName\n".to_owned();
    let mut add = |id: u32, (user, state, step): (&str, &str, &str), peak: &str| {
        let shared = format!("2024-03-30T23:00:00|2024-03-31T{:02}:00:00|01:00:00|4|1", id % 24);
        text +=
            &format!("{id}|{user}|{shared}||{state}|4G||\u{1b}[1mfit\n{id}.batch||{shared}|1|{step}||{peak}|batch\n");
    };
    let failures = ["FAILED", "CANCELLED by 5", "TIMEOUT", "NODE_FAIL", "DEADLINE", "FAILED", "FAILED"];
    failures.iter().zip(0..).for_each(|(state, id)| add(id, ("tom", state, state), "5M"));
    (10..16).for_each(|id| add(id, ("tom", "COMPLETED", "COMPLETED"), "3G"));
    for (id, state) in [(20, "OUT_OF_ME+"), (21, "OUT_OF_MEMORY"), (22, "FAILED")] {
        add(id, ("una", state, "OUT_OF_MEMORY"), "1G");
    }
    (23..26).for_each(|id| add(id, ("una", "COMPLETED", "COMPLETED"), "1G"));
    (30..32).for_each(|id| add(id, ("ann", "RUNNING", "RUNNING"), "1G"));
    sandbox.write("dump.txt", text);
    let said = sandbox.makespan("history --advice --sacct dump.txt --csv advice.csv --format json");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let of = |user: &str| json["advice"].as_array().unwrap().iter().find(|one| one["user"] == user).unwrap().clone();
    let (tom, una) = (of("tom"), of("una"));
    assert_eq!(
        (&tom["jobs"], &tom["killed"], &tom["used_by_95_percent"]),
        (&6.into(), &0.into(), &(3_u64 << 30).into())
    );
    let advised = tom["advised"].as_u64().unwrap();
    assert!(((3 << 30)..=(4 << 30)).contains(&advised) && tom["saved_gib_hours"].as_f64().unwrap() >= 0.0, "{tom:#}");
    assert_eq!(
        (&una["jobs"], &una["killed"], &una["used_by_95_percent"]),
        (&6.into(), &3.into(), &(1_u64 << 30).into())
    );
    assert!(una["advised"].as_u64().unwrap() > 4 << 30, "{una:#}");
    let remarks = json["remarks"].to_string();
    assert!(remarks.contains("7 jobs skipped: failed") && !remarks.contains("own line"), "{remarks}");
    assert!(!sandbox.read("advice.csv").contains('\u{1b}'), "{}", sandbox.read("advice.csv"));
    let text = unwrapped(&sandbox.makespan("history --advice --sacct dump.txt").out);
    assert!(text.contains("you state 4.0 GiB, but 3 of 6 jobs were killed for lack of memory; state "), "{text}");
}

#[test]
fn bad_dumps_are_refused() {
    let sandbox = Sandbox::new();
    let header = "JobID|User|Submit|Elapsed|AllocCPUS|State|ReqMem|MaxRSS|JobName\n";
    sandbox.write("empty", "");
    sandbox.write("other", header.replace("|MaxRSS", ""));
    sandbox.write("none", header);
    sandbox.write(
        "huge",
        format!("{header}1|a|2024-01-01T00:00:00|1-00:00:00|4|COMPLETED|999999999P|{}G|x\n", "9".repeat(40)),
    );
    sandbox.makespan("history --advice --sacct empty").refused(&["empty", "sacct --allusers"]);
    sandbox.write("nameless", header.replace("JobID", "Job"));
    sandbox.makespan("history --advice --sacct nameless").refused(&["nameless:1", "no column `JobID`"]);
    sandbox.makespan("history --advice --sacct other").refused(&["other:1", "`MaxRSS`", "sacct --allusers"]);
    sandbox.makespan("history --advice --sacct missing").refused(&["missing", "cannot open it"]);
    sandbox.makespan("history --sacct none").misused(&["--advice"]);
    for name in ["none", "huge"] {
        let text = sandbox.makespan(&format!("history --advice --sacct {name}")).succeeds();
        assert!(text.contains("no advice"), "{text}");
    }
}

#[test]
fn advice_is_given_for_commands_of_the_history() {
    let sandbox = Sandbox::new();
    let said = sandbox.makespan("history --advice");
    assert!(said.out.contains("no advice") && said.err.contains("there is no history yet"), "{said:?}");
    sandbox.makespan("run --folder f -- echo ::: 1 2 3 4 5 6").succeeds();
    let text = sandbox.makespan("history --advice").succeeds();
    assert!(text.contains("16.0 MiB") && text.contains("no job states its memory"), "{text}");
}
