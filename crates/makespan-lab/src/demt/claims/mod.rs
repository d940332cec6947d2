//! The claims of sections 3.2 and 4.2 beside what was measured.
//!
//! The paper's words are paraphrased; each claim names the paragraph that makes it. "Around" and "stable" are given
//! numbers in [`check`], so that each verdict is computed and none is an impression.

mod check;
mod families;
mod overall;
mod stages;

use super::points::Points;
use crate::campaign::Claim;

/// Every claim, in the order of the paper.
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
