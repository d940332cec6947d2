//! Makes control characters visible in texts for a terminal.

use std::borrow::Cow;

use super::byte_of;

/// Escapes the control characters in a text, except line breaks and tabs. Without the escapes, names from files could
/// control the terminal.
pub fn harmless(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_control(c) && !matches!(c, '\n' | '\t'))
}

/// Escapes all control characters in a name. Without the escapes, text after a line break in a name would look like a
/// message of the program.
pub fn shown(name: &str) -> Cow<'_, str> {
    escaped(name, is_control)
}

/// Returns true if a character moves the cursor, ends a line, or changes the direction of the text around it.
pub fn is_control(c: char) -> bool {
    c.is_control()
        || byte_of(c).is_some()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, harmful: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&harmful) {
        return Cow::Borrowed(text);
    }
    let one = |c: char| match byte_of(c) {
        // This byte is not UTF-8.
        Some(_) => char::REPLACEMENT_CHARACTER.to_string(),
        None if harmful(c) => c.escape_default().to_string(),
        None => c.to_string(),
    };
    text.chars().map(one).collect()
}
