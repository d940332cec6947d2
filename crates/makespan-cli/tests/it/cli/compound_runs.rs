//! Compound jobs in runs and in simulations.

use std::fs;

use crate::cli::sandbox::Sandbox;

/// Returns a graph in the shape of a diamond on two processors. Each task writes its name, and its successors read it.
/// The task `left` runs the given script.
fn diamond(left: &str) -> String {
    let task = |name: &str, script: &str| {
        format!("[[jobs.tasks]]\nname = \"{name}\"\nwork = 0.05\ncommand = [\"sh\", \"-c\", \'\'\'{script}\'\'\']\n")
    };
    let edge = |from: &str, to: &str| format!("[[jobs.edges]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    let tasks = [
        task("split", "echo split >> ran; echo 1 > split.txt"),
        task("left", left),
        task("right", "echo right >> ran; cat split.txt > right.txt"),
        task("join", "echo join >> ran; cat left.txt right.txt"),
    ];
    let edges = [edge("split", "left"), edge("split", "right"), edge("left", "join"), edge("right", "join")];
    let other = "[[jobs]]\nname = \"other\"\ntime = 0.05\ncommand = [\"true\"]\n";
    let head = "version = 1\n[platform]\nprocessors = 2\n[[jobs]]\nname = \"d\"\n";
    format!("{head}{}{}{other}", tasks.concat(), edges.concat())
}

const LEFT: &str = "echo left >> ran; cat split.txt > left.txt";

#[test]
fn tasks_run_in_order_and_find_each_others_files() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", diamond(LEFT));
    let said = sandbox.makespan("run i.toml --oversubscribe --verbose --folder f").succeeds();
    assert!(said.contains("planned by optimise") && said.contains("2 of 2 jobs succeeded"), "{said}");
    assert!(said.contains("4 of 4 tasks succeeded"), "{said}");
    assert_eq!(sandbox.read("f/d~join.out"), "1\n1\n");
    let ran = sandbox.read("ran");
    let lines: Vec<&str> = ran.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[3]), (4, "split", "join"));
    assert!(sandbox.read("f/gantt.svg").matches("d/left").count() > 1, "planned and happened");
    sandbox.makespan("verify i.toml f/plan.json").succeeds();
    sandbox.makespan("run i.toml --oversubscribe --verbose --folder f --resume").succeeds();
    assert_eq!(sandbox.read("ran"), ran, "nothing is repeated");
}

#[test]
fn what_waits_for_a_failed_task_is_not_started() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", diamond("test -e go || exit 3; echo left >> ran; cat split.txt > left.txt"));
    let said = sandbox.makespan("run i.toml --oversubscribe --verbose --folder f");
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("2 of 4 tasks succeeded") && said.err.contains("1 of 2 jobs succeeded"), "{said:?}");
    assert!(said.err.contains("job `d/left`: it returned exit status 3"), "{said:?}");
    assert!(said.err.contains("job `d/join`: `d/left`, which it waits for, did not succeed"), "{said:?}");
    let ran = || sandbox.read("ran").lines().map(str::to_owned).collect::<Vec<String>>();
    assert_eq!(ran().len(), 2);
    // A resumed run does not repeat failed tasks. With --retry-failed, they run again, followed by the tasks that
    // waited for them.
    let kept = sandbox.makespan("run i.toml --oversubscribe --verbose --folder f --resume");
    assert_eq!((kept.status, ran().len()), (Some(2), 2), "{kept:?}");
    sandbox.write("go", "");
    sandbox.makespan("run i.toml --oversubscribe --verbose --folder f --resume --retry-failed").succeeds();
    assert_eq!(ran()[2..], ["left", "join"]);
    assert_eq!(sandbox.read("f/d~join.out"), "1\n1\n");
}

/// A session dies after a task has failed, before it records that the successors are not started.
#[test]
fn a_torn_journal_does_not_let_anything_wait_for_ever() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", diamond("exit 3"));
    let is_not_started = |line: &&str| line.contains("not_started");
    let whole = |line: &&str| !is_not_started(line);
    // If the other branch starts after this failure, a journal that is cut between them would lack a job that has run.
    let torn_between = |journal: &str| journal.lines().skip_while(whole).any(|line| line.contains("{\"started\""));
    let (folder, journal) = (0..50)
        .map(|number| {
            sandbox.makespan(&format!("run i.toml --oversubscribe --verbose --folder f{number}"));
            (format!("f{number}"), sandbox.read(&format!("f{number}/journal.jsonl")))
        })
        .find(|(_, journal)| !torn_between(journal))
        .unwrap();
    // The session is killed before it records the tasks that wait for the failed one.
    let kept: String = journal.lines().take_while(whole).map(|line| format!("{line}\n")).collect();
    assert_eq!(journal.lines().filter(is_not_started).count(), 1);
    fs::write(sandbox.path(&folder).join("journal.jsonl"), kept).unwrap();
    let said = sandbox.makespan(&format!("run i.toml --oversubscribe --verbose --folder {folder} --resume"));
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("job `d/join`: `d/left`, which it waits for"), "{said:?}");
}

#[test]
fn compound_jobs_are_simulated_task_by_task() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", diamond(LEFT));
    let said =
        sandbox.makespan("simulate i.toml --policy fcfs,easy,follow,replan --jobs jobs.csv --format json").succeeds();
    let object: serde_json::Value = serde_json::from_str(&said).unwrap();
    for policy in object["policies"].as_array().unwrap() {
        assert_eq!(policy["metrics"]["jobs"], 2, "{policy}");
        // Five tasks of 0.05 s, three of which run one after the other.
        assert!((policy["metrics"]["makespan"].as_f64().unwrap() - 0.15).abs() < 1e-9, "{policy}");
        assert_eq!((&policy["jobs_in_time"], &policy["log"]), (&0.into(), &serde_json::json!([])), "no deadlines");
        let load = policy["flow"]["load"].as_object().unwrap();
        let of = |key: &str| load[key].as_f64().unwrap();
        // 0.25 s of tasks on two processors in 0.15 s.
        assert!(
            (of("mean") - 0.25 / 0.3).abs() < 1e-9 && (of("balance") * of("most") - of("mean")).abs() < 1e-9,
            "{load:?}"
        );
        assert_eq!(policy["compound_jobs"][0]["job"], "d");
        assert_eq!(policy.get("task_flow"), None, "tasks that wait for each other are no flow of independent ones");
    }
    let text = sandbox.makespan("simulate i.toml --policy fcfs --report r.html --log l.csv").succeeds();
    assert!(
        text.starts_with("2 jobs on 2 processors, 1 graph of 4 tasks among them") && text.contains("cost of the flow"),
        "{text}"
    );
    assert!(sandbox.read("r.html").contains("<b>2</b> jobs of <b>5</b> tasks"));
    assert!(sandbox.read("r.html").contains("<h2>Compound jobs</h2>"));
    assert_eq!(sandbox.read("l.csv").lines().count(), 1, "fcfs tells nothing");
    assert_eq!(sandbox.read("jobs.follow.csv").lines().count(), 6);
    sandbox.makespan("simulate i.toml --start-time-of d/left").refused(&["--start-time-of", "compound job"]);
    let nodes = "nodes = 2\nprocessors_per_node = 1\nlatency = 0.1\nbandwidth = 1e6";
    sandbox.write("n.toml", diamond(LEFT).replace("processors = 2", nodes));
    sandbox
        .makespan("simulate n.toml --policy easy")
        .refused(&["easy", "data that take time to move between nodes; use follow"]);
    sandbox.makespan("simulate n.toml --policy follow[scheduler=peft]").succeeds();
    sandbox.makespan("simulate n.toml --policy follow[scheduler=dual]").refused(&["graph"]);
}

#[test]
fn a_policy_may_decide_in_place_of_a_plan() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", diamond(LEFT));
    let said = sandbox.makespan("run i.toml --policy fcfs --oversubscribe --verbose --folder f").succeeds();
    assert!(said.contains("planned by fcfs") && said.contains("the plan is a simulation of the policy"), "{said}");
    assert!(said.contains("4 of 4 tasks succeeded"), "{said}");
    assert!(sandbox.read("f/report.html").contains("<h2>Compound jobs</h2>"));
    assert!(!sandbox.path("f/decisions.csv").exists(), "fcfs tells nothing");
    sandbox.makespan("verify i.toml f/plan.json").succeeds();
    sandbox.makespan("run i.toml --policy fcfs --oversubscribe --verbose --folder f --resume").succeeds();
    assert_eq!(sandbox.read("ran").lines().count(), 4, "nothing is repeated");
    sandbox.makespan("run i.toml --policy fcsf --folder g").refused(&["did you mean `fcfs`"]);
    sandbox.makespan("run i.toml --policy fcfs --algorithm heft").misused(&["--policy", "--algorithm"]);
}

#[test]
fn a_metascheduler_runs_commands_and_goes_on_where_it_stopped() {
    let sandbox = Sandbox::new();
    // The tasks are long enough that the start-up of a session makes no job late.
    let slow = diamond("test -e go || exit 3; echo left >> ran; cat split.txt > left.txt").replace("0.05", "1");
    sandbox.write("i.toml", slow);
    let said = sandbox.makespan("run i.toml --policy job-flow --oversubscribe --verbose --folder f");
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("2 of 4 tasks succeeded") && said.err.contains("1 of 2 jobs succeeded"), "{said:?}");
    let told = sandbox.read("f/decisions.csv");
    assert!(told.contains(",d,planned,") && told.contains(",other,planned,"), "{told}");
    sandbox.write("go", "");
    fs::remove_file(sandbox.path("f/decisions.csv")).unwrap();
    sandbox
        .makespan(
            "run i.toml --policy job-flow[buffer=50ms] --oversubscribe --verbose --folder f --resume --retry-failed",
        )
        .succeeds();
    assert_eq!(sandbox.read("f/d~join.out"), "1\n1\n");
    assert_eq!(sandbox.read("ran").lines().count(), 4, "what had ended is not repeated");
    // Only the rest of the begun job is planned. The decisions of the first session are in the journal.
    let all = sandbox.read("f/decisions.csv");
    assert!(all.starts_with(&told) && all.contains(",d,planned_again,"), "{told}{all}");
    // Jobs that would be late are cancelled before they start.
    let given_up = diamond(LEFT)
        .replace("name = \"d\"\n", "name = \"d\"\ndeadline = 0.01\n")
        .replace("name = \"other\"\ntime = 0.05\n", "name = \"other\"\ntime = 60\n");
    sandbox.write("late.toml", given_up);
    let said = sandbox.makespan("run late.toml --policy job-flow[late=reject] --oversubscribe --verbose --folder g");
    assert!(said.err.contains("the plan does not contain") && said.err.contains("1 of 2 jobs succeeded"), "{said:?}");
    assert!(sandbox.read("g/decisions.csv").contains(",d,rejected,"));
}

/// Random real times vary around the estimates. They are the same in every simulation with the same seed.
#[test]
fn real_times_deviate_as_stated() {
    let sandbox = Sandbox::new();
    sandbox.makespan("generate graphs --jobs 4 --tasks 8 --gap 100 --deadline 2 --output f.json").succeeds();
    let command = |rest: &str| format!("simulate f.json --policy follow,job-flow {rest} --jobs out.csv");
    let written = || ["out.follow.csv", "out.job-flow.csv"].map(|file| sandbox.read(file));
    let calm = sandbox.makespan(&command("")).succeeds();
    let planned = written();
    let said = sandbox.makespan(&command("--deviation 0.3 --seed 3")).succeeds();
    assert!(
        said.contains("actual run times are drawn with seed 3") && said.contains("standard deviation 0.3"),
        "{said}"
    );
    assert!(!calm.contains("actual run times are drawn"), "{calm}");
    let first = written();
    assert!(first.iter().zip(&planned).all(|(drawn, planned)| drawn != planned));
    let again = sandbox.makespan(&command("--deviation 0.3 --seed 3")).succeeds();
    assert_eq!((again, written()), (said, first.clone()));
    sandbox.makespan(&command("--deviation 0.3 --seed 4")).succeeds();
    assert!(written().iter().zip(&first).all(|(other, first)| other != first));
    sandbox.makespan("simulate f.json --deviation 0.3 --policy job-flow --report r.html").succeeds();
    assert!(sandbox.read("r.html").contains("actual run times are drawn with seed 1"));
    for wrong in ["0", "-0.3", "11"] {
        let command = format!("simulate f.json --policy follow --deviation {wrong}");
        sandbox.makespan(&command).refused(&["--deviation", "above 0 and at most 10"]);
    }
    sandbox.write("l.swf", "1 0 -1 60 2 -1 -1 2 100 -1 1 7 -1 -1 -1 -1 -1 -1\n");
    sandbox.makespan("simulate l.swf --processors 4 --deviation 0.3").refused(&["l.swf", "--estimates clairvoyant"]);
    sandbox.makespan("simulate l.swf --processors 4 --deviation 0.3 --estimates clairvoyant").succeeds();
}
