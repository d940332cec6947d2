//! Integration tests of this crate. All tests are in one program, because linking several programs would take longer.

mod catalogue;
mod flow;
mod graphs;
mod growing;
mod hard_deadlines;
mod harness;
mod lags;
mod machines;
mod mapping;
mod moldable_graphs;
mod needs;
mod optimise;
mod plan_files;
mod policies;
mod published;
mod setups;
mod shelves;
mod trees;

/// Returns the number of test cases for a property test. `./check long` runs all cases. `./check` runs a quarter of the
/// cases, because it must not take longer than 20 minutes.
fn cases(all: u32) -> u32 {
    if std::env::var_os("MAKESPAN_LONG").is_some() { all } else { all.div_ceil(4) }
}
