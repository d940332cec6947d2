//! Generated and simulated bags of tasks on trees.

use serde_json::Value;

use crate::cli::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.makespan("generate tree --nodes 8 --degree 3 --tasks 60 --seed 4 --output tree.json").succeeds();
    sandbox
}

#[test]
fn policies_on_a_tree_stand_side_by_side() {
    let sandbox = sandbox();
    let text = sandbox.makespan("simulate tree.json").succeeds();
    assert!(text.starts_with("3 applications of 180 tasks on a tree of 8 nodes, buffers of 10 tasks\n"), "{text}");
    assert!(
        text.contains("(proved)") && text.contains("back-pressure: fractions of the time until the last task ends\n"),
        "{text}"
    );
    let all = "simulate tree.json --policy back-pressure,lp,data-centric,cgbc,fcfs,pbc --format json";
    let json = sandbox.makespan(all).succeeds();
    let one = sandbox.makespan(&format!("{all} --threads 1")).succeeds();
    assert_eq!(json, one);
    let json: Value = serde_json::from_str(&json).unwrap();
    let policies = json["policies"].as_array().unwrap();
    let names: Vec<&str> = policies.iter().filter_map(|policy| policy["policy"].as_str()).collect();
    assert_eq!(names, ["back-pressure", "lp", "data-centric", "cgbc", "fcfs", "pbc"]);
    for policy in policies {
        assert_eq!((&policy["unfinished"], &policy["stalled"]), (&0.into(), &false.into()), "{policy}");
        let computed = policy["nodes"].as_array().unwrap().iter().flat_map(|node| node["computed"].as_array().unwrap());
        assert_eq!(computed.filter_map(Value::as_u64).sum::<u64>(), 180);
        assert!(policy["of_bound"].as_f64().unwrap() < 1.2, "{policy}");
    }
}

#[test]
fn a_page_shows_what_each_policy_kept_busy() {
    let sandbox = sandbox();
    sandbox.makespan("simulate tree.json --policy lp,fcfs --report page.html").succeeds();
    let page = sandbox.read("page.html");
    for part in ["Mean loads under lp", "Mean loads under fcfs", "Progress under fcfs", "of the bound", "</html>"] {
        assert!(page.contains(part), "{part}");
    }
    // The data that the script draws have one entry for each node and policy.
    let data = page.split_once("application/json\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: Value = serde_json::from_str(data).unwrap();
    let [names, pictures] = ["names", "pictures"].map(|key| data[key].as_array().unwrap());
    assert_eq!(pictures.len(), 2);
    for picture in pictures {
        let links = picture["links"].as_array().unwrap();
        assert_eq!(links.len(), names.len());
        assert!(links.iter().all(|load| (0.0..1.001).contains(&load.as_f64().unwrap())), "{links:?}");
    }
}

#[test]
fn a_node_that_leaves_loses_no_task() {
    let sandbox = sandbox();
    let changes = "--change 40s:n1:bandwidth=9kbit/s --change 2min:n2:speed=1 --change 3min:n1:removed";
    let text = sandbox.makespan(&format!("simulate tree.json --format json {changes}")).succeeds();
    let json: Value = serde_json::from_str(&text).unwrap();
    let policy = &json["policies"][0];
    assert_eq!((&policy["unfinished"], &policy["nodes"][1]["removed"]), (&0.into(), &true.into()));
}

#[test]
fn what_does_not_fit_is_refused_once_and_clearly() {
    let sandbox = sandbox();
    sandbox.write("log.swf", "1 0 -1 60 2 -1 -1 2 100 -1 1 7 -1 -1 -1 -1 -1 -1\n");
    for (arguments, reason) in [
        ("simulate tree.json --policy easy", "unknown policy for trees `easy`"),
        ("simulate tree.json --policy lp,lp", "names `lp` twice"),
        ("simulate tree.json --buffer 0", "--buffer is 0; it must be at least 1"),
        ("simulate tree.json --swf out.swf", "--swf is only for jobs on a cluster"),
        ("simulate tree.json --change 5s:n9:removed", "there is no node `n9`"),
        ("simulate tree.json --change 5s:n0:removed", "`n0` is the root"),
        ("simulate tree.json --change 5s:n1:bandwidth=0", "`0` is not a bandwidth"),
        ("simulate tree.json --change n1:removed", "write TIME:NODE:WHAT"),
        ("simulate tree.json --change 5s:n1:speed=-1", "`-1` is not a speed"),
        ("simulate log.swf --processors 4 --buffer 3", "--buffer is only for bags of tasks on a tree"),
        ("generate tree --nodes 0", "nodes is 0; it must be at least 1"),
        ("generate tree --nodes 5 --largest-ratio 0", "largest ratio is 0"),
    ] {
        sandbox.makespan(arguments).refused(&[reason]);
    }
}
