//! The small, dense system of equations that remains at the root after the elimination.

use super::basis::Basis;
use super::factor::{Factor, SingularMatrix};
use super::field::Field;
use super::figures::Coefficients;

/// Returns the columns of the open shares, of the throughput and of the surpluses. There is one row for each
/// application. Row k states for application k that the amount that the tree takes equals the share of the throughput
/// plus the surplus.
pub(super) fn matrix<F: Field>(
    figures: &Coefficients<F>,
    basis: &Basis,
    factor: &Factor<F>,
) -> Result<Vec<Vec<F>>, SingularMatrix> {
    let applications = figures.applications();
    let mut columns: Vec<Vec<F>> =
        factor.parts[0].open.iter().map(|column| column.takes[..applications].to_vec()).collect();
    columns.push(figures.share[1..].iter().map(Field::negated).collect());
    for application in (1..=applications).filter(|&application| basis.surplus[application]) {
        let mut column = vec![F::zero(); applications];
        column[application - 1] = F::one().negated();
        columns.push(column);
    }
    if columns.len() == applications { Ok(columns) } else { Err(SingularMatrix) }
}

/// Solves `sum over j of columns[j] x_j = right`. If `transposed` is set, solves `columns[j] . y = right_j` for every j
/// instead.
pub(super) fn solve<F: Field>(columns: &[Vec<F>], right: &[F], transposed: bool) -> Result<Vec<F>, SingularMatrix> {
    let n = columns.len();
    let entry = |row: usize, column: usize| if transposed { &columns[row][column] } else { &columns[column][row] };
    let mut rows: Vec<Vec<F>> = (0..n)
        .map(|row| (0..n).map(|column| entry(row, column).clone()).chain([right[row].clone()]).collect())
        .collect();
    for at in 0..n {
        let best = (at..n).fold((at, 0.0), |best, row| {
            let size = rows[row][at].magnitude();
            if size > best.1 { (row, size) } else { best }
        });
        if best.1 == 0.0 {
            return Err(SingularMatrix);
        }
        rows.swap(at, best.0);
        let pivot = rows[at].clone();
        for (row, line) in rows.iter_mut().enumerate() {
            if row == at || line[at].is_zero() {
                continue;
            }
            let factor = line[at].over(&pivot[at]);
            for column in at..=n {
                line[column].subtract_product(&pivot[column], &factor);
            }
        }
    }
    Ok((0..n).map(|at| rows[at][n].over(&rows[at][at])).collect())
}
