//! Small dense symmetric systems.

/// The lower triangle of a symmetric matrix.
#[derive(Clone)]
pub(super) struct Matrix {
    size: usize,
    rows: Vec<f64>,
}

impl Matrix {
    pub(super) fn zeros(size: usize) -> Self {
        Self { size, rows: vec![0.0; size * size] }
    }

    /// Adds to the entry at `(a, b)` and `(b, a)`.
    #[inline]
    pub(super) fn add(&mut self, a: usize, b: usize, value: f64) {
        let (row, column) = if a < b { (b, a) } else { (a, b) };
        self.rows[row * self.size + column] += value;
    }

    /// Makes the first unknown zero, whatever it was coupled with.
    pub(super) fn fix_first(&mut self) {
        (1..self.size).for_each(|row| self.rows[row * self.size] = 0.0);
        self.rows[0] = 1.0;
    }

    /// Solves by Cholesky's decomposition, in place; `None` when it is far from positive definite.
    pub(super) fn solve(mut self, right: &[f64]) -> Option<Vec<f64>> {
        let size = self.size;
        for row in 0..size {
            let (above, current) = self.rows.split_at_mut(row * size);
            let current = &mut current[..=row];
            for column in 0..row {
                let other = &above[column * size..=column * size + column];
                let dot: f64 = dot(&current[..column], &other[..column]);
                current[column] = (current[column] - dot) / other[column];
            }
            let left = current[row] - dot(&current[..row], &current[..row]);
            if left.is_nan() || current[row] <= 0.0 {
                return None;
            }
            // An unknown that only rounding determines stays about where it is.
            let left = if left <= 1e-13 * current[row] { current[row] } else { left };
            current[row] = left.sqrt();
        }
        let mut solution = right.to_vec();
        for row in 0..size {
            let line = &self.rows[row * size..];
            solution[row] = (solution[row] - dot(&line[..row], &solution[..row])) / line[row];
        }
        for row in (0..size).rev() {
            let line = &self.rows[row * size..];
            solution[row] /= line[row];
            let value = solution[row];
            for column in 0..row {
                solution[column] -= line[column] * value;
            }
        }
        Some(solution)
    }
}

/// In eight sums side by side, which the compiler makes vectors of.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (heads, tail) = (a.chunks_exact(8), a.len() / 8 * 8);
    for (a, b) in heads.zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a[tail..].iter().zip(&b[tail..]).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}
