//! Removes the texts of users from lines of the log.
//!
//! Commands, names, paths and outputs of jobs may contain passwords, and users may type a token into the wrong field.
//! So the log contains only numbers of jobs, users, statuses, names of fields of the interface, and sentences of the
//! service.

use crate::words::JobNumber;

/// Names of fields and headers that may be in the log.
const FIELDS: &[&str] = &[
    "after",
    "argv",
    "authorization",
    "begin",
    "body",
    "content",
    "content-type",
    "deadline",
    "directory",
    "end",
    "environment",
    "gpus",
    "header",
    "hold",
    "host",
    "idempotency-key",
    "last-event-id",
    "limit",
    "memory",
    "method",
    "most",
    "most_processors",
    "most_waiting",
    "name",
    "needs",
    "path",
    "priority",
    "processors",
    "query",
    "reservations",
    "spans",
    "start",
    "state",
    "stream",
    "submissions",
    "time",
    "upgrade",
    "user",
    "walltime",
    "weight",
];

/// Beginnings of reasons for the end of a job that may be in the log. A `#` stands for a number.
const REASONS: &[&str] = &[
    "it could not be started",
    "it ended with status # (killed by signal #)",
    "it returned exit status #",
    "it was cancelled",
    "it was interrupted because the service stopped",
    "it was killed because it used more memory than its limit",
    "it was probably killed for lack of memory",
    "it was ended at its time limit of # s",
    "it was ended after # s, the time limit that the policy set",
    "job #, which it waits for, did not succeed",
    "job #, which it waits for, was cancelled",
    "the process that watched the job (#) has ended",
    "the disk was full when the job ended",
];

/// Returns the beginning of the place of a problem, up to the first word that is not a field of the interface.
pub(crate) fn place(place: &str) -> Option<String> {
    let is_known = |part: &&str| {
        let (name, index) = part.split_once('[').unwrap_or((part, "0]"));
        let is_index =
            |index: &str| !index.is_empty() && index.len() < 10 && index.bytes().all(|byte| byte.is_ascii_digit());
        index.strip_suffix(']').is_some_and(is_index) && FIELDS.contains(&name.to_ascii_lowercase().as_str())
    };
    let known: Vec<&str> = place.split('.').take_while(is_known).collect();
    (!known.is_empty()).then(|| known.join("."))
}

/// Returns the part of a reason that contains no text of a user, if there is such a part.
pub(crate) fn reason(reason: &str) -> Option<&str> {
    let (mut shape, mut ends) = (String::with_capacity(reason.len()), Vec::with_capacity(reason.len()));
    for (at, sign) in reason.char_indices() {
        match sign {
            // A decimal point continues a number.
            '0'..='9' | '.' if shape.ends_with('#') => *ends.last_mut()? = at + 1,
            '0'..='9' => {
                shape.push('#');
                ends.push(at + 1);
            }
            sign => {
                shape.push(sign);
                ends.extend(std::iter::repeat_n(at + sign.len_utf8(), sign.len_utf8()));
            }
        }
    }
    let known = REASONS.iter().find(|known| {
        let rest = shape.strip_prefix(**known);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ',', ';']))
    })?;
    reason.get(..*ends.get(known.len() - 1)?)
}

/// Replaces each text in backticks: the name of a job in the engine by the number of the job, and any other text by two
/// dots.
pub(crate) fn message(text: &str) -> String {
    let mut parts = text.split('`');
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut is_quoted = true;
    for part in parts {
        if is_quoted {
            match job_of_name(part) {
                Some(job) => out += &job.to_string(),
                None => out += "..",
            }
        } else {
            out += part;
        }
        is_quoted = !is_quoted;
    }
    out
}

/// Returns the number with which the name of a job in the engine begins.
pub(crate) fn job_of_name(name: &str) -> Option<JobNumber> {
    name.split(['-', '/']).next()?.parse().ok().map(JobNumber)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Checks that no word of a user is left, wherever the word is.
        #[test]
        fn no_word_of_a_user_is_left(before in "[a-z`: ,;]{0,20}", number in 0_u32..1000, known in 0..REASONS.len()) {
            const WORD: &str = "hunter8";
            let fact = REASONS[known].replace('#', &number.to_string());
            for sign in [":", ",", ";"] {
                let text = format!("{fact}{sign} {before}{WORD}");
                prop_assert_eq!(reason(&text), Some(fact.as_str()));
            }
            for text in [format!("{before}{WORD}"), format!("{fact} {WORD}")] {
                prop_assert_eq!(reason(&text), None);
            }
            let quoted = message(&format!("job `{number}/{WORD}` waits: cannot start `{WORD}`"));
            prop_assert_eq!(quoted, format!("job {number} waits: cannot start .."));
            for text in [format!("content.environment.{WORD}"), format!("{WORD}.content"), format!("content[{WORD}].argv")] {
                prop_assert!(!place(&text).unwrap_or_default().contains(WORD));
            }
        }
    }

    #[test]
    fn places_keep_the_fields_of_the_interface() {
        for (text, kept) in [
            ("submissions[12].content.argv", Some("submissions[12].content.argv")),
            ("header.authorization", Some("header.authorization")),
            ("content.environment.PASSWORD", Some("content.environment")),
            ("Idempotency-Key", Some("Idempotency-Key")),
            ("", None),
            ("line 3", None),
        ] {
            assert_eq!(place(text).as_deref(), kept);
        }
        assert_eq!(reason("it was ended at its time limit of 1.5 s"), Some("it was ended at its time limit of 1.5 s"));
    }
}
