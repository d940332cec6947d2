//! Dual-feasible functions on a grid. A function assigns a value to each size from 0 to C. If sizes sum to at most C,
//! their values sum to at most one.
//!
//! The families are from S. P. Fekete, J. Schepers (Math. Programming 91, 2001, DOI 10.1007/s101070100243) and J.
//! Carlier, F. Clautiaux, A. Moukrim (Computers & OR 34(8), 2007, DOI 10.1016/j.cor.2005.08.012). See the survey of F.
//! Clautiaux, C. Alves, J. Valério de Carvalho (Annals of OR 179, 2010, DOI 10.1007/s10479-008-0453-8). A certificate
//! is valid even if a function is not dual feasible, because the check computes the maximum sum of values.

/// The values of a function at 0, 1, .., C.
pub(crate) type Function = Vec<f64>;

/// Returns all functions of the families for the capacity `capacity`. The values are scaled such that the largest one,
/// the value of the capacity, is 1.
pub(crate) fn families(capacity: usize) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    let mut add = |value: &dyn Fn(usize) -> usize| {
        let whole = value(capacity) as f64;
        let function: Function = (0..=capacity).map(|size| value(size) as f64 / whole).collect();
        if whole > 0.0 && !functions.contains(&function) {
            functions.push(function);
        }
    };
    for parts in 1..capacity.min(16) {
        add(&|size| rounded(parts, size, capacity));
    }
    for least in 1..=capacity / 2 {
        add(&|size| symmetric(least, size, capacity));
        add(&|size| threshold(least, size, capacity));
    }
    functions
}

/// Returns the value of the function u^(k) of Fekete and Schepers, times k C. Here, k is `parts` and C is `capacity`.
/// The function maps a size of exactly `h / (k + 1)` of C, for a whole number h, to the size divided by C. It maps a
/// size strictly between `h / (k + 1)` and `(h + 1) / (k + 1)` of C to `h / k`.
fn rounded(parts: usize, size: usize, capacity: usize) -> usize {
    let scaled = (parts + 1) * size;
    if scaled.is_multiple_of(capacity) { size * parts } else { scaled / capacity * capacity }
}

/// Returns the value of the discrete function of Carlier, Clautiaux and Moukrim. If a size is less than half of the
/// capacity, its value is twice the number of times that `least` fits into the size. If a size is more than half of the
/// capacity, its value is the value of the capacity minus the value of the remaining size. If a size is exactly half of
/// the capacity, its value is half of the value of the capacity.
fn symmetric(least: usize, size: usize, capacity: usize) -> usize {
    let pieces = capacity / least;
    match (2 * size).cmp(&capacity) {
        std::cmp::Ordering::Less => 2 * (size / least),
        std::cmp::Ordering::Equal => pieces,
        std::cmp::Ordering::Greater => 2 * (pieces - (capacity - size) / least),
    }
}

/// Returns the value of the function U^(eps) of Fekete and Schepers, times `capacity`. Sizes below `least` have the
/// value zero. Sizes above `capacity - least` have the value `capacity`. The value of every other size is the size
/// itself.
fn threshold(least: usize, size: usize, capacity: usize) -> usize {
    if size < least {
        0
    } else if size > capacity - least {
        capacity
    } else {
        size
    }
}

/// Returns the maximum sum of values over all multisets of sizes from 0 to C that sum to at most C.
pub(super) fn most(values: &[f64]) -> f64 {
    let mut most = vec![0.0_f64; values.len()];
    for room in 1..values.len() {
        most[room] = (1..=room).map(|size| most[room - size] + values[size]).fold(0.0, f64::max);
    }
    most[values.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_dual_feasible() {
        for capacity in 1..40 {
            for function in families(capacity) {
                assert!(most(&function) < 1.0 + 1e-9, "{capacity}: {function:?}");
                assert!(function.windows(2).all(|pair| pair[0] <= pair[1]), "{capacity}: {function:?}");
            }
        }
    }

    #[test]
    fn halves_and_thirds_are_among_them() {
        let of = |capacity| families(capacity);
        assert!(of(5).contains(&vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0]));
        assert!(of(5).contains(&vec![0.0, 0.0, 0.5, 0.5, 1.0, 1.0]));
    }
}
