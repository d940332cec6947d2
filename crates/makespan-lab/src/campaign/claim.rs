//! Claims of a paper, and verdicts on them.

use std::fmt;

use super::output::{markdown_table, text_table};

/// The verdict on a claim. It follows from all measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All measurements agree with the claim.
    Holds,
    /// Some measurements agree with the claim, and some do not.
    Partly,
    /// No measurement agrees with the claim.
    DoesNotHold,
    /// Every measured value agrees with the claim, or is better than the paper states. At least one value is better.
    Better,
    /// The measurements do not decide the claim: the threshold of the claim lies within the confidence interval of at
    /// least one measurement.
    Undecided {
        /// The number of runs from which such a confidence interval was computed. If there are several intervals, the
        /// smallest number.
        runs: usize,
    },
    /// The campaign has no measurement that could decide the claim.
    NotMeasured,
}

/// The answer of one measurement to the question: does the claim hold?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimAnswer {
    Yes,
    No,
    /// The measured value is better than the paper states.
    Better,
    /// The threshold of the claim lies within the confidence interval of the measurement. The field is the number of
    /// runs from which the interval was computed.
    Undecided(usize),
}

impl From<bool> for ClaimAnswer {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// A claim of the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The section, figure or sentence of the paper. For other claims, a word such as `Target`.
    pub place: String,
    /// The claim, paraphrased.
    pub statement: String,
    /// The measured values that decide the claim, as text.
    pub measured: String,
    /// The verdict.
    pub verdict: Verdict,
}

impl Claim {
    /// Returns a claim. The verdict follows from `answers`.
    pub(crate) fn new<A: Copy + Into<ClaimAnswer>>(
        place: impl Into<String>,
        statement: impl Into<String>,
        measured: String,
        answers: &[A],
    ) -> Self {
        Self { place: place.into(), statement: statement.into(), measured, verdict: Verdict::of(answers) }
    }

    /// Returns a claim. Each element of `evidence` is a measured value (as text) with its answer. The values are joined
    /// by `separator`, and the verdict follows from all answers.
    pub(crate) fn each<A: Copy + Into<ClaimAnswer>>(
        place: impl Into<String>,
        statement: impl Into<String>,
        separator: &str,
        evidence: impl IntoIterator<Item = (String, A)>,
    ) -> Self {
        let (figures, answers): (Vec<String>, Vec<A>) = evidence.into_iter().unzip();
        Self::new(place, statement, figures.join(separator), &answers)
    }

    /// Returns a claim that a single measured value decides. If there is no value, the claim is not measured.
    pub(crate) fn one(place: impl Into<String>, statement: impl Into<String>, figure: Option<(String, bool)>) -> Self {
        Self::each(place, statement, "", figure)
    }
}

impl Verdict {
    /// Combines answers into a verdict. For example, a claim holds if every answer is yes, and holds partly if some
    /// answers are yes and some are no.
    pub(crate) fn of<A: Copy + Into<ClaimAnswer>>(answers: &[A]) -> Self {
        let answers: Vec<ClaimAnswer> = answers.iter().map(|&answer| answer.into()).collect();
        let runs = answers
            .iter()
            .filter_map(|answer| if let ClaimAnswer::Undecided(runs) = answer { Some(*runs) } else { None });
        let has = |wanted: ClaimAnswer| answers.contains(&wanted);
        match (has(ClaimAnswer::Yes) || has(ClaimAnswer::Better), has(ClaimAnswer::No), runs.min()) {
            (false, false, None) => Self::NotMeasured,
            (true, true, _) => Self::Partly,
            (false, true, None) => Self::DoesNotHold,
            (_, _, Some(runs)) => Self::Undecided { runs },
            (true, false, None) => {
                if has(ClaimAnswer::Better) {
                    Self::Better
                } else {
                    Self::Holds
                }
            }
        }
    }
}

const HEADER: [&str; 4] = ["Place", "Claim", "Measured", "Verdict"];

/// Formats claims as a table for a terminal.
pub(crate) fn claims_text(claims: &[Claim]) -> String {
    text_table(&HEADER, claims.iter().map(row))
}

/// Formats claims as a table for a Markdown page.
pub(crate) fn claims_markdown(claims: &[Claim]) -> String {
    markdown_table(&HEADER, claims.iter().map(row))
}

fn row(claim: &Claim) -> Vec<String> {
    vec![claim.place.clone(), claim.statement.clone(), claim.measured.clone(), claim.verdict.to_string()]
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Undecided { runs } => return f.pad(&format!("undecided at {runs} runs")),
            Self::Better => "better than claimed",
            Self::Holds => "holds",
            Self::Partly => "partly",
            Self::DoesNotHold => "does not hold",
            Self::NotMeasured => "not measured",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_no_more_lenient_than_its_answers() {
        use ClaimAnswer::{Better, No, Undecided, Yes};
        for (answers, verdict) in [
            (vec![], "not measured"),
            (vec![Yes, Yes], "holds"),
            (vec![No], "does not hold"),
            (vec![Yes, No, Undecided(3)], "partly"),
            (vec![Yes, Better], "better than claimed"),
            (vec![Better, No], "partly"),
            (vec![Yes, Undecided(7), Undecided(4)], "undecided at 4 runs"),
            (vec![No, Undecided(7)], "undecided at 7 runs"),
        ] {
            assert_eq!(Verdict::of(&answers).to_string(), verdict, "{answers:?}");
        }
    }
}
