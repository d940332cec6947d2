//! The claims of sections 3.2 and 4.2, with the measured values.
//!
//! The claims are paraphrased, and each claim names its paragraph. [`check`] defines words such as "around" and
//! "stable" by numbers, so that verdicts can be computed.

mod check;
mod families;
mod overall;
mod stages;

use super::points::Points;
use crate::campaign::Claim;

/// Returns every claim in the order of the paper.
pub(super) fn all(points: &Points) -> Vec<Claim> {
    let mut claims = stages::claims(points).to_vec();
    claims.extend(families::weak(points));
    claims.extend(families::high(points));
    claims.extend(families::mixed(points));
    claims.extend(families::cirne(points));
    claims.extend(overall::claims(points));
    claims
}

#[cfg(test)]
mod tests;
