//! Times of tasks on machines: generated, planned, reproduced.

use crate::sandbox::Sandbox;

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

#[test]
fn the_mapping_benchmark_is_reproduced_and_goes_on() {
    let sandbox = Sandbox::new();
    let line = "reproduce mapping --classes c_hihi,i_lolo --tasks 12 --machines 3 --time steps=30 --output results";
    let text = sandbox.makespan(line).succeeds();
    for part in ["Skipped files of the benchmark: u_c_hihi.0", "no folder of files (--data)", "min-min", "not measured"]
    {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    assert!(text.contains("2 matrices (0 from an earlier campaign)"), "{text}");
    assert_eq!(sandbox.read("results/results.csv").lines().count(), 1 + 2 * 14);
    assert!(sandbox.makespan(line).succeeds().contains("2 matrices (2 from an earlier campaign)"));
    sandbox.makespan("reproduce mapping --data none --output r").refused(&["none", "name a folder"]);
    sandbox.makespan("reproduce mapping --seeds 0 --output r").refused(&["seeds is 0"]);
    sandbox.makespan("reproduce mapping --classes c --output r").misused(&["`c`", "such as c_hilo"]);
}
