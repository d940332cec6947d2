//! Every command in its intended use.

use std::fs;

use serde_json::Value;

use crate::cli::sandbox::{Said, Sandbox};

/// The default algorithm with a limit that does not depend on the machine.
const STEPS: &str = "optimise[steps=200,searches=2]";

#[test]
fn plan_writes_every_output_and_verify_accepts() {
    let sandbox = Sandbox::with_small();
    let text = sandbox
        .makespan("plan small.toml --output p.json --gantt g.svg --report r.html --jobs j.csv --swf s.swf")
        .succeeds();
    assert!(text.starts_with("3 jobs on 8 processors, planned by optimise\n"), "{text}");
    for word in ["makespan", "weighted completion", "proven bound", "table", "rigid", "law"] {
        assert!(text.contains(word), "`{word}` is missing in\n{text}");
    }
    let plan = sandbox.json("p.json");
    assert_eq!(plan["placements"].as_array().unwrap().len(), 3);
    assert!(plan["bounds"]["makespan"]["certificate"].is_object());
    let svg = sandbox.read("g.svg");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    let html = sandbox.read("r.html");
    assert!(html.to_lowercase().starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
    let csv = sandbox.read("j.csv");
    assert!(csv.starts_with("job_id,") && csv.lines().count() == 4, "{csv}");
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() == columns), "{csv}");
    let swf = sandbox.read("s.swf");
    let records = swf.lines().filter(|line| !line.starts_with(';'));
    assert_eq!(records.map(|record| record.split_whitespace().count()).collect::<Vec<_>>(), [18; 3]);
    assert!(sandbox.makespan("verify small.toml p.json").succeeds().starts_with("valid"));
    let verdict: Value =
        serde_json::from_str(&sandbox.makespan("verify small.toml p.json --format json").succeeds()).unwrap();
    assert_eq!((&verdict["valid"], verdict["problems"].as_array().unwrap().len()), (&Value::Bool(true), 0));
}

#[test]
fn json_on_standard_output_is_the_file() {
    let sandbox = Sandbox::with_small();
    let printed = sandbox.makespan("plan small.toml --format json --output p.json").succeeds();
    assert_eq!(printed, sandbox.read("p.json"));
    let other = sandbox.makespan("plan small.toml --format json --algorithm list[order=saf] --seed 9").succeeds();
    let other: Value = serde_json::from_str(&other).unwrap();
    assert_eq!((other["algorithm"].as_str(), other["seed"].as_u64()), (Some("list[order=saf]"), Some(9)));
}

#[test]
fn bound_gives_a_value_and_a_reason() {
    let sandbox = Sandbox::with_small();
    let text = sandbox.makespan("bound small.toml").succeeds();
    assert!(text.contains("makespan >= ") && text.contains("weighted completion >= "), "{text}");
    let json: Value = serde_json::from_str(&sandbox.makespan("bound small.toml --format json").succeeds()).unwrap();
    for objective in ["makespan", "weighted_completion"] {
        assert!(json[objective]["value"].as_f64().unwrap() > 0.0);
        assert!(json[objective]["certificate"]["kind"].is_string());
    }
}

#[test]
fn compare_takes_all_or_a_list() {
    let sandbox = Sandbox::with_small();
    let text = sandbox.makespan("compare small.toml").succeeds();
    for name in ["demt", "dual", "list[order=saf]", "gang", "sequential"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} is missing in\n{text}");
    }
    let list = "compare small.toml -a 'demt[compaction=raw,shuffles=3], gang' --format json";
    let json: Value = serde_json::from_str(&sandbox.makespan(list).succeeds()).unwrap();
    let rows = json["algorithms"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["algorithm"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 2);
    assert!(names[0].starts_with("demt[") && names[1] == "gang", "{names:?}");
    for row in rows {
        assert!(row["makespan"]["ratio"].as_f64().unwrap() >= 1.0, "{row}");
    }
}

#[test]
fn compare_marks_the_objectives_that_an_algorithm_does_not_minimise() {
    let sandbox = Sandbox::with_small();
    sandbox.makespan("generate moldable --family cirne --jobs 30 --processors 8 --output big.toml").succeeds();
    // For each algorithm, two expectations: whether a mark follows the makespan, and whether a mark follows the
    // weighted completion.
    let cases = [("demt", [false, false]), ("dual", [false, true]), ("optimise[steps=9]", [true, false])];
    let names = cases.map(|(name, _)| name).join(",");
    for files in ["big.toml", "big.toml small.toml"] {
        let line = format!("compare {files} --algorithms '{names}'");
        let text = sandbox.makespan(&line).succeeds();
        assert!(text.contains("~ the algorithm does not minimise this objective\n"), "{text}");
        let table = format!("{line} --table t.csv --table t.md --format json");
        let json: Value = serde_json::from_str(&sandbox.makespan(&table).succeeds()).unwrap();
        for (at, (name, marks)) in cases.iter().enumerate() {
            let row = text.lines().find(|line| line.starts_with(name)).unwrap();
            let count = marks.iter().filter(|is_marked| **is_marked).count();
            assert_eq!(row.matches('~').count(), count, "{row}");
            for (objective, is_marked) in ["makespan", "weighted_completion"].iter().zip(marks) {
                assert_eq!(json["algorithms"][at][objective]["minimised"], !is_marked, "{name}: {objective}");
            }
        }
        let csv = sandbox.read("t.csv");
        let heading: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        assert!(heading.contains(&"weighted_completion_minimised"), "{csv}");
        assert!(csv.lines().any(|line| line.contains("dual") && line.contains(",false,")), "{csv}");
        assert!(sandbox.read("t.md").contains("~ marks an objective that the algorithm does not minimise"));
    }
    let aimed = sandbox.makespan("compare big.toml --algorithms demt").succeeds();
    assert!(!aimed.contains('~'), "{aimed}");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let sandbox = Sandbox::new();
    let base = "generate moldable --family mixed --jobs 12 --processors 10";
    for ending in ["toml", "json", "swf"] {
        for (name, seed) in [("a", 5), ("b", 5), ("c", 6)] {
            let said = sandbox.makespan(&format!("{base} --seed {seed} --output {name}.{ending}")).succeeds();
            assert_eq!(said, "");
        }
        let read = |name: &str| sandbox.read(&format!("{name}.{ending}"));
        assert!(read("a") == read("b") && read("a") != read("c"), "{ending}");
        let plan =
            |seed: u32| sandbox.makespan(&format!("plan a.{ending} --seed {seed} -a {STEPS} --format json")).succeeds();
        assert_eq!(plan(3), plan(3));
    }
    assert_eq!(sandbox.makespan(&format!("{base} --seed 5")).succeeds(), sandbox.read("a.json"));
}

#[test]
fn logs_and_arrivals_are_drawn() {
    let sandbox = Sandbox::new();
    let log = "generate lublin --jobs 40 --processors 64 --load 0.8 --requests 4";
    for (name, seed) in [("a", 5), ("b", 5), ("c", 6)] {
        sandbox.makespan(&format!("{log} --seed {seed} -o {name}.swf")).succeeds();
    }
    assert!(sandbox.read("a.swf") == sandbox.read("b.swf") && sandbox.read("a.swf") != sandbox.read("c.swf"));
    sandbox.makespan("plan a.swf -a list").succeeds();
    sandbox.makespan("generate lublin --jobs 9 --processors 64 -o d.toml").succeeds();
    let moldable = |seed: u32| {
        let plan = format!("plan a.swf --speedup downey:random --speedup-seed {seed} -a list --format json");
        sandbox.makespan(&plan).succeeds()
    };
    assert!(moldable(1) == moldable(1) && moldable(1) != moldable(2), "the seed of the laws is the user's");
    let text = sandbox.makespan("generate poisson --family weak --jobs 9 --processors 4 --load 0.7").succeeds();
    assert!(text.contains("\"released\""), "{text}");
    sandbox.makespan(log).refused(&["--requests needs --output FILE.swf"]);
    sandbox.makespan(&format!("{log} -o d.toml")).refused(&["--requests needs"]);
    sandbox.makespan("generate lublin --jobs 0 --processors 64").refused(&["--jobs is 0"]);
    sandbox.makespan("generate lublin --jobs 3 --processors 4 -o x.swf").refused(&["processors is 4", "at least 8"]);
    sandbox.makespan("generate lublin --jobs 3 --processors 64 --requests 0.5").misused(&["from 1 to 1000"]);
    sandbox.makespan("generate poisson --family weak --jobs 9 --processors 4 --load 0").refused(&["load is 0"]);
}

#[test]
fn convert_goes_between_all_formats_and_back() {
    let sandbox = Sandbox::with_small();
    sandbox
        .makespan("generate moldable --family cirne --jobs 9 --processors 16 --arrival-rate 0.5 -o g.toml")
        .succeeds();
    for name in ["small", "g"] {
        sandbox.makespan(&format!("convert {name}.toml {name}.json")).succeeds();
        sandbox.makespan(&format!("convert {name}.json {name}2.toml")).succeeds();
        sandbox.makespan(&format!("convert {name}2.toml {name}2.json")).succeeds();
        assert_eq!(sandbox.read(&format!("{name}.json")), sandbox.read(&format!("{name}2.json")));
        let plan = |file: &str| sandbox.makespan(&format!("plan {file} -a {STEPS} --format json")).succeeds();
        assert_eq!(plan(&format!("{name}.toml")), plan(&format!("{name}2.json")));
    }
    // A log contains no speed-ups and no weights. Its other contents survive every format.
    sandbox.makespan("convert small.toml small.swf").succeeds();
    sandbox.makespan("convert small.swf log.toml").succeeds();
    sandbox.makespan("convert log.toml log.json").succeeds();
    sandbox.makespan("convert log.json again.swf").succeeds();
    let records = |name: &str| -> Vec<String> {
        sandbox.read(name).lines().filter(|line| !line.starts_with(';')).map(str::to_owned).collect()
    };
    assert_eq!(records("small.swf"), records("again.swf"));
    assert_eq!(records("small.swf").len(), 3);
}

#[test]
fn a_log_becomes_moldable() {
    let sandbox = Sandbox::new();
    let records: String = (1..=20)
        .map(|id| format!("{id} {id} 0 {}0 {} -1 -1 {} 900 -1 1 1 1 1 1 1 -1 -1\n", id, id % 4 + 1, id % 4 + 1))
        .collect();
    sandbox.write("log.swf", format!("; MaxProcs: 8\n{records}"));
    for law in ["linear", "amdahl:0.1", "power:0.8", "downey:6,1", "downey:random"] {
        sandbox.makespan(&format!("plan log.swf --speedup {law} --processors 12 --output p.json")).succeeds();
        sandbox.makespan(&format!("verify log.swf --speedup {law} --processors 12 p.json")).succeeds();
    }
    assert!(
        sandbox.makespan("plan log.swf --strict").succeeds().starts_with("20 jobs on 8 processors, with release dates")
    );
}

#[test]
fn algorithms_are_listed_with_what_one_should_know() {
    let sandbox = Sandbox::new();
    let text = sandbox.makespan("algorithms --all").succeeds();
    let few = sandbox.makespan("algorithms").succeeds();
    assert!(few.lines().count() < 40 && few.contains("  easy ") && few.contains("algorithms --all"), "{few}");
    let json: Value = serde_json::from_str(&sandbox.makespan("algorithms --format json").succeeds()).unwrap();
    let entries = json.as_array().unwrap();
    assert!(entries.len() >= 5);
    for entry in entries {
        let name = entry["name"].as_str().unwrap();
        assert!(text.lines().any(|line| line == name), "{name}");
        let scheduler = entry["kind"] == "scheduler";
        assert!(scheduler || entry["kind"] == "policy" || entry["kind"] == "tree policy", "{name}");
        for key in ["summary", "supports", "guarantee", "source"].iter().filter(|&&key| scheduler || key != "guarantee")
        {
            assert!(!entry[key].as_str().unwrap().is_empty(), "{name} has no {key}");
        }
    }
    let schedulers = entries.iter().filter(|entry| entry["kind"] == "scheduler").count();
    assert_eq!(text.matches("  guarantee  ").count(), schedulers);
    assert_eq!(text.matches("  drives     ").count(), entries.len() - schedulers);
}

/// `setup` writes its files and `--remove` removes them. Other files of the user are not touched.
#[test]
fn manual_pages_and_completions_are_installed_by_one_command() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("p/share/man/man1")).unwrap();
    sandbox.write("p/share/man/man1/other.1", "mine");
    let said = sandbox.makespan("setup --prefix p").succeeds();
    assert!(said.contains("manual pages") && said.contains("p/share/man/man1"), "{said}");
    for (file, content) in [
        ("man/man1/makespan.1", "commands.txt"),
        ("man/man1/makespan-run.1", "fail\\-fast"),
        ("man/man1/makespan-history-forget.1", "older\\-than"),
        ("bash-completion/completions/makespan", "complete"),
        ("fish/vendor_completions.d/makespan.fish", "complete"),
        ("zsh/site-functions/_makespan", "#compdef makespan"),
    ] {
        let text = sandbox.read(&format!("p/share/{file}"));
        assert!(text.contains(content), "{file} has no {content:?}:\n{text}");
    }
    let home = sandbox.path("home");
    let mut command = sandbox.command("setup");
    let said = Said::new("setup", &command.env("HOME", &home).env_remove("XDG_DATA_HOME").output().unwrap());
    assert!(said.status == Some(0) && home.join(".local/share/man/man1/makespan-plan.1").exists(), "{said:?}");
    sandbox.makespan("setup --prefix p --remove").succeeds();
    assert_eq!(fs::read_dir(sandbox.path("p/share/man/man1")).unwrap().count(), 1);
    assert!(!sandbox.path("p/share/zsh/site-functions/_makespan").exists());
    sandbox.write("file", "");
    let said = sandbox.makespan("setup --prefix file");
    assert!(said.status == Some(1) && said.err.contains("cannot make the folder"), "{said:?}");
}

#[test]
fn who_asks_for_nothing_sees_three_examples() {
    let said = Sandbox::new().makespan("");
    let examples: Vec<&str> = said.err.lines().filter(|line| line.starts_with("  makespan ")).collect();
    assert_eq!(examples.len(), 3, "{said:?}");
    assert!(examples[0].contains("run commands.txt") && examples.iter().all(|line| line.len() <= 80), "{said:?}");
}

#[test]
fn completions_and_help_exist() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(sandbox.makespan(&format!("completions {shell}")).succeeds().contains("makespan"));
    }
    let whole = sandbox.makespan("--help").succeeds();
    let commands =
        ["plan", "bound", "verify", "compare", "simulate", "run", "profile", "generate", "convert", "algorithms"];
    for command in commands {
        assert!(whole.contains(&format!("\n  {command} ")), "{command} is missing in\n{whole}");
        let help = sandbox.makespan(&format!("{command} --help")).succeeds();
        assert!(help.contains("Usage: makespan ") && help.lines().count() > 6, "{help}");
        assert!(help.lines().next().is_some_and(|line| !line.is_empty()), "{help}");
    }
    assert!(sandbox.makespan("--version").succeeds().starts_with("makespan "));
    sandbox.makespan("").misused(&["Usage: makespan <COMMAND>"]);
}

#[test]
fn a_front_is_planned_drawn_and_verified() {
    let sandbox = Sandbox::new();
    sandbox.makespan("generate moldable --family mixed --jobs 30 --processors 20 --output jobs.json").succeeds();
    let line = "plan jobs.json --objective pareto --time-limit 400ms --output front.json --report page.html";
    let text = sandbox.makespan(line).succeeds();
    assert!(text.contains("chosen") && text.contains("within"), "{text}");
    let front = sandbox.json("front.json")["front"].as_array().unwrap().clone();
    assert!(front.len() > 1, "a short and a light schedule at least");
    assert!(sandbox.read("page.html").contains("Weighted completion against makespan"));
    assert!(sandbox.makespan("verify jobs.json front.json").succeeds().starts_with("valid"));
    let limited = sandbox.makespan("plan jobs.json --makespan-at-most 1.5 --time-limit 200ms").succeeds();
    assert!(limited.contains("makespan-at-most=1.5"), "{limited}");
    let flow = sandbox.makespan("plan jobs.json --objective mean-flow --time-limit 50ms --format json").succeeds();
    assert!(flow.contains("\"mean_flow\": ") && flow.matches("mean_flow").count() == 2, "value and bound");
    sandbox
        .makespan("plan jobs.json --makespan-at-most 1.000001 --time-limit 50ms")
        .refused(&["found no schedule", "allow"]);
}

#[test]
fn a_changed_front_is_rejected() {
    let sandbox = Sandbox::new();
    sandbox.makespan("generate moldable --family mixed --jobs 20 --processors 20 --output jobs.json").succeeds();
    sandbox.makespan("plan jobs.json --objective pareto --time-limit 300ms --output front.json").succeeds();
    let rejected = |change: &dyn Fn(&mut Value), part: &str| {
        let mut file = sandbox.json("front.json");
        change(&mut file);
        sandbox.write("changed.json", file.to_string());
        let said = sandbox.makespan("verify jobs.json changed.json");
        assert_eq!(said.status, Some(1), "{said:?}");
        assert!(said.out.contains(part), "{part} is missing in {said:?}");
    };
    rejected(&|file| file["front"][0]["makespan"] = 1.into(), "front[0]: the stated makespan is 1");
    rejected(&|file| file["front"][0]["bounds"]["weighted_completion"]["value"] = 1e9.into(), "front[0]: bound on the");
    let unlimited = |file: &mut Value| {
        let bound = file["front"][0]["bounds"]["weighted_completion"].as_object_mut().unwrap();
        bound.remove("makespan_at_most").expect("the shortest schedule is under a limit");
    };
    rejected(&unlimited, "the certificate is valid only for schedules with makespan at most");
    let shorter =
        |file: &mut Value| file["front"][0]["bounds"]["weighted_completion"]["makespan_at_most"] = 0.001.into();
    rejected(&shorter, "is valid only for schedules with a smaller makespan");
    rejected(&|file| file["front"][0]["placements"][0]["start"] = 0.123.into(), "front[0]: job");
    let mut file = sandbox.json("front.json");
    let bounds = &mut file["front"][0]["bounds"];
    bounds["mean_flow"] = bounds["weighted_completion"].clone();
    sandbox.write("changed.json", file.to_string());
    sandbox.makespan("verify jobs.json changed.json").refused(&["front[0].bounds", "has only one bound"]);
    let other = |file: &mut Value| drop(file["front"].as_array_mut().unwrap().drain(..));
    let mut file = sandbox.json("front.json");
    other(&mut file);
    sandbox.write("changed.json", file.to_string());
    assert!(sandbox.makespan("verify jobs.json changed.json").succeeds().starts_with("valid"), "without a front");
}
