//! Generated and simulated flows of tasks.

use serde_json::Value;

use crate::cli::sandbox::Sandbox;

#[test]
fn a_flow_is_generated_the_same_for_a_seed() {
    let sandbox = Sandbox::new();
    for name in ["a.json", "b.json", "c.toml"] {
        sandbox.makespan(&format!("generate flow --tasks 40 --capacities 10,30 --seed 5 --output {name}")).succeeds();
    }
    assert_eq!(sandbox.read("a.json"), sandbox.read("b.json"));
    assert_eq!(
        sandbox.makespan("generate flow --tasks 40 --capacities 10,30 --seed 5").succeeds(),
        sandbox.read("a.json")
    );
    let said = |name: &str| sandbox.makespan(&format!("simulate {name} --policy flow")).succeeds();
    assert_eq!(said("a.json"), said("c.toml"), "both formats say the same");
    for (options, parts) in [
        ("--tasks 0", ["--tasks is 0", "at least 1"]),
        ("--rate 0", ["rate", "0"]),
        ("--swing 1.5", ["swing", "1.5"]),
        ("--capacities 5,0", ["capacities", "0"]),
        ("--mean-size 0", ["mean", "0"]),
    ] {
        sandbox.makespan(&format!("generate flow {options}")).refused(&parts);
    }
}

#[test]
fn a_flow_is_simulated_with_its_phases() {
    let sandbox = Sandbox::new();
    sandbox.makespan("generate flow --tasks 120 --capacities 1000,3000 --rate 2 --output flow.json").succeeds();
    let policies = "flow[communication=0.05s],ptfs[scheduling-time=zero],interval[every=5s],immediate[mapper=mct]";
    let text = sandbox.makespan(&format!("simulate flow.json --policy {policies} --report page.html")).succeeds();
    for label in ["makespan over its bound", "utilisation by speed", "tasks a second", "time in slide region"] {
        assert!(text.contains(label), "no `{label}` in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let page = sandbox.read("page.html");
    assert!(
        page.contains("legend phases") && page.matches(r#"<path class="saturation""#).count() == 4,
        "a strip a policy"
    );

    let said = sandbox.makespan(&format!("simulate flow.json --policy {policies} --format json")).succeeds();
    let said: Value = serde_json::from_str(&said).unwrap();
    for one in said["policies"].as_array().unwrap() {
        let flow = &one["task_flow"];
        assert!(flow["makespan"].as_f64() >= flow["bound"].as_f64() && flow["bound"].as_f64() > Some(0.0), "{one}");
        let shares = flow["phases"].as_object().unwrap().values().map(|share| share.as_f64().unwrap());
        assert!((shares.sum::<f64>() - 1.0).abs() < 1e-6, "{one}");
    }
}

#[test]
fn other_logs_have_no_phases() {
    let sandbox = Sandbox::with_small();
    sandbox.makespan("simulate small.toml --report page.html").succeeds();
    assert!(!sandbox.read("page.html").contains("legend phases"));
    sandbox.makespan("simulate small.toml --policy flow").refused(&["flow"]);
}
