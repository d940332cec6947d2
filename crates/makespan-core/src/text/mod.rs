//! Words and bytes in texts.

mod bytes;
mod count;

pub use bytes::{byte_of, bytes_of_text, text_of_bytes};
pub use count::counted;
