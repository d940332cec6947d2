//! Packs long columns of numbers and names into short texts. The script `pack.js` reads these texts.
//!
//! A number is split into groups of seven bits, the lowest group first. Each group is one byte. The highest bit of the
//! byte states whether another byte follows (LEB128). A number n that may be negative is mapped to 2n if n >= 0, and to
//! -2n - 1 otherwise ("zigzag").
//!
//! A name is stored as its difference from one of the eight preceding names. Let p be the number of bytes in the
//! common prefix, and d the number of names between the two names. The entry consists of the number 8 p + d, the
//! number of remaining bytes, and these bytes. Every 64th name has no common prefix, so blocks of names can be read
//! independently. All bytes are encoded in base 64.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};

/// Number of names in a block. The first name of a block does not refer to preceding names.
const BLOCK: usize = 64;
/// Number of preceding names that a name may refer to.
const BACK: usize = 8;

/// Packed bytes, which are serialised in base 64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PackedBytes(Vec<u8>);

impl PackedBytes {
    /// Appends a number.
    pub(super) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Appends a number that may be negative.
    pub(super) fn signed(&mut self, value: i64) {
        self.number(((value << 1) ^ (value >> 63)) as u64);
    }

    /// Packs a sequence of numbers.
    pub(super) fn numbers(values: impl Iterator<Item = u64>) -> Self {
        let mut packed = Self::default();
        values.for_each(|value| packed.number(value));
        packed
    }

    /// Packs a sequence of numbers as differences between consecutive numbers.
    pub(super) fn distances(values: impl Iterator<Item = i64>) -> Self {
        let (mut packed, mut last) = (Self::default(), 0);
        for value in values {
            packed.signed(value.wrapping_sub(last));
            last = value;
        }
        packed
    }

    /// Packs a sequence of names.
    pub(super) fn names<T: AsRef<str>>(names: impl Iterator<Item = T>) -> Self {
        let (mut packed, mut last) = (Self::default(), VecDeque::<Vec<u8>>::with_capacity(BACK));
        for (index, name) in names.enumerate() {
            let name = name.as_ref().as_bytes();
            if index % BLOCK == 0 {
                last.clear();
            }
            let common = |other: &Vec<u8>| other.iter().zip(name).take_while(|(a, b)| a == b).count();
            let shared = last.iter().map(common).enumerate();
            // Among names with equally long common prefixes, the nearest name is used, which the iterator returns
            // last.
            let (back, shared) = shared.rev().max_by_key(|&(_, shared)| shared).unwrap_or((0, 0));
            packed.number((shared * BACK + back) as u64);
            packed.number((name.len() - shared) as u64);
            packed.0.extend_from_slice(&name[shared..]);
            let mut kept = if last.len() == BACK { last.pop_back().unwrap_or_default() } else { Vec::new() };
            kept.clear();
            kept.extend_from_slice(name);
            last.push_front(kept);
        }
        packed
    }
}

impl Serialize for PackedBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

/// Column with few different values: a list of these values, and for each row the index of its value.
#[derive(Debug, Serialize)]
pub(super) struct Distinct<T> {
    values: Vec<T>,
    /// For each row, the index of its value in `values`. Empty if all rows have the value at index 0.
    rows: PackedBytes,
}

impl<T: Copy> Distinct<T> {
    /// Packs a column. Values with equal `key` are treated as equal.
    pub(super) fn of<K: Hash + Eq>(column: impl Iterator<Item = T>, key: impl Fn(T) -> K) -> Self {
        let (mut values, mut known, mut rows) = (Vec::new(), HashMap::new(), PackedBytes::default());
        for value in column {
            let next = values.len() as u64;
            let at = *known.entry(key(value)).or_insert(next);
            if at == next {
                values.push(value);
            }
            rows.number(at);
        }
        if values.len() < 2 {
            rows = PackedBytes::default();
        }
        Self { values, rows }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads numbers as the script does.
    fn read(bytes: &[u8]) -> Vec<u64> {
        let (mut numbers, mut value, mut shift) = (Vec::new(), 0, 0);
        for &byte in bytes {
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                numbers.push(value);
                (value, shift) = (0, 0);
            }
        }
        numbers
    }

    fn unsigned(value: u64) -> i64 {
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }

    proptest! {
        #[test]
        fn numbers_come_back(values in prop::collection::vec(any::<u64>(), 0..50)) {
            prop_assert_eq!(read(&PackedBytes::numbers(values.iter().copied()).0), values);
        }

        #[test]
        fn distances_come_back(values in prop::collection::vec(any::<i64>(), 0..50)) {
            let mut last = 0_i64;
            let read: Vec<i64> = read(&PackedBytes::distances(values.iter().copied()).0)
                .into_iter()
                .map(|distance| { last = last.wrapping_add(unsigned(distance)); last })
                .collect();
            prop_assert_eq!(read, values);
        }
    }

    #[test]
    fn names_share_their_beginnings_within_a_block() {
        let names: Vec<String> = (0..1000).map(|index| format!("a long common beginning {index:04}")).collect();
        let packed = PackedBytes::names(names.iter());
        assert!(packed.0.len() < 7 * names.len(), "{}", packed.0.len());
        assert_eq!(&packed.0[..2], [0, 28]);
        assert_eq!(PackedBytes::names(["é", "è"].iter()).0, [0, 2, 0xc3, 0xa9, 8, 1, 0xa8]);
        // The third name has a common prefix with the first, and there is one name between them.
        assert_eq!(PackedBytes::names(["ab", "x", "ac"].iter()).0, [0, 2, b'a', b'b', 0, 1, b'x', 9, 1, b'c']);
    }

    #[test]
    fn a_column_of_one_value_has_no_rows() {
        let one = Distinct::of([2.0; 9].into_iter(), f64::to_bits);
        assert_eq!((one.values, one.rows), (vec![2.0], PackedBytes::default()));
        let two = Distinct::of([1, 5, 1].into_iter(), |value| value);
        assert_eq!((two.values, two.rows.0), (vec![1, 5], vec![0, 1, 0]));
    }
}
