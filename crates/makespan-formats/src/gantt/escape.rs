//! Untrusted text inside SVG.

use std::fmt::{self, Write as _};

/// Text of a user, safe as element content and as an attribute value of XML.
///
/// Characters that XML cannot hold, and the controls that reorder text across its surroundings, become U+FFFD. Plain
/// right-to-left letters pass; each text stands in its own element, so they disturb no neighbour.
pub(crate) struct Text<'a>(pub &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\t' | '\n' | '\r' => f.write_char(' ')?,
                c if c.is_control() || unprintable(c) => f.write_char('\u{FFFD}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

fn unprintable(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FFFE}' | '\u{FFFF}')
}

/// A coordinate in pixels with one decimal, none when it is whole.
#[derive(Clone, Copy)]
pub(crate) struct Pixels(pub f64);

impl fmt::Display for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, rest) = (tenths.abs() / 10, tenths.abs() % 10);
        if rest == 0 { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{rest}") }
    }
}

/// The width that `text` takes at a font size, estimated without a font: wide enough for common sans-serif faces.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    text.chars().map(|c| if c.is_ascii() { 0.58 } else { 1.0 }).sum::<f64>() * size
}

/// The longest beginning of `text` that fits, with an ellipsis when it is cut; `None` when fewer than 3 characters fit.
pub(crate) fn fitting(text: &str, size: f64, room: f64) -> Option<String> {
    if width_of(text, size) <= room {
        return Some(text.to_owned());
    }
    let mut left = room - size;
    let cut: String = text
        .chars()
        .take_while(|&c| {
            left -= if c.is_ascii() { 0.58 } else { 1.0 } * size;
            left >= 0.0
        })
        .collect();
    (cut.chars().count() >= 3).then(|| cut + "…")
}
