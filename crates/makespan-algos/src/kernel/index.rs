//! Types for positions in tables, so that a position in one table is not taken for one in another.

/// A number from 0 on, of what its documentation says.
macro_rules! index_type {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The one at this index.
            #[inline]
            pub const fn at(index: usize) -> Self {
                Self(index as u32)
            }

            /// As an index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The first `count` of them.
            pub fn first(count: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone + use<> {
                (0..count as u32).map(Self)
            }
        }
    };
}

pub(crate) use index_type;
