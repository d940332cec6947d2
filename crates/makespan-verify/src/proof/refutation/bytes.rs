//! The text form of the byte string of a refutation in files.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes bytes as base64 with padding (RFC 4648, section 4).
pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encoded(bytes))
}

/// Reads bytes that [`serialize`] has written.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    decoded(&text).ok_or_else(|| D::Error::custom("`steps` is not base64 with padding"))
}

fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for (number, group) in text.chunks(4).enumerate() {
        let padding = group.iter().rev().take_while(|&&sign| sign == b'=').count();
        if padding > 2 || padding > 0 && (number + 1) * 4 < text.len() {
            return None;
        }
        let mut bits = 0_u32;
        for &sign in &group[..4 - padding] {
            let digit = ALPHABET.iter().position(|&other| other == sign)?;
            bits = bits << 6 | u32::try_from(digit).ok()?;
        }
        let all = (bits << (6 * padding)).to_be_bytes();
        bytes.extend_from_slice(&all[1..4 - padding]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_their_text_form() {
        let bytes: Vec<u8> = (0..=255).rev().collect();
        for length in 0..bytes.len() {
            assert_eq!(decoded(&encoded(&bytes[..length])).as_deref(), Some(&bytes[..length]));
        }
        assert_eq!(encoded(b"refute"), "cmVmdXRl");
        for text in ["a", "abc", "ab=c", "a===", "====", "ab==cdef", "ab.d", "abcdé"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
