//! Formats the findings of a check.

use makespan_slurm::doctor::{Finding, Verdict};

use crate::output::{Line, Tone, filled};

/// Width of the output, in columns of text.
const WIDTH: usize = 80;
/// Width of the verdict and the topic, including the spaces after them.
const LABEL: usize = 25;

/// Formats a finding: the verdict, the topic, and the result, with the remedy below.
pub fn finding(finding: &Finding) -> Line {
    let (word, tone) = match finding.verdict {
        Verdict::Good => ("ok", Tone::Plain),
        Verdict::Unknown => ("unknown", Tone::Doubtful),
        Verdict::Doubtful => ("warning", Tone::Doubtful),
        Verdict::Bad => ("bad", Tone::Bad),
    };
    let mut text = hanging(&format!("{word:<9}{:<16}", finding.topic), &finding.found);
    if let Some(remedy) = &finding.remedy {
        text += "\n";
        text += &hanging(&" ".repeat(LABEL), &format!("-> {remedy}"));
    }
    Line::new(tone, text)
}

/// Formats a text after its label in lines of at most `WIDTH` columns.
fn hanging(label: &str, text: &str) -> String {
    filled(WIDTH, label, LABEL, text.split_whitespace()).trim_end().to_owned()
}
