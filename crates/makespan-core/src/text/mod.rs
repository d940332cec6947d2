//! Formatting of numbers with nouns, and conversion between bytes and text.

mod bytes;
mod control;
mod count;
mod shell;

pub use bytes::{byte_of, bytes_of_text, text_of_bytes};
pub use control::{harmless, is_control, shown};
pub use count::counted;
pub use shell::{is_shell, shell_line};
