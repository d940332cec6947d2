//! The makespan command.
fn main() {}
