//! `simulate --from --scenario`: the queue under other rules.

use std::collections::BTreeMap;

use super::{example, of_queue, said, save, saved};
use crate::cli::sandbox::Sandbox;

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

/// A scenario changes single parameters of the cluster's policy. All other parameters keep the values of the cluster.
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

/// All scenarios use equal random run times, so a scenario that changes nothing has no difference in any simulation.
#[test]
fn differences_between_scenarios_have_ranges() {
    let sandbox = Sandbox::new();
    let line = "--scenario now --scenario policy=slurm --scenario nodes=+2 --scenario 'job=4108 limit=20min'";
    let line = format!("simulate --from {} {line}", example());
    let text = of_queue(&sandbox, &line).succeeds();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("\ndifferences from now\n") && words.contains("in 20 simulations"), "{text}");
    let said: serde_json::Value =
        serde_json::from_str(&of_queue(&sandbox, &format!("{line} --format json")).succeeds()).unwrap();
    let differences = &said["differences"];
    let waits: Vec<[f64; 3]> = differences["mean_wait"]
        .as_array()
        .unwrap()
        .iter()
        .map(|wait| ["early", "seconds", "late"].map(|key| wait[key].as_f64().unwrap()))
        .collect();
    assert!(waits[0].iter().all(|seconds| seconds.abs() < 1e-9), "{waits:?}");
    assert!(waits.iter().all(|[early, wait, late]| early <= wait && wait <= late), "{waits:?}");
    // Two more nodes make every wait shorter or leave it as it is.
    assert!(waits[1][0] < 0.0 && waits[1][2] < 0.0 && differences["mean_wait"][1]["certain"] == true, "{waits:?}");
    let jobs = differences["jobs"].as_array().unwrap();
    assert!(!jobs.is_empty() && jobs.iter().all(|job| job["start"].as_array().unwrap().len() == 3), "{jobs:?}");
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

/// Ann and bob each have pending jobs on a node of one processor. Ann has used processors. With the weight of the
/// cluster, the order is the present one until usage has grown, also in `makespan queue`. Without a weight of the fair share, bob comes later.
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
    // After the first job of bob, bob has more usage than ann, so ann comes first.
    let (now, policy, remarks) = order("policy=slurm");
    assert!(
        now == "2 4 3 5" && policy.contains("weight_fairshare=1000") && !remarks.contains("FairShare"),
        "{now} {policy} {remarks}"
    );
    let queue: serde_json::Value =
        serde_json::from_str(&said(&sandbox, &["--from", "saved", "--format", "json"], 80).out).unwrap();
    let waiting = queue["waiting"].as_array().unwrap().iter().map(|job| job["job"].as_str().unwrap());
    assert_eq!(waiting.collect::<Vec<_>>().join(" "), now);
    // Ann has 500 points without the fair share, and bob has 100.
    let (without, policy, _) = order("policy=slurm[weight_fairshare=0]");
    assert!(
        without == "4 5 2 3" && policy.contains("weight_fairshare=0") && policy.contains("calc_period=60"),
        "{without} {policy}"
    );
    // With nearly all shares, ann comes first as soon as bob has usage.
    let (shares, policy, _) = order("user=ann shares=1000000");
    assert!(shares == "2 4 5 3" && policy.contains("weight_fairshare=1000"), "{shares} {policy}");
    let (_, _, remarks) = order("policy=slurm[weight_age=7,half_life=5]");
    assert!(remarks.contains("no effect: weight_age, because"), "{remarks}");
    of_queue(&sandbox, "simulate --from FOLDER --scenario 'user=eve shares=2'")
        .refused(&["there is no user eve", "ann, bob"]);
    save("scontrol.assoc.txt", "");
    of_queue(&sandbox, "simulate --from FOLDER --scenario 'policy=slurm[weight_fairshare=5]'")
        .refused(&["scontrol -o show assoc_mgr"]);
}
