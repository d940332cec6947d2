//! The factorisation of a basis, by elimination from the leaves of the tree to the root.
//!
//! A subtree takes some amount of each application: the work of its nodes. This amount is an affine function of the
//! shares of the extras in the subtree. The equation of a busy port contains only extras below the port. So the port
//! determines one of these extras as a function of the others. The extras that no port has determined are *open*. The
//! number of open shares of a subtree is at most the number of applications. So solving a basis takes O(nodes *
//! applications^2) operations, in floats and in rationals. After a change at a node, only the nodes from this node to
//! the root are eliminated again.

use super::basis::{Basis, Share};
use super::field::Field;
use super::figures::Coefficients;

/// The derivatives of the amounts that a subtree takes, with respect to one open share. There is an entry for each
/// application, and one entry for the total sending time of the ports.
#[derive(Clone)]
pub(super) struct Column<F> {
    pub share: Share,
    pub takes: Vec<F>,
}

/// The equation of a busy port, solved for the share that the port determines.
#[derive(Clone)]
pub(super) struct Pivot<F> {
    /// The share, and the derivatives with respect to this share before the elimination.
    pub column: Column<F>,
    /// The coefficient of the share in the equation of the port.
    pub coefficient: F,
    /// The coefficients of the other open shares in this equation, divided by `coefficient`.
    pub others: Vec<(Share, F)>,
}

/// The result of the elimination of one subtree.
#[derive(Clone)]
pub(super) struct Elimination<F> {
    pub open: Vec<Column<F>>,
    pub pivot: Option<Pivot<F>>,
}

pub(super) struct Factor<F> {
    pub parts: Vec<Elimination<F>>,
}

/// The matrix is singular, up to the rounding errors of the field.
#[derive(Debug)]
pub(super) struct SingularMatrix;

impl<F: Field> Factor<F> {
    pub fn new(figures: &Coefficients<F>, basis: &Basis) -> Result<Self, SingularMatrix> {
        let nodes = figures.nodes();
        let mut factor = Self { parts: vec![Elimination { open: Vec::new(), pivot: None }; nodes] };
        for node in (0..nodes).rev() {
            factor.parts[node] = factor.part(figures, basis, node)?;
        }
        Ok(factor)
    }

    /// Repeats the elimination of all nodes from `node` to the root.
    pub fn refresh(&mut self, figures: &Coefficients<F>, basis: &Basis, mut node: usize) -> Result<(), SingularMatrix> {
        loop {
            self.parts[node] = self.part(figures, basis, node)?;
            if node == 0 {
                return Ok(());
            }
            node = figures.parent[node] as usize;
        }
    }

    fn part(&self, figures: &Coefficients<F>, basis: &Basis, node: usize) -> Result<Elimination<F>, SingularMatrix> {
        let rows = figures.applications();
        let mut open: Vec<Column<F>> = Vec::new();
        let mut coefficients: Vec<F> = Vec::new();
        for child in figures.children[node].clone() {
            for column in &self.parts[child].open {
                let coefficient = port_time(figures, child, &column.takes);
                let mut column = column.clone();
                column.takes[rows].add(&coefficient);
                open.push(column);
                coefficients.push(coefficient);
            }
        }
        let pivot = if basis.busy[node] { Some(eliminate(&mut open, coefficients)?) } else { None };
        let key = basis.key[node] as usize;
        for &extra in &basis.extras[node] {
            let mut takes = vec![F::zero(); rows + 1];
            if extra > 0 {
                takes[extra as usize - 1] = F::one();
            }
            if key > 0 {
                takes[key - 1] = F::one().negated();
            }
            open.push(Column { share: Share { node: node as u32, application: extra }, takes });
        }
        Ok(Elimination { open, pivot })
    }
}

/// Returns the time for which the parent's port sends the amounts that the subtree of `child` takes. This is the time
/// for the bytes plus a latency for each task.
pub(super) fn port_time<F: Field>(figures: &Coefficients<F>, child: usize, takes: &[F]) -> F {
    let sum = |each: &[F]| {
        let mut sum = F::zero();
        takes.iter().zip(&each[1..]).for_each(|(take, each)| sum.add_product(take, each));
        sum
    };
    let mut time = F::zero();
    time.add_product(&sum(&figures.ratio), &figures.delay[child]);
    if !figures.latency[child].is_zero() {
        time.add_product(&sum(&figures.tasks), &figures.latency[child]);
    }
    time
}

/// Solves the equation of a port for the open share with the largest coefficient.
fn eliminate<F: Field>(open: &mut Vec<Column<F>>, mut coefficients: Vec<F>) -> Result<Pivot<F>, SingularMatrix> {
    let magnitudes = coefficients.iter().map(Field::magnitude).enumerate();
    // Among equally large coefficients, take the first one, so that the choice is deterministic.
    let largest = magnitudes.fold((0, 0.0), |best, (at, size)| if size > best.1 { (at, size) } else { best });
    if largest.1 == 0.0 {
        return Err(SingularMatrix);
    }
    let column = open.remove(largest.0);
    let coefficient = coefficients.remove(largest.0);
    let mut others = Vec::with_capacity(open.len());
    for (other, its) in open.iter_mut().zip(&coefficients) {
        let factor = its.over(&coefficient);
        for (take, by) in other.takes.iter_mut().zip(&column.takes) {
            take.subtract_product(by, &factor);
        }
        others.push((other.share, factor));
    }
    // Keep an open share even if its derivatives are all zero, because other shares may depend on it.
    Ok(Pivot { column, coefficient, others })
}
