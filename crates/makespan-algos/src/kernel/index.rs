//! Types for indices into tables, so that an index into one table cannot be used for another table by mistake.

/// Defines an index type. The documentation of the type states which objects it numbers, from 0 on.
macro_rules! index_type {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the index `number`.
            #[inline]
            pub const fn at(index: usize) -> Self {
                Self(index as u32)
            }

            /// Returns the index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the indices from 0 to `count - 1`.
            pub fn first(count: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone + use<> {
                (0..count as u32).map(Self)
            }
        }
    };
}

pub(crate) use index_type;
