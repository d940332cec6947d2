//! Amounts of several resources in the fields of one machine word.
//!
//! A field has enough bits for the capacity of its resource, and a guard bit above these bits. Free amounts have all
//! guard bits set, and demands have none set. One subtraction determines whether a demand fits for all resources at
//! once. If the amount in a field is too small, the field borrows from its own guard bit and not from another field.

use std::fmt::Debug;

/// A machine word for packed amounts.
pub trait Word: Copy + Default + Ord + Debug + Send + Sync + 'static {
    /// Number of bits.
    const BITS: u32;

    /// Returns the low bits of `wide` as a word.
    fn of(wide: u128) -> Self;

    /// Returns the free amounts after a demand is taken.
    fn minus(self, demand: Self) -> Self;

    /// Returns whether all bits of `guard` are set.
    fn has(self, guard: Self) -> bool;

    /// Returns whether a demand fits into these free amounts.
    #[inline]
    fn fits(self, demand: Self, guard: Self) -> bool {
        self.minus(demand).has(guard)
    }

    /// Returns the free amounts after a demand is returned.
    fn plus(self, demand: Self) -> Self;
}

macro_rules! word {
    ($type:ty) => {
        impl Word for $type {
            const BITS: u32 = <$type>::BITS;

            #[inline]
            fn of(wide: u128) -> Self {
                wide as Self
            }

            #[inline]
            fn minus(self, demand: Self) -> Self {
                self.wrapping_sub(demand)
            }

            #[inline]
            fn has(self, guard: Self) -> bool {
                self & guard == guard
            }

            #[inline]
            fn plus(self, demand: Self) -> Self {
                self.wrapping_add(demand)
            }
        }
    };
}

word!(u64);
word!(u128);

/// The position of the field of each resource in a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The index of the lowest bit of each field, and finally the number of bits.
    begins: Vec<u32>,
}

impl Fields {
    /// Returns fields for amounts up to these capacities, or `None` if they need more than 128 bits.
    pub fn new(capacities: &[u64]) -> Option<Self> {
        let mut begins = vec![0_u32];
        for capacity in capacities {
            let bits = u64::BITS - capacity.leading_zeros() + 1;
            begins.push(begins[begins.len() - 1] + bits);
        }
        (begins[begins.len() - 1] <= u128::BITS).then_some(Self { begins })
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.begins.len() - 1
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.begins.len() == 1
    }

    /// Returns the number of bits of all fields together.
    pub fn bits(&self) -> u32 {
        self.begins[self.begins.len() - 1]
    }

    /// Returns the guard bits of all fields.
    pub fn guard(&self) -> u128 {
        self.begins[1..].iter().map(|&end| 1_u128 << (end - 1)).sum()
    }

    /// Packs one amount for each field, without guard bits. No amount may exceed the capacity of its field.
    pub fn pack(&self, amounts: &[u64]) -> u128 {
        self.begins.iter().zip(amounts).map(|(&begin, &amount)| u128::from(amount) << begin).sum()
    }

    /// Returns the amount in a field of `word`.
    pub fn amount(&self, word: u128, field: usize) -> u64 {
        let (begin, end) = (self.begins[field], self.begins[field + 1]);
        ((word >> begin) & ((1 << (end - begin - 1)) - 1)) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// One subtraction gives the same result as a comparison of each amount.
        #[test]
        fn a_demand_fits_where_no_amount_is_too_large(
            amounts in proptest::collection::vec((0_u64..40, 0_u64..40, 0_u64..40), 0..6),
        ) {
            let capacities: Vec<u64> = amounts.iter().map(|one| one.0.max(one.1).max(one.2)).collect();
            let fields = Fields::new(&capacities).unwrap();
            let free: Vec<u64> = amounts.iter().map(|one| one.1).collect();
            let demand: Vec<u64> = amounts.iter().map(|one| one.2).collect();
            let (guard, word) = (fields.guard(), fields.pack(&free) | fields.guard());
            let expected = free.iter().zip(&demand).all(|(free, demand)| demand <= free);
            prop_assert_eq!(word.fits(fields.pack(&demand), guard), expected);
            let narrow = <u64 as Word>::of(word);
            prop_assert_eq!(narrow.fits(Word::of(fields.pack(&demand)), Word::of(guard)), expected);
            if expected {
                let left = word.minus(fields.pack(&demand));
                for (field, (free, demand)) in free.iter().zip(&demand).enumerate() {
                    prop_assert_eq!(fields.amount(left, field), free - demand);
                }
                prop_assert_eq!(left.plus(fields.pack(&demand)), word);
            }
        }
    }

    #[test]
    fn what_needs_more_than_two_words_of_64_bits_has_no_fields() {
        assert_eq!(Fields::new(&[u64::MAX >> 1; 2]).unwrap().bits(), 128);
        assert_eq!(Fields::new(&[u64::MAX >> 1, u64::MAX >> 1, 0]), None);
    }
}
