//! Plans of bags of tasks on trees, from the file to the picture.

use crate::cli::sandbox::Sandbox;

const TREE: &str = r#"{"version": 1, "platform": {"nodes": [{"name": "root", "processors": 1, "speed": 2},
  {"name": "a", "processors": 2, "speed": 1.5, "parent": "root", "bandwidth": 4, "latency": "5ms"},
  {"name": "switch", "processors": 0, "parent": "root", "bandwidth": 1},
  {"name": "b", "processors": 1, "speed": 3, "parent": "switch", "bandwidth": 0.5}]},
 "jobs": [{"name": "x", "count": 2000, "work": 3, "data": 2}, {"name": "y", "count": 2000, "work": 1, "data": 1, "weight": 2}]}"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("t.json", TREE);
    sandbox
}

#[test]
fn a_tree_is_planned_proved_and_drawn() {
    let sandbox = sandbox();
    let said = sandbox.makespan("plan t.json --output p.json --gantt t.svg --report r.html");
    assert_eq!(said.status, Some(0), "{said:?}");
    for part in ["optimal: exactly ", "Rates and loads of nodes", "Bottlenecks", "period ", "link to "] {
        assert!(said.out.contains(part), "{} lacks {part}", said.out);
    }
    let plan = sandbox.json("p.json");
    let (value, bound) = (&plan["fair_throughput"], &plan["bounds"]["fair_throughput"]["value"]);
    assert!(value.as_f64().unwrap() <= bound.as_f64().unwrap() && value.as_f64().unwrap() > 0.0, "{plan}");
    assert!(plan["rates"]["x"]["a"].is_number() && plan["period"]["seconds"].is_number(), "{plan}");
    assert!(sandbox.read("t.svg").contains(">switch</text>") && sandbox.read("r.html").contains("<svg"));
    sandbox.makespan("verify t.json p.json").succeeds();
    assert!(sandbox.makespan("bound t.json").succeeds().contains("fair throughput <= "));
    let json = sandbox.makespan("plan t.json --algorithm steady-state --format json").succeeds();
    assert_eq!(json, sandbox.read("p.json"), "the same plan on standard output");
}

/// Proportionally fair rates state their proof, and `verify` refuses a smaller distance.
#[test]
fn fair_rates_of_other_kinds_are_planned_and_verified() {
    let sandbox = sandbox();
    let said =
        sandbox.makespan("plan t.json --algorithm steady-state[alpha=1] --output p.json --report r.html").succeeds();
    assert!(said.contains("alpha-fair with alpha 1, proved within ") && !said.contains("Bottlenecks"), "{said}");
    assert!(sandbox.makespan("verify t.json p.json").succeeds().contains("alpha-fair with alpha 1, proved within "));
    let plan = sandbox.json("p.json");
    let (value, most) = (&plan["fair_throughput"], &plan["bounds"]["fair_throughput"]["value"]);
    assert!(
        value.as_f64().unwrap() < 0.99 * most.as_f64().unwrap(),
        "another optimum than the fair throughput: {plan}"
    );
    let excess = plan["fairness"]["excess"].to_string();
    assert!(excess.parse::<f64>().unwrap() < 1e-8, "{excess}");
    sandbox.write("q.json", sandbox.read("p.json").replace(&format!("\"excess\": {excess}"), "\"excess\": 0"));
    let said = sandbox.makespan("verify t.json q.json");
    assert!(said.status == Some(1) && said.out.contains("fairness: the stated excess is 0, but"), "{said:?}");
    sandbox.makespan("plan t.json --algorithm steady-state[alpha=0]").refused(&["max, or a number from 1 to 10"]);
}

/// The text does not grow with the tree, and it takes hardly longer than the JSON output.
#[test]
fn a_large_tree_is_told_in_a_few_lines_and_in_linear_time() {
    let sandbox = Sandbox::new();
    let node = |at: usize| {
        let link = if at == 0 { String::new() } else { format!(", \"parent\": \"n{}\", \"bandwidth\": 1e9", at / 3) };
        format!("{{\"name\": \"n{at}\", \"processors\": 1{link}}}")
    };
    let nodes: Vec<String> = (0..24_000).map(node).collect();
    let jobs =
        r#"[{"name": "x", "count": 9000, "work": 3, "data": 2}, {"name": "y", "count": 9000, "work": 1, "data": 1}]"#;
    sandbox.write(
        "t.json",
        format!("{{\"version\": 1, \"platform\": {{\"nodes\": [{}]}}, \"jobs\": {jobs}}}", nodes.join(", ")),
    );
    let timed = |command: &str| {
        let begin = std::time::Instant::now();
        let said = sandbox.makespan(command).succeeds();
        (said, begin.elapsed().as_secs_f64())
    };
    let (_, json) = timed("plan t.json --period 60s --format json");
    let (text, took) = timed("plan t.json --period 60s");
    assert!(text.lines().count() < 80 && text.contains(" others ") && text.contains("Levels"), "{text}");
    assert!(took < 2.0 * json + 1.0, "{took} s, as JSON {json} s");
}

/// A task of one byte occupies the port for the latency and the time of one byte.
#[test]
fn plan_and_simulation_agree_on_latency() {
    let sandbox = Sandbox::new();
    let star = r#"{"version": 1, "platform": {"nodes": [{"name": "root", "processors": 0},
      {"name": "a", "processors": 1, "parent": "root", "bandwidth": 1, "latency": "9s"}]},
     "jobs": [{"name": "x", "count": 200, "work": 1, "data": 1}]}"#;
    sandbox.write("star.json", star);
    let plan = sandbox.makespan("plan star.json --output p.json --unroll u.csv").succeeds();
    assert!(plan.contains("fair throughput 0.1000 weighted tasks a second, optimal: exactly 1/10"), "{plan}");
    assert!(plan.contains("latency of the link to a"), "{plan}");
    sandbox.makespan("verify star.json p.json").succeeds();
    let said = sandbox.makespan("simulate star.json --policy back-pressure,lp,fcfs --format json").succeeds();
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    for policy in said["policies"].as_array().unwrap() {
        let reached = policy["of_bound"].as_f64().unwrap();
        assert!((0.98..1.02).contains(&reached), "{policy}");
    }
}

#[test]
fn a_period_is_unrolled_into_every_transfer_and_computation() {
    let sandbox = sandbox();
    let said = sandbox.makespan("plan t.json --period 60s --unroll u.csv").succeeds();
    assert!(
        said.contains("period 60.00 s") && said.contains("until all tasks are complete, the last task ends at "),
        "{said}"
    );
    let text = sandbox.read("u.csv");
    assert_eq!(text.lines().filter(|line| line.starts_with("compute,")).count(), 4000);
    assert!(
        text.starts_with("what,job,task,node,processor,from,start,end\n") && text.contains("\nsend,x,"),
        "{text:.300}"
    );
    sandbox.makespan("plan t.json --period 60s --output p.json").succeeds();
    sandbox.makespan("verify t.json p.json").succeeds();
    sandbox.makespan("plan t.json --period 1ms").refused(&["--period 0.001", "choose a longer period"]);
    sandbox.makespan("plan t.json --period soon").refused(&["--period soon"]);
    sandbox.makespan("plan t.json --period 0").refused(&["longer than 0"]);
    let flat = r#"{"version": 1, "platform": {"processors": 2}, "jobs": [{"name": "x", "processors": 1, "time": 3}]}"#;
    sandbox.write("flat.json", flat);
    sandbox.makespan("plan flat.json --unroll u.csv").refused(&["--unroll is only for the steady state of bags"]);
}

#[test]
fn a_changed_plan_is_rejected() {
    let sandbox = sandbox();
    sandbox.makespan("plan t.json --output p.json").succeeds();
    let more = |value: &serde_json::Value| serde_json::Value::from(value.as_f64().unwrap() * 1.000_001);
    let changes = [
        ("/fair_throughput", "the stated"),
        ("/rates/x/a", "the rates require"),
        ("/period/tasks/y/a", "period"),
        ("/period/seconds", "period: the stated fair throughput"),
        ("/period/fair_throughput", "period: the stated fair throughput"),
    ];
    for (path, expect) in changes {
        let mut plan = sandbox.json("p.json");
        let figure = plan.pointer_mut(path).unwrap_or_else(|| panic!("no {path}"));
        *figure = if path.starts_with("/period/tasks") { 1_000_000.into() } else { more(figure) };
        sandbox.write("changed.json", plan.to_string());
        let said = sandbox.makespan("verify t.json changed.json");
        assert!(said.status == Some(1) && said.out.contains(expect), "{path}: {said:?}");
    }
    let mut plan = sandbox.json("p.json");
    let value = plan.pointer_mut("/bounds/fair_throughput/value").unwrap();
    *value = (value.as_f64().unwrap() * 0.999).into();
    sandbox.write("changed.json", plan.to_string());
    assert!(sandbox.makespan("verify t.json changed.json").out.contains("but the certificate proves"));
}

#[test]
fn rates_are_compared_like_any_plan() {
    let sandbox = sandbox();
    let said = sandbox.makespan("compare t.json --algorithms steady-state").succeeds();
    assert!(said.contains("proven: fair throughput <= ") && said.contains("1.0000*"), "{said}");
    // Only rates can be planned if data take time between nodes.
    sandbox.makespan("plan t.json --algorithm heft").refused(&["the data of the tasks of `x`", "`steady-state`"]);
    let mut bare = sandbox.json("t.json");
    for job in bare["jobs"].as_array_mut().unwrap() {
        job.as_object_mut().unwrap().remove("data");
        job["weight"] = 1.into();
    }
    sandbox.write("bare.json", bare.to_string());
    let said = sandbox.makespan("compare bare.json --algorithms steady-state,heft --format json").succeeds();
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let [rates, placed] = [0, 1].map(|at| &said["algorithms"][at]);
    assert!(rates["makespan"]["value"].is_null() && rates["metrics"].is_null(), "{rates}");
    assert!(placed["fair_throughput"]["ratio"].is_null() && placed["makespan"]["ratio"].is_number(), "{placed}");
    let throughput = &rates["fair_throughput"];
    assert!(throughput["value"].as_f64().unwrap() <= throughput["bound"].as_f64().unwrap(), "{throughput}");
    let all = sandbox.makespan("compare bare.json").succeeds();
    assert!(all.contains("steady-state") && all.contains("heft"), "{all}");
    let rates = sandbox.makespan("compare t.json").succeeds();
    assert!(rates.contains("steady-state"), "{rates}");
    let flat = r#"{"version": 1, "platform": {"processors": 2}, "jobs": [{"name": "x", "count": 9, "processors": 1, "time": 3, "weight": 1, "command": ["true"]}]}"#;
    sandbox.write("flat.json", flat);
    assert!(!sandbox.makespan("compare flat.json").succeeds().contains("steady-state"));
    sandbox
        .makespan("run flat.json --algorithm steady-state --oversubscribe --folder f")
        .refused(&["no start times or processors"]);
}

#[test]
fn the_bound_of_a_tree_is_that_of_its_plan() {
    let sandbox = sandbox();
    sandbox.makespan("plan t.json --output p.json").succeeds();
    let bounds = sandbox.makespan("bound t.json --format json").succeeds();
    let bounds: serde_json::Value = serde_json::from_str(&bounds).unwrap();
    assert_eq!(bounds, sandbox.json("p.json")["bounds"]);
    let value = bounds["fair_throughput"]["value"].to_string();
    let said = sandbox.makespan("bound t.json").succeeds();
    assert!(said.contains(&format!("fair throughput <= {value} weighted tasks a second")), "{said}");
    assert!(said.contains(&format!("; {} is reached", sandbox.json("p.json")["fair_throughput"])), "{said}");
    let mut plan = sandbox.json("p.json");
    plan["bounds"]["fair_throughput"]["certificate"] = serde_json::json!({"kind": "alone", "job": 0});
    sandbox.write("other.json", plan.to_string());
    sandbox.makespan("verify t.json other.json").refused(&["not a kind of certificate for a fair throughput"]);
}

#[test]
fn what_a_steady_state_cannot_have_is_refused_with_a_remedy() {
    let sandbox = sandbox();
    let refused = |command: &str, expect: &str| {
        let said = sandbox.makespan(command);
        assert!(said.status == Some(1) && said.err.contains(expect), "{said:?} lacks {expect}");
    };
    refused("plan t.json --swf o.swf", "--swf is not for a steady state");
    let changed = |from: &str, to: &str| sandbox.write("bad.json", TREE.replacen(from, to, 1));
    changed("\"weight\": 2", "\"weight\": 0");
    refused("plan bad.json", "weight 0");
    changed("\"bandwidth\": 1}", "\"latency\": 0}");
    refused("plan bad.json", "`bandwidth`");
    changed("\"bandwidth\": 1}", "\"bandwidth\": 0}");
    refused("plan bad.json", "`0` is not a bandwidth");
    changed("\"parent\": \"root\", \"bandwidth\": 1", "\"parent\": \"b\", \"bandwidth\": 1");
    refused("plan bad.json", "do not lead to a root");
    changed("\"count\": 2000, ", "");
    refused("plan bad.json", "`count`");
}

#[test]
fn trees_go_through_platform_files_of_simgrid() {
    let sandbox = sandbox();
    sandbox.makespan("convert t.json t.xml").succeeds();
    assert!(sandbox.read("t.xml").contains("<host id=\"b\" speed=\"3Mf\"/>"));
    let one = r#"{"version": 1, "platform": {"nodes": 2, "processors_per_node": 1}, "jobs": [{"name": "x", "count": 9, "work": 3, "data": 2}]}"#;
    sandbox.write("jobs.json", one);
    sandbox.makespan("convert jobs.json --platform t.xml moved.json").succeeds();
    assert_eq!(sandbox.json("moved.json")["platform"]["nodes"][3]["bandwidth"], 0.5);
    sandbox.makespan("plan moved.json").succeeds();
    sandbox.makespan("convert jobs.json jobs.xml").refused(&["only a tree of nodes can be written"]);
    sandbox.write("bad.xml", sandbox.read("t.xml").replace("router", "storage"));
    sandbox.makespan("convert jobs.json --platform bad.xml moved.json").refused(&[
        "bad.xml: line",
        "no host or router",
        "remove the data",
    ]);
}
