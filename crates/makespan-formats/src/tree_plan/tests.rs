use makespan_core::Instance;
use makespan_core::tree::{decimal_of, decimal_text};

use super::*;
use crate::instance::read_json;

const TREE: &str = r#"{"version": 1, "platform": {"nodes": [{"name": "r<", "processors": 1, "speed": 3},
  {"name": "a", "processors": 2, "parent": "r<", "bandwidth": 4}, {"name": "s", "processors": 0, "parent": "r<", "bandwidth": 1}]},
 "jobs": [{"name": "x", "count": 200, "work": 3, "data": 2}, {"name": "y", "count": 20, "work": 1, "data": 1, "weight": 2}]}"#;

fn instance() -> (Instance, TreeProblem) {
    let instance = read_json("a.json", TREE.as_bytes()).unwrap();
    let problem = TreeProblem::new(&instance).unwrap();
    (instance, problem)
}

/// Rates by hand: the root computes x, and node a computes y; worth by work alone.
fn file(problem: &TreeProblem) -> TreePlanFile {
    let rates = [0.9, 0.0, 0.0, 1.8, 0.0, 0.0].map(decimal_of).to_vec();
    let prices = TreePrices { tasks: vec![3, 1], ports: vec![0, 0, 0], exponent: 0 };
    let bound = prices.proves(problem).unwrap();
    assert_eq!(bound, RBig::ONE, "5 work units a second, 5 for a unit of fair throughput");
    let mut file = TreePlanFile::new(problem, &Rates::new(2, rates), &bound, prices).unwrap();
    file.remarks.push("a \"remark\"".into());
    file.period = Some(Periodic { period: makespan_core::Time::from_seconds(10), tasks: vec![9, 0, 0, 18, 0, 0] });
    file
}

fn text(file: &TreePlanFile, instance: &Instance) -> String {
    let mut bytes = Vec::new();
    file.write(instance, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn transfers_and_computations_are_written_by_start() {
    let (instance, problem) = instance();
    let network = file(&problem).period.unwrap().unroll(&instance, &problem, Some(1)).unwrap();
    let mut bytes = Vec::new();
    write_network_csv(&instance, &network, crate::CsvNames::Guarded, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "what,job,task,node,processor,from,start,end");
    assert_eq!(lines[1], "compute,x,0,r<,0,,0,1");
    assert_eq!(lines[2], "send,y,0,a,,r<,0,0.25");
    assert_eq!(lines.last(), Some(&"compute,y,17,a,1,,27,28"));
    assert_eq!(lines.len(), 1 + 9 + 2 * 18);
}

#[test]
fn a_plan_reads_back_as_it_was_written_and_has_no_problems() {
    let (instance, problem) = instance();
    let file = file(&problem);
    assert_eq!((decimal_text(&file.fair_throughput), decimal_text(&file.bound)), ("0.9".into(), "1".into()));
    let text = text(&file, &instance);
    assert!(is_tree_plan(text.as_bytes()) && !is_tree_plan(b"{\"version\": 1}"));
    let again = TreePlanFile::read("p.json", text.as_bytes(), &instance).unwrap();
    assert_eq!(again, file);
    assert_eq!(again.problems(&instance, &problem), Vec::<String>::new());
}

#[test]
fn everything_that_is_changed_is_found() {
    let (instance, problem) = instance();
    let text = text(&file(&problem), &instance);
    let changed = |from: &str, to: &str, expect: &str| {
        assert!(text.contains(from), "{text}");
        let file = TreePlanFile::read("p.json", text.replacen(from, to, 1).as_bytes(), &instance);
        let problems = file.map_or_else(|error| vec![error.to_string()], |file| file.problems(&instance, &problem));
        assert!(problems.iter().any(|problem| problem.contains(expect)), "{problems:?} lacks {expect}");
    };
    changed("\"fair_throughput\": 0.9", "\"fair_throughput\": 0.91", "the rates give 0.9");
    changed("\"r<\": 0.9", "\"r<\": 0.8", "the rates give 0.8");
    changed("\"r<\": 0.9", "\"r<\": 1.01", "`r<` would compute 1.01");
    changed("\"a\": 1.8", "\"s\": 1.8", "`r<` would send 1.8");
    changed("\"a\": 1.8", "\"a\": -1.8", "a negative rate");
    changed("\"value\": 1,", "\"value\": 0.999,", "its certificate proves 1");
    changed("\"ports\":[0,0,0]", "\"ports\":[0,0]", "every node");
    changed("\"ports\":[0,0,0]", "\"ports\":[1,0,0]", "proves 1.13333333333334");
    changed("\"a\": 18", "\"a\": 21", "period: node `a` would compute");
    changed("\"seconds\": 10", "\"seconds\": 0", "longer than 0 s");
    changed("\"a\": 1.8", "\"b\": 1.8", "no node `b`");
    changed("\"y\": {", "\"z\": {", "no job `z`");
    changed("tree_prices", "rejection", "no certificate of a fair throughput");
}

#[test]
fn the_picture_is_well_formed_at_any_size() {
    let (instance, problem) = instance();
    let mut bytes = Vec::new();
    write_tree_svg(&mut bytes, &instance, &problem, &file(&problem).rates, "t & u").unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    assert!(text.contains("r&lt;") && text.contains("90 %") && text.contains("switch"));
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("line")).count(), 2);
}
