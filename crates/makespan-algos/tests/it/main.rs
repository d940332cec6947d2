//! The integration tests of this crate: one program, which links once.

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

/// Returns the number of cases of a property: all of them in `./check long`, a quarter in `./check`, which takes 20 minutes at most.
fn cases(all: u32) -> u32 {
    if std::env::var_os("MAKESPAN_LONG").is_some() { all } else { all.div_ceil(4) }
}
