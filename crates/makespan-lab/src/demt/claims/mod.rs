//! The claims of section 4.2 beside what was measured.
//!
//! The paper's words are paraphrased; each claim names the paragraph that makes it. "Around" and "stable" are given
//! numbers in [`check`], so that each verdict is computed and none is an impression.

mod check;
mod overall;
mod realistic;
mod uniform;

use std::fmt;

use super::Points;

/// What the data say about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All that was measured agrees.
    Holds,
    /// Some of what was measured agrees.
    Partly,
    /// Nothing that was measured agrees.
    DoesNotHold,
    /// The campaign has no point that could tell.
    NotMeasured,
}

/// A claim of the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Where the paper makes it.
    pub place: &'static str,
    /// What it says, in our words.
    pub statement: &'static str,
    /// The figures that decide.
    pub measured: String,
    /// The outcome.
    pub verdict: Verdict,
}

/// Every claim, in the order of the paper.
pub(super) fn all(points: &Points) -> Vec<Claim> {
    let mut claims = uniform::weak(points);
    claims.extend(uniform::high(points));
    claims.extend(realistic::mixed(points));
    claims.extend(realistic::cirne(points));
    claims.extend(overall::claims(points));
    claims
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::Partly => "partly",
            Self::DoesNotHold => "does not hold",
            Self::NotMeasured => "not measured",
        })
    }
}

#[cfg(test)]
mod tests;
