//! Reasons why a complete search does not prove that a schedule is optimal.

use std::fmt;

/// The reason why a complete search did not prove that the best schedule is optimal.
///
/// ```
/// use makespan_bounds::complete::Unproved;
///
/// let reason = Unproved::TimeLimit.to_string();
/// assert_eq!(reason, "the complete search used up its search time; a longer time limit may suffice for a proof");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproved {
    /// The instance has more tasks than this maximum.
    TooManyTasks(u64),
    /// The search does not support this feature of the instance, or this objective.
    Unsupported(String),
    /// The search examines a relaxed problem, which ignores these conditions of the instance. A solution of the relaxed
    /// problem yields no better schedule.
    Relaxed(Vec<&'static str>),
    /// The time limit ended the search.
    TimeLimit,
    /// The limit on the number of conflicts ended the search.
    ConflictLimit,
    /// There is no better schedule, but the certificate exceeds a limit of the checker.
    TooLong,
}

/// The unsupported feature if products of times with amounts or weights do not fit into the 64-bit numbers of the
/// search.
pub(super) const DIGITS: &str = "times with this many digits";

impl Unproved {
    pub(super) fn feature(name: impl Into<String>) -> Self {
        Self::Unsupported(name.into())
    }
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyTasks(most) => write!(f, "the complete search supports at most {most} tasks"),
            Self::Unsupported(feature) => write!(f, "the complete search does not support {feature}"),
            Self::Relaxed(ignored) if ignored.is_empty() => {
                write!(
                    f,
                    "the complete search examines a simpler problem, and its optimum is below the value of the plan"
                )
            }
            Self::Relaxed(ignored) => write!(f, "the complete search ignores {}", ignored.join(", and ")),
            Self::TimeLimit => {
                write!(f, "the complete search used up its search time; a longer time limit may suffice for a proof")
            }
            Self::ConflictLimit => write!(f, "the complete search reached its limit on conflicts"),
            Self::TooLong => write!(f, "the certificate of the complete search would be too long"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_text() {
        for (reason, text) in [
            (Unproved::TooManyTasks(60), "supports at most 60 tasks"),
            (Unproved::feature("trees of machines"), "does not support trees of machines"),
            (Unproved::Relaxed(vec![]), "examines a simpler problem, and its optimum is below the value of the plan"),
            (Unproved::Relaxed(vec!["a", "b"]), "ignores a, and b"),
            (Unproved::ConflictLimit, "reached its limit on conflicts"),
        ] {
            assert_eq!(reason.to_string(), format!("the complete search {text}"));
        }
        assert_eq!(Unproved::TooLong.to_string(), "the certificate of the complete search would be too long");
    }
}
