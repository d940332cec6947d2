//! Generates tiled matrix factorisations. A kernel is the operation that one task performs on tiles. The share of a
//! kernel is its number of arithmetic operations, divided by the largest number of operations of any kernel.

use super::drawn::DrawnGraph;

/// Generates the Cholesky factorisation of a symmetric matrix of n x n tiles, with n + n (n - 1) + n (n - 1) (n - 2) /
/// 6 tasks. n is the largest number for which the graph has at most `tasks` tasks, but at least 2.
///
/// Source: A. Buttari, J. Langou, J. Kurzak, J. Dongarra, Parallel Computing 35, 2009, DOI
/// 10.1016/j.parco.2008.10.002.
pub(super) fn cholesky(tasks: usize) -> DrawnGraph {
    let count = |n: usize| n + n * (n - 1) + n * (n - 1) * (n - 2) / 6;
    let size = (2..).take_while(|&n| n == 2 || count(n) <= tasks).last().unwrap_or(2);
    let mut drawn = DrawnGraph::new();
    let mut tiles = Tiles::new(size);
    for step in 0..size {
        let diagonal = drawn.add("potrf", 1.0 / 6.0, &tiles.last(&[(step, step)]));
        tiles.write(step, step, diagonal);
        for row in step + 1..size {
            let solved = drawn.add("trsm", 0.5, &tiles.last(&[(step, step), (row, step)]));
            tiles.write(row, step, solved);
        }
        for row in step + 1..size {
            let updated = drawn.add("syrk", 0.5, &tiles.last(&[(row, step), (row, row)]));
            tiles.write(row, row, updated);
            for column in step + 1..row {
                let updated = drawn.add("gemm", 1.0, &tiles.last(&[(row, step), (column, step), (row, column)]));
                tiles.write(row, column, updated);
            }
        }
    }
    drawn
}

/// Generates the LU factorisation, without pivoting, of a matrix of n x n tiles, with n (n + 1) (2 n + 1) / 6 tasks. n
/// is the largest number for which the graph has at most `tasks` tasks, but at least 2.
///
/// Source: see [`cholesky`].
pub(super) fn lu(tasks: usize) -> DrawnGraph {
    let count = |n: usize| n * (n + 1) * (2 * n + 1) / 6;
    let size = (2..).take_while(|&n| n == 2 || count(n) <= tasks).last().unwrap_or(2);
    let mut drawn = DrawnGraph::new();
    let mut tiles = Tiles::new(size);
    for step in 0..size {
        let diagonal = drawn.add("getrf", 1.0 / 3.0, &tiles.last(&[(step, step)]));
        tiles.write(step, step, diagonal);
        for at in step + 1..size {
            for (row, column) in [(step, at), (at, step)] {
                let solved = drawn.add("trsm", 0.5, &tiles.last(&[(step, step), (row, column)]));
                tiles.write(row, column, solved);
            }
        }
        for row in step + 1..size {
            for column in step + 1..size {
                let updated = drawn.add("gemm", 1.0, &tiles.last(&[(row, step), (step, column), (row, column)]));
                tiles.write(row, column, updated);
            }
        }
    }
    drawn
}

/// For each tile, the last task that wrote it.
struct Tiles {
    size: usize,
    writers: Vec<Option<u32>>,
}

impl Tiles {
    fn new(size: usize) -> Self {
        Self { size, writers: vec![None; size * size] }
    }

    /// Returns, for each of these tiles, the last task that wrote it.
    fn last(&self, tiles: &[(usize, usize)]) -> Vec<u32> {
        tiles.iter().filter_map(|&(row, column)| self.writers[row * self.size + column]).collect()
    }

    fn write(&mut self, row: usize, column: usize, task: u32) {
        self.writers[row * self.size + column] = Some(task);
    }
}
