//! Adam's steps up the smoothed bound.

use std::time::Instant;

use super::fluid;
use super::programme::Programme;
use crate::Clock;

/// What is forgotten of the direction and of its size in a step.
const DIRECTION: f64 = 0.8;
const SQUARE: f64 = 0.95;
/// The first and the last step as shares of the mean price of the fluid machine.
const LONG: f64 = 0.08;
const SHORT: f64 = 0.004;
/// The first and the last width of the smoothing as shares of what a task pays there on average.
const WIDE: f64 = 0.2;
const NARROW: f64 = 0.003;

/// Steps, at most, and how many ways of tasks at instants are looked at in all of them, about.
const STEPS: usize = 80;
const LOOKED_AT: usize = 8_000_000;

/// A check takes as long as so many steps, about.
const CHECK: u32 = 4;

/// The best prices that are found, one a period; `None` where the time that is left is shorter than a check takes.
pub(super) fn climb(programme: &Programme, clock: &Clock) -> Option<Vec<f64>> {
    let begin = Instant::now();
    let mut prices = fluid::prices(programme);
    let paid: f64 = prices.iter().zip(&programme.open).map(|(price, open)| price * open).sum();
    let task = paid / programme.tasks();
    let mean = prices.iter().sum::<f64>() / prices.len() as f64;
    let between = |from: f64, to: f64, done: f64| from * (to / from).powf(done);
    let (mut direction, mut square) = (vec![0.0; prices.len()], vec![0.0; prices.len()]);
    let mut best = (f64::NEG_INFINITY, prices.clone());
    let (mut step, mut steps) = (0, STEPS);
    while step <= steps && (step == 0 || !clock.is_over()) {
        let done = step as f64 / steps as f64;
        let point = programme.evaluate(&prices, between(WIDE, NARROW, done) * task);
        if point.value > best.0 {
            best = (point.value, prices.clone());
        }
        if step == 0 {
            if clock.left().is_some_and(|left| left < CHECK * begin.elapsed()) {
                return None;
            }
            steps = (LOOKED_AT / point.looked_at.max(1)).clamp(1, STEPS);
        }
        step += 1;
        let length = between(LONG, SHORT, done) * mean;
        let power = step as i32;
        let (direction_share, square_share) = (1.0 - DIRECTION.powi(power), 1.0 - SQUARE.powi(power));
        for (at, rise) in point.rise.iter().enumerate() {
            direction[at] = DIRECTION * direction[at] + (1.0 - DIRECTION) * rise;
            square[at] = SQUARE * square[at] + (1.0 - SQUARE) * rise * rise;
            let size = (square[at] / square_share).sqrt().max(1e-12);
            prices[at] = (prices[at] + length * direction[at] / direction_share / size).max(0.0);
        }
    }
    Some(best.1)
}
