//! The `makespan` command as its users meet it, the malicious ones included.

mod bad_commands;
mod bad_files;
mod bags;
mod bounded;
mod commands;
mod compound_runs;
mod flows;
mod graphs;
mod guarded;
mod interrupt;
mod kills;
mod layout;
mod mangled;
mod mapping;
mod measuring;
mod needs;
mod nodes;
mod outputs;
mod resources;
mod resume;
mod run;
mod sandbox;
mod simulate;
mod tree_plans;
mod trees;
mod verify;
