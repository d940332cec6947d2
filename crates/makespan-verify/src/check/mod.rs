//! The check of plan files, and the words of its verdict. The program `makespan-verify` and the command
//! `makespan verify` both use this module.

mod problems;
mod program;
mod verdict;
mod words;

pub use problems::{problems, wrong_statements};
pub use program::program;
pub use verdict::{objectives, other_metrics, verdict};
pub use words::{amount, bound_word, figure, gap, value};
