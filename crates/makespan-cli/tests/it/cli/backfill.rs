//! `makespan report --backfill`: advice about the parameters of Slurm's backfill.

use serde_json::Value;

use crate::cli::sandbox::{Sandbox, unwrapped};

/// A random log of some weeks, with long queues.
const GENERATE: &str = "generate lublin --jobs 700 --processors 64 --load 0.8 --requests 5 --output log.swf";

fn json(sandbox: &Sandbox, line: &str) -> Value {
    serde_json::from_str(&sandbox.makespan(&format!("{line} --format json")).succeeds()).unwrap()
}

/// Returns the mean wait and the longest wait under each policy, by the simulator itself.
fn waits(sandbox: &Sandbox, policies: &str) -> Vec<[f64; 2]> {
    let document = json(sandbox, &format!("simulate log.swf --policy {policies}"));
    let of = |one: &Value| ["mean", "max"].map(|key| one["metrics"]["wait"][key].as_f64().unwrap());
    document["policies"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn a_parameter_that_binds_is_named_with_the_change_that_a_simulation_has() {
    let sandbox = Sandbox::new();
    sandbox.makespan(GENERATE).succeeds();
    let line = "report log.swf --backfill --policy slurm[bf_max_job_test=1,default_queue_depth=1]";
    let document = json(&sandbox, line);
    let best = &document["best"];
    assert_eq!((best["parameter"].as_str(), best["present"].as_str()), (Some("bf_max_job_test"), Some("1")));
    let policies = format!("{},{}", document["policy"].as_str().unwrap(), best["policy"].as_str().unwrap());
    let [[before, longest], [after, longest_after]] = waits(&sandbox, &policies)[..] else { panic!("{policies}") };
    for (policy, longest) in [("present", longest), ("best", longest_after)] {
        let price = &document["price"][policy];
        let [own, wide] = ["longest_wait", "mean_wait_of_widest"].map(|key| price[key].as_f64().unwrap());
        assert!((own - longest).abs() < 1.0 && wide > 0.0 && wide <= own, "{price}");
    }
    let difference = best["mean_wait"]["seconds"].as_f64().unwrap();
    assert!((after - before - difference).abs() < 1e-6 * before, "{difference} instead of {}", after - before);
    for setting in document["settings"].as_array().unwrap() {
        let own = &setting["mean_wait"];
        let [early, by, late] = ["early", "seconds", "late"].map(|key| own[key].as_f64().unwrap());
        assert!(early <= by && by <= late && setting["value"] != setting["present"], "{setting}");
        assert!(by >= difference || !own["certain"].as_bool().unwrap(), "{setting} is better than the best one");
    }
    let text = sandbox.makespan(line).succeeds();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let flat = unwrapped(&text);
    let value = best["value"].as_str().unwrap();
    for part in [
        format!("bf_max_job_test binds: with {value} instead of 1, the mean wait changes by -"),
        format!("SchedulerParameters=..,bf_max_job_test={value}"),
        "block bootstrap, seed 1".to_owned(),
        "price: with it, the tenth of the jobs on the most processors waits ".to_owned(),
    ] {
        assert!(flat.contains(&part), "{part}: {text}");
    }
    // Equal seeds give equal bytes, and another seed changes only the ranges.
    assert_eq!(sandbox.makespan(line).succeeds(), text);
    let other = json(&sandbox, &format!("{line} --seed 2"));
    assert_eq!(other["settings"][0]["mean_wait"]["seconds"], document["settings"][0]["mean_wait"]["seconds"]);
    assert_ne!(other["settings"], document["settings"]);
}

#[test]
fn on_an_idle_machine_no_parameter_changes_the_mean_wait() {
    let sandbox = Sandbox::new();
    let job = |day: u32| format!("{0} {1} 0 60 1 -1 -1 1 120 -1 1 7 3 -1 1 4 -1 -1\n", day + 1, day * 86_400);
    sandbox.write("log.swf", format!("; MaxProcs: 8\n{}", (0..6).map(job).collect::<String>()));
    let text = unwrapped(&sandbox.makespan("report log.swf --backfill").succeeds());
    assert!(text.contains("no parameter changes the mean wait by more than its range"), "{text}");
    assert!(text.contains("resamples of 6 days") && text.contains("no effect: bf_window 720, 2880"), "{text}");
    sandbox.write("short.swf", format!("; MaxProcs: 8\n{}", (0..3).map(job).collect::<String>()));
    sandbox.makespan("report short.swf --backfill").refused(&["short.swf", "at least 4 days", "has jobs of 3 days"]);
    sandbox.makespan("report log.swf --backfill --policy easy").refused(&["--policy easy", "needs the policy slurm"]);
    sandbox.makespan("report log.swf --backfill --policy slurm[bf_windo=3]").refused(&["bf_windo"]);
    sandbox.makespan("report log.swf --backfill --format csv").refused(&["no CSV table"]);
    sandbox.makespan("report log.swf --backfill --month").misused(&["--month"]);
    sandbox.makespan("report log.swf --seed 3").misused(&["--backfill"]);
    sandbox.write("no-size.swf", job(0));
    sandbox.makespan("report no-size.swf --backfill").refused(&["no-size.swf", "--processors"]);
}
