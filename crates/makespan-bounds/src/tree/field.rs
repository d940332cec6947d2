//! The numbers of the simplex method: floats for the search, and rationals for exact results.

use dashu_ratio::RBig;
use makespan_core::tree::float_of;

/// An ordered field, exact or up to rounding errors.
pub(super) trait Field: Clone {
    /// Returns zero.
    fn zero() -> Self;
    /// Returns one.
    fn one() -> Self;
    /// Returns the number in this field that is nearest to `value`.
    fn of(value: &RBig) -> Self;
    /// Computes `self += a * b`.
    fn add_product(&mut self, a: &Self, b: &Self);
    /// Computes `self -= a * b`.
    fn subtract_product(&mut self, a: &Self, b: &Self);
    /// Computes `self += other`.
    fn add(&mut self, other: &Self);
    /// Returns `self / other`.
    fn over(&self, other: &Self) -> Self;
    /// Returns `-self`.
    fn negated(&self) -> Self;
    /// Returns a measure of how suitable the number is as a pivot, or 0 if the number is zero up to rounding errors.
    fn magnitude(&self) -> f64;
    /// Returns true if the number is zero, up to the rounding errors of the field.
    fn is_zero(&self) -> bool {
        self.magnitude() == 0.0
    }
    /// Interprets the number as the reduced gain of a variable. Returns true if the gain is positive by more than the
    /// possible rounding errors.
    fn is_gain(&self) -> bool;
    /// Interprets the number as the slope of a basic variable along a direction. Returns true if the slope is negative
    /// by more than the possible rounding errors. Then the variable may leave the basis.
    fn falls(&self) -> bool;
    /// Returns true if the number is less than `other`.
    fn less(&self, other: &Self) -> bool;
    /// Returns the nearest float.
    fn float(&self) -> f64;
}

/// Floats of a smaller magnitude are treated as zero. All numbers are scaled to values near 1.
const NOISE: f64 = 1e-12;
/// Minimum reduced gain of a variable that enters the basis. Because variables with smaller gains are ignored, the
/// optimum is slightly inexact. The bound of the certificate takes this error into account.
const GAIN: f64 = 1e-11;
/// Minimum magnitude of a pivot.
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
