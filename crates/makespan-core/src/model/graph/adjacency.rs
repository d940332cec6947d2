//! Adjacency lists: for each row of a table, the numbers of its edges. The number of an edge is its position in the
//! list of all edges.

use rustc_hash::FxHashMap;

/// Adjacency lists in compressed rows: the edge numbers of row `r` are `items[first[r] .. first[r + 1]]`. Rows at the
/// end that have no edges may be missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::model) struct Adjacency {
    first: Vec<u32>,
    items: Vec<u32>,
    /// The complete lists of rows that got more edges after they were added.
    grown: FxHashMap<u32, Vec<u32>>,
}

impl Adjacency {
    /// Creates the lists from `edges`. `end` returns the row of an edge.
    pub fn of<E>(rows: usize, edges: &[E], end: impl Fn(&E) -> u32) -> Self {
        let mut adjacency = Self::default();
        adjacency.append(0, rows, 0, edges, end);
        adjacency
    }

    /// Appends `rows` rows after the first `before` rows. The new `edges` get numbers from `number` on. `end` returns
    /// the row of an edge, counted from the first new row. Takes O(rows + edges).
    pub fn append<E>(&mut self, before: usize, rows: usize, number: u32, edges: &[E], end: impl Fn(&E) -> u32) {
        let base = self.items.len() as u32;
        self.first.resize(before, base);
        let begin = self.first.len();
        // An additional entry marks the end of the last row.
        self.first.resize(begin + rows + 1, 0);
        let first = &mut self.first[begin..];
        for edge in edges {
            first[end(edge) as usize + 1] += 1;
        }
        first[0] = base;
        for row in 0..rows {
            first[row + 1] += first[row];
        }
        let mut next = first[..rows].to_vec();
        self.items.resize(self.items.len() + edges.len(), 0);
        for (index, edge) in edges.iter().enumerate() {
            let slot = &mut next[end(edge) as usize];
            self.items[*slot as usize] = number + index as u32;
            *slot += 1;
        }
    }

    /// Adds an edge to an existing row. The number of the edge must be larger than the numbers of the row's other
    /// edges.
    pub fn insert(&mut self, row: usize, number: u32) {
        if let Some(edges) = self.grown.get_mut(&(row as u32)) {
            edges.push(number);
            return;
        }
        let mut edges = self.of_row(row).to_vec();
        edges.push(number);
        self.grown.insert(row as u32, edges);
    }

    /// Returns the numbers of the edges at a row, ascending.
    pub fn of_row(&self, row: usize) -> &[u32] {
        if !self.grown.is_empty()
            && let Some(edges) = self.grown.get(&(row as u32))
        {
            return edges;
        }
        match self.first.get(row..row + 2) {
            Some(&[from, to]) => &self.items[from as usize..to as usize],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_added_behind_others() {
        let mut adjacency = Adjacency::of(2, &[1, 0, 1], |&row| row);
        // Appends three rows after a row without edges.
        adjacency.append(3, 3, 3, &[2, 0, 2], |&row| row);
        adjacency.insert(2, 6);
        adjacency.insert(3, 7);
        adjacency.insert(3, 8);
        assert_eq!(
            (adjacency.of_row(2), adjacency.of_row(3), adjacency.of_row(1)),
            (&[6][..], &[4, 7, 8][..], &[0, 2][..])
        );
        let mut adjacency = Adjacency::of(2, &[1, 0, 1], |&row| row);
        adjacency.append(3, 3, 3, &[2, 0, 2], |&row| row);
        let all: Vec<&[u32]> = (0..8).map(|row| adjacency.of_row(row)).collect();
        assert_eq!(all, [&[1][..], &[0, 2], &[], &[4], &[], &[3, 5], &[], &[]]);
        assert!(Adjacency::default().of_row(0).is_empty());
    }
}
