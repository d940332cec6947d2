//! Converts bytes to text and back without loss. File names and program arguments on Linux are bytes that need not be
//! UTF-8.
//!
//! A byte of 0x80 or more that is not part of a UTF-8 character becomes one of the last 128 code points of Unicode,
//! U+10FF80 to U+10FFFF. These code points are reserved for private use. If the input contains one of these characters,
//! each byte of the character is converted separately. So the original bytes can always be restored.

use std::borrow::Cow;

/// Code point of the character that represents byte 0x80.
const FIRST: u32 = 0x0010_FF80;

/// Converts bytes to a text that represents them. If the bytes are UTF-8 without characters above U+FFFFF, they are not
/// copied.
///
/// ```
/// use makespan_core::{bytes_of_text, text_of_bytes};
///
/// assert_eq!(text_of_bytes(b"plain".to_vec()), "plain");
/// let text = text_of_bytes(b"caf\xe9.txt".to_vec());
/// assert_eq!(bytes_of_text(&text).as_ref(), b"caf\xe9.txt");
/// ```
pub fn text_of_bytes(bytes: Vec<u8>) -> String {
    // First byte, in UTF-8, of the characters that represent bytes. No character below U+100000 begins with this byte.
    const LEAD: u8 = 0xF4;
    let bytes = match String::from_utf8(bytes) {
        Ok(text) if !text.as_bytes().contains(&LEAD) => return text,
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if byte_of(c).is_some() {
                text.extend(c.encode_utf8(&mut [0; 4]).bytes().map(char_of));
            } else {
                text.push(c);
            }
        }
        text.extend(chunk.invalid().iter().copied().map(char_of));
    }
    text
}

/// Converts a text from [`text_of_bytes`] back to the bytes that it represents.
pub fn bytes_of_text(text: &str) -> Cow<'_, [u8]> {
    if !text.contains(|c| byte_of(c).is_some()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// Returns the byte that a character represents, or `None` for a character outside U+10FF80 to U+10FFFF.
pub fn byte_of(c: char) -> Option<u8> {
    u32::from(c)
        .checked_sub(FIRST)
        .and_then(|offset| u8::try_from(offset).ok())
        .filter(|&offset| offset < 0x80)
        .map(|offset| offset | 0x80)
}

fn char_of(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte & 0x7F)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_sequence_of_bytes_comes_back(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xF4), Just(0x8F), Just(0xBE), Just(0x80)], 0..40),
            text in "\\PC{0,10}",
        ) {
            let bytes = [bytes, text.into_bytes()].concat();
            let held = text_of_bytes(bytes.clone());
            let back = bytes_of_text(&held);
            prop_assert_eq!(back.as_ref(), bytes.as_slice());
        }
    }
}
