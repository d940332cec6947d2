//! Minima of functions of one variable.

/// Returns a minimum of a function on an interval. Refines the lowest local minima of a grid by golden sections. If
/// the function has several valleys, returns the minimum of the deepest valley on the grid.
pub(super) fn search(low: f64, high: f64, steps: u32, error: &dyn Fn(f64) -> f64) -> f64 {
    const VALLEYS: usize = 3;
    let width = (high - low) / f64::from(steps);
    let grid: Vec<(f64, f64)> =
        (0..=steps).map(|step| low + f64::from(step) * width).map(|place| (error(place), place)).collect();
    let lowest_here =
        |at: &usize| grid[at.saturating_sub(1)..grid.len().min(at + 2)].iter().all(|near| grid[*at].0 <= near.0);
    let mut places: Vec<(f64, f64)> = (0..grid.len()).filter(lowest_here).map(|at| grid[at]).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends = places.iter().take(VALLEYS).map(|&(_, place)| {
        let end = golden((place - width).max(low), (place + width).min(high), error);
        (error(end), end)
    });
    ends.chain(places.first().copied()).min_by(|a, b| a.0.total_cmp(&b.0)).map_or(low, |(_, place)| place)
}

/// Returns the minimum on an interval, including its ends, of a function with one valley.
pub(super) fn golden(mut low: f64, mut high: f64, error: &dyn Fn(f64) -> f64) -> f64 {
    const NARROW: f64 = 1e-8;
    let ends = [low, high];
    let shrink = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (high - shrink * (high - low), low + shrink * (high - low));
    let (mut at_left, mut at_right) = (error(left), error(right));
    while high - low > NARROW {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - shrink * (high - low);
            at_left = error(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + shrink * (high - low);
            at_right = error(right);
        }
    }
    let middle = f64::midpoint(low, high);
    ends.into_iter().fold(middle, |best, end| if error(end) < error(best) { end } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_deeper_valley_and_the_ends() {
        let valleys = |x: f64| (x - 1.0).abs().min(0.1 + (x - 3.0).abs() * 0.2);
        assert!((search(0.0, 5.0, 20, &valleys) - 1.0).abs() < 1e-7);
        assert!((golden(2.0, 5.0, &|x| x) - 2.0).abs() < 1e-7);
        assert!((golden(2.0, 5.0, &|x| (x - 4.0).powi(2)) - 4.0).abs() < 1e-6);
    }
}
