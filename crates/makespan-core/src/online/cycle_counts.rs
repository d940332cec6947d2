//! Counts the jobs that a scheduling cycle visits.

use std::collections::HashMap;
use std::hash::Hash;

/// Numbers of jobs that a scheduling cycle visits, by partition or by user.
///
/// ```
/// use makespan_core::CycleCounts;
///
/// let mut counts = CycleCounts::default();
/// assert_eq!([counts.is_beyond("ann", 1), counts.is_beyond("ann", 1), counts.is_beyond("bob", 1)], [false, true, false]);
/// assert!(!counts.is_beyond("ann", 0));
/// ```
#[derive(Clone, Debug)]
pub struct CycleCounts<K>(HashMap<K, usize>);

impl<K> Default for CycleCounts<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash> CycleCounts<K> {
    /// Counts one more job. Returns true if the number of jobs exceeds `limit`. If `limit` is 0, there is no limit, and
    /// the job is not counted.
    pub fn is_beyond(&mut self, of: K, limit: usize) -> bool {
        if limit == 0 {
            return false;
        }
        let count = self.0.entry(of).or_insert(0);
        *count += 1;
        *count > limit
    }
}
