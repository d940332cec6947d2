//! Gives back memory while a list is used up.

/// Entries after which memory is given back.
const STEP: usize = 1 << 16;

/// The entries of a list in their order. Their memory is given back on the way, not at the end: a list of a million jobs that becomes
/// another list does not need the room of both.
///
/// ```
/// assert!(makespan_core::emptied(vec![3, 1, 2]).eq([3, 1, 2]));
/// ```
pub fn emptied<T>(mut list: Vec<T>) -> impl ExactSizeIterator<Item = T> {
    list.reverse();
    Emptied(list)
}

/// From the last entry to the first.
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
