//! Graphs of tasks are generated, read from workflows, planned, verified and converted.

use crate::cli::sandbox::Sandbox;

const DAX: &str = r#"<adag version="2.1">
  <job id="a" runtime="4"><uses file="f" link="output" size="100"/></job>
  <job id="b" runtime="6"><uses file="f" link="input" size="100"/></job>
  <job id="c" runtime="6"><uses file="f" link="input" size="100"/></job>
  <child ref="b"><parent ref="a"/></child><child ref="c"><parent ref="a"/></child>
</adag>"#;

#[test]
fn a_workflow_is_planned_on_stated_machines_and_verified() {
    let sandbox = Sandbox::new();
    sandbox.write("w.dax", DAX);
    let text = sandbox.makespan("plan w.dax --processors 2 --bandwidth 100 --output p.json").succeeds();
    assert!(text.contains("planned by optimise[objective=makespan]"), "{text}");
    assert!(text.contains("1 job on 2 processors, a graph of 3 tasks"), "{text}");
    assert!(text.contains("w/b") && text.contains("11.000"), "{text}");
    let said = sandbox.makespan("verify w.dax --processors 2 --bandwidth 100 p.json").succeeds();
    assert!(said.starts_with("valid: every task of every job is placed once"), "{said}");
    // Over a slower network, the starts in the plan are too early.
    let late = sandbox.makespan("verify w.dax --processors 2 --bandwidth 50 p.json");
    assert_eq!(late.status, Some(1));
    assert!(late.out.contains("`w/a` ends at 4 s and its data arrive at 6 s"), "{late:?}");
    sandbox.makespan("plan w.dax").refused(&["w.dax", "states no machines", "--processors N"]);
    sandbox.makespan("plan w.dax --processors 2 --bandwidth x").refused(&["--bandwidth", "`x` is not a bandwidth"]);
    sandbox.makespan("plan w.dax --processors 2 --algorithm dual").refused(&["dual", "graph of tasks"]);
}

/// All commands have the same options for machines, read the same machines and print the same notes.
#[test]
fn machines_are_the_same_options_in_every_command() {
    let sandbox = Sandbox::new();
    sandbox.write("w.dax", DAX);
    sandbox.write("g.stg", "2\n 0 0 0\n 1 9 1 0\n 2 4 2 0 1\n 3 0 1 2\n");
    sandbox.write("c.etc", "3\n4\n5\n6\n");
    sandbox.write("l.swf", "1 0 -1 60 2 -1 -1 2 100 -1 1 7 -1 -1 -1 -1 -1 -1\n");
    sandbox.write("two.toml", "version = 1\nplatform = { nodes = 2, processors_per_node = 1 }\n");
    for (file, machines) in [
        ("w.dax", "--processors 2"),
        ("w.dax", "--processors 2 --bandwidth 100"),
        ("w.dax", "--platform 2x1"),
        ("w.dax", "--platform two.toml"),
        ("g.stg", "--processors 2"),
        ("c.etc", "--processors 2"),
        ("l.swf", "--processors 4"),
        ("l.swf", "--platform 2x2"),
    ] {
        let plan = sandbox.makespan(&format!("plan {file} {machines} --output p.json")).succeeds();
        sandbox.makespan(&format!("verify {file} {machines} p.json")).succeeds();
        sandbox.makespan(&format!("bound {file} {machines}")).succeeds();
        let policy = match file {
            "l.swf" => "easy",
            "c.etc" => "flow",
            _ => "follow",
        };
        let played = sandbox.makespan(&format!("simulate {file} {machines} --policy {policy}")).succeeds();
        // Both commands print the same notes about the file.
        let remark = "no bandwidth is stated, so data between tasks take no time";
        assert_eq!(plan.contains(remark), played.contains(remark), "{file} {machines}:\n{plan}\n{played}");
        for bad in ["--processors +20", "--processors 1e3"] {
            for verb in ["plan", "simulate", "bound"] {
                sandbox.makespan(&format!("{verb} {file} {bad}")).misused(&["--processors", "write a whole number"]);
            }
        }
        for verb in ["plan", "simulate", "bound"] {
            let remedy = ["write --processors 20"];
            sandbox.makespan(&format!("{verb} {file} --platform 20")).refused(&remedy);
            sandbox.makespan(&format!("{verb} {file} --platform +20")).refused(&remedy);
        }
    }
}

#[test]
fn files_from_outside_are_fetched_from_a_node_or_remarked() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "w.dax",
        DAX.replace(
            "<job id=\"a\" runtime=\"4\">",
            "<job id=\"a\" runtime=\"4\"><uses file=\"g\" link=\"input\" size=\"2000\"/>",
        ),
    );
    let plain = sandbox.makespan("plan w.dax --processors 2 --bandwidth 100").succeeds();
    assert!(plain.contains("1 file of 2.00 kB in all (`g`) comes from outside the workflow"), "{plain}");
    assert!(plain.contains("w/a") && plain.contains("11.000"), "{plain}");
    // Task `a` runs on the node that stores the file, or waits 20 s for the file on any other node.
    let line = "plan w.dax --processors 2 --bandwidth 100 --stage-in n1 --output p.json";
    let staged = sandbox.makespan(line).succeeds();
    let words = staged.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("task `stage-in` sends them from node `n1`"), "{staged}");
    let plan = sandbox.json("p.json");
    let placed = |task: &str| {
        let all = plan["placements"].as_array().unwrap();
        all.iter().find(|one| one["task"] == task).unwrap()["processors"].as_str().unwrap().to_owned()
    };
    assert_eq!((placed("stage-in"), placed("a")), ("1".to_owned(), "1".to_owned()), "{plan}");
    sandbox.makespan("verify w.dax --processors 2 --bandwidth 100 --stage-in n1 p.json").succeeds();
    sandbox.makespan("simulate w.dax --processors 2 --bandwidth 100 --stage-in n1 --policy follow").succeeds();
    sandbox.makespan("plan w.dax --processors 2 --stage-in n7").refused(&["node `n7` cannot send the files"]);
}

#[test]
fn graphs_are_generated_and_converted() {
    let sandbox = Sandbox::new();
    for shape in ["layers", "chain", "fork-join", "montage", "epigenomics", "cybershake"] {
        let line = format!("generate graphs --shape {shape} --tasks 20 --jobs 2 --seed 3 --output {shape}.toml");
        sandbox.makespan(&line).succeeds();
        for algorithm in ["heft", "cpop", "peft", "optimise[objective=makespan,steps=50]"] {
            sandbox
                .makespan(&format!("plan {shape}.toml --algorithm {algorithm} --output p.json --gantt g.svg"))
                .succeeds();
            sandbox.makespan(&format!("verify {shape}.toml p.json")).succeeds();
        }
        sandbox.makespan(&format!("convert {shape}.toml x.xml")).succeeds();
        sandbox.makespan(&format!("convert x.xml --platform {shape}.toml again.toml")).succeeds();
        assert_eq!(sandbox.read("again.toml"), sandbox.read(&format!("{shape}.toml")), "{shape}");
    }
    sandbox.makespan("convert layers.toml x.swf").refused(&["SWF cannot store the edges"]);
    sandbox.makespan("generate graphs --shape blob").misused(&["blob", "layers, chain, fork-join"]);
    sandbox.makespan("generate graphs --deadline 2 --jobs 2 --tasks 9 --output w.toml").succeeds();
    assert_eq!(sandbox.read("w.toml").matches("deadline = ").count(), 2);
    sandbox.makespan("generate graphs --deadline 0").refused(&["deadline is 0", "multiple of HEFT's makespan"]);
    sandbox.makespan("generate graphs --tasks 0").refused(&["number of tasks is 0"]);
}

#[test]
fn the_cost_of_critical_jobs_is_stated_bounded_and_compared() {
    let sandbox = Sandbox::new();
    sandbox.makespan("generate graphs --tasks 12 --seed 2 --output g.toml").succeeds();
    sandbox.makespan("plan g.toml --algorithm heft --output h.json").succeeds();
    assert!(!sandbox.read("h.json").contains("\"cost\""));
    let text = sandbox.makespan("plan g.toml --algorithm critical-jobs --output p.json --report r.html").succeeds();
    assert!(text.lines().any(|line| line.starts_with("cost ")), "{text}");
    assert!(sandbox.read("r.html").contains(">cost</span></dt>"));
    sandbox.makespan("verify g.toml p.json").succeeds();
    let plan = sandbox.read("p.json");
    let at = plan.find("\"cost\": ").unwrap() + "\"cost\": ".len();
    let stated = plan[at..].split(',').next().unwrap().to_owned();
    sandbox.write("cheap.json", plan.replacen(&format!("\"cost\": {stated},"), "\"cost\": 1.5,", 1));
    let refused = sandbox.makespan("verify g.toml cheap.json");
    assert_eq!(refused.status, Some(1));
    assert!(refused.out.contains(&format!("the stated cost is 1.5, but the placements have {stated}")), "{refused:?}");
    let compared = sandbox.makespan("compare g.toml --algorithms heft,critical-jobs").succeeds();
    assert!(compared.contains("cost >= ") && compared.contains(" cost "), "{compared}");
    let json = sandbox.makespan("compare g.toml --algorithms heft --format json").succeeds();
    assert!(!json.contains("\"cost\""), "{json}");
}

#[test]
fn the_cost_is_minimised_within_deadlines() {
    let sandbox = Sandbox::new();
    sandbox.makespan("generate graphs --tasks 15 --seed 3 --output g.toml").succeeds();
    sandbox.makespan("plan g.toml --objective cost --time-limit 200ms --output p.json").succeeds();
    let said = sandbox.makespan("verify g.toml p.json").succeeds();
    assert!(said.lines().any(|line| line.starts_with("cost ")), "{said}");
    let plan = sandbox.read("p.json");
    assert!(plan.contains("\"cost\": {\"value\": ") && plan.contains("\"makespan_at_most\": "), "{plan}");
    // A bound for shorter schedules does not apply to this schedule.
    let at = plan.find("\"makespan_at_most\": ").unwrap();
    let end = at + plan[at..].find(", ").unwrap();
    let silent = format!("{}\"makespan_at_most\": 1{}", &plan[..at], &plan[end..]);
    sandbox.write("silent.json", &silent);
    let refused = sandbox.makespan("verify g.toml silent.json");
    assert!(
        refused.out.contains("the bound on the cost is valid only for schedules with a smaller makespan"),
        "{refused:?}"
    );
    let line = "plan g.toml --algorithm optimise[objective=cost,steps=2000,searches=1,deadline=3] --output w.json";
    sandbox.makespan(line).succeeds();
    sandbox
        .makespan("plan g.toml --algorithm optimise[deadline=2]")
        .refused(&["deadline", "the objective is not cost"]);
    sandbox.makespan("plan g.toml --objective cost --makespan-at-most 3 --time-limit 200ms").succeeds();
    sandbox.write(
        "wide.json",
        r#"{"version": 1, "platform": {"processors": 4}, "jobs": [{"name": "a", "time": [4, 3]}]}"#,
    );
    sandbox.makespan("plan wide.json --objective cost").refused(&["graphs of tasks and of jobs on one processor"]);
    let tasks = r#"[{"name": "a", "time": 4, "processors": 2}, {"name": "b", "time": 3, "processors": 1}]"#;
    let parallel =
        format!(r#"{{"version": 2, "platform": {{"processors": 4}}, "jobs": [{{"name": "g", "tasks": {tasks}}}]}}"#);
    sandbox.write("parallel.json", &parallel);
    let line = "plan parallel.json --objective cost";
    let refused = sandbox.makespan(line);
    assert!(!refused.err.contains("`optimise`") && !refused.err.contains("`list`"), "{refused:?}");
    sandbox.makespan(line).refused(&["`g/a` needs more", "use another objective"]);
}

#[test]
fn a_strategy_is_written_shown_and_verified() {
    let sandbox = Sandbox::new();
    sandbox.makespan("generate graphs --tasks 14 --seed 4 --output g.toml").succeeds();
    let text = sandbox
        .makespan("plan g.toml --algorithm critical-jobs --output p.json --report r.html --gantt g.svg")
        .succeeds();
    assert!(
        text.contains("the strategy (each variant is better than every other variant in at least one figure)")
            && text.contains("chosen"),
        "{text}"
    );
    let page = sandbox.read("r.html");
    assert!(page.contains("<h2>Strategy</h2>") && page.contains("Cost and end of each variant"));
    sandbox.makespan("verify g.toml p.json").succeeds();
    assert!(text.contains("possible until (s)"), "{text}");
    sandbox.makespan("generate graphs --tasks 14 --seed 4 --deadline 2 --output due.toml").succeeds();
    sandbox.makespan("plan due.toml --algorithm critical-jobs --output due.json").succeeds();
    sandbox.makespan("verify due.toml due.json").succeeds();
    let mut due = sandbox.json("due.json");
    let until = &mut due["strategy"]["variants"][0]["possible_until"];
    assert!(until.as_f64() > Some(0.0), "{until}");
    *until = 0.5.into();
    sandbox.write("changed.json", due.to_string());
    let said = sandbox.makespan("verify due.toml changed.json");
    let problem = "strategy.variants[0]: the stated possible_until is 0.5";
    assert!(said.status == Some(1) && (said.out.contains(problem) || said.err.contains(problem)), "{said:?}");
    let plan = sandbox.json("p.json");
    let chosen = plan["strategy"]["chosen"].as_u64().unwrap() as usize;
    let variants = plan["strategy"]["variants"].as_array().unwrap();
    assert!(variants.len() > 1, "{variants:?}");
    assert_eq!(variants[chosen]["placements"], plan["placements"]);
    let rejected = |change: &dyn Fn(&mut serde_json::Value), part: &str| {
        let mut changed = plan.clone();
        change(&mut changed);
        sandbox.write("changed.json", changed.to_string());
        let said = sandbox.makespan("verify g.toml changed.json");
        assert_eq!(said.status, Some(1), "{said:?}");
        assert!(said.out.contains(part) || said.err.contains(part), "`{part}` is missing in {said:?}");
    };
    let other = usize::from(chosen == 0);
    let of = |key: &str| format!("strategy.variants[{other}]: the stated {key} is");
    rejected(&|plan| plan["strategy"]["variants"][other]["finish"] = 1.into(), &of("finish"));
    rejected(&|plan| plan["strategy"]["variants"][other]["cost"] = 1.into(), &of("cost"));
    rejected(&|plan| plan["strategy"]["variants"][other]["busy"] = 1.into(), &of("busy time"));
    let start =
        &|plan: &mut serde_json::Value| plan["strategy"]["variants"][other]["placements"][0]["start"] = 1000.into();
    rejected(start, &format!("strategy.variants[{other}]: "));
    rejected(&|plan| plan["strategy"]["chosen"] = other.into(), "differs from the schedule of the variant that");
    rejected(&|plan| plan["strategy"]["chosen"] = 99.into(), "strategy.chosen");
    rejected(&|plan| plan["strategy"]["variants"].as_array_mut().unwrap().reverse(), "not in the order of their ends");
    rejected(&|plan| plan["strategy"]["variants"][0]["colour"] = 1.into(), "colour");
}

#[test]
fn the_chains_of_a_plan_are_shown_and_checked() {
    let sandbox = Sandbox::new();
    sandbox.makespan("generate graphs --tasks 16 --deadline 1.5 --output g.json").succeeds();
    let plan = "plan g.json --algorithm critical-jobs";
    let text = sandbox.makespan(&format!("{plan} --explain --output p.json --report p.html")).succeeds();
    for part in ["critical chains of the chosen variant:", "earliest (s)", " \u{2192} ", "no collisions"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let written = sandbox.read("p.json");
    let file: serde_json::Value = serde_json::from_str(&written).unwrap();
    let chains = file["strategy"]["chains"].as_array().unwrap();
    let windows: usize = chains.iter().map(|chain| chain["windows"].as_array().unwrap().len()).sum();
    assert_eq!((windows, chains[0]["rank"].as_u64()), (16, Some(1)), "{written}");
    sandbox.makespan("verify g.json p.json").succeeds();
    let page = sandbox.read("p.html");
    assert!(page.contains("Critical chains") && page.contains("Collisions"));
    // A window that ends before its task does is an error.
    let mut wrong = file.clone();
    wrong["strategy"]["chains"][0]["windows"][0]["latest"] = 0.into();
    sandbox.write("wrong.json", wrong.to_string());
    let found = sandbox.makespan("verify g.json wrong.json");
    assert!(found.status == Some(1) && found.out.contains("outside its window"), "{found:?}");
    // Tasks that were planned on types of processors collide, and the text names their places.
    let text = sandbox
        .makespan("plan g.json --algorithm critical-jobs[start=empty,cpus=types,deadline=3] --explain")
        .succeeds();
    assert!(text.contains("collisions"), "{text}");
    sandbox.makespan("plan g.json --explain").refused(&["--explain", "--algorithm critical-jobs"]);
}
