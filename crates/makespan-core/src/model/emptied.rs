//! An iterator that frees the memory of a list while it consumes the list.

/// Number of returned entries after which their memory is freed.
const STEP: usize = 1 << 16;

/// Returns an iterator over the entries of a list. The iterator frees the memory of entries that it has returned. So
/// while a list of a million jobs is converted to another list, the two lists are never both complete in memory.
///
/// ```
/// assert!(makespan_core::emptied(vec![3, 1, 2]).eq([3, 1, 2]));
/// ```
pub fn emptied<T>(mut list: Vec<T>) -> impl ExactSizeIterator<Item = T> {
    list.reverse();
    ReverseDrain(list)
}

/// An iterator that returns the entries of a list in reverse order.
struct ReverseDrain<T>(Vec<T>);

impl<T> Iterator for ReverseDrain<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let entry = self.0.pop();
        if self.0.len().is_multiple_of(STEP) {
            self.0.shrink_to_fit();
        }
        entry
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl<T> ExactSizeIterator for ReverseDrain<T> {}
