//! What a campaign found.

use super::Claim;

/// Figures with claims about them.
#[derive(Clone, Debug)]
pub struct Summary<P> {
    /// The figures, gathered as suits the campaign.
    pub points: P,
    /// What is claimed, with verdicts.
    pub claims: Vec<Claim>,
    /// Runs in the results.
    pub runs: usize,
    /// Runs among them that an earlier campaign had finished.
    pub reused: usize,
    /// All this as text.
    pub text: String,
}
