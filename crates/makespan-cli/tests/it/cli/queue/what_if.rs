//! `--what-if`: a job that is not submitted.

use super::{example, said};
use crate::cli::sandbox::{Sandbox, unwrapped};

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
    let of_script = said(&sandbox, &["--from", &from, "--what-if", "job.sh"], 80).out;
    assert_eq!(of_script, text.replace("job new: not submitted", "job new: job.sh"));
    let json = said(&sandbox, &[&words[..], &["--format", "json"]].concat(), 80).out;
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let others = &document["others"];
    assert!(others["later"].as_u64().unwrap() > 0 && document["waiting"].as_array().unwrap().len() == 1);
    assert_eq!(others["jobs"].as_array().unwrap().len() as u64, others["later"].as_u64().unwrap());
    for delay in others["jobs"].as_array().unwrap().iter().chain([&others["mean_wait"]]) {
        let [early, by, late] = ["early", "seconds", "late"].map(|key| delay[key].as_f64().unwrap());
        assert!(
            early <= by && by <= late && delay["certain"] == (early.round() > 0.0 || late.round() < 0.0),
            "{delay}"
        );
    }
    assert!(flat.contains("between") && flat.contains("mean wait "), "{text}");
    let calibrated = said(&sandbox, &[&words[..], &["--history", "history.db"]].concat(), 80).out;
    assert!(calibrated.contains("the ranges are not yet calibrated"), "{calibrated}");
    // The last job of the queue delays no other job, and its assumed priority is stated.
    let last = said(&sandbox, &["--from", &from, "--what-if", "nodes=1 time=2h"], 80).out;
    assert!(last.contains("none would start later") && last.contains("the assumed priority is"), "{last}");
    for (words, part) in [
        ("nods=4", "the options are"),
        ("partition=x", "there is no partition x; the partitions are batch"),
        ("/none/job", "--what-if /none/job: there is no such file"),
        ("none.sh", "--what-if none.sh: there is no such file"),
        ("deadline=soon", "deadline: `soon` is not an instant"),
    ] {
        let said = said(&sandbox, &["--from", &from, "--what-if", words], 200);
        assert!(said.status == Some(1) && said.err.contains(part), "{}", said.err);
    }
}

#[test]
fn a_script_may_hold_the_job_or_state_a_deadline() {
    let sandbox = Sandbox::with_small();
    for (option, part) in [
        ("--hold", "it is held by its user"),
        ("--deadline=now+1hour", "cannot end by its deadline"),
        ("--deadline=now+2weeks --spread-job", "ignored: --spread-job"),
    ] {
        sandbox.write("job.sh", format!("#!/bin/sh\n#SBATCH -N 1 --time=2:00:00 {option}\nsrun x\n"));
        let text = unwrapped(&said(&sandbox, &["--from", &example(), "--what-if", "job.sh"], 80).succeeds());
        assert!(text.contains(part) && !text.contains("scontrol release"), "{option}: {text}");
        assert_eq!(text.contains("ignored"), option.contains("spread"), "{text}");
    }
}
