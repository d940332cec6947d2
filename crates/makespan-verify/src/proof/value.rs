//! Exact values of objectives.

use std::cmp::Ordering;
use std::fmt;

use dashu_int::IBig;
use dashu_ratio::RBig;
use makespan_core::{
    Objective,
    tree::{decimal_text, float_of, short_decimal},
};

/// The exact value of an objective: a rational for a throughput, otherwise an integer in the unit of the objective.
/// Values are compared as numbers, even if one is an integer and the other one a rational.
#[derive(Clone, Debug)]
pub enum Value {
    /// A value in the integer unit of the objective.
    Integer(i128),
    /// A throughput in weighted tasks per second.
    Rational(RBig),
}

impl Value {
    /// Returns the value as an integer, rounded down if the value is a rational. Only a throughput is a rational.
    pub fn integer(&self) -> i128 {
        match self {
            Self::Integer(value) => *value,
            Self::Rational(value) => {
                let floor = value.clone().floor();
                let limit = if floor < IBig::ZERO { i128::MIN } else { i128::MAX };
                i128::try_from(floor).unwrap_or(limit)
            }
        }
    }

    /// Returns the value as a rational.
    pub fn rational(&self) -> RBig {
        match self {
            Self::Integer(value) => RBig::from(IBig::from(*value)),
            Self::Rational(value) => value.clone(),
        }
    }

    /// Returns the float that is nearest to the value.
    pub fn as_f64(&self) -> f64 {
        match self {
            Self::Integer(value) => *value as f64,
            Self::Rational(value) => float_of(value),
        }
    }

    /// Formats a bound on an objective as a decimal. Integers are exact. Rationals have 15 significant figures, rounded
    /// so that the bound becomes weaker.
    pub fn decimal(&self, objective: Objective) -> String {
        match self {
            Self::Integer(value) => objective.decimal(*value),
            Self::Rational(value) => decimal_text(&short_decimal(value, objective.is_maximised())),
        }
    }

    /// Formats the value of a plan as a decimal, like [`Value::decimal`], but rounds a rational so that the plan looks
    /// worse, not better.
    pub fn reached(&self, objective: Objective) -> String {
        match self {
            Self::Integer(_) => self.decimal(objective),
            Self::Rational(value) => decimal_text(&short_decimal(value, !objective.is_maximised())),
        }
    }
}

impl From<i128> for Value {
    fn from(value: i128) -> Self {
        Self::Integer(value)
    }
}

impl From<RBig> for Value {
    fn from(value: RBig) -> Self {
        Self::Rational(value)
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => one.cmp(other),
            _ => self.rational().cmp(&other.rational()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Rational(value) => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_numbers_and_rounded_to_the_weaker_side() {
        let third = |of: i64| Value::from(RBig::from_parts(of.into(), 3_u8.into()));
        assert!(third(1) > Value::from(0) && third(1) < Value::from(1) && third(3) == Value::from(1));
        assert_eq!((third(4).integer(), third(-4).integer(), Value::from(7).integer()), (1, -2, 7));
        assert_eq!(third(1).decimal(Objective::Throughput), "0.333333333333334");
        assert_eq!(third(1).reached(Objective::Throughput), "0.333333333333333");
        assert_eq!(Value::from(1_500_000_000).decimal(Objective::Makespan), "1.5");
    }
}
