//! Frees memory while a list is consumed.

/// Number of entries that are returned before their memory is freed.
const STEP: usize = 1 << 16;

/// Returns the entries of a list in order, and frees the memory of the entries that it has returned. So when a list of
/// a million jobs is converted to another list, memory never holds both lists in full.
///
/// ```
/// assert!(makespan_core::emptied(vec![3, 1, 2]).eq([3, 1, 2]));
/// ```
pub fn emptied<T>(mut list: Vec<T>) -> impl ExactSizeIterator<Item = T> {
    list.reverse();
    Emptied(list)
}

/// An iterator that returns the entries of a list from the last to the first.
struct Emptied<T>(Vec<T>);

impl<T> Iterator for Emptied<T> {
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

impl<T> ExactSizeIterator for Emptied<T> {}
