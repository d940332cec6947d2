//! `makespan simulate`: tables, JSON, files, questions, and refused input.

use serde_json::Value;

use crate::cli::sandbox::Sandbox;

/// A log of four processors. Job 2 is wide and must wait for job 1, which requested 100 s and ended after 60 s. Job 3
/// can run at the same time as job 1 and ends in time, but job 4 cannot.
const LOG: &str = "; MaxProcs: 4
1 0 -1 60 2 -1 -1 2 100 -1 1 7 -1 -1 -1 -1 -1 -1
2 10 -1 50 4 -1 -1 4 50 -1 1 8 -1 -1 -1 -1 -1 -1
3 20 -1 30 2 -1 -1 2 40 -1 1 7 -1 -1 -1 -1 -1 -1
4 20 -1 90 1 -1 -1 1 90 -1 1 9 -1 -1 -1 -1 -1 -1
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("log.swf", LOG);
    sandbox
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the words of a row of a table.
fn row(text: &str, label: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("no `{label}` in {text}"));
    line[label.len()..].split_whitespace().map(str::to_owned).collect()
}

#[test]
fn policies_stand_side_by_side() {
    let sandbox = sandbox();
    let text = sandbox.makespan("simulate log.swf --policy fcfs,easy,replan[scheduler=list]").succeeds();
    assert!(text.starts_with("4 jobs on 4 processors, with release dates; times in seconds\n"), "{text}");
    assert_eq!(row(&text, "policy"), ["fcfs", "easy", "replan[scheduler=list]"]);
    // Starts computed by hand: FCFS starts jobs 2, 3 and 4 at 60, 110 and 110 s; EASY starts job 3 at 20 s.
    assert_eq!(row(&text, "wait, mean")[..2], ["57.500", "35.000"]);
    assert_eq!(row(&text, "makespan")[..2], ["200.000", "200.000"]);
    assert_eq!(row(&text, "backfilled jobs")[..2], ["0", "1"]);
    assert!(!text.contains("jobs cancelled") && !text.contains("interrupted"), "{text}");
    let default = sandbox.makespan("simulate log.swf").succeeds();
    assert_eq!(row(&default, "policy"), ["easy"]);
}

/// The chart shows the jobs of each policy below each other, in the same colours.
#[test]
fn a_picture_has_the_jobs_of_each_policy() {
    let sandbox = sandbox();
    sandbox.makespan("simulate log.swf --policy fcfs,easy --gantt log.svg").succeeds();
    let picture = sandbox.read("log.svg");
    for name in ["fcfs", "easy"] {
        assert!(picture.lines().any(|line| line.contains(r#"class="name""#) && line.contains(&format!(">{name}<"))));
    }
    assert_eq!(picture.matches(r#"class="job""#).count(), 8, "{picture}");
    sandbox.makespan("simulate log.swf --gantt log.html").refused(&["--gantt log.html", ".svg, .png or .pdf"]);
    sandbox.makespan("simulate log.swf --scenario now --gantt log.svg").misused(&["--gantt"]);
}

#[test]
fn json_has_an_object_a_policy() {
    let sandbox = sandbox();
    let said = json(&sandbox.makespan("simulate log.swf --policy easy,fcfs --format json --seed 3").succeeds());
    assert_eq!((&said["jobs"], &said["processors"], &said["seed"]), (&4.into(), &4.into(), &3.into()));
    let easy = &said["policies"][0];
    assert_eq!((&easy["policy"], &easy["metrics"]["backfilled"]), (&"easy".into(), &1.into()));
    assert_eq!(easy["metrics"]["wait"]["mean"].as_f64(), Some(35.0));
    assert_eq!(easy["metrics"]["fairness"]["users"], 3);
    // The slowdowns are 1, 100 / 50, 1 and 180 / 90.
    assert_eq!(easy["metrics"]["bounded_slowdown"]["mean"].as_f64(), Some((1.0 + 2.0 + 1.0 + 2.0) / 4.0));
    assert_eq!(said["policies"][1]["policy"], "fcfs");
    assert_eq!(easy["given_up"], Value::Array(vec![]));
}

#[test]
fn clairvoyant_policies_know_more() {
    let sandbox = sandbox();
    let backfilled = |options: &str| {
        let text = sandbox.makespan(&format!("simulate log.swf {options} --format json")).succeeds();
        json(&text)["policies"][0]["metrics"].clone()
    };
    // EASY knows that job 1 ends at 60 s. Job 3 may start before, because it ends at 50 s.
    assert_eq!(backfilled("--estimates clairvoyant")["backfilled"], 1);
    sandbox.write("late.swf", LOG.replace("3 20 -1 30", "3 20 -1 70"));
    let killed = sandbox.makespan("simulate late.swf --kill-at-walltime").succeeds();
    assert_eq!(row(&killed, "jobs ended at walltime"), ["1"]);
    let kept = sandbox.makespan("simulate late.swf").succeeds();
    assert!(kept.contains("1 record: the actual run time is longer than the requested run time"), "{kept}");
    assert!(!kept.contains("walltime"), "{kept}");
}

#[test]
fn files_are_named_after_their_policy_where_there_are_several() {
    let sandbox = sandbox();
    let outputs = "--jobs out.csv --report out.html --swf out.swf";
    sandbox.makespan(&format!("simulate log.swf {outputs}")).succeeds();
    assert_eq!(sandbox.entries(), ["log.swf", "out.csv", "out.html", "out.swf"]);
    let jobs = sandbox.read("out.csv");
    assert!(
        jobs.lines().any(|line| line.starts_with("3,log.swf,3,20,2,40,1,COMPLETED_SUCCESSFULLY,20,30,50,0,")),
        "{jobs}"
    );
    sandbox
        .makespan(&format!("simulate log.swf --policy easy,replan[scheduler=demt[shuffles=3]] {outputs}"))
        .succeeds();
    let word = "replan-scheduler-demt-shuffles-3";
    let mut all: Vec<String> = ["log.swf", "out.csv", "out.html", "out.swf"].map(str::to_owned).to_vec();
    for ending in ["csv", "swf"] {
        all.extend([format!("out.easy.{ending}"), format!("out.{word}.{ending}")]);
    }
    all.sort();
    assert_eq!(sandbox.entries(), all);
    // The schedule of EASY is written as a log, in which every job starts when EASY started it.
    let again = sandbox.makespan("simulate out.easy.swf --policy fcfs,easy").succeeds();
    assert!(again.starts_with("4 jobs on 4 processors"), "{again}");
    assert_eq!(sandbox.read("out.easy.csv"), jobs);
    let page = sandbox.read("out.html");
    assert!(page.contains("replan[scheduler=demt[shuffles=3]]") && page.contains("wait, mean"));
}

#[test]
fn every_policy_of_the_catalogue_plays() {
    let sandbox = Sandbox::new();
    sandbox
        .makespan("generate moldable --family high --jobs 30 --processors 8 --arrival-rate 0.9 --output m.json")
        .succeeds();
    let listed = json(&sandbox.makespan("algorithms --format json").succeeds());
    let names = listed.as_array().unwrap().iter().filter(|entry| entry["kind"] == "policy");
    let names: Vec<&str> = names.map(|entry| entry["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"conservative") && names.contains(&"batch"), "{names:?}");
    // Policies with a queue for each node need tasks on one processor. All other policies support moldable jobs.
    sandbox.makespan("generate flow --tasks 30 --output flow.json").succeeds();
    let queues = ["flow", "immediate", "interval", "ptfs"];
    let (flows, moldable): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| queues.contains(name));
    assert_eq!(flows, queues);
    let moldable = format!("{},batch[scheduler=demt[shuffles=3]]", moldable.join(","));
    for (file, policies) in [("flow.json", flows.join(",")), ("m.json", moldable)] {
        let text = sandbox.makespan(&format!("simulate {file} --policy {policies} --format json")).succeeds();
        for policy in json(&text)["policies"].as_array().unwrap() {
            assert_eq!(policy["metrics"]["jobs"], 30, "{policy}");
        }
    }
}

#[test]
fn a_moldable_replay_says_so() {
    let sandbox = sandbox();
    let text = sandbox.makespan("simulate log.swf --speedup downey:random --seed 2 --policy moldable-easy").succeeds();
    assert!(text.contains("moldable replay"), "{text}");
    assert!(!sandbox.makespan("simulate log.swf").succeeds().contains("moldable"));
    assert_ne!(
        text,
        sandbox.makespan("simulate log.swf --speedup downey:random --seed 3 --policy moldable-easy").succeeds()
    );
}

#[test]
fn nothing_depends_on_the_number_of_threads() {
    let sandbox = Sandbox::new();
    sandbox
        .makespan("generate moldable --family cirne --jobs 60 --processors 16 --arrival-rate 0.8 --output m.json")
        .succeeds();
    let policies = "--policy easy,fcfs,replan[scheduler=list],conservative,batch[scheduler=demt]";
    let run = |threads: u32, name: &str| {
        let files = format!("--jobs {name}.csv --report {name}.html");
        let text = sandbox
            .makespan(&format!("simulate m.json {policies} --threads {threads} --format json {files}"))
            .succeeds();
        let csv =
            sandbox.entries().into_iter().filter(|entry| entry.starts_with(name)).map(|entry| sandbox.read(&entry));
        (text, csv.collect::<Vec<_>>())
    };
    let one = run(1, "a");
    assert_eq!(one.1.len(), 6);
    assert_eq!(run(4, "b"), one);
    assert_eq!(run(4, "c"), one);
}

#[test]
fn a_job_is_told_when_it_starts_and_who_is_in_the_way() {
    let sandbox = sandbox();
    let ask = |question: &str| {
        sandbox.makespan(&format!("simulate log.swf --policy fcfs,easy --start-time-of {question}")).succeeds()
    };
    let text = ask("4");
    assert!(text.contains("job `4` (1 processor, submitted at 20.000 s), seen at 20.000 s"), "{text}");
    // By the users' estimates, job 1 ends at 100 s and job 2 at 150 s. Job 1 really ends at 60 s.
    assert!(
        text.contains("fcfs: expected to start at 150.000 s, after 2 min 10 s; in the simulation at 110.000 s"),
        "{text}"
    );
    assert!(text.contains("waiting job: 2") || text.contains("waiting jobs: 2"), "{text}");
    assert!(ask("1").contains("easy: starts at once"));
    assert!(ask("3 --at 30").contains("easy: has run since 20.000 s"));
    assert!(ask("3 --at '10min'").contains("easy: the job would have ended by then"));
    let said = json(&ask("2 --format json"));
    let answer = &said["policies"][1]["start_time"];
    assert_eq!((answer["expected"].as_f64(), answer["simulated"].as_f64()), (Some(100.0), Some(60.0)), "{answer}");
    assert_eq!(answer["held_back_by"]["running"][0], "1");
    assert_eq!((&answer["state"], &answer["processors"]), (&"waiting".into(), &"0-3".into()));
}

#[test]
fn machines_and_bags() {
    let sandbox = sandbox();
    let processors = |machines: &str| {
        let text = sandbox.makespan(&format!("simulate log.swf {machines} --format json")).succeeds();
        json(&text)["processors"].clone()
    };
    assert_eq!((processors("--processors 8"), processors("--platform 3x4")), (8.into(), 12.into()));
    let closed =
        "version = 1\nplatform = { processors = 6 }\nunavailable = [{ processors = \"0-5\", start = 0, end = 1000 }]";
    sandbox.write("machines.toml", closed);
    assert_eq!(processors("--platform machines.toml"), 6);
    let text = sandbox.makespan("simulate log.swf --platform machines.toml").succeeds();
    assert!(text.contains("1 unavailable period"), "{text}");
    assert_eq!(row(&text, "wait, max"), ["1030.0"]);
    sandbox.write(
        "bag.toml",
        "version = 1\nplatform = { processors = 2 }\n[[jobs]]\nname = \"bag\"\ncount = 5\ntime = 3\n",
    );
    let text = sandbox.makespan("simulate bag.toml --start-time-of bag/4").succeeds();
    assert!(text.contains("each task of a bag is submitted as a separate job"), "{text}");
    assert_eq!(row(&text, "makespan"), ["9.000"]);
}

#[test]
fn failures_interrupt_jobs_and_are_seen_in_answers() {
    let sandbox = sandbox();
    sandbox.write("f.csv", "processors,down,up,expected_up\n0-1,30,400,200\n");
    let text = sandbox.makespan("simulate log.swf --policy fcfs --failures f.csv --start-time-of 2 --at 50").succeeds();
    assert_eq!(row(&text, "interrupted runs"), ["1"]);
    // Job 2 needs all processors. The failed ones are expected to return at 200 s.
    assert!(text.contains("expected to start at 200.000 s"), "{text}");
    assert!(text.contains("in the simulation at 400.000 s"), "{text}");
    let text = sandbox.makespan("simulate log.swf --failures f.csv --requeue 0").succeeds();
    assert_eq!(row(&text, "jobs that failed"), ["1"]);
    assert_eq!(row(&text, "interrupted runs"), ["1"]);
    let model = "--failures model:mtbf=100,mttr=5,processors=1";
    let seeded = |seed: u32| sandbox.makespan(&format!("simulate log.swf {model} --seed {seed}")).succeeds();
    assert_eq!(seeded(1), seeded(1));
    assert_ne!(seeded(1), seeded(2));
    let case = |options: &str, parts: &[&str]| sandbox.makespan(&format!("simulate log.swf {options}")).refused(parts);
    case("--failures missing.csv", &["missing.csv", "No such file"]);
    case("--failures model:mtbf=5", &["--failures: model:mtbf=5", "mttr"]);
    case("--failures model:mtbf=5,mttr=0", &["must be positive"]);
    sandbox.write("bad.csv", "processors,down,up\n0-9,1,2\n");
    case("--failures bad.csv", &["bad.csv:2", "processor 9 does not exist"]);
    sandbox.makespan("simulate log.swf --requeue 3").misused(&["--failures"]);
}

#[test]
fn wrong_inputs_are_one_error_and_leave_nothing() {
    let sandbox = sandbox();
    let case = |options: &str, parts: &[&str]| {
        let outputs = "--jobs out.csv --report out.html";
        sandbox.makespan(&format!("simulate {options} {outputs}")).refused(parts);
    };
    case("missing.swf", &["missing.swf", "No such file"]);
    case("log.swf --policy esay", &["unknown policy `esay`", "did you mean `easy`?"]);
    case("log.swf --policy easy[ordr=sjf]", &["`ordr`", "did you mean `order`?"]);
    case("log.swf --policy easy,easy", &["`easy` twice"]);
    case("log.swf --policy easy,", &["does not name"]);
    case("log.swf --platform machines.toml", &["--platform machines.toml", "no such file", "16x8"]);
    case("log.swf --processors 0", &["no processors"]);
    case("log.swf --platform 0x4", &["--platform 0x4", "no processors"]);
    case("log.swf --platform 4x", &["--platform 4x"]);
    case("log.swf --threads 0", &["--threads is 0", "at least 1"]);
    case("log.swf --queues 3", &["no record names a queue"]);
    case("log.swf --start-time-of 9", &["--start-time-of 9", "no such job", "`1`"]);
    case("log.swf --start-time-of 2 --at 5", &["submitted at 10 s"]);
    case("log.swf --start-time-of 2 --at soon", &["--at soon"]);
    sandbox.write("odd.swf", LOG.replace("3 20 -1 30", "3 20 -1 0"));
    case("odd.swf --strict", &["odd.swf:4", "--strict does not allow this record"]);
    sandbox.write("broken.swf", LOG.replace("3 20 -1 30", "3 20 -1 x"));
    case("broken.swf --strict", &["broken.swf:4", "--strict does not allow this record"]);
    sandbox.write("empty.swf", "; MaxProcs: 4\n");
    case("empty.swf", &["empty.swf", "no record can be read as a job"]);
    sandbox.write(
        "wide.toml",
        "version = 1\nplatform = { processors = 2 }\n[[jobs]]\nname = \"a\"\nprocessors = 3\ntime = 1\n",
    );
    case("wide.toml", &["`a` needs at least 3 processors"]);
    sandbox.makespan("simulate log.swf --jobs log.swf").refused(&["log.swf", "replace the instance"]);
    sandbox.makespan("simulate log.swf --jobs x --report x").refused(&["x", "two outputs"]);
    sandbox.makespan("simulate log.swf --jobs no/x.csv").refused(&["no/x.csv", "does not exist"]);
    let untouched = ["broken.swf", "empty.swf", "log.swf", "odd.swf", "wide.toml"];
    assert_eq!(sandbox.entries(), untouched);
    sandbox.makespan("simulate log.swf --at 5").misused(&["--start-time-of"]);
    sandbox.makespan("simulate log.swf --estimates guess").misused(&["user, clairvoyant"]);
    sandbox.makespan("simulate log.swf --speedup foo").misused(&["'foo'", "amdahl:SERIAL"]);
    sandbox.makespan("simulate").misused(&["<TRACE>"]);
}

#[test]
fn an_option_that_would_change_nothing_is_refused() {
    let sandbox = sandbox();
    let case = |options: &str, parts: &[&str]| sandbox.makespan(&format!("simulate {options}")).refused(parts);
    case("log.swf --kill-at-walltime --speedup linear", &["no job has a walltime", "moldable replay"]);
    case("log.swf --kill-at-walltime --estimates clairvoyant", &["--estimates user"]);
    case("log.swf --flops 1e9", &["--flops is only for workloads of Batsim", "log.swf is SWF"]);
    sandbox.write("bare.swf", LOG.replace("; MaxProcs: 4\n", ""));
    case("bare.swf", &["neither MaxProcs nor MaxNodes", "(--processors)"]);
    sandbox.makespan("plan bare.swf").refused(&["neither MaxProcs nor MaxNodes", "(--processors)"]);
}

#[test]
fn computations_of_batsim_take_their_time_at_a_stated_speed() {
    let sandbox = Sandbox::new();
    let workload = r#"{"nb_res": 2, "jobs": [{"id": "a", "subtime": 0, "res": 2, "profile": "p"}],
        "profiles": {"p": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0}}}"#;
    sandbox.write("w.json", workload);
    let makespan = |options: &str| row(&sandbox.makespan(&format!("simulate w.json {options}")).succeeds(), "makespan");
    assert_eq!((makespan(""), makespan("--flops 2e9")), (vec!["5.000".to_owned()], vec!["2.500".to_owned()]));
    sandbox
        .makespan("simulate w.json --flops -1")
        .refused(&["floating-point operations a second: a speed of -1 is out of range"]);
}

#[test]
fn a_log_may_be_replayed_on_slower_processors() {
    let sandbox = sandbox();
    let nodes = r#"[{ name = "a", processors = 2 }, { name = "b", processors = 2, speed = 0.5 }]"#;
    let machines = format!("version = 1\nplatform = {{ nodes = {nodes} }}\n[[jobs]]\nname = \"a\"\ntime = 1\n");
    sandbox.write("machines.toml", machines);
    let text = sandbox.makespan("simulate log.swf --platform machines.toml --policy fcfs").succeeds();
    assert!(text.contains("the times of the log are read as times at speed 1"), "{text}");
    // Job 2 takes all processors for twice its time, from 60 s to 160 s. Then job 3 runs on fast processors, and job 4
    // on a slow one for 180 s.
    assert_eq!(row(&text, "makespan"), ["340.000"]);
}

#[test]
fn a_repair_of_which_nobody_knows_is_expected_at_some_time() {
    let sandbox = sandbox();
    sandbox.write("f.csv", "processors,down,up\n0-1,30,5000\n");
    for policy in ["fcfs", "easy", "conservative", "moldable-easy", "batch", "doubling", "replan"] {
        let ask = format!("simulate log.swf --policy {policy} --failures f.csv --start-time-of 2 --at 40");
        let text = sandbox.makespan(&ask).succeeds();
        assert!(text.contains(&format!("{policy}: expected to start at ")), "{text}");
    }
}

/// Returns the data of a page, and the cells of the row of its table of measures that begins with a label.
fn page(sandbox: &Sandbox, label: &str) -> (Value, Vec<String>) {
    let page = sandbox.read("page.html");
    let data = page.split_once("application/json\">").unwrap().1.split_once("</script>").unwrap().0;
    let row = page.split("<tr>").find(|row| row.starts_with(&format!("<td><bdi>{label}"))).unwrap();
    let cells = row.split("<bdi>").skip(1).map(|cell| cell.split_once("</bdi>").unwrap().0.to_owned());
    (json(data), cells.collect())
}

#[test]
fn a_page_states_units_and_knows_the_week_of_the_log() {
    let sandbox = sandbox();
    let simulate = |log: &str| {
        sandbox.write("other.swf", log);
        sandbox.makespan("simulate other.swf --policy fcfs --report page.html").succeeds()
    };
    simulate(LOG);
    let (data, cells) = page(&sandbox, "wait, max");
    assert!(data["week"].is_null() && cells[0].ends_with(" (h:min:s)"), "{cells:?}");
    // The log is a hundred times as long, and begins on a Friday evening by its own clock.
    let long = LOG.replace("0 -1 60 2", "0 -1 60000 2").replace(" 100 -1 1 7", " 100000 -1 1 7");
    let text = simulate(&format!("; UnixStartTime: 946684800\n; StartTime: Fri Dec 31 19:00:00 EST 1999\n{long}"));
    let (data, cells) = page(&sandbox, "wait, max");
    assert_eq!(data["week"], 4 * 86_400 + 19 * 3600);
    assert!(cells[0].ends_with(" (h:min:s)"), "{cells:?}");
    let seconds: f64 = row(&text, "wait, max")[0].parse().unwrap();
    let parts = cells[1].split(':').map(|part| part.parse::<f64>().unwrap());
    let told: f64 = parts.zip([3600.0, 60.0, 1.0]).map(|(part, unit)| part * unit).sum();
    assert!((seconds - told).abs() <= 0.5 && told > 36_000.0, "{seconds} {cells:?}");
}
