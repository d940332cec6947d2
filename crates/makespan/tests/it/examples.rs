//! Runs the examples, which use only this crate of the project.

#[path = "../../examples/flow.rs"]
mod flow;
#[path = "../../examples/graph.rs"]
mod graph;
#[path = "../../examples/moldable.rs"]
mod moldable;
#[path = "../../examples/tree.rs"]
mod tree;

#[test]
fn moldable_jobs() {
    moldable::main().unwrap();
}

#[test]
fn a_graph_on_machines_that_differ() {
    graph::main().unwrap();
}

#[test]
fn a_flow_of_tasks() {
    flow::main().unwrap();
}

#[test]
fn bags_on_a_tree() {
    tree::main().unwrap();
}
