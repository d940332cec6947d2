use makespan_core::Instance;
use makespan_core::tree::{Periodic, Rates, TreeProblem, decimal_of};

use super::*;
use crate::instance::read_json;

const TREE: &str = r#"{"version": 1, "platform": {"nodes": [{"name": "r<", "processors": 1, "speed": 3},
  {"name": "a", "processors": 2, "parent": "r<", "bandwidth": 4}, {"name": "s", "processors": 0, "parent": "r<", "bandwidth": 1}]},
 "jobs": [{"name": "x", "count": 200, "work": 3, "data": 2}, {"name": "y", "count": 20, "work": 1, "data": 1, "weight": 2}]}"#;

fn instance() -> (Instance, TreeProblem) {
    let instance = read_json("a.json", TREE.as_bytes(), None).unwrap();
    let problem = TreeProblem::new(&instance).unwrap();
    (instance, problem)
}

#[test]
fn transfers_and_computations_are_written_by_start() {
    let (instance, problem) = instance();
    let period = Periodic { period: makespan_core::Time::from_seconds(10), tasks: vec![9, 0, 0, 18, 0, 0] };
    let network = period.unroll(&instance, &problem, Some(1)).unwrap();
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
fn the_picture_is_well_formed_at_any_size() {
    let (instance, problem) = instance();
    let mut bytes = Vec::new();
    let rates = Rates::new(2, [0.9, 0.0, 0.0, 1.8, 0.0, 0.0].map(decimal_of).to_vec());
    write_tree_svg(&mut bytes, &instance, &problem, &rates, "t & u").unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    assert!(text.contains("r&lt;") && text.contains("90 %") && text.contains("switch"));
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("line")).count(), 2);
}
