//! `makespan verify` rejects every wrong plan.

use std::ffi::OsString;

use makespan_verify::check::program;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

use crate::cli::sandbox::{Said, Sandbox};

/// Creates a sandbox with an instance and a valid plan.
fn planned() -> Sandbox {
    planned_in(Sandbox::with_small())
}

/// Returns a plan of an instance that has too many jobs for a complete search.
fn planned_for_many() -> Sandbox {
    let sandbox = Sandbox::new();
    let job = |number: u64| {
        format!(
            "{{ name = \"j{number}\", processors = {}, time = {}, weight = {} }}",
            number % 3 + 1,
            number % 7 + 2,
            number % 5 + 1
        )
    };
    let jobs: Vec<String> = (0..70).map(job).collect();
    sandbox
        .write("small.toml", format!("version = 2\nplatform = {{ processors = 8 }}\njobs = [{}]\n", jobs.join(", ")));
    planned_in(sandbox)
}

fn planned_in(sandbox: Sandbox) -> Sandbox {
    sandbox.makespan("plan small.toml --algorithm demt --output p.json").succeeds();
    sandbox.makespan("verify small.toml p.json").succeeds();
    convert(&sandbox, "small.toml");
    sandbox
}

/// Writes the instance as `native.json`, which the program `makespan-verify` reads.
fn convert(sandbox: &Sandbox, instance: &str) {
    sandbox.makespan(&format!("convert {instance} native.json")).succeeds();
}

/// Checks that `makespan-verify` reports about `native.json` and a plan what `makespan verify` said about the plan.
#[track_caller]
fn agreed(sandbox: &Sandbox, plan: &str, said: &Said) {
    let folder = sandbox.path("").display().to_string();
    let words = ["native.json", plan].map(|name| OsString::from(sandbox.path(name)));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = program(&words, &mut out, &mut err);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&folder, "");
    let (out, err) = (text(out), text(err));
    assert_eq!((Some(i32::from(status)), &out), (said.status, &said.out), "{err}");
    let sentence =
        |text: &str| text.trim().trim_start_matches(['×', 'x', ' ']).trim_start_matches("error: ").to_owned();
    assert_eq!(sentence(&err), sentence(&said.err));
}

/// Changes the plan and checks that `verify` rejects it on standard output, with a reason that contains all `parts`.
#[track_caller]
fn rejected(sandbox: &Sandbox, change: impl FnOnce(&mut Value), parts: &[&str]) {
    let mut plan = sandbox.json("p.json");
    let before = plan.clone();
    change(&mut plan);
    assert_ne!(plan, before, "the change must change something");
    sandbox.write("changed.json", plan.to_string());
    let said = sandbox.makespan("verify small.toml changed.json");
    assert_eq!((said.status, said.err.as_str()), (Some(1), ""), "{said:?}");
    assert!(said.out.starts_with("changed.json is rejected:\n"), "{said:?}");
    for part in parts {
        assert!(said.out.contains(part), "`{part}` is missing in\n{}", said.out);
    }
    agreed(sandbox, "changed.json", &said);
    let said = sandbox.makespan("verify small.toml changed.json --format json");
    let verdict: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.status, &verdict["valid"]), (Some(1), &Value::Bool(false)));
    assert!(!verdict["problems"].as_array().unwrap().is_empty());
}

/// Returns the index of a job's placement.
fn at(plan: &Value, job: &str) -> usize {
    plan["placements"].as_array().unwrap().iter().position(|placement| placement["job"] == job).unwrap()
}

fn change(job: &str, key: &str, value: Value) -> impl FnOnce(&mut Value) {
    move |plan| {
        let index = at(plan, job);
        plan["placements"][index][key] = value;
    }
}

#[test]
fn an_unchanged_copy_is_accepted() {
    let sandbox = planned();
    sandbox.write("copy.json", sandbox.json("p.json").to_string());
    assert!(sandbox.makespan("verify small.toml copy.json").succeeds().starts_with("valid"));
}

#[test]
fn tardiness_is_planned_stated_bounded_and_verified() {
    let sandbox = Sandbox::with_small();
    let job = |name: &str, deadline: u32| format!("{{ name = \"{name}\", time = 4, deadline = {deadline} }}");
    let jobs = [job("a", 30), job("b", 5), job("c", 6)].join(", ");
    sandbox.write("due.toml", format!("version = 2\nplatform = {{ processors = 1 }}\njobs = [{jobs}]\n"));
    for (objective, spec) in [("max_tardiness", "max-tardiness"), ("weighted_tardiness", "weighted-tardiness")] {
        let plan =
            format!("plan due.toml --algorithm optimise[objective={spec},steps=200] --output p.json --report r.html");
        sandbox.makespan(&plan).succeeds();
        let file = sandbox.json("p.json");
        assert_eq!((&file[objective], &file["bounds"][objective]["value"]), (&json!(2), &json!(2)), "{file:#}");
        assert!(sandbox.makespan("verify due.toml p.json").succeeds().contains("optimal"));
        let mut other = file.clone();
        other[objective] = json!(1);
        sandbox.write("q.json", other.to_string());
        let said = sandbox.makespan("verify due.toml q.json");
        assert!(said.status == Some(1) && said.out.contains("is 1, but the placements have 2"), "{said:?}");
    }
    for (spec, value) in [("max-lateness", 2), ("total-tardiness", 2), ("tardy-jobs", 1), ("weighted-tardy-jobs", 1)] {
        let plan = format!("plan due.toml --algorithm optimise[objective={spec},steps=200] --output p.json");
        sandbox.makespan(&plan).succeeds();
        let (file, name) = (sandbox.json("p.json"), spec.replace('-', "_"));
        assert_eq!((&file[&name], &file["bounds"][&name]["value"]), (&json!(value), &json!(value)), "{file:#}");
        assert!(sandbox.makespan("verify due.toml p.json").succeeds().contains("optimal"));
    }
    sandbox.makespan("plan due.toml --objective weighted-lateness").misused(&["weighted-lateness"]);
    let renamed = sandbox.makespan("plan due.toml --algorithm optimise[objective=weighted-lateness]");
    renamed.refused(&["objective must be weighted-tardiness"]);
    for objective in ["max-lateness", "weighted-tardiness", "tardy-jobs"] {
        let said = sandbox.makespan(&format!("plan small.toml --objective {objective}"));
        said.refused(&["no job has a due date", "choose another objective"]);
    }
    sandbox.makespan("plan small.toml --objective total-penalty").refused(&["no job has a penalty"]);
    let bound = sandbox.makespan("bound due.toml").succeeds();
    for line in ["maximum lateness >= 2 s\n", "total tardiness >= 2 s\n", "number of tardy jobs >= 1\n"] {
        assert!(bound.contains(line), "{bound}");
    }
    assert!(bound.contains("maximum tardiness >= 2 s\n  the jobs with deadlines up to 6 s alone"), "{bound}");
    let compared = sandbox.makespan("compare due.toml --algorithms list,gang").succeeds();
    assert!(compared.contains("max. tard.") && compared.contains("w. tard."), "{compared}");
    assert!(!sandbox.makespan("bound small.toml").succeeds().contains("tardiness"));
}

#[test]
fn penalties_are_planned_converted_bounded_and_verified() {
    let sandbox = Sandbox::new();
    let job = |name: &str, time: u32, penalty: &str| {
        format!("{{ name = \"{name}\", time = {time}, weight = 2, penalty = {{ {penalty} }} }}")
    };
    let jobs = [job("a", 3, "steps = [[4, 10]]"), job("b", 2, "linear = [[2, 0], [\"6s\", 2]]")].join(", ");
    sandbox.write("i.toml", format!("version = 2\nplatform = {{ processors = 1 }}\njobs = [{jobs}]\n"));
    convert(&sandbox, "i.toml");
    // Job `a` must end by 4 s, so job `b` ends at 5 s and costs 0.5 for each of 3 s. Both weights are 2.
    for (objective, value) in [("total_penalty", 3), ("max_penalty", 3)] {
        let spec = format!("optimise[objective={},steps=200]", objective.replace('_', "-"));
        sandbox.makespan(&format!("plan i.toml --algorithm {spec} --output i.json")).succeeds();
        let file = sandbox.json("i.json");
        assert_eq!(file[objective], json!(value), "{file:#}");
        let said = sandbox.makespan("verify i.toml i.json");
        agreed(&sandbox, "i.json", &said);
        said.succeeds();
    }
    let wrong = sandbox.read("i.toml").replace("[[2, 0]", "[[2, 3]");
    sandbox.write("w.toml", wrong);
    sandbox.makespan("plan w.toml").refused(&["w.toml", "a penalty must not decrease, but 2 comes after 3"]);
}

#[test]
fn setups_and_hard_deadlines_are_planned_and_verified() {
    let sandbox = Sandbox::new();
    let text = "version = 2\njobs = [{ name = \"a\", time = 3, family = \"x\" }, \
                { name = \"b\", time = 2, family = \"y\", must_end_by = 8 }]\n\
                platform = { processors = 1, setups = [{ from = \"x\", to = \"y\", time = 2 }, \
                { from = \"y\", to = \"x\", time = 9 }] }\n";
    sandbox.write("i.toml", text);
    convert(&sandbox, "i.toml");
    for spec in ["list", "optimise[objective=makespan,steps=200]"] {
        sandbox.makespan(&format!("plan i.toml --algorithm {spec} --output i.json")).succeeds();
        let file = sandbox.json("i.json");
        assert_eq!(file["makespan"], json!(7), "{file:#}");
        let said = sandbox.makespan("verify i.toml i.json");
        agreed(&sandbox, "i.json", &said);
        said.succeeds();
    }
    sandbox.write("w.toml", text.replace("must_end_by = 8", "must_end_by = 3"));
    sandbox.makespan("plan w.toml --algorithm demt").refused(&["it does not plan setup times"]);
    sandbox.makespan("plan w.toml --algorithm list").succeeds();
    sandbox.makespan("simulate w.toml").refused(&["the policy easy cannot schedule", "job `b` states `must_end_by`"]);
    // `run` starts jobs with a policy, and no policy keeps deadlines or setup times.
    let commands = text.replace("family =", "command = \"true\", family =");
    sandbox.write("run.toml", &commands);
    sandbox
        .makespan("run run.toml")
        .refused(&["job `b` states `must_end_by`", "state a due date (`deadline`) instead"]);
    sandbox.write("run.toml", commands.replace(", must_end_by = 8", ""));
    sandbox.makespan("run run.toml").refused(&["it does not plan setup times, but the platform states `setups`"]);
    sandbox.write("late.toml", text.replace("must_end_by = 8", "must_end_by = 1"));
    for spec in ["list", "optimise[steps=50]"] {
        let said = sandbox.makespan(&format!("plan late.toml --algorithm {spec}"));
        said.refused(&["no plan keeps all deadlines", "at least 1 s too late"]);
    }
}

#[test]
fn changed_placements_are_rejected() {
    let sandbox = planned();
    rejected(&sandbox, change("rigid", "start", json!(1)), &["`rigid`", "12"]);
    rejected(&sandbox, change("rigid", "end", json!(30)), &["`rigid`", "12"]);
    rejected(&sandbox, change("table", "end", json!(0)), &["`table`"]);
    rejected(&sandbox, change("law", "processors", json!("0-4")), &["`law`", "`table`", "processor 0"]);
    rejected(&sandbox, change("law", "processors", json!("2-4")), &["`law`"]);
    rejected(&sandbox, change("law", "processors", json!("2-7")), &["`law`"]);
    rejected(&sandbox, change("rigid", "processors", json!("0-6")), &["`rigid`", "8"]);
    rejected(&sandbox, change("rigid", "processors", json!("1-8")), &["`rigid`", "8"]);
    let double = |plan: &mut Value| {
        let again = plan["placements"][at(plan, "table")].clone();
        plan["placements"].as_array_mut().unwrap().push(again);
    };
    rejected(&sandbox, double, &["`table`", "2"]);
    let missing = |plan: &mut Value| {
        let index = at(plan, "table");
        plan["placements"].as_array_mut().unwrap().remove(index);
    };
    rejected(&sandbox, missing, &["`table`"]);
    rejected(&sandbox, |plan| plan["placements"] = json!([]), &["`table`", "`rigid`", "`law`"]);
    rejected(&sandbox, change("law", "job", json!("table")), &["`law`", "`table`"]);
}

#[test]
fn changed_values_and_bounds_are_rejected() {
    let sandbox = planned();
    rejected(&sandbox, |plan| plan["makespan"] = json!(20), &["stated makespan is 20", "21.6"]);
    rejected(&sandbox, |plan| plan["weighted_completion"] = json!(1), &["stated weighted completion is 1", "43.4"]);
    for (objective, words) in [("makespan", "makespan"), ("weighted_completion", "weighted completion")] {
        let on = format!("bound on the {words}");
        rejected(&sandbox, |plan| plan["bounds"][objective]["value"] = json!(999), &[&on]);
        let gone = |plan: &mut Value| drop(plan["bounds"].as_object_mut().unwrap().remove(objective));
        rejected(&sandbox, gone, &[&format!("no {on}").replace("no bound", "there is no bound")]);
    }
    rejected(&sandbox, |plan| plan["bounds"] = json!({}), &["no bound on the makespan", "weighted completion"]);
    let swapped = |plan: &mut Value| {
        let bounds = plan["bounds"].clone();
        plan["bounds"]["makespan"]["certificate"] = bounds["weighted_completion"]["certificate"].clone();
        plan["bounds"]["weighted_completion"]["certificate"] = bounds["makespan"]["certificate"].clone();
    };
    rejected(&sandbox, swapped, &["bound on the makespan", "bound on the weighted completion"]);
}

#[test]
fn a_value_below_its_bound_is_told() {
    let sandbox = planned();
    let short = |plan: &mut Value| {
        for placement in plan["placements"].as_array_mut().unwrap() {
            placement["start"] = json!(0);
            placement["end"] = json!(1);
        }
        plan["makespan"] = json!(1);
    };
    rejected(&sandbox, short, &["the makespan of the placements is 1, below the bound 20.333333334"]);
}

#[test]
fn every_changed_figure_of_a_certificate_is_rejected_or_proves_the_value_too() {
    let sandbox = planned();
    let changed = |plan: &mut Value| {
        let certificate = &mut plan["bounds"]["makespan"]["certificate"];
        assert_eq!(certificate["kind"], "refutation");
        let value = certificate["value"].as_i64().unwrap();
        certificate["value"] = json!(value + 1_000_000_000 / certificate["grid"].as_i64().unwrap());
    };
    rejected(&sandbox, changed, &["bound on the makespan"]);
    let steps = |plan: &mut Value| plan["bounds"]["makespan"]["certificate"]["steps"] = json!("");
    rejected(&sandbox, steps, &["bound on the makespan"]);
    let job = |plan: &mut Value| plan["bounds"]["makespan"]["certificate"] = json!({ "kind": "alone", "job": 77 });
    rejected(&sandbox, job, &["bound on the makespan"]);
    let sandbox = planned_for_many();
    let price = |plan: &mut Value| {
        let certificate = &mut plan["bounds"]["weighted_completion"]["certificate"];
        let count = certificate["prices"].as_array().unwrap().len();
        certificate["prices"] = json!(vec![0; count]);
    };
    rejected(&sandbox, price, &["bound on the weighted completion"]);
    let huge = |plan: &mut Value| plan["bounds"]["weighted_completion"]["certificate"]["prices"][0] = json!(i64::MAX);
    rejected(&sandbox, huge, &["bound on the weighted completion"]);
    let end = |plan: &mut Value| {
        let certificate = &mut plan["bounds"]["weighted_completion"]["certificate"];
        let instants = if certificate["kind"] == "time_prices" { "instants" } else { "ends" };
        certificate[instants][0] = json!(-5);
    };
    rejected(&sandbox, end, &["bound on the weighted completion"]);
}

#[test]
fn dual_feasible_functions_are_checked_again() {
    let sandbox = Sandbox::new();
    // Five jobs need just over a third of the processors each, so two run at a time. They need 30 s, although the area
    // bound is 20 s.
    let jobs = ["a", "b", "c", "d", "e"].map(|name| format!("{{ name = \"{name}\", processors = 4, time = 10 }}"));
    let text = format!("version = 1\nplatform = {{ processors = 10 }}\njobs = [{}]\n", jobs.join(", "));
    sandbox.write("small.toml", text);
    let said = sandbox.makespan("bound small.toml").succeeds();
    assert!(said.contains("makespan >= 30 s") || said.contains("makespan >= 29.9"), "{said}");
    assert!(said.contains("is too short: "), "{said}");
    sandbox.makespan("plan small.toml --algorithm demt --output p.json").succeeds();
    sandbox.makespan("verify small.toml p.json").succeeds();
    convert(&sandbox, "small.toml");
    let on = ["bound on the makespan"];
    let certificate = |plan: &mut Value, key: &str, value: Value| {
        let certificate = &mut plan["bounds"]["makespan"]["certificate"];
        assert_eq!(certificate["kind"], "dual_feasible");
        certificate[key] = value;
    };
    rejected(&sandbox, |plan| certificate(plan, "deadline", json!(31_000_000_000_i64)), &on);
    rejected(&sandbox, |plan| certificate(plan, "from", json!(1)), &on);
    rejected(&sandbox, |plan| certificate(plan, "terms", json!([])), &on);
    let whole = json!([{ "price": 1, "widths": "whole", "times": "whole" }]);
    rejected(&sandbox, |plan| certificate(plan, "terms", whole), &on);
}

#[test]
fn a_schedule_that_is_none_is_one_error() {
    let sandbox = planned();
    let case = |content: &[u8], parts: &[&str]| {
        sandbox.write("bad.json", content);
        let said = sandbox.makespan("verify small.toml bad.json");
        agreed(&sandbox, "bad.json", &said);
        said.refused(&[&["bad.json"], parts].concat());
    };
    let plan = sandbox.read("p.json");
    case(b"", &["not a plan file"]);
    case(b"{", &["too early"]);
    case(&plan.as_bytes()[..plan.len() / 2], &["too early"]);
    case(plan.replacen("\"rigid\"", "\"rigit\"", 1).as_bytes(), &["placements[", "rigit", "did you mean `rigid`"]);
    case(plan.replacen("\"version\": 1", "\"version\": 7", 1).as_bytes(), &["version", "7"]);
    case(plan.replacen("\"0-7\"", "\"7-0\"", 1).as_bytes(), &["processors", "7-0"]);
    case(plan.replacen("\"placements\"", "\"placement\"", 1).as_bytes(), &["placement", "did you mean `placements`"]);
    case(plan.replacen("\"start\": 0", "\"start\": -1", 1).as_bytes(), &["start", "-1"]);
    case(plan.replacen("\"makespan\": ", "\"makespan\": 1e400, \"x\": ", 1).as_bytes(), &["makespan"]);
    case(b"\xff\xfe{}", &["not a plan file"]);
    sandbox.makespan("verify small.toml missing.json").refused(&["missing.json", "No such file"]);
    sandbox.makespan("verify small.toml .").refused(&["directory"]);
    sandbox.makespan("verify small.toml small.toml").refused(&["small.toml: this is not a plan file", "plan --output"]);
}

#[test]
fn a_plan_of_another_instance_is_rejected() {
    let sandbox = planned();
    sandbox.write("small.toml", sandbox.read("small.toml").replace("6.1", "6.2"));
    let said = sandbox.makespan("verify small.toml p.json");
    assert_eq!(said.status, Some(1));
    assert!(said.out.contains("`table`") && said.out.contains("made for another instance"), "{said:?}");
}

#[test]
fn a_plan_states_its_origin_and_does_not_depend_on_the_threads() {
    let sandbox = Sandbox::with_small();
    for threads in [1, 2] {
        let line = "plan small.toml --algorithm optimise[objective=makespan,steps=50]";
        sandbox.makespan(&format!("{line} --threads {threads} --output p{threads}.json")).succeeds();
    }
    assert_eq!(sandbox.read("p1.json"), sandbox.read("p2.json"));
    let file = sandbox.json("p1.json");
    assert_eq!((&file["seed"], &file["origin"]["version"]), (&json!(1), &json!(env!("CARGO_PKG_VERSION"))));
    assert_eq!(file["origin"]["spec"], "optimise[objective=makespan,steps=50,searches=2]");
    // The deadline changes neither the placements nor their makespan, but the instance.
    sandbox.write("small.toml", sandbox.read("small.toml").replacen("name = ", "deadline = 900\nname = ", 1));
    let said = sandbox.makespan("verify small.toml p1.json");
    assert!(said.status == Some(1) && said.out.contains("made for another instance: its file states"), "{said:?}");
}

/// Plans of all algorithms for generated instances are accepted.
#[test]
fn every_plan_of_every_algorithm_is_accepted() {
    let sandbox = Sandbox::new();
    let specs: Vec<String> = serde_json::from_str::<Value>(&sandbox.makespan("algorithms --format json").succeeds())
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        // Policies are also listed, but have no examples.
        .filter_map(|entry| entry["examples"].as_array().cloned())
        .flatten()
        .map(|spec| spec.as_str().unwrap().to_owned())
        .collect();
    assert!(specs.len() >= 8, "{specs:?}");
    let families = prop::sample::select(vec!["weak", "high", "mixed", "cirne"]);
    let arrival = prop::option::of(1..50_u32);
    let instances = (families, 1..15_u32, 1..20_u32, 0..1000_u32, arrival);
    let mut runner = TestRunner::new(Config {
        cases: if std::env::var_os("MAKESPAN_LONG").is_some() { 8 } else { 2 },
        failure_persistence: None,
        ..Config::default()
    });
    let tried = runner.run(&instances, |(family, jobs, processors, seed, arrival)| {
        let arrival = arrival.map_or(String::new(), |tenths| format!("--arrival-rate {}", f64::from(tenths) / 10.0));
        let line = format!("generate moldable --family {family} --jobs {jobs} --processors {processors} --seed {seed}");
        sandbox.makespan(&format!("{line} {arrival} --output i.toml")).succeeds();
        convert(&sandbox, "i.toml");
        // Mapping heuristics need sequential jobs that are released together, and a steady state needs bags. Other
        // instances are refused.
        for spec in &specs {
            let said = sandbox.makespan(&format!("plan i.toml --algorithm {spec} --output i.json"));
            let others = ["it maps jobs ", "is not a bag of tasks", "no job has a due date", "no job has a penalty"];
            if said.status == Some(1) && others.iter().any(|reason| said.err.contains(reason)) {
                continue;
            }
            said.succeeds();
            let said = sandbox.makespan("verify i.toml i.json");
            agreed(&sandbox, "i.json", &said);
            prop_assert_eq!(said.status, Some(0), "{} {:?}", spec, said);
        }
        Ok::<(), TestCaseError>(())
    });
    tried.unwrap();
}
