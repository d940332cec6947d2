//! `makespan queue --from FOLDER`: the queue of a cluster from saved output.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cli::sandbox::{Said, Sandbox};

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../makespan-slurm/tests/data/queue-22.05")
}

/// Runs `makespan queue` on a terminal of this width, with no command of Slurm on `PATH`.
fn said(sandbox: &Sandbox, arguments: &[&str], columns: usize) -> Said {
    let mut command = Command::new(assert_cmd::cargo_bin!("makespan"));
    command.arg("queue").args(arguments).current_dir(sandbox.path("")).env("PATH", sandbox.path(""));
    command.env("TZ", "UTC").env("COLUMNS", columns.to_string());
    for name in ["MAKESPAN_URL", "MAKESPAN_STORE", "MAKESPAN_TOKEN_FILE"] {
        command.env_remove(name);
    }
    command.env("HOME", sandbox.path("")).env_remove("XDG_DATA_HOME");
    Said::new(&arguments.join(" "), &command.output().unwrap())
}

/// Writes a file into the folder `saved`.
fn save(sandbox: &Sandbox, name: &str, text: &str) {
    fs::create_dir_all(sandbox.path("saved")).unwrap();
    fs::write(sandbox.path("saved").join(name), text).unwrap();
}

#[test]
fn the_queue_fits_on_80_columns_and_uses_160() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let from = folder.to_str().unwrap();
    let (narrow, wide) = (said(&sandbox, &["--from", from], 80), said(&sandbox, &["--from", from], 160));
    for (said, columns) in [(&narrow, 80), (&wide, 160)] {
        assert_eq!(said.status, Some(0), "{}", said.err);
        assert!(said.out.lines().all(|line| line.chars().count() <= columns), "{}", said.out);
    }
    assert!(wide.out.lines().any(|line| line.chars().count() > 120), "{}", wide.out);
    assert!(
        wide.out.contains("partition") && wide.out.contains("mold") && narrow.out.contains("why not now"),
        "{}",
        wide.out
    );
    assert!(narrow.out.contains("4 nodes (1 away)"), "{}", narrow.out);
    assert!(narrow.out.contains("note: sacct.history.txt is missing"), "{}", narrow.out);
}

#[test]
fn every_verb_keeps_to_the_stated_columns() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    for columns in [60, 80] {
        let job = said(&sandbox, &["--from", "saved", "--job", "15"], columns).out;
        let mut simulate = sandbox.command("simulate --from saved --policy easy");
        simulate.env("TZ", "UTC").env("COLUMNS", columns.to_string());
        let notes = Said::new("simulate", &simulate.output().unwrap()).succeeds();
        // Texts are wrapped. Tables are not, so they are not checked.
        let notes = notes.lines().skip_while(|line| !line.starts_with("note:")).take_while(|line| !line.is_empty());
        for line in job.lines().chain(notes) {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}

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
fn run_times_are_learned_usual_or_limits() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let known = |times: &[&str]| {
        let line = [&["--from", folder.to_str().unwrap(), "--job", "7"], times].concat();
        let text = said(&sandbox, &line, 160).out.split_whitespace().collect::<Vec<_>>().join(" ");
        let json = said(&sandbox, &[&line[..], &["--format", "json"]].concat(), 80).out;
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        let job = document["waiting"][0].clone();
        let (seconds, limit) = (job["run_seconds"].as_u64().unwrap(), job["limit_seconds"].as_u64().unwrap());
        let spreads = !job["start_late"].is_null();
        (job["run_time_from"]["what"].as_str().unwrap().to_owned(), seconds as f64 / limit as f64, spreads, text)
    };
    let (what, part, spreads, text) = known(&["--times", "limits"]);
    assert!(what == "limit" && part > 0.999 && !spreads && text.contains(", its time limit "), "{what} {part} {text}");
    let (what, part, spreads, text) = known(&["--times", "usual"]);
    assert!(what == "usual" && (0.43..0.46).contains(&part) && spreads, "{what} {part}");
    assert!(text.contains("its time limit times the fraction that jobs of public logs use"), "{text}");
    let (what, part, _, text) = known(&[]);
    assert!(
        what == "all"
            && part < 0.4
            && text.contains("of all users used; the usual fraction in public logs is treated as one more job"),
        "{part} {text}"
    );
    let wrong = said(&sandbox, &["--from", folder.to_str().unwrap(), "--times", "guessed"], 80);
    assert!(wrong.status == Some(2) && wrong.err.contains("learned, usual, limits"), "{}", wrong.err);
}

#[test]
fn what_is_learned_is_told_where_something_is_learned() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let told = |times: &[&str]| {
        let said = said(&sandbox, &[&["--from", folder.to_str().unwrap()], times].concat(), 240);
        assert_eq!(said.status, Some(0), "{}", said.err);
        said.out.contains("run times are learned only from jobs that the controller remembers")
    };
    assert!(told(&[]) && told(&["--times", "learned"]));
    assert!(!told(&["--times", "limits"]) && !told(&["--times", "usual"]));
}

#[test]
fn json_of_which_no_job_can_be_read_is_an_error() {
    let sandbox = Sandbox::with_small();
    fs::create_dir(sandbox.path("saved")).unwrap();
    fs::copy(recorded().join("scontrol.nodes-d.txt"), sandbox.path("saved/scontrol.nodes-d.txt")).unwrap();
    fs::write(sandbox.path("saved/squeue.json"), r#"{"jobs": [{"id": 1, "state": "PENDING"}]}"#).unwrap();
    let said = said(&sandbox, &["--from", "saved"], 80);
    let words = said.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(said.status == Some(1) && said.out.is_empty(), "{:?} {}", said.status, said.out);
    assert!(
        words.contains("squeue.json: 1 of 1 record is left out") && words.contains("squeue --json --states=all"),
        "{words}"
    );
}

#[test]
fn the_page_escapes_what_users_wrote() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let text = fs::read_to_string(folder.join("scontrol.jobs-d.txt")).unwrap();
    fs::create_dir(sandbox.path("saved")).unwrap();
    let evil = text.replace("JobName=wide", "JobName=<script>alert(1)</script>");
    assert!(evil != text);
    fs::write(sandbox.path("saved/scontrol.jobs-d.txt"), evil).unwrap();
    fs::copy(folder.join("scontrol.nodes-d.txt"), sandbox.path("saved/scontrol.nodes-d.txt")).unwrap();
    let said = said(&sandbox, &["--from", "saved", "--report", "queue.html"], 80);
    assert_eq!(said.status, Some(0), "{}", said.err);
    let page = fs::read_to_string(sandbox.path("queue.html")).unwrap();
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>alert"), "{page}");
}

#[test]
fn what_is_wrong_is_one_clear_error() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let from = folder.to_str().unwrap();
    fs::create_dir(sandbox.path("empty")).unwrap();
    for (arguments, needle) in [
        (&["--from", "nowhere"][..], "this is not a folder"),
        (&["--from", "empty"], "has no nodes"),
        (&["--from", "slurm"], "scontrol"),
        (&["--from", from, "--watch"], "do not change"),
        (&["--from", from, "--at", "yesterday"], "is not an instant"),
        (&["--from", from, "--report", "page.txt"], "html"),
        (&["--from", "slurm", "--at", "5"], "applies only to saved outputs"),
        (&["--from", from, "--past", "3"], "sacct.history.txt"),
        (&["--from", from, "--at", "9999-12-31"], "beyond the calendar; state an instant"),
        (&["--from", from, "--at", "9223372036854775807"], "beyond the calendar; state an instant"),
        (&["--from", from, "--at", "1970-01-01"], "remove the instant, or state a later one"),
    ] {
        let said = said(&sandbox, arguments, 80);
        assert!(said.status == Some(1) && said.err.contains(needle), "{arguments:?}: {:?} {}", said.status, said.err);
        assert!(said.out.is_empty(), "{}", said.out);
    }
}

/// Runs another command on the recorded queue.
fn of_queue(sandbox: &Sandbox, line: &str) -> Said {
    let mut command = sandbox.command(&line.replace("FOLDER", "saved"));
    Said::new(line, &command.env("TZ", "UTC").env("COLUMNS", "100").output().unwrap())
}

fn saved(sandbox: &Sandbox) {
    fs::create_dir(sandbox.path("saved")).unwrap();
    for file in fs::read_dir(recorded()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), sandbox.path("saved").join(file.file_name())).unwrap();
    }
}

#[test]
fn scenarios_are_played_over_the_queue_of_a_cluster() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    let line = "simulate --from FOLDER --scenario now --scenario nodes=+2 --scenario policy=conservative";
    let text = of_queue(&sandbox, line).succeeds();
    assert!(text.contains("time 0, which is now: 20") && text.contains("\nstarts\n"), "{text}");
    assert!(text.contains("jobs run and continue") && !text.contains("AS LOGGED"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("policy=conservative: `conservative` ignores the rules of the cluster"), "{text}");
    assert!(!words.contains("now: `slurm"), "{text}");
    let said: serde_json::Value =
        serde_json::from_str(&of_queue(&sandbox, &format!("{line} --format json")).succeeds()).unwrap();
    let policy = said["scenarios"][0]["policy"].as_str().unwrap();
    assert!(policy.starts_with("slurm"), "{policy}");
    let jobs = said["starts"].as_array().unwrap();
    let waits = |column: usize| jobs.iter().filter_map(|job| job["starts"][column].as_f64()).sum::<f64>();
    assert!(waits(1) < waits(0), "more nodes help: {} {}", waits(0), waits(1));
    // Running jobs are not in the list of starts.
    let ran = said["jobs"].as_u64().unwrap() as usize - jobs.len();
    assert!(ran >= 3, "{ran}");
}

/// A scenario changes single parameters of the cluster's policy. All other parameters are those of the cluster.
#[test]
fn a_scenario_changes_one_parameter_of_the_cluster() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    let columns = |scenario: &str| {
        let line = format!("simulate --from FOLDER --scenario now --scenario '{scenario}' --format json");
        let said: serde_json::Value = serde_json::from_str(&of_queue(&sandbox, &line).succeeds()).unwrap();
        let policy = |column: usize| said["scenarios"][column]["policy"].as_str().unwrap().to_owned();
        let starts = |column: usize| {
            said["starts"].as_array().unwrap().iter().map(|job| job["starts"][column].clone()).collect::<Vec<_>>()
        };
        (policy(0), policy(1), starts(0) == starts(1))
    };
    let (own, same, is_equal) = columns("policy=slurm");
    assert!(own.starts_with("slurm[") && own == same && is_equal, "{own} {same}");
    let (own, changed, _) = columns("policy=slurm[bf_max_job_test=7]");
    let parts = |policy: &str| -> Vec<String> {
        let inner = policy.trim_start_matches("slurm[").trim_end_matches(']').to_owned();
        let mut parts: Vec<String> =
            inner.split(',').filter(|part| !part.starts_with("bf_max_job_test")).map(str::to_owned).collect();
        parts.sort();
        parts
    };
    assert!(changed.contains("bf_max_job_test=7") && parts(&own) == parts(&changed), "{own} {changed}");
    let line = "simulate --from FOLDER --scenario now --scenario 'policy=slurm[bf_max_job_test=7]'";
    let text = of_queue(&sandbox, line).succeeds();
    assert!(text.contains(&own) && text.contains(&changed), "{text}");
}

/// There are two nodes of four processors, and two processors are held. One job fits, one is wider than both nodes, and
/// one needs four processors on each of two nodes.
#[test]
fn more_nodes_have_room_for_what_had_none_and_waits_are_of_those_that_wait() {
    let sandbox = Sandbox::new();
    let save = |name: &str, text: &str| save(&sandbox, name, text);
    let node = |name: &str, held: u32| format!("NodeName={name} CPUTot=4 CPUAlloc={held} State=MIXED Partitions=p\n");
    save("scontrol.nodes-d.txt", &(node("n0", 2) + &node("n1", 0)));
    let job = |id: u32, state: &str, more: &str| {
        format!(
            "JobId={id} JobName=j UserId=u(1) Priority=9 JobState={state} SubmitTime=1000 TimeLimit=00:10:00 Partition=p {more}\n"
        )
    };
    let runs = job(1, "RUNNING", "StartTime=1000 RunTime=00:01:00 NumNodes=1 NumCPUs=2 NodeList=n0");
    let jobs = runs
        + &job(2, "PENDING", "NumNodes=2-2 NumCPUs=8 MinCPUsNode=4")
        + &job(3, "PENDING", "NumNodes=1 NumCPUs=10")
        + &job(4, "PENDING", "NumNodes=1-1 NumCPUs=2");
    save("scontrol.jobs-d.txt", &jobs);
    let line = "simulate --from FOLDER --scenario now --scenario nodes=+1 --format json";
    let said: serde_json::Value = serde_json::from_str(&of_queue(&sandbox, line).succeeds()).unwrap();
    let starts = said["starts"].as_array().unwrap();
    let start = |job: &str, column: usize| {
        let own = starts.iter().find(|one| one["job"] == job).unwrap_or_else(|| panic!("{job}: {said:#}"));
        own["starts"][column].as_f64()
    };
    // Job 2 waits for the end of job 1. With another node, it starts at once.
    assert!(start("2", 0).unwrap() > 60.0 && start("2", 1).unwrap() < 60.0, "{said:#}");
    assert!(start("3", 0).is_none() && start("3", 1).is_some(), "{said:#}");
    for part in [
        "job 3 can run on this cluster, but not on the present cluster",
        "each additional node is a copy of n1: 4 processors, in p",
    ] {
        assert!(said["remarks"].to_string().contains(&format!("nodes=+1: {part}")), "{part}: {said:#}");
    }
    for (column, scenario) in said["scenarios"].as_array().unwrap().iter().enumerate() {
        let own: Vec<f64> = starts.iter().filter_map(|one| one["starts"][column].as_f64()).collect();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        let told = scenario["metrics"]["wait"]["mean"].as_f64().unwrap();
        assert!((told - mean).abs() < 1e-6, "{told} {mean} {said:#}");
    }
}

/// The only node with much memory is removed. A job that needs it is left out, and the others are simulated.
#[test]
fn fewer_nodes_leave_out_what_none_of_them_can_hold() {
    let sandbox = Sandbox::new();
    let save = |name: &str, text: &str| save(&sandbox, name, text);
    let node =
        |name: &str, memory: u32| format!("NodeName={name} CPUTot=4 RealMemory={memory} State=IDLE Partitions=p\n");
    save("scontrol.nodes-d.txt", &(node("n0", 4000) + &node("n1", 8000)));
    save("scontrol.config.txt", "SelectTypeParameters = CR_CPU_MEMORY\n");
    let job = |id: u32, memory: u32| {
        format!(
            "JobId={id} JobName=j UserId=u(1) Priority=9 JobState=PENDING SubmitTime=1000 TimeLimit=00:10:00 Partition=p NumNodes=1-1 \
             NumCPUs=2 MinMemoryNode={memory}M\n"
        )
    };
    save("scontrol.jobs-d.txt", &(job(1, 7000) + &job(2, 3000)));
    let line = "simulate --from FOLDER --scenario now --scenario nodes=-1 --format json";
    let said: serde_json::Value = serde_json::from_str(&of_queue(&sandbox, line).succeeds()).unwrap();
    let jobs: Vec<_> = (0..2).map(|at| said["scenarios"][at]["jobs"].as_u64().unwrap()).collect();
    assert_eq!(jobs, [2, 1], "{said:#}");
    assert!(said["remarks"].to_string().contains("nodes=-1: 1 job is left out, because no remaining node"), "{said:#}");
    of_queue(&sandbox, "simulate --from FOLDER --policy slurm[weight_tres=foo:1]")
        .refused(&["weight_tres=foo", "cpu, node, memory"]);
}

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
    of_queue(&sandbox, "convert FOLDER queue.json").succeeds();
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
    let row = |id: &str| text.lines().find(|line| line.starts_with(&format!("{id} "))).unwrap().to_owned();
    assert!(row("2").contains("suspended") && !row("1").contains("suspended"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("as if they continued now"), "{text}");
    let said = said(&sandbox, &["--from", "saved", "--job", "2", "--user", "bob"], 100);
    assert!(
        said.status == Some(1) && said.err.contains("the job belongs to ann, not to bob; remove --user"),
        "{}",
        said.err
    );
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
    assert!(remarks.contains("2 jobs have some (limits on tasks of an array: 2)"), "{remarks}");
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

#[test]
fn what_is_listed_is_the_same_in_every_form() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let from = folder.to_str().unwrap();
    let json = |arguments: &[&str]| -> serde_json::Value {
        let said = said(&sandbox, &[&["--from", from, "--format", "json"], arguments].concat(), 80);
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err))
    };
    let count = |document: &serde_json::Value, what: &str| document[what].as_array().unwrap().len();
    let all = json(&[]);
    let (waiting, running) = (count(&all, "waiting"), count(&all, "running"));
    assert!(waiting > 5 && running == 3 && all["more"] == 0, "{all:#}");
    let some = json(&["--limit", "2"]);
    assert_eq!((count(&some, "waiting"), some["more"].as_u64()), (2, Some(waiting as u64 - 2)));
    assert_eq!((count(&some, "running"), some["more_running"].as_u64()), (2, Some(1)));
    let page = |arguments: &[&str]| {
        let said = said(&sandbox, &[&["--from", from, "--report", "queue.html"], arguments].concat(), 80);
        assert_eq!(said.status, Some(0), "{}", said.err);
        (fs::read_to_string(sandbox.path("queue.html")).unwrap(), said.out)
    };
    let rows = |page: &str| page.matches("<td class=\"job\"").count();
    assert_eq!(rows(&page(&[]).0), waiting + running);
    let (html, text) = page(&["--limit", "2"]);
    assert_eq!(rows(&html), 2 + 2);
    for more in [format!("{} more waiting", waiting - 2), "1 more running".to_owned()] {
        assert!(html.contains(&more) && text.contains(&more), "{more}: {text}");
    }
    // No user has this name, so no pending or running jobs are shown.
    let (html, text) = page(&["--user", "<nobody>"]);
    assert!(rows(&html) == 0 && html.contains("tables: jobs of &lt;nobody&gt;"), "{html}");
    assert!(text.contains("no jobs of <nobody> wait") && !text.contains("ends about"), "{text}");
    assert_eq!(count(&json(&["--user", "nobody"]), "running"), 0);
    // With --job, only this job is shown, even if it is running.
    let runs = all["running"][0]["job"].as_str().unwrap();
    let one = json(&["--job", runs]);
    assert_eq!((count(&one, "waiting"), count(&one, "running")), (0, 1));
    let tasks = said(&sandbox, &["--from", from, "--job", "8", "--limit", "2"], 80);
    assert!(tasks.out.matches("why not now").count() == 2 && tasks.out.contains("3 more tasks"), "{}", tasks.out);
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let sandbox = Sandbox::with_small();
    for arguments in [&["--state", "held", "--times", "limits"][..], &["--state", "held", "--draws", "5"]] {
        let said = said(&sandbox, arguments, 80);
        assert!(said.status == Some(2) && said.err.contains("cannot be used with"), "{arguments:?}: {}", said.err);
    }
    for arguments in [&["--from", "saved"][..], &["--report", "q.html"], &["--job", "3"]] {
        let said = said(&sandbox, &[&["--state", "running"], arguments].concat(), 80);
        let reason = "--state selects jobs of a service";
        assert!(said.status == Some(2) && said.err.contains("cannot be used with"), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(reason) && said.err.contains("remove --state"), "{arguments:?}: {}", said.err);
    }
    assert!(said(&sandbox, &["--help"], 80).out.contains("For a service: jobs of these states"));
    for option in [["--user", ""], ["--job", ""]] {
        let said = said(&sandbox, &[&["--from", "saved"], &option[..]].concat(), 80);
        assert!(said.status == Some(2) && said.err.contains("a value is required for"), "{option:?}: {}", said.err);
    }
    for option in [&["--job", "5"][..], &["--times", "limits"], &["--draws", "5"], &["--watch"], &["--past", "2"]] {
        let arguments = [&["--url", "http://127.0.0.1:1"], option].concat();
        let said = said(&sandbox, &arguments, 80);
        assert!(said.status == Some(1) && said.err.contains("add --from slurm"), "{arguments:?}: {}", said.err);
    }
}

/// Collects all keys of the objects in a document.
fn keys(value: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(all) => all.iter().for_each(|(key, value)| {
            found.insert(key.clone());
            keys(value, found);
        }),
        serde_json::Value::Array(all) => all.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_json_is_in_the_document_and_no_other() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let mut printed = std::collections::BTreeSet::new();
    for job in [&[][..], &["--job", "7"], &["--what-if", "nodes=1"]] {
        let said = said(&sandbox, &[&["--from", folder.to_str().unwrap(), "--format", "json"], job].concat(), 80);
        keys(&serde_json::from_str(&said.out).unwrap(), &mut printed);
    }
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/queue.md")).unwrap();
    let section = text.split("\n## JSON\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let first = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
    let documented: std::collections::BTreeSet<String> =
        first.flat_map(|key| key.split('.')).map(str::to_owned).collect();
    assert_eq!(printed, documented);
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
        remarks.contains("2 jobs have some (deadlines: 1, limits that may be shortened (--time-min): 1)"),
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

#[test]
fn for_whom_a_closed_reservation_is_is_said() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    let text = fs::read_to_string(sandbox.path("saved/scontrol.reservations.txt")).unwrap();
    assert!(text.contains("ReservationName="), "{text}");
    let said = of_queue(&sandbox, "convert FOLDER queue.json").succeeds();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("no pending job names the reservations") && words.contains("(for user"), "{said}");
}

#[test]
fn a_zone_that_nobody_knows_is_said() {
    let sandbox = Sandbox::new();
    saved(&sandbox);
    for line in ["queue --from FOLDER", "simulate --from FOLDER"] {
        let mut command = sandbox.command(&line.replace("FOLDER", "saved"));
        let said =
            Said::new(line, &command.env("TZ", "Mars/Olympus").env("COLUMNS", "200").output().unwrap()).succeeds();
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("the time zone `Mars/Olympus` (TZ) is unknown: clock times are in UTC"), "{said}");
    }
}

/// The example queue of the documentation shows each kind of reason, without any note about missing or unexpected
/// files.
#[test]
fn the_example_shows_starts_and_reasons() {
    let sandbox = Sandbox::with_small();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/queue");
    let from = folder.to_str().unwrap();
    let queue = said(&sandbox, &["--from", from], 80);
    assert!(queue.status == Some(0) && queue.err.is_empty() && !queue.out.contains("note: "), "{queue:?}");
    let text = queue.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "starts in the next cycle",
        "waits for the end of job 4104",
        "1 job before it",
        "waits for job 4108 to succeed",
        "not before 12:00",
        "reserved (maintenance) from 18:00 on",
        "too few nodes",
        "held by its user",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let job = said(&sandbox, &["--from", from, "--job", "4111"], 80);
    assert!(job.out.contains("with a time limit of at most 9 h it could start now"), "{job:?}");
    assert!(job.out.contains("its nodes are free, but reserved (maintenance) from 18:00 on"), "{job:?}");
}

/// A job takes up to two lines, and its request is not in the table.
#[test]
fn a_job_takes_one_or_two_lines_without_its_request() {
    let sandbox = Sandbox::with_small();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/queue");
    for folder in [recorded(), example] {
        for columns in [60, 80, 120, 160] {
            let text = said(&sandbox, &["--from", folder.to_str().unwrap()], columns).out;
            let table =
                || text.lines().skip_while(|line| !line.starts_with("job ")).skip(1).take_while(|l| !l.is_empty());
            let jobs = table().filter(|line| !line.starts_with(' ')).count();
            assert!(jobs > 5 && table().count() <= 2 * jobs && !text.contains("asks for"), "{columns}: {text}");
            assert!(columns < 80 || table().count() <= jobs + 3, "{columns}: {text}");
        }
    }
}

/// Returns `makespan queue --from slurm` on a cluster of one idle node and one pending job.
fn of_small_cluster(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let scontrol = "case \"$*\" in\n*nodes) echo NodeName=n0 CPUTot=4 State=IDLE Partitions=p;;\n*jobs) echo JobId=1 JobName=j \
                    UserId=ann\\(1\\) Priority=9 JobState=PENDING SubmitTime=1000 TimeLimit=00:10:00 Partition=p NumNodes=1-1 NumCPUs=1;;\n\
                    *config) echo SelectType = select/cons_tres;;\n*partitions) echo PartitionName=p State=UP Nodes=n0;;\nesac";
    fs::create_dir_all(sandbox.path("bin")).unwrap();
    let script = format!("#!/bin/sh\n{scontrol}\n");
    // A child process writes the program: no other child can then inherit the open file, which would prevent its start.
    let write = ["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""];
    let path = sandbox.path("bin/scontrol");
    assert!(Command::new("/bin/sh").args(write).arg(path).arg(script).status().unwrap().success());
    let mut command = sandbox.command("queue --from slurm");
    command.args(arguments).env("PATH", sandbox.path("bin")).env("TZ", "UTC").env("COLUMNS", "80");
    command
}

/// If the reader of the output exits, `--watch` ends, also between two updates.
#[test]
fn watching_ends_when_the_reader_goes_away() {
    let sandbox = Sandbox::new();
    let mut command = of_small_cluster(&sandbox, &["--watch", "65535"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("1 ") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the queue has job 1");
    }
    drop(out);
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_interval_below_the_minimum_is_refused() {
    let sandbox = Sandbox::new();
    for seconds in 0..5 {
        let said =
            Said::new("watch", &of_small_cluster(&sandbox, &["--watch", &seconds.to_string()]).output().unwrap());
        let words = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.status == Some(1) && said.out.is_empty(), "{said:?}");
        assert!(words.contains("the minimum is 5 s") && words.contains("write --watch 5"), "{words}");
    }
}

fn example() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/queue").to_str().unwrap().to_owned()
}

/// Simulates the example queue as it is and under a scenario. Returns the notes, and for each job the starts in seconds.
fn beside_now(sandbox: &Sandbox, scenario: &str) -> (String, BTreeMap<String, [Option<f64>; 2]>) {
    let line = format!("simulate --from {} --scenario now --scenario '{scenario}' --format json", example());
    let said: serde_json::Value = serde_json::from_str(&of_queue(sandbox, &line).succeeds()).unwrap();
    let starts = |job: &serde_json::Value| [0, 1].map(|column: usize| job["starts"][column].as_f64());
    let jobs = said["starts"].as_array().unwrap().iter();
    (said["remarks"].to_string(), jobs.map(|job| (job["job"].as_str().unwrap().to_owned(), starts(job))).collect())
}

#[test]
fn scenarios_change_limits_and_priorities_of_jobs() {
    let sandbox = Sandbox::new();
    let start = |scenario: &str, job: &str| beside_now(&sandbox, scenario).1[job].map(Option::unwrap);
    let [now, then] = start("job=4111 limit=9h", "4111");
    assert!(now > 3600.0 && then == 0.0, "{now} {then}");
    let [now, then] = start("job=4108 top", "4108");
    assert!(then < now, "{now} {then}");
}

/// During a period of maintenance, no job that may reach into it starts before, and the notes state what to do.
#[test]
fn scenarios_close_nodes_and_state_what_to_do() {
    let sandbox = Sandbox::new();
    let (remarks, starts) = beside_now(&sandbox, "maintenance=9:30..12:30 on n[1-7]");
    for (job, [_, then]) in &starts {
        assert!(then.is_none_or(|then| then == 0.0 || then >= 12_600.0), "{job}: {then:?}");
    }
    for part in [
        "no job runs on n[1-7] from 2026-11-27 09:30:00 UTC to 2026-11-27 12:30:00 UTC",
        "these running jobs may still run at its begin: 4105 on n",
        "start later or not at all",
        "scontrol create reservation ReservationName=maintenance StartTime=2026-11-27T09:30:00 EndTime=2026-11-27T12:30:00 Nodes=n[1-7]",
        "without a reservation, drain n",
    ] {
        assert!(remarks.contains(part), "{part}: {remarks}");
    }
    let (remarks, starts) = beside_now(&sandbox, "drain=n[1-7]");
    assert!(starts.values().all(|[_, then]| then.is_none()), "{starts:?}");
    assert!(remarks.contains("these jobs can start only on nodes that remain unavailable"), "{remarks}");
    let (remarks, _) = beside_now(&sandbox, "drain=n1 from tomorrow 8:00");
    assert!(remarks.contains("no job runs on n1 from 2026-11-28 08:00:00 UTC on"), "{remarks}");
}

#[test]
fn scenarios_without_an_effect_are_refused() {
    let sandbox = Sandbox::with_small();
    for (scenario, parts) in [
        ("job=9999 top", ["running job 9999", "the queue has jobs such as"]),
        ("job=4105 top", ["job 4105 runs", "name a pending job"]),
        ("job=4113 top", ["is held", "scontrol release 4113"]),
        ("job=4105 limit=1h", ["has already run", "state a longer limit"]),
        ("qos=gold jobs=+4", ["QOS", "sacctmgr"]),
        ("drain=n99", ["there is no node n99", "n[1-8]"]),
        ("drain=n1 from 2020-01-01", ["is in the past", "state a later instant"]),
        ("drain=n1 from soon", ["`soon` is not an instant", "tomorrow 8:00"]),
        ("maintenance=12:00..11:00x", ["is not an instant", "tuesday 8:00"]),
        ("load=3", ["no further jobs arrive", "simulate a log with this load"]),
    ] {
        let line = format!("simulate --from {} --scenario '{scenario}'", example());
        let said = of_queue(&sandbox, &line);
        let words = said.err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        let is_complete =
            parts.iter().all(|part| words.contains(part)) || scenario.starts_with("qos") && words.contains("QOS gold");
        assert!(said.status == Some(1) && is_complete && words.contains(scenario), "{scenario}: {words}");
    }
    for scenario in ["job=table top", "qos=high jobs=+4", "drain=n1", "maintenance=8:00..9:00"] {
        of_queue(&sandbox, &format!("simulate small.toml --scenario '{scenario}'")).refused(&["--from slurm", "a log"]);
    }
    of_queue(&sandbox, "simulate small.toml --scenario load=3").refused(&["at the same instant", "release dates"]);
    let both = format!("simulate --from {} --scenario now --all --format json", example());
    of_queue(&sandbox, &both).refused(&["remove --all"]);
}

/// By default, scenarios are compared by six measures.
#[test]
fn scenarios_show_six_measures_or_all() {
    let sandbox = Sandbox::new();
    let line = format!("simulate --from {} --scenario now --scenario policy=easy", example());
    let table = |line: &str| {
        let text = of_queue(&sandbox, line).succeeds();
        let table = text.lines().skip_while(|line| !line.starts_with("scenario ")).take_while(|line| !line.is_empty());
        table.map(str::to_owned).collect::<Vec<_>>()
    };
    let (short, all) = (table(&line), table(&format!("{line} --all")));
    assert!(short[1].starts_with("policy ") && short[1].ends_with(" easy"), "{short:?}");
    let more = short.last().unwrap();
    assert_eq!((short.len(), more), (9, &format!("--all shows {} more measures", all.len() - 8)), "{all:?}");
}

#[test]
fn a_job_that_is_not_submitted_has_a_start_and_delays_others() {
    let sandbox = Sandbox::with_small();
    let from = example();
    let words = ["--from", &from, "--what-if", "nodes=1 ntasks=16 time=2h user=ann priority=900000"];
    let text = said(&sandbox, &words, 80).out;
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "job new: not submitted, of ann",
        "1 node, 16 processors in batch, limit 2:00:00",
        "why not now",
        "would start later, by at most",
    ] {
        assert!(flat.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    sandbox.write("job.sh", "#!/bin/bash\n#SBATCH -N 1 -n 16\n#SBATCH --time=2:00:00 --priority=900000\n#SBATCH -o out --user=ann\nsrun x\n");
    assert_eq!(said(&sandbox, &["--from", &from, "--what-if", "job.sh"], 80).out, text);
    let json = said(&sandbox, &[&words[..], &["--format", "json"]].concat(), 80).out;
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(document["others"]["later"].as_u64().unwrap() > 0 && document["waiting"].as_array().unwrap().len() == 1);
    // The last job of the queue delays no other job, and its assumed priority is stated.
    let last = said(&sandbox, &["--from", &from, "--what-if", "nodes=1 time=2h"], 80).out;
    assert!(last.contains("none would start later") && last.contains("the assumed priority is"), "{last}");
    for (words, part) in
        [("nods=4", "the options are"), ("partition=x", "there is no partition x; the partitions are batch")]
    {
        let said = said(&sandbox, &["--from", &from, "--what-if", words], 200);
        assert!(said.status == Some(1) && said.err.contains(part), "{}", said.err);
    }
}

/// Ann and bob each have pending jobs on a node of one processor. Ann has used processors. With the weight of the
/// cluster, the order is the present one until usage has grown. Without a weight of the fair share, bob comes later.
#[test]
fn scenarios_change_the_weight_and_the_shares_of_the_fair_share() {
    let sandbox = Sandbox::new();
    let save = |name: &str, text: &str| save(&sandbox, name, text);
    save("scontrol.nodes-d.txt", "NodeName=n0 CPUTot=1 CPUAlloc=1 State=ALLOCATED Partitions=p\n");
    save(
        "scontrol.config.txt",
        "PriorityType = priority/multifactor\nPriorityWeightFairShare = 1000\nPriorityCalcPeriod = 00:01:00\nPriorityFlags = \n",
    );
    let job = |id: u32, user: &str, priority: u32, more: &str| {
        format!(
            "JobId={id} JobName=j UserId={user}(1) Account=a Priority={priority} SubmitTime=1000 TimeLimit=00:10:00 Partition=p NumNodes=1-1 \
             NumCPUs=1 {more}\n"
        )
    };
    let runs = job(1, "ann", 500, "JobState=RUNNING StartTime=1000 RunTime=00:09:00 NodeList=n0");
    let waits = |id, user, priority| job(id, user, priority, "JobState=PENDING");
    // The fair share of ann is 0.5, and the fair share of bob is 1.
    save(
        "scontrol.jobs-d.txt",
        &(runs + &waits(2, "bob", 1100) + &waits(3, "bob", 1100) + &waits(4, "ann", 1000) + &waits(5, "ann", 1000)),
    );
    let of = |user: &str, shares: u32, usage: u32, factor: &str| {
        format!(
            "ClusterName=c Account=a UserName={user} Partition= SharesRaw/Norm/Level/Factor={shares}/0.5/2/{factor} \
             UsageRaw/Norm/Efctv={usage}.00/0.1/0.1 ParentAccount=\n"
        )
    };
    save("scontrol.assoc.txt", &(of("", 1, 1, "0.00") + &of("ann(1)", 1, 1, "0.50") + &of("bob(2)", 1, 0, "1.00")));
    let order = |scenario: &str| {
        let line = format!("simulate --from FOLDER --scenario now --scenario '{scenario}' --format json");
        let said: serde_json::Value = serde_json::from_str(&of_queue(&sandbox, &line).succeeds()).unwrap();
        let mut jobs: Vec<(f64, String)> = said["starts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| (job["starts"][1].as_f64().unwrap(), job["job"].as_str().unwrap().to_owned()))
            .collect();
        jobs.sort_by(|one, other| one.partial_cmp(other).unwrap());
        let policy = said["scenarios"][1]["policy"].as_str().unwrap().to_owned();
        (jobs.into_iter().map(|job| job.1).collect::<Vec<_>>().join(" "), policy, said["remarks"].to_string())
    };
    let (now, _, remarks) = order("policy=slurm");
    assert!(now == "2 3 4 5" && remarks.contains("PriorityWeightFairShare=1000"), "{now} {remarks}");
    // Ann has 500 points without the fair share, and bob has 100.
    let (without, policy, _) = order("policy=slurm[weight_fairshare=0]");
    assert!(
        without == "4 5 2 3" && policy.contains("weight_fairshare=0") && policy.contains("calc_period=60"),
        "{without} {policy}"
    );
    // After the first job of bob, bob has more usage than ann, so ann comes first.
    let (own, policy, _) = order("policy=slurm[weight_fairshare=1000]");
    assert!(own == "2 4 3 5" && policy.contains("weight_fairshare=1000"), "{own} {policy}");
    // With nearly all shares, ann comes first as soon as bob has usage.
    let (shares, policy, _) = order("user=ann shares=1000000");
    assert!(shares == "2 4 5 3" && policy.contains("weight_fairshare=1000"), "{shares} {policy}");
    let (_, _, remarks) = order("policy=slurm[weight_age=7,half_life=5]");
    assert!(remarks.contains("no effect: weight_age, half_life"), "{remarks}");
    of_queue(&sandbox, "simulate --from FOLDER --scenario 'user=eve shares=2'")
        .refused(&["there is no user eve", "ann, bob"]);
    save("scontrol.assoc.txt", "");
    of_queue(&sandbox, "simulate --from FOLDER --scenario 'policy=slurm[weight_fairshare=5]'")
        .refused(&["scontrol -o show assoc_mgr"]);
}

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
        serde_json::json!({"percent": 80, "calibrated": false, "known_starts": 0, "held": null})
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
        (of("start_early"), of("start"), of("start_late"))
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
