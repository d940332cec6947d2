//! The claims of sections 3.2 and 4.2 beside what was measured.
//!
//! The paper's words are paraphrased; each claim names the paragraph that makes it. "Around" and "stable" are given
//! numbers in [`check`], so that each verdict is computed and none is an impression.

mod check;
mod overall;
mod realistic;
mod stages;
mod uniform;

use super::Points;
use crate::campaign::Claim;

/// Every claim, in the order of the paper.
pub(super) fn all(points: &Points) -> Vec<Claim> {
    let mut claims = stages::claims(points).to_vec();
    claims.extend(uniform::weak(points));
    claims.extend(uniform::high(points));
    claims.extend(realistic::mixed(points));
    claims.extend(realistic::cirne(points));
    claims.extend(overall::claims(points));
    claims
}

#[cfg(test)]
mod tests;
