//! Types for indices into tables, so that an index into one table cannot be used for another table by mistake.

/// Defines an index type. Its documentation states what it numbers from 0 on.
macro_rules! index_type {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the number with this index.
            #[inline]
            pub const fn at(index: usize) -> Self {
                Self(index as u32)
            }

            /// Returns the index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the first `count` numbers.
            pub fn first(count: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone + use<> {
                (0..count as u32).map(Self)
            }
        }
    };
}

pub(crate) use index_type;
