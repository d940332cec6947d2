//! Decodes the text of graphs, XML files and projects. A file can be read even if its labels are not UTF-8.

use std::string::FromUtf8Error;

use makespan_core::text_of_bytes;

/// Names of ISO 8859-1 in XML and Graphviz files, in lower case and without hyphens and underscores.
const LATIN_1: [&str; 4] = ["latin1", "l1", "iso88591", "isoir100"];

/// The text of a file.
pub(crate) struct DecodedText {
    pub text: String,
    /// A warning if some bytes of the file are not UTF-8 and the file does not state ISO 8859-1 as its encoding.
    pub remark: Option<String>,
}

/// Decodes a file as UTF-8 if possible, or else as ISO 8859-1 if the file states this encoding. In all other files,
/// [`text_of_bytes`] preserves the bytes that are not UTF-8.
pub(crate) fn decoded(bytes: Vec<u8>) -> DecodedText {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return DecodedText { text, remark: None },
        Err(error) => error,
    };
    if states_latin_1(error.as_bytes()) {
        return DecodedText { text: error.as_bytes().iter().map(|&byte| char::from(byte)).collect(), remark: None };
    }
    let line = line_of(&error);
    let remark = format!("the text is not UTF-8 (first on line {line}); bytes of other encodings are kept as they are");
    DecodedText { text: text_of_bytes(error.into_bytes()), remark: Some(remark) }
}

/// Returns the line of the first byte that is not UTF-8.
pub(crate) fn line_of(error: &FromUtf8Error) -> usize {
    error.as_bytes()[..error.utf8_error().valid_up_to()].split(|&byte| byte == b'\n').count()
}

/// Returns whether a text states ISO 8859-1 as its encoding, with `encoding=".."` in XML or `charset=..` in DOT.
fn states_latin_1(bytes: &[u8]) -> bool {
    let text: String = bytes.iter().map(|&byte| if byte.is_ascii() { char::from(byte) } else { ' ' }).collect();
    let values = |key: &'static str| text.match_indices(key).map(move |(at, _)| at + key.len());
    values("encoding").chain(values("charset")).any(|at| {
        let value = text[at..].trim_start_matches(['"', ' ', '\t']).strip_prefix('=');
        let word = value.unwrap_or_default().trim_start_matches(['"', '\'', ' ', '\t']);
        let is_name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let name: String = word.chars().take_while(is_name).filter(char::is_ascii_alphanumeric).collect();
        LATIN_1.contains(&&*name.to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_not_utf_8_are_decoded() {
        let kept = text_of_bytes(vec![0xE9]);
        for (before, bytes, text, is_remarked) in [
            ("", "\u{e9}".as_bytes(), "\u{e9}", false),
            ("a\n", b"\xe9", &*kept, true),
            ("<?xml version='1.0' encoding='ISO-8859-1'?>", b"\xe9", "\u{e9}", false),
            ("<?xml encoding=\"UTF-8\"?>", b"\xe9", &kept, true),
            ("graph [charset = \"latin-1\"]", b"\xe9", "\u{e9}", false),
            ("\"charset\"=latin1", b"\xe9", "\u{e9}", false),
            ("charset=latin15", b"\xe9", &kept, true),
            ("charset", b"\xe9", &kept, true),
        ] {
            let found = decoded([before.as_bytes(), bytes].concat());
            assert_eq!((found.text, found.remark.is_some()), (format!("{before}{text}"), is_remarked));
        }
        assert!(decoded(b"a\nb\n\xe9".to_vec()).remark.unwrap().contains("line 3"));
    }
}
