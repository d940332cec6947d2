//! The numbers that the simplex method works in: floats while it searches, rationals when it must be right.

use dashu_ratio::RBig;
use makespan_core::tree::float_of;

/// An ordered field.
pub(super) trait Field: Clone {
    /// Zero.
    fn zero() -> Self;
    /// One.
    fn one() -> Self;
    /// The nearest number to a rational.
    fn of(value: &RBig) -> Self;
    /// `self += a * b`.
    fn add_product(&mut self, a: &Self, b: &Self);
    /// `self -= a * b`.
    fn subtract_product(&mut self, a: &Self, b: &Self);
    /// `self += other`.
    fn add(&mut self, other: &Self);
    /// `self / other`.
    fn over(&self, other: &Self) -> Self;
    /// `-self`.
    fn negated(&self) -> Self;
    /// How good a pivot this is: 0 for none at all.
    fn magnitude(&self) -> f64;
    /// Whether it is zero, as far as the field can tell.
    fn is_zero(&self) -> bool {
        self.magnitude() == 0.0
    }
    /// Whether it is positive beyond doubt.
    fn is_gain(&self) -> bool;
    /// Whether a basic variable falls fast enough in a direction to be the one that leaves.
    fn falls(&self) -> bool;
    /// Whether it is less than `other`.
    fn less(&self, other: &Self) -> bool;
    /// The nearest float.
    fn float(&self) -> f64;
}

/// Below this a float is taken for the rounding of zero; all figures are scaled to be near 1.
const NOISE: f64 = 1e-12;
/// Least reduced gain of a variable that enters. The error in the optimum that it leaves is within the certificate.
const GAIN: f64 = 1e-11;
/// Least pivot.
const PIVOT: f64 = 1e-9;

impl Field for f64 {
    fn zero() -> Self {
        0.0
    }
    fn one() -> Self {
        1.0
    }
    fn of(value: &RBig) -> Self {
        float_of(value)
    }
    fn add_product(&mut self, a: &Self, b: &Self) {
        *self += a * b;
    }
    fn subtract_product(&mut self, a: &Self, b: &Self) {
        *self -= a * b;
    }
    fn add(&mut self, other: &Self) {
        *self += other;
    }
    fn over(&self, other: &Self) -> Self {
        self / other
    }
    fn negated(&self) -> Self {
        -self
    }
    fn magnitude(&self) -> f64 {
        if self.abs() < NOISE { 0.0 } else { self.abs() }
    }
    fn is_gain(&self) -> bool {
        *self > GAIN
    }
    fn falls(&self) -> bool {
        *self < -PIVOT
    }
    fn less(&self, other: &Self) -> bool {
        self < other
    }
    fn float(&self) -> f64 {
        *self
    }
}

impl Field for RBig {
    fn zero() -> Self {
        Self::ZERO
    }
    fn one() -> Self {
        Self::ONE
    }
    fn of(value: &RBig) -> Self {
        value.clone()
    }
    fn add_product(&mut self, a: &Self, b: &Self) {
        if !a.is_zero() && !b.is_zero() {
            *self += a * b;
        }
    }
    fn subtract_product(&mut self, a: &Self, b: &Self) {
        if !a.is_zero() && !b.is_zero() {
            *self -= a * b;
        }
    }
    fn add(&mut self, other: &Self) {
        if !RBig::is_zero(other) {
            *self += other;
        }
    }
    fn over(&self, other: &Self) -> Self {
        self / other
    }
    fn negated(&self) -> Self {
        -self.clone()
    }
    fn magnitude(&self) -> f64 {
        f64::from(u8::from(!RBig::is_zero(self)))
    }
    fn is_gain(&self) -> bool {
        *self > Self::ZERO
    }
    fn falls(&self) -> bool {
        *self < Self::ZERO
    }
    fn less(&self, other: &Self) -> bool {
        self < other
    }
    fn float(&self) -> f64 {
        float_of(self)
    }
}
