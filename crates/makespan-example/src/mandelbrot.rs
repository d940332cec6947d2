//! The Mandelbrot set.

use crate::share::share;

const ITERATIONS: u32 = 500;

/// Returns the number of points that stay bounded, in a picture of [-2, 0.5] x [-1.25, 1.25] with `size` by `size`
/// points.
pub fn count(size: u32, threads: u32) -> u64 {
    let step = 2.5 / f64::from(size);
    let rows = share(u64::from(size), threads, |row| {
        let y = (row as f64 + 0.5) * step - 1.25;
        (0..size).filter(|&column| stays((f64::from(column) + 0.5) * step - 2.0, y)).count() as u64
    });
    rows.into_iter().sum()
}

fn stays(x: f64, y: f64) -> bool {
    let (mut a, mut b) = (0.0_f64, 0.0_f64);
    for _ in 0..ITERATIONS {
        let (a2, b2) = (a * a, b * b);
        if a2 + b2 > 4.0 {
            return false;
        }
        b = 2.0 * a * b + y;
        a = a2 - b2 + x;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_area_is_near_the_known_one() {
        let size = 200;
        let inside = count(size, 2);
        assert_eq!(inside, count(size, 1));
        let area = inside as f64 * (2.5 / f64::from(size)).powi(2);
        // The area of the Mandelbrot set is 1.5066 in the limit of many points and iterations.
        assert!((area - 1.5066).abs() < 0.03, "{area}");
    }
}
