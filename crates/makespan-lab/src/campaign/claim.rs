//! What a paper claims, beside what was measured.

use std::fmt;

use super::output::{markdown_table, text_table};

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

impl Claim {
    /// A claim that some answers decide.
    pub(crate) fn new(place: &'static str, statement: &'static str, measured: String, answers: &[bool]) -> Self {
        Self { place, statement, measured, verdict: Verdict::of(answers) }
    }

    /// A claim that one figure decides, if it was measured.
    pub(crate) fn one(place: &'static str, statement: &'static str, figure: Option<(String, bool)>) -> Self {
        let (measured, answer) = figure.unzip();
        Self::new(place, statement, measured.unwrap_or_default(), answer.as_slice())
    }
}

impl Verdict {
    /// Of some answers: it holds when every answer is yes, partly when some are.
    pub(crate) fn of(answers: &[bool]) -> Self {
        match answers.iter().filter(|&&answer| answer).count() {
            _ if answers.is_empty() => Self::NotMeasured,
            yes if yes == answers.len() => Self::Holds,
            0 => Self::DoesNotHold,
            _ => Self::Partly,
        }
    }
}

const HEADER: [&str; 4] = ["Place", "Claim", "Measured", "Verdict"];

/// Claims for a terminal.
pub(crate) fn claims_text(claims: &[Claim]) -> String {
    text_table(HEADER, claims.iter().map(row))
}

/// Claims for a Markdown page.
pub(crate) fn claims_markdown(claims: &[Claim]) -> String {
    markdown_table(HEADER, claims.iter().map(row))
}

fn row(claim: &Claim) -> [String; 4] {
    [claim.place.into(), claim.statement.into(), claim.measured.clone(), claim.verdict.to_string()]
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
