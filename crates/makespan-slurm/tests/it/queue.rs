//! Tests that queues of all versions are parsed, and that forecasts of them are consistent.

use crate::fakes;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use fakes::Fakes;
use makespan_slurm::forecast::{Forecast, ForecastOptions, RunTimes, forecast, sizes};
use makespan_slurm::queue::{ClusterOutput, Condition, Queue, Texts};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns recorded outputs of a real 22.05 with four nodes of four processors. One node is drained.
fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/queue-22.05")
}

fn named<'a>(queue: &Queue, forecast: &'a Forecast, name: &str) -> &'a makespan_slurm::forecast::ExpectedJob {
    let found = forecast.expected.iter().find(|one| queue.jobs[one.job].name == name);
    found.unwrap_or_else(|| panic!("{name} waits"))
}

fn text(name: &str) -> String {
    fs::read_to_string(recorded().join(name)).unwrap()
}

#[test]
fn a_recorded_queue_is_read_whole() {
    let queue = Queue::from_folder(&recorded(), None).unwrap();
    assert_eq!((queue.nodes.len(), queue.partitions.len(), queue.reservations.len()), (4, 1, 1));
    assert_eq!(queue.jobs.iter().filter(|job| job.run.is_some()).count(), 3);
    let find = |name: &str| queue.jobs.iter().find(|job| job.name == name).unwrap();
    let mold = find("mold");
    assert_eq!((mold.request.min_nodes, mold.request.max_nodes), (1, Some(3)));
    assert!(find("held").is_held && find("wide").request.max_nodes == Some(3));
    assert_eq!(find("dep").waits_for[0].condition, Condition::Succeeded);
    assert_eq!(find("feat").request.features_text, "big");
    let tasks: Vec<&str> = queue.jobs.iter().filter(|job| job.name == "arr").map(|job| job.shown.as_str()).collect();
    assert_eq!(tasks.len(), 6, "{tasks:?}");
    assert!(queue.past.iter().any(|run| run.name == "quick-1"), "{:?}", queue.past);
    assert!(queue.jobs.iter().any(|job| job.name == "odd|name = \"é\" x=1"));
    assert!(queue.hidden.is_empty(), "{:?}", queue.hidden);
    // Missing data are reported.
    assert!(queue.past_missing.as_ref().is_some_and(|text| text.contains("sacct.history.txt is missing")));
}

#[test]
fn json_says_the_same_as_text() {
    let of_text = Texts::default()
        .with(ClusterOutput::Nodes, text("scontrol.nodes-d.txt"))
        .with(ClusterOutput::Jobs, text("scontrol.jobs-d.txt"));
    let folder = tempfile::tempdir().unwrap();
    for name in ["squeue.json.gz", "scontrol.nodes-d.txt"] {
        fs::copy(recorded().join(name), folder.path().join(name)).unwrap();
    }
    let text = of_text.queue(None).unwrap();
    let json = Queue::from_folder(folder.path(), Some(text.now)).unwrap();
    let by_name = |queue: &Queue| {
        let mut jobs: Vec<_> = queue
            .jobs
            .iter()
            .map(|job| {
                (
                    job.shown.clone(),
                    job.name.clone(),
                    job.limit,
                    job.request.min_nodes,
                    job.request.max_nodes,
                    job.is_held,
                )
            })
            .collect();
        jobs.sort();
        jobs
    };
    assert_eq!(by_name(&text), by_name(&json));
}

#[test]
fn every_job_has_a_start_or_a_reason_that_somebody_can_remove() {
    let queue = Queue::from_folder(&recorded(), None).unwrap();
    let forecast = forecast(&queue, &ForecastOptions::default());
    for one in &forecast.expected {
        let job = &queue.jobs[one.job];
        assert!(!one.why().text.is_empty(), "{}", job.name);
        assert!(one.outlook.start.is_some() || one.why().remedy.is_some(), "{}: {:?}", job.name, one.why());
        if let (Some(start), Some(early), Some(late)) = (one.outlook.start, one.outlook.early, one.outlook.late) {
            assert!(early <= late && start >= queue.now, "{}: {one:?}", job.name);
        }
    }
    let kind = |name: &str| named(&queue, &forecast, name).why().kind.name();
    assert_eq!((kind("held"), kind("later"), kind("dep")), ("held", "begin-time", "dependency"));
    assert_eq!((kind("huge"), kind("drained"), kind("wide")), ("nodes", "nodes", "resources"));
    for (name, needle) in
        [("huge", "disk fails"), ("drained", "n3"), ("dep", "job"), ("wide", "3 nodes with 4 processors")]
    {
        let why = named(&queue, &forecast, name).why();
        let all = format!("{} {}", why.text, why.remedy.as_deref().unwrap_or_default());
        assert!(all.contains(needle), "{name}: {all}");
    }
    assert!(
        named(&queue, &forecast, "held").outlook.start.is_none()
            && named(&queue, &forecast, "huge").outlook.start.is_none()
    );
}

#[test]
fn a_job_with_a_range_of_nodes_is_told_of_other_sizes() {
    let queue = Queue::from_folder(&recorded(), None).unwrap();
    let job = queue.jobs.iter().position(|job| job.name == "mold").unwrap();
    let sizes = sizes(&queue, job, &ForecastOptions::default());
    assert_eq!(sizes.iter().map(|size| size.nodes).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(sizes.windows(2).all(|pair| pair[0].start <= pair[1].start), "fewer nodes are free earlier: {sizes:?}");
    let rigid = queue.jobs.iter().position(|job| job.name == "wide").unwrap();
    assert!(makespan_slurm::forecast::sizes(&queue, rigid, &ForecastOptions::default()).is_empty());
}

#[test]
fn saved_outputs_that_are_missing_or_torn_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = |folder: &Path| Queue::from_folder(folder, None).unwrap_err().to_string();
    assert!(error(&folder.path().join("nowhere")).contains("cannot read"));
    assert!(error(folder.path()).contains("no nodes") && error(folder.path()).contains("scontrol -o -d show nodes"));
    fs::copy(recorded().join("scontrol.nodes-d.txt"), folder.path().join("scontrol.nodes-d.txt")).unwrap();
    assert!(error(folder.path()).contains("no jobs"));
    // The first JSON file is truncated.
    fs::write(folder.path().join("squeue.json"), r#"{"jobs": [{"job_id": 1, "job_sta"#).unwrap();
    let said = error(folder.path());
    assert!(said.contains("squeue.json") && said.contains("incomplete"), "{said}");
    // The second JSON file has an unknown structure.
    fs::write(folder.path().join("squeue.json"), r#"{"jobs": {"1": {}}}"#).unwrap();
    assert!(error(folder.path()).contains("no list `jobs`"));
    // The last file is compressed, and was cut off.
    fs::remove_file(folder.path().join("squeue.json")).unwrap();
    let whole = fs::read(recorded().join("squeue.json.gz")).unwrap();
    fs::write(folder.path().join("squeue.json.gz"), &whole[..whole.len() / 2]).unwrap();
    assert!(error(folder.path()).contains("squeue.json.gz"));
}

#[test]
fn the_numbers_of_newer_versions_are_understood() {
    let number = |value: i64| format!(r#"{{"set": true, "infinite": false, "number": {value}}}"#);
    let json = format!(
        r#"{{"last_update": {}, "jobs": [{{"job_id": 5, "name": "a", "user_name": "u", "job_state": ["PENDING"], "partition": "p",
            "cpus": {}, "node_count": {}, "max_nodes": {}, "tres_req_str": "cpu=8,mem=8G,node=2,gres/gpu=4", "time_limit": {},
            "memory_per_cpu": {}, "eligible_time": {}, "priority": {}, "tres_per_node": "gres/gpu:2", "licenses": "matlab:3",
            "dependency": "", "het_job_id": {}}}]}}"#,
        number(1000),
        number(8),
        number(2),
        number(4),
        number(30),
        number(1024),
        number(900),
        number(7),
        number(0)
    );
    let texts =
        Texts::default().with(ClusterOutput::Nodes, text("scontrol.nodes-d.txt")).with(ClusterOutput::JobsJson, json);
    let queue = texts.queue(None).unwrap();
    let (job, request) = (&queue.jobs[0], &queue.jobs[0].request);
    assert_eq!((queue.now, job.limit, job.eligible, job.priority), (1000, Some(1800), Some(900), 7));
    assert_eq!((request.min_nodes, request.max_nodes, request.cpus), (2, Some(4), 8));
    assert_eq!((request.gres[0].count, request.licences[0].1), (2, 3));
}

/// Saved jobs may lack most fields. If no field states the instant of the queue, the error names the part of the queue
/// that should state it.
#[test]
fn a_queue_without_an_instant_asks_for_the_instant() {
    let node = "NodeName=n0 CPUTot=8 State=IDLE Partitions=p\n";
    let json =
        r#"{"jobs": [{"job_id": 101, "user_name": "a", "partition": "p", "job_state": ["PENDING"], "cpus": 4}]}"#;
    let text = "JobId=101 JobName=j UserId=a(1) JobState=PENDING Partition=p NumNodes=1 NumCPUs=4\n";
    for (part, jobs) in [(ClusterOutput::JobsJson, json), (ClusterOutput::Jobs, text)] {
        let texts = Texts::default().with(ClusterOutput::Nodes, node).with(part, jobs);
        let (named, problem) = texts.queue(None).unwrap_err();
        assert!(named == part && problem.contains("state the instant (--at"), "{named:?}: {problem}");
        assert_eq!(texts.queue(Some(1000)).unwrap().jobs.len(), 1, "{part:?}");
    }
}

#[test]
fn limits_licences_and_arrays_hold_jobs_back_until_others_end() {
    let node = "NodeName=n0 CPUTot=8 State=IDLE Partitions=p\n";
    let job = |id: u32, more: &str| {
        format!(
            "JobId={id} JobName=j UserId=u(1) Priority=5 TimeLimit=00:10:00 Partition=p NumNodes=1 NumCPUs=1 {more}\n"
        )
    };
    let runs = "JobState=RUNNING StartTime=100 RunTime=00:01:40 NodeList=n0 Licenses=x:2 QOS=q";
    let jobs = job(1, runs)
        + &job(2, "JobState=PENDING Licenses=x:1")
        + &job(3, "JobState=PENDING QOS=q")
        + &job(4, "JobState=PENDING");
    let texts = Texts::default()
        .with(ClusterOutput::Nodes, node)
        .with(ClusterOutput::Jobs, jobs)
        .with(ClusterOutput::Licences, "LicenseName=x Total=2 Used=2 Free=0\n")
        .with(ClusterOutput::Qos, "Name|MaxJobsPU\nq|1\n");
    let queue = texts.queue(None).unwrap();
    let forecast = forecast(&queue, &ForecastOptions { times: RunTimes::Limits, ..ForecastOptions::default() });
    let starts: Vec<_> = forecast.expected.iter().map(|one| (one.outlook.start, one.why().kind.name())).collect();
    // The running job ends at its limit, 700.
    assert_eq!(starts, [(Some(700), "limit"), (Some(700), "limit"), (Some(200), "next")]);
    assert!(forecast.expected[0].why().text.contains("licence x: 2 of 2"), "{}", forecast.expected[0].why().text);
    assert!(forecast.expected[1].why().text.contains("user u in QOS q"), "{}", forecast.expected[1].why().text);
}

#[test]
fn a_short_job_fills_the_gap_before_one_that_comes_first_and_a_long_one_does_not() {
    let nodes =
        "NodeName=n0 CPUTot=4 State=IDLE Partitions=p\nNodeName=n1 CPUTot=4 CPUAlloc=4 State=ALLOCATED Partitions=p\n";
    let job = |id: u32, priority: u32, limit: u32, nodes: u32, more: &str| {
        let cpus = nodes * 4;
        format!(
            "JobId={id} JobName=j UserId=u(1) Priority={priority} TimeLimit=00:{limit}:00 Partition=p NumNodes={nodes}-{nodes} NumCPUs={cpus} \
             MinCPUsNode=4 {more}\n"
        )
    };
    let jobs = job(1, 9, 10, 1, "JobState=RUNNING StartTime=1000 RunTime=00:00:00 NodeList=n1")
        + &job(2, 8, 20, 2, "JobState=PENDING")
        + &job(3, 7, 30, 1, "JobState=PENDING")
        + &job(4, 6, 9, 1, "JobState=PENDING");
    let queue = Texts::default().with(ClusterOutput::Nodes, nodes).with(ClusterOutput::Jobs, jobs).queue(None).unwrap();
    let forecast = forecast(&queue, &ForecastOptions { times: RunTimes::Limits, ..ForecastOptions::default() });
    let starts: Vec<_> = forecast.expected.iter().map(|one| one.outlook.start.unwrap() - 1000).collect();
    assert_eq!(starts, [600, 1800, 0]);
    let why = forecast.expected[1].why();
    assert_eq!(why.remedy.as_deref(), Some("with a time limit of at most 9 min it could start now"), "{why:?}");
    assert!(why.text.contains(" on for job 2,"), "{why:?}");
}

/// Returns fakes of all Slurm programs, each of which records its calls.
fn recording() -> Fakes {
    let mut fakes = Fakes::new();
    for name in ["sbatch", "srun", "squeue", "sinfo", "scancel", "sacct", "sacctmgr", "salloc", "scontrol"] {
        let answer = |part: &str| fs::read_to_string(recorded().join(part)).unwrap();
        let body = match name {
            "scontrol" => format!(
                "case \"$*\" in\n*nodes) /bin/cat <<'END'\n{}END\n;;\n*jobs) /bin/cat <<'END'\n{}END\n;;\n*config) /bin/cat <<'END'\n{}END\n;;\n\
                 *partitions) /bin/cat <<'END'\n{}END\n;;\nesac",
                answer("scontrol.nodes-d.txt"),
                answer("scontrol.jobs-d.txt"),
                answer("scontrol.config.txt"),
                answer("scontrol.partitions.txt"),
            ),
            "sacct" | "sacctmgr" => "echo 'Slurm accounting storage is disabled' >&2; exit 1".to_owned(),
            _ => String::new(),
        };
        fakes = fakes.with(name, &format!("echo \"{name} $*\" >> \"${{0%/*}}/called\"\n{body}"));
    }
    fakes
}

#[test]
fn no_command_changes_anything_and_a_cluster_without_accounts_is_read() {
    let fakes = recording();
    let queue = Queue::read(&fakes.commands(), 7).unwrap();
    assert!(
        queue.jobs.len() > 10 && queue.past_missing.as_ref().is_some_and(|text| text.contains("disabled")),
        "{:?}",
        queue.past_missing
    );
    let called = fs::read_to_string(fakes.path().join("called")).unwrap();
    for line in called.lines() {
        let mut words = line.split(' ').filter(|word| !word.starts_with('-'));
        let (program, verb) = (words.next().unwrap(), words.next().unwrap_or_default());
        let reads = match program {
            "scontrol" | "sacctmgr" => verb == "show",
            program => ["squeue", "sacct", "sinfo"].contains(&program),
        };
        assert!(reads, "`{line}` may change something");
    }
    assert!(called.lines().count() >= 8, "{called}");
}

#[test]
fn commands_that_are_missing_or_refuse_are_clear_words() {
    let error = Queue::read(&Fakes::new().commands(), 0).unwrap_err().to_string();
    assert!(error.contains("scontrol") && error.contains("PATH"), "{error}");
    let fakes = Fakes::new().with("scontrol", "echo 'slurm_load_jobs error: Access/permission denied' >&2; exit 1");
    let error = Queue::read(&fakes.commands(), 0).unwrap_err().to_string();
    assert!(error.contains("denied"), "{error}");
    let fakes = Fakes::new().with("scontrol", "echo welcome to our cluster");
    assert!(Queue::read(&fakes.commands(), 0).unwrap_err().to_string().contains("cannot be understood"));
}

#[test]
fn what_others_hold_in_secret_is_held_all_the_same() {
    let node = "NodeName=n0 CPUTot=4 CPUAlloc=4 State=ALLOCATED Partitions=p\n";
    let job = "JobId=2 JobName=b UserId=u(1) Priority=8 JobState=PENDING SubmitTime=50 TimeLimit=00:10:00 Partition=p NumNodes=1 NumCPUs=4\n";
    let queue =
        Texts::default().with(ClusterOutput::Nodes, node).with(ClusterOutput::Jobs, job).queue(Some(100)).unwrap();
    let forecast = forecast(&queue, &ForecastOptions::default());
    assert_eq!(queue.hidden[0].cpus, 4);
    assert!(
        forecast.expected[0].outlook.start.unwrap() > 100 && forecast.remarks[0].contains("may not see"),
        "{forecast:?}"
    );
}

#[test]
fn the_queue_is_an_instance_with_what_runs() {
    let queue = Queue::from_folder(&recorded(), None).unwrap();
    let present = queue.present().unwrap();
    assert_eq!(present.running.len(), 3);
    assert_eq!(present.jobs.len(), present.instance.jobs().len());
    assert_eq!(present.first_processor.iter().filter(|first| first.is_none()).count(), 1, "the drained node is away");
    for (task, processors) in &present.running {
        let run = queue.jobs[present.jobs[task.index()]].run.as_ref().unwrap();
        assert_eq!(processors.len(), run.holds.iter().map(|hold| hold.cpus).sum::<u32>());
    }
    assert!(present.remarks.iter().any(|remark| remark.contains("held")), "{:?}", present.remarks);
}

#[test]
fn what_an_instance_cannot_say_is_said() {
    let job = |id: u32, more: &str| {
        format!(
            "JobId={id} JobName=j{id} UserId=u(1) Priority=9 JobState=PENDING SubmitTime=50 TimeLimit=00:10:00 Partition=p NumNodes=1 \
             NumCPUs=1 {more}\n"
        )
    };
    let jobs = [
        job(1, "Reason=JobHeldUser"),
        job(2, "Dependency=afterok:1(unfulfilled)"),
        job(3, "Dependency=afterany:4(unfulfilled) Features=ib&(a|b) Licenses=matlab:2"),
        job(4, ""),
        job(5, "Dependency=afternotok:4(unfulfilled)"),
        job(6, "Dependency=afterany:5(unfulfilled)"),
        job(7, "Licenses=ansys:1"),
    ];
    let texts = Texts::default()
        .with(
            ClusterOutput::Nodes,
            "NodeName=n0 CPUTot=4 State=IDLE Partitions=p AvailableFeatures=ib,a ActiveFeatures=ib,a\n",
        )
        .with(ClusterOutput::Licences, "LicenseName=matlab Total=3 Used=0 Free=3 Reserved=0 Remote=no\n")
        .with(ClusterOutput::Jobs, jobs.concat());
    let present = texts.queue(Some(100)).unwrap().present().unwrap();
    let instance = &present.instance;
    let names: Vec<&str> = instance.jobs().iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["3", "4"], "{:?}", present.remarks);
    assert_eq!(instance.jobs()[0].after.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), ["4"]);
    let submission = instance.jobs()[0].submission.as_deref().unwrap();
    assert_eq!((submission.constraint.as_deref(), submission.priority), (Some("ib&(a|b)"), Some(9)));
    assert_eq!(instance.platform().licences().amount("matlab"), 3);
    let told = present.remarks.join("; ");
    for part in
        ["held by its user", "jobs 2, 6: left out, it waits for a job that is left out", "to fail", "no licence ansys"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Returns a saved text in which parts are removed, doubled or replaced.
fn mangled(text: &str, cuts: &[(usize, usize, u8)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for &(at, length, byte) in cuts {
        let at = at % bytes.len().max(1);
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, [byte]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_printed_there_is_no_panic(cuts in prop::collection::vec((0_usize..20_000, 0_usize..60, any::<u8>()), 1..40)) {
        let texts = Texts::default()
            .with(ClusterOutput::Nodes, mangled(&text("scontrol.nodes-d.txt"), &cuts[..1]))
            .with(ClusterOutput::Jobs, mangled(&text("scontrol.jobs-d.txt"), &cuts))
            .with(ClusterOutput::Partitions, mangled(&text("scontrol.partitions.txt"), &cuts[..1]))
            .with(ClusterOutput::Config, mangled(&text("scontrol.config.txt"), &cuts))
            .with(ClusterOutput::Reservations, mangled(&text("scontrol.reservations.txt"), &cuts[..1]));
        if let Ok(queue) = texts.queue(None) {
            let forecast = forecast(&queue, &ForecastOptions { draws: 2, ..ForecastOptions::default() });
            prop_assert_eq!(forecast.expected.len(), queue.jobs.iter().filter(|job| job.run.is_none()).count());
            let _ = queue.present();
        }
    }

    #[test]
    fn no_node_gives_more_than_it_has(
        jobs in prop::collection::vec((1_u32..4, 1_u32..5, 1_u32..60, 1_u32..100), 1..40), nodes in 1_u32..6,
    ) {
        let node = |node| format!("NodeName=n{node} CPUTot=4 State=IDLE Partitions=p\n");
        let job = |(id, (count, each, limit, priority)): (usize, (u32, u32, u32, u32))| {
            let cpus = count * each;
            format!(
                "JobId={} JobName=j UserId=u(1) Priority={priority} JobState=PENDING SubmitTime=10 TimeLimit=00:{limit:02}:00 Partition=p \
                 NumNodes={count}-{count} NumCPUs={cpus} MinCPUsNode={each}\n", id + 1
            )
        };
        let texts = Texts::default()
            .with(ClusterOutput::Nodes, (0..nodes).map(node).collect::<String>())
            .with(ClusterOutput::Jobs, jobs.iter().copied().enumerate().map(job).collect::<String>());
        let queue = texts.queue(Some(1000)).unwrap();
        let forecast = forecast(&queue, &ForecastOptions { times: RunTimes::Limits, ..ForecastOptions::default() });
        // The use of a node is largest at some start, so checking all starts is sufficient.
        for one in forecast.expected.iter().filter(|one| one.outlook.start.is_some()) {
            let at = one.outlook.start.unwrap();
            for node in 0..queue.nodes.len() {
                let held: u64 = forecast.expected.iter()
                    .filter(|other| other.outlook.start.is_some_and(|start| start <= at && at < start + other.lasts))
                    .flat_map(|other| other.nodes.iter().filter(|one| one.0 == node))
                    .map(|one| u64::from(one.1)).sum();
                prop_assert!(held <= 4, "{held} processors of node {node} at {at}");
            }
        }
        let fits = |job: usize| queue.jobs[job].request.min_nodes <= u64::from(nodes);
        prop_assert!(forecast.expected.iter().all(|one| one.outlook.start.is_some() == fits(one.job)));
    }

    #[test]
    fn the_same_seed_gives_the_same_spread(seed in any::<u64>()) {
        let queue = Queue::from_folder(&recorded(), None).unwrap();
        let options = ForecastOptions { seed, ..ForecastOptions::default() };
        prop_assert_eq!(forecast(&queue, &options), forecast(&queue, &options));
    }
}

/// Changes the form of a value as versions do: numbers become bare, texts or `{set, infinite, number}`, and words
/// become single or lists.
fn reshaped(key: &str, value: &Value, draw: &mut impl FnMut() -> u8) -> Value {
    let wrapped = |set: bool, number: &Value| json!({ "set": set, "infinite": false, "number": number });
    let number = |number: &Value, form: u8| match form {
        0 => number.clone(),
        1 => Value::String(number.to_string()),
        _ => wrapped(true, number),
    };
    match value {
        Value::Object(own) if own.contains_key("set") && own.contains_key("number") => {
            match (own["infinite"] == true, own["set"] == true) {
                (false, true) => number(&own["number"], draw() % 3),
                (false, false) if draw().is_multiple_of(2) => Value::Null,
                _ => value.clone(),
            }
        }
        Value::Number(_) => number(value, draw() % 3),
        Value::Null if draw().is_multiple_of(2) => wrapped(false, &json!(0)),
        Value::String(text)
            if matches!(key, "job_state" | "state" | "partition" | "state_reason") && draw().is_multiple_of(2) =>
        {
            json!([text])
        }
        Value::Array(words) if words.iter().all(Value::is_string) && draw().is_multiple_of(2) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Value::String(words.join(if matches!(key, "job_state" | "state") { "+" } else { "," }))
        }
        // Words in a list stay in a list.
        Value::Array(words) if words.iter().all(Value::is_string) => value.clone(),
        Value::Array(all) => all.iter().map(|one| reshaped("", one, draw)).collect(),
        Value::Object(all) => all
            .iter()
            .map(|(key, value)| (key.clone(), reshaped(key, value, draw)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// Reads a recorded JSON file, which may be compressed.
fn document(version: &str, name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/queue-{version}/{name}.gz"));
    serde_json::from_reader(flate2::read::GzDecoder::new(fs::File::open(path).unwrap())).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Checks that the form in which a version writes a value does not matter.
    #[test]
    fn the_shape_of_json_does_not_matter(version in 0_usize..3, forms in prop::collection::vec(any::<u8>(), 1..500)) {
        let version = ["22.05", "24.11", "26.05"][version];
        let jobs = document(version, "squeue.json");
        let mut next = 0;
        let mut draw = || {
            next += 1;
            forms[next % forms.len()].wrapping_add((next / forms.len()) as u8)
        };
        let other = reshaped("", &jobs, &mut draw);
        let nodes = if version == "22.05" { None } else { Some(document(version, "scontrol.nodes.json")) };
        let texts = |jobs: &Value, nodes: Option<&Value>| {
            let texts = Texts::default().with(ClusterOutput::JobsJson, jobs.to_string());
            match nodes {
                Some(nodes) => texts.with(ClusterOutput::NodesJson, nodes.to_string()),
                None => texts.with(ClusterOutput::Nodes, text("scontrol.nodes-d.txt")),
            }
        };
        let own = texts(&jobs, nodes.as_ref()).queue(None).unwrap();
        let again = texts(&other, nodes.as_ref().map(|nodes| reshaped("", nodes, &mut draw)).as_ref()).queue(None).unwrap();
        prop_assert!(own.jobs.len() > 10 && own.jobs.iter().any(|job| job.run.as_ref().is_some_and(|run| !run.holds.is_empty())));
        prop_assert_eq!(&own.remarks, &again.remarks);
        prop_assert_eq!(own.jobs.len(), again.jobs.len());
        for (one, other) in own.jobs.iter().zip(&again.jobs) {
            prop_assert_eq!(one, other);
        }
        prop_assert_eq!((own.now, &own.hidden, &own.past, &own.remarks), (again.now, &again.hidden, &again.past, &again.remarks));
        let plain = |queue: &Queue| -> Vec<_> {
            let of = |node: &makespan_slurm::Node| {
                (node.name.clone(), node.usable_cpus, node.allocated_cpus, node.memory, node.features.clone(), node.state.clone(),
                 node.partitions.clone(), node.weight)
            };
            queue.nodes.iter().map(of).collect()
        };
        prop_assert_eq!(plain(&own), plain(&again));
    }
}

/// Checks that the text and the JSON output of each version describe the same queue, in which every job has an expected
/// start or a reason.
#[test]
fn later_versions_say_the_same_in_text_and_in_json() {
    for version in ["24.11", "26.05"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/queue-{version}"));
        let of_text = Queue::from_folder(&folder, None).unwrap();
        let texts = Texts::default()
            .with(ClusterOutput::NodesJson, document(version, "scontrol.nodes.json").to_string())
            .with(ClusterOutput::JobsJson, document(version, "squeue.json").to_string());
        let of_json = texts.queue(Some(of_text.now)).unwrap();
        let plain = |queue: &Queue| -> Vec<_> {
            let mut all: Vec<_> = queue
                .jobs
                .iter()
                .map(|job| {
                    (
                        job.shown.clone(),
                        job.run.is_some(),
                        job.limit,
                        job.request.min_nodes,
                        job.request.cpus,
                        job.deadline,
                    )
                })
                .collect();
            all.sort();
            all
        };
        assert_eq!(plain(&of_text), plain(&of_json), "{version}");
        assert_eq!((of_text.reservations.len(), of_text.licences.len()), (2, 0), "{version}");
        for one in forecast(&of_text, &ForecastOptions::default()).expected {
            assert!(one.outlook.start.is_some() || !one.why().text.is_empty(), "{version}: {:?}", one.why());
        }
        assert!(of_text.present().is_ok(), "{version}");
    }
}

#[test]
fn a_compressed_file_is_read_as_the_plain_one() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["scontrol.nodes-d.txt", "scontrol.jobs-d.txt"] {
        let file = fs::File::create(folder.path().join(format!("{name}.gz"))).unwrap();
        let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        out.write_all(text(name).as_bytes()).unwrap();
        out.finish().unwrap();
    }
    let plain = Queue::from_folder(&recorded(), None).unwrap();
    let compressed = Queue::from_folder(folder.path(), None).unwrap();
    assert_eq!((plain.now, plain.jobs), (compressed.now, compressed.jobs));
}

#[test]
fn a_controller_that_says_nothing_is_asked_once() {
    let fakes = Fakes::new().with("scontrol", "echo x >> \"${0%/*}/called\"; exec /bin/sleep 60");
    let commands =
        fakes.commands().with_limit(std::time::Duration::from_millis(300)).with_patience(std::time::Duration::ZERO);
    let error = Queue::read(&commands, 7).unwrap_err().to_string();
    assert!(error.contains("scontrol show config"), "{error}");
    assert_eq!(fs::read_to_string(fakes.path().join("called")).unwrap().lines().count(), 1);
}

/// After the first query without an answer, no other part is queried.
#[test]
fn a_controller_that_is_down_is_asked_once() {
    for message in ["Unable to contact slurm controller (connect failure)", "Socket timed out on send/recv operation"] {
        let script = format!("echo \"$*\" >> \"${{0%/*}}/called\"; echo 'slurm_load error: {message}' >&2; exit 1");
        let fakes = Fakes::new().with("scontrol", &script).with("sacctmgr", &script).with("sacct", &script);
        let error = Queue::read(&fakes.commands().with_patience(std::time::Duration::ZERO), 7).unwrap_err().to_string();
        assert!(error.contains("scontrol show config") && error.contains(message), "{error}");
        assert_eq!(fs::read_to_string(fakes.path().join("called")).unwrap(), "show config\n");
    }
}

/// All queries share one time limit: after it, a program is killed at once.
#[test]
fn queries_share_one_time_limit() {
    let fakes = Fakes::new().with("scontrol", "exec /bin/sleep 60");
    let commands = fakes.commands().with_limit(std::time::Duration::from_millis(300));
    let commands = commands.with_patience(std::time::Duration::ZERO).sharing_limits();
    let error = || commands.run(makespan_slurm::Program::Scontrol, ["show", "jobs"]).unwrap_err().to_string();
    assert!(!error().contains("within 0 s"));
    assert!(error().contains("did not end within 0 s"), "{}", error());
}

/// Checks for each recorded version that the JSON output alone and the text with JSON give the same resources of running jobs.
#[test]
fn json_alone_tells_what_running_jobs_hold() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut seen = 0;
    for folder in fs::read_dir(recorded).unwrap().map(|entry| entry.unwrap().path()) {
        let copy = tempfile::tempdir().unwrap();
        let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap());
        for file in files.filter(|file| !file.file_name().to_string_lossy().starts_with("scontrol.jobs")) {
            fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
        }
        let [with_text, alone] =
            [folder.as_path(), copy.path()].map(|folder| Queue::from_folder(folder, None).unwrap());
        let holds = |queue: &Queue| {
            let of = |job: &makespan_slurm::queue::QueueJob| {
                let holds = job.run.as_ref()?.holds.iter();
                let each = holds.map(|hold| {
                    let gres: Vec<(String, u64)> = hold.gres.iter().map(|one| (one.name.clone(), one.count)).collect();
                    (queue.nodes[hold.node].name.clone(), hold.cpus, gres)
                });
                Some((job.shown.clone(), each.collect::<Vec<_>>()))
            };
            queue.jobs.iter().filter_map(of).collect::<BTreeMap<_, _>>()
        };
        let (expected, found) = (holds(&with_text), holds(&alone));
        seen += expected.values().flatten().filter(|one| !one.2.is_empty()).count();
        assert_eq!(found, expected, "{}", folder.display());
        let hidden: Vec<u32> = alone.hidden.iter().map(|one| one.cpus).collect();
        let with: Vec<u32> = with_text.hidden.iter().map(|one| one.cpus).collect();
        assert_eq!(hidden, with, "{}", folder.display());
    }
    assert!(seen > 0, "some hold GPUs");
}

#[test]
fn a_job_that_is_listed_twice_is_one_job() {
    let once = Texts::default()
        .with(ClusterOutput::Nodes, text("scontrol.nodes-d.txt"))
        .with(ClusterOutput::Jobs, text("scontrol.jobs-d.txt"));
    let jobs = text("scontrol.jobs-d.txt").repeat(2);
    let twice =
        Texts::default().with(ClusterOutput::Nodes, text("scontrol.nodes-d.txt")).with(ClusterOutput::Jobs, jobs);
    let [once, twice] = [once, twice].map(|texts| texts.queue(None).unwrap());
    let names = |queue: &Queue| queue.jobs.iter().map(|job| job.shown.clone()).collect::<Vec<_>>();
    assert_eq!(names(&twice), names(&once));
    assert!(twice.remarks.iter().any(|remark| remark.contains("repeated records of jobs")), "{:?}", twice.remarks);
}

#[test]
fn a_machine_of_no_cluster_is_asked_once() {
    let fatal = "scontrol: fatal: Unable to process configuration file";
    let fakes = Fakes::new().with("scontrol", &format!("echo x >> \"${{0%/*}}/called\"; echo '{fatal}' >&2; exit 1"));
    let error = Queue::read(&fakes.commands(), 7).unwrap_err().to_string();
    assert!(error.contains("scontrol show config") && error.contains("belongs to no cluster"), "{error}");
    assert_eq!(fs::read_to_string(fakes.path().join("called")).unwrap().lines().count(), 1);
}

proptest! {
    /// Checks that a job for which no node has enough memory is left out, and that other jobs stay in the instance.
    #[test]
    fn a_job_without_room_on_any_node_is_left_out_of_the_instance(cpus in 1_u32..9, each in 1_u32..3000, nodes in 1_u32..4) {
        let all: String = (0..nodes)
            .map(|at| format!("NodeName=n{at} CPUTot=4 CPUAlloc=0 RealMemory=4000 State=IDLE Partitions=p\n"))
            .collect();
        let job = |id: u32, cpus: u32, each: u32| {
            format!(
                "JobId={id} JobName=j UserId=u(1) Priority=9 JobState=PENDING SubmitTime=10 TimeLimit=00:10:00 Partition=p \
                 NumNodes=1 NumCPUs={cpus} MinCPUsNode=1 MinMemoryCPU={each}M\n"
            )
        };
        let queue = Texts::default()
            .with(ClusterOutput::Config, "SelectType = select/cons_tres\nSelectTypeParameters = CR_CPU_MEMORY\n")
            .with(ClusterOutput::Nodes, all)
            .with(ClusterOutput::Jobs, job(1, cpus, each) + &job(2, 1, 1))
            .queue(Some(1000))
            .unwrap();
        let present = queue.present().unwrap();
        let fits = (4000 / each).min(4) * nodes >= cpus;
        prop_assert_eq!(present.jobs.len(), 1 + usize::from(fits), "{:?}", present.remarks);
        prop_assert_eq!(present.remarks.is_empty(), fits, "{:?}", present.remarks);
    }
}
