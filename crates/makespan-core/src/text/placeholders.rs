//! Placeholders in commands, such as `{processors}`.

use std::borrow::Cow;

/// Names of the placeholders.
const NAMES: [&str; 3] = ["processors", "gpus", "task"];

/// Text that stands for a left brace which begins no placeholder.
const LITERAL: &str = "{literal:";

/// Replaces the placeholders in a word of a command. `value` returns the text for a name, or `None` if the placeholder
/// stays as it is. Then replaces `{literal:` by `{`, so `{literal:gpus}` becomes the text `{gpus}`.
///
/// ```
/// use makespan_core::{literal_word, replaced_placeholders};
/// let value = |name: &str| (name == "processors").then(|| "4".to_owned());
/// assert_eq!(replaced_placeholders("-j{processors} {gpus} {}", value), "-j4 {gpus} {}");
/// assert_eq!(replaced_placeholders(&literal_word("-j{processors}"), value), "-j{processors}");
/// ```
pub fn replaced_placeholders(word: &str, value: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    if !word.contains('{') {
        return Cow::Borrowed(word);
    }
    let (mut replaced, mut rest) = (String::with_capacity(word.len()), word);
    while let Some(at) = rest.find('{') {
        replaced += &rest[..at];
        rest = &rest[at..];
        let stated = NAMES.into_iter().find_map(|name| {
            let after = rest[1..].strip_prefix(name)?.strip_prefix('}')?;
            Some((value(name)?, after))
        });
        let literal = || (String::from("{"), rest.strip_prefix(LITERAL).unwrap_or(&rest[1..]));
        let (text, after) = stated.unwrap_or_else(literal);
        replaced += &text;
        rest = after;
    }
    Cow::Owned(replaced + rest)
}

/// Returns a word from which [`replaced_placeholders`] makes `word`, with any values.
pub fn literal_word(word: &str) -> String {
    NAMES.into_iter().fold(word.replace(LITERAL, &[LITERAL, &LITERAL[1..]].concat()), |word, name| {
        word.replace(&format!("{{{name}}}"), &format!("{LITERAL}{name}}}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joins all sequences of up to `length` pieces.
    fn texts(length: usize) -> Vec<String> {
        const PIECES: [&str; 10] =
            ["{", "}", "$", "literal:", "{literal:", "processors", "{gpus}", "task", "{processors}", "{}"];
        (0..length).fold(vec![String::new()], |texts, _| {
            let longer = texts.iter().flat_map(|text| PIECES.map(|piece| format!("{text}{piece}")));
            longer.chain([String::new()]).collect()
        })
    }

    #[test]
    fn literal_words_contain_no_placeholder() {
        for text in texts(4) {
            let literal = literal_word(&text);
            assert!(!NAMES.iter().any(|name| literal.contains(&format!("{{{name}}}"))), "{text}");
            assert_eq!(replaced_placeholders(&literal, |name| Some(name.to_uppercase())), text);
            assert_eq!(replaced_placeholders(&literal, |_| None), text);
        }
    }

    #[test]
    fn only_names_with_values_are_replaced() {
        let value = |name: &str| (name != "gpus").then(|| name.to_uppercase());
        for (word, replaced) in [
            ("a", "a"),
            ("{{processors}}", "{PROCESSORS}"),
            ("{gpus}{task}", "{gpus}TASK"),
            ("{processors", "{processors"),
            ("${x} {1} {print}", "${x} {1} {print}"),
            ("{literal:processors}", "{processors}"),
        ] {
            assert_eq!(replaced_placeholders(word, value), replaced);
        }
    }
}
