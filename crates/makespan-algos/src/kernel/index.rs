//! Types for indices into tables, so that an index into one table cannot be used for another table by mistake.

/// Defines an index type. The documentation of the type states which objects it numbers. The numbers begin at 0.
macro_rules! index_type {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns an index of this type with the number `index`.
            #[inline]
            pub const fn at(index: usize) -> Self {
                Self(index as u32)
            }

            /// Returns the number of the index.
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
