//! Bags of tasks in every command.

use serde_json::Value;

use crate::cli::sandbox::Sandbox;

/// Two jobs that leave holes in the schedule, a best-effort bag, and a bag that competes.
const BAGS: &str = r#"
version = 1
[platform]
processors = 4
[[jobs]]
name = "wide"
processors = 3
time = 10
[[jobs]]
name = "pair"
processors = 2
time = 6
[[jobs]]
name = "fill"
count = 7
time = 2
[[jobs]]
name = "urgent"
count = 2
weight = 40
time = [3, 2]
"#;

fn with_bags() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("bags.toml", BAGS);
    sandbox
}

#[test]
fn a_bag_is_planned_shown_in_one_line_and_verified() {
    let sandbox = with_bags();
    let text = sandbox.makespan("plan bags.toml -o p.json --report r.html --gantt g.svg --jobs j.csv --swf s.swf");
    let text = text.succeeds();
    for part in
        ["2 bags among them, 11 tasks in all", "fill: 7 tasks, best effort", "urgent: 2 tasks", "best-effort bags end"]
    {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    assert!(!text.contains("fill/0"), "{text}");
    let verified = sandbox.makespan("verify bags.toml p.json").succeeds();
    assert!(verified.starts_with("valid: every task of every job is placed once"), "{verified}");
    let plan = sandbox.json("p.json");
    let tasks = |job: &str| {
        let placements = plan["placements"].as_array().unwrap().iter().filter(|placement| placement["job"] == job);
        placements.map(|placement| placement["task"].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!((tasks("fill"), tasks("wide")), ((0..7).map(Some).collect(), vec![None]));
    assert_eq!(tasks("urgent").len(), 2);
    let table = sandbox.read("j.csv");
    assert!(table.contains("\nfill/6,bags,fill,0,1,") && table.lines().count() == 12, "{table}");
    assert!(sandbox.read("s.swf").contains("without weights, speed-ups, bags of tasks (each task has a record)"));
    assert!(sandbox.read("r.html").contains("best-effort") && sandbox.read("g.svg").contains("best-effort"));
}

#[test]
fn verify_says_which_task_is_wrong() {
    let sandbox = with_bags();
    sandbox.makespan("plan bags.toml -o p.json").succeeds();
    let plan = sandbox.read("p.json");
    let rejected = |name: &str, from: &str, to: &str, part: &str| {
        sandbox.write(name, plan.replacen(from, to, 1));
        let said = sandbox.makespan(&format!("verify bags.toml {name}"));
        assert_eq!(said.status, Some(1), "{said:?}");
        let text = said.out + &said.err;
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    };
    rejected("twice.json", "\"task\": 3", "\"task\": 4", "job `fill/4` is placed 2 times");
    rejected(
        "missing.json",
        "\"task\": 3",
        "\"task\": 4",
        "job `fill`: 1 of 7 tasks have no placement, the first of these is 3",
    );
    rejected(
        "many.json",
        "\"task\": 3",
        "\"task\": 7",
        "task 7 of job `fill` does not exist; its tasks are numbered from 0 to 6",
    );
    rejected("none.json", "\"task\": 3, ", "", "is a bag; state the number of the task in `task`");
    rejected(
        "odd.json",
        "\"job\": \"wide\"",
        "\"job\": \"wide\", \"task\": 0",
        "job `wide` is not a bag; remove `task`",
    );
}

#[test]
fn best_effort_delays_nobody() {
    let sandbox = with_bags();
    let (start, end) =
        (BAGS.find("[[jobs]]\nname = \"fill\"").unwrap(), BAGS.find("[[jobs]]\nname = \"urgent\"").unwrap());
    sandbox.write("without.toml", BAGS[..start].to_owned() + &BAGS[end..]);
    let others = |line: &str| {
        let plan: Value = serde_json::from_str(&sandbox.makespan(line).succeeds()).unwrap();
        let placements = plan["placements"].as_array().unwrap().clone();
        placements.into_iter().filter(|placement| placement["job"] != "fill").collect::<Vec<_>>()
    };
    for spec in ["demt", "dual", "list", "sweep", "gang", "sequential"] {
        let plan = |name: &str| others(&format!("plan {name}.toml --format json --algorithm {spec}"));
        assert_eq!(plan("bags"), plan("without"), "{spec}");
    }
}

#[test]
fn a_million_tasks_take_a_line() {
    let sandbox = Sandbox::new();
    let instance = "version = 1\nplatform = { processors = 100 }\njobs = [{ name = 'a', processors = 60, time = 50 },\n\
                    { name = 'many', count = 1000000, time = 0.25 }]\n";
    sandbox.write("many.toml", instance);
    let text = sandbox.makespan("plan many.toml").succeeds();
    assert!(text.contains("many: 1000000 tasks, best effort") && text.lines().count() < 15, "{text}");
    for command in ["bound many.toml", "convert many.toml many.json"] {
        sandbox.makespan(command).succeeds();
    }
    assert!(sandbox.read("many.json").contains("\"count\":1000000"));
}

#[test]
fn what_no_plan_can_hold_is_refused() {
    let sandbox = Sandbox::new();
    let instance = |count: &str| {
        format!(
            "version = 1\nplatform = {{ processors = 9 }}\njobs = [{{ name = 'many', count = {count}, time = 1 }}]\n"
        )
    };
    sandbox.write("many.toml", instance("20000000"));
    let parts = ["20000000 tasks in all", "at most 10000000", "make fewer and longer tasks"];
    sandbox.makespan("plan many.toml").refused(&parts);
    sandbox.makespan("run many.toml").refused(&parts);
    sandbox.makespan("convert many.toml many.swf").refused(&["many.swf", "one record for each task", "make fewer"]);
    assert!(sandbox.makespan("bound many.toml").succeeds().contains("makespan >= 2222223 s"));
    for (count, part) in [("0", "from 1 to 10^18"), ("1.5", "from 1 to 10^18"), ("'3'", "from 1 to 10^18")] {
        sandbox.write("bad.toml", instance(count));
        sandbox.makespan("plan bad.toml").refused(&["bad.toml:3:", "jobs[0].count", part]);
    }
    sandbox.write("ages.toml", instance("1000000000000000000"));
    sandbox.makespan("bound ages.toml").refused(&["more than 146 years"]);
}

/// Returns an instance with a job and a bag of shell commands.
fn shell_bag(script: &str) -> String {
    format!(
        "version = 1\nplatform = {{ processors = 2 }}\n[[jobs]]\nname = \"job\"\nprocessors = 2\ntime = 0.1\n\
         command = [\"sh\", \"-c\", \"echo {{task}}\"]\n[[jobs]]\nname = \"bag\"\ncount = 5\ntime = 0.05\n\
         command = [\"sh\", \"-c\", '''{script}''']\n"
    )
}

#[test]
fn the_tasks_of_a_bag_run_with_their_numbers() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_bag("echo task {task} of $MAKESPAN_JOB on {processors}"));
    let text = sandbox.makespan("run i.toml --oversubscribe --verbose --folder f").succeeds();
    assert!(text.contains("5 of 5 tasks succeeded") && text.contains("2 of 2 jobs succeeded"), "{text}");
    for task in 0..5 {
        assert_eq!(sandbox.read(&format!("f/bag~{task}.out")), format!("task {task} of bag/{task} on 1\n"));
    }
    assert_eq!(sandbox.read("f/job.out"), "{task}\n", "only a bag has tasks");
    assert_eq!(sandbox.read("f/jobs.csv").lines().count(), 7);
    assert!(sandbox.read("f/report.html").contains("best effort"));
    sandbox.makespan("verify i.toml f/plan.json").succeeds();
    let again = sandbox.makespan("run i.toml --oversubscribe --verbose --folder f --resume").succeeds();
    assert!(again.contains("5 of 5 tasks succeeded"), "{again}");
    assert_eq!(sandbox.read("f/journal.jsonl").matches("\"started\"").count(), 6);
}

#[test]
fn failed_tasks_are_counted_and_run_again_when_resumed() {
    let sandbox = Sandbox::new();
    let script = "test {task} != 3 || test -e fixed && echo done {task}";
    sandbox.write("i.toml", shell_bag(script));
    let said = sandbox.makespan("run i.toml --oversubscribe --verbose --folder f");
    assert_eq!(said.status, Some(1), "{said:?}");
    for part in ["4 of 5 tasks succeeded", "1 of 2 jobs succeeded", "job `bag/3`: it returned exit status 1"] {
        assert!(said.err.contains(part), "`{part}` is missing in\n{}", said.err);
    }
    sandbox.write("fixed", "");
    let text = sandbox.makespan("run i.toml --oversubscribe --verbose --folder f --resume --retry-failed").succeeds();
    assert!(text.contains("5 of 5 tasks succeeded"), "{text}");
    assert_eq!(sandbox.read("f/journal.jsonl").matches("\"started\"").count(), 7);
}

#[test]
fn a_job_called_like_a_task_cannot_run_beside_it() {
    let sandbox = Sandbox::new();
    let job = "[[jobs]]\nname = \"bag/4\"\ntime = 1\ncommand = [\"true\"]\n";
    sandbox.write("i.toml", shell_bag("true") + job);
    sandbox.makespan("plan i.toml").succeeds();
    sandbox.makespan("run i.toml").refused(&["i.toml", "`bag/4` has the name of a task of a bag", "rename"]);
    assert_eq!(sandbox.entries(), ["i.toml"]);
}

#[test]
fn an_interrupted_bag_goes_on_where_it_was() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", shell_bag("echo {task} >> started; test {task} != 2 || sleep 1; echo {task} >> ended"));
    let mut run =
        sandbox.command("run i.toml --oversubscribe --verbose --folder f").stdout(std::process::Stdio::null()).spawn();
    let run = run.as_mut().unwrap();
    let ended = || std::fs::read_to_string(sandbox.path("ended")).map_or(0, |text| text.lines().count());
    for _ in 0..1000 {
        if ended() >= 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let text = sandbox.makespan("run i.toml --oversubscribe --verbose --folder f --resume");
    assert!(text.err.contains("5 of 5 tasks succeeded"), "{text:?}");
    let started = sandbox.read("started");
    let mut tasks: Vec<&str> = started.lines().collect();
    tasks.sort_unstable();
    tasks.dedup();
    assert_eq!(tasks, ["0", "1", "2", "3", "4"]);
}
