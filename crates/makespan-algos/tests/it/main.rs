//! Integration tests of this crate, in one program because several programs would take longer to link.

mod catalogue;
mod flow;
mod graphs;
mod growing;
mod harness;
mod machines;
mod mapping;
mod moldable_graphs;
mod needs;
mod optimise;
mod policies;
mod published;
mod shelves;
mod trees;

/// Returns the number of test cases of a property. `./check long` runs all of them; `./check`, which may take at most
/// 20 minutes, runs a quarter.
fn cases(all: u32) -> u32 {
    if std::env::var_os("MAKESPAN_LONG").is_some() { all } else { all.div_ceil(4) }
}
