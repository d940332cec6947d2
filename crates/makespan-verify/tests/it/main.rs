//! Integration tests of this crate. They form a single program, because several programs would take longer to link.

mod certificates;
mod hostile;
mod program;
mod refusal;
mod sample;
