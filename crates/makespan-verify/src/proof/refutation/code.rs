//! The code of a refutation: an adaptive binary arithmetic code of its numbers (I. H. Witten, R. M. Neal, J. G. Cleary,
//! DOI 10.1145/214762.214771).

use crate::proof::CertificateError;
use crate::proof::error::malformed;

use super::LIMIT;
use super::place::Place;

/// Maximum length of the list of numbers of a refutation.
const MAX_NUMBERS: u64 = 1 << 22;
/// The number of statistics. Each statistic estimates the probability that the next bit is 1.
const STATISTICS: usize = 1 << 18;
/// The number of bits after which a statistic adapts at a constant speed.
const MAX_SEEN: u8 = 15;
/// The largest 32-bit number.
const MAX: u64 = (1 << 32) - 1;

/// Visits the bits of each number, and keeps statistics of the visited bits.
#[derive(Clone, Debug, Default)]
struct Visitor {
    /// For each statistic, the probability that the next bit is 1, as a difference from 1/2 in units of 2^-16.
    probabilities: Vec<i32>,
    /// For each statistic, the number of bits so far.
    seen: Vec<u8>,
    place: Place,
}

impl Visitor {
    fn new() -> Self {
        Self { probabilities: vec![0; STATISTICS], seen: vec![0; STATISTICS], place: Place::default() }
    }

    /// Returns the next number. Let n + 1 = 2^length + rest, with rest < 2^length. The code of the number n consists of
    /// the six bits of `length` and the `length` bits of `rest`, both from the highest bit to the lowest bit. For each
    /// bit, `next` receives the probability of a 1, in units of 2^-16, and returns the bit.
    fn number(&mut self, mut next: impl FnMut(u64) -> u64) -> u64 {
        let context = self.place.context();
        let mut head = 1;
        for _ in 0..6 {
            head = 2 * head + self.bit(context, head, &mut next);
        }
        let length = head - 64;
        let mut number = 1;
        for _ in 0..length {
            let node = 64 + 256 * length + if number < 256 { number } else { 0 };
            number = 2 * number + self.bit(context, node, &mut next);
        }
        number - 1
    }

    /// Returns the next bit, and updates its statistic. The statistic is chosen by `context` and by `node`, which
    /// identifies the previous bits of the number.
    fn bit(&mut self, context: u64, node: u64, next: &mut impl FnMut(u64) -> u64) -> u64 {
        let hash = (context << 15 | node).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 46;
        let index = usize::try_from(hash).unwrap_or(0);
        let (probability, seen) = (&mut self.probabilities[index], &mut self.seen[index]);
        let bit = next((*probability + (1 << 15)).unsigned_abs().into());
        let target = if bit == 1 { (1 << 15) - 1 } else { -(1 << 15) };
        *probability += 2 * (target - *probability) / (2 * i32::from(*seen) + 3);
        *seen = (*seen + 1).min(MAX_SEEN);
        bit
    }
}

/// An interval of 32-bit numbers. Both ends belong to the interval.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: u64,
    high: u64,
}

impl Interval {
    const ALL: Self = Self { low: 0, high: MAX };

    /// Divides the interval into a lower part for the bit 1 and an upper part for the bit 0. Returns the last number of
    /// the lower part.
    fn middle(self, probability: u64) -> u64 {
        self.low + (((self.high - self.low) * probability) >> 16)
    }

    /// Keeps only the part of the interval that stands for `bit`. Returns the leading bytes that all numbers of this
    /// part have in common, and removes them from the interval.
    fn narrow(&mut self, middle: u64, bit: u64) -> impl Iterator<Item = u64> + use<'_> {
        if bit == 1 {
            self.high = middle
        } else {
            self.low = middle + 1
        }
        std::iter::from_fn(move || {
            let first = self.low >> 24;
            (first == self.high >> 24).then(|| {
                (self.low, self.high) = (self.low << 8 & MAX, self.high << 8 & MAX | 255);
                first
            })
        })
    }
}

/// Returns the code of numbers below 2^63 - 1.
pub(super) fn encoded(numbers: &[u64]) -> Vec<u8> {
    if numbers.is_empty() {
        return Vec::new();
    }
    let (mut bytes, mut interval, mut visitor) = (Vec::new(), Interval::ALL, Visitor::new());
    let count = u64::try_from(numbers.len()).unwrap_or(u64::MAX);
    for (at, number) in std::iter::once(count).chain(numbers.iter().copied()).enumerate() {
        let length = u64::from((number + 1).ilog2());
        let bits = |number: u64, count: u64| (0..count).rev().map(move |bit| number >> bit & 1);
        let mut bits = bits(length, 6).chain(bits(number + 1, length));
        visitor.number(|probability| {
            let bit = bits.next().unwrap_or(0);
            let middle = interval.middle(probability);
            bytes.extend(interval.narrow(middle, bit).map(|byte| byte.to_le_bytes()[0]));
            bit
        });
        if at > 0 {
            visitor.place.advance(number);
        }
    }
    // The reader adds zero bytes after this byte. The number that results is within the interval.
    bytes.push(interval.high.to_le_bytes()[3]);
    bytes
}

/// A reader of the numbers of a refutation.
pub(super) struct Reader<'a> {
    bytes: std::slice::Iter<'a, u8>,
    /// The next 32 bits of the code.
    code: u64,
    interval: Interval,
    visitor: Visitor,
    /// The number of zero bytes that the reader has added after the last byte.
    missing: u32,
    /// The count of numbers that have not been read yet.
    left: u64,
}

impl<'a> Reader<'a> {
    /// Begins to read the numbers of a code. A code without bytes has no numbers.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, CertificateError> {
        let (bytes, interval, visitor) = (bytes.iter(), Interval::ALL, Visitor::new());
        let mut reader = Self { bytes, code: 0, interval, visitor, missing: 0, left: 0 };
        if reader.bytes.len() == 0 {
            return Ok(reader);
        }
        (0..4).for_each(|_| reader.shift());
        reader.left = reader.decoded()?;
        if reader.left > MAX_NUMBERS {
            return malformed(format!("the steps have more than {MAX_NUMBERS} numbers"));
        }
        Ok(reader)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.left == 0
    }

    /// Reads the next byte of the code, or 0 after the last byte.
    fn shift(&mut self) {
        let byte = self.bytes.next();
        self.missing += u32::from(byte.is_none());
        self.code = self.code << 8 & MAX | u64::from(byte.copied().unwrap_or(0));
    }

    /// Decodes a number. The encoder omits up to three zero bytes at the end of the code.
    fn decoded(&mut self) -> Result<u64, CertificateError> {
        let mut visitor = std::mem::take(&mut self.visitor);
        let number = visitor.number(|probability| {
            let middle = self.interval.middle(probability);
            let bit = u64::from(self.code <= middle);
            let shifts = self.interval.narrow(middle, bit).count();
            (0..shifts).for_each(|_| self.shift());
            bit
        });
        self.visitor = visitor;
        if self.missing > 3 { malformed("the steps end within a record") } else { Ok(number) }
    }

    /// Reads a number below 2^63.
    pub(super) fn unsigned(&mut self) -> Result<u64, CertificateError> {
        if self.is_at_end() {
            return malformed("the steps end within a record");
        }
        self.left -= 1;
        let number = self.decoded()?;
        self.visitor.place.advance(number);
        Ok(number)
    }

    /// Reads a signed number n, which is coded as 2 n if n is not negative, and otherwise as -1 - 2 n. Rejects numbers
    /// beyond [`LIMIT`].
    pub(super) fn signed(&mut self) -> Result<i64, CertificateError> {
        let number = self.unsigned()?;
        let half = (number >> 1).cast_signed();
        let value = if number & 1 == 0 { half } else { -1 - half };
        if value.abs() > LIMIT { malformed("the steps contain a number that is too large") } else { Ok(value) }
    }

    /// Reads an unsigned number of up to [`LIMIT`].
    pub(super) fn amount(&mut self) -> Result<i64, CertificateError> {
        match i64::try_from(self.unsigned()?) {
            Ok(amount) if amount <= LIMIT => Ok(amount),
            _ => malformed("the steps contain a number that is too large"),
        }
    }

    /// Reads the position of an entry in a list of `count` entries.
    pub(super) fn position(&mut self, count: usize) -> Result<usize, CertificateError> {
        let number = self.unsigned()?;
        match usize::try_from(number) {
            Ok(number) if number < count => Ok(number),
            _ => malformed(format!("`steps` refers to entry {number} of a list that has {count} entries")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(bytes: &[u8]) -> Option<Vec<u64>> {
        let mut reader = Reader::new(bytes).ok()?;
        let mut numbers = Vec::new();
        while !reader.is_at_end() {
            numbers.push(reader.unsigned().ok()?);
        }
        Some(numbers)
    }

    proptest! {
        #[test]
        fn numbers_survive_their_code(
            numbers in prop::collection::vec(prop_oneof![0..40_u64, 0..(1_u64 << 63) - 1], 1..200)
        ) {
            let bytes = encoded(&numbers);
            prop_assert_eq!(decoded(&bytes), Some(numbers.clone()));
            // A shorter code has fewer numbers.
            prop_assert_ne!(decoded(&bytes[..bytes.len() / 2]), Some(numbers));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            decoded(&bytes);
        }
    }
}
