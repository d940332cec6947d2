//! Checks plan files and formats the verdict, for the program `makespan-verify` and the command `makespan verify`.

mod problems;
mod program;
mod verdict;
mod words;

pub use problems::{problems, wrong_statements};
pub use program::program;
pub use verdict::{objectives, other_metrics, verdict};
pub use words::{amount, bound_word, figure, gap, percent_above, value};
