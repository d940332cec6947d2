//! Steps uphill.

use super::programme::{Prices, Programme};

/// How much of the direction and of its square is remembered from step to step.
const DIRECTION: f64 = 0.9;
const SQUARE: f64 = 0.99;
/// A step changes a price by about this share of the mean least cost over the mean time, at the beginning and at the end.
const LONG: f64 = 0.1;
const SHORT: f64 = 0.001;
/// The width of the smoothing, as a share of the mean least cost, at the beginning and at the end.
const WIDE: f64 = 0.1;
const NARROW: f64 = 0.003;

/// The course of a search: prices that move, and the best ones.
pub(super) struct Ascent {
    prices: Vec<f64>,
    mean: Vec<f64>,
    square: Vec<f64>,
    steps: i32,
    best: (f64, Prices),
    /// The mean least cost, and what that is over its time.
    scale: (f64, f64),
    /// By how much shorter a step is for an edge: a price that is out of balance moves tasks through all of their room.
    edge: f64,
}

impl Ascent {
    pub(super) fn new(programme: &Programme) -> Self {
        let free = programme.free();
        let size = free.kinds.len() + free.edges.len();
        let (cost, time) = programme.scale();
        let edge = (time / programme.room()).min(1.0).sqrt();
        Self {
            prices: vec![0.0; size],
            mean: vec![0.0; size],
            square: vec![0.0; size],
            steps: 0,
            best: (f64::NEG_INFINITY, free),
            scale: (cost, cost / time),
            edge,
        }
    }

    pub(super) fn best(&self) -> &Prices {
        &self.best.1
    }

    pub(super) fn step(&mut self, programme: &Programme, done: f64) {
        let between = |from: f64, to: f64| from * (to / from).powf(done);
        let kinds = self.best.1.kinds.len();
        let prices = Prices { kinds: self.prices[..kinds].to_vec(), edges: self.prices[kinds..].to_vec() };
        let point = programme.evaluate(&prices, between(WIDE, NARROW) * self.scale.0);
        if point.value > self.best.0 {
            self.best = (point.value, prices);
        }
        self.steps += 1;
        let length = between(LONG, SHORT) * self.scale.1;
        let (mean_share, square_share) = (1.0 - DIRECTION.powi(self.steps), 1.0 - SQUARE.powi(self.steps));
        let lengths = [length, length * self.edge];
        for (at, rise) in point.rise.kinds.iter().chain(&point.rise.edges).enumerate() {
            self.mean[at] = DIRECTION * self.mean[at] + (1.0 - DIRECTION) * rise;
            self.square[at] = SQUARE * self.square[at] + (1.0 - SQUARE) * rise * rise;
            let size = (self.square[at] / square_share).sqrt().max(1e-12);
            self.prices[at] =
                (self.prices[at] + lengths[usize::from(at >= kinds)] * self.mean[at] / mean_share / size).max(0.0);
        }
    }
}
