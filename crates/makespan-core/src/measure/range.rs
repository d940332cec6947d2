//! Ranges of predicted quantities.

use std::cmp::Ordering;

/// Returns the range of a predicted quantity. `draws` contains random values of the quantity. The range contains
/// `percent` % of the draws, and the value `expected` if it is known. Returns `None` if there are no draws.
///
/// Before the range is extended to `expected`, as many draws are below the range as above the range, up to rounding.
///
/// ```
/// use makespan_core::range_around;
///
/// assert_eq!(range_around(Some(5), (0..=10).collect(), 80), Some((1, 9)));
/// assert_eq!(range_around(Some(12), (0..=10).collect(), 80), Some((1, 12)));
/// assert_eq!(range_around(Some(12), Vec::new(), 80), None);
/// ```
pub fn range_around<T: Copy + PartialOrd>(expected: Option<T>, mut draws: Vec<T>, percent: u32) -> Option<(T, T)> {
    draws.sort_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
    // The index of the first draw in the range, rounded half up.
    let at = |share: u32| draws.get((draws.len().saturating_sub(1) * share as usize + 100) / 200).copied();
    let (early, late) = (at(100 - percent.min(100))?, at(100 + percent.min(100))?);
    // A job that waits for the first of several ends starts earlier in nearly all draws than with mean run times.
    let (before, after) = (expected.filter(|own| *own < early), expected.filter(|own| *own > late));
    Some((before.unwrap_or(early), after.unwrap_or(late)))
}
