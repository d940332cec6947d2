//! The byte string of a refutation: its text form in files, and a reader of its numbers.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

use crate::proof::CertificateError;
use crate::proof::error::malformed;

use super::LIMIT;

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

/// A reader of the numbers of a byte string.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(super) fn byte(&mut self) -> Result<u8, CertificateError> {
        let Some(&byte) = self.bytes.get(self.at) else { return malformed("its steps end within a record") };
        self.at += 1;
        Ok(byte)
    }

    /// Reads an unsigned number in LEB128: seven bits in each byte, lowest bits first. The highest bit is set in all
    /// bytes except the last. Accepts at most nine bytes, so the result is below 2^63.
    pub(super) fn unsigned(&mut self) -> Result<u64, CertificateError> {
        let mut number = 0;
        for place in 0..9 {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << (7 * place);
            if byte < 128 {
                return Ok(number);
            }
        }
        malformed("its steps contain a number of more than nine bytes")
    }

    /// Reads a signed number: an unsigned number whose lowest bit is the sign (zigzag). Rejects numbers beyond
    /// [`LIMIT`].
    pub(super) fn signed(&mut self) -> Result<i64, CertificateError> {
        let number = self.unsigned()?;
        let half = (number >> 1).cast_signed();
        let value = if number & 1 == 0 { half } else { -1 - half };
        if value.abs() > LIMIT { malformed("its steps contain a number that is too large") } else { Ok(value) }
    }

    /// Reads an unsigned number of up to [`LIMIT`].
    pub(super) fn amount(&mut self) -> Result<i64, CertificateError> {
        match i64::try_from(self.unsigned()?) {
            Ok(amount) if amount <= LIMIT => Ok(amount),
            _ => malformed("its steps contain a number that is too large"),
        }
    }

    /// Reads the position of an entry in a list of `count` entries, as an unsigned number.
    pub(super) fn position(&mut self, count: usize) -> Result<usize, CertificateError> {
        let number = self.unsigned()?;
        within(number, count)
    }

    /// Reads the position of an entry in a list of `count` entries, as a single byte.
    pub(super) fn short_position(&mut self, count: usize) -> Result<usize, CertificateError> {
        let number = self.byte()?;
        within(number.into(), count)
    }
}

fn within(number: u64, count: usize) -> Result<usize, CertificateError> {
    match usize::try_from(number) {
        Ok(number) if number < count => Ok(number),
        _ => malformed(format!("its steps name entry {number} of a list with {count} entries")),
    }
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

    #[test]
    fn numbers_are_read_exactly_or_refused() {
        let read = |bytes: &[u8]| Reader::new(bytes).signed().ok();
        assert_eq!([read(&[0]), read(&[1]), read(&[2]), read(&[255, 1])], [Some(0), Some(-1), Some(1), Some(-128)]);
        assert_eq!(
            (read(&[128]), read(&[]), read(&[255; 12]), read(&[254, 255, 255, 255, 255, 255, 255, 255, 127])),
            (None, None, None, None)
        );
        assert!(Reader::new(&[3]).position(3).is_err() && Reader::new(&[2]).position(3) == Ok(2));
    }
}
