//! Recognises lines of numbers: rows of a matrix of times, and records of a log.

use crate::format::head::Head;

/// Returns whether a file begins with a row of numbers. The first word, and the second if there is one, must be a
/// number or several numbers separated by commas. So a table that begins with a column of job numbers is not read as a
/// log. If the first line has at least 12 words, as records of logs have, only the first word must be a number.
pub(crate) fn is_row(head: &Head<'_>) -> bool {
    let is_number = |word: &[u8]| {
        let word = std::str::from_utf8(word);
        word.is_ok_and(|word| word.split(',').all(|part| part.is_empty() || part.parse::<f64>().is_ok()))
    };
    let mut words = head.first_line().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let long = words.clone().count() >= 12;
    matches!(head.first, b'-' | b'0'..=b'9')
        && words.next().is_some_and(is_number)
        && (long || words.next().is_none_or(is_number))
}

/// Returns whether a line is a record of the Standard Workload Format: 18 fields, the first a whole number.
pub(crate) fn is_record(line: &[u8]) -> bool {
    let mut fields = tokens(line);
    fields.next().is_some_and(|field| field.iter().all(u8::is_ascii_digit)) && fields.count() == 17
}

/// Returns the words of a line, which are separated by spaces, tabs or commas.
pub(crate) fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace() || *byte == b',').filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_eighteen_numbers() {
        assert!(is_record(b"1 0 -1 1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1"));
        assert!(!is_record(b"512 16 0") && !is_record(b"1.5 2") && !is_record(b"3"));
    }
}
