//! Binary trees over a list in flat arrays: node 1 is the root, and the children of node `n` are `2 n` and `2 n + 1`.

/// The first leaf from `from` on that is admitted, in a tree of so many leaves, a power of two. What is not admitted for a node is
/// admitted for none of the leaves below it.
pub(crate) fn first(leaves: usize, from: usize, admits: impl Fn(usize) -> bool) -> Option<usize> {
    if from >= leaves {
        return None;
    }
    let mut node = leaves + from;
    loop {
        if admits(node) {
            if node >= leaves {
                return Some(node - leaves);
            }
            node *= 2;
            continue;
        }
        // Up while this is the right child, then to the right: the next part that has not been looked at.
        while node % 2 == 1 {
            node /= 2;
        }
        if node == 0 {
            return None;
        }
        node += 1;
    }
}
