//! Tasks with a separate run time for each machine are generated and planned.

use crate::cli::sandbox::Sandbox;

#[test]
fn matrices_are_generated_and_planned() {
    let sandbox = Sandbox::new();
    for (consistency, ranges) in [("c", "hi"), ("s", "lo"), ("i", "hi")] {
        let options = format!("--consistency {consistency} --task-range {ranges} --machine-range lo --seed 3");
        sandbox.makespan(&format!("generate etc --tasks 20 --machines 4 {options} -o m.etc")).succeeds();
        let text = sandbox.read("m.etc");
        let mut lines = text.lines();
        assert_eq!((lines.next(), lines.clone().count()), (Some("20 4"), 20));
        let row: Vec<f64> = lines.next().unwrap().split(' ').map(|time| time.parse().unwrap()).collect();
        assert_eq!(row.len(), 4);
        assert!(consistency != "c" || row.is_sorted(), "{row:?}");
        sandbox.makespan(&format!("generate etc --tasks 20 --machines 4 {options} -o again.etc")).succeeds();
        assert_eq!(sandbox.read("again.etc"), text, "the same seed gives the same bytes");
        sandbox.makespan("plan m.etc --algorithm min-min --output p.json").succeeds();
        sandbox.makespan("verify m.etc p.json").succeeds();
    }
    sandbox.makespan("generate etc --tasks 3 --machines 2 -o m.toml").succeeds();
    assert!(sandbox.read("m.toml").contains("time_on"));
    sandbox.makespan("generate etc --consistency x").misused(&["consistency is `x`", "c (consistent)"]);
    sandbox.makespan("generate etc --tasks 0").refused(&["tasks is 0", "at least 1"]);
    sandbox.makespan("generate etc -o m.foo").refused(&["m.foo"]);
}
