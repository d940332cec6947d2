//! Pictures, comparisons of several instances with their tables and profiles, and the description of one algorithm.

use std::fs;

use crate::cli::sandbox::Sandbox;

/// Creates three instances of different sizes and, if `graph` is true, one that few algorithms can plan.
fn instances(graph: bool) -> Sandbox {
    let sandbox = Sandbox::with_small();
    for (seed, jobs) in [(1, 8), (2, 12)] {
        let line =
            format!("generate moldable --family mixed --jobs {jobs} --processors 8 --seed {seed} --output {seed}.toml");
        sandbox.makespan(&line).succeeds();
    }
    if graph {
        sandbox.makespan("generate graphs --tasks 6 --output graph.json").succeeds();
    }
    sandbox
}

#[test]
fn a_chart_is_written_as_what_its_ending_says() {
    let sandbox = Sandbox::with_small();
    for (name, start) in [("g.svg", "<svg"), ("g.PNG", "\u{89}PNG"), ("g.pdf", "%PDF")] {
        sandbox.makespan(&format!("plan small.toml --algorithm demt --gantt {name}")).succeeds();
        let bytes = fs::read(sandbox.path(name)).unwrap();
        let first: String = bytes.iter().take(4).map(|&byte| byte as char).collect();
        assert_eq!(first, start, "{name}");
    }
}

/// Each file is the same as if it were the only output.
#[test]
fn a_chart_is_written_several_times() {
    let sandbox = Sandbox::with_small();
    for command in ["plan small.toml --algorithm demt", "simulate small.toml --policy fcfs,easy"] {
        sandbox.makespan(&format!("{command} --gantt a.svg --gantt a.png --gantt b.pdf")).succeeds();
        for (name, alone) in [("a.svg", "c.svg"), ("a.png", "c.png"), ("b.pdf", "c.pdf")] {
            sandbox.makespan(&format!("{command} --gantt {alone}")).succeeds();
            assert_eq!(
                fs::read(sandbox.path(name)).unwrap(),
                fs::read(sandbox.path(alone)).unwrap(),
                "{command}: {name}"
            );
        }
    }
    sandbox.makespan("plan small.toml --gantt a.svg --gantt a.svg").refused(&["a.svg", "two outputs name this file"]);
    sandbox.makespan("plan small.toml --gantt a.svg --gantt b.bmp").refused(&["--gantt b.bmp", ".svg, .png or .pdf"]);
}

#[test]
fn every_process_writes_the_same_picture() {
    let sandbox = Sandbox::with_small();
    for ending in ["svg", "png", "pdf"] {
        let files = ["a", "b", "c"].map(|name| {
            let name = format!("{name}.{ending}");
            sandbox.makespan(&format!("plan small.toml --algorithm demt --gantt {name}")).succeeds();
            fs::read(sandbox.path(&name)).unwrap()
        });
        assert!(files.iter().all(|file| *file == files[0]), "{ending}");
    }
}

#[test]
fn several_instances_are_summed_up() {
    let sandbox = instances(true);
    let all = "small.toml 1.toml 2.toml graph.json --algorithms demt,dual,gang";
    let outputs = "--table t.csv --table t.md --table t.tex --profile p.svg --profile p.pdf --profile p.csv";
    let said = sandbox.makespan(&format!("compare {all} {outputs}")).succeeds();
    assert!(said.starts_with("4 instances, 1 to 12 jobs, 8 processors\n"), "{said}");
    let planned = |name: &str| said.lines().find(|line| line.starts_with(name)).unwrap().contains("3 of 4");
    assert!(planned("dual") && !planned("demt"), "{said}");
    // A note explains that some means cover only three instances.
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("did not plan all 4 instances") && words.contains("dual over 3"), "{said}");

    let mut table = csv::Reader::from_path(sandbox.path("t.csv")).unwrap();
    let heading = table.headers().unwrap().clone();
    let rows: Vec<_> = table.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 12);
    let at = |name: &str| heading.iter().position(|known| known == name).unwrap();
    for row in &rows {
        let cell = |name: &str| &row[at(name)];
        if cell("left_out").is_empty() {
            let [value, bound, ratio] =
                ["makespan", "makespan_bound", "makespan_ratio"].map(|name| cell(name).parse::<f64>().unwrap());
            assert!((value / bound - ratio).abs() < 1e-6 && ratio >= 1.0, "{row:?}");
        } else {
            assert!(cell("instance") == "graph.json" && cell("makespan").is_empty(), "{row:?}");
        }
    }
    for table in ["t.md", "t.tex"] {
        assert!(sandbox.read(table).contains("did not plan all 4 instances"), "{table}");
    }
    assert!(sandbox.read("t.md").contains("| demt | 4 |") && sandbox.read("t.tex").contains("\\toprule"));

    // The profile agrees with the table.
    let profile = sandbox.read("p.csv");
    let of = |algorithm: &str| {
        let value = |instance: &str, algorithm: &str| {
            let row = rows.iter().find(|row| row[at("instance")] == *instance && row[at("algorithm")] == *algorithm);
            row.and_then(|row| row[at("makespan")].parse::<f64>().ok()).unwrap_or(f64::INFINITY)
        };
        let best = |instance: &str| {
            ["demt", "dual", "gang"].map(|name| value(instance, name)).into_iter().fold(f64::INFINITY, f64::min)
        };
        let names = ["small.toml", "1.toml", "2.toml", "graph.json"];
        names.iter().filter(|name| value(name, algorithm) <= best(name)).count() as f64 / 4.0
    };
    for algorithm in ["demt", "dual", "gang"] {
        let stated = profile.lines().find_map(|line| line.strip_prefix(&format!("{algorithm},1,")));
        let stated: f64 = stated.map_or(0.0, |share| share.parse().unwrap());
        assert!((stated - of(algorithm)).abs() < 1e-12, "{algorithm}: {profile}");
    }
    assert!(sandbox.read("p.svg").contains(">demt</text>"));
}

#[test]
fn what_makes_no_sense_of_several_instances_is_refused_before_any_work() {
    let sandbox = instances(false);
    for (line, parts) in [
        ("compare small.toml --profile p.svg", &["several instances"][..]),
        ("compare small.toml 1.toml small.toml", &["small.toml: the instance is named twice"]),
        ("compare small.toml 1.toml --shards 2", &["name only one instance"]),
        ("compare small.toml 1.toml --table t.json", &["--table t.json", ".csv, .md or .tex"]),
        ("compare small.toml 1.toml --table 1.toml", &["--table 1.toml"]),
        ("compare small.toml 1.toml --profile none/p.svg", &["the folder `none` does not exist"]),
        ("compare small.toml 1.toml -a gang --profile p.svg --objective pareto", &["the values of one objective"]),
        ("compare small.toml 1.toml -a gang --profile p.svg --objective cost", &["cost is not measured", "makespan"]),
        ("compare small.toml 1.toml -a gng", &["unknown algorithm `gng`"]),
    ] {
        sandbox.makespan(line).refused(parts);
    }
    assert!(!sandbox.entries().iter().any(|name| name.starts_with("p.") || name.starts_with("t.")));
}

#[test]
fn those_that_cannot_plan_are_one_line_behind_the_table() {
    let sandbox = Sandbox::with_small();
    let said = sandbox.makespan("compare small.toml").succeeds();
    assert!(!said.contains("note:"), "{said}");
    let (table, folded) = said.split_once(" cannot plan such an instance: ").unwrap();
    assert!(
        table.contains("demt") && folded.contains("heft") && folded.contains("--algorithms NAME prints the"),
        "{said}"
    );
    sandbox.makespan("compare small.toml --algorithms heft").refused(&["heft"]);
}

#[test]
fn an_algorithm_is_explained_by_its_name() {
    let sandbox = Sandbox::new();
    let all: serde_json::Value =
        serde_json::from_str(&sandbox.makespan("algorithms --format json").succeeds()).unwrap();
    for entry in all.as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        let said = sandbox.makespan(&format!("algorithms {name}")).succeeds();
        let begins = said.lines().any(|line| line == name);
        assert!(begins && said.contains("  source ") && said.contains("  example    makespan "), "{said}");
        for parameter in entry["parameters"].as_array().unwrap() {
            assert!(said.contains(&format!("[{}=..]", parameter["name"].as_str().unwrap())), "{said}");
        }
    }
    assert!(sandbox.makespan("algorithms 'list[order=saf]'").succeeds().starts_with("list\n"));
    sandbox.makespan("algorithms dmt").refused(&["did you mean `demt`?"]);
}
