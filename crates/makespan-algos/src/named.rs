//! A macro that names the values that a parameter of an algorithm spec accepts.

/// Gives a name to each variant of an enum. The constant `VALUES` lists the names for messages. `Display` writes the
/// name of a variant, and `FromStr` parses a name.
macro_rules! named {
    (@list $one:literal, $other:literal) => { concat!($one, " or ", $other) };
    (@list $one:literal, $($others:literal),+) => { concat!($one, ", ", named!(@list $($others),+)) };
    ($type:ident { $($name:literal => $variant:ident),+ $(,)? }) => {
        impl $type {
            pub(crate) const VALUES: &'static str = named!(@list $($name),+);
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(match self {
                    $(Self::$variant => $name),+
                })
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ if [$($name),+].len() > 2 => Err(format!("one of {}", Self::VALUES)),
                    _ => Err(Self::VALUES.into()),
                }
            }
        }
    };
}
