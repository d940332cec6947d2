//! Escapes untrusted text for SVG, and formats coordinates.

use std::fmt::{self, Write as _};

/// Text of a user, formatted so that it is safe as XML element content or attribute value.
///
/// Characters that XML does not allow, and control characters that reorder surrounding text, become U+FFFD.
/// Right-to-left letters are unchanged. Such letters do not affect other texts, because each text is in its own
/// element.
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

/// Coordinate in pixels, formatted with one decimal place, or with none if the coordinate is whole.
#[derive(Clone, Copy)]
pub(crate) struct PixelCoordinate(pub f64);

impl fmt::Display for PixelCoordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, rest) = (tenths.abs() / 10, tenths.abs() % 10);
        if rest == 0 { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{rest}") }
    }
}

/// Returns an estimate of the width of `text` at a font size. The estimate needs no font, and is large enough for
/// common sans-serif fonts.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    text.chars().map(|c| if c.is_ascii() { 0.58 } else { 1.0 }).sum::<f64>() * size
}

/// Returns the longest prefix of `text` that fits into `room` pixels, with an ellipsis if the text is truncated.
/// Returns `None` if fewer than 3 characters fit.
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
