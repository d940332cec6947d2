//! Symmetric linear systems in which entries far from the diagonal are zero.

/// The lower triangle of a symmetric matrix. Each row is stored from the first entry that may be nonzero.
#[derive(Clone)]
pub(super) struct Matrix {
    /// For each row, its entries from the diagonal back to the first entry that may be nonzero.
    rows: Vec<Vec<f64>>,
}

impl Matrix {
    pub(super) fn zeros(size: usize) -> Self {
        Self { rows: vec![vec![0.0]; size] }
    }

    /// Adds `value` to the entries at `(a, b)` and `(b, a)`.
    #[inline]
    pub(super) fn add(&mut self, a: usize, b: usize, value: f64) {
        let (row, column) = if a < b { (b, a) } else { (a, b) };
        let row_of = &mut self.rows[row];
        if row_of.len() <= row - column {
            row_of.resize(row - column + 1, 0.0);
        }
        row_of[row - column] += value;
    }

    /// Returns the approximate number of multiplications in [`Self::solve`].
    pub(super) fn effort(&self) -> f64 {
        self.rows.iter().map(|row| (row.len() * row.len()) as f64).sum()
    }

    /// Replaces the equation of an unknown by `unknown = right side`, and removes the unknown from all other
    /// equations.
    pub(super) fn fix(&mut self, unknown: usize) {
        self.rows[unknown].fill(0.0);
        for (row, of) in self.rows.iter_mut().enumerate().skip(unknown + 1) {
            if let Some(entry) = of.get_mut(row - unknown) {
                *entry = 0.0;
            }
        }
        self.rows[unknown][0] = 1.0;
    }

    /// Solves the system by Cholesky decomposition, which keeps the zeros before the first entry of a row. Returns
    /// `None` if the matrix is far from positive definite.
    pub(super) fn solve(mut self, right: &[f64]) -> Option<Vec<f64>> {
        for row in 0..self.rows.len() {
            let (above, current) = self.rows.split_at_mut(row);
            let current = &mut current[0];
            // Go from the entries far from the diagonal to the entries near the diagonal. Entry d of row r is in
            // column r - d.
            for back in (1..current.len()).rev() {
                let other = &above[row - back];
                let common = (other.len() - 1).min(current.len() - 1 - back);
                let dot = dot(&current[back + 1..][..common], &other[1..][..common]);
                current[back] = (current[back] - dot) / other[0];
            }
            let left = current[0] - dot(&current[1..], &current[1..]);
            if left.is_nan() || current[0] <= 0.0 {
                return None;
            }
            // If this pivot consists only of rounding errors, use the diagonal entry as pivot instead. Then the unknown
            // stays near zero.
            let left = if left <= 1e-13 * current[0] { current[0] } else { left };
            current[0] = left.sqrt();
        }
        let mut solution = right.to_vec();
        for (row, of) in self.rows.iter().enumerate() {
            let before = solution[row + 1 - of.len()..row].iter().rev();
            let sum: f64 = of[1..].iter().zip(before).map(|(entry, value)| entry * value).sum();
            solution[row] = (solution[row] - sum) / of[0];
        }
        for (row, of) in self.rows.iter().enumerate().rev() {
            solution[row] /= of[0];
            let value = solution[row];
            let before = solution[row + 1 - of.len()..row].iter_mut().rev();
            of[1..].iter().zip(before).for_each(|(entry, other)| *other -= entry * value);
        }
        Some(solution)
    }
}

/// Computes the dot product in eight independent sums, so that the compiler can vectorise it.
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
