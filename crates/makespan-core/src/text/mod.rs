//! Formatting of numbers with nouns, conversion between bytes and text, and words of commands.

mod bytes;
mod control;
mod count;
mod placeholders;
mod shell;

pub use bytes::{byte_of, bytes_of_text, text_of_bytes};
pub use control::{harmless, is_control, shown};
pub use count::counted;
pub use placeholders::{literal_word, replaced_placeholders};
pub use shell::{is_shell, shell_line};
