//! Platforms that require best placement, from the file to the picture.

use crate::cli::sandbox::Sandbox;

const INSTANCE: &str = r#"version = 1
platform = { nodes = 2, processors_per_node = 4, placement = "compact" }
[[jobs]]
name = "a"
time = [40, 20, 14, 11, 10]
[[jobs]]
name = "b"
time = [12, 7]
[[jobs]]
name = "c"
time = [3]
[[jobs]]
name = "d"
time = [30, 16, 11, 9]
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", INSTANCE);
    sandbox
}

#[test]
fn plans_keep_best_placement_and_show_their_parts() {
    let sandbox = sandbox();
    for spec in ["shelves", "list", "demt", "dual", "gang", "sequential", "sweep[steps=10]"] {
        sandbox.makespan(&format!("plan i.toml --algorithm {spec} --output p.json")).succeeds();
        sandbox.makespan("verify i.toml p.json").succeeds();
    }
    sandbox.makespan("plan i.toml --algorithm shelves --output p.json --gantt p.svg").succeeds();
    let groups = ["P_full", "P_1", "P_2", "small"];
    let plan = sandbox.json("p.json");
    let placements = plan["placements"].as_array().unwrap();
    let group = |placement: &serde_json::Value| placement["group"].as_str().unwrap_or_default().to_owned();
    assert!(placements.iter().all(|placement| groups.contains(&group(placement).as_str())), "{plan}");
    assert!(sandbox.read("p.svg").contains(&format!(">{}</text>", group(&placements[0]))));
}

#[test]
fn scattered_jobs_are_rejected() {
    let sandbox = sandbox();
    sandbox.makespan("plan i.toml --algorithm gang --output p.json").succeeds();
    let mut plan = sandbox.json("p.json");
    let placements = plan["placements"].as_array_mut().unwrap();
    let two = placements.iter_mut().find(|placement| placement["job"] == "b").unwrap();
    two["processors"] = "3-4".into();
    sandbox.write("scattered.json", plan.to_string());
    let said = sandbox.makespan("verify i.toml scattered.json");
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.out.contains("`b` is spread over the nodes n0, n1"), "{said:?}");
}

#[test]
fn the_default_keeps_best_placement_and_fills_it_with_bags() {
    let sandbox = sandbox();
    let bag = "[[jobs]]\nname = \"bag\"\ncount = 9\nweight = 0\nprocessors = 3\ntime = 0.5\n";
    sandbox.write("bag.toml", format!("{INSTANCE}\n{bag}"));
    for objective in ["makespan", "pareto"] {
        let spec = format!("optimise[objective={objective},steps=200,searches=1]");
        sandbox.makespan(&format!("plan bag.toml --algorithm {spec} --output p.json")).succeeds();
        sandbox.makespan("verify bag.toml p.json").succeeds();
    }
}

#[test]
fn what_cannot_be_kept_is_refused_with_a_remedy() {
    let sandbox = sandbox();
    let raw = "demt[compaction=raw]";
    sandbox.makespan(&format!("plan i.toml --algorithm {raw}")).refused(&[
        "placement = compact",
        "`optimise`",
        "`shelves`",
    ]);
    sandbox.write("odd.toml", INSTANCE.replace("processors_per_node = 4", "processors_per_node = 3"));
    sandbox.makespan("plan odd.toml --algorithm shelves --output odd.json").succeeds();
    sandbox.makespan("verify odd.toml odd.json").succeeds();
    sandbox.write("flat.toml", INSTANCE.replace("nodes = 2, processors_per_node = 4", "processors = 8"));
    sandbox.makespan("plan flat.toml").refused(&["flat.toml:2:", "the platform states no nodes"]);
}
